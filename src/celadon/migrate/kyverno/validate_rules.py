"""The demands that a rule of Kyverno makes of a request, or the changes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from celadon.admission import Operation
from celadon.kube import GroupVersionKind, Json, JsonObject
from celadon.kube.schemas import Schema
from celadon.kube.well_known_values import CONTAINER_LISTS, POD_TEMPLATES
from celadon.migrate.cel_text import (
    ALWAYS,
    NEVER,
    Condition,
    as_bool,
    choice,
    comparison,
    conjunction,
    disjunction,
    negation,
    quoted,
)
from celadon.migrate.kyverno import jmespath_queries
from celadon.migrate.kyverno.bindings import config_map
from celadon.migrate.kyverno.cel_policies import condition_name
from celadon.migrate.kyverno.conditions import (
    asked_operations,
    conditions,
    joined,
    operand,
    operations_of,
    substituted,
    variables_in,
)
from celadon.migrate.kyverno.contexts import with_context
from celadon.migrate.kyverno.jmespath_expressions import read, read_in
from celadon.migrate.kyverno.match_and_exclude import filtered, matched_before
from celadon.migrate.kyverno.mutate_rules import MUTATE_FIELDS, mutation
from celadon.migrate.kyverno.pattern_translation import Answer, element, judged
from celadon.migrate.kyverno.pod_security import standard
from celadon.migrate.kyverno.policies import Policy, PolicyException, Rule
from celadon.migrate.schema_fields import Place, Shape, object_place
from celadon.migrate.translations import NotTranslated


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


def not_excepted(
    exception: PolicyException, kinds: Sequence[GroupVersionKind], operations: Iterable[str]
) -> Condition:
    """Return whether an object of some kinds is none that an exception is for. Raises
    NotTranslated."""
    exception.check()
    value = exception.value["spec"].get("conditions")
    required = [conditions(value, _names(kinds))] if value else []
    return negation(conjunction([filtered(exception.filters, kinds, operations), *required]))


def _names(kinds: Sequence[GroupVersionKind], operation: str = "") -> jmespath_queries.Names:
    """Return what JMESPath sees of a request for objects of a kind; with an operation, only what
    requests for it have."""
    place = object_place(kinds)
    old = object_place(kinds, "oldObject")
    user = jmespath_queries.Names(
        {
            "username": jmespath_queries.Computed("request.userInfo.username"),
            "groups": jmespath_queries.Located(_list_of_texts("request.userInfo.groups")),
        }
    )
    user_parts = "request.userInfo.username.split(':')"
    lacking = {name: jmespath_queries.ABSENT for key, name in _LACKING.items() if key == operation}
    request = jmespath_queries.Names(
        {
            "object": jmespath_queries.Located(place),
            "oldObject": jmespath_queries.Located(old),
            **lacking,
            "operation": jmespath_queries.Constant(operation)
            if operation
            else jmespath_queries.OPERATION,
            "namespace": jmespath_queries.Computed("request.namespace"),
            "name": jmespath_queries.Computed("request.name"),
            "userInfo": user,
            "kind": jmespath_queries.Names(
                {
                    name: jmespath_queries.Computed(f"request.kind.{name}")
                    for name in ("group", "version", "kind")
                }
            ),
        }
    )
    return jmespath_queries.Names(
        {
            "request": request,
            **_images(place, kinds),
            "serviceAccountNamespace": jmespath_queries.Computed(f"{user_parts}[?2].orValue('')"),
            "serviceAccountName": jmespath_queries.Computed(f"{user_parts}[?3].orValue('')"),
        }
    )


_POD: Final = GroupVersionKind("", "v1", "Pod")


def _images(place: Place, kinds: Sequence[GroupVersionKind]) -> dict[str, jmespath_queries.Query]:
    """Return the images of the containers that an object of some kinds has, if it has any."""
    paths = {() if kind == _POD else POD_TEMPLATES.get(kind.group_kind) for kind in kinds}
    path = paths.pop() if len(paths) == 1 else None
    if path is None:
        return {}
    for name in (*path, "spec"):
        place = place.member(name, place.shape.member(name) or Shape())
    return {
        "images": jmespath_queries.Names(
            {
                name: jmespath_queries.Images(
                    place.member(name, place.shape.member(name) or Shape())
                )
                for name in CONTAINER_LISTS
            }
        )
    }


def _list_of_texts(text: str) -> Place:
    return Place(text, Shape(Schema(type="array", items=Schema(type="string"))))


def of_rule(
    rule: Rule, kinds: Sequence[GroupVersionKind], operation: str = "", obj: str = "object"
) -> jmespath_queries.Names:
    """Return what a rule sees of a request for objects of a kind, of which `obj` is the one that it
    is about."""
    names = _names(kinds, operation)
    if obj != "object":
        request = names.members["request"]
        assert isinstance(request, jmespath_queries.Names)
        about = jmespath_queries.Names(
            {**request.members, "object": jmespath_queries.Located(object_place(kinds, obj))}
        )
        names = jmespath_queries.Names({**names.members, "request": about})
    reference = config_map(rule)
    if reference is None:
        return with_context(rule.context, names)
    params = read_in(
        reference.path,
        jmespath_queries.Located(object_place([_CONFIG_MAP], jmespath_queries.PARAMS)),
        names,
    )
    context = [item for item in rule.context if item["name"] != reference.variable]
    return with_context(
        context, jmespath_queries.Names({**names.members, reference.variable: params})
    )


_CONFIG_MAP: Final = GroupVersionKind("", "v1", "ConfigMap")

_INSTEAD: Final = {
    "assert": "Write it as a pattern, or in CEL (`cel`).",
    "manifests": "Keep it in Kyverno: an API server knows no signatures.",
    "mutateExistingOnPolicyUpdate": "Objects that are there already are no concern of admission.",
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


def demand_of(
    policy: Policy,
    rule: Rule,
    kinds: Sequence[GroupVersionKind],
    exceptions: Sequence[PolicyException],
) -> Demand:
    """Return what a rule demands of objects of some kinds. Raises NotTranslated."""
    validate: JsonObject = rule.value.get("validate") or {}
    mutate: JsonObject = rule.value.get("mutate") or {}
    for item, fields in ((rule.value, _KNOWN), (validate, _VALIDATE), (mutate, MUTATE_FIELDS)):
        for name in sorted(set(item) - fields):
            raise NotTranslated(f"`{name}`", _INSTEAD.get(name, ""))
    if "cel" in validate:
        return _cel(rule)
    names = of_rule(rule, kinds)
    if mutate:
        return _mutating_demand(rule, names, object_place(kinds))
    _, left = operations_of(rule.preconditions)
    required = conditions(left, names)
    if "podSecurity" in validate:
        return _pod_security_demand(policy, rule, kinds, exceptions, required)
    answer = _answer(rule, names, object_place(kinds))
    judgement = conjunction([required, negation(answer.skips)]), answer.fine
    for_operations = list(asked_operations(rule))
    for operation in _without(rule, for_operations):
        # What is not there then is absent in JMESPath; in CEL it is null, and has no fields.
        try:
            lacking = of_rule(rule, kinds, operation)
            other = _answer(rule, lacking, object_place(kinds))
            condition = conjunction([conditions(left, lacking), negation(other.skips)])
        except NotTranslated:
            continue  # a function of what is absent: the rule fails, and so does the policy
        fine = other.fine
        if condition == NEVER or fine == ALWAYS:
            for_operations.remove(operation)
        else:
            is_it = comparison(jmespath_queries.OPERATION.text, "==", quoted(operation))
            judgement = choice(is_it, condition, judgement[0]), choice(is_it, fine, judgement[1])
    condition, fine = judgement
    if fine == ALWAYS or not for_operations:
        raise NotTranslated("a demand that every object fulfils")
    demand = Demand(
        {"is-meant": as_bool(condition)} if condition != ALWAYS else {},
        tuple(for_operations),
        ({"expression": as_bool(fine), **_message(rule, names)},),
    )
    if not policy.lets_existing_pass(rule):
        return demand
    before_names = of_rule(rule, kinds, Operation.CREATE.name, "oldObject")
    before = _answer(rule, before_names, object_place(kinds, "oldObject"))
    is_fine = disjunction([before.skips, before.fine])
    return _letting_existing_pass(demand, _was_violated(rule, kinds, is_fine))


def _pod_security_demand(
    policy: Policy,
    rule: Rule,
    kinds: Sequence[GroupVersionKind],
    exceptions: Sequence[PolicyException],
    required: Condition,
) -> Demand:
    """Return what a rule with `podSecurity` demands. Raises NotTranslated."""
    validate, names = rule.value["validate"], of_rule(rule, kinds)
    excepted = [
        (negation(condition), exception.value["spec"]["podSecurity"])
        for exception in exceptions
        if (condition := not_excepted(exception, kinds, ())) != ALWAYS
    ]
    message = _message(rule, names)
    demanded = standard(validate["podSecurity"] or {}, message, kinds, excepted)
    demand = Demand(
        {"is-meant": as_bool(required)} if required != ALWAYS else {},
        asked_operations(rule),
        demanded.validations,
        {"variables": list(demanded.variables)},
    )
    if not policy.lets_existing_pass(rule) or excepted:
        return demand
    of_old = standard(validate["podSecurity"] or {}, message, kinds, (), "oldObject").before()
    violated = _was_violated(rule, kinds, of_old.fine)
    return _letting_existing_pass(demand, violated, of_old.variables)


def _was_violated(rule: Rule, kinds: Sequence[GroupVersionKind], fine: Condition) -> Condition:
    """Return whether an object that is changed violated a rule before, which is asked as if it had
    been created so; `fine` is whether what the rule demands was fulfilled. Raises NotTranslated."""
    names = of_rule(rule, kinds, Operation.CREATE.name, "oldObject")
    is_update = comparison(jmespath_queries.OPERATION.text, "==", quoted(Operation.UPDATE.name))
    condition = conditions(rule.preconditions, names) if rule.preconditions else ALWAYS
    return conjunction([is_update, matched_before(rule, kinds), condition, negation(fine)])


def _letting_existing_pass(
    demand: Demand, violated: Condition, variables: Sequence[JsonObject] = ()
) -> Demand:
    """Return a demand that what violated it before need not fulfil."""
    if violated == NEVER or Operation.UPDATE.name not in demand.operations:
        return demand
    named = {"name": _VIOLATED, "expression": violated.text}
    validations = [
        {
            **validation,
            "expression": f"variables.{_VIOLATED} || {_as_operand(validation['expression'])}",
        }
        for validation in demand.validations
    ]
    existing = demand.extra.get("variables")
    rule_variables = existing if isinstance(existing, list) else []
    extra = {**demand.extra, "variables": [*rule_variables, *variables, named]}
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


def _mutating_demand(rule: Rule, names: jmespath_queries.Names, place: Place) -> Demand:
    """Return what a rule changes. Where its conditions do not hold, nothing."""
    _, left = operations_of(rule.preconditions)
    required = conditions(left, names)
    changes = mutation(place, rule.value["mutate"], names)
    condition = conjunction([required, changes.condition])
    return Demand(
        {"is-meant": as_bool(condition)} if condition != ALWAYS else {},
        asked_operations(rule),
        (),
        mutations=changes.mutations,
    )


def _answer(rule: Rule, names: jmespath_queries.Names, place: Place) -> Answer:
    validate = rule.value["validate"]
    if "pattern" in validate:
        return element(place, _substituted(validate["pattern"], names))
    if "anyPattern" in validate:
        return _any_pattern(place, _substituted(validate["anyPattern"], names))
    if "deny" in validate:
        value = (validate["deny"] or {}).get("conditions")
        return judged(negation(conditions(value, names)) if value else NEVER)
    if "foreach" in validate:
        return _for_each(validate["foreach"], names, place)
    raise NotTranslated("a validation of no known form")


def _substituted(pattern: Json, names: jmespath_queries.Names) -> Any:  # noqa: ANN401 - a pattern with references
    """Return a pattern in which variables are references. Raises NotTranslated."""
    match pattern:
        case Mapping():
            if any("{{" in key for key in pattern):
                raise NotTranslated("variables in keys of a pattern")
            return {key: _substituted(value, names) for key, value in pattern.items()}
        case str() if _reads_other_field(pattern):
            raise NotTranslated(
                "a reference to another field (`$(…)`)", "Say it with `deny` and variables."
            )
        case str():
            return _reference(pattern, names) if "{{" in pattern else pattern
        case list():
            return [_substituted(item, names) for item in pattern]
    return pattern


_OPENED: Final = re.compile(r"(?<!\\)\$\(")


def _reads_other_field(text: str) -> bool:
    """Return whether Kyverno finds a reference in a text: `$(`, then no blank up to a `)`."""
    for word in text.split(" "):
        opened = _OPENED.search(word)
        if opened is not None and ")" in word[opened.end() + 1 :]:
            return True
    return False


def _reference(pattern: str, names: jmespath_queries.Names) -> jmespath_queries.Reference:
    """Return a leaf with variables; what stands beside them must be no operator, nor the middle of
    a range."""
    beside, end = [], 0
    for start, after in variables_in(pattern):
        beside.append(pattern[end:start])
        end = after
    if not all(_PLAIN.fullmatch(text) for text in [*beside, pattern[end:]]):
        raise NotTranslated("a pattern with variables and operators in it")
    return jmespath_queries.Reference(operand(pattern, names))


_PLAIN: Final = re.compile(r"\s*|(?!-$)[\w/:.,@-]+", re.ASCII)


def _any_pattern(place: Place, patterns: Sequence[Json]) -> Answer:
    """Translate `anyPattern`: one pattern must pass. Kyverno skips the rule where all of them skip,
    or some skip and none passes but does not fail."""
    answers = [element(place, pattern) for pattern in patterns]
    passes = disjunction(answer.passes() for answer in answers)
    all_skip = conjunction(answer.skips for answer in answers)
    return judged(passes, all_skip)


def _for_each(
    entries: Sequence[JsonObject], names: jmespath_queries.Names, whole: Place, nesting: int = 0
) -> Answer:
    """Return what is demanded of every element of lists. Where no element is meant, the rule is
    skipped."""
    demands, memberships = [], []
    for entry in entries:
        unknown = set(entry) - _FOREACH
        if unknown:
            raise NotTranslated(f"`{min(unknown)}` in foreach")
        for branch in jmespath_queries.element_branches(read(str(entry["list"]), names)):
            is_meant, condition = _element_demand(entry, names, branch, whole, nesting)
            demands.append(negation(_some(branch, conjunction([is_meant, negation(condition)]))))
            may_skip = entry.get("preconditions") or is_meant != jmespath_queries.is_defined(
                branch.value
            )
            memberships.append(_some(branch, is_meant) if may_skip else ALWAYS)
    return judged(conjunction(demands), negation(disjunction(memberships)))


_FOREACH: Final = frozenset(
    {
        "anyPattern",
        "context",
        "deny",
        "elementScope",
        "foreach",
        "list",
        "pattern",
        "preconditions",
    }
)


def _element_demand(
    entry: JsonObject,
    names: jmespath_queries.Names,
    branch: jmespath_queries.Branch,
    whole: Place,
    nesting: int,
) -> tuple[Condition, Condition]:
    """Return whether an element is meant, and whether it is as demanded, or the whole object for
    its sake (`elementScope: false`)."""
    if (
        entry.get("elementScope") is True
        and jmespath_queries.form_of(branch.value) in jmespath_queries.SCALARS
    ):
        raise NotTranslated(
            "`elementScope: true` for elements that are no objects: it always fails"
        )
    inside = of_element(entry, names, branch, nesting)
    is_meant = [jmespath_queries.is_defined(branch.value)]
    if entry.get("preconditions"):
        is_meant.append(conditions(entry["preconditions"], inside))
    if "foreach" in entry:
        inner = _for_each(entry["foreach"], inside, whole, nesting + 1)
        return conjunction([*is_meant, negation(inner.skips)]), inner.fine
    if "pattern" in entry:
        place = _judged_place(entry, branch, whole)
        condition = element(place, _substituted(entry["pattern"], inside)).never_fails
    elif "anyPattern" in entry:
        place = _judged_place(entry, branch, whole)
        answer = _any_pattern(place, _substituted(entry["anyPattern"], inside))
        condition = disjunction([answer.skips, answer.fine])
    else:
        value = (entry.get("deny") or {}).get("conditions")
        condition = negation(conditions(value, inside)) if value else NEVER
    return conjunction(is_meant), condition


def _judged_place(entry: JsonObject, branch: jmespath_queries.Branch, whole: Place) -> Place:
    """Return what a pattern for an element is about. Raises NotTranslated."""
    sources = frozenset(source.variable for source in branch.sources)
    if entry.get("elementScope") is False:
        return replace(whole, reserved_names=sources)
    if not isinstance(branch.value, jmespath_queries.Located):
        raise NotTranslated("a pattern for elements that are made of others")
    return replace(branch.value.place.there(), reserved_names=sources)


def of_element(
    entry: JsonObject,
    names: jmespath_queries.Names,
    branch: jmespath_queries.Branch,
    nesting: int = 0,
) -> jmespath_queries.Names:
    """Return what an entry of a `foreach` sees of an element."""
    value = branch.value
    sources = frozenset(source.variable for source in branch.sources)
    if isinstance(value, jmespath_queries.Located):
        value = jmespath_queries.Located(replace(value.place.there(), reserved_names=sources))
    around = dict(names.members)
    for variable in sources:
        around = {
            name: jmespath_queries.avoiding(value, variable) for name, value in around.items()
        }
    element_names = {"element": value, f"element{nesting}": value}
    return with_context(
        entry.get("context") or (), jmespath_queries.Names({**around, **element_names})
    )


def _some(branch: jmespath_queries.Branch, condition: Condition) -> Condition:
    """Return whether a condition holds for an element."""
    for source in reversed(branch.sources):
        condition = source.place.some(source.variable, conjunction([source.only, condition]))
    return condition


def _message(rule: Rule, names: jmespath_queries.Names) -> Mapping[str, str]:
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
    cel = rule.value["validate"]["cel"]
    unknown = set(cel) - {
        "expressions", "variables", "paramKind", "paramRef", "auditAnnotations", "generate",
    }  # fmt: skip
    if unknown:
        raise NotTranslated(f"`{min(unknown)}` of CEL")
    if rule.preconditions:
        raise NotTranslated("preconditions in JMESPath beside CEL")
    message = str(rule.value["validate"].get("message") or "").strip()
    validations = []
    for expression in cel.get("expressions") or ():
        default_message = (
            {}
            if "message" in expression or "messageExpression" in expression
            else {"message": message}
        )
        validations.append({**expression, **({k: v for k, v in default_message.items() if v})})
    extra = {
        name: cel[name] for name in ("paramKind", "variables", "auditAnnotations") if cel.get(name)
    }
    preconditions = rule.value.get("celPreconditions") or ()
    match_conditions = {
        condition_name(str(precondition["name"])): str(precondition["expression"])
        for precondition in preconditions
    }
    if len(match_conditions) < len(preconditions):
        raise NotTranslated("several `celPreconditions` of one name")
    return Demand(match_conditions, asked_operations(rule), tuple(validations), extra)
