"""Validation of RuntimeClasses: how containers are run, what they need besides, and where.

As k8s.io/kubernetes `pkg/apis/node/validation`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import is_since
from celadon.kube.validation.field_checks import (
    Errors,
    changed_fields,
    dns_label,
    items,
    required_name,
)
from celadon.kube.validation.pods.internal_types import internal_value
from celadon.kube.validation.pods.pod_placement import tolerations
from celadon.kube.validation.pods.resource_lists import requirements
from celadon.kube.validation.text_rules import labels

_HANDLER: Final = FieldPath("handler")
_SCHEDULING: Final = FieldPath("scheduling")


def runtime_class(obj: JsonObject) -> Errors:
    """Yield what is wrong with a RuntimeClass, besides its metadata."""
    # As `ValidateRuntimeClass` of `pkg/apis/node/validation`.
    handler = obj.get("handler") or ""
    if handler or is_since("1.36"):
        yield from required_name(_HANDLER, handler, name_rules.dns1123_label)
    else:
        yield from dns_label(_HANDLER, handler)
    overhead, scheduling = obj.get("overhead"), obj.get("scheduling")
    if overhead is not None:
        fixed = {"limits": overhead.get("podFixed") or {}}
        yield from requirements(FieldPath("overhead"), fixed, ())
    if scheduling is not None:
        yield from labels(_SCHEDULING.child("nodeSelector"), scheduling.get("nodeSelector"))
        # Before 1.35, upstream named the field twice.
        path = _SCHEDULING if is_since("1.35") else _SCHEDULING.child("tolerations")
        yield from tolerations(path, scheduling)
        yield from _distinct(scheduling)


def _distinct(scheduling: JsonObject) -> Errors:
    """Tolerations differ in more than for how long they last."""
    seen: set[tuple[str, ...]] = set()
    for path, toleration in items(scheduling, "tolerations", _SCHEDULING):
        key = tuple(toleration.get(field) or "" for field in ("key", "operator", "value", "effect"))
        if key in seen:
            go_value = GoValue(internal_value(toleration, "core.v1.Toleration"), "core.Toleration")
            yield fieldpath.duplicate(path, go_value)
        seen.add(key)


def runtime_class_changes(obj: JsonObject, old: JsonObject) -> Errors:
    """Validate an update of a RuntimeClass: the handler stays."""
    # As `ValidateRuntimeClassUpdate` of `pkg/apis/node/validation`.
    yield from changed_fields("node.v1.RuntimeClass", obj, old, FieldPath())
