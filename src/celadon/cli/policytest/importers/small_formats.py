"""Tests of cel-go, kaptest, chainsaw and Kubescape to PolicyTests: formats that say little beside
objects and verdicts.

Sections of tests, each with an `input` (variables by name, `value` or `expr`) and an `output`. What
a cluster gives a policy are `object`, `oldObject`, `params`, `request` and `namespaceObject`; names
with dots are fields of them. A policy's output is what speaks against the request: a text (or
false) is deny, nothing (`optional.none()`, true) is admit. Policies are those beside the file.
Format: github.com/google/cel-go `policy/test_util.go` and `tools/celtest`.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.cel import CelError, Environment
from celadon.cli.policytest.case_results import CaseVerdict
from celadon.cli.policytest.importers.rewriting import Rewriting, Rewritten, after_mutation
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_text import Path
from celadon.cli.reading.locations import Chunk
from celadon.kube import Json, JsonObject, metadata
from celadon.kube.json_types import JsonDict, Shape
from celadon.kube.library import PER_CALL_COST
from celadon.kube.registry import patch_between
from celadon.late_patterns import late_pattern

# --- Controls of Kubescape ---------------------------------------------------
#
# `tests.json` of a Kubescape control to a PolicyTest.
#
# It stands in the folder of the control, beside `policy.yaml`. Each test is a template of the
# folder `test-resources`, two folders up, with fields changed
# (`spec.containers.[0].image=nginx`); `pass` is admit, `fail` deny, `warn` warn. Binding and
# params are made of templates there, too, with names of the policy's; a test may name others
# (`binding_template`, `param_template`). Format: controls/*/tests.json in
# github.com/kubescape/cel-admission-library.

_TEMPLATES: Final = os.path.join("..", "..", "test-resources")
_POLICY: Final = "policy.yaml"
_BINDING: Final = "policy-binding.yaml"
_PARAMS: Final = "default-control-configuration.yaml"
_CRDS: Final = os.path.join("..", "..", "configuration", "policy-configuration-definition.yaml")
_KUBESCAPE_FIELDS: Final = frozenset(
    {"name", "template", "expected", "field_change_list", "binding_template", "param_template"}
)
_KUBESCAPE_VERDICTS: Final = {
    "pass": CaseVerdict.ADMIT,
    "fail": CaseVerdict.DENY,
    "warn": CaseVerdict.WARN,
}
SHAPE: Final[Shape] = [{"field_change_list": []}]
_STEP: Final = late_pattern(r"\[(\d{1,9})\]|([A-Za-z].*)", re.ASCII)


def is_kubescape_test(value: object) -> bool:
    """Return whether a document is one."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(item, Mapping) and {"template", "expected"} <= set(item) for item in value
        )
    )


def rewritten_kubescape(chunk: Chunk, value: Json) -> Rewritten:
    """Return the test as a PolicyTest."""
    return _Kubescape(chunk, value).test()


class _UnfitChangeError(ValueError):
    """A change that does not fit its template."""


class _Kubescape:
    def __init__(self, chunk: Chunk, value: object) -> None:
        self._rewriting = Rewriting(chunk, value)
        self._folder = os.path.dirname(chunk.file)
        self._templates: dict[str, Document | None] = {}
        self._unbound: list[Document] = []

    def test(self) -> Rewritten:
        way = self._rewriting
        way.fields["policies"] = [_POLICY]
        self._unbound = way.unbound(self._read(_POLICY))
        way.fields |= self._bound(_BINDING, _PARAMS)
        if os.path.isfile(os.path.join(self._folder, _CRDS)):
            way.fields["crds"] = [_CRDS]
        for path, test in way.maps(()):
            reason = way.others(path, _KUBESCAPE_FIELDS)
            if reason:
                way.leave_out(_name_of(test), path, reason)
            else:
                self._test(path, test)
        return way.done(os.path.basename(os.path.abspath(self._folder)))

    def _bound(self, binding: str, configuration: str) -> JsonObject:
        """Bindings and params of templates, as the library's own runner makes them."""
        result: JsonDict = {}
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
                params_copy = copy.deepcopy(params.value)
                params_copy.setdefault("metadata", {})["name"] = f"{name}-params"
                result.setdefault("params", []).append(params_copy)
                spec["paramRef"] = {"name": f"{name}-params", "parameterNotFoundAction": "Deny"}
            result.setdefault("bindings", []).append(spec)
        return result

    def _test(self, path: Path, test: JsonObject) -> None:
        verdict = _KUBESCAPE_VERDICTS.get(str(test["expected"]))
        if verdict is None:
            text = f"`expected` must be one of {', '.join(_KUBESCAPE_VERDICTS)}"
            self._rewriting.say((*path, "expected"), text)
            return
        file = os.path.join(_TEMPLATES, str(test["template"]))
        template = self._only(file)
        if template is None:
            return
        try:
            after = changed(template.value, test.get("field_change_list") or ())
        except _UnfitChangeError as error:
            self._rewriting.say((*path, "field_change_list"), str(error))
            return
        patch = patch_between(template.value, after)
        value: dict[str, Json] = {"object": {"file": file, **({"patch": patch} if patch else {})}}
        binding, params = test.get("binding_template"), test.get("param_template")
        if binding or params:
            value |= self._bound(str(binding or _BINDING), str(params or _PARAMS))
        self._rewriting.add({"name": _name_of(test), **value, "expect": verdict.value}, path)

    def _only(self, file: str) -> Document | None:
        """Return the one object of a file."""
        if file not in self._templates:
            documents = self._read(file)
            self._templates[file] = documents[0] if len(documents) == 1 else None
            if len(documents) > 1:
                self._rewriting.say((), f"`{file}` has several objects: one is expected")
        return self._templates[file]

    def _read(self, file: str) -> list[Document]:
        return self._rewriting.objects.beside([os.path.join(self._folder, file)])


def _name_of(test: JsonObject) -> str:
    """Return what a test is called: by its own name, or what it expects of which template."""
    return str(test.get("name") or f"{test['template']}: {test['expected']}")


def changed(value: JsonObject, changes: Sequence[str]) -> JsonDict:
    """Return an object with changes such as `spec.containers.[0].image=nginx`. What follows the `=`
    is JSON, or else text; maps that are not there are made, and an item behind the last one."""
    after = copy.deepcopy(dict(value))
    for change in changes:
        field, equals, text = str(change).partition("=")
        if not equals:
            raise _UnfitChangeError(f"no `=` in `{change}`")
        try:
            new = json.loads(text)
        except (ValueError, RecursionError):
            new = text
        _set(after, [_step(text, change) for text in field.split(".")], new, change)
    return after


def _step(text: str, change: str) -> int | str:
    match = _STEP.fullmatch(text)
    if match is None:
        raise _UnfitChangeError(f"`{text}` in `{change}` is no field and no index")
    return int(match[1]) if match[1] else text


def _set(value: Any, steps: Sequence[int | str], new: object, change: str) -> None:  # noqa: ANN401
    """Set a part of a JSON value in place."""
    first, rest = steps[0], steps[1:]
    if isinstance(first, int):
        if not isinstance(value, list) or first > len(value):
            raise _UnfitChangeError(f"there is no item {first} for `{change}`")
        if first == len(value):
            value.append(None)
    elif not isinstance(value, dict):
        raise _UnfitChangeError(f"there is no field `{first}` for `{change}`")
    if not rest:
        value[first] = new
        return
    member = value.get(first) if isinstance(value, dict) else value[first]
    if member is None:
        member = value[first] = [] if isinstance(rest[0], int) else {}
    _set(member, rest, new, change)


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
_NO_MATTER_IN_RESPONSES: Final = frozenset({"metadata", "status", "details"})


def is_review(value: object) -> bool:
    """Return whether a document is an AdmissionReview with a request."""
    return (
        isinstance(value, Mapping)
        and value.get("kind") == "AdmissionReview"
        and isinstance(value.get("request"), Mapping)
    )


def rewritten_review(chunk: Chunk, value: Any, verdict: str = "") -> Rewritten:  # noqa: ANN401 - any JSON
    """Return the test; `verdict` is the verdict where the review has no response."""
    way = Rewriting(chunk, value)
    way.refuse_others((), {"apiVersion", "kind", "request", "response"})
    request, place = value["request"], ("request",)
    way.refuse_others(place, {"userInfo", *_TAKEN, *_FOLLOWING})
    if request.get("userInfo"):
        way.refuse_others((*place, "userInfo"), _USER)
    response = value.get("response")
    expect: JsonObject | None = {"verdict": verdict}
    if response is not None or not verdict:
        expect = _expected_response(way, response)
    if expect is not None:
        way.add({"name": _name(request), **request_fields(request), "expect": expect}, place)
    return way.done("")


def request_fields(request: JsonObject) -> JsonDict:
    """Return what a case has of the request of a review."""
    case = {ours: request[theirs] for theirs, ours in _TAKEN.items() if request.get(theirs)}
    if "object" not in case and "oldObject" in case:
        case["object"] = case.pop("oldObject")  # what a DELETE is about
    user = request.get("userInfo") or {}
    return case | {ours: user[theirs] for theirs, ours in _USER.items() if user.get(theirs)}


def _name(request: JsonObject) -> str:
    kind = (request.get("kind") or {}).get("kind", "object")
    return f"{request.get('operation', 'CREATE')} {kind} {request.get('name', '')}".rstrip()


def _expected_response(way: Rewriting, response: object) -> JsonObject | None:
    """Return what the response says; None, and a problem, where it says nothing."""
    if not isinstance(response, Mapping) or not isinstance(response.get("allowed"), bool):
        way.say((), "no expectation: the review has no `response` with `allowed`")
        return None
    way.refuse_others(("response",), {"uid", "allowed", "status", "warnings"})
    if response["allowed"]:
        result: dict[str, object] = {"verdict": CaseVerdict.ADMIT.value}
    else:
        result = {"verdict": CaseVerdict.DENY.value}
    if status := response.get("status"):
        way.refuse_others(("response", "status"), {*_STATUS, *_NO_MATTER_IN_RESPONSES})
        result |= {name: status[name] for name in _STATUS if status.get(name)}
    if warnings := response.get("warnings"):
        result["warnings"] = warnings
    return result


# --- Policies of cel-go and kaptest ------------------------------------------

_SECTIONS: Final = ("section", "sections")
_FIELDS: Final = frozenset({"name", "description", *_SECTIONS})
_REQUEST_FIELDS: Final = frozenset({"operation", "userInfo", "namespace", "subResource", "dryRun"})
CEL_GO_SHAPE: Final[Shape] = {key: [{"tests": [{"input": {}}]}] for key in _SECTIONS}
_NOTHING: Final = frozenset({"optional.none()", "null"})


class _UnfitError(ValueError):
    """Says what has no equal in a PolicyTest."""


def is_cel_go_test(value: object) -> bool:
    """Return whether a document is one."""
    return isinstance(value, Mapping) and any(
        isinstance(section, Mapping) and isinstance(section.get("tests"), list)
        for name in _SECTIONS
        if isinstance(value.get(name), list)
        for section in value[name]
    )


def rewritten_cel_go(chunk: Chunk, value: Json) -> Rewritten:
    """Return the test as a PolicyTest."""
    way = Rewriting(chunk, value)
    way.refuse_others((), _FIELDS)
    for name in _SECTIONS:
        for path, section in way.maps((name,)):
            way.refuse_others(path, {"name", "description", "tests"})
            for test_path, test in way.maps((*path, "tests")):
                way.refuse_others(test_path, {"name", "description", "input", "output"})
                _add(way, test_path, section, test)
    return way.done("")


def _add(way: Rewriting, path: Path, section: JsonObject, test: JsonObject) -> None:
    try:
        case = _case(_variables(test.get("input") or {}))
        expect = _expected(test.get("output"))
    except _UnfitError as error:
        way.say(path, str(error))
        return
    name = f"{section.get('name', 'tests')}: {test.get('name', 'test')}"
    way.add({"name": name, **case, "expect": expect}, path)


def _variables(value: JsonObject) -> JsonDict:
    """Return the input as values by the names of variables."""
    result: JsonDict = {}
    for name, member in value.items():
        *above, last = str(name).split(".")
        holder = result
        for step in above:
            holder = holder.setdefault(step, {})
        if not isinstance(member, Mapping) or not {"value", "expr"} & member.keys():
            raise _UnfitError(f"input `{name}` has neither `value` nor `expr`")
        holder[last] = member["value"] if "value" in member else _evaluated(member["expr"])
    return result


def _case(variables: JsonDict) -> JsonObject:
    request = variables.pop("request", None) or {}
    namespace = variables.pop("namespaceObject", None)
    params = variables.pop("params", None)
    about = {name: variables.pop(name, None) for name in ("object", "oldObject")}
    unknown = sorted({*variables, *(request.keys() - _REQUEST_FIELDS)})
    if unknown:
        raise _UnfitError(f"a cluster has no variable `{unknown[0]}` for an admission policy")
    case = request_fields(
        {**request, **{k: member for k, member in about.items() if member is not None}}
    )
    if "object" not in case:
        raise _UnfitError("`object` or `oldObject` is needed")
    if "oldObject" in case:
        case.setdefault("operation", "UPDATE")
    elif about["object"] is None:
        case.setdefault("operation", "DELETE")
    if params is not None:
        case["params"] = [params]
    if namespace is not None:
        case["namespace"] = {"labels": metadata.labels(namespace)}
    return case


def _expected(output: object) -> JsonObject:
    value: object = output
    if isinstance(output, Mapping):
        value = output["value"] if "value" in output else _evaluated(output.get("expr"))
    elif isinstance(output, str):
        value = _evaluated(output)
    if value is None or value is True:
        return {"verdict": CaseVerdict.ADMIT.value}
    if value is False:
        return {"verdict": CaseVerdict.DENY.value}
    if isinstance(value, str):
        return {"verdict": CaseVerdict.DENY.value, "message": value}
    raise _UnfitError("the output of an admission policy is a message, true, false or nothing")


def _evaluated(expression: object) -> object:
    """Return what an expression without variables comes to."""
    text = str(expression)
    if text.strip() in _NOTHING:
        return None
    environment = Environment({})
    try:
        program = environment.program(environment.compile(text).checked())
        return program.evaluate_metered({}, PER_CALL_COST)[0]
    except CelError as error:
        raise _UnfitError(f"`{text}` cannot be evaluated: {error}") from error


# --- Kaptest tests -----------------------------------------------------------
#
# kaptest's test manifests to PolicyTests, those before its version 0.2 and those since.
#
# Each test names objects among the resources, by kind and name. What is given says what is
# asked: an `object` alone is a CREATE, with an `oldObject` an UPDATE, an `oldObject` alone a
# DELETE. kaptest evaluates policies without bindings; here one is assumed, with the test's
# `param`, where there is none. Format: the README of github.com/pfnet/kaptest.

_SUITES: Final = ("testSuites", "vapTestSuites", "mapTestSuites")
_POLICIES: Final = ("validatingAdmissionPolicies", "policies")
_KAPTEST_TESTS_FIELDS: Final = frozenset({"version", "resources", "crds", *_POLICIES, *_SUITES})
_NO_MATTER: Final = frozenset({"skipSchemaValidation", "schemaLocations"})
"""How kaptest finds schemas: ours come with the release and with CRDs."""
_TEST_FIELDS: Final = frozenset(
    {
        "object",
        "oldObject",
        "param",
        "userInfo",
        "expect",
        "deniedMessage",
        "expectObject",
        "disableNameOverwrite",
    }
)
_NAME_FIELDS: Final = frozenset({"group", "version", "kind", "namespace", "name"})
_USER_FIELDS: Final = {
    "user": "user",
    "username": "user",
    "groups": "groups",
    "uid": "uid",
    "extra": "extra",
}
_VERDICTS: Final = {
    "admit": CaseVerdict.ADMIT,
    "deny": CaseVerdict.DENY,
    "mutate": CaseVerdict.ADMIT,
    "skip": CaseVerdict.NO_MATCH,
    "error": CaseVerdict.ERROR,
}


def is_kaptest(value: object) -> bool:
    """Return whether a document is such a manifest."""
    return (
        isinstance(value, Mapping)
        and "kind" not in value
        and any(policy in value for policy in _POLICIES)
        and any(suite in value for suite in _SUITES)
    )


def rewritten_kaptest(chunk: Chunk, value: Any) -> Rewritten:  # noqa: ANN401 - any JSON
    """Return the test as a PolicyTest."""
    return _Kaptest(chunk, value).test()


class _Kaptest:
    def __init__(self, chunk: Chunk, value: JsonObject) -> None:
        self._rewriting = Rewriting(chunk, value)
        self._policies: list[Document] = []
        self._resources: list[Document] = []
        self._unbound: frozenset[str] = frozenset()

    def test(self) -> Rewritten:
        way = self._rewriting
        way.refuse_others((), _KAPTEST_TESTS_FIELDS | _NO_MATTER)
        self._policies = [manifest for name in _POLICIES for manifest in way.manifests((name,))]
        self._resources = way.manifests(("resources",))
        way.fields["policies"] = [file for name in _POLICIES for file in way.files((name,))]
        if crds := way.files(("crds",)):
            way.fields["crds"] = crds
        namespaces = {
            metadata.name(resource.value): metadata.labels(resource.value)
            for resource in self._resources
            if resource.group_kind == ("", "Namespace")
        }
        if namespaces:
            way.fields["namespaces"] = namespaces
        self._unbound = frozenset(
            metadata.name(document.value) for document in way.unbound(self._policies)
        )
        for name in _SUITES:
            for path, suite in way.maps((name,)):
                way.refuse_others(path, {"policy", "tests"})
                for test_path, test in way.maps((*path, "tests")):
                    self._test(test_path, test, str(suite.get("policy", "")))
        return way.done("")

    def _test(self, path: Path, test: JsonObject, policy: str) -> None:
        way = self._rewriting
        way.refuse_others(path, _TEST_FIELDS)
        expect = test.get("expect")
        verdict = _VERDICTS.get(expect) if isinstance(expect, str) else None
        if verdict is None:
            way.say(path, f"`expect`, one of {', '.join(_VERDICTS)}, is needed")
            return
        new = self._object(path, test, "object")
        old = self._object(path, test, "oldObject")
        about = new or old
        if about is None:
            if not {"object", "oldObject"} & set(test):
                way.say(path, "`object` or `oldObject` is needed")
            return
        case: dict[str, object] = {
            "name": f"{policy}: {about.value['kind']} {metadata.name(about.value)}: {expect}",
            "policy": policy,
            **self._request(new, old),
            **self._user(path, test),
            **self._around(path, test, policy),
            "expect": self._expected(path, test, verdict, about),
        }
        way.add(case, path)

    def _request(self, new: Document | None, old: Document | None) -> JsonObject:
        """Return what is asked."""
        refer = self._rewriting.reference
        result: dict[str, object] = {}
        if new is None:
            result["operation"] = "DELETE"
        elif old is not None:
            result["operation"] = "UPDATE"
        if new is not None:
            result["object"] = refer(new, self._resources)
        if old is not None:
            result["oldObject"] = refer(old, self._resources)
        return result

    def _object(self, path: Path, test: JsonObject, field: str) -> Document | None:
        """Return the object that a field names by kind and name."""
        if field not in test:
            return None
        place, value = (*path, field), test[field]
        self._rewriting.refuse_others(place, _NAME_FIELDS)
        if not isinstance(value, Mapping) or not (value.get("kind") and value.get("name")):
            self._rewriting.say(place, "`kind` and `name` are needed")
            return None
        return self._only(place, value)

    def _only(self, place: Path, value: JsonObject) -> Document | None:
        documents = [resource for resource in self._resources if _fits(resource, value)]
        if len(documents) == 1:
            return documents[0]
        subject = f"{value['kind']} `{value['name']}` among the resources"
        self._rewriting.say(place, f"{'several' if documents else 'no'} {subject}")
        return None

    def _user(self, path: Path, test: JsonObject) -> JsonDict:
        if "userInfo" not in test:
            return {}
        place, user_info = (*path, "userInfo"), test["userInfo"]
        self._rewriting.refuse_others(place, _USER_FIELDS)
        user = user_info if isinstance(user_info, Mapping) else {}
        return {ours: user[theirs] for theirs, ours in _USER_FIELDS.items() if user.get(theirs)}

    def _around(self, path: Path, test: JsonObject, policy: str) -> JsonObject:
        """Return the param, and the binding that looks it up."""
        kind = next(
            (
                document.value_at(("spec", "paramKind", "kind"))
                for document in self._policies
                if metadata.name(document.value) == policy
            ),
            None,
        )
        spec: dict[str, Json] = {"policyName": policy}
        result: dict[str, Json] = {}
        if "param" in test:
            position, value = (*path, "param"), test["param"]
            self._rewriting.refuse_others(position, {"namespace", "name"})
            name = value.get("name") if isinstance(value, Mapping) else None
            if not kind or not name:
                missing = "`name`" if kind else f"a `paramKind` of policy `{policy}`"
                self._rewriting.say(position, f"{missing} is needed")
                return {}
            param = self._only(position, {**value, "kind": kind})
            if param is None:
                return {}
            result["params"] = [dict(param.value)]
            place = metadata.namespace(param.value)
            spec["paramRef"] = {
                "name": name,
                **({"namespace": place} if place else {}),
                "parameterNotFoundAction": "Deny",
            }
        if policy in self._unbound:
            result["bindings"] = [spec]
        return result

    def _expected(self, path: Path, test: JsonObject, verdict: CaseVerdict, about: Document) -> Any:  # noqa: ANN401 - as a PolicyTest has it
        if "deniedMessage" in test:
            if verdict is CaseVerdict.DENY:
                return {"deny": test["deniedMessage"]}
            self._rewriting.say((*path, "deniedMessage"), "a message without `expect: deny`")
        after = self._object(path, test, "expectObject")
        if after is None:
            return verdict.value
        expected = after_mutation(about.value, after.value)
        if not test.get("disableNameOverwrite"):
            name = metadata.name(about.value)
            expected["metadata"] = {**expected["metadata"], "name": name}
        return {"verdict": verdict.value, "object": expected}


def _fits(document: Document, data: JsonObject) -> bool:
    """Return whether it is the object that a test means; a namespace must be named if it has
    one."""
    group, kind = document.group_kind
    fields = {"group": group, "version": document.value["apiVersion"].rpartition("/")[2]}
    return (
        kind == data["kind"]
        and metadata.name(document.value) == data["name"]
        and metadata.namespace(document.value) == (data.get("namespace") or "")
        and all(data.get(name) in (None, "", value) for name, value in fields.items())
    )


# --- Chainsaw tests ----------------------------------------------------------
#
# `chainsaw-test.yaml`: steps against a cluster, which nothing here can play.
#
# They stand beside policies and are seen, so that nobody takes them for tests that were run.
# Format: kyverno.github.io/chainsaw, `chainsaw.kyverno.io/v1alpha1`.

_GROUP: Final = "chainsaw.kyverno.io/"
_REASON: Final = "a test of Chainsaw: its steps need a cluster"


def is_chainsaw_test(value: object) -> bool:
    """Return whether a document is one."""
    return (
        isinstance(value, Mapping)
        and value.get("kind") == "Test"
        and str(value.get("apiVersion", "")).startswith(_GROUP)
    )


def rewritten_chainsaw(chunk: Chunk, value: Json) -> Rewritten:
    """Return a test with one case, which is left out."""
    way = Rewriting(chunk, value)
    name = metadata.name(value)
    way.leave_out(name or "test", (), _REASON)
    return way.done(name)
