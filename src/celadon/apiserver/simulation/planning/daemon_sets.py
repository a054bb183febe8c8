"""DaemonSets: a pod on each node that takes it.

As k8s.io/kubernetes `pkg/controller/daemon`. Nodes are looked at in the order of their names. A
pod that has failed is deleted at once: there is no pause that grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from celadon.apiserver.simulation.planning import plans
from celadon.apiserver.simulation.planning import pod_predicates as facts
from celadon.apiserver.simulation.planning.node_filters import is_wanted_node, tolerates
from celadon.apiserver.simulation.planning.revisions import (
    claimed_revisions,
    new_revision,
    number_of,
    template_patch,
)
from celadon.kube import JsonObject, metadata, workload_controllers
from celadon.kube.json_types import JsonDict
from celadon.kube.well_known_values import REQUIRED_TERMS, TEMPLATE_GENERATION
from celadon.records import dataclass

BURST: Final = 250
"""Pods that are made, or deleted, at once (`BurstReplicas`)."""


@dataclass(frozen=True, slots=True)
class DaemonWorld:
    """Holds all nodes, and what there is in the namespace."""

    nodes: Sequence[JsonObject]
    pods: Sequence[JsonObject]
    revisions: Sequence[JsonObject]


def daemon_set_plan(daemon_set: JsonObject, world: DaemonWorld, now: datetime) -> plans.Plan:
    """Return the next steps of a DaemonSet."""
    if facts.is_going(daemon_set):
        return plans.NOTHING_TO_DO
    # Validation refuses that today; objects of old releases may have it.
    if not any((facts.spec_of(daemon_set).get("selector") or {}).values()):
        text = "This daemon set is selecting all pods. A non-empty selector is required."
        return plans.Plan((plans.told(text, daemon_set, "SelectingAll", plans.WARNING),))
    return _Sync(daemon_set, world, now).plan()


# As `GetTargetNodeName` of `pkg/controller/daemon/util`: a pod is made for one node by an affinity
# to its name, and the scheduler puts it there.
def target_node(pod: JsonObject) -> str:
    """Return the node that a pod is on, or is made for; empty if nothing says so."""
    if facts.node_of(pod):
        return facts.node_of(pod)
    affinity = (facts.spec_of(pod).get("affinity") or {}).get("nodeAffinity") or {}
    for term in (affinity.get(REQUIRED_TERMS) or {}).get("nodeSelectorTerms") or ():
        for match_field in term.get("matchFields") or ():
            if match_field.get("key") == "metadata.name" and match_field.get("operator") == "In":
                values: Sequence[str] = match_field.get("values") or ()
                return values[0] if len(values) == 1 else ""
    return ""


class _Sync:
    """Takes one look at one DaemonSet."""

    def __init__(self, value: JsonObject, world: DaemonWorld, now: datetime) -> None:
        self.set = value
        self.spec = facts.spec_of(value)
        self.world = world
        self.now = now
        self.min_ready: int = self.spec.get("minReadySeconds") or 0
        self.generation = metadata.annotations(value).get(TEMPLATE_GENERATION)
        self.pods = facts.controlled(world.pods, value)
        self.by_node = self._pods_by_node()
        self.fit = {metadata.name(node): self._fit(node) for node in world.nodes}
        self.wanted_nodes = [name for name, (run, _) in self.fit.items() if run]
        self.steps: list[plans.Step] = []
        self.collisions: int | None = facts.status_of(value).get("collisionCount")

    def _pods_by_node(self) -> dict[str, list[JsonObject]]:
        result: dict[str, list[JsonObject]] = {}
        for pod in sorted(self.pods, key=_age):
            if not (facts.has_ended(pod) and facts.is_going(pod)) and target_node(pod):
                result.setdefault(target_node(pod), []).append(pod)
        return result

    # As `NodeShouldRunDaemonPod`. A taint `NoSchedule` keeps new pods away and lets old ones stay;
    # `NoExecute` does neither.
    def _fit(self, node: JsonObject) -> tuple[bool, bool]:
        """Return whether a pod is to be made on the node, and whether one that is there already
        stays."""
        spec = dict((self.spec.get("template") or {}).get("spec") or {})
        workload_controllers.tolerate_node_problems(spec)
        named = spec.get("nodeName") or metadata.name(node)
        if named != metadata.name(node) or not is_wanted_node({"spec": spec}, node):
            return False, False
        tolerations = spec.get("tolerations") or ()
        effects = {
            taint.get("effect")
            for taint in facts.spec_of(node).get("taints") or ()
            if not tolerates(tolerations, taint)
        }
        return not effects & {"NoExecute", "NoSchedule"}, "NoExecute" not in effects

    # --- the order of things ---

    def plan(self) -> plans.Plan:
        self.hash, old = self._history()
        strategy = self.spec.get("updateStrategy") or {}
        limits = strategy.get("rollingUpdate") or {}
        rolls = strategy.get("type") == "RollingUpdate"
        total = len(self.wanted_nodes)
        self.max_surge = facts.scaled(limits.get("maxSurge"), total, round_up=True) if rolls else 0
        self.surges = rolls and facts.scaled(limits.get("maxSurge"), 1, round_up=True) > 0
        most = facts.scaled(limits.get("maxUnavailable"), total, round_up=True) if rolls else 0
        # Both may round down to nothing, and then no update would ever begin.
        if total and not most and not self.max_surge:
            most = 1
        self._manage()
        # Upstream returns there and waits for what it has asked for; pods that come and go would
        # else be counted twice.
        if rolls and not self.steps_for_pods():
            if self.max_surge:
                self._surge()
            else:
                self._replace(most)
        self._forget(old)
        self._tell_status()
        waits = (facts.seconds_to_availability(pod, self.min_ready, self.now) for pod in self.pods)
        return plans.Plan(tuple(self.steps), plans.sooner(*(wait for wait in waits if wait)))

    def steps_for_pods(self) -> bool:
        """Tell whether pods come or go already: then the update waits until they have."""
        return any(step.object.get("kind") == "Pod" for step in self.steps)

    # --- history ---

    # As `constructHistory` of `update.go`. A template that comes back is not a new revision; its
    # number rises, so that it is the latest one.
    def _history(self) -> tuple[str, list[JsonObject]]:
        """Return the hash of the template that is to be, and the revisions of others."""
        patch = template_patch(self.set)
        owned, adoptions = claimed_revisions(self.set, self.world.revisions)
        self.steps += adoptions
        current = [item for item in owned if item.get("data") == patch]
        old = [item for item in owned if item.get("data") != patch]
        following = max(map(number_of, old), default=0) + 1
        if not current:
            return self._snapshot(following), old
        result = max(current, key=number_of)
        digest = metadata.labels(result).get(workload_controllers.REVISION_HASH) or metadata.name(
            result
        )
        if number_of(result) < following:
            self.steps.append(plans.Step(plans.Verb.UPDATE, {**result, "revision": following}))
        return digest, old

    def _snapshot(self, number: int) -> str:
        """Create a revision of the template, and return its hash. Names that are taken count as
        collisions, which become part of the hash."""
        revisions = {metadata.name(revision) for revision in self.world.revisions}
        template = self.spec.get("template") or {}
        digest = workload_controllers.template_hash(template, self.collisions)
        while f"{metadata.name(self.set)}-{digest}" in revisions:
            self.collisions = (self.collisions or 0) + 1
            digest = workload_controllers.template_hash(template, self.collisions)
        name = f"{metadata.name(self.set)}-{digest}"
        result = new_revision(self.set, name, {workload_controllers.REVISION_HASH: digest}, number)
        self.steps.append(plans.Step(plans.Verb.CREATE, result))
        return digest

    def _forget(self, old: Sequence[JsonObject]) -> None:
        limit = self.spec.get("revisionHistoryLimit")
        surplus = len(old) - (10 if limit is None else limit)
        live = {metadata.labels(pod).get(workload_controllers.REVISION_HASH) for pod in self.pods}
        for item in sorted(old, key=number_of):
            if surplus <= 0:
                return
            if metadata.labels(item).get(workload_controllers.REVISION_HASH) not in live:
                self.steps.append(plans.Step(plans.Verb.DELETE, item))
                surplus -= 1

    # --- a pod on each node ---

    # As `manage` and `podsShouldBeOnNode`.
    def _manage(self) -> None:
        missing: list[str] = []
        surplus: list[JsonObject] = []
        for node, (run, stay) in self.fit.items():
            pods = self.by_node.get(node)
            if run and pods is None:
                missing.append(node)
            elif stay:
                result = [pod for pod in pods or () if self._is_kept(pod, node, surplus)]
                if self.surges and run and not result:
                    missing.append(node)
                surplus += self._excess(result)
            else:
                surplus += [pod for pod in pods or () if not facts.is_going(pod)]
        # Pods that wait for a node which is gone would wait for ever; those that ran there the
        # garbage collector of pods deletes.
        for node, pods in self.by_node.items():
            if node not in self.fit:
                surplus += [pod for pod in pods if not facts.node_of(pod)]
        self._sync_nodes(missing, surplus)

    def _is_kept(self, pod: JsonObject, node: str, surplus: list[JsonObject]) -> bool:
        """Tell whether the pod goes on running. One that has ended joins the surplus, and another
        one comes later."""
        if facts.is_going(pod):
            return False
        # The kubelet never starts such a pod again, so that it is replaced even if it has ended
        # well.
        if not facts.has_ended(pod):
            return True
        where = f"{metadata.namespace(pod)}/{metadata.name(pod)} on node {node}"
        if facts.phase(pod) == "Failed":
            text = f"Found failed daemon pod {where}, will try to kill it"
            self.steps.append(plans.told(text, self.set, "FailedDaemonPod", plans.WARNING))
        else:
            text = f"Found succeeded daemon pod {where}, will try to delete it"
            self.steps.append(plans.told(text, self.set, "SucceededDaemonPod", plans.NORMAL))
        surplus.append(pod)
        return False

    def _excess(self, running: Sequence[JsonObject]) -> list[JsonObject]:
        """Return all pods of a node but the oldest; with a surge, an old one may wait for a new one
        to be available."""
        if not self.surges or len(running) <= 1:
            return list(running[1:])
        new = [
            item
            for item in running
            if metadata.labels(item).get(workload_controllers.REVISION_HASH) == self.hash
        ]
        old = [
            item
            for item in running
            if metadata.labels(item).get(workload_controllers.REVISION_HASH) != self.hash
        ]
        excess = [*new[1:], *old[1:]]
        if new and old and (not facts.is_ready(old[0]) or self._is_available(new[0])):
            excess.append(old[0])
        return excess

    def _sync_nodes(self, missing: Iterable[str], surplus: Iterable[JsonObject]) -> None:
        for node in list(missing)[:BURST]:
            self.steps.append(
                plans.pod_created(workload_controllers.daemon_pod(self.set, node, self.hash))
            )
        for pod in list(surplus)[:BURST]:
            self.steps.append(plans.pod_deleted(pod))

    def _is_available(self, pod: JsonObject) -> bool:
        return facts.is_available(pod, self.min_ready, self.now)

    # --- updates ---

    def _is_updated(self, pod: JsonObject) -> bool:
        labels = metadata.labels(pod)
        if (
            self.generation
            and labels.get(workload_controllers.POD_TEMPLATE_GENERATION) == self.generation
        ):
            return True
        return labels.get(workload_controllers.REVISION_HASH) == self.hash

    def _pairs(self) -> Iterable[tuple[str, JsonObject | None, JsonObject | None, bool]]:
        """Yield each node with its new pod and its old one, and whether it has at most one of
        each."""
        nodes = [*self.by_node, *(text for text in self.wanted_nodes if text not in self.by_node)]
        for node in sorted(nodes):
            present = [item for item in self.by_node.get(node, ()) if not facts.is_going(item)]
            new = [item for item in present if self._is_updated(item)]
            old = [item for item in present if not self._is_updated(item)]
            yield (
                node,
                new[0] if new else None,
                old[0] if old else None,
                len(new) <= 1 and len(old) <= 1,
            )

    # As `rollingUpdate`. Pods that are not available go first: replacing them makes nothing worse.
    def _replace(self, most: int) -> None:
        """Old pods go as long as no more than `most` nodes are without an available one."""
        unavailable, unhealthy, candidates = 0, [], []
        for _, new, old, is_plain in self._pairs():
            # Nobody knows which of several pods counts, so the node counts as one without.
            if not is_plain or (new is None) == (old is None):
                unavailable += 1
            elif new is not None:
                unavailable += not self._is_available(new)
            elif old is not None and not self._is_available(old):
                unhealthy.append(old)
                unavailable += 1
            elif old is not None and unavailable < most:
                candidates.append(old)
        self._sync_nodes((), [*unhealthy, *candidates[: max(most - unavailable, 0)]])

    # The other half of `rollingUpdate`: here a new pod comes before the old one goes, so that nodes
    # are never without one.
    def _surge(self) -> None:
        """Let new pods come beside old ones, no more than `max_surge` at once."""
        surging = available = 0
        surplus: list[JsonObject] = []
        misplaced: list[JsonObject] = []
        allowed: list[str] = []
        candidates: list[str] = []
        for node, new, old, is_plain in self._pairs():
            if not is_plain:
                surging += 1
                continue
            counted = old or new
            available += counted is not None and self._is_available(counted)
            runs = self.fit.get(node, (False, False))[0]
            if old is None:
                continue
            if new is not None:
                if self._is_available(new):
                    surplus.append(old)
                else:
                    surging += 1
            elif not self._is_available(old):
                if runs:
                    allowed.append(node)
                else:
                    surplus.append(old)
            # The old pod is on a node that should have none any more. It may go as soon as enough
            # others are available.
            elif not runs:
                misplaced.append(old)
            elif surging < self.max_surge:
                candidates.append(node)
        surplus += misplaced[: max(available - len(self.wanted_nodes), 0)]
        room = max(self.max_surge - surging, 0)
        self._sync_nodes([*allowed, *candidates[:room]], surplus)

    # --- status ---

    # As `updateDaemonSetStatus`: the oldest pod of each node counts, the others are surplus.
    def _tell_status(self) -> None:
        scheduled = ready = available = updated = misscheduled = 0
        for node in self.fit:
            pods = self.by_node.get(node)
            if not pods:
                continue
            if node not in self.wanted_nodes:
                misscheduled += 1
                continue
            scheduled += 1
            ready += facts.is_ready(pods[0])
            available += self._is_available(pods[0])
            updated += self._is_updated(pods[0])
        desired = len(self.wanted_nodes)
        optional = {
            "updatedNumberScheduled": updated,
            "numberAvailable": available,
            "numberUnavailable": desired - available,
        }
        result: JsonDict = {
            "currentNumberScheduled": scheduled,
            "numberMisscheduled": misscheduled,
            "desiredNumberScheduled": desired,
            "numberReady": ready,
            "observedGeneration": metadata.generation(self.set),
            **{key: value for key, value in optional.items() if value},
        }
        former: JsonObject = facts.status_of(self.set)
        if self.collisions is not None:
            result["collisionCount"] = self.collisions
        if "conditions" in former:
            result["conditions"] = former["conditions"]
        if result != former:
            self.steps.append(plans.Step(plans.Verb.STATUS, {**self.set, "status": result}))


def _age(pod: JsonObject) -> tuple[bool, str, str]:
    """Return what pods are sorted by: those with a node come first, then older ones."""
    return not facts.node_of(pod), metadata.creation_timestamp(pod), metadata.name(pod)
