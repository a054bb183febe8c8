"""kaptest's test manifests to PolicyTests, those before its version 0.2 and those since.

Each test names objects among the resources, by kind and name. What is given says what is asked: an
`object` alone is a CREATE, with an `oldObject` an UPDATE, an `oldObject` alone a DELETE. kaptest
evaluates policies without bindings; here one is assumed, with the test's `param`, where there is
none. Format: the README of github.com/pfnet/kaptest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.cli.policy_tests.expectations import CaseVerdict
from celadon.cli.policy_tests.foreign_tests.rewriting import Rewriting, Rewritten, after_mutation
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_places import Path
from celadon.cli.reading.locations import Chunk
from celadon.kube import metadata

_SUITES: Final = ("testSuites", "vapTestSuites", "mapTestSuites")
_POLICIES: Final = ("validatingAdmissionPolicies", "policies")
_FIELDS: Final = frozenset({"version", "resources", "crds", *_POLICIES, *_SUITES})
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
    """Whether a document is such a manifest."""
    return (
        isinstance(value, Mapping)
        and "kind" not in value
        and any(one in value for one in _POLICIES)
        and any(one in value for one in _SUITES)
    )


def rewritten(chunk: Chunk, value: Any) -> Rewritten:  # noqa: ANN401 - any JSON
    """The test."""
    return _Kaptest(chunk, value).test()


class _Kaptest:
    def __init__(self, chunk: Chunk, value: Mapping[str, Any]) -> None:
        self._given = value
        self._way = Rewriting(chunk, value)
        self._policies: list[Document] = []
        self._resources: list[Document] = []
        self._unbound: frozenset[str] = frozenset()

    def test(self) -> Rewritten:
        way = self._way
        way.refuse_others((), _FIELDS | _NO_MATTER)
        self._policies = [one for name in _POLICIES for one in way.manifests((name,))]
        self._resources = way.manifests(("resources",))
        way.fields["policies"] = [one for name in _POLICIES for one in way.files((name,))]
        if crds := way.files(("crds",)):
            way.fields["crds"] = crds
        namespaces = {
            metadata.name(one.value): one.value["metadata"].get("labels") or {}
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

    def _test(self, path: Path, test: Mapping[str, Any], policy: str) -> None:
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
        case: dict[str, Any] = {
            "name": f"{policy}: {about.value['kind']} {metadata.name(about.value)}: {wanted}",
            "policy": policy,
            **self._request(new, old),
            **self._user(path, test),
            **self._around(path, test, policy),
            "expect": self._expected(path, test, verdict, about),
        }
        way.add(case, path)

    def _request(self, new: Document | None, old: Document | None) -> dict[str, Any]:
        """What is asked."""
        refer = self._way.reference
        found: dict[str, Any] = {}
        if new is None:
            found["operation"] = "DELETE"
        elif old is not None:
            found["operation"] = "UPDATE"
        if new is not None:
            found["object"] = refer(new, self._resources)
        if old is not None:
            found["oldObject"] = refer(old, self._resources)
        return found

    def _object(self, path: Path, test: Mapping[str, Any], field: str) -> Document | None:
        """The object that a field names by kind and name."""
        if field not in test:
            return None
        at, given = (*path, field), test[field]
        self._way.refuse_others(at, _NAME_FIELDS)
        if not isinstance(given, Mapping) or not (given.get("kind") and given.get("name")):
            self._way.say(at, "`kind` and `name` are needed")
            return None
        return self._only(at, given)

    def _only(self, at: Path, given: Mapping[str, Any]) -> Document | None:
        found = [one for one in self._resources if _fits(one, given)]
        if len(found) == 1:
            return found[0]
        what = f"{given['kind']} `{given['name']}` among the resources"
        self._way.say(at, f"{'several' if found else 'no'} {what}")
        return None

    def _user(self, path: Path, test: Mapping[str, Any]) -> dict[str, Any]:
        if "userInfo" not in test:
            return {}
        at, given = (*path, "userInfo"), test["userInfo"]
        self._way.refuse_others(at, _USER_FIELDS)
        known = given if isinstance(given, Mapping) else {}
        return {ours: known[theirs] for theirs, ours in _USER_FIELDS.items() if known.get(theirs)}

    def _around(self, path: Path, test: Mapping[str, Any], policy: str) -> dict[str, Any]:
        """The param, and the binding that looks it up."""
        kind = next(
            (
                one.value_at(("spec", "paramKind", "kind"))
                for one in self._policies
                if metadata.name(one.value) == policy
            ),
            None,
        )
        spec: dict[str, Any] = {"policyName": policy}
        found: dict[str, Any] = {}
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

    def _expected(
        self, path: Path, test: Mapping[str, Any], verdict: CaseVerdict, about: Document
    ) -> Any:  # noqa: ANN401 - as a PolicyTest has it
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


def _fits(document: Document, given: Mapping[str, Any]) -> bool:
    """Whether it is the object that a test means; a namespace must be named if it has one."""
    group, kind = document.group_kind
    has = {"group": group, "version": document.value["apiVersion"].rpartition("/")[2]}
    return (
        kind == given["kind"]
        and metadata.name(document.value) == given["name"]
        and metadata.namespace(document.value) == (given.get("namespace") or "")
        and all(given.get(name) in (None, "", value) for name, value in has.items())
    )
