"""Which objects a quota is about: scopes and scope selectors.

As k8s.io/kubernetes `pkg/quota/v1/evaluator/core`. Only pods have scopes; claims of volumes have
one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from celadon.admission.plugins.quotas.object_usage import POD, VOLUME_CLAIM
from celadon.kube import GroupResource, JsonObject
from celadon.kube.quantities import qos_class


def is_in_scope(quota: JsonObject, resource: GroupResource, obj: JsonObject) -> bool:
    """Whether an object is one that a quota counts, as far as its scopes say."""
    return all(_matches(selector, resource, obj) for selector in selectors_of(quota))


def matched_selectors(
    selectors: Iterable[JsonObject], resource: GroupResource, obj: JsonObject
) -> list[JsonObject]:
    """Those that an object meets."""
    return [one for one in selectors if _matches(one, resource, obj)]


def is_terminating(pod: JsonObject) -> bool:
    """Whether a pod is meant to end."""
    seconds = (pod.get("spec") or {}).get("activeDeadlineSeconds")
    return seconds is not None and seconds >= 0


def selectors_of(quota: JsonObject) -> Iterator[JsonObject]:
    """What a quota says of what it counts, in the longer form."""
    spec = quota.get("spec") or {}
    for scope in spec.get("scopes") or ():
        yield {"scopeName": scope, "operator": "Exists"}
    yield from (spec.get("scopeSelector") or {}).get("matchExpressions") or ()


def _matches(selector: JsonObject, resource: GroupResource, obj: JsonObject) -> bool:
    spec = obj.get("spec") or {}
    scope = selector.get("scopeName")
    if resource == VOLUME_CLAIM and scope == "VolumeAttributesClass":
        return _selects(selector, _attribute_classes(obj))
    if resource != POD:
        return False
    match scope:
        case "Terminating":
            return is_terminating(obj)
        case "NotTerminating":
            return not is_terminating(obj)
        case "BestEffort":
            return qos_class(spec) == "BestEffort"
        case "NotBestEffort":
            return qos_class(spec) != "BestEffort"
        case "PriorityClass":
            name = spec.get("priorityClassName")
            return _selects(selector, {name} if name else set())
        case "CrossNamespacePodAffinity":
            return any(map(_crosses, _affinity_terms(spec)))
    return False


def _selects(selector: JsonObject, names: set[str]) -> bool:
    values = set(selector.get("values") or ())
    match selector.get("operator"):
        case "In":
            return bool(names & values)
        case "NotIn":
            return not names & values
        case "DoesNotExist":
            return not names
    return bool(names)


def _attribute_classes(claim: JsonObject) -> set[str]:
    """What a claim is, is to be, and becomes."""
    spec, state = claim.get("spec") or {}, claim.get("status") or {}
    found = {
        spec.get("volumeAttributesClassName"),
        state.get("currentVolumeAttributesClassName"),
        (state.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    }
    return {name for name in found if name}


def _affinity_terms(spec: JsonObject) -> Iterator[JsonObject]:
    affinity = spec.get("affinity") or {}
    for side in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(side) or {}
        yield from terms.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        for weighted in terms.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield weighted.get("podAffinityTerm") or {}


def _crosses(term: JsonObject) -> bool:
    return bool(term.get("namespaces")) or term.get("namespaceSelector") is not None
