"""Where a configuration does not fit its type, in the words of structured-merge-diff.

Values are printed as Go prints its own wrapping of them. As structured-merge-diff
`typed/{validate,helpers}.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.kube.apply.field_elements import FIELD, step_text
from celadon.kube.apply.typed.foreign_values import ForeignValue
from celadon.kube.apply.typed.merge_types import (
    BOOLEAN,
    NUMERIC,
    STRING,
    UNTYPED,
    ItemError,
    ListRule,
    MapRule,
    MergeType,
)
from celadon.kube.go.go_text import plain_text, quote

_GO_TYPES: Final[Mapping[type, str]] = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    dict: "map[string]interface {}",
    list: "[]interface {}",
}


_UNLIKE_SCALARS: Final = (dict, list, ForeignValue)


def misfits(type_: MergeType, value: object, *, duplicates: bool = False) -> list[str]:
    """One text per error, with its path; none for a value that fits. Values may be foreign;
    `duplicates` allows items that occur twice."""
    return list(_errors(type_, value, "", duplicates=duplicates))


def joined(errors: Sequence[str]) -> str:
    """Several errors in one text."""
    return errors[0] if len(errors) == 1 else "\n  ".join(["errors:", *errors])


def _errors(type_: MergeType, value: Any, path: str, *, duplicates: bool) -> Iterator[str]:
    """A value of a shape that the type does not have is judged by the first one it has."""
    if value is None:
        return
    shape = value.__class__
    if shape is dict and type_.map is not None:
        yield from _member_errors(type_.map, value, path, duplicates=duplicates)
    elif shape is list and type_.list is not None:
        yield from _item_errors(type_.list, value, path, duplicates=duplicates)
    elif type_.scalar and (shape not in _UNLIKE_SCALARS or type_.map is None):
        yield from _scalar_errors(type_.scalar, value, path)
    elif type_.map is not None:
        yield _error(path, f"expected map, got {_shown(value)}")
    else:
        yield _error(path, f"expected list, got {_shown(value)}")


def _error(path: str, text: str) -> str:
    return f"{path}: {text}" if path else text


def _member_errors(
    rule: MapRule, value: Mapping[str, Any], path: str, *, duplicates: bool
) -> Iterator[str]:
    """After a member that is not allowed nothing more is looked at."""
    for name, one in value.items():
        child = rule.child(name)
        here = path + step_text(FIELD + name)
        if child is None:
            yield _error(here, "field not declared in schema")
            return
        yield from _errors(child, one, here, duplicates=duplicates)


def _item_errors(
    rule: ListRule, value: Sequence[Any], path: str, *, duplicates: bool
) -> Iterator[str]:
    seen: set[str] = set()
    for i, item in enumerate(value):
        if rule.atomic:
            here = f"{path}[{i}]"
        else:
            try:
                element = rule.element(item)
            except ItemError as error:
                yield _error(path, f"element {i}: {error}")
                return
            if element in seen and not duplicates:
                yield _error(path, f"duplicate entries for key {step_text(element)}")
            seen.add(element)
            here = path + step_text(element)
        yield from _errors(rule.item, item, here, duplicates=duplicates)


def _scalar_errors(wanted: str, value: object, path: str) -> Iterator[str]:
    shape = float if isinstance(value, float) else value.__class__
    is_number = shape in (int, float)
    match wanted:
        case _ if wanted == NUMERIC and not is_number:
            found = value.go_type if isinstance(value, ForeignValue) else _GO_TYPES[shape]
            yield _error(path, f"expected numeric (int or float), got {found}")
        case _ if wanted == STRING and shape is not str:
            shown = f"&value.valueUnstructured{{Value:{_go(value)}}}"
            yield _error(path, f"expected string, got {shown}")
        case _ if wanted == BOOLEAN and shape is not bool:
            yield _error(path, f"expected boolean, got {_shown(value)}")
        case _ if wanted == UNTYPED and shape in _UNLIKE_SCALARS:
            yield _error(path, f"expected any scalar, got {_shown(value)}")


def _shown(value: object) -> str:
    """`%v` of the wrapping."""
    return f"&{{{plain_text(value)}}}"


def _go(value: object) -> str:
    """`%#v`: `map[string]interface {}{"a":1}`."""
    if isinstance(value, ForeignValue):
        return value.written
    if value.__class__ is dict:
        members = ", ".join(f"{quote(key)}:{_go(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{members}}}"
    if value.__class__ is list:
        return f"[]interface {{}}{{{', '.join(map(_go, value))}}}"
    if value is None:
        return "interface {}(nil)"
    return quote(value) if value.__class__ is str else plain_text(value)
