"""The controller of PodDisruptionBudgets.

As k8s.io/kubernetes `pkg/controller/disruption`. A change of a pod concerns the budgets that select
it, or selected it before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from celadon.apiserver.controllers.controller_loops import Change
from celadon.apiserver.handlers.pods import BUDGETS
from celadon.apiserver.simulation.deployments import DEPLOYMENTS
from celadon.apiserver.simulation.planned_controllers import STATEFUL_SETS, PlannedController
from celadon.apiserver.simulation.planning.disruption_budgets import Scale, budget_plan
from celadon.apiserver.simulation.planning.plans import Plan
from celadon.apiserver.simulation.planning.pod_facts import controller_of
from celadon.apiserver.simulation.replica_sets import REPLICA_SETS, REPLICATION_CONTROLLERS
from celadon.apiserver.simulation.workload_controller import item_of
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.selectors import SelectorError, label_selector
from celadon.kube.well_known_values import PODS

SCALED: Final = {
    "ReplicaSet": REPLICA_SETS,
    "Deployment": DEPLOYMENTS,
    "StatefulSet": STATEFUL_SETS,
    "ReplicationController": REPLICATION_CONTROLLERS,
}
"""The kinds that have a scale."""


class DisruptionBudgets(PlannedController):
    """Owners with a scale of their own kind, those of custom resources, are not found."""

    account = "disruption-controller"
    component = "controllermanager"
    workloads = BUDGETS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (PODS,)

    def concerned(self, change: Change) -> Iterable[str]:
        """The items to look at after a change."""
        if not change.key.startswith(self.around.view(PODS).prefix):
            return super().concerned(change)
        return self._selecting([one for one in (change.old, change.new) if one is not None])

    def _selecting(self, pods: Sequence[JsonObject]) -> Iterable[str]:
        for budget in self.view.in_namespace(metadata.namespace(pods[0])):
            if any(_selects(budget, one) for one in pods):
                yield item_of(budget)

    async def plan(self, workload: JsonObject) -> Plan:
        """What there is to do."""
        pods = self.around.view(PODS).in_namespace(metadata.namespace(workload))
        selected = [one for one in pods if _selects(workload, one)]
        owned = {controller_of(one).get("uid"): one for one in selected if controller_of(one)}
        scales = {uid: self._scale(one) for uid, one in owned.items()}
        now = self.around.now()
        return await self.decided(len(selected), budget_plan, workload, selected, scales, now)

    def _scale(self, pod: JsonObject) -> Scale | str:
        """Of the owner; in place of one that is not known, why."""
        reference, namespace = controller_of(pod), metadata.namespace(pod)
        kind = reference.get("kind") or ""
        if kind in {"DaemonSet", "Job"}:
            group = "apps" if kind == "DaemonSet" else "batch"
            return f"{kind.lower()}s.{group} does not implement the scale subresource"
        owner = self._owner(reference, namespace)
        above = {} if owner is None else controller_of(owner)
        if above.get("kind") == "Deployment":
            owner = self._owner(above, namespace)
        if owner is None:
            return f'found no controllers for pod "{metadata.name(pod)}"'
        wanted = (owner.get("spec") or {}).get("replicas")
        return Scale(metadata.uid(owner), 1 if wanted is None else wanted)

    def _owner(self, reference: JsonObject, namespace: str) -> JsonObject | None:
        gvr = SCALED.get(reference.get("kind") or "")
        if gvr is None:
            return None
        found = self.around.view(gvr).get(namespace, reference.get("name") or "")
        return found if metadata.uid(found) == reference.get("uid") else None


def _selects(budget: JsonObject, pod: JsonObject) -> bool:
    """A selector without conditions selects all pods, none at all none of them."""
    try:
        selector = label_selector((budget.get("spec") or {}).get("selector"))
    except SelectorError:
        return False
    return selector.matches(metadata.labels(pod))
