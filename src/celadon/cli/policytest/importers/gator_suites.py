"""Suites of gator (Gatekeeper) whose templates have CEL to PolicyTests.

A suite names a ConstraintTemplate and a Constraint for each of its tests, and nothing else judges
its cases: each test is a PolicyTest. A template with code for the engine `K8sNativeValidation`
becomes a policy as Gatekeeper generates one: the constraint is its params, `variables.params` are
the constraint's `spec.parameters`, `variables.anyObject` is the old object of a DELETE. What the
constraint's `match` says becomes the rules, the match conditions and the selectors of a policy of
its own; gator counts violations whatever the `enforcementAction`, so the binding always denies.
Rego is not evaluated here: tests of templates that have nothing else are left out, and so is each
case that cannot be said. An ExpansionTemplate makes objects of others (the section on expansion),
which are judged as well. Format: github.com/open-policy-agent/gatekeeper
`pkg/gator/verify/suite.go` and `pkg/drivers/k8scel/schema`.
"""

from __future__ import annotations

import fnmatch
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.admission.registration import BINDING_KIND, POLICY_KIND
from celadon.cli.policytest.case_results import CaseVerdict
from celadon.cli.policytest.importers.rewriting import Rewriting, Rewritten
from celadon.cli.policytest.importers.small_formats import is_review, request_fields
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_text import Path
from celadon.cli.reading.locations import Chunk
from celadon.kube import Json, JsonObject, metadata
from celadon.kube.json_types import JsonDict, Needed, Shape, misfit
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.kube.well_known_values import GATEKEEPER_CONSTRAINTS as CONSTRAINTS

# --- Gator expansion ---------------------------------------------------------
#
# What ExpansionTemplates of Gatekeeper make of an object: the Pod of a Deployment.
#
# Each template that applies to the object's kind takes a part of it for a whole object, with a
# kind, a name and an owner; what it makes may be expanded again. Mutators are not asked. As
# github.com/open-policy-agent/gatekeeper `pkg/expansion/system.go`, `expandResource`.

_KIND: Final = "ExpansionTemplate"
_DEEPEST: Final = 30
"""How often something may be expanded again, as upstream's `maxRecursionDepth`."""
_MOST: Final = 100
"""Objects that are made of one: two templates that expand what they make reach a billion."""


def expanded(
    value: JsonObject, templates: Sequence[Document], depth: int = 0
) -> Iterator[JsonObject]:
    """Yield all objects that come of one; those that come of others first."""
    if depth == _DEEPEST:
        return
    result = [
        element
        for document in templates
        for element in _made(value, document.value.get("spec") or {})
    ]
    for resource in result:
        yield from expanded(resource, templates, depth + 1)
    yield from result


def _made(value: JsonObject, spec: JsonObject) -> Iterator[JsonObject]:
    """Yield the object that one template makes, if it applies."""
    group, _, version = str(value["apiVersion"]).rpartition("/")
    if not any(
        group in (item.get("groups") or ())
        and version in (item.get("versions") or ())
        and value["kind"] in (item.get("kinds") or ())
        for item in spec.get("applyTo") or ()
    ):
        return
    source: object = value
    for step in str(spec.get("templateSource", "")).split("."):
        source = source.get(step) if isinstance(source, Mapping) else None
    if not isinstance(source, Mapping):
        return
    kind = spec.get("generatedGVK") or {}
    about = dict(metadata.metadata(source))
    if namespace := metadata.namespace(value):
        about["namespace"] = namespace
    about["name"] = f"{metadata.name(value)}-{kind.get('kind', '')}".lower()
    version, group = kind.get("version", ""), kind.get("group", "")
    yield {
        **source,
        "apiVersion": f"{group}/{version}" if group else version,
        "kind": kind.get("kind", ""),
        "metadata": about,
    }


ENGINE: Final = "K8sNativeValidation"
_GROUP: Final = "test.gatekeeper.sh/"
_VERSION: Final = "v1beta1"
_REGISTRATION: Final = f"{ADMISSION_REGISTRATION}/v1"
_SUITE_FIELDS: Final = frozenset({"kind", "apiVersion", "metadata", "tests", "skip"})
_TEST_FIELDS: Final = frozenset({"name", "template", "constraint", "expansion", "cases", "skip"})
_CASE_FIELDS: Final = frozenset({"name", "object", "assertions", "inventory", "skip"})
_ASSERTION_FIELDS: Final = frozenset({"violations", "message"})
_SOURCE_FIELDS: Final = frozenset(
    {
        "validations",
        "failurePolicy",
        "matchCondition",
        "matchConditions",
        "variables",
        "generateVAP",
    }
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
_TEMPLATE: Final[Shape] = {
    "spec": {
        "targets": [
            Needed(
                {
                    "code": [
                        Needed(
                            {
                                "source": {
                                    "matchCondition": [],
                                    "matchConditions": [],
                                    "variables": [],
                                    "validations": [],
                                }
                            }
                        )
                    ]
                }
            )
        ]
    }
}
_CONSTRAINT: Final[Shape] = {
    "spec": {
        "match": {
            "kinds": [Needed({"apiGroups": [str], "kinds": [str]})],
            "namespaces": [str],
            "excludedNamespaces": [str],
            "name": str,
        },
        "scopedEnforcementActions": [Needed({"enforcementPoints": [Needed({"name": str})]})],
    }
}
_EXPANSION: Final[Shape] = {
    "spec": {
        "applyTo": [Needed({"groups": [str], "versions": [str], "kinds": [str]})],
        "templateSource": str,
        "generatedGVK": {"group": str, "version": str, "kind": str},
    }
}
_ENFORCEMENT_POINTS: Final = frozenset({"*", "gator.gatekeeper.sh"})
_ANY_OBJECT: Final = (
    'has(request.operation) && request.operation == "DELETE" && object == null ? oldObject : object'
)
_PARAMETERS: Final = (
    "!has(params.spec) ? null : !has(params.spec.parameters) ? null : params.spec.parameters"
)


def is_gator_suite(value: object) -> bool:
    """Return whether a document is one."""
    return (
        isinstance(value, Mapping)
        and value.get("kind") == "Suite"
        and str(value.get("apiVersion", "")).startswith(_GROUP)
    )


def rewritten(chunk: Chunk, value: Any) -> list[Rewritten]:  # noqa: ANN401 - any JSON
    """Return a test for each of the suite, judged by its own template and constraint."""
    suite = Rewriting(chunk, value)
    tests = [
        _Gator(chunk, value, path).rewritten(test)
        for path, test in suite.maps(("tests",))
        if test.get("cases")
    ]
    if suite.objects.problems or not tests:
        tests.append(suite.done(metadata.name(value)))
    return tests


class _Gator:
    """Rewrites one test of a suite."""

    def __init__(self, chunk: Chunk, suite: JsonObject, path: Path) -> None:
        self._suite = suite
        self._path = path
        self._folder = os.path.dirname(chunk.file)
        self._rewriting = Rewriting(chunk, suite)
        self._policy = ""
        self._constraint: JsonObject = {}
        self._expansions: list[Document] = []
        self._reason = ""
        """Why no case of it is run."""

    def rewritten(self, test: JsonObject) -> Rewritten:
        """Return the suite as a PolicyTest."""
        way = self._rewriting
        name = str(test.get("name") or self._path[-1])
        self._reason = way.others((), _SUITE_FIELDS) or way.others(self._path, _TEST_FIELDS)
        if self._suite.get("skip") or test.get("skip"):
            self._reason = "the suite skips it"
        if not self._reason:
            self._prepare(test)
        for path, case in way.maps((*self._path, "cases")):
            self._case(path, case, f"{name}: {case.get('name') or 'case'}")
        suite = metadata.name(self._suite)
        return way.done(f"{suite}: {name}" if suite else name)

    def _prepare(self, test: JsonObject) -> None:
        """Read the template, the constraint and what expands objects."""
        template = self._named(self._path, test, "template", _TEMPLATE)
        constraint = self._named(self._path, test, "constraint", _CONSTRAINT)
        if template is None or constraint is None:
            return
        source = _native_source(template.value)
        if source is None:
            self._reason = f"the template has no code for {ENGINE}"
            return
        match: Any = constraint.value_at(("spec", "match")) or {}
        self._reason = (
            _unknown(template, source, _SOURCE_FIELDS)
            or _unknown(constraint, match, _MATCH_FIELDS)
            or _unenforced(constraint.value)
        )
        if "expansion" in test:
            expansions = self._read(str(test["expansion"]))
            self._expansions = [
                expansion
                for expansion in expansions
                if expansion.value["kind"] == _KIND
                and self._fits((*self._path, "expansion"), expansion, _EXPANSION)
            ]
        self._constraint = constraint.value
        self._policy = f"gatekeeper-{metadata.name(constraint.value)}"
        self._rewriting.fields["policies"] = list(
            _policy(self._policy, constraint.value, source, match)
        )
        self._rewriting.fields["crds"] = [_definition(str(constraint.value["kind"]))]

    def _case(self, path: Path, case: JsonObject, name: str) -> None:
        way = self._rewriting
        reason = self._reason or way.others(path, _CASE_FIELDS)
        if case.get("skip"):
            reason = "the suite skips it"
        if reason:
            way.leave_out(name, path, reason)
            return
        about = self._named(path, case, "object", {})
        if about is None:
            return
        value: dict[str, Json] = {"policy": self._policy, "params": [dict(self._constraint)]}
        files = way.files((*path, "inventory"))
        resources = [dict(document.value) for file in files for document in self._read(file)]
        if resources:
            value["resources"] = resources
        assertions = list(way.maps((*path, "assertions")))
        if not assertions:
            way.say(path, "no assertion in this case")
        for number, (assertion_path, assertion) in enumerate(assertions, 1):
            suffix = f", assertion {number}" if number > 1 else ""
            reason = way.others(assertion_path, _ASSERTION_FIELDS)
            if reason:
                way.leave_out(name + suffix, assertion_path, reason)
            else:
                self._assertion(assertion_path, assertion, name + suffix, about, value)

    def _assertion(
        self, path: Path, assertion: JsonObject, name: str, about: Document, value: JsonObject
    ) -> None:
        """Add a case, or one for each object that is judged."""
        expect = _expected(assertion)
        if isinstance(expect, str):
            self._rewriting.leave_out(name, path, expect)
            return
        if is_review(about.value):
            self._review(path, name, about.value["request"], value, expect)
            return
        result = list(itertools.islice(expanded(about.value, self._expansions), _MOST + 1))
        if len(result) > _MOST:
            self._rewriting.leave_out(name, path, f"more than {_MOST} objects are made of this one")
            return
        matched = [
            value for value in (about.value, *result) if _is_matched(value, self._constraint)
        ]
        if expect["verdict"] == CaseVerdict.DENY.value:
            if len(matched) > 1:
                text = f"violations of {len(matched)} objects are counted together"
                self._rewriting.leave_out(name, path, text)
                return
            judged = matched or [about.value]
        else:
            judged = [about.value, *result]
        for judged_value in judged:
            expected = expect
            if judged_value not in matched and expect["verdict"] == CaseVerdict.ADMIT.value:
                expected = {"verdict": CaseVerdict.NO_MATCH.value}
            suffix = "" if judged_value is about.value else f", as {judged_value['kind']}"
            judged_object = (
                self._rewriting.reference(about, [])
                if judged_value is about.value
                else dict(judged_value)
            )
            self._rewriting.add(
                {"name": name + suffix, **value, "object": judged_object, "expect": expected}, path
            )

    def _review(
        self, path: Path, name: str, request: JsonObject, value: JsonObject, expect: JsonObject
    ) -> None:
        """Add a case about a request, as far as an API server would send it."""
        fields = request_fields(request)
        if fields.get("operation") == "UPDATE" and "oldObject" not in fields:
            text = "an UPDATE without an `oldObject`: no API server sends such a request"
            self._rewriting.leave_out(name, path, text)
            return
        if isinstance(expect, dict) and expect["verdict"] == CaseVerdict.ADMIT.value:
            item = fields.get("object")
            if isinstance(item, Mapping) and not _is_matched(item, self._constraint):
                expect = {"verdict": CaseVerdict.NO_MATCH.value}
        self._rewriting.add({"name": name, **value, **fields, "expect": expect}, path)

    def _named(self, path: Path, value: JsonObject, field: str, shape: Shape) -> Document | None:
        """Return the one object of the file that a field names, if it has this shape."""
        name = value.get(field)
        if not isinstance(name, str):
            self._rewriting.say(path, f"`{field}`, a file, is needed")
            return None
        documents = self._read(name)
        if len(documents) != 1:
            self._rewriting.say(
                (*path, field), f"`{name}` has {len(documents)} objects: one is expected"
            )
            return None
        return documents[0] if self._fits((*path, field), documents[0], shape) else None

    def _fits(self, path: Path, document: Document, shape: Shape) -> bool:
        """Return whether what was read for a field can be used; why it cannot is said."""
        wrong = misfit(document.value, shape)
        if wrong is not None:
            file = os.path.relpath(document.file, self._folder or ".")
            self._rewriting.say(path, f"`{file}`, line {document.line(wrong.path)}: {wrong}")
        return wrong is None

    def _read(self, file: str) -> list[Document]:
        return self._rewriting.objects.beside([os.path.join(self._folder, file)])


def _unknown(document: Document, value: JsonObject, fields: frozenset[str]) -> str:
    """Return why what a template or a constraint says cannot be said in a policy; empty if it
    can."""
    for field in value:
        if field not in fields:
            owner = f"{document.value['kind']} `{metadata.name(document.value)}`"
            return f"`{field}` of {owner} has no equal in a PolicyTest"
    return ""


def _unenforced(constraint: JsonObject) -> str:
    """Return why gator itself does not ask a constraint; empty if it does."""
    spec = constraint.get("spec") or {}
    if spec.get("enforcementAction") != "scoped":
        return ""
    points = {
        point.get("name")
        for action in spec.get("scopedEnforcementActions") or ()
        for point in action.get("enforcementPoints") or ()
    }
    return "" if points & _ENFORCEMENT_POINTS else "the constraint is not enforced by gator"


def _expected(assertion: JsonObject) -> JsonObject | str:
    """Return what a PolicyTest has for an assertion, or why it has nothing."""
    violations = assertion.get("violations", "yes")
    message = assertion.get("message")
    if violations in ("no", False) or (violations == 0 and not isinstance(violations, bool)):
        if message is None:
            return {"verdict": CaseVerdict.ADMIT.value}
        return "no violation with some message: whether there are others is not said"
    result: dict[str, Json] = {"verdict": CaseVerdict.DENY.value}
    if message is not None:
        result["message"] = {"matches": str(message)}
    if violations == "yes" or violations is True:
        return result
    if isinstance(violations, int) and violations > 0:
        return {**result, "violations": violations}
    return f"`violations: {violations}` is neither `yes`, `no` nor a number"


def _native_source(template: JsonObject) -> JsonObject | None:
    """Return the CEL of a template; None if it has none."""
    for target in (template.get("spec") or {}).get("targets") or ():
        for code in target.get("code") or ():
            if code.get("engine") == ENGINE and isinstance(code.get("source"), Mapping):
                source: JsonObject = code["source"]
                return source
    return None


def _policy(
    name: str, constraint: JsonObject, source: JsonObject, match: JsonObject
) -> Iterator[JsonDict]:
    """Yield the policy of one constraint, and its binding."""
    head = {"apiVersion": _REGISTRATION, "metadata": {"name": name}}
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}
    scope = match.get("scope")
    if scope in ("Cluster", "Namespaced"):
        rule["scope"] = scope
    constraints: dict[str, object] = {"resourceRules": [rule]}
    for ours, theirs in (
        ("objectSelector", "labelSelector"),
        ("namespaceSelector", "namespaceSelector"),
    ):
        if match.get(theirs):
            constraints[ours] = match[theirs]
    conditions = [
        {"name": f"gatekeeper_internal_match_{condition}", "expression": expression}
        for condition, expression in _conditions(match)
    ]
    yield {
        **head,
        "kind": POLICY_KIND,
        "spec": {
            "failurePolicy": source.get("failurePolicy", "Fail"),
            "paramKind": {"apiVersion": f"{CONSTRAINTS}/{_VERSION}", "kind": constraint["kind"]},
            "matchConstraints": constraints,
            "matchConditions": [
                *conditions,
                *(source.get("matchCondition") or ()),
                *(source.get("matchConditions") or ()),
            ],
            "variables": [
                {"name": "anyObject", "expression": _ANY_OBJECT},
                {"name": "params", "expression": _PARAMETERS},
                *(source.get("variables") or ()),
            ],
            "validations": list(source.get("validations") or ()),
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


def _conditions(match: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield what `match` asks for besides selectors, by what it is about."""
    kinds = [_kind_condition(kind) for kind in match.get("kinds") or ()]
    if kinds:
        yield "kinds", " || ".join(kinds)
    for field, text, negated in (
        ("namespaces", "namespaces", False),
        ("excludedNamespaces", "excluded_namespaces", True),
    ):
        if match.get(field):
            anywhere = "request.namespace == ''"
            condition = _one_of("request.namespace", match[field])
            yield text, f"{anywhere} || {'!' if negated else ''}({condition})"
    if match.get("name"):
        yield "name", _one_of("request.name", [match["name"]])


def _kind_condition(kind: JsonObject) -> str:
    groups, kinds = kind.get("apiGroups") or ["*"], kind.get("kinds") or ["*"]
    parts = []
    if "*" not in groups:
        parts.append(f"request.kind.group in {json.dumps(groups)}")
    if "*" not in kinds:
        parts.append(f"request.kind.kind in {json.dumps(kinds)}")
    return f"({' && '.join(parts)})" if parts else "true"


def _one_of(value: str, patterns: Sequence[str]) -> str:
    """Names, with a `*` at their ends for whatever begins or ends so."""
    return " || ".join(_matches(value, str(pattern)) for pattern in patterns)


def _matches(value: str, pattern: str) -> str:
    plain = json.dumps(pattern.strip("*"))
    begins, ends = pattern.endswith("*"), pattern.startswith("*")
    if begins and ends:
        return f"{value}.contains({plain})"
    if begins:
        return f"{value}.startsWith({plain})"
    return f"{value}.endsWith({plain})" if ends else f"{value} == {plain}"


def _is_matched(value: JsonObject, constraint: JsonObject) -> bool:
    """Return whether a constraint is about an object, by kind and namespace; what is not sees no
    violation, which is another thing than to be admitted."""
    match = (constraint.get("spec") or {}).get("match") or {}
    group, _, _ = str(value.get("apiVersion", "")).rpartition("/")
    kinds = match.get("kinds") or [{}]
    if not any(
        {"*", group} & set(kind.get("apiGroups") or "*")
        and {"*", value.get("kind")} & set(kind.get("kinds") or "*")
        for kind in kinds
    ):
        return False
    namespace = metadata.namespace(value)
    if not namespace:
        return True
    namespaces, excluded = match.get("namespaces"), match.get("excludedNamespaces") or ()
    return not (namespaces and not _is_any(namespace, namespaces)) and not _is_any(
        namespace, excluded
    )


def _is_any(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, str(pattern)) for pattern in patterns)


def _definition(kind: str) -> dict[str, object]:
    """Return the definition of a kind of constraints; their fields are not looked at."""
    plural = kind.lower()
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{CONSTRAINTS}"},
        "spec": {
            "group": CONSTRAINTS,
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
