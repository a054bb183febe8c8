"""The controllers of PersistentVolumeClaims and PersistentVolumes, and a class for claims.

As k8s.io/kubernetes `pkg/controller/volume/persistentvolume`, with a provisioner for all classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from celadon.apiserver.controllers.controller_loops import Change
from celadon.apiserver.simulation.planned_controllers import PlannedController
from celadon.apiserver.simulation.planning.plans import NOTHING_TO_DO, Plan, Step, Verb
from celadon.apiserver.simulation.planning.volume_claims import (
    BIND_COMPLETED,
    VolumeWorld,
    claim_plan,
    provisioned_name,
    volume_plan,
)
from celadon.apiserver.simulation.workload_controller import item_of
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.defaulting import STORAGE_CLASSES
from celadon.kube.well_known_values import (
    DEFAULT_STORAGE_CLASS,
    NAMESPACES,
    PODS,
    VOLUME_CLAIMS,
    VOLUMES,
)

_SYSTEM: Final = "kube-system"


class VolumeClaims(PlannedController):
    """A change of a volume concerns the claim that it names; if it names none, and for a change of
    a class, all that are not bound; that of a pod those that it names."""

    account = "persistent-volume-binder"
    component = "persistentvolume-controller"
    workloads = VOLUME_CLAIMS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (VOLUMES, STORAGE_CLASSES, PODS)

    def concerned(self, change: Change) -> Iterable[str]:
        """The items to look at after a change."""
        if change.key.startswith(self.view.prefix):
            return super().concerned(change)
        changed = change.new or change.old
        if change.key.startswith(self.around.view(PODS).prefix):
            return _claims_of(changed)
        reference = ((changed or {}).get("spec") or {}).get("claimRef")
        if reference is not None:
            return (f"{reference.get('namespace')}/{reference.get('name')}",)
        return (
            item_of(one)
            for one in self.view.every()
            if not (one.get("spec") or {}).get("volumeName")
        )

    async def plan(self, workload: JsonObject) -> Plan:
        """What there is to do."""
        is_bound = BIND_COMPLETED in metadata.annotations(workload)
        is_settled = is_bound and not metadata.deletion_timestamp(workload)
        pods = self.around.view(PODS)
        world = VolumeWorld(
            self._volumes(workload),
            self.around.view(STORAGE_CLASSES).every(),
            () if is_settled else pods.in_namespace(metadata.namespace(workload)),
        )
        return claim_plan(workload, world)

    def _volumes(self, claim: JsonObject) -> Sequence[JsonObject]:
        """The one that it names, or that was made for it; else all."""
        view = self.around.view(VOLUMES)
        named = (claim.get("spec") or {}).get("volumeName")
        found = view.get("", named or provisioned_name(claim))
        if found is not None:
            return (found,)
        return () if named else view.every()


def _claims_of(pod: JsonObject | None) -> Iterable[str]:
    for one in ((pod or {}).get("spec") or {}).get("volumes") or ():
        name = (one.get("persistentVolumeClaim") or {}).get("claimName")
        if name:
            yield f"{metadata.namespace(pod)}/{name}"


class Volumes(PlannedController):
    """A change of a claim concerns the volume that names it."""

    account = "persistent-volume-binder"
    component = "persistentvolume-controller"
    workloads = VOLUMES
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (VOLUME_CLAIMS,)

    def concerned(self, change: Change) -> Iterable[str]:
        """The items to look at after a change."""
        if change.key.startswith(self.view.prefix):
            return super().concerned(change)
        changed = change.new or change.old
        name = ((changed or {}).get("spec") or {}).get("volumeName")
        return (f"/{name}",) if name else ()

    async def plan(self, workload: JsonObject) -> Plan:
        """What there is to do."""
        reference = (workload.get("spec") or {}).get("claimRef") or {}
        namespace, name = reference.get("namespace") or "", reference.get("name") or ""
        return volume_plan(workload, self.around.view(VOLUME_CLAIMS).get(namespace, name))


class DefaultClass(PlannedController):
    """A cluster without a class gets one when it begins, so that claims are bound that name none.
    There is one item: the namespace that every cluster has."""

    account = "persistent-volume-binder"
    workloads = NAMESPACES
    touched: ClassVar[tuple[GroupVersionResource, ...]] = (STORAGE_CLASSES,)
    _is_done = False

    def concerned(self, change: Change) -> Iterable[str]:
        """The items to look at after a change."""
        is_first = metadata.name(change.new) == _SYSTEM and not self._is_done
        return (f"/{_SYSTEM}",) if is_first else ()

    async def plan(self, workload: JsonObject) -> Plan:
        """What there is to do."""
        if self._is_done or self.around.view(STORAGE_CLASSES).every():
            return NOTHING_TO_DO
        self._is_done = True
        return Plan((Step(Verb.CREATE, STANDARD_CLASS, may_exist=True),))


STANDARD_CLASS: Final = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "standard", "annotations": {DEFAULT_STORAGE_CLASS[0]: "true"}},
    "provisioner": "volumes.simulation.celadon.dev",
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
}
"""Its volumes are there at once."""
