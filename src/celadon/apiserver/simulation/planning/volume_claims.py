"""PersistentVolumeClaims and PersistentVolumes: bound to each other, made, let go.

As k8s.io/kubernetes `pkg/controller/volume/{persistentvolume,pvcprotection,pvprotection,
vacprotection}`, and as an external provisioner for every class that has one: it is there at once. A
claim is bound in several rounds, each of which does what comes next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from celadon.admission.plugins import attributes_classes
from celadon.apiserver.simulation.planning import plans
from celadon.apiserver.simulation.planning.pod_predicates import (
    is_going,
    node_of,
    spec_of,
    status_of,
)
from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.quantity import parse
from celadon.kube.selectors import conditions_of
from celadon.kube.well_known_values import DEFAULT_STORAGE_CLASS, STORAGE_CLASS
from celadon.records import dataclass

# Names of k8s.io/component-helpers `storage/volume/pv_helpers.go`.
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
"""The annotation by which a claim is told for which node its volume should be."""
BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
PROVISIONER: Final = (
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/storage-provisioner",
)
CLAIM_PROTECTION: Final = "kubernetes.io/pvc-protection"
VOLUME_PROTECTION: Final = "kubernetes.io/pv-protection"
CLASS_PROTECTION: Final = "kubernetes.io/vac-protection"
NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
_STORAGE: Final = "storage"


@dataclass(frozen=True, slots=True)
class VolumeWorld:
    """The volumes that the claim may have, all classes, and the pods of its namespace."""

    volumes: Sequence[JsonObject]
    classes: Sequence[JsonObject]
    pods: Sequence[JsonObject]


# --- Claims ------------------------------------------------------------------


def claim_plan(claim: JsonObject, world: VolumeWorld) -> plans.Plan:
    """Return the next steps of a claim."""
    if is_going(claim):
        return _unprotected(claim, world.pods)
    return plans.Plan(tuple(_Claim(claim, world).steps()))


def users_of(claim: JsonObject, pods: Iterable[JsonObject]) -> list[JsonObject]:
    """Return the pods that name the claim."""
    name = metadata.name(claim)
    return [
        pod
        for pod in pods
        if any(
            (volume.get("persistentVolumeClaim") or {}).get("claimName") == name
            for volume in spec_of(pod).get("volumes") or ()
        )
    ]


# As `pvc_protection_controller.go`: a claim stays as long as a pod may have its volume mounted.
def _unprotected(claim: JsonObject, pods: Iterable[JsonObject]) -> plans.Plan:
    """Let a claim that is being deleted go when no pod on a node names it."""
    is_protected = CLAIM_PROTECTION in metadata.finalizers(claim)
    if not is_protected or any(map(node_of, users_of(claim, pods))):
        return plans.NOTHING_TO_DO
    return plans.Plan((plans.Step(plans.Verb.UPDATE, _without(claim, CLAIM_PROTECTION)),))


def _without(obj: JsonObject, finalizer: str) -> JsonObject:
    finalizers = [text for text in metadata.finalizers(obj) if text != finalizer]
    return {**obj, "metadata": {**metadata.metadata(obj), "finalizers": finalizers}}


class _Claim:
    """Takes one look at one claim."""

    def __init__(self, claim: JsonObject, world: VolumeWorld) -> None:
        self.claim = claim
        self.spec = spec_of(claim)
        self.world = world
        self.annotations = metadata.annotations(claim)
        self.volumes = {metadata.name(volume): volume for volume in world.volumes}
        annotation = self.annotations.get(STORAGE_CLASS, self.spec.get("storageClassName"))
        self.class_name = annotation or ""
        self.has_class = annotation is not None
        self.kind = next((item for item in world.classes if self._is_own(item)), None)

    def _is_own(self, kind: JsonObject) -> bool:
        return metadata.name(kind) == self.class_name

    # As `syncClaim` of `pv_controller.go`.
    def steps(self) -> Iterable[plans.Step]:
        name = self.spec.get("volumeName")
        if BIND_COMPLETED in self.annotations:
            return self._bound(name)
        if not name:
            return self._unbound()
        volume = self.volumes.get(name)
        if volume is None:
            return self._phase("Pending")
        reference = spec_of(volume).get("claimRef")
        if reference is not None and not _refers_to(reference, self.claim):
            text = f'volume "{name}" already bound to a different claim.'
            return [self._told("FailedBinding", text, plans.WARNING), *self._phase("Pending")]
        problem = self._mismatch(volume) if reference is None else ""
        if problem:
            text = f'Cannot bind to requested volume "{name}": {problem}'
            return [self._told("VolumeMismatch", text, plans.WARNING), *self._phase("Pending")]
        return self._bind(volume)

    def _told(self, reason: str, text: str, kind: plans.EventType = plans.NORMAL) -> plans.Step:
        return plans.told(text, self.claim, reason, kind)

    # --- bound ---

    # As `syncBoundClaim`. A claim that has lost its volume is never bound again: whoever reads it
    # would take an empty volume for its data.
    def _bound(self, name: str | None) -> Iterable[plans.Step]:
        volume = self.volumes.get(name or "")
        if volume is None:
            subject = "its" if name else "reference to"
            text = f"Bound claim has lost {subject} PersistentVolume. Data on the volume is lost!"
            return self._phase("Lost", plans.ObjectEvent(plans.WARNING, "ClaimLost", text))
        reference = spec_of(volume).get("claimRef")
        if reference is None:
            return self._bind(volume)
        if reference.get("uid") != metadata.uid(self.claim):
            text = "Two claims are bound to the same volume, this one is bound incorrectly"
            return self._phase("Lost", plans.ObjectEvent(plans.WARNING, "ClaimMisbound", text))
        spec, state = spec_of(volume), status_of(self.claim)
        result = {
            **state,
            "phase": "Bound",
            "accessModes": spec.get("accessModes"),
            "capacity": state.get("capacity") or dict(spec.get("capacity") or {}),
        }
        return self._status(result)

    def _phase(self, phase: str, done: plans.ObjectEvent | None = None) -> Iterable[plans.Step]:
        """Set the phase of the claim, without what its status had of a volume."""
        result = {
            key: value
            for key, value in status_of(self.claim).items()
            if key not in {"accessModes", "capacity"}
        }
        return self._status({**result, "phase": phase}, done)

    def _status(
        self, claim_status: JsonObject, done: plans.ObjectEvent | None = None
    ) -> Iterable[plans.Step]:
        if claim_status == status_of(self.claim):
            return ()
        return (plans.Step(plans.Verb.STATUS, {**self.claim, "status": claim_status}, done),)

    # --- not bound yet ---

    # As `syncUnboundClaim`. A volume that an administrator has meant for this claim comes before
    # any other, however it is chosen.
    def _unbound(self) -> Iterable[plans.Step]:
        volumes = [volume for volume in self.world.volumes if self._is_meant(volume)]
        if volumes:
            return self._bind(volumes[0])
        waits = (self.kind or {}).get("volumeBindingMode") == "WaitForFirstConsumer"
        selected = SELECTED_NODE in self.annotations
        fitting = self._best() if not waits or selected else None
        if fitting is not None:
            return self._bind(fitting)
        # As `assignDefaultStorageClass`: claims that are older than the default class get it, too.
        if not self.has_class:
            default = next((item for item in self.world.classes if _is_default(item)), None)
            if default is not None:
                spec = {**self.spec, "storageClassName": metadata.name(default)}
                return (plans.Step(plans.Verb.UPDATE, {**self.claim, "spec": spec}),)
        if waits and not selected:
            return (self._waiting(),)
        if self.class_name:
            return self._provision()
        text = "no persistent volumes available for this claim and no storage class is set"
        return (self._told("FailedBinding", text),)

    def _is_meant(self, volume: JsonObject) -> bool:
        reference = spec_of(volume).get("claimRef")
        return reference is not None and _refers_to(reference, self.claim)

    def _waiting(self) -> plans.Step:
        pods = [item for item in users_of(self.claim, self.world.pods) if not node_of(item)]
        names = ",".join(map(metadata.name, pods))
        if not pods:
            text = "waiting for first consumer to be created before binding"
            return self._told("WaitForFirstConsumer", text)
        subject = "pod" if len(pods) == 1 else "pods"
        return self._told("WaitForPodScheduled", f"waiting for {subject} {names} to be scheduled")

    # As `FindMatchingVolume`: the smallest one wastes least.
    def _best(self) -> JsonObject | None:
        """Return the smallest of the volumes that would do."""
        selector = conditions_of(self.spec.get("selector") or {})
        fitting = [
            volume
            for volume in self.world.volumes
            if spec_of(volume).get("claimRef") is None and not is_going(volume)
            if not self._mismatch(volume) and selector.matches(metadata.labels(volume))
        ]
        return min(fitting, key=_size, default=None)

    def _mismatch(self, volume: JsonObject) -> str:
        """Return why the volume does not do for the claim, or an empty text if it does."""
        spec = spec_of(volume)
        requested = ((self.spec.get("resources") or {}).get("requests") or {}).get(_STORAGE, "0")
        if _size(volume) < parse(requested).as_decimal():
            return "requested PV is too small"
        if (spec.get("storageClassName") or "") != self.class_name:
            return "storageClassName does not match"
        if _mode(spec) != _mode(self.spec):
            return "incompatible volumeMode"
        if not set(self.spec.get("accessModes") or ()) <= set(spec.get("accessModes") or ()):
            return "incompatible accessMode"
        return ""

    # As `bind`. Both writes may be interrupted, so their order matters: a volume that names a claim
    # is taken, whoever looks at it next.
    def _bind(self, volume: JsonObject) -> Iterable[plans.Step]:
        """Bind: the volume names the claim first, then the claim the volume."""
        spec = spec_of(volume)
        claim_reference = reference_to(self.claim)
        present = spec.get("claimRef")
        if present is None or not present.get("uid"):
            # The annotation says that the reference may be undone together with the claim; one that
            # an administrator has written may not.
            note = {BOUND_BY_CONTROLLER: "yes"} if present is None else {}
            bound = {**volume, "spec": {**spec, "claimRef": claim_reference}}
            yield plans.Step(plans.Verb.UPDATE, _annotated(bound, note))
        notes = {BIND_COMPLETED: "yes"}
        if not self.spec.get("volumeName"):
            notes[BOUND_BY_CONTROLLER] = "yes"
        name = metadata.name(volume)
        claim = {**self.claim, "spec": {**self.spec, "volumeName": name}}
        yield plans.Step(plans.Verb.UPDATE, _annotated(claim, notes))

    # --- provisioning ---

    # As `provisionClaimOperationExternal`, and then as the external provisioner that it waits for.
    def _provision(self) -> Iterable[plans.Step]:
        kind = self.kind
        if kind is None:
            text = f'storageclass.storage.k8s.io "{self.class_name}" not found'
            return (self._told("ProvisioningFailed", text, plans.WARNING),)
        provisioner = kind.get("provisioner") or ""
        if provisioner == NO_PROVISIONER:
            return ()
        if any(self.annotations.get(item) != provisioner for item in PROVISIONER):
            notes = dict.fromkeys(PROVISIONER, provisioner)
            return (plans.Step(plans.Verb.UPDATE, _annotated(self.claim, notes)),)
        text = (
            f"Waiting for a volume to be created either by the external provisioner "
            f"'{provisioner}' or manually by the system administrator. If volume creation is "
            "delayed, please verify that the provisioner is running and correctly registered."
        )
        where = f"{metadata.namespace(self.claim)}/{metadata.name(self.claim)}"
        provisioning = f'External provisioner is provisioning volume for claim "{where}"'
        name = provisioned_name(self.claim)
        done = plans.ObjectEvent(
            plans.NORMAL, "ProvisioningSucceeded", f"Successfully provisioned volume {name}"
        )
        failed = f'failed to provision volume with StorageClass "{self.class_name}": '
        return (
            self._told("ExternalProvisioning", text),
            self._told("Provisioning", provisioning),
            plans.Step(
                plans.Verb.CREATE,
                self._volume(name, provisioner, kind),
                done,
                plans.ObjectEvent(plans.WARNING, "ProvisioningFailed", failed),
                may_exist=True,
            ),
        )

    # Kubelets here mount nothing, so it does not matter what the volume is made of.
    def _volume(self, name: str, provisioner: str, kind: JsonObject) -> JsonDict:
        requests = (self.spec.get("resources") or {}).get("requests") or {}
        spec: JsonDict = {
            "capacity": {_STORAGE: requests.get(_STORAGE, "0")},
            "accessModes": list(self.spec.get("accessModes") or ()),
            "claimRef": reference_to(self.claim),
            "persistentVolumeReclaimPolicy": kind.get("reclaimPolicy") or "Delete",
            "storageClassName": self.class_name,
            "volumeMode": _mode(self.spec),
            "hostPath": {"path": f"/volumes/{name}"},
        }
        if kind.get("mountOptions"):
            spec["mountOptions"] = list(kind["mountOptions"])
        meta = {"name": name, "annotations": {PROVISIONED_BY: provisioner}}
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": meta,
            "spec": spec,
        }


def provisioned_name(claim: JsonObject) -> str:
    """Return the name of the volume that is made for a claim."""
    return f"pvc-{metadata.uid(claim)}"


def reference_to(claim: JsonObject) -> dict[str, str]:
    """Return the `claimRef` by which a volume names its claim."""
    return {
        "kind": "PersistentVolumeClaim",
        "namespace": metadata.namespace(claim),
        "name": metadata.name(claim),
        "uid": metadata.uid(claim),
        "apiVersion": "v1",
        "resourceVersion": metadata.resource_version(claim),
    }


def _refers_to(reference: JsonObject, claim: JsonObject) -> bool:
    """Tell whether the reference is to this claim: by name, and by uid where it has one."""
    return (
        reference.get("namespace") == metadata.namespace(claim)
        and reference.get("name") == metadata.name(claim)
        and reference.get("uid") in (None, "", metadata.uid(claim))
    )


def _annotated(obj: JsonObject, notes: Mapping[str, str]) -> JsonObject:
    annotations = {**metadata.annotations(obj), **notes}
    return {**obj, "metadata": {**metadata.metadata(obj), "annotations": annotations}}


def _is_default(kind: JsonObject) -> bool:
    annotations = metadata.annotations(kind)
    return any(annotations.get(item) == "true" for item in DEFAULT_STORAGE_CLASS)


def _mode(spec: JsonObject) -> str:
    return spec.get("volumeMode") or "Filesystem"


def _size(volume: JsonObject) -> Any:  # noqa: ANN401 - a Decimal
    return parse((spec_of(volume).get("capacity") or {}).get(_STORAGE, "0")).as_decimal()


# --- Volumes -----------------------------------------------------------------


# As `syncVolume`, with the finalizer of `pv_protection_controller.go`.
def volume_plan(volume: JsonObject, claim: JsonObject | None) -> plans.Plan:
    """Return the next steps of a volume; `claim` is the one that it names, if that is there."""
    phase = status_of(volume).get("phase")
    if is_going(volume):
        if VOLUME_PROTECTION in metadata.finalizers(volume) and phase != "Bound":
            return plans.Plan((plans.Step(plans.Verb.UPDATE, _without(volume, VOLUME_PROTECTION)),))
        if claim is not None:
            return plans.NOTHING_TO_DO
    reference = spec_of(volume).get("claimRef")
    if reference is None or not reference.get("uid"):
        return _in_phase(volume, "Available")
    if claim is not None and metadata.uid(claim) == reference["uid"]:
        is_bound = spec_of(claim).get("volumeName") == metadata.name(volume)
        return _in_phase(volume, "Bound") if is_bound else plans.NOTHING_TO_DO
    # The claim is gone, or another one has its name: what is on the volume belongs to nobody.
    if phase != "Released":
        return _in_phase(volume, "Released")
    if spec_of(volume).get("persistentVolumeReclaimPolicy") != "Delete" or is_going(volume):
        return plans.NOTHING_TO_DO
    return plans.Plan((plans.Step(plans.Verb.DELETE, volume),))


def _in_phase(volume: JsonObject, phase: str) -> plans.Plan:
    state = status_of(volume)
    if state.get("phase") == phase:
        return plans.NOTHING_TO_DO
    return plans.Plan(
        (plans.Step(plans.Verb.STATUS, {**volume, "status": {**state, "phase": phase}}),)
    )


# --- VolumeAttributesClasses -------------------------------------------------


# As `processVAC`; the finalizer is there from the beginning, by StorageObjectInUseProtection.
def attributes_class_plan(
    attributes_class: JsonObject, claims_and_volumes: Iterable[JsonObject]
) -> plans.Plan:
    """Return the next step of a class: one that is being deleted goes when no claim and no volume
    has it."""
    is_protected = CLASS_PROTECTION in metadata.finalizers(attributes_class)
    if not is_going(attributes_class) or not is_protected:
        return plans.NOTHING_TO_DO
    name = metadata.name(attributes_class)
    if any(name in attributes_classes(obj) for obj in claims_and_volumes):
        return plans.NOTHING_TO_DO
    unprotected = _without(attributes_class, CLASS_PROTECTION)
    return plans.Plan((plans.Step(plans.Verb.UPDATE, unprotected),))
