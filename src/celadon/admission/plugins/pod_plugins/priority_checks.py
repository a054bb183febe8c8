"""Priority: a pod's number is that of its class, and only one class is everybody's.

As k8s.io/kubernetes `plugin/pkg/admission/priority`. The rules of `celadon.kube.defaulting` fill
the number in; here is what is refused, and what an update keeps.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.admission.plugins.plugin_answers import PODS, Behaviour, forbidden
from celadon.admission.request import Operation, Request
from celadon.admission.world import World
from celadon.kube import GroupResource, StatusError, metadata
from celadon.kube.defaulting import PRIORITY_CLASSES, SYSTEM_PRIORITIES, default_priority_class

PREEMPT: Final = "PreemptLowerPriority"
_KEPT: Final = ("priority", "preemptionPolicy")


def _mutate(pod: dict[str, Any], request: Request, world: World) -> StatusError | None:
    spec = pod["spec"]
    if request.operation is Operation.UPDATE:
        _keep(spec, (request.old_object or {}).get("spec") or {})
        return None
    name = spec.get("priorityClassName")
    number, policy = SYSTEM_PRIORITIES.get(name, 0), PREEMPT
    if name not in SYSTEM_PRIORITIES:
        found = world.get(PRIORITY_CLASSES, "", name) if name else default_priority_class(world)
        if found is None and name:
            return forbidden(request, f"no PriorityClass with name {name} was found")
        if found is not None:
            number, policy = found.get("value", 0), found.get("preemptionPolicy") or PREEMPT
    given, wanted = spec.get("priority"), spec.get("preemptionPolicy")
    if given is not None and given != number:
        return forbidden(
            request,
            f"the integer value of priority ({given}) must not be provided in pod spec; priority "
            f"admission controller computed {number} from the given PriorityClass name",
        )
    if wanted is not None and wanted != policy:
        return forbidden(
            request,
            f"the string value of PreemptionPolicy ({wanted}) must not be provided in pod spec; "
            f"priority admission controller computed {policy} from the given PriorityClass name",
        )
    return None


def _keep(spec: dict[str, Any], old: dict[str, Any]) -> None:
    """An update that says nothing of them means the present ones."""
    for field in _KEPT:
        if spec.get(field) is None and old.get(field) is not None:
            spec[field] = old[field]


def _validate(request: Request, world: World) -> StatusError | None:
    made = request.object
    if made is None or not made.get("globalDefault"):
        return None
    present = metadata.name(default_priority_class(world))
    if not present:
        return None
    if request.operation is Operation.UPDATE and present == metadata.name(made):
        return None
    why = f"PriorityClass {present} is already marked as default. Only one default can exist"
    return forbidden(request, why)


PRIORITY: Final = Behaviour(mutate=_mutate, resources=PODS)
PRIORITY_CLASS: Final = Behaviour(
    validate=_validate,
    resources=frozenset({GroupResource("scheduling.k8s.io", "priorityclasses")}),
)
