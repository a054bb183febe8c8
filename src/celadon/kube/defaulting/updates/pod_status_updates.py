"""What a new status of a pod takes from the old one where it is silent.

As k8s.io/kubernetes `pkg/registry/core/pod/strategy.go`, `podStatusStrategy`: kubelets that do
not know a field leave it out, and it stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def pod_status_update(status: dict[str, Any], old: Mapping[str, Any]) -> None:
    """Changes the new status in place."""
    for field in ("qosClass", "observedGeneration"):
        if not status.get(field) and old.get(field):
            status[field] = old[field]
    before: dict[str, list[int]] = {}
    for condition in old.get("conditions") or ():
        seen = condition.get("observedGeneration") or 0
        before.setdefault(condition.get("type") or "", []).append(seen)
    for condition in status.get("conditions") or ():
        generations = before.get(condition.get("type") or "")
        generation = generations.pop(0) if generations else 0
        if generation and not condition.get("observedGeneration"):
            condition["observedGeneration"] = generation
