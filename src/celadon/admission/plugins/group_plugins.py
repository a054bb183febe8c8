"""Pods that are scheduled together: the priority of a PodGroup, its Workload, and its Job.

As k8s.io/kubernetes `plugin/pkg/admission/priority`, `podgroup` and `job`. There are no PodGroups
without the gate GenericWorkload, and nobody looks at their priority without
WorkloadAwarePreemption.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.admission.plugins.plugin_answers import CREATE, Behaviour, forbidden
from celadon.admission.request import Operation, Request
from celadon.admission.world import World
from celadon.kube import GroupResource, GroupVersionResource, JsonObject, StatusError, metadata
from celadon.kube.defaulting import PRIORITY_CLASSES, SYSTEM_PRIORITIES, default_priority_class
from celadon.kube.go import quote

WORKLOADS: Final = GroupVersionResource("scheduling.k8s.io", "v1alpha2", "workloads")
POD_GROUPS: Final = GroupVersionResource("scheduling.k8s.io", "v1alpha2", "podgroups")
_GROUPS: Final = frozenset({POD_GROUPS.group_resource})
_JOBS: Final = frozenset({GroupResource("batch", "jobs")})


def _check_priority(group: dict[str, Any], request: Request, world: World) -> StatusError | None:
    spec = group.get("spec") or {}
    name, given = spec.get("priorityClassName") or "", spec.get("priority")
    number = SYSTEM_PRIORITIES.get(name, 0)
    if name not in SYSTEM_PRIORITIES:
        found = world.get(PRIORITY_CLASSES, "", name) if name else default_priority_class(world)
        if found is None and name:
            return forbidden(request, f"no PriorityClass with name {name} was found")
        number = 0 if found is None else found.get("value", 0)
    if given is None or given == number:
        return None
    return forbidden(
        request,
        f"priority set in the pod group ({given}) must match the priority computed ({number}) "
        "based on the priority class set in the spec",
    )


def _find_workload(request: Request, world: World) -> StatusError | None:
    spec = (request.object or {}).get("spec") or {}
    reference = (spec.get("podGroupTemplateRef") or {}).get("workload")
    if reference is None:
        return None
    name, template = reference.get("workloadName", ""), reference.get("podGroupTemplateName", "")
    workload = world.get(WORKLOADS, request.namespace, name)
    if workload is None:
        return forbidden(request, f"PodGroup rejected: Workload {quote(name)} not found")
    if (workload.get("metadata") or {}).get("deletionTimestamp"):
        return forbidden(request, f"PodGroup rejected: Workload {quote(name)} is being deleted")
    templates = (workload.get("spec") or {}).get("podGroupTemplates") or ()
    if any(one.get("name") == template for one in templates):
        return None
    return forbidden(
        request,
        f"PodGroup rejected: PodGroupTemplate {quote(template)} not found in Workload "
        f"{quote(name)}",
    )


def _keep_parallelism(request: Request, world: World) -> StatusError | None:
    """A Job whose pods are scheduled all or none has the number of pods that it was made with."""
    new, old = ((one or {}).get("spec") or {} for one in (request.object, request.old_object))
    if new.get("parallelism") == old.get("parallelism"):
        return None
    gang = next((one for one in _groups_of(request, old, world) if _is_gang(one)), None)
    if gang is None:
        return None
    why = "cannot change parallelism for a Job referencing gang-scheduled PodGroup"
    return forbidden(request, f"{why} {quote(metadata.name(gang))}")


def _groups_of(request: Request, spec: JsonObject, world: World) -> list[JsonObject]:
    pods = (spec.get("template") or {}).get("spec") or {}
    name = (pods.get("schedulingGroup") or {}).get("podGroupName")
    if name is not None:
        group = world.get(POD_GROUPS, request.namespace, name)
        return [] if group is None else [group]
    uid = ((request.old_object or {}).get("metadata") or {}).get("uid")
    return [one for one in world.list(POD_GROUPS, request.namespace) if _controller(one) == uid]


def _controller(group: JsonObject) -> str | None:
    owners = (group.get("metadata") or {}).get("ownerReferences") or ()
    return next((one.get("uid") for one in owners if one.get("controller")), None)


def _is_gang(group: JsonObject) -> bool:
    policy = (group.get("spec") or {}).get("schedulingPolicy") or {}
    return policy.get("gang") is not None


GROUP_PRIORITY: Final = Behaviour(mutate=_check_priority, resources=_GROUPS, operations=CREATE)
GROUP_WORKLOAD: Final = Behaviour(validate=_find_workload, resources=_GROUPS, operations=CREATE)
JOB_PARALLELISM: Final = Behaviour(
    validate=_keep_parallelism, resources=_JOBS, operations=frozenset({Operation.UPDATE})
)
