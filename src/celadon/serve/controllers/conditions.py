"""Conditions in a status: one per type, in the order in which they came, as values.

`lastTransitionTime` changes with the status only. As `SetCRDCondition` of
k8s.io/apiextensions-apiserver `pkg/apihelpers/helpers.go`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from celadon.kube import JsonObject


def condition(
    type_: str, status: Literal["True", "False"], reason: str, message: str
) -> dict[str, Any]:
    """Without a time."""
    return {"type": type_, "status": status, "reason": reason, "message": message}


def find_condition(conditions: Sequence[JsonObject] | None, type_: str) -> JsonObject | None:
    """None when there is none."""
    return next((one for one in conditions or () if one.get("type") == type_), None)


def is_true(conditions: Sequence[JsonObject] | None, type_: str) -> bool:
    """False when there is none."""
    found = find_condition(conditions, type_)
    return found is not None and found.get("status") == "True"


def with_condition(
    conditions: Sequence[JsonObject] | None, wanted: JsonObject, now: str
) -> list[JsonObject]:
    """With this one in the place of that of its type, or at the end."""
    made = list(conditions or ())
    former = find_condition(made, wanted["type"])
    since = now
    if former is not None and former.get("status") == wanted["status"]:
        since = former.get("lastTransitionTime") or now
    placed = {
        "type": wanted["type"],
        "status": wanted["status"],
        "lastTransitionTime": since,
        "reason": wanted["reason"],
        "message": wanted["message"],
    }
    if former is None:
        return [*made, placed]
    return [placed if one is former else one for one in made]
