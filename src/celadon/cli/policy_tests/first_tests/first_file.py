"""What a search has found, as a test file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from celadon.cli.own_files.own_documents import API_VERSION
from celadon.cli.policy_tests.first_tests.case_search import Found, Tried
from celadon.cli.policy_tests.written_tests.file_format import KIND
from celadon.kube.writes import patch_between


def first_file(found: Found, name: str, *, bound: bool) -> str:
    """The text of the file; `bound` says that the policy has a binding of its own."""
    return "".join(f"{line}\n" for line in _lines(found, name, bound=bound))


def _lines(found: Found, name: str, *, bound: bool) -> Iterator[str]:
    yield f"apiVersion: {API_VERSION}"
    yield f"kind: {KIND}"
    yield f"policy: {json.dumps(name)}"
    if not bound:
        yield f"bindings: [{{policyName: {json.dumps(name)}, validationActions: [Deny]}}]"
    base = found.admitted or next((one for one, _ in found.refused.values()), None)
    if base is not None:
        yield "objects:"
        yield f"  base: {json.dumps(base.object)}"
        if base.old is not None:
            yield f"  old: {json.dumps(base.old)}"
        yield f"defaults: {json.dumps(_defaults(base, found))}"
    yield "cases:"
    if found.admitted is not None:
        yield "- name: admitted"
        yield "  expect: admit"
    for index, (one, message) in sorted(found.refused.items()):
        yield f"- name: {json.dumps(f'refused by validation {index}')}"
        yield from _differences(one, base or one)
        yield f"  expect: {json.dumps({'deny': message, 'validation': index})}"
    if found.admitted is None:
        yield f"# No request was found, among {found.trials}, that the policy admits."
    for index in found.unsolved:
        text = " ".join(found.validations[index].split())
        yield f"# No request was found, among {found.trials}, that validation {index} refuses:"
        yield f"#   {text}"


def _defaults(base: Tried, found: Found) -> dict[str, Any]:
    given: dict[str, Any] = {"object": "base"}
    if base.old is not None:
        given |= {"operation": "UPDATE", "oldObject": "old"}
    if base.user:
        given["user"] = base.user
    if found.namespace_labels:
        given["namespace"] = {"labels": found.namespace_labels}
    if base.params is not None:
        given["params"] = [base.params]
    return given


def _differences(one: Tried, base: Tried) -> Iterator[str]:
    """What a case has that the defaults do not."""
    if one.object["kind"] == base.object["kind"]:
        patch = patch_between(base.object, one.object)
        if patch:
            yield f"  patch: {json.dumps(patch)}"
    else:
        yield f"  object: {json.dumps(one.object)}"
    if one.old is None and base.old is not None:
        yield "  operation: CREATE"
    elif one.old is not None and one.old != base.old:
        yield "  operation: UPDATE"
        yield f"  oldObject: {json.dumps(one.old)}"
    if one.user != base.user:
        yield f"  user: {json.dumps(one.user or 'admin')}"
    if one.params is not None and one.params != base.params:
        yield f"  params: {json.dumps([one.params])}"
