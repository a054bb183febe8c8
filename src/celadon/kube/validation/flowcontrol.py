"""FlowSchemas and priority levels: which requests wait for which.

As k8s.io/kubernetes `pkg/apis/flowcontrol/validation`. What is there for every request (`exempt`,
`catch-all`) has to be what the server makes it: k8s.io/apiserver `pkg/apis/flowcontrol/bootstrap`.
"""

from __future__ import annotations

import math
from typing import Final

from celadon.kube import fieldpath, metadata, name_rules
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.releases import wording
from celadon.kube.validation import field_checks
from celadon.kube.validation.pods.internal_types import internal_value

PRESERVED: Final = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
"""What v1beta3 needed to say that there are no shares, and nothing else may."""
EXEMPT: Final = "exempt"
CATCH_ALL: Final = "catch-all"
DISTINGUISHERS: Final = ("ByNamespace", "ByUser")
MAX_PRECEDENCE: Final = 10_000
HASH_BITS: Final = 60
"""How much of a hash there is to deal hands from."""
VERBS: Final = (
    *("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update"),
    "watch",
)
SUBJECT_KINDS: Final = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
"""Kinds of subjects and the fields that describe them."""
LEVEL_TYPES: Final = ("Exempt", "Limited")
RESPONSES: Final = ("Queue", "Reject")
PERCENT: Final = "must be between 0 and 100, inclusive"
NOT_NEGATIVE: Final = "must be a non-negative integer"
_STATUS: Final = FieldPath("status")
_EXEMPT_ONLY: Final = wording(
    "must be 'Exempt' if and only if `name` is 'exempt'",
    v1_34="type must be 'Exempt' if and only if name is 'exempt'",
)

_EVERYTHING: Final = {
    "resourceRules": [
        {
            "verbs": ["*"],
            "apiGroups": ["*"],
            "resources": ["*"],
            "namespaces": ["*"],
            "clusterScope": True,
        }
    ],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
}


def _groups(*names: str) -> list[JsonDict]:
    return [{"kind": "Group", "group": {"name": name}} for name in names]


MANDATORY_SCHEMAS: Final[JsonDict] = {
    EXEMPT: {
        "priorityLevelConfiguration": {"name": EXEMPT},
        "matchingPrecedence": 1,
        "rules": [{"subjects": _groups("system:masters"), **_EVERYTHING}],
    },
    CATCH_ALL: {
        "priorityLevelConfiguration": {"name": CATCH_ALL},
        "matchingPrecedence": MAX_PRECEDENCE,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": [
            {
                "subjects": _groups("system:unauthenticated", "system:authenticated"),
                **_EVERYTHING,
            }
        ],
    },
}
MANDATORY_LEVEL: Final[JsonDict] = {
    "type": "Limited",
    "limited": {
        "nominalConcurrencyShares": 5,
        "lendablePercent": 0,
        "limitResponse": {"type": "Reject"},
    },
}
"""What `catch-all` is; `exempt` may say how many seats it has."""


def flow_schema(obj: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with a FlowSchema, besides its metadata."""
    # As `ValidateFlowSchemaSpec` of `pkg/apis/flowcontrol/validation`.
    name, spec = (obj.get("metadata") or {}).get("name") or "", obj.get("spec") or {}
    yield from _precedence(spec.get("matchingPrecedence") or 0, name)
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in DISTINGUISHERS:
        path = field_checks.SPEC.child("distinguisherMethod", "type")
        shown = GoValue({"Type": method.get("type") or ""}, "flowcontrol.FlowDistinguisherMethod")
        yield fieldpath.not_supported(path, shown, DISTINGUISHERS)
    level = (spec.get("priorityLevelConfiguration") or {}).get("name") or ""
    path = field_checks.SPEC.child("priorityLevelConfiguration", "name")
    if level:
        yield from field_checks.dns_subdomain(path, level)
    else:
        yield fieldpath.required(path, "must reference a priority level")
    for rule_path, rule in field_checks.items(spec, "rules", field_checks.SPEC):
        yield from _rule(rule_path, rule)
    fixed = MANDATORY_SCHEMAS.get(name)
    if fixed is not None:
        printed = internal_value(spec, "flowcontrol.v1.FlowSchemaSpec")
        if printed != internal_value(fixed, "flowcontrol.v1.FlowSchemaSpec"):
            shown = GoValue(printed, "flowcontrol.FlowSchemaSpec")
            yield fieldpath.invalid(
                field_checks.SPEC, shown, f"spec of '{name}' must equal the fixed value"
            )
    yield from typed_conditions(obj)


def _precedence(precedence: int, name: str) -> field_checks.Errors:
    path = field_checks.SPEC.child("matchingPrecedence")
    if precedence <= 0:
        yield fieldpath.invalid(path, precedence, "must be a positive value")
    if precedence > MAX_PRECEDENCE:
        yield fieldpath.invalid(path, precedence, f"must not be greater than {MAX_PRECEDENCE}")
    if precedence == 1 and name != EXEMPT:
        detail = "only the schema named 'exempt' may have matchingPrecedence 1"
        yield fieldpath.invalid(path, precedence, detail)


def _rule(path: FieldPath, rule: JsonObject) -> field_checks.Errors:
    # As `ValidateFlowSchemaPolicyRulesWithSubjects` of `pkg/apis/flowcontrol/validation`.
    if not rule.get("subjects"):
        detail = "subjects must contain at least one value"
        yield fieldpath.required(path.child("subjects"), detail)
    for subject_path, subject in field_checks.items(rule, "subjects", path):
        yield from _subject(subject_path, subject)
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        detail = "at least one of resourceRules and nonResourceRules has to be non-empty"
        yield fieldpath.required(path, detail)
    for subject_path, resource_rule in field_checks.items(rule, "resourceRules", path):
        yield from _resources(subject_path, resource_rule)
    for subject_path, resource_rule in field_checks.items(rule, "nonResourceRules", path):
        yield from _verbs(subject_path.child("verbs"), resource_rule.get("verbs") or [])
        yield from _urls(
            subject_path.child("nonResourceURLs"), resource_rule.get("nonResourceURLs") or []
        )


def _subject(path: FieldPath, subject: JsonObject) -> field_checks.Errors:
    # As `ValidateFlowSchemaSubject` of `pkg/apis/flowcontrol/validation`.
    kind = subject.get("kind") or ""
    subject_kind = SUBJECT_KINDS.get(kind)
    if subject_kind is None:
        yield from field_checks.supported(path.child("kind"), kind, list(SUBJECT_KINDS))
        return
    result, field_path = subject.get(subject_kind), path.child(subject_kind)
    if result is None:
        yield fieldpath.required(
            field_path, f"{subject_kind} is required when subject kind is '{kind}'"
        )
    elif subject_kind == "serviceAccount":
        yield from _account(field_path, result)
    else:
        yield from field_checks.present(result, field_path, "name")
    for other in ("serviceAccount", "user", "group"):
        if other != subject_kind and subject.get(other) is not None:
            subject_kinds = next(name for name, field in SUBJECT_KINDS.items() if field == other)
            detail = f"{other} is forbidden when subject kind is not '{subject_kinds}'"
            yield fieldpath.forbidden(path.child(other), detail)


def _account(path: FieldPath, account: JsonObject) -> field_checks.Errors:
    # As `ValidateServiceAccountSubject` of `pkg/apis/flowcontrol/validation`.
    name, namespace = account.get("name") or "", account.get("namespace") or ""
    if not name:
        yield fieldpath.required(path.child("name"))
    elif name != "*":
        yield from field_checks.dns_subdomain(path.child("name"), name)
    if namespace:
        yield from field_checks.dns_label(path.child("namespace"), namespace)
    else:
        detail = "must specify namespace for service account"
        yield fieldpath.required(path.child("namespace"), detail)


def _alone(path: FieldPath, values: list[str], subject: str) -> field_checks.Errors:
    """Yield an error where `*`, which stands for all others, does not stand alone."""
    if "*" in values and len(values) > 1:
        detail = f"if '*' is present, must not specify other {subject}"
        yield fieldpath.invalid(path, values, detail)


def _verbs(path: FieldPath, verbs: list[str]) -> field_checks.Errors:
    if not verbs:
        yield fieldpath.required(path, "verbs must contain at least one value")
    elif "*" in verbs:
        yield from _alone(path, verbs, "verbs")
    elif not set(verbs) <= set(VERBS):
        yield fieldpath.not_supported(path, verbs, VERBS)


def _resources(path: FieldPath, rule: JsonObject) -> field_checks.Errors:
    # As `ValidateFlowSchemaResourcePolicyRule` of `pkg/apis/flowcontrol/validation`.
    yield from _verbs(path.child("verbs"), rule.get("verbs") or [])
    for field, text, several in (
        ("apiGroups", "api group", "api groups"),
        ("resources", "resource", "resources"),
    ):
        values, field_path = list(rule.get(field) or []), path.child(field)
        if not values:
            yield fieldpath.required(field_path, f"resource rules must supply at least one {text}")
        yield from _alone(field_path, values, several)
    namespaces, field_path = list(rule.get("namespaces") or []), path.child("namespaces")
    if not namespaces and not rule.get("clusterScope"):
        detail = "resource rules that are not cluster scoped must supply at least one namespace"
        yield fieldpath.required(field_path, detail)
    elif "*" in namespaces:
        yield from _alone(field_path, namespaces, "namespaces")
    else:
        intro = "each member of this list must be '*' or a DNS-1123 label; "
        for index, namespace in enumerate(namespaces):
            messages = [intro + reason for reason in name_rules.dns1123_label(namespace)]
            yield from field_checks.each(field_path.index(index), namespace, messages)


def _urls(path: FieldPath, urls: list[str]) -> field_checks.Errors:
    if not urls:
        yield fieldpath.required(path, "nonResourceURLs must contain at least one value")
    elif "*" in urls:
        yield from _alone(path, urls, "non-resource URLs")
    else:
        for index, url in enumerate(urls):
            detail = _wrong_url(url)
            if detail:
                yield fieldpath.invalid(path.index(index), url, detail)


def _wrong_url(url: str) -> str:
    # As `ValidateNonResourceURLPath` of `pkg/apis/flowcontrol/validation`.
    if not url:
        return "must not be empty"
    if url == "/":
        return ""
    if not url.startswith("/"):
        return "must start with slash"
    for bad, name in ((" ", "white-space"), ("//", "double slash")):
        if bad in url:
            return f"must not contain {name}"
    stars = url.count("*")
    return (
        "wildcard can only do suffix matching"
        if stars and (stars > 1 or not url.endswith("/*"))
        else ""
    )


def typed_conditions(obj: JsonObject, _: JsonObject | None = None) -> field_checks.Errors:
    """Validate conditions, each of a type of its own; also of an update of the status."""
    seen: set[str] = set()
    for path, condition in field_checks.items(obj.get("status") or {}, "conditions", _STATUS):
        kind = condition.get("type") or ""
        if kind in seen:
            yield fieldpath.duplicate(path.child("type"), NamedText(kind))
        seen.add(kind)
        if not kind:
            yield fieldpath.required(path.child("type"), field_checks.NOT_EMPTY.text)


def priority_level(obj: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with a PriorityLevelConfiguration, besides its metadata."""
    # As `ValidatePriorityLevelConfiguration` of `pkg/apis/flowcontrol/validation`.
    name, spec = (obj.get("metadata") or {}).get("name") or "", obj.get("spec") or {}
    if PRESERVED in metadata.annotations(obj):
        yield fieldpath.forbidden(
            field_checks.METADATA.child("annotations"), f"annotation '{PRESERVED}' is forbidden"
        )
    kind, path = spec.get("type") or "", field_checks.SPEC.child("type")
    if (name == EXEMPT) != (kind == "Exempt"):
        yield fieldpath.invalid(path, NamedText(kind), _EXEMPT_ONLY.text)
    if kind not in LEVEL_TYPES:
        yield from field_checks.supported(path, kind, LEVEL_TYPES)
    else:
        yield from _level(spec, kind)
    if name == EXEMPT and (kind != "Exempt" or spec.get("limited") is not None):
        printed = internal_value(spec, "flowcontrol.v1.PriorityLevelConfigurationSpec")
        detail = f"spec of '{name}' except the 'spec.exempt' field must equal the fixed value"
        shown = GoValue(printed, "flowcontrol.PriorityLevelConfigurationSpec")
        yield fieldpath.invalid(field_checks.SPEC, shown, detail)
    if name == CATCH_ALL:
        printed = internal_value(spec, "flowcontrol.v1.PriorityLevelConfigurationSpec")
        if printed != internal_value(
            MANDATORY_LEVEL, "flowcontrol.v1.PriorityLevelConfigurationSpec"
        ):
            shown = GoValue(printed, "flowcontrol.PriorityLevelConfigurationSpec")
            yield fieldpath.invalid(
                field_checks.SPEC, shown, f"spec of '{name}' must equal the fixed value"
            )
    yield from typed_conditions(obj)


def _level(spec: JsonObject, kind: str) -> field_checks.Errors:
    # As `ValidatePriorityLevelConfigurationSpec` of `pkg/apis/flowcontrol/validation`.
    field, other = ("exempt", "limited") if kind == "Exempt" else ("limited", "exempt")
    if spec.get(other) is not None:
        detail = f"must be nil if the type is {'not ' * (field == 'exempt')}Limited"
        yield fieldpath.forbidden(field_checks.SPEC.child(other), detail)
    if spec.get(field) is None:
        if field == "limited":
            yield fieldpath.required(
                field_checks.SPEC.child(field), f"must not be empty when type is {kind}"
            )
        return
    level, path = spec[field], field_checks.SPEC.child(field)
    shares = level.get("nominalConcurrencyShares")
    if shares is not None and shares < 0:
        yield fieldpath.invalid(path.child("nominalConcurrencyShares"), shares, NOT_NEGATIVE)
    if field == "limited":
        yield from _response(path.child("limitResponse"), level.get("limitResponse") or {})
    lendable = level.get("lendablePercent")
    borrowed = level.get("borrowingLimitPercent") if field == "limited" else None
    if lendable is not None and not 0 <= lendable <= 100:
        yield fieldpath.invalid(path.child("lendablePercent"), lendable, PERCENT)
    if borrowed is not None and borrowed < 0:
        detail = f"if specified, {NOT_NEGATIVE}"
        yield fieldpath.invalid(path.child("borrowingLimitPercent"), borrowed, detail)


def _response(path: FieldPath, response: JsonObject) -> field_checks.Errors:
    # As `ValidateLimitResponse` of `pkg/apis/flowcontrol/validation`.
    kind, queuing, queuing_path = (
        response.get("type") or "",
        response.get("queuing"),
        path.child("queuing"),
    )
    if kind == "Reject":
        if queuing is not None:
            detail = "must be nil if limited.limitResponse.type is not Limited"
            yield fieldpath.forbidden(queuing_path, detail)
    elif kind != "Queue":
        yield from field_checks.supported(path.child("type"), kind, RESPONSES)
    elif queuing is None:
        detail = "must not be empty if limited.limitResponse.type is Limited"
        yield fieldpath.required(queuing_path, detail)
    else:
        yield from _queues(queuing_path, queuing)


def _queues(path: FieldPath, queuing: JsonObject) -> field_checks.Errors:
    # As `ValidatePriorityLevelQueuingConfiguration` of `pkg/apis/flowcontrol/validation`.
    yield from field_checks.broken_rules("flowcontrol.v1.QueuingConfiguration", queuing, path)
    queues, hand = queuing.get("queues") or 0, queuing.get("handSize") or 0
    hand_size_path = path.child("handSize")
    if hand <= 0:
        yield fieldpath.invalid(hand_size_path, hand, "must be positive")
    elif hand > queues:
        yield fieldpath.invalid(
            hand_size_path, hand, f"should not be greater than queues ({queues})"
        )
    elif math.ceil(math.log2(queues) * hand) > HASH_BITS:
        detail = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater "
            f"than {HASH_BITS}"
        )
        yield fieldpath.invalid(hand_size_path, hand, detail)
