"""Creates below pods that change the pod: bindings and evictions.

As k8s.io/kubernetes `pkg/registry/core/pod/storage/{storage,eviction}.go`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from celadon.admission import Operation, World
from celadon.apiserver.handlers.delete import Deleter
from celadon.apiserver.handlers.request_context import Call, note_sent, read_sent
from celadon.apiserver.handlers.write import FieldManagers, WriteResult
from celadon.apiserver.handlers.write_admission import Admission
from celadon.apiserver.loop_offloading import LARGE_BYTES
from celadon.apiserver.object_store import ObjectStore, StoredObject
from celadon.kube import (
    FieldPath,
    GroupResource,
    GroupVersionKind,
    GroupVersionResource,
    JsonObject,
    StatusError,
    User,
    fieldpath,
    metadata,
    status,
)
from celadon.kube.defaulting import TOPOLOGY_LABELS, DefaultingContext
from celadon.kube.json_types import JsonDict
from celadon.kube.protobuf import in_message_order
from celadon.kube.registry import create, delete, require_version
from celadon.kube.releases import is_since
from celadon.kube.resources import Resource
from celadon.kube.selectors import conditions_of
from celadon.kube.status import Status, StatusCause, StatusDetails
from celadon.kube.validation import NODES_STAY_NOMINATED
from celadon.kube.well_known_values import DISRUPTION_ALLOWED, PODS
from celadon.records import dataclass, replace

BUDGETS: Final = GroupVersionResource("policy", "v1", "poddisruptionbudgets")
BINDING: Final = GroupVersionKind("", "v1", "Binding")
EVICTION: Final = GroupVersionKind("policy", "v1", "Eviction")
_ANSWERED: Final = (BINDING.group_kind, EVICTION.group_kind)
_BINDINGS: Final = GroupResource("", "pods/binding")
_NO_BUDGET_PHASES: Final = frozenset({"Pending", "Succeeded", "Failed"})
_RETRY_SECONDS: Final = 10
_TOPOLOGY_GATE: Final = "PodTopologyLabelsAdmission"
_UNREADABLE: Final = "ignoreStoreReadErrorWithClusterBreakingPotential"
# Neither endpoint returns an object (`pkg/registry/core/pod/storage/{storage,eviction}.go`).
DONE: Final = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Success",
    "code": 201,
}


@dataclass(frozen=True, slots=True)
class PodOperations:
    """Carries out the operations that are made on pods. `now` gives the time as objects have it,
    `has_gate` tells whether a feature gate is on."""

    objects: ObjectStore
    world: World
    admission: Admission
    deleter: Deleter
    now: Callable[[], str]
    new_context: Callable[[User], DefaultingContext]
    managers: FieldManagers
    has_gate: Callable[[str], bool]

    def answers(self, call: Call) -> bool:
        """Return whether the endpoint is one of these."""
        return call.target.group_kind in _ANSWERED

    async def create(self, call: Call) -> WriteResult:
        """Create the object. Raises StatusError, Denied."""
        read = await self._read(call)
        if call.target.subresource and metadata.name(read) != call.target.name:
            kind = call.target.kind.kind
            raise status.bad_request(f"name in URL does not match name in {kind} object")
        if call.target.kind.kind == EVICTION.kind:
            return await self._evicted(call, read)
        return await self._bound(call, read)

    async def _read(self, call: Call) -> JsonObject:
        assert call.options is not None  # refused before the body is read
        context = self.new_context(call.user)
        read = await call.work.step(read_sent, call, context)
        call.notes.warnings += read.warnings
        # Clients of old releases evict through v1beta1 of the policy group, whatever the path says.
        if call.target.kind != EVICTION:  # the eviction of v1beta1 is still taken
            require_version(read, call.target)
        note_sent(call, read)
        self.managers.created(call, read)
        target = replace(call.target, name="")
        create.prepare_create(read.draft, target)
        draft = await self.admission.mutate(call, Operation.CREATE, read.draft)
        return create.finish_create(draft)

    def _pod(self, namespace: str, name: str) -> tuple[Resource, StoredObject]:
        resource = self.world.catalog.by_gvr(PODS)
        assert resource is not None, "a catalogue without pods"
        if not namespace:
            raise status.namespace_required()
        if not name:
            raise status.bad_request("Name parameter required.")
        stored = self.objects.get(resource, namespace, name)
        if stored is None:
            raise status.not_found(PODS.group_resource, name)
        return resource, stored

    # --- binding ---

    async def _bound(self, call: Call, binding: JsonObject) -> WriteResult:
        _require_node(binding.get("target") or {})
        await self.admission.admit(call, Operation.CREATE, binding, None)
        name, namespace = metadata.name(binding), call.target.namespace
        while True:
            resource, stored = self._pod(namespace, name)
            pod = self._assigned(stored.object, binding)
            if call.dry_run or await self._replaced(call, resource, stored, pod):
                return WriteResult(201, DONE)

    async def _replaced(
        self, call: Call, resource: Resource, stored: StoredObject, obj: JsonObject
    ) -> bool:
        """Return whether it could be stored in place of what was there."""
        namespace, name = metadata.namespace(obj), metadata.name(obj)
        call.work.is_large |= stored.size > LARGE_BYTES
        ordered = await call.work.step(in_message_order, obj)
        return bool(await self.objects.update(resource, namespace, name, ordered, stored.revision))

    # As `setPodNodeAndMetadata` of `storage.go`: the checks are made on the pod that is written
    # over, so that two schedulers cannot both assign it.
    def _assigned(self, pod: JsonObject, binding: JsonObject) -> JsonDict:
        name, spec = metadata.name(pod), pod["spec"]
        reason = ""
        if metadata.deletion_timestamp(pod):
            reason = f"pod {name} is being deleted, cannot be assigned to a host"
        elif spec.get("nodeName"):
            reason = f'pod {name} is already assigned to node "{spec["nodeName"]}"'
        elif spec.get("schedulingGates"):
            reason = f"pod {name} has non-empty .spec.schedulingGates"
        if reason:
            raise status.conflict(_BINDINGS, name, reason)
        meta: JsonDict = dict(pod["metadata"])
        labels = metadata.labels(binding)
        annotations = {**metadata.annotations(pod), **metadata.annotations(binding)}
        if annotations:
            meta["annotations"] = annotations
        topology = {key: labels[key] for key in TOPOLOGY_LABELS if key in labels}
        if topology and self.has_gate(_TOPOLOGY_GATE):
            meta["labels"] = {**metadata.labels(pod), **topology}
        bound = {**spec, "nodeName": binding["target"]["name"]}
        result = {**pod, "metadata": meta, "spec": bound}
        if self.has_gate(NODES_STAY_NOMINATED):
            state = pod.get("status") or {}
            result["status"] = {key: state[key] for key in state if key != "nominatedNodeName"}
        return self._with_condition(result, {"type": "PodScheduled", "status": "True"})

    def _with_condition(self, pod: JsonObject, condition: dict[str, str]) -> JsonDict:
        """Return a pod with a condition in place of the one of its type. The time of the
        transition stays if there was none."""
        state = pod.get("status") or {}
        present = state.get("conditions") or []
        former: JsonObject = next(
            (item for item in present if item["type"] == condition["type"]), {}
        )
        same = former.get("status") == condition["status"]
        since = former.get("lastTransitionTime") if same else None
        kind, value, *rest = condition.items()
        result = dict([kind, value, ("lastProbeTime", None)])
        result.update(lastTransitionTime=since or self.now(), **dict(rest))
        others = [item for item in present if item["type"] != condition["type"]]
        return {**pod, "status": {**state, "conditions": [*others, result]}}

    # --- eviction ---

    async def _evicted(self, call: Call, eviction: JsonObject) -> WriteResult:
        name, namespace = call.target.name, call.target.namespace
        _require_readable(eviction)
        sent = eviction.get("deleteOptions")
        eviction = _in_dry_run(eviction, [*call.options.dry_run])
        await self.admission.admit(call, Operation.CREATE, eviction, None)
        resource, stored = self._pod(namespace, name)
        # The deletion refuses what is wrong with its options, and comes last.
        refusal, options = _deletion_options(sent or {})
        dry_run = call.dry_run or bool(options.dry_run)
        if not _may_go_without_budget(stored.object):
            await self._spend(call, stored.object, namespace, dry_run=dry_run)
        if refusal is not None and dry_run:
            raise refusal
        # Whoever means another pod has spent the budget all the same.
        delete.require_deletable(
            options.preconditions, stored.object, replace(call.target, subresource="")
        )
        if not dry_run:
            await self._marked(call, resource, namespace, name)
        if refusal is not None:
            raise refusal
        if dry_run:
            return WriteResult(201, DONE)
        endpoint = replace(call.endpoint, subresource=None, verb="delete")
        unconditional = replace(options, preconditions=None)
        await self.deleter.evict(replace(call, endpoint=endpoint), unconditional)
        return WriteResult(201, DONE)

    async def _marked(self, call: Call, resource: Resource, namespace: str, name: str) -> None:
        """Mark the pod so that it says why it goes."""
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
        }
        while True:
            _, stored = self._pod(namespace, name)
            pod = self._with_condition(stored.object, condition)
            if pod["status"] == stored.object.get("status"):
                return
            if await self._replaced(call, resource, stored, pod):
                return

    async def _spend(self, call: Call, pod: JsonObject, namespace: str, *, dry_run: bool) -> None:
        """Take one disruption from the budget of the pod. Raises StatusError."""
        resource = self.world.catalog.by_gvr(BUDGETS)
        assert resource is not None, "a catalogue without budgets"
        while True:
            objects = [
                stored
                for stored in self.objects.page(resource, namespace).objects
                if _covers(stored.object, pod)
            ]
            if not objects:
                return
            if len(objects) > 1:
                raise status.plain_error(
                    "This pod has more than one PodDisruptionBudget, which the eviction "
                    "subresource does not support."
                )
            (stored,) = objects
            if _is_spared(pod, stored.object):
                return
            budget = self._spent(stored.object, metadata.name(pod))
            if dry_run or await self._replaced(call, resource, stored, budget):
                return

    def _spent(self, budget: JsonObject, pod: str) -> JsonDict:
        state = budget.get("status") or {}
        name = metadata.name(budget)
        # The status is about an older budget; the disruption controller has to catch up first.
        if (state.get("observedGeneration") or 0) < metadata.generation(budget):
            text = f"The disruption budget {name} is still being processed by the server."
            raise _over_budget(text, _RETRY_SECONDS)
        allowed = state.get("disruptionsAllowed") or 0
        if allowed <= 0:
            raise _over_budget(f"The disruption budget {name} {_why_not(state)}")
        # The controller counts these pods as gone until it sees that they are, so that a budget is
        # not spent twice.
        disrupted = {**(state.get("disruptedPods") or {}), pod: self.now()}
        spent = {**state, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}
        if allowed == 1:
            spent["conditions"] = self._with_none_left(state)
        return {**budget, "status": spent}

    def _with_none_left(self, state: JsonObject) -> list[JsonObject]:
        """Return the conditions of a budget whose last disruption was taken."""
        present: list[JsonObject] = list(state.get("conditions") or ())
        places = [i for i, item in enumerate(present) if item.get("type") == DISRUPTION_ALLOWED]
        former = present[places[0]] if places else {}
        stays = former.get("status") == "False"
        condition: JsonDict = {
            "type": DISRUPTION_ALLOWED,
            "status": "False",
            "observedGeneration": state.get("observedGeneration"),
            "lastTransitionTime": former.get("lastTransitionTime") if stays else self.now(),
            "reason": "InsufficientPods",
            "message": "",
        }
        place = places[0] if places else len(present)
        return [*present[:place], condition, *present[place + 1 :]]


def _why_not(state: JsonObject) -> str:
    """Return why a budget with this status allows no disruption. Since 1.35 conditions count."""
    needed, healthy = state.get("desiredHealthy") or 0, state.get("currentHealthy") or 0
    conditions: JsonObject = next(
        (
            condition
            for condition in state.get("conditions") or ()
            if condition.get("type") == DISRUPTION_ALLOWED and is_since("1.35")
        ),
        {},
    )
    message = (conditions.get("message") or "") if conditions.get("status") == "False" else ""
    if message and conditions.get("reason") == "SyncFailed":
        return f"does not allow evicting pods currently because it failed sync: {message}"
    if healthy <= needed or not is_since("1.35"):
        return f"needs {needed} healthy pods and has {healthy} currently"
    if message:
        return (
            f"does not allow evicting pods currently ({conditions.get('reason') or ''}): {message}"
        )
    return "does not allow evicting pods currently"


def _require_readable(eviction: JsonObject) -> None:
    """Require that somebody can read the pod. Raises StatusError (422) when it may go although
    nobody can."""
    value = (eviction.get("deleteOptions") or {}).get(_UNREADABLE)
    if value:
        path = FieldPath("deleteOptions").child(_UNREADABLE)
        reason = "can not be set for pod eviction, try after removing the option"
        raise status.invalid(
            EVICTION.group_kind, metadata.name(eviction), [fieldpath.invalid(path, value, reason)]
        )


def _deletion_options(sent: JsonObject) -> tuple[StatusError | None, delete.DeleteOptions]:
    """Return the options of a deletion, and why they are refused; then only those that count
    before it."""
    try:
        return None, delete.delete_options(sent, {})
    except StatusError as error:
        dry_run = tuple(sent.get("dryRun") or ())
        return error, delete.DeleteOptions(dry_run, preconditions=sent.get("preconditions"))


def _in_dry_run(eviction: JsonObject, requested: list[str]) -> JsonObject:
    """Return the eviction with the options of its request. StatusError 500 where they differ."""
    sent = eviction.get("deleteOptions")
    if sent is None or not requested:
        return eviction
    present = sent.get("dryRun") or requested
    if present != requested:
        parts = f"[{' '.join(requested)}] and [{' '.join(present)}]"
        raise status.plain_error(f"Non-matching dry-run options in request and content: {parts}")
    return {**eviction, "deleteOptions": {**sent, "dryRun": present}}


def _require_node(target: JsonObject) -> None:
    """Require a node. Raises StatusError 500: this validation is not said as a 422."""
    path = FieldPath("target")
    errors = []
    if target.get("kind") not in (None, "", "Node"):
        kinds = ("Node", "<empty>")
        errors.append(fieldpath.not_supported(path.child("kind"), target["kind"], kinds))
    if not target.get("name"):
        errors.append(fieldpath.required(path.child("name"), ""))
    if errors:
        texts = [str(error) for error in errors]
        raise status.plain_error(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")


# As `canIgnorePDB` of `eviction.go`: the pod serves nobody any more, or not yet.
def _may_go_without_budget(pod: JsonObject) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return phase in _NO_BUDGET_PHASES or bool(metadata.deletion_timestamp(pod))


def _covers(budget: JsonObject, pod: JsonObject) -> bool:
    return conditions_of(budget["spec"].get("selector")).matches(metadata.labels(pod))


# As `eviction.go` with `unhealthyPodEvictionPolicy`: a pod that serves nobody is no disruption, if
# enough others are healthy.
def _is_spared(pod: JsonObject, budget: JsonObject) -> bool:
    """Return whether a pod that is not ready may go without being counted."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    if any(
        condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions
    ):
        return False
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    state = budget.get("status") or {}
    desired = state.get("desiredHealthy") or 0
    return desired > 0 and (state.get("currentHealthy") or 0) >= desired


def _over_budget(reason: str, retry_after_seconds: int = 0) -> StatusError:
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    details = StatusDetails(
        causes=(StatusCause(reason, "DisruptionBudget"),), retry_after_seconds=retry_after_seconds
    )
    return StatusError(Status(message=message, reason="TooManyRequests", details=details, code=429))
