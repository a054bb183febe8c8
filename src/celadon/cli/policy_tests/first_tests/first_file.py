"""What a search has found, as a test file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from celadon.cli.own_files.own_documents import API_VERSION
from celadon.cli.policy_tests.first_tests.case_search import Found, Tried
from celadon.cli.policy_tests.first_tests.first_policy import MADE, FirstPolicy
from celadon.cli.policy_tests.written_tests.file_format import KIND
from celadon.kube.registry import patch_between


def first_file(found: Found, given: FirstPolicy, folder: str) -> str:
    """The text of the file, which stands in a folder."""
    return "".join(f"{line}\n" for line in _lines(found, given, folder))


def _lines(found: Found, given: FirstPolicy, folder: str) -> Iterator[str]:
    yield f"apiVersion: {API_VERSION}"
    yield f"kind: {KIND}"
    yield f"policy: {json.dumps(given.name)}"
    if not given.bound:
        spec = given.documents[-1].value["spec"]
        yield f"bindings: [{json.dumps(spec)}]"
    if given.definitions:
        read = [one for one in given.definitions if one.file != MADE]
        files = dict.fromkeys(os.path.relpath(one.file, folder or ".") for one in read)
        made = [dict(one.value) for one in given.definitions if one.file == MADE]
        yield f"crds: {json.dumps([*files, *made])}"
    base = found.admitted or next((one.tried for one in found.against.values()), None)
    if base is not None:
        yield "objects:"
        yield f"  base: {json.dumps(base.object)}"
        if base.old is not None:
            yield f"  old: {json.dumps(base.old)}"
        yield f"defaults: {json.dumps(_defaults(base))}"
    yield "cases:"
    if base is not None:
        yield from _cases(found, base)
    yield from _unsolved(found)


def _cases(found: Found, base: Tried) -> Iterator[str]:
    mutates = found.subject.mutates
    if found.admitted is not None:
        yield f"- name: {'left as it is' if mutates else 'admitted'}"
        yield "  expect: {verdict: admit, patch: []}" if mutates else "  expect: admit"
    written = {base.key}
    for index, against in sorted(found.against.items()):
        what = f"changed by mutation {index}" if mutates else f"refused by validation {index}"
        yield f"- name: {json.dumps(what)}"
        yield from _differences(against.tried, base)
        expected = {"deny": against.message, "validation": index}
        if mutates:
            expected = {"verdict": "admit", "patch": list(against.patch)}
        yield f"  expect: {json.dumps(expected)}"
        passing = found.passing.get(index)
        if passing is not None and passing.key not in written:
            written.add(passing.key)
            yield f"- name: {json.dumps(f'passes validation {index}')}"
            yield from _differences(passing, base)
            yield "  expect: admit"


def _unsolved(found: Found) -> Iterator[str]:
    mutates = found.subject.mutates
    if found.admitted is None:
        what = "leaves as it is" if mutates else "admits"
        yield f"# No request was found, among {found.trials}, that the policy {what}."
    for index in found.unsolved:
        text = " ".join(found.subject.rules[index].text.split())
        what = f"mutation {index} changes" if mutates else f"validation {index} refuses"
        yield f"# No request was found, among {found.trials}, that {what}:"
        yield f"#   {text}"


def _defaults(base: Tried) -> dict[str, Any]:
    given: dict[str, Any] = {"object": "base"}
    if base.old is not None:
        given |= {"operation": "UPDATE", "oldObject": "old"}
    if base.user:
        given["user"] = base.user
    if base.namespace:
        given["namespace"] = {"labels": dict(base.namespace)}
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
    if one.namespace != base.namespace:
        yield f"  namespace: {json.dumps({'labels': dict(one.namespace)})}"
    if one.user != base.user:
        yield f"  user: {json.dumps(one.user or 'admin')}"
    if one.params is not None and one.params != base.params:
        yield f"  params: {json.dumps([one.params])}"
