"""The subresource `scale`: the Scale of an object, and the object with the count of a Scale.

As k8s.io/kubernetes `pkg/registry/apps/deployment/storage` (`scaleFromDeployment`), and for custom
resources k8s.io/apiextensions-apiserver `pkg/registry/customresource/etcd.go`.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any, Final

from celadon.kube import metadata, status
from celadon.kube.json_types import Json, JsonDict, JsonObject, fresh
from celadon.kube.resources.api_resources import SCALE, ScalePaths

BUILT_IN: Final = ScalePaths()
"""Where the counts of built-in kinds are."""

SHOWN_METADATA: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
"""What a Scale has of the metadata of its object."""


def scale_of(
    obj: JsonObject, paths: ScalePaths = BUILT_IN, no_count: int | None = None
) -> dict[str, object]:
    """Return the Scale of an object, as `shown_object`."""
    meta = metadata.metadata(obj)
    count = _value_at if paths is BUILT_IN else _custom_count
    replicas = count(obj, paths.spec_replicas)
    state: dict[str, object] = {"replicas": count(obj, paths.status_replicas) or 0}
    selector = (
        _custom_part(obj, paths.selector, "string") if paths.selector else _selector(obj, paths)
    )
    if selector:
        state["selector"] = selector
    if replicas is None and paths is not BUILT_IN:
        if no_count is None:
            count_path = "." + ".".join(paths.spec_replicas)
            raise status.internal_error(f'the spec replicas field "{count_path}" does not exist')
        replicas = no_count
    return {
        "kind": SCALE.kind,
        "apiVersion": SCALE.api_version,
        "metadata": {key: meta[key] for key in SHOWN_METADATA if key in meta},
        "spec": {"replicas": replicas} if replicas else {},
        "status": state,
    }


def _selector(obj: JsonObject, paths: ScalePaths) -> str:
    """Return the text of the selector by which a built-in kind finds its pods, in the order of its
    keys: `internalSelector` of k8s.io/apimachinery `pkg/labels/selector.go`."""
    if paths is not BUILT_IN:
        return ""
    selector = (obj.get("spec") or {}).get("selector") or {}
    if not isinstance(selector, dict):
        return ""
    is_map = all(isinstance(value, str) for value in selector.values())  # of older controllers
    labels = selector if is_map else selector.get("matchLabels") or {}
    parts = [(key, f"{key}={value}") for key, value in labels.items()]
    for requirement in () if is_map else selector.get("matchExpressions") or ():
        key = requirement.get("key", "")
        parts.append((key, _requirement_text(key, requirement)))
    return ",".join(text for _, text in sorted(parts, key=itemgetter(0)))


def _requirement_text(key: str, requirement: JsonObject) -> str:
    values = ",".join(sorted(requirement.get("values") or ()))
    match requirement.get("operator"):
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} notin ({values})"
        case "DoesNotExist":
            return f"!{key}"
    return key


def scaled(obj: JsonObject, scale: JsonObject, paths: ScalePaths = BUILT_IN) -> JsonDict:
    """Return the object with the count that its Scale asks for, and with the managers of its
    fields, which the Scale brings along (`kube.fieldmanager`)."""
    result: JsonDict = fresh(obj)
    managed = metadata.metadata(scale).get("managedFields")
    if managed:
        result["metadata"]["managedFields"] = managed
    *parents, last = paths.spec_replicas
    parent = result
    for name in parents:
        parent = parent.setdefault(name, {})
    replicas = (scale.get("spec") or {}).get("replicas", 0)
    if parent.get(last, None if paths is not BUILT_IN else 0) != replicas:
        parent[last] = replicas
        if metadata.generation(obj):
            result["metadata"]["generation"] = metadata.generation(obj) + 1
    return result


def _value_at(obj: JsonObject, names: tuple[str, ...]) -> Any:
    value: Json = obj
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _custom_count(obj: JsonObject, names: tuple[str, ...]) -> int | None:
    """Return a count in the 32 bits of a scale: of one that only a conversion webhook can have
    left, the lowest."""
    count = _custom_part(obj, names, "int64")
    return None if count is None else (count + 2**31) % 2**32 - 2**31


def _custom_part(obj: JsonObject, names: tuple[str, ...], expected: str) -> Any:
    """Return what stands at a place of a custom resource. StatusError (500) for another type, which
    only a conversion webhook or an earlier definition can have left there."""
    # late: most commands have no custom resources, and take long enough without
    from celadon.kube.crd.custom_kinds import scale_part

    part = scale_part(obj, names, expected)
    if part.trouble:
        raise status.plain_error(part.trouble)
    return part.value
