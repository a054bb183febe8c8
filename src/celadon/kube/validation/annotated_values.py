"""What stands in annotations as JSON, which Go reads with its own decoder.

Kinds once had fields in annotations: tolerations of pods, taints of nodes, and what a node would
rather not run. They are read as `encoding/json` reads structs: names of members in any case, the
first value that does not fit is told, and what is not known is nothing. As k8s.io/kubernetes
`pkg/apis/core/helper` and k8s.io/component-helpers `scheduling/corev1`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from celadon.kube.errors import MalformedText
from celadon.kube.go.go_json import JsonSyntaxError, read_json
from celadon.kube.go.go_text import json_text
from celadon.kube.go.go_time import TimeError, canonical_time
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.schemas.typed_values import json_kind

TOLERATIONS: Final = "scheduler.alpha.kubernetes.io/tolerations"
TAINTS: Final = "scheduler.alpha.kubernetes.io/taints"
AVOIDED_PODS: Final = "scheduler.alpha.kubernetes.io/preferAvoidPods"


class AnnotationError(MalformedText):
    """Says in Go's words why an annotation is not what it should be."""


class _Struct(NamedTuple):
    """A Go type with its fields, by their names in JSON: the name of a scalar's type, `time`, or
    that of a struct in `_STRUCTS`, with `[]` before it for a list of them."""

    name: str
    fields: Mapping[str, str]


_STRUCTS: Final[Mapping[str, _Struct]] = MappingProxyType(
    {
        one.name: one
        for one in (
            _Struct(
                "core.Toleration",
                {
                    "key": "string",
                    "operator": "core.TolerationOperator",
                    "value": "string",
                    "effect": "core.TaintEffect",
                    "tolerationSeconds": "int64",
                },
            ),
            _Struct(
                "core.Taint",
                {
                    "key": "string",
                    "value": "string",
                    "effect": "core.TaintEffect",
                    "timeAdded": "time",
                },
            ),
            _Struct("v1.AvoidPods", {"preferAvoidPods": "[]v1.PreferAvoidPodsEntry"}),
            _Struct(
                "v1.PreferAvoidPodsEntry",
                {
                    "podSignature": "v1.PodSignature",
                    "evictionTime": "time",
                    "reason": "string",
                    "message": "string",
                },
            ),
            _Struct("v1.PodSignature", {"podController": "v1.OwnerReference"}),
            _Struct(
                "v1.OwnerReference",
                {
                    **dict.fromkeys(("apiVersion", "kind", "name"), "string"),
                    "uid": "types.UID",
                    **dict.fromkeys(("controller", "blockOwnerDeletion"), "bool"),
                },
            ),
        )
    }
)
_UNTAGGED: Final = "core."
"""Types whose fields have no names in JSON: messages call them as Go does."""
_INT64: Final = range(-(2**63), 2**63)
_WANTED: Final = MappingProxyType({"bool": bool, "int64": int})


def annotated_tolerations(notes: Mapping[str, str]) -> list[JsonObject]:
    """The tolerations in the annotations of a pod. Raises AnnotationError."""
    return _read(notes.get(TOLERATIONS), "[]core.Toleration") or []


def annotated_taints(notes: Mapping[str, str]) -> list[JsonObject]:
    """The taints in the annotations of a node. Raises AnnotationError."""
    return _read(notes.get(TAINTS), "[]core.Taint") or []


def avoided_pods(notes: Mapping[str, str]) -> list[JsonObject]:
    """Return what a node would rather not run. Raises AnnotationError."""
    found = _read(notes.get(AVOIDED_PODS), "v1.AvoidPods") or {}
    return found.get("preferAvoidPods") or []


def _read(text: str | None, kind: str) -> Any:  # noqa: ANN401 - any JSON
    if not text:
        return None
    try:
        value = read_json(text).value
    except JsonSyntaxError as error:
        raise AnnotationError(str(error)) from None
    return _fitted(value, kind, "Go value", ())


def _fitted(
    value: Any,  # noqa: ANN401 - any JSON
    kind: str,
    place: str,
    path: tuple[str, ...],
) -> Any:  # noqa: ANN401 - any JSON
    """A value as a Go type holds it; None for null. `path` leads there, in the words of Go."""
    if value is None:
        return None
    if kind == "time":
        return _time(_fitted(value, "string", place, path))
    if kind.startswith("[]") and isinstance(value, list):
        return [_fitted(one, kind[2:], place, path) or {} for one in value]
    struct = _STRUCTS.get(kind)
    if struct is not None and isinstance(value, dict):
        return _struct(value, struct, path)
    wanted = _WANTED.get(kind, str)
    is_scalar = struct is None and not kind.startswith("[]")
    if is_scalar and value.__class__ is wanted and (wanted is not int or value in _INT64):
        return value
    given = json_kind(value)
    if (given, kind) == ("number", "int64"):
        given = f"number {json_text(value)}"
    raise AnnotationError(f"json: cannot unmarshal {given} into {place} of type {kind}")


def _struct(value: JsonObject, struct: _Struct, path: tuple[str, ...]) -> JsonDict:
    names = {name.lower(): name for name in struct.fields}
    made: JsonDict = {}
    for key, one in value.items():
        name = key if key in struct.fields else names.get(key.lower())
        if name is not None:
            shown = name[0].upper() + name[1:] if struct.name.startswith(_UNTAGGED) else name
            at = (*path, shown)
            place = f"Go struct field {struct.name.partition('.')[2]}.{'.'.join(at)}"
            found = _fitted(one, struct.fields[name], place, at)
            if found is not None:
                made[name] = found
    return made


def _time(text: str) -> str:
    try:
        return canonical_time(text)
    except TimeError as error:
        raise AnnotationError(str(error)) from None
