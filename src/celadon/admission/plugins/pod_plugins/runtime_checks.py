"""RuntimeClass: the class of a pod exists, and its overhead is the pod's.

As k8s.io/kubernetes `plugin/pkg/admission/runtimeclass`. What it fills in stands in the rules of
`celadon.kube.defaulting`; here is what it refuses.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.admission.plugins.plugin_answers import CREATE, PODS, Behaviour, forbidden
from celadon.admission.request import Request
from celadon.admission.world import World
from celadon.kube import JsonObject, StatusError
from celadon.kube.defaulting import RUNTIME_CLASSES
from celadon.kube.go import quote
from celadon.kube.quantities import same_amount

OTHER_OVERHEAD: Final = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
STRANGE_OVERHEAD: Final = (
    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
)


def _mutate(pod: dict[str, Any], request: Request, world: World) -> StatusError | None:
    spec = pod["spec"]
    name = spec.get("runtimeClassName")
    if not name:
        return None
    found = world.get(RUNTIME_CLASSES, "", name)
    if found is None:
        return _missing(request, name)
    fixed = _fixed(found)
    if fixed is not None and spec.get("overhead") and not _same(fixed, spec["overhead"]):
        return forbidden(request, OTHER_OVERHEAD)
    wanted = (found.get("scheduling") or {}).get("nodeSelector") or {}
    selector = spec.get("nodeSelector") or {}
    for key, value in sorted(wanted.items()):
        if selector.get(key, value) != value:
            return forbidden(
                request,
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}",
            )
    return None


def _validate(request: Request, world: World) -> StatusError | None:
    spec = (request.object or {}).get("spec") or {}
    name, overhead = spec.get("runtimeClassName"), spec.get("overhead")
    found = world.get(RUNTIME_CLASSES, "", name) if name else None
    if name and found is None:
        return _missing(request, name)
    fixed = None if found is None else _fixed(found)
    if fixed is None:
        return forbidden(request, STRANGE_OVERHEAD) if overhead else None
    return None if _same(fixed, overhead or {}) else forbidden(request, OTHER_OVERHEAD)


def _missing(request: Request, name: str) -> StatusError:
    return forbidden(request, f"pod rejected: RuntimeClass {quote(name)} not found")


def _fixed(runtime_class: JsonObject) -> JsonObject | None:
    """The overhead of every pod of a class; None if it says nothing of one."""
    overhead = runtime_class.get("overhead")
    return None if overhead is None else overhead.get("podFixed") or {}


def _same(a: JsonObject, b: JsonObject) -> bool:
    return a.keys() == b.keys() and all(same_amount(a[name], b[name]) for name in a)


RUNTIME_CLASS: Final = Behaviour(
    mutate=_mutate, validate=_validate, resources=PODS, operations=CREATE
)
