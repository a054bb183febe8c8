"""How containers are run: handlers, what they need besides, and where they are.

As k8s.io/kubernetes `pkg/apis/node/validation`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import Errors, items, required_name
from celadon.kube.validation.field_rules import changed_fields
from celadon.kube.validation.label_rules import labels
from celadon.kube.validation.pods.internal_pod_types import internal_value
from celadon.kube.validation.pods.resource_lists import requirements
from celadon.kube.validation.pods.scheduling import tolerations

_HANDLER: Final = FieldPath("handler")
_SCHEDULING: Final = FieldPath("scheduling")


def runtime_class(obj: JsonObject) -> Errors:
    """What is wrong with a RuntimeClass, besides its metadata."""
    yield from required_name(_HANDLER, obj.get("handler") or "", name_rules.dns1123_label)
    overhead, scheduling = obj.get("overhead"), obj.get("scheduling")
    if overhead is not None:
        fixed = {"limits": overhead.get("podFixed") or {}}
        yield from requirements(FieldPath("overhead"), fixed, ())
    if scheduling is not None:
        yield from labels(_SCHEDULING.child("nodeSelector"), scheduling.get("nodeSelector"))
        yield from tolerations(_SCHEDULING, scheduling)
        yield from _distinct(scheduling)


def _distinct(scheduling: JsonObject) -> Errors:
    """Tolerations differ in more than for how long they last."""
    seen: set[tuple[str, ...]] = set()
    for at, one in items(scheduling, "tolerations", _SCHEDULING):
        key = tuple(one.get(field) or "" for field in ("key", "operator", "value", "effect"))
        if key in seen:
            yield fieldpath.duplicate(at, internal_value(one, "core.v1.Toleration"))
        seen.add(key)


def runtime_class_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The handler stays; the rest must be what that of a new one must be."""
    yield from runtime_class(obj)
    yield from changed_fields("node.v1.RuntimeClass", obj, old, FieldPath())
