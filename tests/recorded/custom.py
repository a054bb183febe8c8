"""Custom resources in the small server: what their structural schema prunes and defaults."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from celadon.kube import GroupVersionKind

Json = Any
Schemas = Mapping[GroupVersionKind, Mapping[str, Any]]


def schemas_of(crd: Mapping[str, Any]) -> dict[GroupVersionKind, Mapping[str, Any]]:
    spec = crd["spec"]
    return {
        GroupVersionKind(spec["group"], version["name"], spec["names"]["kind"]): (
            version.get("schema") or {}
        ).get("openAPIV3Schema", {})
        for version in spec["versions"]
    }


def pruned(obj: dict[str, Any], kind: GroupVersionKind, schemas: Schemas) -> dict[str, Any]:
    """Without the fields that the schema does not know."""
    schema = schemas.get(kind, {})
    top = {key: obj[key] for key in ("apiVersion", "kind", "metadata") if key in obj}
    rest = {key: value for key, value in obj.items() if key not in top}
    return {**top, **_prune(rest, schema)}


def _prune(value: Json, schema: Mapping[str, Any]) -> Json:
    if isinstance(value, list):
        return [_prune(item, schema.get("items") or {}) for item in value]
    if not isinstance(value, dict):
        return value
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        return {key: _prune(item, additional) for key, item in value.items()}
    keep_all = schema.get("x-kubernetes-preserve-unknown-fields") or additional is True
    return {
        key: _prune(item, properties[key]) if key in properties else copy.deepcopy(item)
        for key, item in value.items()
        if key in properties or keep_all
    }


def defaulted(obj: dict[str, Any], kind: GroupVersionKind, schemas: Schemas) -> dict[str, Any]:
    result: dict[str, Any] = _default(obj, schemas.get(kind, {}))
    return result


def _default(value: Json, schema: Mapping[str, Any]) -> Json:
    if isinstance(value, list):
        return [_default(item, schema.get("items") or {}) for item in value]
    if not isinstance(value, dict):
        return value
    made = dict(value)
    for key, member in (schema.get("properties") or {}).items():
        absent = key not in made or (made[key] is None and not member.get("nullable"))
        if absent and "default" in member:
            made[key] = copy.deepcopy(member["default"])
        if key in made:
            made[key] = _default(made[key], member)
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        known = schema.get("properties") or {}
        made = {k: v if k in known else _default(v, additional) for k, v in made.items()}
    return made


def keep(made: dict[str, Any], old: dict[str, Any], subresource: str, *, has_status: bool) -> None:
    """An update through one endpoint leaves what belongs to the other; the generation follows."""
    if subresource == "status":
        for key in [key for key in made if key not in {"status", "apiVersion", "kind", "metadata"}]:
            del made[key]
        made.update((k, v) for k, v in old.items() if k not in {"status", "metadata"})
        made["metadata"] = {**old["metadata"]}
    elif has_status:
        made.pop("status", None)
        if "status" in old:
            made["status"] = old["status"]
    ignored = {"metadata", "status"} if has_status else {"metadata"}
    if subresource != "status" and _without(made, ignored) != _without(old, ignored):
        made["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _without(obj: Mapping[str, Any], keys: set[str]) -> dict[str, Any]:
    return {key: value for key, value in obj.items() if key not in keys}
