"""`tests.yaml` of cel-go's policies to a PolicyTest, for admission policies among them.

Sections of tests, each with an `input` (variables by name, `value` or `expr`) and an `output`. What
a cluster gives a policy are `object`, `oldObject`, `params`, `request` and `namespaceObject`; names
with dots are fields of them. A policy's output is what speaks against the request: a text (or
false) is deny, nothing (`optional.none()`, true) is admit. Policies are those beside the file.
Format: github.com/google/cel-go `policy/test_util.go` and `tools/celtest`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.cel import CelError, Environment
from celadon.cli.policytest.importers.kubescape_tests import request_fields
from celadon.cli.policytest.importers.rewriting import Rewriting, Rewritten, after_mutation
from celadon.cli.policytest.run.case_results import CaseVerdict
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_text import Path
from celadon.cli.reading.locations import Chunk
from celadon.kube import Json, JsonObject, metadata
from celadon.kube.json_shapes import Shape
from celadon.kube.library import PER_CALL_COST

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
    """The test."""
    way = Rewriting(chunk, value)
    way.refuse_others((), _FIELDS)
    for name in _SECTIONS:
        for path, section in way.maps((name,)):
            way.refuse_others(path, {"name", "description", "tests"})
            for at, test in way.maps((*path, "tests")):
                way.refuse_others(at, {"name", "description", "input", "output"})
                _add(way, at, section, test)
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


def _variables(given: Mapping[str, Any]) -> dict[str, Any]:
    """The input as values by the names of variables."""
    found: dict[str, Any] = {}
    for name, one in given.items():
        *above, last = str(name).split(".")
        holder = found
        for step in above:
            holder = holder.setdefault(step, {})
        if not isinstance(one, Mapping) or not {"value", "expr"} & one.keys():
            raise _UnfitError(f"input `{name}` has neither `value` nor `expr`")
        holder[last] = one["value"] if "value" in one else _evaluated(one["expr"])
    return found


def _case(variables: dict[str, Any]) -> JsonObject:
    request = variables.pop("request", None) or {}
    namespace = variables.pop("namespaceObject", None)
    params = variables.pop("params", None)
    about = {name: variables.pop(name, None) for name in ("object", "oldObject")}
    unknown = sorted({*variables, *(request.keys() - _REQUEST_FIELDS)})
    if unknown:
        raise _UnfitError(f"a cluster has no variable `{unknown[0]}` for an admission policy")
    case = request_fields({**request, **{k: one for k, one in about.items() if one is not None}})
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
        and any(one in value for one in _POLICIES)
        and any(one in value for one in _SUITES)
    )


def rewritten_kaptest(chunk: Chunk, value: Any) -> Rewritten:  # noqa: ANN401 - any JSON
    """The test."""
    return _Kaptest(chunk, value).test()


class _Kaptest:
    def __init__(self, chunk: Chunk, value: JsonObject) -> None:
        self._given = value
        self._way = Rewriting(chunk, value)
        self._policies: list[Document] = []
        self._resources: list[Document] = []
        self._unbound: frozenset[str] = frozenset()

    def test(self) -> Rewritten:
        way = self._way
        way.refuse_others((), _KAPTEST_TESTS_FIELDS | _NO_MATTER)
        self._policies = [one for name in _POLICIES for one in way.manifests((name,))]
        self._resources = way.manifests(("resources",))
        way.fields["policies"] = [one for name in _POLICIES for one in way.files((name,))]
        if crds := way.files(("crds",)):
            way.fields["crds"] = crds
        namespaces = {
            metadata.name(one.value): metadata.labels(one.value)
            for one in self._resources
            if one.group_kind == ("", "Namespace")
        }
        if namespaces:
            way.fields["namespaces"] = namespaces
        self._unbound = frozenset(metadata.name(one.value) for one in way.unbound(self._policies))
        for name in _SUITES:
            for path, suite in way.maps((name,)):
                way.refuse_others(path, {"policy", "tests"})
                for at, test in way.maps((*path, "tests")):
                    self._test(at, test, str(suite.get("policy", "")))
        return way.done("")

    def _test(self, path: Path, test: JsonObject, policy: str) -> None:
        way = self._way
        way.refuse_others(path, _TEST_FIELDS)
        wanted = test.get("expect")
        verdict = _VERDICTS.get(wanted) if isinstance(wanted, str) else None
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
            "name": f"{policy}: {about.value['kind']} {metadata.name(about.value)}: {wanted}",
            "policy": policy,
            **self._request(new, old),
            **self._user(path, test),
            **self._around(path, test, policy),
            "expect": self._expected(path, test, verdict, about),
        }
        way.add(case, path)

    def _request(self, new: Document | None, old: Document | None) -> JsonObject:
        """Return what is asked."""
        refer = self._way.reference
        found: dict[str, object] = {}
        if new is None:
            found["operation"] = "DELETE"
        elif old is not None:
            found["operation"] = "UPDATE"
        if new is not None:
            found["object"] = refer(new, self._resources)
        if old is not None:
            found["oldObject"] = refer(old, self._resources)
        return found

    def _object(self, path: Path, test: JsonObject, field: str) -> Document | None:
        """The object that a field names by kind and name."""
        if field not in test:
            return None
        at, given = (*path, field), test[field]
        self._way.refuse_others(at, _NAME_FIELDS)
        if not isinstance(given, Mapping) or not (given.get("kind") and given.get("name")):
            self._way.say(at, "`kind` and `name` are needed")
            return None
        return self._only(at, given)

    def _only(self, at: Path, given: JsonObject) -> Document | None:
        found = [one for one in self._resources if _fits(one, given)]
        if len(found) == 1:
            return found[0]
        what = f"{given['kind']} `{given['name']}` among the resources"
        self._way.say(at, f"{'several' if found else 'no'} {what}")
        return None

    def _user(self, path: Path, test: JsonObject) -> dict[str, Any]:
        if "userInfo" not in test:
            return {}
        at, given = (*path, "userInfo"), test["userInfo"]
        self._way.refuse_others(at, _USER_FIELDS)
        known = given if isinstance(given, Mapping) else {}
        return {ours: known[theirs] for theirs, ours in _USER_FIELDS.items() if known.get(theirs)}

    def _around(self, path: Path, test: JsonObject, policy: str) -> JsonObject:
        """The param, and the binding that looks it up."""
        kind = next(
            (
                one.value_at(("spec", "paramKind", "kind"))
                for one in self._policies
                if metadata.name(one.value) == policy
            ),
            None,
        )
        spec: dict[str, Json] = {"policyName": policy}
        found: dict[str, Json] = {}
        if "param" in test:
            at, given = (*path, "param"), test["param"]
            self._way.refuse_others(at, {"namespace", "name"})
            name = given.get("name") if isinstance(given, Mapping) else None
            if not kind or not name:
                missing = "`name`" if kind else f"a `paramKind` of policy `{policy}`"
                self._way.say(at, f"{missing} is needed")
                return {}
            param = self._only(at, {**given, "kind": kind})
            if param is None:
                return {}
            found["params"] = [dict(param.value)]
            place = metadata.namespace(param.value)
            spec["paramRef"] = {
                "name": name,
                **({"namespace": place} if place else {}),
                "parameterNotFoundAction": "Deny",
            }
        if policy in self._unbound:
            found["bindings"] = [spec]
        return found

    def _expected(self, path: Path, test: JsonObject, verdict: CaseVerdict, about: Document) -> Any:  # noqa: ANN401 - as a PolicyTest has it
        if "deniedMessage" in test:
            if verdict is CaseVerdict.DENY:
                return {"deny": test["deniedMessage"]}
            self._way.say((*path, "deniedMessage"), "a message without `expect: deny`")
        after = self._object(path, test, "expectObject")
        if after is None:
            return verdict.value
        wanted = after_mutation(about.value, after.value)
        if not test.get("disableNameOverwrite"):
            name = metadata.name(about.value)
            wanted["metadata"] = {**wanted["metadata"], "name": name}
        return {"verdict": verdict.value, "object": wanted}


def _fits(document: Document, given: JsonObject) -> bool:
    """Return whether it is the object that a test means; a namespace must be named if it has
    one."""
    group, kind = document.group_kind
    has = {"group": group, "version": document.value["apiVersion"].rpartition("/")[2]}
    return (
        kind == given["kind"]
        and metadata.name(document.value) == given["name"]
        and metadata.namespace(document.value) == (given.get("namespace") or "")
        and all(given.get(name) in (None, "", value) for name, value in has.items())
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
    """A test with one case, which is left out."""
    way = Rewriting(chunk, value)
    name = metadata.name(value)
    way.leave_out(name or "test", (), _REASON)
    return way.done(name)
