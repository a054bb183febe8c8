"""Validation of the fields that say where a pod may run: affinity, tolerations, spreading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue, parse_int
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import is_since
from celadon.kube.validation import field_checks
from celadon.kube.validation.format_checks import label_name, selector
from celadon.kube.well_known_values import PREFERRED_TERMS, REQUIRED_TERMS
from celadon.late_patterns import late_pattern

EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
SCHEDULE_ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")
TOLERATION_OPERATORS: Final = ("Equal", "Exists")
COMPARING_OPERATORS: Final = ("Lt", "Gt")
NODE_POLICIES: Final = ("Honor", "Ignore")
BAD_OPERATOR: Final = "not a valid selector operator"


def affinity(
    path: FieldPath, value: JsonObject | None, before: JsonObject | None = None
) -> field_checks.Errors:
    """Validate the affinity of a pod. `before` is what was changed."""
    # As `validateAffinity` of `pkg/apis/core/validation`.
    result = value or {}
    node = result.get("nodeAffinity") or {}
    node_affinity_path = path.child("nodeAffinity")
    if node.get(REQUIRED_TERMS) is not None:
        was = ((before or {}).get("nodeAffinity") or {}).get(REQUIRED_TERMS)
        yield from required_nodes(
            node_affinity_path.child(REQUIRED_TERMS), node[REQUIRED_TERMS], was
        )
    for term_path, term in field_checks.items(node, PREFERRED_TERMS, node_affinity_path):
        yield from _weight(term_path, term)
        yield from _node_term(term_path.child("preference"), term.get("preference") or {}, lax=True)
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = result.get(kind) or {}
        for term_path, term in field_checks.items(terms, REQUIRED_TERMS, path.child(kind)):
            yield from _pod_term(term_path, term)
        for term_path, term in field_checks.items(terms, PREFERRED_TERMS, path.child(kind)):
            yield from _weight(term_path, term)
            inner = term.get("podAffinityTerm") or {}
            yield from _pod_term(term_path.child("podAffinityTerm"), inner)


def _weight(path: FieldPath, term: JsonObject) -> field_checks.Errors:
    weight = term.get("weight", 0)
    if not 1 <= weight <= 100:
        yield fieldpath.invalid(path.child("weight"), weight, "must be in the range 1-100")


def required_nodes(
    path: FieldPath, value: JsonObject, before: JsonObject | None
) -> field_checks.Errors:
    """Validate the nodes that a pod or a volume asks for. Values that cannot be those of labels
    were let through before 1.33, and may stay."""
    return node_selector(path, value, lax=not is_since("1.33") or _names_no_values(before))


def _names_no_values(nodes: JsonObject | None) -> bool:
    """Return whether some of the values cannot be those of labels."""
    return any(
        name_rules.label_value(value)
        for term in (nodes or {}).get("nodeSelectorTerms") or ()
        for requirement in term.get("matchExpressions") or ()
        for value in requirement.get("values") or ()
    )


def node_selector(path: FieldPath, value: JsonObject, *, lax: bool = False) -> field_checks.Errors:
    """Validate a selector of nodes. `lax`: values need not be possible values of labels; before
    1.32 none had to."""
    # As `ValidateNodeSelector` of `pkg/apis/core/validation`.
    lax = lax or not is_since("1.32")
    if not value.get("nodeSelectorTerms"):
        detail = "must have at least one node selector term"
        yield fieldpath.required(path.child("nodeSelectorTerms"), detail)
    for node_selector_term_path, term in field_checks.items(value, "nodeSelectorTerms", path):
        yield from _node_term(node_selector_term_path, term, lax=lax)


def _node_term(path: FieldPath, term: JsonObject, *, lax: bool) -> field_checks.Errors:
    # As `ValidateNodeSelectorTerm` of `pkg/apis/core/validation`.
    for match_expression_path, requirement in field_checks.items(term, "matchExpressions", path):
        yield from _node_requirement(match_expression_path, requirement)
        yield from label_name(match_expression_path.child("key"), requirement.get("key") or "")
        if not lax:
            for value_path, value in field_checks.items(
                requirement, "values", match_expression_path
            ):
                yield from field_checks.each(value_path, value, name_rules.label_value(value))
    for match_expression_path, requirement in field_checks.items(term, "matchFields", path):
        yield from _node_field(match_expression_path, requirement)


def _node_requirement(path: FieldPath, requirement: JsonObject) -> field_checks.Errors:
    # As `ValidateNodeSelectorRequirement` of `pkg/apis/core/validation`.
    operator, values = requirement.get("operator") or "", requirement.get("values") or ()
    values_path = path.child("values")
    if operator in {"In", "NotIn"}:
        if not values:
            yield fieldpath.required(
                values_path, "must be specified when `operator` is 'In' or 'NotIn'"
            )
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield fieldpath.forbidden(values_path, detail)
    elif operator in {"Gt", "Lt"}:
        if len(values) != 1:
            detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            yield fieldpath.required(values_path, detail)
    else:
        yield fieldpath.invalid(path.child("operator"), NamedText(operator), BAD_OPERATOR)


def _node_field(path: FieldPath, requirement: JsonObject) -> field_checks.Errors:
    # As `ValidateNodeFieldSelectorRequirement` of `pkg/apis/core/validation`.
    operator, key = requirement.get("operator") or "", requirement.get("key") or ""
    if operator not in {"In", "NotIn"}:
        yield fieldpath.invalid(path.child("operator"), NamedText(operator), BAD_OPERATOR)
    elif len(requirement.get("values") or ()) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield fieldpath.required(path.child("values"), detail)
    if key != "metadata.name":
        yield fieldpath.invalid(path.child("key"), key, "not a valid field selector key")
        return
    for value_path, value in field_checks.items(requirement, "values", path):
        yield from field_checks.dns_subdomain(value_path, value)


def _pod_term(path: FieldPath, term: JsonObject) -> field_checks.Errors:
    # As `validatePodAffinityTerm` of `pkg/apis/core/validation`.
    for field in ("labelSelector", "namespaceSelector"):
        yield from selector(path.child(field), term.get(field))
    for namespace in term.get("namespaces") or ():
        yield from field_checks.dns_label(path.child("namespace"), namespace)
    yield from _matched_keys(path, term)
    key = term.get("topologyKey") or ""
    if not key:
        yield fieldpath.required(path.child("topologyKey"), "can not be empty")
    yield from label_name(path.child("topologyKey"), key)


def _matched_keys(path: FieldPath, term: JsonObject) -> field_checks.Errors:
    """`matchLabelKeys` and `mismatchLabelKeys` of a term or a constraint. They have become
    expressions of the selector already, where the pod is known: twice is too often."""
    for field in ("matchLabelKeys", "mismatchLabelKeys"):
        yield from _label_keys(path, term, field)
    matched, mismatched = (term.get(f"{item}LabelKeys") or () for item in ("match", "mismatch"))
    chosen = term.get("labelSelector") or {}
    positions = {key: index for index, key in enumerate(matched)}
    seen = set(chosen.get("matchLabels") or ())
    for expression in chosen.get("matchExpressions") or ():
        key = expression.get("key") or ""
        if key in positions and key in seen:
            detail = "exists in both matchLabelKeys and labelSelector"
            yield fieldpath.invalid(path.index(positions[key]), key, detail)
        seen.add(key)
    for match_label_key_path, key in field_checks.items(term, "matchLabelKeys", path):
        if key in mismatched:
            detail = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield fieldpath.invalid(match_label_key_path, key, detail)


def _label_keys(path: FieldPath, term: JsonObject, field: str) -> field_checks.Errors:
    if term.get(field) and term.get("labelSelector") is None:
        detail = "must not be specified when labelSelector is not set"
        yield fieldpath.forbidden(path.child(field), detail)
        return
    for item_path, key in field_checks.items(term, field, path):
        yield from label_name(item_path, key)


def tolerations(
    path: FieldPath, value: JsonObject, field: str = "tolerations"
) -> field_checks.Errors:
    # As `ValidateTolerations` of `pkg/apis/core/validation`.
    for item_path, toleration in field_checks.items(value, field, path):
        yield from _toleration(item_path, toleration)


@field_checks.once_sound
def _toleration(path: FieldPath, toleration: JsonObject) -> field_checks.Errors:
    key, operator = toleration.get("key") or "", toleration.get("operator") or ""
    effect, value = toleration.get("effect") or "", toleration.get("value") or ""
    operator_path = path.child("operator")
    if key:
        yield from label_name(path.child("key"), key)
    elif operator != "Exists":
        detail = (
            'operator must be Exists when `key` is empty, which means "match all values and all '
            'keys"'
        )
        yield fieldpath.invalid(operator_path, NamedText(operator), detail)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield fieldpath.invalid(path.child("effect"), NamedText(effect), detail)
    if operator in {"", "Equal"}:
        messages = name_rules.label_value(value)
        if messages:
            yield fieldpath.invalid(operator_path, value, ";".join(messages))
    elif operator == "Exists":
        if value:
            detail = "value must be empty when `operator` is 'Exists'"
            whole = GoValue(toleration, "core.Toleration")
            yield fieldpath.invalid(operator_path, value if is_since("1.32") else whole, detail)
    else:
        # Upstream names the others to those who know them; they wait for a feature gate.
        compares = operator in COMPARING_OPERATORS and is_since("1.35")
        operators = (*TOLERATION_OPERATORS, *(COMPARING_OPERATORS if compares else ()))
        unknown = [fieldpath.not_supported(operator_path, NamedText(operator), operators)]
        if compares:
            yield from field_checks.by_gate(
                field_checks.COMPARED_TAINTS, _whole_number(path.child("value"), value), unknown
            )
        else:
            yield from unknown
    if effect:
        yield from field_checks.supported(path.child("effect"), effect, EFFECTS)


def _whole_number(path: FieldPath, text: str) -> field_checks.Errors:
    if not text:
        yield fieldpath.invalid(path, text, "must be non-empty")
    elif not _DECIMAL.fullmatch(text):
        yield fieldpath.invalid(path, text, "must be a valid decimal integer in canonical form")
    try:
        parse_int(text)
    except ValueError as error:
        yield fieldpath.invalid(path, text, str(error))


_DECIMAL: Final = late_pattern(r"0|-?[1-9][0-9]*")


def spread_constraints(path: FieldPath, spec: JsonObject) -> field_checks.Errors:
    # As `validateTopologySpreadConstraints` of `pkg/apis/core/validation`.
    constraints: Sequence[JsonObject] = spec.get("topologySpreadConstraints") or ()
    pairs = [
        (constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or "")
        for constraint in constraints
    ]
    last = {pair: index for index, pair in enumerate(pairs)}
    for index, (topology_spread_constraint_path, constraint) in enumerate(
        field_checks.items(spec, "topologySpreadConstraints", path)
    ):
        key, action = pairs[index]
        skew = constraint.get("maxSkew", 0)
        if skew <= 0:
            yield fieldpath.invalid(
                topology_spread_constraint_path.child("maxSkew"), skew, field_checks.NOT_POSITIVE
            )
        if not key:
            yield fieldpath.required(
                topology_spread_constraint_path.child("topologyKey"), "can not be empty"
            )
        yield from field_checks.supported(
            topology_spread_constraint_path.child("whenUnsatisfiable"), action, SCHEDULE_ACTIONS
        )
        if last[pairs[index]] > index:
            pair_path = topology_spread_constraint_path.child("{topologyKey, whenUnsatisfiable}")
            yield fieldpath.duplicate(pair_path, f"{{{key}, {action}}}")
        yield from _min_domains(
            topology_spread_constraint_path.child("minDomains"),
            constraint.get("minDomains"),
            action,
        )
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if constraint.get(field) is not None:
                yield from field_checks.supported(
                    topology_spread_constraint_path.child(field), constraint[field], NODE_POLICIES
                )
        if constraint.get("matchLabelKeys"):
            yield from field_checks.by_gate(
                field_checks.MERGED_SPREADING,
                _matched_keys(topology_spread_constraint_path, constraint),
                _keys_apart(topology_spread_constraint_path, constraint),
            )
        yield from selector(
            topology_spread_constraint_path.child("labelSelector"), constraint.get("labelSelector")
        )


def _keys_apart(path: FieldPath, constraint: JsonObject) -> field_checks.Errors:
    """`matchLabelKeys` of a constraint that stay apart from its selector."""
    chosen = constraint.get("labelSelector")
    if chosen is None:
        detail = "must not be specified when labelSelector is not set"
        yield fieldpath.forbidden(path.child("matchLabelKeys"), detail)
    named = {
        match_expression.get("key")
        for match_expression in (chosen or {}).get("matchExpressions") or ()
    }
    named.update((chosen or {}).get("matchLabels") or ())
    for match_label_key_path, key in field_checks.items(constraint, "matchLabelKeys", path):
        yield from label_name(match_label_key_path, key)
        if key in named:
            detail = "exists in both matchLabelKeys and labelSelector"
            yield fieldpath.invalid(match_label_key_path, key, detail)


def _min_domains(path: FieldPath, number: int | None, action: str) -> field_checks.Errors:
    # As `validateMinDomains` of `pkg/apis/core/validation`.
    if number is None:
        return
    if number <= 0:
        yield fieldpath.invalid(path, number, field_checks.NOT_POSITIVE)
    if action != "DoNotSchedule":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        yield fieldpath.invalid(path, number, detail)
