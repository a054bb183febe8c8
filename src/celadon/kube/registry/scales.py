"""The `scale` of an object: made from it, and written back into it.

Built-in kinds keep their counts in `spec.replicas` and `status.replicas`, a custom kind where its
CustomResourceDefinition says. As k8s.io/kubernetes `pkg/registry/apps/*/storage/storage.go` and
k8s.io/apiextensions-apiserver `pkg/registry/customresource/etcd.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube import metadata, status
from celadon.kube.catalogue.resources import SCALE
from celadon.kube.catalogue.scale_paths import ScalePaths
from celadon.kube.json_copies import fresh

SHOWN_METADATA: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


BUILT_IN: Final = ScalePaths()


def scale_of(obj: Mapping[str, Any], paths: ScalePaths = BUILT_IN) -> dict[str, Any]:
    """The Scale of an object. 500 when a custom resource has no count to show."""
    given = metadata.metadata(obj)
    wanted = _at(obj, paths.wanted)
    if wanted is None and paths is not BUILT_IN:
        where = "." + ".".join(paths.wanted)
        raise status.internal_error(f'the spec replicas field "{where}" does not exist')
    state: dict[str, Any] = {"replicas": _at(obj, paths.counted) or 0}
    selector = _at(obj, paths.selector) if paths.selector else _selector(obj, paths)
    if selector:
        state["selector"] = selector
    return {
        "kind": SCALE.kind,
        "apiVersion": SCALE.api_version,
        "metadata": {key: given[key] for key in SHOWN_METADATA if key in given},
        "spec": {"replicas": wanted} if wanted else {},
        "status": state,
    }


def _selector(obj: Mapping[str, Any], paths: ScalePaths) -> str:
    """The text of the selector by which a built-in kind finds its pods."""
    if paths is not BUILT_IN:
        return ""
    given = (obj.get("spec") or {}).get("selector") or {}
    if not isinstance(given, dict):
        return ""
    labels = given if _is_plain(given) else given.get("matchLabels") or {}
    parts = [f"{key}={labels[key]}" for key in labels]
    for one in () if _is_plain(given) else given.get("matchExpressions") or ():
        parts.append(_requirement(one))
    return ",".join(sorted(parts))


def _is_plain(selector: Mapping[str, Any]) -> bool:
    """A map of labels, as replication controllers have."""
    return all(isinstance(value, str) for value in selector.values())


def _requirement(one: Mapping[str, Any]) -> str:
    key, operator = one.get("key", ""), one.get("operator", "")
    values = ",".join(sorted(one.get("values") or ()))
    match operator:
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} notin ({values})"
        case "DoesNotExist":
            return f"!{key}"
    return str(key)


def scaled(
    obj: Mapping[str, Any], scale: Mapping[str, Any], paths: ScalePaths = BUILT_IN
) -> dict[str, Any]:
    """The object with the count that its Scale asks for, and with the managers of its fields, which
    the Scale brings along (`kube.apply`)."""
    made: dict[str, Any] = fresh(obj)
    managed = metadata.metadata(scale).get("managedFields")
    if managed:
        made["metadata"]["managedFields"] = managed
    *parents, last = paths.wanted
    inner = made
    for name in parents:
        inner = inner.setdefault(name, {})
    wanted = (scale.get("spec") or {}).get("replicas", 0)
    if inner.get(last, None if paths is not BUILT_IN else 0) != wanted:
        inner[last] = wanted
        if metadata.generation(obj):
            made["metadata"]["generation"] = metadata.generation(obj) + 1
    return made


def _at(obj: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    found: Any = obj
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found
