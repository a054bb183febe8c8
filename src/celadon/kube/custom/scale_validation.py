"""The counts and the selector that the `scale` of a custom resource shows: what may stand there.

As k8s.io/apiextensions-apiserver `pkg/registry/customresource/validator.go`, whatever the schema
says of these places. A value of another type is refused without being shown: zero, or an empty
text, stands in its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from celadon.kube.catalogue.scale_paths import ScalePaths
from celadon.kube.fieldpath import FieldError, FieldPath, SpelledStep, invalid
from celadon.kube.go.go_text import plain_text, type_text

_MOST: Final = 2**31 - 1


def wanted_count_errors(obj: dict[str, Any], scale: ScalePaths | None) -> Iterable[FieldError]:
    """Of the count in the spec."""
    return () if scale is None else _count_errors(obj, scale.wanted)


def scale_status_errors(obj: dict[str, Any], scale: ScalePaths | None) -> Iterable[FieldError]:
    """Of the count in the status, and of the selector."""
    if scale is None:
        return
    yield from _count_errors(obj, scale.counted)
    if scale.selector:
        found = _found(obj, scale.selector, "string")
        if found.trouble:
            yield invalid(_path(scale.selector), "", found.trouble)


def _count_errors(obj: dict[str, Any], names: tuple[str, ...]) -> Iterable[FieldError]:
    found = _found(obj, names, "int64")
    if found.trouble:
        yield invalid(_path(names), 0, found.trouble)
    elif found.value is not None and found.value < 0:
        yield invalid(_path(names), found.value, "should be a non-negative integer")
    elif found.value is not None and found.value > _MOST:
        detail = f"should be less than or equal to {_MOST}"
        yield invalid(_path(names), found.value, detail)


class _Found(NamedTuple):
    """The value at a place, None when there is none, or why nothing can be said of it."""

    value: Any = None
    trouble: str = ""


def _found(obj: dict[str, Any], names: tuple[str, ...], wanted: str) -> _Found:
    value: Any = obj
    for i, name in enumerate(names):
        if value is None:
            return _Found()
        if not isinstance(value, dict):
            return _Found(trouble=_trouble(names[: i + 1], value, "map[string]interface{}"))
        if name not in value:
            return _Found()
        value = value[name]
    if type_text(value) != wanted:
        return _Found(trouble=_trouble(names, value, wanted))
    return _Found(value)


def _trouble(names: tuple[str, ...], value: object, wanted: str) -> str:
    shown, go_type = plain_text(value), type_text(value)
    return f".{'.'.join(names)} accessor error: {shown} is of the type {go_type}, expected {wanted}"


def _path(names: tuple[str, ...]) -> FieldPath:
    """It is written as the definition writes it, with a dot in front."""
    return FieldPath(SpelledStep(names[0], f".{names[0]}"), *names[1:])
