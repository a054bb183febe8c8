"""Custom resources in the small server: what their schema does, and what an endpoint keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.kube import FieldError, GroupVersionKind
from celadon.kube.custom import CustomKind

Kinds = Mapping[GroupVersionKind, CustomKind]


def prepared(obj: dict[str, Any], kind: GroupVersionKind, kinds: Kinds) -> dict[str, Any]:
    """With defaults, and without the fields that the schema does not know."""
    return dict(kinds[kind].prepare(obj).value) if kind in kinds else obj


def unknown_fields(obj: dict[str, Any], kind: GroupVersionKind, kinds: Kinds) -> tuple[str, ...]:
    """The fields that `prepared` drops."""
    return kinds[kind].prepare(obj).dropped if kind in kinds else ()


def errors(
    obj: dict[str, Any], before: dict[str, Any] | None, kind: GroupVersionKind, kinds: Kinds
) -> list[FieldError]:
    """What the schema has against an object."""
    return kinds[kind].validate(obj, before).errors if kind in kinds else []


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
