"""The targets of autoscalers: what each metric is and what it should be."""

from __future__ import annotations

from typing import Final

from celadon.admission import convert
from celadon.kube import GroupVersionKind, JsonObject
from celadon.serve.tables.cell_texts import (
    NONE,
    UNKNOWN,
    Cell,
    Row,
    at,
    items,
    joined,
    quantity_text,
    text,
)

AUTOSCALER: Final = GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler")
SHOWN_METRICS: Final = 2

_MEMBERS: Final = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
"""The member that describes a metric of a type."""


def autoscaler_targets(obj: JsonObject, row: Row) -> Cell:
    """Of any version: what v1 keeps in annotations counts, too."""
    scaler = convert(obj, AUTOSCALER)
    metrics = items(scaler, "spec", "metrics")
    if not metrics:
        return NONE
    current = items(scaler, "status", "currentMetrics")
    shown = [
        _metric(metric, current[index] if index < len(current) else None)
        for index, metric in enumerate(metrics[:SHOWN_METRICS])
    ]
    return joined(shown, separator=", ", total=len(metrics))


def _metric(metric: JsonObject, status: JsonObject | None) -> str:
    kind = text(metric, "type")
    member = _MEMBERS.get(kind)
    if member is None:
        return "<unknown type>"
    described, target = at(metric, member), at(metric, member, "target")
    now = at(status, member, "current") if at(status, member) is not None else None
    if kind == "Pods":
        return f"{_amount(now, 'averageValue')}/{_pointed(at(target, 'averageValue'))}"
    if kind in ("External", "Object"):
        return _total_or_average(target, now)
    return f"{text(described, 'name')}: {_used(target, now)}"


def _total_or_average(target: object, now: JsonObject | None) -> str:
    average = at(target, "averageValue")
    if average is None:
        return f"{_amount(now, 'value')}/{_pointed(at(target, 'value'))}"
    known = None if at(now, "averageValue") is None else now
    return f"{_amount(known, 'averageValue')}/{quantity_text(average)} (avg)"


def _used(target: object, now: JsonObject | None) -> str:
    """Of a resource: as an amount, or in percent of what was asked for."""
    average = at(target, "averageValue")
    if average is not None:
        return f"{_amount(now, 'averageValue')}/{quantity_text(average)}"
    used, wanted = at(now, "averageUtilization"), at(target, "averageUtilization")
    shown = UNKNOWN if used is None else f"{used}%"
    return f"{shown}/{'<auto>' if wanted is None else f'{wanted}%'}"


def _amount(now: JsonObject | None, member: str) -> str:
    return UNKNOWN if now is None else _pointed(now.get(member))


def _pointed(amount: object) -> str:
    """An amount that Go holds by a pointer."""
    return "<nil>" if amount is None else quantity_text(amount)
