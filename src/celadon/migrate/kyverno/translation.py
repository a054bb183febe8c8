"""Kyverno's documents and rules as ValidatingAdmissionPolicies.

A rule becomes one policy for each form it has: as it stands, for controllers of Pods, for CronJobs.
What skips the rule (preconditions, conditions in patterns) becomes match conditions, what it
demands a validation. A rule is translated whole or not at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from celadon.admission import Operation
from celadon.kube import GroupVersionKind, Json, JsonObject
from celadon.kube.defaulting import always_set
from celadon.kube.json_types import JsonDict, Needed
from celadon.kube.json_types import Shape as JsonShape
from celadon.kube.resources import Catalog
from celadon.kube.schemas import Schema
from celadon.migrate.cel_text import (
    ALWAYS,
    NEVER,
    Condition,
    choice,
    comparison,
    conjunction,
    disjunction,
    negation,
    quoted,
)
from celadon.migrate.kyverno.bindings import bindings, config_map, param_ref
from celadon.migrate.kyverno.cel_policies import (
    CEL_POLICY_SHAPE,
    condition_name,
    is_cel_policy,
    translate_cel_policy,
)
from celadon.migrate.kyverno.conditions import (
    OPERATIONS,
    asked_operations,
    conditions,
    joined,
    operand,
    operations_of,
    substituted,
    variables_in,
    with_context,
)
from celadon.migrate.kyverno.expressions import read
from celadon.migrate.kyverno.failures import failing_variables
from celadon.migrate.kyverno.matching import (
    Matching,
    filtered,
    kinds_of,
    matched_before,
    matching,
)
from celadon.migrate.kyverno.mutation import MUTATE_FIELDS, mutation
from celadon.migrate.kyverno.pattern_translation import Answer, element, judged
from celadon.migrate.kyverno.pod_security import standard
from celadon.migrate.kyverno.pod_security_exclusions import exclusions
from celadon.migrate.kyverno.policies import (
    POLICY_SHAPE,
    Policy,
    PolicyException,
    Rule,
    Variant,
    condition_names,
    exception_shape,
    is_exception,
    is_policy,
    read_policy,
    variants,
)
from celadon.migrate.kyverno.queries import (
    ABSENT,
    OPERATION,
    PARAMS,
    Branch,
    Computed,
    Constant,
    Located,
    Names,
    Reference,
    avoiding,
    elements,
)
from celadon.migrate.shapes import Form, Place, Shape, object_place
from celadon.migrate.translations import (
    NotTranslated,
    Origin,
    Translation,
    mutating_binding_document,
    mutating_document,
    policy_document,
    with_container_variable,
)


@dataclass(frozen=True, slots=True)
class Demand:
    """One form of a rule demands this of objects of some kinds."""

    conditions: Mapping[str, str]
    """Match conditions by name."""
    operations: tuple[str, ...]
    validations: tuple[Mapping[str, str], ...]
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Further fields of the policy's spec: variables, params, audit annotations."""
    mutations: tuple[JsonObject, ...] = ()


def translate(
    policy: Policy, catalog: Catalog, exceptions: Sequence[PolicyException] = ()
) -> list[Translation]:
    """Return what becomes of each rule of a policy."""
    return [
        _translated(
            policy,
            rule,
            Origin(policy.name, rule.name, ("spec", "rules", index), rule.kind),
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
    policy: Policy,
    rule: Rule,
    origin: Origin,
    catalog: Catalog,
    exceptions: Sequence[PolicyException],
) -> Translation:
    try:
        forms = list(variants(policy, _translatable(policy, rule)))
        # An exception is heeded by every form of a rule, or by none: otherwise a Deployment would
        # be let through whose Pods are refused.
        left_out = dict(_left_out(policy, forms, catalog, exceptions))
        heeded = [one for one in exceptions if one.name not in left_out]
        documents = [one for form in forms for one in _documents(policy, form, catalog, heeded)]
        notes = tuple(_notes(policy, forms, catalog))
    except NotTranslated as error:
        return Translation(origin, reason=error.reason, instead=error.instead)
    names = [
        one.name
        for one in heeded
        if any(one.is_for_rule(policy.full_name, form.name) for form in forms)
    ]
    return Translation(
        origin,
        tuple(documents),
        exceptions=tuple(names),
        left_out=tuple(left_out.items()),
        notes=notes,
    )


def _left_out(
    policy: Policy,
    forms: Sequence[Variant],
    catalog: Catalog,
    exceptions: Sequence[PolicyException],
) -> Iterator[tuple[str, str]]:
    """Return the exceptions to a rule that cannot be said, with the reasons."""
    for form in forms:
        kinds = kinds_of(matching(policy, form.rule, catalog).rules)
        for exception in exceptions:
            if exception.is_for_rule(policy.full_name, form.name):
                try:
                    for kind in kinds:
                        _not_excepted(exception, [kind], ())
                    if _is_of_controls(exception, form.rule):
                        exclusions([(ALWAYS, exception.value["spec"]["podSecurity"])])
                except NotTranslated as error:
                    yield exception.name, error.reason


def _not_excepted(
    exception: PolicyException, kinds: Sequence[GroupVersionKind], operations: Iterable[str]
) -> Condition:
    """Return whether an object of some kinds is none that an exception is for. Raises
    NotTranslated."""
    exception.check()
    given = exception.value["spec"].get("conditions")
    required = [conditions(given, _names(kinds))] if given else []
    return negation(conjunction([filtered(exception.filters, kinds, operations), *required]))


def _is_of_controls(exception: PolicyException, rule: Rule) -> bool:
    """Return whether an exception excludes controls from what a rule demands of pods, rather than
    objects from the rule."""
    validate = rule.value.get("validate") or {}
    return "podSecurity" in validate and bool(exception.value["spec"].get("podSecurity"))


def _translatable(policy: Policy, rule: Rule) -> Rule:
    if policy.value["spec"].get("admission") is False:
        raise NotTranslated("a policy that is not for admission (`admission: false`)")
    if rule.kind not in ("validate", "mutate"):
        # Nothing in the API server makes objects, or asks a registry for signatures.
        raise NotTranslated(*_NO_EQUAL[rule.kind])
    return rule


def _documents(
    policy: Policy, variant: Variant, catalog: Catalog, exceptions: Sequence[PolicyException]
) -> Iterator[JsonObject]:
    """Return the policies of one form, one for all kinds of which the same is demanded, each with
    its binding: it denies what Kyverno denies, and warns of the rest."""
    rule = variant.rule
    matched = matching(policy, rule, catalog)
    kinds: Sequence[GroupVersionKind | None] = kinds_of(matched.rules)
    demands: dict[str, tuple[Demand, list[GroupVersionKind]]] = {}
    unknown = [one for one in matched.rules if not one.kinds]
    own = [one for one in exceptions if one.is_for_rule(policy.full_name, variant.name)]
    partial = [one for one in own if _is_of_controls(one, rule)]
    whole = [one for one in own if one not in partial]
    for kind in [*kinds, *([None] if unknown else [])]:
        of = [kind] if kind else []
        demand = _excepting(_demand(policy, rule, of, partial), whole, of)
        same = demands.setdefault(repr(demand), (demand, []))
        if kind:
            same[1].append(kind)
    # Kinds differ in their schemas, and so in what a pattern comes to. The policy for most of the
    # kinds has the plain name; the others are called after their kinds.
    most = max(demands.values(), key=lambda one: len(one[1]))
    for demand, of_kinds in demands.values():
        suffix = [variant.suffix] if variant.suffix else []
        if demand is not most[0]:
            suffix.append("-".join(one.kind.lower() for one in of_kinds) or "others")
        only = None if len(demands) == 1 else of_kinds
        document = _document(policy, rule, matched, demand, suffix, only)
        yield document
        if demand.mutations:
            yield mutating_binding_document(document, param_ref(rule))
        else:
            yield from bindings(document, policy, rule, matched)


def _excepting(
    demand: Demand, exceptions: Sequence[PolicyException], kinds: Sequence[GroupVersionKind]
) -> Demand:
    """Return a demand that is not made of what exceptions are for."""
    said = dict(
        zip(
            condition_names(exceptions),
            (_not_excepted(one, kinds, demand.operations) for one in exceptions),
            strict=True,
        )
    )
    texts = {name: one.text for name, one in said.items() if one != ALWAYS}
    return replace(demand, conditions={**texts, **demand.conditions}) if texts else demand


def _document(
    policy: Policy,
    rule: Rule,
    matched: Matching,
    demand: Demand,
    suffix: Sequence[str],
    kinds: Sequence[GroupVersionKind] | None,
) -> JsonObject:
    """Return a policy; `kinds` are those of the rule that it is for, None if it is for all."""
    name = [policy.name, *([_in_order(policy, rule)] if len(policy.rules) > 1 else []), *suffix]
    operations = [
        one for one in demand.operations if not matched.operations or one in matched.operations
    ]
    if not operations:
        raise NotTranslated("it is for operations that it excludes")
    rules: dict[tuple[str, str], list[str]] = {}
    for one in matched.rules:
        if kinds is None or set(one.kinds) & set(kinds) or not (one.kinds or kinds):
            rules.setdefault((one.group, one.version), []).append(one.resource)
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
        **{name: one.text for name, one in matched.conditions.items()},
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
    spec |= {name: one for name, one in demand.extra.items() if name != "paramKind"}
    if demand.mutations:
        spec |= {"reinvocationPolicy": "Never", "mutations": [*demand.mutations]}
        return mutating_document(name, policy.annotations, spec)
    spec["validations"] = [dict(one) for one in demand.validations]
    return policy_document(name, policy.annotations, with_container_variable(spec))


def _in_order(policy: Policy, rule: Rule) -> str:
    """Return what a rule is called in the name of its policy. Policies change an object in the
    order of their names, Kyverno's rules in their own: where it is another one, they are numbered,
    since a later rule may match what an earlier one has written."""
    names = [one.name for one in policy.rules if "mutate" in one.value]
    if "mutate" not in rule.value or names == sorted(names):
        return rule.name
    return f"{names.index(rule.name) + 1:0{len(str(len(names)))}}-{rule.name}"


# --- What is demanded --------------------------------------------------------


def _names(kinds: Sequence[GroupVersionKind], operation: str = "") -> Names:
    """Return what JMESPath sees of a request for objects of a kind; with an operation, only what
    requests for it have."""
    place = object_place(kinds)
    old = object_place(kinds, "oldObject")
    user = Names(
        {
            "username": Computed("request.userInfo.username"),
            "groups": Located(_list_of_texts("request.userInfo.groups")),
        }
    )
    user_parts = "request.userInfo.username.split(':')"
    lacking = {name: ABSENT for one, name in _LACKING.items() if one == operation}
    request = Names(
        {
            "object": Located(place),
            "oldObject": Located(old),
            **lacking,
            "operation": Constant(operation) if operation else OPERATION,
            "namespace": Computed("request.namespace"),
            "name": Computed("request.name"),
            "userInfo": user,
            "kind": Names(
                {name: Computed(f"request.kind.{name}") for name in ("group", "version", "kind")}
            ),
        }
    )
    return Names(
        {
            "request": request,
            "serviceAccountNamespace": Computed(f"{user_parts}[?2].orValue('')"),
            "serviceAccountName": Computed(f"{user_parts}[?3].orValue('')"),
        }
    )


def _list_of_texts(text: str) -> Place:
    return Place(text, Shape(Schema(type="array", items=Schema(type="string"))))


def _of_rule(
    rule: Rule,
    kinds: Sequence[GroupVersionKind],
    operation: str = "",
    obj: str = "object",
) -> Names:
    """Return what a rule sees of a request for objects of a kind, of which `obj` is the one that it
    is about."""
    names = _names(kinds, operation)
    if obj != "object":
        request = names.members["request"]
        assert isinstance(request, Names)
        about = Names({**request.members, "object": Located(object_place(kinds, obj))})
        names = Names({**names.members, "request": about})
    known = config_map(rule)
    if known is None:
        return with_context(rule.context, names)
    params = Located(object_place([_CONFIG_MAP], PARAMS))
    own = [one for one in rule.context if one["name"] != known.variable]
    return with_context(own, Names({**names.members, known.variable: params}))


_CONFIG_MAP: Final = GroupVersionKind("", "v1", "ConfigMap")


_INSTEAD: Final = {
    "targets": "Objects that are there already are no concern of admission.",
}

_KNOWN: Final = frozenset(
    {
        "celPreconditions",
        "context",
        "exclude",
        "match",
        "mutate",
        "name",
        "preconditions",
        "reportProperties",
        "skipBackgroundRequests",
        "validate",
    }
)
_VALIDATE: Final = frozenset(
    {
        "allowExistingViolations",
        "anyPattern",
        "cel",
        "deny",
        "failureAction",
        "failureActionOverrides",
        "foreach",
        "message",
        "pattern",
        "podSecurity",
        "validationFailureAction",
    }
)


def _demand(
    policy: Policy,
    rule: Rule,
    kinds: Sequence[GroupVersionKind],
    exceptions: Sequence[PolicyException],
) -> Demand:
    validate: JsonObject = rule.value.get("validate") or {}
    mutate: JsonObject = rule.value.get("mutate") or {}
    for given, known in ((rule.value, _KNOWN), (validate, _VALIDATE), (mutate, MUTATE_FIELDS)):
        for name in sorted(set(given) - known):
            raise NotTranslated(f"`{name}`", _INSTEAD.get(name, ""))
    if "cel" in validate:
        return _cel(rule)
    names = _of_rule(rule, kinds)
    if mutate:
        return _mutating_demand(rule, names, object_place(kinds))
    _, left = operations_of(rule.preconditions)
    required = conditions(left, names)
    if "podSecurity" in validate:
        excepted = [
            (negation(met), one.value["spec"]["podSecurity"])
            for one in exceptions
            if (met := _not_excepted(one, kinds, ())) != ALWAYS
        ]
        message = _message(rule, names)
        demanded = standard(validate["podSecurity"] or {}, message, kinds, excepted)
        demand = Demand(
            {"is-meant": required.text} if required != ALWAYS else {},
            asked_operations(rule),
            demanded.validations,
            {"variables": list(demanded.variables)},
        )
        if not policy.lets_existing_pass(rule) or excepted:
            return demand
        before = standard(validate["podSecurity"] or {}, message, kinds, (), "oldObject").before()
        return _letting_existing_pass(demand, _were_violated(rule, kinds, before.fine), before.variables)
    answer = _answer(rule, names, object_place(kinds))
    said = conjunction([required, negation(answer.skips)]), answer.fine
    for_operations = list(asked_operations(rule))
    for operation in _without(rule, for_operations):
        # What is not there then is absent in JMESPath; in CEL it is null, and has no fields.
        try:
            lacking = _of_rule(rule, kinds, operation)
            other = _answer(rule, lacking, object_place(kinds))
            met = conjunction([conditions(left, lacking), negation(other.skips)])
        except NotTranslated:
            continue  # a function of what is absent: the rule fails, and so does the policy
        fine = other.fine
        if met == NEVER or fine == ALWAYS:
            for_operations.remove(operation)
        else:
            is_it = comparison(OPERATION.text, "==", quoted(operation))
            said = choice(is_it, met, said[0]), choice(is_it, fine, said[1])
    met, fine = said
    if fine == ALWAYS or not for_operations:
        raise NotTranslated("a demand that every object fulfils")
    demand = Demand(
        {"is-meant": met.text} if met != ALWAYS else {},
        tuple(for_operations),
        ({"expression": fine.text, **_message(rule, names)},),
    )
    if not policy.lets_existing_pass(rule):
        return demand
    before_names = _of_rule(rule, kinds, Operation.CREATE.name, "oldObject")
    before = _answer(rule, before_names, object_place(kinds, "oldObject"))
    is_fine = disjunction([before.skips, before.fine])
    return _letting_existing_pass(demand, _were_violated(rule, kinds, is_fine))


def _were_violated(
    rule: Rule, kinds: Sequence[GroupVersionKind], fine: Condition
) -> Condition:
    """Return whether an object that is changed violated a rule before, which is asked as if it had
    been created so; `fine` is whether what the rule demands was fulfilled. Raises NotTranslated."""
    names = _of_rule(rule, kinds, Operation.CREATE.name, "oldObject")
    is_update = comparison(OPERATION.text, "==", quoted(Operation.UPDATE.name))
    meant = conditions(rule.preconditions, names) if rule.preconditions else ALWAYS
    return conjunction([is_update, matched_before(rule, kinds), meant, negation(fine)])


def _letting_existing_pass(
    demand: Demand, violated: Condition, variables: Sequence[JsonObject] = ()
) -> Demand:
    """Return a demand that what violated it before need not fulfil."""
    if violated == NEVER or Operation.UPDATE.name not in demand.operations:
        return demand
    named = {"name": _VIOLATED, "expression": violated.text}
    validations = [
        {**one, "expression": f"variables.{_VIOLATED} || {_as_operand(one['expression'])}"}
        for one in demand.validations
    ]
    extra = {
        **demand.extra, "variables": [*demand.extra.get("variables", ()), *variables, named]
    }  # fmt: skip
    return replace(demand, validations=tuple(validations), extra=extra)


_VIOLATED: Final = "violatedBefore"


def _as_operand(text: str) -> str:
    return f"({text})" if " ? " in text else text


def _without(rule: Rule, operations: Sequence[str]) -> Iterator[str]:
    """Yield the operations for which a rule reads an object that such requests do not have."""
    text = json.dumps([rule.preconditions, rule.context, rule.value.get("validate")])
    for operation, name in _LACKING.items():
        if operation in operations and f"request.{name}." in text:
            yield operation


_LACKING: Final = {Operation.CREATE.name: "oldObject", Operation.DELETE.name: "object"}


def _mutating_demand(rule: Rule, names: Names, place: Place) -> Demand:
    """Return what a rule changes. Where its conditions do not hold, nothing."""
    _, left = operations_of(rule.preconditions)
    required = conditions(left, names)
    changes = mutation(place, rule.value["mutate"], names)
    met = conjunction([required, changes.condition])
    return Demand(
        {"is-meant": met.text} if met != ALWAYS else {},
        asked_operations(rule),
        (),
        mutations=changes.mutations,
    )


def _answer(rule: Rule, names: Names, place: Place) -> Answer:
    validate = rule.value["validate"]
    if "pattern" in validate:
        return element(place, _substituted(validate["pattern"], names))
    if "anyPattern" in validate:
        return _any_pattern(place, _substituted(validate["anyPattern"], names))
    if "deny" in validate:
        given = (validate["deny"] or {}).get("conditions")
        return judged(negation(conditions(given, names)) if given else NEVER)
    if "foreach" in validate:
        return _for_each(validate["foreach"], names, place)
    raise NotTranslated("a validation of no known form")


def _substituted(pattern: Json, names: Names) -> Any:  # noqa: ANN401 - a pattern with references
    """Return a pattern in which variables are references. Raises NotTranslated."""
    match pattern:
        case Mapping():
            if any("{{" in key for key in pattern):
                raise NotTranslated("variables in keys of a pattern")
            return {key: _substituted(one, names) for key, one in pattern.items()}
        case str():
            return _reference(pattern, names) if "{{" in pattern else pattern
        case list():
            return [_substituted(one, names) for one in pattern]
    return pattern


def _reference(pattern: str, names: Names) -> Reference:
    """Return a leaf with variables; what stands beside them must be no operator, nor the middle of
    a range."""
    beside, end = [], 0
    for start, after in variables_in(pattern):
        beside.append(pattern[end:start])
        end = after
    if not all(_PLAIN.fullmatch(one) for one in [*beside, pattern[end:]]):
        raise NotTranslated("a pattern with variables and operators in it")
    return Reference(operand(pattern, names))


_PLAIN: Final = re.compile(r"\s*|(?!-$)[\w/:.,@-]+", re.ASCII)


def _any_pattern(place: Place, patterns: Sequence[Json]) -> Answer:
    """One pattern must pass. Kyverno skips the rule where all of them skip, or some skip and none
    passes but does not fail."""
    answers = [element(place, one) for one in patterns]
    passes = disjunction(one.passes() for one in answers)
    all_skip = conjunction(one.skips for one in answers)
    return judged(passes, all_skip)


def _for_each(entries: Sequence[JsonObject], names: Names, whole: Place) -> Answer:
    """Return what is demanded of every element of lists. Where no element is meant, the rule is
    skipped."""
    demands, meant = [], []
    for entry in entries:
        unknown = set(entry) - _FOREACH
        if unknown:
            raise NotTranslated(f"`{min(unknown)}` in foreach")
        for branch in elements(read(str(entry["list"]), names)):
            is_meant, held = _element_demand(entry, names, branch, whole)
            demands.append(negation(_some(branch, conjunction([is_meant, negation(held)]))))
            meant.append(_some(branch, is_meant) if entry.get("preconditions") else ALWAYS)
    return judged(conjunction(demands), negation(disjunction(meant)))


_FOREACH: Final = frozenset({"context", "list", "pattern", "deny", "preconditions", "elementScope"})


def _element_demand(
    entry: JsonObject, names: Names, branch: Branch, whole: Place
) -> tuple[Condition, Condition]:
    """Return whether an element is meant, and whether it is as demanded, or the whole object for
    its sake (`elementScope: false`)."""
    assert isinstance(branch.value, Located)
    place = replace(branch.value.place.there(), taken=frozenset({branch.value.place.root}))
    inside = _of_element(entry, names, place)
    if entry.get("elementScope") is True and place.shape.form in _SCALARS:
        raise NotTranslated(
            "`elementScope: true` for elements that are no objects: it always fails"
        )
    is_meant = [branch.value.place.present()]
    if entry.get("preconditions"):
        is_meant.append(conditions(entry["preconditions"], inside))
    if "pattern" in entry:
        of_whole = entry.get("elementScope") is False
        judged_place = replace(whole, taken=place.taken) if of_whole else place
        held = element(judged_place, _substituted(entry["pattern"], inside)).never_fails
    else:
        given = (entry.get("deny") or {}).get("conditions")
        held = negation(conditions(given, inside)) if given else NEVER
    return conjunction(is_meant), held


_SCALARS: Final = frozenset({Form.BOOL, Form.INTEGER, Form.NUMBER, Form.QUANTITY, Form.STRING})


def _of_element(entry: JsonObject, names: Names, place: Place) -> Names:
    """Return what an entry of a `foreach` sees of an element."""
    around = {name: avoiding(one, place.root) for name, one in names.members.items()}
    return with_context(entry.get("context") or (), Names({**around, "element": Located(place)}))


def _some(branch: Branch, condition: Condition) -> Condition:
    """Return whether a condition holds for an element."""
    for source in reversed(branch.sources):
        condition = source.place.some(source.variable, conjunction([source.only, condition]))
    return condition


def _message(rule: Rule, names: Names) -> Mapping[str, str]:
    message = str(rule.value["validate"].get("message") or "").strip()
    if not message:
        return {"message": f"rule {rule.name} is not fulfilled"}
    if "{{" not in message:
        return {"message": message}
    try:
        return {"messageExpression": joined(substituted(message, names))}
    except NotTranslated:
        return {"message": _with_names(message)}


def _with_names(message: str) -> str:
    """Return a message with the names of its variables in place of their values."""
    parts, end = [], 0
    for start, after in variables_in(message):
        parts += [message[end:start], f"({message[start + 2 : after - 2].strip()})"]
        end = after
    return "".join([*parts, message[end:]])


def _cel(rule: Rule) -> Demand:
    """Return what a rule demands that is written in CEL."""
    given = rule.value["validate"]["cel"]
    unknown = set(given) - {
        "expressions", "variables", "paramKind", "paramRef", "auditAnnotations", "generate",
    }  # fmt: skip
    if unknown:
        raise NotTranslated(f"`{min(unknown)}` of CEL")
    if rule.preconditions:
        raise NotTranslated("preconditions in JMESPath beside CEL")
    message = str(rule.value["validate"].get("message") or "").strip()
    validations = []
    for one in given.get("expressions") or ():
        own = {} if "message" in one or "messageExpression" in one else {"message": message}
        validations.append({**one, **({k: v for k, v in own.items() if v})})
    extra = {
        name: given[name]
        for name in ("paramKind", "variables", "auditAnnotations")
        if given.get(name)
    }
    preconditions = rule.value.get("celPreconditions") or ()
    wanted = {condition_name(str(one["name"])): str(one["expression"]) for one in preconditions}
    if len(wanted) < len(preconditions):
        raise NotTranslated("several `celPreconditions` of one name")
    return Demand(wanted, asked_operations(rule), tuple(validations), extra)


# --- What is decided otherwise -----------------------------------------------


def _notes(policy: Policy, forms: Sequence[Variant], catalog: Catalog) -> Iterator[str]:
    """Yield what a translated rule is known to decide otherwise than Kyverno."""
    rule = forms[0].rule
    validate: JsonObject = rule.value.get("validate") or {}
    if "cel" in validate:
        if Operation.DELETE.name not in asked_operations(rule) and not any(
            one.operations for one in rule.match.blocks
        ):
            yield "lets deletions pass, which fail in Kyverno, since they have no `object`"
        return
    every_missing = [tuple(_missing(policy, form.rule, catalog)) for form in forms]
    missing = next(filter(None, every_missing), ())  # paths in templates of pods say the same
    if missing:
        texts = ", ".join(f"`{one}`" for one in dict.fromkeys(missing))
        yield (
            f"where {texts} reads nothing, Kyverno's rule fails, and refuses if it enforces; "
            "here its condition is not met"
        )
    # An object that is deleted is judged by what it was, but by no pattern (`validate_resource.go`,
    # `validateResourceWithRule`).
    matched = matching(policy, rule, catalog)
    asks = not matched.operations and Operation.DELETE.name not in asked_operations(rule)
    demanded, _ = operations_of(rule.preconditions)
    is_asked_of_deletions = Operation.DELETE.name in (demanded or OPERATIONS) and not any(
        Operation.DELETE.name in one.operations for one in rule.exclude.blocks
    )
    if asks and is_asked_of_deletions and {"deny", "foreach"} & set(validate):
        yield "lets deletions pass, which Kyverno judges, too, since it names no `operations`"


def _missing(policy: Policy, rule: Rule, catalog: Catalog) -> Iterator[str]:
    """Yield the variables that read nothing in some objects, so that the rule fails. In conditions
    on elements of a list they only pass the element over."""
    matched = matching(policy, rule, catalog)
    kinds = kinds_of(matched.rules)
    names = _of_rule(rule, kinds)
    always = set(frozenset.intersection(*map(always_set, kinds)) if kinds else ())
    if all(one.has_namespace and one.resource != "namespaces" for one in matched.rules):
        always.add("metadata.namespace")
    validate: JsonObject = rule.value.get("validate") or {}
    _, left = operations_of(rule.preconditions)
    parts = [left, *(validate.get(one) for one in ("deny", "pattern", "anyPattern"))]
    yield from failing_variables(parts, names, always)
    for entry in validate.get("foreach") or ():
        for branch in elements(read(str(entry["list"]), names)):
            assert isinstance(branch.value, Located)
            inside = _of_element(entry, names, branch.value.place.there())
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
    """The shape that a policy, or an exception to policies, must have; None of what is neither, or
    not Kyverno's."""
    if is_policy(document):
        return POLICY_SHAPE
    if is_cel_policy(document):
        return CEL_POLICY_SHAPE
    if isinstance(document, Mapping) and is_exception(document):
        return exception_shape(document)
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
    exceptions: Sequence[PolicyException] = (),
    *,
    allows_existing: bool = False,
) -> list[Translation]:
    """Return what becomes of a policy that has its shape: of each of its rules, or of the whole.
    `allows_existing` is whether what violates a rule already may be changed where the rule does not
    say."""
    if _has_no_equal(document):
        does, reason, instead = _KINDS_WITHOUT_EQUAL[document["kind"]]
        origin = Origin(document["metadata"]["name"], "", (), does)
        return [Translation(origin, reason=reason, instead=instead)]
    if is_cel_policy(document):
        return [translate_cel_policy(document, exceptions)]
    policy = read_policy(document, allows_existing=allows_existing)
    return translate(policy, catalog, exceptions)
