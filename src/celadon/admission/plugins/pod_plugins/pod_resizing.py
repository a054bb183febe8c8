"""PodResizeValidator: a pod that is resized where it runs still fits its node.

As k8s.io/kubernetes `plugin/pkg/admission/podresize`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.admission.plugins.plugin_answers import PODS, Behaviour, forbidden
from celadon.admission.request import Operation, Request
from celadon.admission.world import World
from celadon.kube import JsonObject, StatusError, metadata
from celadon.kube.go import quote
from celadon.kube.quantities import Quantity, parse_amount, pod_needs
from celadon.kube.well_known_values import NODES

OS_LABEL: Final = "kubernetes.io/os"
_PARTS: Final = {"cpu": 1000, "memory": 1}
"""How many parts of a unit are counted when resources are compared and shown."""


def _validate(request: Request, world: World) -> StatusError | None:
    pod = request.object or {}
    name = (pod.get("spec") or {}).get("nodeName")
    if not name or metadata.generation(pod) == metadata.generation(request.old_object):
        return None
    node = world.get(NODES, "", name)
    if node is None:
        return forbidden(request, f"node {quote(name)} not found")
    missing = _missing(pod["spec"], node)
    if missing:
        text = "; ".join(missing)
        why = f"Node didn't have enough allocatable resources: {text}"
        return forbidden(request, why)
    system = metadata.labels(node).get(OS_LABEL, "")
    if system != "linux":
        return forbidden(
            request,
            f"pod resize is only supported on linux nodes, node {quote(name)} is {quote(system)}",
        )
    return None


def _missing(spec: Mapping[str, Any], node: JsonObject) -> list[str]:
    has = (node.get("status") or {}).get("allocatable") or {}
    needs = pod_needs(spec, "requests")
    found = []
    for name, factor in _PARTS.items():
        wanted = _units(needs[name], factor) if name in needs else 0
        there = _units(parse_amount(has[name]), factor) if name in has else 0
        if wanted > there:
            found.append(f"{name}, requested: {wanted}, allocatable: {there}")
    return found


def _units(amount: Quantity, factor: int) -> int:
    """Rounded up, as `MilliValue` and `Value` do."""
    return -int(-amount.as_decimal() * factor // 1)


POD_RESIZING: Final = Behaviour(
    validate=_validate,
    resources=PODS,
    subresources=frozenset({"resize"}),
    operations=frozenset({Operation.UPDATE}),
)
