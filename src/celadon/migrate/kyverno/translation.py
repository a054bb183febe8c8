"""Kyverno's documents and rules as ValidatingAdmissionPolicies.

A rule becomes one policy for each form it has: as it stands, for controllers of Pods, for CronJobs.
What skips the rule (preconditions, conditions in patterns) becomes match conditions, what it
demands a validation. A rule is translated whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from celadon.admission import Operation
from celadon.kube import GroupVersionKind, Json, JsonObject
from celadon.kube.defaulting import always_set
from celadon.kube.json_types import JsonDict, Needed
from celadon.kube.json_types import Shape as JsonShape
from celadon.kube.resources import Catalog
from celadon.migrate import translations
from celadon.migrate.cel_text import ALWAYS
from celadon.migrate.kyverno import conditions, jmespath_queries, policies, validate_rules
from celadon.migrate.kyverno.bindings import bindings, config_map, param_ref
from celadon.migrate.kyverno.cel_policies import (
    CEL_POLICY_SHAPE,
    is_cel_policy,
    translate_cel_policy,
)
from celadon.migrate.kyverno.jmespath_expressions import Reader, parsed, read
from celadon.migrate.kyverno.match_and_exclude import Matching, kinds_of, matching
from celadon.migrate.kyverno.pod_security import exclusions


def translate(
    policy: policies.Policy, catalog: Catalog, exceptions: Sequence[policies.PolicyException] = ()
) -> list[translations.Translation]:
    """Return what becomes of each rule of a policy."""
    return [
        _translated(
            policy,
            rule,
            translations.Origin(policy.name, rule.name, ("spec", "rules", index), rule.kind),
            catalog,
            exceptions,
        )
        for index, rule in enumerate(policy.rules)
    ]


_NO_EQUAL: Final = {
    "generate": ("it generates objects", "Keep it in Kyverno, or let a controller do it."),
    "verifyImages": ("it verifies images", "Keep it in Kyverno, or use the policy-controller."),
    "": ("it says nothing that is known", ""),
}


def _translated(
    policy: policies.Policy,
    rule: policies.Rule,
    origin: translations.Origin,
    catalog: Catalog,
    exceptions: Sequence[policies.PolicyException],
) -> translations.Translation:
    try:
        forms = list(policies.variants(policy, _translatable(policy, rule)))
        # An exception is heeded by every form of a rule, or by none: otherwise a Deployment would
        # be let through whose Pods are refused.
        left_out = dict(_left_out(policy, forms, catalog, exceptions))
        heeded = [exception for exception in exceptions if exception.name not in left_out]
        whole = [
            document for form in forms for document in _documents(policy, form, catalog, heeded)
        ]
        documents = list(map(translations.without_updates_of_jobs, whole))
        notes = [*_notes(policy, forms, catalog)]
        notes += [translations.TEMPLATES_OF_JOBS] if documents != whole else []
    except translations.NotTranslated as error:
        return translations.Translation(origin, reason=error.reason, instead=error.instead)
    names = [
        exception.name
        for exception in heeded
        if any(exception.is_for_rule(policy.full_name, form.name) for form in forms)
    ]
    return translations.Translation(
        origin,
        tuple(documents),
        exceptions=tuple(names),
        left_out=tuple(left_out.items()),
        notes=tuple(notes),
    )


def _left_out(
    policy: policies.Policy,
    forms: Sequence[policies.Variant],
    catalog: Catalog,
    exceptions: Sequence[policies.PolicyException],
) -> Iterator[tuple[str, str]]:
    """Return the exceptions to a rule that cannot be said, with the reasons."""
    for form in forms:
        kinds = kinds_of(matching(policy, form.rule, catalog).rules)
        for exception in exceptions:
            if exception.is_for_rule(policy.full_name, form.name):
                try:
                    for kind in kinds:
                        validate_rules.not_excepted(exception, [kind], ())
                    if _is_of_controls(exception, form.rule):
                        exclusions([(ALWAYS, exception.value["spec"]["podSecurity"])])
                except translations.NotTranslated as error:
                    yield exception.name, error.reason


def _is_of_controls(exception: policies.PolicyException, rule: policies.Rule) -> bool:
    """Return whether an exception excludes controls from what a rule demands of pods, rather than
    objects from the rule."""
    validate = rule.value.get("validate") or {}
    return "podSecurity" in validate and bool(exception.value["spec"].get("podSecurity"))


def _translatable(policy: policies.Policy, rule: policies.Rule) -> policies.Rule:
    if policy.value["spec"].get("admission") is False:
        raise translations.NotTranslated("a policy that is not for admission (`admission: false`)")
    if rule.kind not in ("validate", "mutate"):
        # Nothing in the API server makes objects, or asks a registry for signatures.
        raise translations.NotTranslated(*_NO_EQUAL[rule.kind])
    return rule


def _documents(
    policy: policies.Policy,
    variant: policies.Variant,
    catalog: Catalog,
    exceptions: Sequence[policies.PolicyException],
) -> Iterator[JsonObject]:
    """Return the policies of one form, one for all kinds of which the same is demanded, each with
    its binding: it denies what Kyverno denies, and warns of the rest."""
    rule = variant.rule
    matched = matching(policy, rule, catalog)
    kinds: Sequence[GroupVersionKind | None] = kinds_of(matched.rules)
    demands: dict[str, tuple[validate_rules.Demand, list[GroupVersionKind]]] = {}
    unknown = [rule for rule in matched.rules if not rule.kinds]
    concerned = [
        exception
        for exception in exceptions
        if exception.is_for_rule(policy.full_name, variant.name)
    ]
    partial = [exception for exception in concerned if _is_of_controls(exception, rule)]
    whole = [exception for exception in concerned if exception not in partial]
    for kind in [*kinds, *([None] if unknown else [])]:
        rule_kinds = [kind] if kind else []
        demand = _excepting(
            validate_rules.demand_of(policy, rule, rule_kinds, partial), whole, rule_kinds
        )
        same = demands.setdefault(repr(demand), (demand, []))
        if kind:
            same[1].append(kind)
    # Kinds differ in their schemas, and so in what a pattern comes to. The policy for most of the
    # kinds has the plain name; the others are called after their kinds.
    most = max(demands.values(), key=lambda demand: len(demand[1]))
    for demand, of_kinds in demands.values():
        suffix = [variant.suffix] if variant.suffix else []
        if demand is not most[0]:
            suffix.append("-".join(kind.kind.lower() for kind in of_kinds) or "others")
        only = None if len(demands) == 1 else of_kinds
        document = _document(policy, rule, matched, demand, suffix, only)
        yield document
        if demand.mutations:
            yield translations.mutating_binding_document(document, param_ref(rule))
        else:
            yield from bindings(document, policy, rule, matched)


def _excepting(
    demand: validate_rules.Demand,
    exceptions: Sequence[policies.PolicyException],
    kinds: Sequence[GroupVersionKind],
) -> validate_rules.Demand:
    """Return a demand that is not made of what exceptions are for."""
    exempting = dict(
        zip(
            policies.condition_names(exceptions),
            (
                validate_rules.not_excepted(exception, kinds, demand.operations)
                for exception in exceptions
            ),
            strict=True,
        )
    )
    texts = {name: condition.text for name, condition in exempting.items() if condition != ALWAYS}
    return replace(demand, conditions={**texts, **demand.conditions}) if texts else demand


def _document(
    policy: policies.Policy,
    rule: policies.Rule,
    matched: Matching,
    demand: validate_rules.Demand,
    suffix: Sequence[str],
    kinds: Sequence[GroupVersionKind] | None,
) -> JsonObject:
    """Return a policy; `kinds` are those of the rule that it is for, None if it is for all."""
    name = [policy.name, *([_in_order(policy, rule)] if len(policy.rules) > 1 else []), *suffix]
    operations = [
        operation
        for operation in demand.operations
        if not matched.operations or operation in matched.operations
    ]
    if not operations:
        raise translations.NotTranslated("it is for operations that it excludes")
    rules: dict[tuple[str, str], list[str]] = {}
    for item in matched.rules:
        if kinds is None or set(item.kinds) & set(kinds) or not (item.kinds or kinds):
            rules.setdefault((item.group, item.version), []).extend(item.resources(operations))
    constraints: JsonDict = {
        "resourceRules": [
            {
                "apiGroups": [group],
                "apiVersions": [version],
                "operations": list(operations),
                "resources": list(dict.fromkeys(resources)),
            }
            for (group, version), resources in rules.items()
        ]
    }
    if matched.namespace_selector is not None:
        constraints["namespaceSelector"] = matched.namespace_selector
    if matched.object_selector is not None:
        constraints["objectSelector"] = matched.object_selector
    match_conditions = {
        **{name: condition.text for name, condition in matched.conditions.items()},
        **demand.conditions,
    }
    spec: JsonDict = {
        "failurePolicy": policy.value["spec"].get("failurePolicy") or "Fail",
        **({"paramKind": demand.extra["paramKind"]} if "paramKind" in demand.extra else {}),
        "matchConstraints": constraints,
    }
    if match_conditions:
        spec["matchConditions"] = [
            {"name": name, "expression": text} for name, text in match_conditions.items()
        ]
    if config_map(rule):
        spec["paramKind"] = {"apiVersion": "v1", "kind": "ConfigMap"}
    spec |= {name: member for name, member in demand.extra.items() if name != "paramKind"}
    if demand.mutations:
        spec |= {"reinvocationPolicy": "Never", "mutations": [*demand.mutations]}
        return translations.mutating_document(name, policy.annotations, spec)
    spec["validations"] = [dict(validation) for validation in demand.validations]
    return translations.policy_document(
        name, policy.annotations, translations.with_container_variable(spec)
    )


def _in_order(policy: policies.Policy, rule: policies.Rule) -> str:
    """Return what a rule is called in the name of its policy. Celadon asks policies in the order of
    their names (an API server in any), Kyverno rules in their own: where it is another one, they
    are numbered, since a later rule may match what an earlier one has written."""
    names = [rule.name for rule in policy.rules if "mutate" in rule.value]
    if "mutate" not in rule.value or names == sorted(names):
        return rule.name
    return f"{names.index(rule.name) + 1:0{len(str(len(names)))}}-{rule.name}"


# --- What is decided otherwise -----------------------------------------------


def _notes(
    policy: policies.Policy, forms: Sequence[policies.Variant], catalog: Catalog
) -> Iterator[str]:
    """Yield what a translated rule is known to decide otherwise than Kyverno."""
    rule = forms[0].rule
    if _changes_with_others(policy, rule):
        yield (
            "is one of several rules that change the same kinds: Kyverno takes them one after the "
            "other, an API server its policies in any order"
        )
    validate: JsonObject = rule.value.get("validate") or {}
    if "cel" in validate:
        if Operation.DELETE.name not in conditions.asked_operations(rule) and not any(
            block.operations for block in rule.match.blocks
        ):
            yield "lets deletions pass, which fail in Kyverno, since they have no `object`"
        return
    every_missing = [tuple(_missing(policy, form.rule, catalog)) for form in forms]
    missing = next(filter(None, every_missing), ())  # paths in templates of pods say the same
    if missing:
        texts = ", ".join(f"`{name}`" for name in dict.fromkeys(missing))
        yield (
            f"where {texts} reads nothing, Kyverno's rule fails, and refuses if it enforces; "
            "here its condition is not met"
        )
    # An object that is deleted is judged by what it was, but by no pattern (`validate_resource.go`,
    # `validateResourceWithRule`).
    matched = matching(policy, rule, catalog)
    asks = not matched.operations and Operation.DELETE.name not in conditions.asked_operations(rule)
    demanded, _ = conditions.operations_of(rule.preconditions)
    is_asked_of_deletions = Operation.DELETE.name in (
        demanded or conditions.OPERATIONS
    ) and not any(Operation.DELETE.name in block.operations for block in rule.exclude.blocks)
    if asks and is_asked_of_deletions and {"deny", "foreach"} & set(validate):
        yield "lets deletions pass, which Kyverno judges, too, since it names no `operations`"


def _changes_with_others(policy: policies.Policy, rule: policies.Rule) -> bool:
    """Return whether another rule that mutates is for a kind of this one."""
    kinds = {kind for block in rule.match.blocks for kind in block.kinds}
    return "mutate" in rule.value and any(
        item.name != rule.name and "mutate" in item.value and not kinds.isdisjoint(block.kinds)
        for item in policy.rules
        for block in item.match.blocks
    )


def _missing(policy: policies.Policy, rule: policies.Rule, catalog: Catalog) -> Iterator[str]:
    """Yield the variables that read nothing in some objects, so that the rule fails. In conditions
    on elements of a list they only pass the element over."""
    matched = matching(policy, rule, catalog)
    kinds = kinds_of(matched.rules)
    names = validate_rules.of_rule(rule, kinds)
    always = set(frozenset.intersection(*map(always_set, kinds)) if kinds else ())
    if all(rule.has_namespace and rule.resource != "namespaces" for rule in matched.rules):
        always.add("metadata.namespace")
    validate: JsonObject = rule.value.get("validate") or {}
    _, left = conditions.operations_of(rule.preconditions)
    parts = [left, *(validate.get(item) for item in ("deny", "pattern", "anyPattern"))]
    yield from failing_variables(parts, names, always)
    for entry in validate.get("foreach") or ():
        for branch in jmespath_queries.element_branches(read(str(entry["list"]), names)):
            inside = validate_rules.of_element(entry, names, branch)
            parts = [entry.get("deny"), entry.get("pattern")]
            yield from failing_variables(parts, inside, always)


# --- Documents ---------------------------------------------------------------

# Which documents are policies of Kyverno, and what becomes of each.

_CLEANS: Final = ("delete", "it deletes objects", "Keep it in Kyverno, or let a CronJob do it.")
_GENERATES: Final = (
    "generate", "it generates objects", "Keep it in Kyverno, or let a controller do it."
)  # fmt: skip
_VERIFIES: Final = (
    "verifyImages", "it verifies images", "Keep it in Kyverno, or use the policy-controller."
)  # fmt: skip
_KINDS_WITHOUT_EQUAL: Final = {
    "CleanupPolicy": _CLEANS,
    "ClusterCleanupPolicy": _CLEANS,
    "DeletingPolicy": _CLEANS,
    "NamespacedDeletingPolicy": _CLEANS,
    "GeneratingPolicy": _GENERATES,
    "NamespacedGeneratingPolicy": _GENERATES,
    "ImageValidatingPolicy": _VERIFIES,
    "NamespacedImageValidatingPolicy": _VERIFIES,
}
"""Kinds of policies that admission policies have no equal of."""
_NAMED: Final[JsonShape] = {"metadata": Needed({"name": Needed(str), "namespace": str})}


def shape_of(document: object) -> JsonShape | None:
    """Return the shape that a policy, or an exception to policies, must have; None of what is
    neither, or not Kyverno's."""
    if policies.is_policy(document):
        return policies.POLICY_SHAPE
    if is_cel_policy(document):
        return CEL_POLICY_SHAPE
    if isinstance(document, Mapping) and policies.is_exception(document):
        return policies.exception_shape(document)
    return _NAMED if _has_no_equal(document) else None


def _has_no_equal(document: object) -> bool:
    return (
        isinstance(document, Mapping)
        and str(document.get("apiVersion", "")).startswith(("kyverno.io/", "policies.kyverno.io/"))
        and document.get("kind") in _KINDS_WITHOUT_EQUAL
    )


def translate_document(
    document: JsonObject,
    catalog: Catalog,
    exceptions: Sequence[policies.PolicyException] = (),
    *,
    allows_existing: bool = False,
) -> list[translations.Translation]:
    """Return what becomes of a policy that has its shape: of each of its rules, or of the whole.
    `allows_existing` is whether what violates a rule already may be changed where the rule does not
    say."""
    if _has_no_equal(document):
        does, reason, instead = _KINDS_WITHOUT_EQUAL[document["kind"]]
        origin = translations.Origin(document["metadata"]["name"], "", (), does)
        return [translations.Translation(origin, reason=reason, instead=instead)]
    if is_cel_policy(document):
        return [translate_cel_policy(document, exceptions)]
    policy = policies.read_policy(document, allows_existing=allows_existing)
    return translate(policy, catalog, exceptions)


# --- Failures ----------------------------------------------------------------
#
# Where Kyverno fails a rule, since a variable of it reads what is absent.
#
# Kyverno refuses a request then, if the rule enforces and the `failurePolicy` of the policy is
# `Fail`. A condition of the translation simply does not hold, as one would write it by hand; so
# the difference is named. Facts are those of `interpreter.go` of go-jmespath, as Kyverno has
# it: a field that is not there is an error, which `||`, comparisons, functions, pipes and
# projections take for null.


def failing_variables(
    value: Json, names: jmespath_queries.Names, always: Collection[str]
) -> Iterator[str]:
    """Yield the variables in conditions or patterns that fail for some objects. `always` are paths
    of fields that every object has in a cluster."""
    written = json.dumps(value)
    whole = (written[start + 2 : end - 2] for start, end in conditions.variables_in(written))
    for name in dict.fromkeys(whole):
        text = json.loads(f'"{name}"').strip()
        if _may_fail(text, names, always):
            yield text


def _may_fail(text: str, names: jmespath_queries.Names, always: Collection[str]) -> bool:
    try:
        outcome = _Judge(Reader(names), always).outcome(parsed(text), names)
    except translations.NotTranslated:
        return False  # the rule is not translated, or the text is a message of it
    return outcome.is_missing or outcome.fails


@dataclass(frozen=True, slots=True)
class _Outcome:
    """An expression may come to this, besides a value."""

    is_missing: bool = False
    """A field that is not there, an error that others catch."""
    is_null: bool = False
    fails: bool = False

    @property
    def is_nothing(self) -> bool:
        """Return whether what catches the error has null."""
        return self.is_missing or self.is_null


_VALUE: Final = _Outcome()
_TAKE_NULL: Final = frozenset({"not_null", "to_array", "to_number", "to_string", "type"})
"""Functions that have an answer for null; others fail."""


def _may_lack(value: jmespath_queries.Query, always: Collection[str], *, is_step: bool) -> bool:
    """Return whether a field may be missing; with `is_step`, in an object that is there."""
    if not isinstance(value, jmespath_queries.Located):
        return jmespath_queries.is_defined(value) != ALWAYS
    place = value.place
    # Without the ConfigMap's key, the translation fails, too. What is validated has images.
    if (
        place.root == jmespath_queries.PARAMS
        or place.path in always
        or place.path.endswith("ontainers[*].image")
    ):
        return False
    if not place.steps:
        return bool(place.unsure)
    return not place.steps[-1].is_sure if is_step else bool(place.unsure)


@dataclass(frozen=True, slots=True)
class _Judge:
    reader: Reader
    always: Collection[str]
    is_of_nothing: bool = False
    """Whether what an expression is about may be null."""

    def outcome(self, node: JsonObject, current: jmespath_queries.Query) -> _Outcome:
        kind, children = node["type"], node["children"]
        match kind:
            case "current" | "identity":
                return _Outcome(is_null=self.is_of_nothing)
            case "field" if node["value"].startswith("{{"):
                return self.outcome(parsed(node["value"][2:-2]), self.reader.names)
            case "field":
                query = self.reader.read(node, current)
                is_step = isinstance(current, jmespath_queries.Located)
                return _Outcome(is_missing=_may_lack(query, self.always, is_step=is_step))
            case "literal":
                return _Outcome(is_null=node["value"] is None)
            case "index":
                return _Outcome(is_null=True)
            case "subexpression" | "index_expression" | "pipe":
                return self._steps(children, current, catches=kind == "pipe")
            case "or_expression":
                first, second = (self.outcome(child, current) for child in children)
                return _Outcome(is_null=second.is_nothing, fails=first.fails or second.fails)
            case "function_expression":
                outcomes = [self.outcome(child, current) for child in children]
                takes = node["value"] in _TAKE_NULL
                return _Outcome(
                    is_null=node["value"] == "not_null"
                    and all(outcome.is_nothing for outcome in outcomes),
                    fails=any(
                        outcome.fails or (outcome.is_nothing and not takes) for outcome in outcomes
                    ),
                )
            case "projection" | "filter_projection" | "flatten" | "value_projection":
                base = self.outcome(children[0], current)
                return _Outcome(is_null=base.is_nothing, fails=base.fails)
            case "and_expression" | "not_expression" | "comparator" | "multi_select_list":
                return _Outcome(fails=any(self.outcome(child, current).fails for child in children))
        return _VALUE

    def _steps(
        self, nodes: list[Mapping[str, Json]], current: jmespath_queries.Query, *, catches: bool
    ) -> _Outcome:
        fails = is_missing = is_null = False
        for node in nodes:
            judge = replace(self, is_of_nothing=is_null)
            outcome = judge.outcome(node, current)
            current = self.reader.read(node, current)
            # A field of null is null: what an index does not find is no error later.
            is_null = outcome.is_nothing if catches else is_null or outcome.is_null
            is_missing = not catches and (is_missing or outcome.is_missing)
            fails = fails or outcome.fails
        return _Outcome(is_missing, is_null, fails)
