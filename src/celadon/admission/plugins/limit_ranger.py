"""LimitRanger: refuses pods and claims that exceed the LimitRanges of their namespace.

As k8s.io/kubernetes `plugin/pkg/admission/limitranger`. What it fills in stands in
`celadon.kube.defaulting.plugin_defaults`; here is what it refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from celadon import kube
from celadon.admission.cluster_lookups import World
from celadon.admission.plugins.plugin_interface import Behaviour, core, forbidden
from celadon.admission.request import Operation, Request
from celadon.kube.defaulting import LIMIT_RANGES
from celadon.kube.quantity import Quantity, ResourceList, parse_amounts, pod_needs
from celadon.kube.resources import Lookups

Amounts = Mapping[str, Quantity]


def within_limits(request: Request, lookups: Lookups) -> kube.StatusError | None:
    """Return why a pod or a claim is refused that is valid otherwise."""
    obj = request.object
    if obj is None or _is_leaving(request):
        return None
    reason = exceeded_limits(obj, lookups.list(LIMIT_RANGES, request.namespace))
    return forbidden(request, reason) if reason else None


def _is_leaving(request: Request) -> bool:
    """Return whether an update of an object that is being deleted is only about letting it go."""
    update = request.operation is Operation.UPDATE
    return update and bool(kube.metadata.deletion_timestamp(request.object))


def exceeded_limits(obj: kube.JsonObject, limit_ranges: Iterable[kube.JsonObject]) -> str:
    """Return why the object is refused; empty when it is not. All complaints of the first
    LimitRange."""
    for limit_range in limit_ranges:
        limits: Sequence[kube.JsonObject] = (limit_range.get("spec") or {}).get("limits") or ()
        kind = obj.get("kind")
        if kind == "Pod":
            complaints = list(_pod(obj.get("spec") or {}, limits))
        elif kind == "PersistentVolumeClaim":
            complaints = list(_claim(obj.get("spec") or {}, limits))
        else:
            return ""
        texts = list(dict.fromkeys(complaints))
        if texts:
            return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return ""


def _needs(spec: kube.JsonObject) -> tuple[Amounts, Amounts]:
    requests = pod_needs(spec, "requests", overhead=False)
    return requests, pod_needs(spec, "limits", overhead=False)


def _entries(limit: kube.JsonObject, field: str) -> list[tuple[str, str]]:
    """Return the entries by name: the order in which a server meets them is random."""
    return sorted((limit.get(field) or {}).items())


def _parsed(amounts: ResourceList | None) -> dict[str, Quantity]:
    return {name: parse_amounts(amount) for name, amount in (amounts or {}).items()}


def _pod(spec: kube.JsonObject, limits: Sequence[kube.JsonObject]) -> Iterator[str]:
    for limit in limits:
        if limit.get("type") == "Container":
            for field in ("containers", "initContainers"):
                for container in spec.get(field) or ():
                    resources = container.get("resources") or {}
                    requests, most = (_parsed(resources.get(key)) for key in ("requests", "limits"))
                    yield from _compared(limit, requests, most)
        elif limit.get("type") == "Pod":
            yield from _compared(limit, *_needs(spec))


def _claim(spec: kube.JsonObject, limits: Sequence[kube.JsonObject]) -> Iterator[str]:
    requests = _parsed((spec.get("resources") or {}).get("requests"))
    for limit in limits:
        if limit.get("type") != "PersistentVolumeClaim":
            continue
        for name, amount in _entries(limit, "min"):
            yield from _minimum("PersistentVolumeClaim", name, parse_amounts(amount), requests, {})
        for name, amount in _entries(limit, "max"):
            yield from _claim_maximum(name, parse_amounts(amount), requests)


def _claim_maximum(name: str, most: Quantity, requests: Amounts) -> Iterator[str]:
    bound = f"maximum {name} usage per PersistentVolumeClaim is {most}"
    request = requests.get(name)
    if request is None:
        yield f"{bound}.  No request is specified"
    elif request.compare(most) > 0:
        yield f"{bound}, but request is {request}"


def _compared(limit: kube.JsonObject, requests: Amounts, limits: Amounts) -> Iterator[str]:
    kind: Any = limit.get("type")
    for name, amount in _entries(limit, "min"):
        yield from _minimum(kind, name, parse_amounts(amount), requests, limits)
    for name, amount in _entries(limit, "max"):
        yield from _maximum(kind, name, parse_amounts(amount), requests, limits)
    for name, amount in _entries(limit, "maxLimitRequestRatio"):
        yield from _ratio(kind, name, parse_amounts(amount), requests, limits)


def _minimum(
    kind: str, name: str, least: Quantity, requests: Amounts, limits: Amounts
) -> Iterator[str]:
    request, limit = requests.get(name), limits.get(name)
    bound = f"minimum {name} usage per {kind} is {least}"
    if request is None:
        yield f"{bound}.  No request is specified"
    elif request.compare(least) < 0:
        yield f"{bound}, but request is {request}"
    elif limit is not None and limit.compare(least) < 0:
        yield f"{bound}, but limit is {limit}"


def _maximum(
    kind: str, name: str, most: Quantity, requests: Amounts, limits: Amounts
) -> Iterator[str]:
    request, limit = requests.get(name), limits.get(name)
    bound = f"maximum {name} usage per {kind} is {most}"
    if limit is None:
        yield f"{bound}.  No limit is specified"
    elif limit.compare(most) > 0:
        yield f"{bound}, but limit is {limit}"
    elif request is not None and request.compare(most) > 0:
        yield f"{bound}, but request is {request}"


def _ratio(
    kind: str, name: str, most: Quantity, requests: Amounts, limits: Amounts
) -> Iterator[str]:
    request, limit = requests.get(name), limits.get(name)
    bound = f"{name} max limit to request ratio per {kind} is {most}"
    if request is None or request.sign == 0:
        yield f"{bound}, but no request is specified or request is 0"
    elif limit is None or limit.sign == 0:
        yield f"{bound}, but no limit is specified or limit is 0"
    else:
        ratio = float(limit.as_decimal()) / float(request.as_decimal())
        if ratio > float(most.as_decimal()):
            yield f"{bound}, but provided ratio is {ratio:f}"


def _validate_limits(request: Request, world: World) -> kube.StatusError | None:
    pod_update = request.operation is Operation.UPDATE and request.resource.resource == "pods"
    if pod_update and request.subresource != "resize":
        return None
    if request.subresource and not pod_update:
        return None
    return within_limits(request, world)


LIMIT_RANGER: Final = Behaviour(
    validate=_validate_limits,
    resources=core("pods", "persistentvolumeclaims"),
    subresources=frozenset({"", "resize"}),
)
