"""Tolerations merged as upstream's plugins do it (k8s.io/kubernetes `pkg/util/tolerations`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon.kube.json_types import JsonObject


def merged(tolerations: Sequence[JsonObject]) -> list[dict[str, Any]]:
    """Copies, in order, of those that no other one covers; of equal ones the first."""
    kept: list[dict[str, Any]] = []
    for i, one in enumerate(tolerations):
        others = (*kept, *(later for later in tolerations[i + 1 :] if later != one))
        if not any(covers(other, one) for other in others):
            kept.append(dict(one))
    return kept


def covers(wide: JsonObject, narrow: JsonObject) -> bool:
    """Whether `wide` tolerates at least what `narrow` does, as far as upstream sees it."""
    if wide == narrow:
        return True
    exists = wide.get("operator") == "Exists"
    any_key = exists and not wide.get("key")
    if not any_key and wide.get("key", "") != narrow.get("key", ""):
        return False
    if wide.get("effect") and wide["effect"] != narrow.get("effect"):
        return False
    if not _lasts(wide, narrow):
        return False
    if wide.get("operator") not in {None, "", "Equal"}:
        return exists
    same = wide.get("value", "") == narrow.get("value", "")
    return same and narrow.get("operator") == "Equal"


def _lasts(wide: JsonObject, narrow: JsonObject) -> bool:
    """Whether `wide` tolerates as long; seconds count for NoExecute only, none means for ever."""
    limit = wide.get("tolerationSeconds")
    if wide.get("effect") != "NoExecute" or limit is None:
        return True
    seconds = narrow.get("tolerationSeconds")
    return seconds is not None and bool(seconds <= limit)
