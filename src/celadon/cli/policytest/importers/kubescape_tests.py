"""`tests.json` of a Kubescape control to a PolicyTest.

It stands in the folder of the control, beside `policy.yaml`. Each test is a template of the folder
`test-resources`, two folders up, with fields changed (`spec.containers.[0].image=nginx`); `pass` is
admit, `fail` deny, `warn` warn. Binding and params are made of templates there, too, with names of
the policy's; a test may name others (`binding_template`, `param_template`).
Format: controls/*/tests.json in github.com/kubescape/cel-admission-library.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.cli.policytest.importers.rewriting import Rewriting, Rewritten
from celadon.cli.policytest.run.case_results import CaseVerdict
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_text import Path
from celadon.cli.reading.locations import Chunk
from celadon.kube import Json, JsonObject, metadata
from celadon.kube.json_shapes import Shape
from celadon.kube.registry import patch_between
from celadon.patterns import late_pattern

_TEMPLATES: Final = os.path.join("..", "..", "test-resources")
_POLICY: Final = "policy.yaml"
_BINDING: Final = "policy-binding.yaml"
_PARAMS: Final = "default-control-configuration.yaml"
_CRDS: Final = os.path.join("..", "..", "configuration", "policy-configuration-definition.yaml")
_FIELDS: Final = frozenset(
    {"name", "template", "expected", "field_change_list", "binding_template", "param_template"}
)
_VERDICTS: Final = {
    "pass": CaseVerdict.ADMIT,
    "fail": CaseVerdict.DENY,
    "warn": CaseVerdict.WARN,
}
SHAPE: Final[Shape] = [{"field_change_list": []}]
_STEP: Final = late_pattern(r"\[(\d+)\]|([A-Za-z]\w*.*)", re.ASCII)


def is_kubescape_test(value: object) -> bool:
    """Return whether a document is one."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, Mapping) and {"template", "expected"} <= set(one) for one in value)
    )


def rewritten_kubescape(chunk: Chunk, value: Json) -> Rewritten:
    """The test."""
    return _Kubescape(chunk, value).test()


class _UnfitError(ValueError):
    """A change that does not fit its template."""


class _Kubescape:
    def __init__(self, chunk: Chunk, value: object) -> None:
        self._way = Rewriting(chunk, value)
        self._folder = os.path.dirname(chunk.file)
        self._templates: dict[str, Document | None] = {}
        self._unbound: list[Document] = []

    def test(self) -> Rewritten:
        way = self._way
        way.fields["policies"] = [_POLICY]
        self._unbound = way.unbound(self._read(_POLICY))
        way.fields |= self._bound(_BINDING, _PARAMS)
        if os.path.isfile(os.path.join(self._folder, _CRDS)):
            way.fields["crds"] = [_CRDS]
        for path, test in way.maps(()):
            reason = way.others(path, _FIELDS)
            if reason:
                way.leave_out(str(test.get("name", "")), path, reason)
            else:
                self._test(path, test)
        return way.done(os.path.basename(os.path.abspath(self._folder)))

    def _bound(self, binding: str, configuration: str) -> JsonObject:
        """Bindings and params of templates, as the library's own runner makes them."""
        found: dict[str, Any] = {}
        for policy in self._unbound:
            name = metadata.name(policy.value)
            template = self._only(os.path.join(_TEMPLATES, binding))
            if template is None:
                continue
            spec = {**(template.value.get("spec") or {}), "policyName": name}
            spec.pop("paramRef", None)
            if policy.value_at(("spec", "paramKind")) is not None:
                params = self._only(os.path.join(_TEMPLATES, configuration))
                if params is None:
                    continue
                given = copy.deepcopy(params.value)
                given.setdefault("metadata", {})["name"] = f"{name}-params"
                found.setdefault("params", []).append(given)
                spec["paramRef"] = {"name": f"{name}-params", "parameterNotFoundAction": "Deny"}
            found.setdefault("bindings", []).append(spec)
        return found

    def _test(self, path: Path, test: JsonObject) -> None:
        verdict = _VERDICTS.get(str(test["expected"]))
        if verdict is None:
            text = f"`expected` must be one of {', '.join(_VERDICTS)}"
            self._way.say((*path, "expected"), text)
            return
        file = os.path.join(_TEMPLATES, str(test["template"]))
        template = self._only(file)
        if template is None:
            return
        try:
            after = changed(template.value, test.get("field_change_list") or ())
        except _UnfitError as error:
            self._way.say((*path, "field_change_list"), str(error))
            return
        name = str(test.get("name") or f"{test['template']}: {test['expected']}")
        patch = patch_between(template.value, after)
        given: dict[str, Json] = {"object": {"file": file, **({"patch": patch} if patch else {})}}
        binding, params = test.get("binding_template"), test.get("param_template")
        if binding or params:
            given |= self._bound(str(binding or _BINDING), str(params or _PARAMS))
        self._way.add({"name": name, **given, "expect": verdict.value}, path)

    def _only(self, file: str) -> Document | None:
        """The one object of a file."""
        if file not in self._templates:
            found = self._read(file)
            self._templates[file] = found[0] if len(found) == 1 else None
            if len(found) > 1:
                self._way.say((), f"`{file}` has several objects: one is expected")
        return self._templates[file]

    def _read(self, file: str) -> list[Document]:
        return self._way.objects.beside([os.path.join(self._folder, file)])


def changed(value: JsonObject, changes: Sequence[str]) -> dict[str, Any]:
    """An object with changes such as `spec.containers.[0].image=nginx`. What follows the `=` is
    JSON, or else text; maps that are not there are made, and an item behind the last one."""
    after = copy.deepcopy(dict(value))
    for change in changes:
        field, equals, text = str(change).partition("=")
        if not equals:
            raise _UnfitError(f"no `=` in `{change}`")
        try:
            new = json.loads(text)
        except ValueError:
            new = text
        _set(after, [_step(one, change) for one in field.split(".")], new, change)
    return after


def _step(text: str, change: str) -> int | str:
    found = _STEP.fullmatch(text)
    if found is None:
        raise _UnfitError(f"`{text}` in `{change}` is no field and no index")
    return int(found[1]) if found[1] else text


def _set(value: Any, steps: Sequence[int | str], new: object, change: str) -> None:  # noqa: ANN401
    """Sets a part of a JSON value in place."""
    first, rest = steps[0], steps[1:]
    if isinstance(first, int):
        if not isinstance(value, list) or first > len(value):
            raise _UnfitError(f"there is no item {first} for `{change}`")
        if first == len(value):
            value.append(None)
    elif not isinstance(value, dict):
        raise _UnfitError(f"there is no field `{first}` for `{change}`")
    if not rest:
        value[first] = new
        return
    below = value.get(first) if isinstance(value, dict) else value[first]
    if below is None:
        below = value[first] = [] if isinstance(rest[0], int) else {}
    _set(below, rest, new, change)


# --- Review tests ------------------------------------------------------------
#
# AdmissionReviews that were answered to PolicyTests.
#
# The request is asked again, of the policies beside the file; its `response` is what is
# expected. So are the files kept that gator and kwctl are given. Format: `admission.k8s.io/v1`,
# kind `AdmissionReview`.


_TAKEN: Final = {
    "object": "object",
    "oldObject": "oldObject",
    "operation": "operation",
    "subResource": "subresource",
    "namespace": "namespace",
    "dryRun": "dryRun",
}
"""Fields of a request, and of a case."""
REVIEW_SHAPE: Final[Shape] = {"request": {"kind": {}, "userInfo": {}}, "response": {"status": {}}}
_FOLLOWING: Final = frozenset(
    {
        "uid",
        "kind",
        "resource",
        "requestKind",
        "requestResource",
        "requestSubResource",
        "name",
        "options",
    }
)
"""What follows from the object, or from the operation."""
_USER: Final = {"username": "user", "groups": "groups", "uid": "uid", "extra": "extra"}
_STATUS: Final = ("message", "reason", "code")
_NO_MATTER: Final = frozenset({"metadata", "status", "details"})


def is_review(value: object) -> bool:
    """Return whether a document is an AdmissionReview with a request."""
    return (
        isinstance(value, Mapping)
        and value.get("kind") == "AdmissionReview"
        and isinstance(value.get("request"), Mapping)
    )


def rewritten_review(chunk: Chunk, value: Any, expected: str = "") -> Rewritten:  # noqa: ANN401 - any JSON
    """The test; `expected` is the verdict where the review has no response."""
    way = Rewriting(chunk, value)
    way.refuse_others((), {"apiVersion", "kind", "request", "response"})
    request, at = value["request"], ("request",)
    way.refuse_others(at, {"userInfo", *_TAKEN, *_FOLLOWING})
    if request.get("userInfo"):
        way.refuse_others((*at, "userInfo"), _USER)
    response = value.get("response")
    expect: JsonObject | None = {"verdict": expected}
    if response is not None or not expected:
        expect = _expected(way, response)
    if expect is not None:
        way.add({"name": _name(request), **request_fields(request), "expect": expect}, at)
    return way.done("")


def request_fields(request: JsonObject) -> dict[str, Any]:
    """Return what a case has of the request of a review."""
    case = {ours: request[theirs] for theirs, ours in _TAKEN.items() if request.get(theirs)}
    if "object" not in case and "oldObject" in case:
        case["object"] = case.pop("oldObject")  # what a DELETE is about
    user = request.get("userInfo") or {}
    return case | {ours: user[theirs] for theirs, ours in _USER.items() if user.get(theirs)}


def _name(request: JsonObject) -> str:
    kind = (request.get("kind") or {}).get("kind", "object")
    return f"{request.get('operation', 'CREATE')} {kind} {request.get('name', '')}".rstrip()


def _expected(way: Rewriting, response: object) -> JsonObject | None:
    """Return what the response says; None, and a problem, where it says nothing."""
    if not isinstance(response, Mapping) or not isinstance(response.get("allowed"), bool):
        way.say((), "no expectation: the review has no `response` with `allowed`")
        return None
    way.refuse_others(("response",), {"uid", "allowed", "status", "warnings"})
    if response["allowed"]:
        found: dict[str, object] = {"verdict": CaseVerdict.ADMIT.value}
    else:
        found = {"verdict": CaseVerdict.DENY.value}
    if status := response.get("status"):
        way.refuse_others(("response", "status"), {*_STATUS, *_NO_MATTER})
        found |= {name: status[name] for name in _STATUS if status.get(name)}
    if warnings := response.get("warnings"):
        found["warnings"] = warnings
    return found
