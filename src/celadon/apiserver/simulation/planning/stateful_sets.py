"""StatefulSets: pods with numbers, made in order, each with claims of its own.

As k8s.io/kubernetes `pkg/controller/statefulset`. `maxUnavailable` is not looked at: its feature is
off by default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from celadon.apiserver.simulation.planning import plans
from celadon.apiserver.simulation.planning import pod_facts as facts
from celadon.apiserver.simulation.planning.revisions import (
    beyond_limit,
    claimed_revisions,
    new_revision,
    number_of,
    patch_hash,
    template_patch,
    with_template,
)
from celadon.kube import JsonObject, metadata, workload_controllers
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass

# --- Owners of claims --------------------------------------------------------
#
# Whose the claims of a StatefulSet's pods are: it follows from its retention policy.
#
# As k8s.io/kubernetes `pkg/controller/statefulset/stateful_set_utils.go`
# (`persistentVolumeClaimRetentionPolicy`).

_DELETE: Final = "Delete"


def _policy(stateful_set: JsonObject) -> tuple[bool, bool]:
    """Return whether claims are deleted with the set, and with a pod that is scaled down."""
    found = facts.spec_of(stateful_set).get("persistentVolumeClaimRetentionPolicy") or {}
    return found.get("whenDeleted") == _DELETE, found.get("whenScaled") == _DELETE


def _owners(claim: JsonObject) -> list[JsonDict]:
    return list(metadata.metadata(claim).get("ownerReferences") or ())


def _names(reference: JsonObject, owner: JsonObject) -> bool:
    """Tell whether the reference names an owner of this kind and name, whatever its uid is."""
    fields = ("apiVersion", "kind")
    return reference.get("name") == metadata.name(owner) and all(
        reference.get(field) == owner.get(field) for field in fields
    )


def _is_stale_about(claim: JsonObject, owner: JsonObject) -> bool:
    found = next((one for one in _owners(claim) if _names(one, owner)), None)
    return found is not None and found.get("uid") != metadata.uid(owner)


def is_stale(stateful_set: JsonObject, pod: JsonObject, claims: Iterable[JsonObject]) -> bool:
    """Tell whether a claim still belongs to the pod's predecessor, so that it will go with it."""
    _, when_scaled = _policy(stateful_set)
    return when_scaled and any(_is_stale_about(one, pod) for one in claims)


def wanted_owners(
    claim: JsonObject, stateful_set: JsonObject, pod: JsonObject, *, is_scaled_down: bool
) -> list[JsonDict] | None:
    """The owners that a claim should have; None if it is to stay as it is."""
    owners = (
        {"apiVersion": "apps/v1", "kind": "StatefulSet", **stateful_set},
        {"apiVersion": "v1", "kind": "Pod", **pod},
    )
    if any(_is_stale_about(claim, one) for one in owners):
        return None
    found = _owners(claim)
    others = [one for one in found if not any(_names(one, owner) for owner in owners)]
    when_deleted, when_scaled = _policy(stateful_set)
    if (when_deleted or when_scaled) and any(one.get("controller") for one in others):
        wanted = others
    elif when_scaled and is_scaled_down:
        wanted = [*others, workload_controllers.owner_reference(owners[1])]
    elif when_deleted:
        wanted = [*others, workload_controllers.owner_reference(owners[0])]
    else:
        wanted = others
    return None if found == wanted else wanted


REVISION_LABEL: Final = "controller.kubernetes.io/hash"
POD_NAME_LABEL: Final = "statefulset.kubernetes.io/pod-name"
_NUMBERED: Final = re.compile(r"(.*)-([0-9]+)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StatefulWorld:
    """Holds what there is of the set in its namespace."""

    pods: Sequence[JsonObject]
    claims: Mapping[str, JsonObject]
    revisions: Sequence[JsonObject]


def stateful_set_plan(stateful_set: JsonObject, world: StatefulWorld, now: datetime) -> plans.Plan:
    """The next steps of a StatefulSet."""
    return _Sync(stateful_set, world, now).plan()


def ordinal_of(pod: JsonObject, stateful_set: JsonObject) -> int:
    """The number in its name; -1 for a pod that is none of the set's."""
    found = _NUMBERED.fullmatch(metadata.name(pod))
    return int(found[2]) if found and found[1] == metadata.name(stateful_set) else -1


class _Blocked(Exception):
    """Nothing more can be done in this round."""


class _Sync:
    """One look at one StatefulSet."""

    def __init__(self, given: JsonObject, world: StatefulWorld, now: datetime) -> None:
        self.set = given
        self.spec = facts.spec_of(given)
        self.world = world
        self.now = now
        self.name = metadata.name(given)
        self.start = workload_controllers.first_ordinal(given)
        wanted = self.spec.get("replicas")
        self.replicas: int = 1 if wanted is None else wanted
        self.min_ready: int = self.spec.get("minReadySeconds") or 0
        self.steps: list[plans.Step] = []
        owned = facts.controlled(world.pods, given)
        self.pods = [one for one in owned if ordinal_of(one, given) >= 0]
        self.in_order = self.spec.get("podManagementPolicy") != "Parallel"
        self.deleted_old = 0

    # --- revisions ---

    def _revisions(self) -> tuple[JsonObject, JsonObject, int]:
        """The one that pods have had so far, the one that they are to get, and how many names of
        revisions were taken."""
        history, adoptions = claimed_revisions(self.set, self.world.revisions)
        self.steps += adoptions
        collisions: int = facts.status_of(self.set).get("collisionCount") or 0
        patch = template_patch(self.set)
        equal = [one for one in history if one.get("data") == patch]
        following = number_of(history[-1]) + 1 if history else 1
        if equal and history[-1].get("data") == patch:
            update = history[-1]
        elif equal:
            update = {**equal[-1], "revision": following}
            self.steps.append(plans.Step(plans.Verb.UPDATE, update))
        else:
            update, collisions = self._made(patch, following, collisions)
        former = facts.status_of(self.set).get("currentRevision")
        current = next((one for one in history if metadata.name(one) == former), update)
        self.history = history
        return current, update, collisions

    def _made(self, patch: JsonObject, number: int, collisions: int) -> tuple[JsonObject, int]:
        taken = {metadata.name(one) for one in self.world.revisions}
        while True:
            digest = patch_hash(patch, collisions)
            name = workload_controllers.revision_name(self.set, digest)
            if name not in taken:
                break
            collisions += 1
        made = new_revision(self.set, name, {REVISION_LABEL: digest}, number)
        self.steps.append(plans.Step(plans.Verb.CREATE, made))
        return made, collisions

    # --- the order of things ---

    def plan(self) -> plans.Plan:
        current, update, collisions = self._revisions()
        self.current, self.update = metadata.name(current), metadata.name(update)
        current_set, update_set = with_template(self.set, current), with_template(self.set, update)
        by_ordinal = {ordinal_of(one, self.set): one for one in self.pods}
        wanted = range(self.start, self.start + self.replicas)
        condemned = [
            by_ordinal[one] for one in sorted(by_ordinal, reverse=True) if one not in wanted
        ]
        if not facts.is_going(self.set):
            try:
                for ordinal in wanted:
                    self._keep(by_ordinal.get(ordinal), ordinal, current_set, update_set)
                for pod in condemned:
                    self._fix_claims(pod)
                self._scale_down(condemned, self._first_unavailable(by_ordinal, wanted, condemned))
                if (self.spec.get("updateStrategy") or {}).get("type") != "OnDelete":
                    self._roll([by_ordinal.get(one) for one in wanted])
            except _Blocked:
                pass
        self._tell_status(collisions)
        live = {self.current, self.update, *map(_revision_of, self.pods)}
        limit = self.spec.get("revisionHistoryLimit")
        for one in beyond_limit(self.history, live, 10 if limit is None else limit):
            self.steps.append(plans.Step(plans.Verb.DELETE, one))
        waits = (facts.seconds_to_availability(one, self.min_ready, self.now) for one in self.pods)
        return plans.Plan(tuple(self.steps), plans.sooner(*(one for one in waits if one)))

    def _first_unavailable(
        self,
        by_ordinal: Mapping[int, JsonObject],
        wanted: Iterable[int],
        condemned: Sequence[JsonObject],
    ) -> JsonObject | None:
        for ordinal in wanted:
            found = by_ordinal.get(ordinal)
            if found is None or self._is_unavailable(found):
                return found
        return next((one for one in reversed(condemned) if self._is_unavailable(one)), None)

    def _is_unavailable(self, pod: JsonObject) -> bool:
        return facts.is_going(pod) or not facts.is_available(pod, self.min_ready, self.now)

    # --- pods that are wanted ---

    def _keep(
        self, pod: JsonObject | None, ordinal: int, current: JsonObject, update: JsonObject
    ) -> None:
        """Raises _Blocked when those that come after have to wait."""
        if pod is None:
            self._create(ordinal, current, update)
        elif facts.has_ended(pod):
            if not facts.is_going(pod):
                self._delete(pod)
            self._wait()
        else:
            if facts.phase(pod) == "Pending":
                self._create_claims(metadata.name(pod), ordinal, "update")
                self._fix_claims(pod)
            if self._is_unavailable(pod) or facts.phase(pod) != "Running":
                self._wait()
            self._repair(pod)

    def _wait(self) -> None:
        if self.in_order:
            raise _Blocked

    def _create(self, ordinal: int, current: JsonObject, update: JsonObject) -> None:
        strategy = self.spec.get("updateStrategy") or {}
        partition = (strategy.get("rollingUpdate") or {}).get("partition") or 0
        is_old = ordinal < self.start + partition
        source, revision = (current, self.current) if is_old else (update, self.update)
        pod = workload_controllers.stateful_pod(source, ordinal, revision)
        if is_stale(self.set, pod, self._claims(ordinal)):
            self._wait()
            return
        self._create_claims(metadata.name(pod), ordinal, "create")
        self.steps.append(self._pod_step(plans.Verb.CREATE, pod, "create"))
        self._wait()

    def _create_claims(self, pod: str, ordinal: int, verb: str) -> None:
        for claim in workload_controllers.claims(self.set, ordinal):
            name = metadata.name(claim)
            found = self.world.claims.get(name)
            if found is not None:
                if facts.is_going(found):
                    raise _Blocked
                continue
            done = f"Create Claim {name} Pod {pod} in StatefulSet {self.name} success"
            failed = f"Create Claim {name} for Pod {pod} in StatefulSet {self.name} failed error: "
            self.steps.append(
                plans.Step(
                    plans.Verb.CREATE,
                    claim,
                    plans.Told(plans.NORMAL, "SuccessfulCreate", done),
                    plans.Told(plans.WARNING, "FailedCreate", failed),
                    may_exist=True,
                )
            )

    def _claims(self, ordinal: int) -> list[JsonObject]:
        """Return those claims of the pod with this ordinal that exist."""
        pod = f"{self.name}-{ordinal}"
        names = (
            workload_controllers.claim_name(one, pod)
            for one in self.spec.get("volumeClaimTemplates") or ()
        )
        return [self.world.claims[one] for one in names if one in self.world.claims]

    def _fix_claims(self, pod: JsonObject) -> bool:
        """Write the owners that the retention policy gives a pod's claims; return whether there was
        anything to write."""
        ordinal = ordinal_of(pod, self.set)
        is_scaled_down = not self.start <= ordinal < self.start + self.replicas
        changed = False
        for claim in self._claims(ordinal):
            owners = wanted_owners(claim, self.set, pod, is_scaled_down=is_scaled_down)
            if owners is not None:
                meta = {**metadata.metadata(claim), "ownerReferences": owners}
                self.steps.append(plans.Step(plans.Verb.UPDATE, {**claim, "metadata": meta}))
                changed = True
        return changed

    def _repair(self, pod: JsonObject) -> None:
        """A pod may have lost its label."""
        changed = self._fix_claims(pod)
        name = metadata.name(pod)
        if metadata.labels(pod).get(POD_NAME_LABEL) != name:
            labels = {**metadata.labels(pod), POD_NAME_LABEL: name}
            pod = {**pod, "metadata": {**metadata.metadata(pod), "labels": labels}}
            changed = True
        if changed:
            self.steps.append(self._pod_step(plans.Verb.UPDATE, pod, "update"))

    # --- pods that go ---

    def _scale_down(self, condemned: Sequence[JsonObject], first: JsonObject | None) -> None:
        for pod in condemned:
            if facts.is_going(pod):
                self._wait()
                continue
            if self._is_unavailable(pod) and self.in_order and pod is not first:
                raise _Blocked
            self._delete(pod)
            self._wait()

    def _roll(self, pods: Sequence[JsonObject | None]) -> None:
        """The last pod that is not up to date goes, when all after it are available."""
        strategy = self.spec.get("updateStrategy") or {}
        least = (strategy.get("rollingUpdate") or {}).get("partition") or 0
        for pod in reversed(pods[least:]):
            if pod is None:
                return
            if _revision_of(pod) != self.update and not facts.is_going(pod):
                self._delete(pod)
                self.deleted_old += 1
                return
            if self._is_unavailable(pod):
                return

    def _delete(self, pod: JsonObject) -> None:
        self.steps.append(self._pod_step(plans.Verb.DELETE, pod, "delete"))

    def _pod_step(self, verb: plans.Verb, pod: JsonObject, word: str) -> plans.Step:
        title = word.title()
        text = f"{title} Pod {metadata.name(pod)} in StatefulSet {self.name}"
        return plans.Step(
            verb,
            pod,
            plans.Told(plans.NORMAL, f"Successful{title}", f"{text} successful"),
            plans.Told(plans.WARNING, f"Failed{title}", f"{text} failed error: "),
        )

    # --- status ---

    def _count(self, holds: Callable[[JsonObject], bool]) -> int:
        return sum(map(holds, self.pods))

    def _tell_status(self, collisions: int) -> None:
        ready = self._count(lambda one: facts.phase(one) == "Running" and facts.is_ready(one))
        updated = self._with_revision(self.update)
        current, name = self._with_revision(self.current) - self.deleted_old, self.current
        replicas = self._count(lambda one: bool(facts.phase(one)))
        rolls = (self.spec.get("updateStrategy") or {}).get("type") != "OnDelete"
        if rolls and updated == ready == replicas == self.replicas:
            current, name = updated, self.update
        counts = {
            "readyReplicas": ready,
            "currentReplicas": current,
            "updatedReplicas": updated,
            "currentRevision": name,
            "updateRevision": self.update,
        }
        made: JsonDict = {
            "observedGeneration": metadata.generation(self.set),
            "replicas": replicas,
            **{key: value for key, value in counts.items() if value},
            "collisionCount": collisions,
            "availableReplicas": self._count(
                lambda one: (
                    facts.phase(one) == "Running"
                    and facts.is_available(one, self.min_ready, self.now)
                )
            ),
        }
        if made != facts.status_of(self.set):
            self.steps.append(plans.Step(plans.Verb.STATUS, {**self.set, "status": made}))

    def _with_revision(self, name: str) -> int:
        return self._count(
            lambda one: (
                bool(facts.phase(one)) and not facts.is_going(one) and _revision_of(one) == name
            )
        )


def _revision_of(pod: JsonObject) -> str:
    return metadata.labels(pod).get(workload_controllers.REVISION_HASH, "")
