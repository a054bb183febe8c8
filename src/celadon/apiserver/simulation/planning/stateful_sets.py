"""StatefulSets: pods with numbers, made in order, each with claims of its own.

As k8s.io/kubernetes `pkg/controller/statefulset`. `maxUnavailable` is not looked at: its feature is
off by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from celadon.apiserver.simulation.planning import plans
from celadon.apiserver.simulation.planning import pod_predicates as facts
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
from celadon.records import dataclass, field

# --- Owners of claims --------------------------------------------------------
#
# Whose the claims of a StatefulSet's pods are: it follows from its retention policy.
#
# As k8s.io/kubernetes `pkg/controller/statefulset/stateful_set_utils.go`
# (`persistentVolumeClaimRetentionPolicy`).

_DELETE: Final = "Delete"


def _policy(stateful_set: JsonObject) -> tuple[bool, bool]:
    """Return whether claims are deleted with the set, and with a pod that is scaled down."""
    retention = facts.spec_of(stateful_set).get("persistentVolumeClaimRetentionPolicy") or {}
    return retention.get("whenDeleted") == _DELETE, retention.get("whenScaled") == _DELETE


def _owners(claim: JsonObject) -> list[JsonDict]:
    return list(metadata.metadata(claim).get("ownerReferences") or ())


def _names(reference: JsonObject, owner: JsonObject) -> bool:
    """Tell whether the reference names an owner of this kind and name, whatever its uid is."""
    fields = ("apiVersion", "kind")
    return reference.get("name") == metadata.name(owner) and all(
        reference.get(field) == owner.get(field) for field in fields
    )


def _is_stale_about(claim: JsonObject, owner: JsonObject) -> bool:
    owners = next((item for item in _owners(claim) if _names(item, owner)), None)
    return owners is not None and owners.get("uid") != metadata.uid(owner)


def is_stale(stateful_set: JsonObject, pod: JsonObject, claims: Iterable[JsonObject]) -> bool:
    """Tell whether a claim still belongs to the pod's predecessor, so that it will go with it."""
    _, when_scaled = _policy(stateful_set)
    return when_scaled and any(_is_stale_about(claim, pod) for claim in claims)


def wanted_owners(
    claim: JsonObject, stateful_set: JsonObject, pod: JsonObject, *, is_scaled_down: bool
) -> list[JsonDict] | None:
    """Return the owners that a claim should have; None if it is to stay as it is."""
    owners = (
        {"apiVersion": "apps/v1", "kind": "StatefulSet", **stateful_set},
        {"apiVersion": "v1", "kind": "Pod", **pod},
    )
    if any(_is_stale_about(claim, owner) for owner in owners):
        return None
    result = _owners(claim)
    others = [item for item in result if not any(_names(item, owner) for owner in owners)]
    when_deleted, when_scaled = _policy(stateful_set)
    if (when_deleted or when_scaled) and any(reference.get("controller") for reference in others):
        references = others
    elif when_scaled and is_scaled_down:
        references = [*others, workload_controllers.owner_reference(owners[1])]
    elif when_deleted:
        references = [*others, workload_controllers.owner_reference(owners[0])]
    else:
        references = others
    return None if result == references else references


REVISION_LABEL: Final = "controller.kubernetes.io/hash"
POD_NAME_LABEL: Final = "statefulset.kubernetes.io/pod-name"
_NUMBERED: Final = re.compile(r"(.*)-([0-9]+)\Z", re.DOTALL)
_MOST_AT_ONCE: Final = 500
"""Pods that are made in one round. Ours: upstream makes room for as many as are wanted, which may
be two billions."""


@dataclass(frozen=True, slots=True)
class StatefulWorld:
    """Holds what there is of the set in its namespace."""

    pods: Sequence[JsonObject]
    claims: Mapping[str, JsonObject]
    revisions: Sequence[JsonObject]
    members: Members = field(default_factory=lambda: Members())


def stateful_set_plan(stateful_set: JsonObject, world: StatefulWorld, now: datetime) -> plans.Plan:
    """Return the next steps of a StatefulSet."""
    return _Sync(stateful_set, world, now).plan()


def ordinal_of(pod: JsonObject, stateful_set: JsonObject) -> int:
    """Return the number in its name; -1 for a pod that is none of the set's."""
    match = _NUMBERED.fullmatch(metadata.name(pod))
    return int(match[2]) if match and match[1] == metadata.name(stateful_set) else -1


class _Blocked(Exception):
    """Says that nothing more can be done in this round."""


class _Member:
    """Holds what a look asks of one pod again and again; a set that rolls has a look for each step
    of each pod."""

    __slots__ = (
        "counts",
        "has_ended",
        "is_available",
        "is_going",
        "is_ready",
        "ordinal",
        "phase",
        "pod",
        "revision",
        "until",
    )

    def __init__(self, pod: JsonObject, ordinal: int, min_ready: int, now: datetime) -> None:
        self.pod = pod
        self.ordinal = ordinal
        self.phase = facts.phase(pod)
        self.has_ended = facts.has_ended(pod)
        self.is_going = facts.is_going(pod)
        self.until = facts.seconds_to_availability(pod, min_ready, now)
        self.is_ready = self.phase == "Running" and facts.is_ready(pod)
        self.is_available = self.until == 0.0
        self.revision = _revision_of(pod)
        self.counts = bool(self.phase) and not self.is_going

    @property
    def is_unavailable(self) -> bool:
        """Tell whether others have to wait for the pod."""
        return self.is_going or not self.is_available


class Members:
    """Remembers what the last look at a set has read of its pods: one that rolls has a look for
    each step of each pod, and then only what has changed is read again."""

    def __init__(self) -> None:
        self._members: dict[int, tuple[JsonObject, _Member | None]] = {}
        """By the identity of the pods, which are the same objects until they change."""
        self._min_ready = 0

    def of(
        self, stateful_set: JsonObject, pods: Iterable[JsonObject], now: datetime
    ) -> list[_Member]:
        """Return those of the pods that are the set's."""
        min_ready = facts.spec_of(stateful_set).get("minReadySeconds") or 0
        former = self._members if min_ready == self._min_ready else {}
        self._members, self._min_ready = {}, min_ready
        result = []
        for pod in pods:
            _, member = entry = former.get(id(pod)) or (
                pod,
                _member(pod, stateful_set, min_ready, now),
            )
            if member is not None:
                result.append(member)
            if member is None or not member.until:  # nothing of it depends on the time
                self._members[id(pod)] = entry
        return result


def _member(
    pod: JsonObject, stateful_set: JsonObject, min_ready: int, now: datetime
) -> _Member | None:
    if not facts.is_controlled_by(pod, stateful_set):
        return None
    ordinal = ordinal_of(pod, stateful_set)
    return _Member(pod, ordinal, min_ready, now) if ordinal >= 0 else None


class _Sync:
    """Takes one look at one StatefulSet."""

    def __init__(self, value: JsonObject, world: StatefulWorld, now: datetime) -> None:
        self.set = value
        self.spec = facts.spec_of(value)
        self.world = world
        self.now = now
        self.name = metadata.name(value)
        self.start = workload_controllers.first_ordinal(value)
        replicas = self.spec.get("replicas")
        self.replicas: int = 1 if replicas is None else replicas
        self.steps: list[plans.Step] = []
        self.pods = world.members.of(value, world.pods, now)
        self.in_order = self.spec.get("podManagementPolicy") != "Parallel"
        self.created = 0
        self.deleted_old = 0

    # --- revisions ---

    def _revisions(self) -> tuple[JsonObject, JsonObject, int]:
        """Return the revision that pods have had so far, the one that they are to get, and how many
        names of revisions were taken."""
        history, adoptions = claimed_revisions(self.set, self.world.revisions)
        self.steps += adoptions
        collisions: int = facts.status_of(self.set).get("collisionCount") or 0
        patch = template_patch(self.set)
        equal = [revision for revision in history if revision.get("data") == patch]
        following = number_of(history[-1]) + 1 if history else 1
        if equal and history[-1].get("data") == patch:
            update = history[-1]
        elif equal:
            update = {**equal[-1], "revision": following}
            self.steps.append(plans.Step(plans.Verb.UPDATE, update))
        else:
            update, collisions = self._made(patch, following, collisions)
        former = facts.status_of(self.set).get("currentRevision")
        current = next((item for item in history if metadata.name(item) == former), update)
        self.history = history
        return current, update, collisions

    def _made(self, patch: JsonObject, number: int, collisions: int) -> tuple[JsonObject, int]:
        revisions = {metadata.name(revision) for revision in self.world.revisions}
        while True:
            digest = patch_hash(patch, collisions)
            name = workload_controllers.revision_name(self.set, digest)
            if name not in revisions:
                break
            collisions += 1
        result = new_revision(self.set, name, {REVISION_LABEL: digest}, number)
        self.steps.append(plans.Step(plans.Verb.CREATE, result))
        return result, collisions

    # --- the order of things ---

    def plan(self) -> plans.Plan:
        current, update, collisions = self._revisions()
        self.current, self.update = metadata.name(current), metadata.name(update)
        current_set, update_set = with_template(self.set, current), with_template(self.set, update)
        by_ordinal = {pod.ordinal: pod for pod in self.pods}
        ordinals = range(self.start, self.start + self.replicas)
        condemned = [
            by_ordinal[number]
            for number in sorted(by_ordinal, reverse=True)
            if number not in ordinals
        ]
        if not facts.is_going(self.set):
            try:
                for ordinal in ordinals:
                    self._keep(by_ordinal.get(ordinal), ordinal, current_set, update_set)
                for member in condemned:
                    self._fix_claims(member)
                self._scale_down(
                    condemned, self._first_unavailable(by_ordinal, ordinals, condemned)
                )
                if (self.spec.get("updateStrategy") or {}).get("type") != "OnDelete":
                    self._roll([by_ordinal.get(number) for number in ordinals])
            except _Blocked:
                pass
        self._tell_status(collisions)
        live = {self.current, self.update, *(pod.revision for pod in self.pods)}
        limit = self.spec.get("revisionHistoryLimit")
        for old in beyond_limit(self.history, live, 10 if limit is None else limit):
            self.steps.append(plans.Step(plans.Verb.DELETE, old))
        waits = (pod.until for pod in self.pods if pod.until)
        return plans.Plan(tuple(self.steps), plans.sooner(*waits))

    def _first_unavailable(
        self,
        by_ordinal: Mapping[int, _Member],
        ordinals: Iterable[int],
        condemned: Sequence[_Member],
    ) -> _Member | None:
        for ordinal in ordinals:
            member = by_ordinal.get(ordinal)
            if member is None or member.is_unavailable:
                return member
        return next((item for item in reversed(condemned) if item.is_unavailable), None)

    # --- pods that are wanted ---

    def _keep(
        self, member: _Member | None, ordinal: int, current: JsonObject, update: JsonObject
    ) -> None:
        """Bring one pod to where it should be. Raises _Blocked when those that come after have to
        wait."""
        if member is None:
            self._create(ordinal, current, update)
        elif member.has_ended:
            if not member.is_going:
                self._delete(member)
            self._wait()
        else:
            if member.phase == "Pending":
                self._create_claims(metadata.name(member.pod), ordinal, "update")
                self._fix_claims(member)
            if member.is_unavailable or member.phase != "Running":
                self._wait()
            self._repair(member)

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
        self.created += 1
        if self.created == _MOST_AT_ONCE:
            raise _Blocked
        self._wait()

    def _create_claims(self, pod: str, ordinal: int, verb: str) -> None:
        for claim in workload_controllers.claims(self.set, ordinal):
            name = metadata.name(claim)
            result = self.world.claims.get(name)
            if result is not None:
                if facts.is_going(result):
                    raise _Blocked
                continue
            done = f"Create Claim {name} Pod {pod} in StatefulSet {self.name} success"
            failed = f"Create Claim {name} for Pod {pod} in StatefulSet {self.name} failed error: "
            self.steps.append(
                plans.Step(
                    plans.Verb.CREATE,
                    claim,
                    plans.ObjectEvent(plans.NORMAL, "SuccessfulCreate", done),
                    plans.ObjectEvent(plans.WARNING, "FailedCreate", failed),
                    may_exist=True,
                )
            )

    def _claims(self, ordinal: int) -> list[JsonObject]:
        """Return those claims of the pod with this ordinal that exist."""
        templates = self.spec.get("volumeClaimTemplates") or ()
        pod = f"{self.name}-{ordinal}"
        names = (workload_controllers.claim_name(template, pod) for template in templates)
        return [self.world.claims[name] for name in names if name in self.world.claims]

    def _fix_claims(self, member: _Member) -> bool:
        """Write the owners that the retention policy gives a pod's claims; return whether there was
        anything to write."""
        ordinal = member.ordinal
        is_scaled_down = not self.start <= ordinal < self.start + self.replicas
        changed = False
        for claim in self._claims(ordinal):
            owners = wanted_owners(claim, self.set, member.pod, is_scaled_down=is_scaled_down)
            if owners is not None:
                meta = {**metadata.metadata(claim), "ownerReferences": owners}
                self.steps.append(plans.Step(plans.Verb.UPDATE, {**claim, "metadata": meta}))
                changed = True
        return changed

    def _repair(self, member: _Member) -> None:
        """Give a pod back the label that it may have lost, and its claims their owners."""
        changed = self._fix_claims(member)
        pod = member.pod
        name = metadata.name(pod)
        if metadata.labels(pod).get(POD_NAME_LABEL) != name:
            labels = {**metadata.labels(pod), POD_NAME_LABEL: name}
            pod = {**pod, "metadata": {**metadata.metadata(pod), "labels": labels}}
            changed = True
        if changed:
            self.steps.append(self._pod_step(plans.Verb.UPDATE, pod, "update"))

    # --- pods that go ---

    def _scale_down(self, condemned: Sequence[_Member], first: _Member | None) -> None:
        for member in condemned:
            if member.is_going:
                self._wait()
                continue
            if member.is_unavailable and self.in_order and member is not first:
                raise _Blocked
            self._delete(member)
            self._wait()

    def _roll(self, members: Sequence[_Member | None]) -> None:
        """Roll on: the last pod that is not up to date goes, when all after it are available."""
        strategy = self.spec.get("updateStrategy") or {}
        least = (strategy.get("rollingUpdate") or {}).get("partition") or 0
        for member in reversed(members[least:]):
            if member is None:
                return
            if member.revision != self.update and not member.is_going:
                self._delete(member)
                self.deleted_old += 1
                return
            if member.is_unavailable:
                return

    def _delete(self, member: _Member) -> None:
        self.steps.append(self._pod_step(plans.Verb.DELETE, member.pod, "delete"))

    def _pod_step(self, verb: plans.Verb, pod: JsonObject, word: str) -> plans.Step:
        title = word.title()
        text = f"{title} Pod {metadata.name(pod)} in StatefulSet {self.name}"
        return plans.Step(
            verb,
            pod,
            plans.ObjectEvent(plans.NORMAL, f"Successful{title}", f"{text} successful"),
            plans.ObjectEvent(plans.WARNING, f"Failed{title}", f"{text} failed error: "),
        )

    # --- status ---

    def _tell_status(self, collisions: int) -> None:
        ready = sum(pod.is_ready for pod in self.pods)
        updated = self._with_revision(self.update)
        current, name = self._with_revision(self.current) - self.deleted_old, self.current
        replicas = sum(bool(pod.phase) for pod in self.pods)
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
        result: JsonDict = {
            "observedGeneration": metadata.generation(self.set),
            "replicas": replicas,
            **{key: value for key, value in counts.items() if value},
            "collisionCount": collisions,
            "availableReplicas": sum(
                pod.phase == "Running" and pod.is_available for pod in self.pods
            ),
        }
        if result != facts.status_of(self.set):
            self.steps.append(plans.Step(plans.Verb.STATUS, {**self.set, "status": result}))

    def _with_revision(self, name: str) -> int:
        return sum(pod.counts and pod.revision == name for pod in self.pods)


def _revision_of(pod: JsonObject) -> str:
    return metadata.labels(pod).get(workload_controllers.REVISION_HASH, "")
