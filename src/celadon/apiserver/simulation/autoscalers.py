"""The controller of HorizontalPodAutoscalers.

As k8s.io/kubernetes `pkg/controller/podautoscaler`, which looks at all of them every 15 seconds.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from celadon.apiserver.simulation.disruption import SCALED
from celadon.apiserver.simulation.planned_controllers import PlannedController
from celadon.apiserver.simulation.planning.autoscaling import (
    Recommendation,
    Target,
    autoscaler_plan,
)
from celadon.apiserver.simulation.planning.plans import Plan
from celadon.apiserver.simulation.surroundings import Surroundings
from celadon.kube import GroupVersionResource, JsonObject, metadata

AUTOSCALERS: Final = GroupVersionResource("autoscaling", "v2", "horizontalpodautoscalers")
_REMEMBERED: Final = 256
"""Recommendations of one autoscaler: of more than an hour."""


class Autoscalers(PlannedController):
    """Scales what is built in; other kinds have no scale here."""

    account = component = "horizontal-pod-autoscaler"
    workloads = AUTOSCALERS
    touched = tuple(SCALED.values())

    def __init__(self, around: Surroundings) -> None:
        super().__init__(around)
        self._recent: dict[str, deque[Recommendation]] = {}

    async def plan(self, workload: JsonObject) -> Plan:
        """What there is to do."""
        uid, now = metadata.uid(workload), self.around.now()
        recent = self._recent.setdefault(uid, deque(maxlen=_REMEMBERED))
        scaling = autoscaler_plan(workload, self._target(workload), recent, now)
        if scaling.recommended is not None:
            recent.append(Recommendation(now, scaling.recommended))
        return scaling.plan

    def _target(self, autoscaler: JsonObject) -> Target | str:
        reference = (autoscaler.get("spec") or {}).get("scaleTargetRef") or {}
        kind, name = reference.get("kind") or "", reference.get("name") or ""
        gvr = SCALED.get(kind)
        if gvr is None:
            version = reference.get("apiVersion") or "v1"
            return f'no matches for kind "{kind}" in group "{version.rpartition("/")[0]}"'
        found = self.around.view(gvr).get(metadata.namespace(autoscaler), name)
        if found is None:
            group = f".{gvr.group}" if gvr.group else ""
            return f'{gvr.resource}{group} "{name}" not found'
        spec = found.get("spec") or {}
        wanted = spec.get("replicas")
        return Target(found, 1 if wanted is None else wanted, bool(spec.get("selector")))
