"""Objects that expressions construct, if there is nothing to be said against them.

An object that is all texts, integers and booleans, in fields that its kind has and objects whose
types are named after their places, becomes a configuration in one walk. Where anything is odd, or
only unusual, it is given up (`Unusual`), and the longer way decides, which knows every text that
could be due: `native_values` in `admission.mutating`, then `typed.conformity`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.kube.apply.typed.merge_types import (
    BOOLEAN,
    NUMERIC,
    STRING,
    UNTYPED,
    ItemError,
    MergeType,
)
from celadon.kube.errors import KubeError
from celadon.kube.library.patch_values import PatchObject

_ALLOWED: Final[Mapping[type, frozenset[str]]] = {
    str: frozenset({STRING, UNTYPED}),
    int: frozenset({NUMERIC, UNTYPED}),
    bool: frozenset({BOOLEAN, UNTYPED}),
}
_NOTHING: Final = frozenset[str]()


class Unusual(KubeError):
    """An object that has to be looked at more closely."""


def fitting_object(type_: MergeType, value: PatchObject, path: str = "Object") -> dict[str, Any]:
    """A new configuration of that type, without misfits and without anything atomic; `path` is
    what the object's own type has to be called. Unusual."""
    rule = type_.map
    if rule is None or rule.atomic or value.cel_type.name != path:
        raise Unusual
    made = {}
    for field, one in value.fields.items():
        child = rule.child(field)
        if child is None:
            raise Unusual
        if child.scalar in _ALLOWED.get(one.__class__, _NOTHING):
            made[field] = one
        elif one.__class__ is PatchObject:
            made[field] = fitting_object(child, one, f"{path}.{field}")
        elif one.__class__ is list:
            made[field] = _fitting_items(child, one, f"{path}.{field}")
        elif one.__class__ is dict:
            made[field] = _fitting_texts(child, one)
        else:
            raise Unusual
    return made


def _fitting_items(type_: MergeType, items: Sequence[Any], path: str) -> list[Any]:
    rule = type_.list
    if rule is None or rule.atomic:
        raise Unusual
    item_type, made = rule.item, []
    for item in items:
        if item.__class__ is PatchObject:
            made.append(fitting_object(item_type, item, path))
        elif item_type.scalar in _ALLOWED.get(item.__class__, _NOTHING):
            made.append(item)
        else:
            raise Unusual
    try:
        elements = set(rule.elements(made))
    except ItemError:
        raise Unusual from None
    if len(elements) != len(made):
        raise Unusual
    return made


def _fitting_texts(type_: MergeType, members: Mapping[Any, Any]) -> dict[str, Any]:
    rule = type_.map
    if rule is None or rule.atomic:
        raise Unusual
    for name, one in members.items():
        child = rule.child(name) if name.__class__ is str else None
        if child is None or one.__class__ is not str or child.scalar not in _ALLOWED[str]:
            raise Unusual
    return dict(members)
