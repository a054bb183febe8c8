"""Pods and claims against the LimitRanges of their namespace: what the plugin LimitRanger refuses.

As k8s.io/kubernetes `plugin/pkg/admission/limitranger`. The refusal is 403, before validation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from celadon.kube.quantities.quantity import Quantity
from celadon.kube.quantities.resource_amounts import ResourceList, parse, pod_total
from celadon.kube.validation.field_checks import Object, entries

Amounts = Mapping[str, Quantity]


def exceeded_limits(obj: Object, limit_ranges: Iterable[Object]) -> str:
    """Why the object is refused; empty when it is not. All complaints of the first LimitRange."""
    for limit_range in limit_ranges:
        limits: Sequence[Object] = (limit_range.get("spec") or {}).get("limits") or ()
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


def _parsed(amounts: ResourceList | None) -> dict[str, Quantity]:
    return {name: parse(text) for name, text in (amounts or {}).items()}


def _pod(spec: Object, limits: Sequence[Object]) -> Iterator[str]:
    for limit in limits:
        if limit.get("type") == "Container":
            for field in ("containers", "initContainers"):
                for container in spec.get(field) or ():
                    needs = container.get("resources") or {}
                    requests, most = (_parsed(needs.get(key)) for key in ("requests", "limits"))
                    yield from _compared(limit, requests, most)
        elif limit.get("type") == "Pod":
            yield from _compared(limit, pod_total(spec, "requests"), pod_total(spec, "limits"))


def _claim(spec: Object, limits: Sequence[Object]) -> Iterator[str]:
    requests = _parsed((spec.get("resources") or {}).get("requests"))
    for limit in limits:
        if limit.get("type") != "PersistentVolumeClaim":
            continue
        for name, text in entries(limit, "min"):
            yield from _minimum("PersistentVolumeClaim", name, parse(text), requests, {})
        for name, text in entries(limit, "max"):
            yield from _claim_maximum(name, parse(text), requests)


def _claim_maximum(name: str, most: Quantity, requests: Amounts) -> Iterator[str]:
    bound = f"maximum {name} usage per PersistentVolumeClaim is {most}"
    request = requests.get(name)
    if request is None:
        yield f"{bound}.  No request is specified"
    elif request.compare(most) > 0:
        yield f"{bound}, but request is {request}"


def _compared(limit: Object, requests: Amounts, limits: Amounts) -> Iterator[str]:
    kind: Any = limit.get("type")
    for name, text in entries(limit, "min"):
        yield from _minimum(kind, name, parse(text), requests, limits)
    for name, text in entries(limit, "max"):
        yield from _maximum(kind, name, parse(text), requests, limits)
    for name, text in entries(limit, "maxLimitRequestRatio"):
        yield from _ratio(kind, name, parse(text), requests, limits)


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
