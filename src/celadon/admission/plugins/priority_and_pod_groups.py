"""Priority: a pod's number is that of its PriorityClass, and only one class is everybody's; and the
plugins about groups of pods, PodGroupWorkloadExists and JobValidation.

As k8s.io/kubernetes `plugin/pkg/admission/priority`. `celadon.kube.defaulting.plugin_defaults`
fills the number in; here is what is refused, and what an update keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.admission.cluster_lookups import World
from celadon.admission.plugins.plugin_interface import CREATE, PODS, Behaviour, forbidden
from celadon.admission.request import Operation, Request
from celadon.kube import (
    GroupResource,
    GroupVersionResource,
    JsonObject,
    StatusError,
    defaulting,
    metadata,
)
from celadon.kube.go import quote
from celadon.kube.json_types import JsonDict

PREEMPT: Final = "PreemptLowerPriority"
_KEPT: Final = ("priority", "preemptionPolicy")


def _priority_checks_mutate(pod: JsonDict, request: Request, world: World) -> StatusError | None:
    spec = pod["spec"]
    if request.operation is Operation.UPDATE:
        _keep(spec, (request.old_object or {}).get("spec") or {})
        return None
    priority_class = _priority_class(spec.get("priorityClassName"), request, world)
    if isinstance(priority_class, StatusError):
        return priority_class
    number = priority_class.get("value", 0)
    policy = priority_class.get("preemptionPolicy") or PREEMPT
    priority, preemption_policy = spec.get("priority"), spec.get("preemptionPolicy")
    if priority is not None and priority != number:
        return forbidden(
            request,
            f"the integer value of priority ({priority}) must not be provided in pod spec; "
            f"priority admission controller computed {number} from the given PriorityClass name",
        )
    if preemption_policy is not None and preemption_policy != policy:
        return forbidden(
            request,
            f"the string value of PreemptionPolicy ({preemption_policy}) must not be provided in "
            "pod spec; "
            f"priority admission controller computed {policy} from the given PriorityClass name",
        )
    return None


def _priority_class(
    name: str | None, request: Request, world: World
) -> Mapping[str, Any] | StatusError:
    """Return the PriorityClass of a name; of no name the default one, empty where there is none. An
    error if there is no class of the name."""
    if not name:
        return defaulting.default_priority_class(world) or {}
    if name in defaulting.SYSTEM_PRIORITIES:
        return {"value": defaulting.SYSTEM_PRIORITIES[name]}
    named = world.get(defaulting.PRIORITY_CLASSES, "", name)
    if named is None:
        return forbidden(request, f"no PriorityClass with name {name} was found")
    return named


def _keep(spec: JsonDict, old: JsonDict) -> None:
    """Keep the present ones where an update says nothing of them."""
    for field in _KEPT:
        if spec.get(field) is None and old.get(field) is not None:
            spec[field] = old[field]


def _priority_checks_validate(request: Request, world: World) -> StatusError | None:
    result = request.object
    if result is None or not result.get("globalDefault"):
        return None
    present = metadata.name(defaulting.default_priority_class(world))
    if not present:
        return None
    if request.operation is Operation.UPDATE and present == metadata.name(result):
        return None
    reason = f"PriorityClass {present} is already marked as default. Only one default can exist"
    return forbidden(request, reason)


PRIORITY: Final = Behaviour(mutate=_priority_checks_mutate, resources=PODS)
PRIORITY_CLASS: Final = Behaviour(
    validate=_priority_checks_validate,
    resources=frozenset({GroupResource("scheduling.k8s.io", "priorityclasses")}),
)


# --- Groups of pods ----------------------------------------------------------
#
# Pods that are scheduled together: the priority of a PodGroup, its Workload, and its Job.
#
# As k8s.io/kubernetes `plugin/pkg/admission/priority`, `podgroup` and `job`. There are no
# PodGroups without the gate GenericWorkload, and nobody looks at their priority without
# WorkloadAwarePreemption.

WORKLOADS: Final = GroupVersionResource("scheduling.k8s.io", "v1alpha2", "workloads")
POD_GROUPS: Final = GroupVersionResource("scheduling.k8s.io", "v1alpha2", "podgroups")
_GROUPS: Final = frozenset({POD_GROUPS.group_resource})
_JOBS: Final = frozenset({GroupResource("batch", "jobs")})


def _check_priority(group: JsonDict, request: Request, world: World) -> StatusError | None:
    spec = group.get("spec") or {}
    priority_class = _priority_class(spec.get("priorityClassName"), request, world)
    if isinstance(priority_class, StatusError):
        return priority_class
    priority, number = spec.get("priority"), priority_class.get("value", 0)
    if priority is None or priority == number:
        return None
    return forbidden(
        request,
        f"priority set in the pod group ({priority}) must match the priority computed ({number}) "
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
    if any(candidate.get("name") == template for candidate in templates):
        return None
    return forbidden(
        request,
        f"PodGroup rejected: PodGroupTemplate {quote(template)} not found in Workload "
        f"{quote(name)}",
    )


def _keep_parallelism(request: Request, world: World) -> StatusError | None:
    """Require that a Job whose pods are scheduled all or none has the number of pods that it was
    made with."""
    new, old = ((item or {}).get("spec") or {} for item in (request.object, request.old_object))
    if new.get("parallelism") == old.get("parallelism"):
        return None
    gang = next((group for group in _groups_of(request, old, world) if _is_gang(group)), None)
    if gang is None:
        return None
    reason = "cannot change parallelism for a Job referencing gang-scheduled PodGroup"
    return forbidden(request, f"{reason} {quote(metadata.name(gang))}")


def _groups_of(request: Request, spec: JsonObject, world: World) -> list[JsonObject]:
    pods = (spec.get("template") or {}).get("spec") or {}
    name = (pods.get("schedulingGroup") or {}).get("podGroupName")
    if name is not None:
        group = world.get(POD_GROUPS, request.namespace, name)
        return [] if group is None else [group]
    uid = ((request.old_object or {}).get("metadata") or {}).get("uid")
    return [
        pod_group
        for pod_group in world.list(POD_GROUPS, request.namespace)
        if _controller(pod_group) == uid
    ]


def _controller(group: JsonObject) -> str | None:
    owners = (group.get("metadata") or {}).get("ownerReferences") or ()
    return next((owner.get("uid") for owner in owners if owner.get("controller")), None)


def _is_gang(group: JsonObject) -> bool:
    policy = (group.get("spec") or {}).get("schedulingPolicy") or {}
    return policy.get("gang") is not None


GROUP_PRIORITY: Final = Behaviour(mutate=_check_priority, resources=_GROUPS, operations=CREATE)
GROUP_WORKLOAD: Final = Behaviour(validate=_find_workload, resources=_GROUPS, operations=CREATE)
JOB_PARALLELISM: Final = Behaviour(
    validate=_keep_parallelism, resources=_JOBS, operations=frozenset({Operation.UPDATE})
)
