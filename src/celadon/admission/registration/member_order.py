"""The order of members in which a server writes registration objects: that of their Go structs.

`ordered` is for output that is to be the same to the letter; nothing else depends on the order of
members. A table names, for each field, the order of the members of what it holds; lists and maps
in between make no difference. As k8s.io/api `admissionregistration/v1/types.go` and
k8s.io/apimachinery `pkg/apis/meta/v1/types.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.well_known_values import META_FIELDS

TOP: Final = ("kind", "apiVersion", "metadata", "webhooks", "spec", "status")

_RULE: Final = (
    "resourceNames",
    "operations",
    "apiGroups",
    "apiVersions",
    "resources",
    "scope",
)
_MATCH_RESOURCES: Final = (
    "namespaceSelector",
    "objectSelector",
    "resourceRules",
    "excludeResourceRules",
    "matchPolicy",
)
_SELECTOR: Final = ("matchLabels", "matchExpressions")
_NAMED_EXPRESSION: Final = ("name", "expression")

ORDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "metadata": META_FIELDS,
    "ownerReferences": (
        "apiVersion",
        "kind",
        "name",
        "uid",
        "controller",
        "blockOwnerDeletion",
    ),
    "paramKind": ("apiVersion", "kind"),
    "paramRef": ("name", "namespace", "selector", "parameterNotFoundAction"),
    "matchConstraints": _MATCH_RESOURCES,
    "matchResources": _MATCH_RESOURCES,
    "resourceRules": _RULE,
    "excludeResourceRules": _RULE,
    "rules": _RULE,
    "namespaceSelector": _SELECTOR,
    "objectSelector": _SELECTOR,
    "selector": _SELECTOR,
    "matchExpressions": ("key", "operator", "values"),
    "matchConditions": _NAMED_EXPRESSION,
    "variables": _NAMED_EXPRESSION,
    "validations": ("expression", "message", "reason", "messageExpression"),
    "auditAnnotations": ("key", "valueExpression"),
    "mutations": ("patchType", "applyConfiguration", "jsonPatch"),
    "status": ("observedGeneration", "typeChecking", "conditions"),
    "expressionWarnings": ("fieldRef", "warning"),
    "conditions": (
        "type",
        "status",
        "observedGeneration",
        "lastTransitionTime",
        "reason",
        "message",
    ),
    "webhooks": (
        "name",
        "clientConfig",
        "rules",
        "failurePolicy",
        "matchPolicy",
        "namespaceSelector",
        "objectSelector",
        "sideEffects",
        "timeoutSeconds",
        "admissionReviewVersions",
        "reinvocationPolicy",
        "matchConditions",
    ),
    "clientConfig": ("url", "service", "caBundle"),
    "service": ("namespace", "name", "path", "port"),
}

_POLICY_SPEC: Final = (
    "paramKind",
    "matchConstraints",
    "validations",
    "failurePolicy",
    "auditAnnotations",
    "matchConditions",
    "variables",
)
_MUTATING_SPEC: Final = (
    "paramKind",
    "matchConstraints",
    "variables",
    "mutations",
    "failurePolicy",
    "matchConditions",
    "reinvocationPolicy",
)
_BINDING_SPEC: Final = ("policyName", "paramRef", "matchResources", "validationActions")

SPECS: Final[Mapping[str, tuple[str, ...]]] = {
    "ValidatingAdmissionPolicy": _POLICY_SPEC,
    "ValidatingAdmissionPolicyBinding": _BINDING_SPEC,
    "MutatingAdmissionPolicy": _MUTATING_SPEC,
    "MutatingAdmissionPolicyBinding": _BINDING_SPEC,
}
"""By kind, since the specs share their field's name."""

KINDS: Final = frozenset(SPECS) | {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}


def ordered(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with its members in their order; maps of texts are sorted by key. Documents of
    other kinds are left as they are."""
    if document.get("kind") not in KINDS:
        return dict(document)
    spec = SPECS.get(document.get("kind", ""), ())
    orders = {**ORDERS, "spec": spec}
    made: dict[str, Any] = {}
    for key in (*TOP, *document):
        if key in document and key not in made:
            made[key] = _ordered(document[key], key, orders)
    return made


def _ordered(value: object, field: str, orders: Mapping[str, tuple[str, ...]]) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, list):
        return [_ordered(item, field, orders) for item in value]
    if not isinstance(value, dict) or field in {"managedFields", "fieldsV1"}:
        return value
    rank = {name: i for i, name in enumerate(orders.get(field, ()))}
    names = sorted(value, key=lambda name: (rank.get(name, len(rank)), name))
    return {name: _ordered(value[name], name, orders) for name in names}
