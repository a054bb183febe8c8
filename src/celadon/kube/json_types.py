"""JSON as it is typed here, and the shapes that a document must have before anybody reads its
members.

`Json` is any JSON value, for code that passes values on or asks what they are. Objects stay what
they are, plain JSON, because their shape is open: `JsonObject` is one that nobody changes, and
whoever reads a member knows what it should be.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from celadon.records import dataclass

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""Any JSON value."""

JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object that is only read; its members are what its kind says."""

JsonDict: TypeAlias = dict[str, Any]
"""A JSON object that is being made or changed, by whoever has it."""


def text_member(obj: JsonObject, key: str) -> str:
    """Return a member that is a text; empty if it is absent, or anything else."""
    value = obj.get(key)
    return value if isinstance(value, str) else ""


# --- Json copies -------------------------------------------------------------
#
# Deep copies of JSON values, without the bookkeeping of `copy.deepcopy`, and whether two are alike.

_CONTAINERS: Final[frozenset[type]] = frozenset({dict, list})


def fresh(value: object) -> Any:  # noqa: ANN401 - any JSON
    """Return a deep copy: new containers, the same scalars."""
    if value.__class__ is dict:
        return {
            key: fresh(item) if item.__class__ in _CONTAINERS else item
            for key, item in value.items()
        }
    if value.__class__ is list:
        return [fresh(item) if item.__class__ in _CONTAINERS else item for item in value]
    return value


SharedParts: TypeAlias = dict[int, tuple[Any, Any]]
"""Copies of parts of another value, by their identity, each with the part."""


def shared_copy(part: object, shared: SharedParts) -> Any:  # noqa: ANN401 - any JSON
    """Return a deep copy of a part, and note it."""
    copied = fresh(part)
    shared[id(copied)] = copied, part
    return copied


def same(value: object, before: object) -> bool:
    """Return whether it is what it was: also the kinds of numbers and booleans are the same."""
    # What differs for Python does so in any case, and what has the same bytes never: that is told
    # in a tenth of the time.
    if value.__class__ not in _CONTAINERS:
        return value.__class__ is before.__class__ and bool(value == before)
    return bool(value == before) and (
        have_same_bytes(value, before) or _of_same_kinds(value, before)
    )


def have_same_bytes(value: object, before: object) -> bool:
    """Return whether two values are certainly the same: no says nothing."""
    try:
        return compact(value) == compact(before)
    except ValueError:
        return False


def _of_same_kinds(value: object, before: object) -> bool:
    """Return whether two equal values are of the same kinds."""
    if value.__class__ is not before.__class__:
        return False
    if isinstance(value, dict) and isinstance(before, dict):
        return all(_of_same_kinds(member, before[key]) for key, member in value.items())
    if isinstance(value, list) and isinstance(before, list):
        return all(map(_of_same_kinds, value, before))
    return True


# --- Shapes ------------------------------------------------------------------
#
# What a document must look like before anybody reads its members.
#
# A `Shape` is plain data: `str`, `bool` and `int` (of 64 bits) stand for such values, `[shape]`
# for a list, `{"name": shape}` for a map in which these members, if they are there, have these
# shapes, and `{str: shape}` for a map whose members all have one; `[]` and `{}` are lists and
# maps of anything, `(one, other)` is what has one of these shapes. A shape may contain itself.
# Whatever is absent or null fits, unless it is `Needed`; members that nobody names may be
# anything. Go's decoders are as strict, and as lenient, with what they read into structures.
#
# What strangers send (a file, an answer of a server) is compared with its shape once, and read
# without further questions then: `misfit` says what is wrong, and where.

Shape: TypeAlias = Any
"""As this module describes; a type that contains itself so is beyond type checkers."""

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Needed:
    """The shape of a member that must be there, and not be null."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class Misfit:
    """A value that does not fit, by its path, and the shape it should have: `text`, `a map`."""

    path: Path
    expected: str
    value: object

    @property
    def field(self) -> str:
        """Written as `spec.versions[0].name`; empty for the document itself."""
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return "".join(steps).removeprefix(".")

    def __str__(self) -> str:
        place = f"`{self.field}`" if self.path else "it"
        return f"{place} must be {self.expected}, not {_name_of(self.value)}"


def misfit(value: object, shape: Shape) -> Misfit | None:
    """Return the first thing that does not fit, in the order of the shape; None if all does."""
    return _misfit(value, shape, ())


def _misfit(value: object, shape: Shape, path: Path) -> Misfit | None:
    if isinstance(shape, Needed):
        shape = shape.shape
    elif value is None:
        return None
    if isinstance(shape, tuple):
        misfits = [_misfit(value, item, path) for item in shape]
        return None if None in misfits else misfits[-1]
    kind, expected, below = _BY_TYPE.get(shape.__class__, _SCALAR)
    if kind is None:
        kind, expected = shape, _SCALARS[shape]
    if not isinstance(value, kind) or (kind is int and not _is_int64(value)):
        return Misfit(path, expected, value)
    return below(value, shape, path)


def _is_int64(value: object) -> bool:
    """Return whether a value is an int of 64 bits; True is an int, too, for Python."""
    return value.__class__ is int and -(1 << 63) <= value < 1 << 63


def _in_map(value: dict[str, object], shape: dict[Any, Shape], path: Path) -> Misfit | None:
    every = shape.get(str)
    for key, item in shape.items() if every is None else ((key, every) for key in value):
        misfit = _misfit(value.get(key), item, (*path, key))
        if misfit is not None:
            return misfit
    return None


def _in_list(value: list[object], shape: list[Shape], path: Path) -> Misfit | None:
    for every in shape:
        for index, item in enumerate(value):
            misfit = _misfit(item, every, (*path, index))
            if misfit is not None:
                return misfit
    return None


_Below: TypeAlias = Callable[[Any, Any, Path], Misfit | None]

_SCALARS: Final[dict[type, str]] = {str: "text", bool: "true or false", int: "a whole number"}
_SCALAR: Final[tuple[type | None, str, _Below]] = (None, "", lambda value, shape, path: None)
_BY_TYPE: Final[dict[type, tuple[type | None, str, _Below]]] = {
    dict: (dict, "a map", _in_map),
    list: (list, "a list", _in_list),
}

_SHOWN_DIGITS: Final = 20


def _name_of(value: object) -> str:
    if value is None:
        return "absent"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "text"
    is_long = isinstance(value, int) and abs(value) >= 10**_SHOWN_DIGITS
    return "a very large number" if is_long else f"the number {value}"


METADATA: Final[Shape] = {
    "name": str,
    "generateName": str,
    "namespace": str,
    "uid": str,
    "resourceVersion": str,
    "labels": {str: str},
    "annotations": {str: str},
}
"""Of the metadata of an object, what everybody reads."""

OBJECT: Final[Shape] = {"apiVersion": str, "kind": str, "metadata": METADATA}

DEFINITION: Final[Shape] = {
    "spec": Needed(
        {
            "group": Needed(str),
            "scope": str,
            "names": Needed(
                {
                    "plural": Needed(str),
                    "kind": Needed(str),
                    "singular": str,
                    "listKind": str,
                    "shortNames": [Needed(str)],
                    "categories": [Needed(str)],
                }
            ),
            "versions": Needed(
                [
                    Needed(
                        {
                            "name": Needed(str),
                            "subresources": {"status": {}, "scale": {}},
                            "selectableFields": [Needed({"jsonPath": Needed(str)})],
                        }
                    )
                ]
            ),
        }
    ),
    "status": {"conditions": [Needed({"type": str, "status": str})]},
}
"""Of a CustomResourceDefinition: what must be known before anything can be of its objects."""

_PLAIN: Final = 2
"""The form of `marshal` in which equal texts have the same bytes, whoever shares them."""


def compact(value: Any) -> bytes:  # noqa: ANN401 - any JSON
    """Return the value as bytes, made in a fraction of the time that JSON takes: values with the
    same bytes are the same, those of equal objects depend on the order of their keys. ValueError
    for what is nested very deeply."""
    return marshal.dumps(value, _PLAIN)
