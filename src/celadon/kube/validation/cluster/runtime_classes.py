"""How containers are run: handlers, what they need besides, and where they are.

As k8s.io/kubernetes `pkg/apis/node/validation`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import Errors, dns_label, immutable
from celadon.kube.validation.label_rules import labels
from celadon.kube.validation.pods.resource_lists import requirements
from celadon.kube.validation.pods.scheduling import tolerations

_HANDLER: Final = FieldPath("handler")
_SCHEDULING: Final = FieldPath("scheduling")


def runtime_class(obj: JsonObject) -> Errors:
    """What is wrong with a RuntimeClass, besides its metadata."""
    yield from dns_label(_HANDLER, obj.get("handler") or "")
    overhead, scheduling = obj.get("overhead"), obj.get("scheduling")
    if overhead is not None:
        fixed = {"limits": overhead.get("podFixed") or {}}
        yield from requirements(FieldPath("overhead"), fixed, ())
    if scheduling is not None:
        yield from labels(_SCHEDULING.child("nodeSelector"), scheduling.get("nodeSelector"))
        yield from tolerations(_SCHEDULING, scheduling)


def runtime_class_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The handler stays."""
    yield from immutable(_HANDLER, obj.get("handler") or "", old.get("handler") or "")
