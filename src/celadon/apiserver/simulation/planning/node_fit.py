"""Whether a pod may be on a node: node selectors, required node affinity, taints.

As k8s.io/component-helpers `scheduling/corev1/nodeaffinity` and `scheduling/corev1/helpers.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from celadon.apiserver.simulation.planning.pod_facts import spec_of
from celadon.kube import JsonObject, metadata
from celadon.kube.selectors import Operator, Requirement
from celadon.kube.well_known_values import REQUIRED_TERMS

_OPERATORS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
    "Gt": Operator.GREATER_THAN,
    "Lt": Operator.LESS_THAN,
}


def fits_node(pod: Mapping[str, Any], node: JsonObject) -> bool:
    """Whether selector and required affinity of the spec of a pod allow for the node."""
    labels = metadata.labels(node)
    if not (pod.get("nodeSelector") or {}).items() <= labels.items():
        return False
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get(REQUIRED_TERMS)
    if required is None:
        return True
    return any(_holds(term, node) for term in required.get("nodeSelectorTerms") or ())


def _holds(term: JsonObject, node: JsonObject) -> bool:
    """A term without conditions holds nowhere."""
    labels, fields = metadata.labels(node), {"metadata.name": metadata.name(node)}
    about_labels = term.get("matchExpressions") or ()
    about_fields = term.get("matchFields") or ()
    if not about_labels and not about_fields:
        return False
    return all(_requirement(one).matches(labels) for one in about_labels) and all(
        _requirement(one).matches(fields) for one in about_fields
    )


def _requirement(condition: JsonObject) -> Requirement:
    values = tuple(condition.get("values") or ())
    return Requirement(condition["key"], _OPERATORS[condition["operator"]], values)


def has_untolerated_taint(pod: Mapping[str, Any], node: JsonObject, effects: Iterable[str]) -> bool:
    """Whether a taint with one of the effects keeps a pod with such a spec away."""
    tolerations = pod.get("tolerations") or ()
    return any(
        taint.get("effect") in effects and not any(_tolerates(one, taint) for one in tolerations)
        for taint in spec_of(node).get("taints") or ()
    )


def _tolerates(toleration: JsonObject, taint: JsonObject) -> bool:
    """One without a key tolerates every key, one without an effect every effect."""
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return (toleration.get("value") or "") == (taint.get("value") or "")
