"""Suites of gator (Gatekeeper) whose templates have CEL to PolicyTests.

A suite names a ConstraintTemplate and a Constraint for each of its tests. A template with code for
the engine `K8sNativeValidation` becomes a policy as Gatekeeper generates one: the constraint is its
params, `variables.params` are the constraint's `spec.parameters`, `variables.anyObject` is the old
object of a DELETE. What the constraint's `match` says becomes the rules, the match conditions and
the selectors of a policy of its own; gator counts violations whatever the `enforcementAction`, so
the binding always denies. Rego is not evaluated here: tests of templates that have nothing else are
skipped. Format: github.com/open-policy-agent/gatekeeper `pkg/gator/verify/suite.go`, and
frameworks/constraint `pkg/client/drivers/k8scel/schema`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.admission.registration import BINDING_KIND, POLICY_KIND
from celadon.cli.policy_tests.expectations import CaseVerdict
from celadon.cli.policy_tests.foreign_tests.review_tests import is_review, request_fields
from celadon.cli.policy_tests.foreign_tests.rewriting import Rewriting, Rewritten
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_places import Path
from celadon.cli.reading.locations import Chunk
from celadon.kube import metadata
from celadon.kube.well_known_values import ADMISSION_REGISTRATION

ENGINE: Final = "K8sNativeValidation"
_GROUP: Final = "test.gatekeeper.sh/"
_CONSTRAINTS: Final = "constraints.gatekeeper.sh"
_VERSION: Final = "v1beta1"
_REGISTRATION: Final = f"{ADMISSION_REGISTRATION}/v1"
_SUITE_FIELDS: Final = frozenset({"kind", "apiVersion", "metadata", "tests", "skip"})
_TEST_FIELDS: Final = frozenset({"name", "template", "constraint", "cases", "skip"})
_CASE_FIELDS: Final = frozenset({"name", "object", "assertions", "inventory", "skip"})
_ASSERTION_FIELDS: Final = frozenset({"violations", "message"})
_SOURCE_FIELDS: Final = frozenset(
    {"validations", "failurePolicy", "matchConditions", "variables", "generateVAP"}
)
_MATCH_FIELDS: Final = frozenset(
    {
        "kinds",
        "scope",
        "namespaces",
        "excludedNamespaces",
        "labelSelector",
        "namespaceSelector",
        "name",
    }
)
_ANY_OBJECT: Final = (
    'has(request.operation) && request.operation == "DELETE" && object == null ? oldObject : object'
)
_PARAMETERS: Final = (
    "!has(params.spec) ? null : !has(params.spec.parameters) ? null : params.spec.parameters"
)


def is_gator_suite(value: object) -> bool:
    """Whether a document is one."""
    return (
        isinstance(value, Mapping)
        and value.get("kind") == "Suite"
        and str(value.get("apiVersion", "")).startswith(_GROUP)
    )


def rewritten(chunk: Chunk, value: Any) -> Rewritten:  # noqa: ANN401 - any JSON
    """The test."""
    return _Gator(chunk, value).test()


class _Gator:
    def __init__(self, chunk: Chunk, value: Mapping[str, Any]) -> None:
        self._value = value
        self._folder = os.path.dirname(chunk.file)
        self._way = Rewriting(chunk, value)
        self._policies: list[dict[str, Any]] = []
        self._definitions: dict[str, dict[str, Any]] = {}

    def test(self) -> Rewritten:
        way = self._way
        way.refuse_others((), _SUITE_FIELDS)
        for number, (path, test) in enumerate(way.maps(("tests",))):
            way.refuse_others(path, _TEST_FIELDS)
            self._test(number, path, test)
        way.fields["policies"] = self._policies
        if self._definitions:
            way.fields["crds"] = list(self._definitions.values())
        return way.done(metadata.name(self._value))

    def _test(self, number: int, path: Path, test: Mapping[str, Any]) -> None:
        template = self._named(path, test, "template")
        constraint = self._named(path, test, "constraint")
        if template is None or constraint is None:
            return
        skip = "the suite skips it" if self._value.get("skip") or test.get("skip") else ""
        source = _native_source(template.value)
        if source is None:
            skip = skip or f"the template has no code for {ENGINE}"
        name = f"{test.get('name') or metadata.name(constraint.value)}"
        policy = f"gatekeeper-{metadata.name(constraint.value)}-{number}"
        if source is not None:
            self._refuse(template, source, _SOURCE_FIELDS)
            match = constraint.value_at(("spec", "match")) or {}
            assert isinstance(match, Mapping), "constraints have a map there"
            self._refuse(constraint, match, _MATCH_FIELDS)
            self._policies += _policy(policy, constraint.value, source, match)
            kind = str(constraint.value["kind"])
            self._definitions[kind] = _definition(kind)
        for at, case in self._way.maps((*path, "cases")):
            self._way.refuse_others(at, _CASE_FIELDS)
            self._case(at, case, name, policy, constraint.value, skip)

    def _refuse(self, document: Document, given: Mapping[str, Any], known: frozenset[str]) -> None:
        for field in given:
            if field not in known:
                whose = f"{document.value['kind']} `{metadata.name(document.value)}`"
                self._way.say((), f"`{field}` of {whose} has no equal in a PolicyTest")

    def _case(
        self,
        path: Path,
        case: Mapping[str, Any],
        test: str,
        policy: str,
        constraint: Mapping[str, Any],
        skip: str,
    ) -> None:
        about = self._named(path, case, "object")
        if about is None:
            return
        others = [one for name in self._way.files((*path, "inventory")) for one in self._read(name)]
        given: dict[str, Any] = {"policy": policy, "params": [dict(constraint)]}
        if is_review(about.value):
            given |= request_fields(about.value["request"])
        else:
            given["object"] = self._way.reference(about, [])
        if others:
            given["resources"] = [dict(one.value) for one in others]
        if skip or case.get("skip"):
            given["skip"] = skip or "the suite skips it"
        name = f"{test}: {case.get('name') or metadata.name(about.value)}"
        assertions = list(self._way.maps((*path, "assertions")))
        if not assertions:
            self._way.say(path, "no assertion in this case")
        for number, (at, assertion) in enumerate(assertions, 1):
            self._way.refuse_others(at, _ASSERTION_FIELDS)
            more = f", assertion {number}" if number > 1 else ""
            expect = self._expected(at, assertion)
            if expect is not None:
                self._way.add({"name": name + more, **given, "expect": expect}, at)

    def _expected(self, path: Path, assertion: Mapping[str, Any]) -> dict[str, Any] | None:
        """None, and a problem, for numbers that are more than yes and no."""
        wanted = assertion.get("violations", "yes")
        message = assertion.get("message")
        if wanted in ("no", False) or (wanted == 0 and not isinstance(wanted, bool)):
            if message is None:
                return {"verdict": CaseVerdict.ADMIT.value}
            self._way.say((*path, "message"), "no message is expected of what is admitted")
            return None
        if wanted in ("yes", True) or wanted == 1:
            found: dict[str, Any] = {"verdict": CaseVerdict.DENY.value}
            return found | ({} if message is None else {"message": {"matches": str(message)}})
        self._way.say(
            (*path, "violations"),
            f"`violations: {wanted}` has no equal in a PolicyTest: `yes`, `no`, 0 or 1 has",
        )
        return None

    def _named(self, path: Path, given: Mapping[str, Any], field: str) -> Document | None:
        """The one object of the file that a field names."""
        name = given.get(field)
        if not isinstance(name, str):
            self._way.say(path, f"`{field}`, a file, is needed")
            return None
        found = self._read(name)
        if len(found) != 1:
            self._way.say((*path, field), f"`{name}` has {len(found)} objects: one is expected")
            return None
        return found[0]

    def _read(self, file: str) -> list[Document]:
        return self._way.objects.beside([os.path.join(self._folder, file)])


def _native_source(template: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The CEL of a template; None if it has none."""
    for target in (template.get("spec") or {}).get("targets") or ():
        for code in target.get("code") or ():
            if code.get("engine") == ENGINE and isinstance(code.get("source"), Mapping):
                found: Mapping[str, Any] = code["source"]
                return found
    return None


def _policy(
    name: str,
    constraint: Mapping[str, Any],
    source: Mapping[str, Any],
    match: Mapping[str, Any],
) -> Iterator[dict[str, Any]]:
    """The policy of one constraint, and its binding."""
    head = {"apiVersion": _REGISTRATION, "metadata": {"name": name}}
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}
    scope = match.get("scope")
    if scope in ("Cluster", "Namespaced"):
        rule["scope"] = scope
    constraints: dict[str, Any] = {"resourceRules": [rule]}
    for ours, theirs in (
        ("objectSelector", "labelSelector"),
        ("namespaceSelector", "namespaceSelector"),
    ):
        if match.get(theirs):
            constraints[ours] = match[theirs]
    conditions = [
        {"name": f"gatekeeper_internal_match_{what}", "expression": expression}
        for what, expression in _conditions(match)
    ]
    yield {
        **head,
        "kind": POLICY_KIND,
        "spec": {
            "failurePolicy": source.get("failurePolicy", "Fail"),
            "paramKind": {"apiVersion": f"{_CONSTRAINTS}/{_VERSION}", "kind": constraint["kind"]},
            "matchConstraints": constraints,
            "matchConditions": [*conditions, *source.get("matchConditions", ())],
            "variables": [
                {"name": "anyObject", "expression": _ANY_OBJECT},
                {"name": "params", "expression": _PARAMETERS},
                *source.get("variables", ()),
            ],
            "validations": list(source.get("validations", ())),
        },
    }
    yield {
        **head,
        "kind": BINDING_KIND,
        "spec": {
            "policyName": name,
            "paramRef": {
                "name": metadata.name(constraint),
                "parameterNotFoundAction": "Allow",
            },
            "validationActions": ["Deny"],
        },
    }


def _conditions(match: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What `match` asks for besides selectors, by what it is about."""
    kinds = [_kind_condition(one) for one in match.get("kinds") or ()]
    if kinds:
        yield "kinds", " || ".join(kinds)
    for field, what, negated in (
        ("namespaces", "namespaces", False),
        ("excludedNamespaces", "excluded_namespaces", True),
    ):
        if match.get(field):
            anywhere = "request.namespace == ''"
            some = _one_of("request.namespace", match[field])
            yield what, f"{anywhere} || {'!' if negated else ''}({some})"
    if match.get("name"):
        yield "name", _one_of("request.name", [match["name"]])


def _kind_condition(kind: Mapping[str, Any]) -> str:
    groups, kinds = kind.get("apiGroups") or ["*"], kind.get("kinds") or ["*"]
    parts = []
    if "*" not in groups:
        parts.append(f"request.kind.group in {json.dumps(groups)}")
    if "*" not in kinds:
        parts.append(f"request.kind.kind in {json.dumps(kinds)}")
    return f"({' && '.join(parts)})" if parts else "true"


def _one_of(value: str, patterns: Sequence[str]) -> str:
    """Names, with a `*` at their ends for whatever begins or ends so."""
    return " || ".join(_matches(value, str(one)) for one in patterns)


def _matches(value: str, pattern: str) -> str:
    plain = json.dumps(pattern.strip("*"))
    begins, ends = pattern.endswith("*"), pattern.startswith("*")
    if begins and ends:
        return f"{value}.contains({plain})"
    if begins:
        return f"{value}.startsWith({plain})"
    return f"{value}.endsWith({plain})" if ends else f"{value} == {plain}"


def _definition(kind: str) -> dict[str, Any]:
    """Of a kind of constraints; their fields are not looked at."""
    plural = kind.lower()
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{_CONSTRAINTS}"},
        "spec": {
            "group": _CONSTRAINTS,
            "scope": "Cluster",
            "names": {
                "plural": plural,
                "singular": plural,
                "kind": kind,
                "listKind": f"{kind}List",
            },
            "versions": [
                {
                    "name": _VERSION,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": anything},
                }
            ],
        },
    }
