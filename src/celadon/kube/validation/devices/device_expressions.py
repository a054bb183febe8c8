"""Expressions that choose devices: which CEL they are written in, and what is wrong with one.

As k8s.io/dynamic-resource-allocation `cel/compile.go`. An expression knows one variable, `device`;
what an attribute of a device is, nobody knows before it is looked at.
"""

from __future__ import annotations

import functools
from typing import Final

from celadon.cel import Environment, ProgramError
from celadon.cel.extend import ObjectType, Range, types
from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.library.releases import DEFAULT, environment, previous_minor
from celadon.kube.library.value_types import QUANTITY
from celadon.kube.validation.field_checks import NO_ERRORS, Errors
from celadon.kube.validation.validation_gates import CONSUMABLE_CAPACITY, only_with
from celadon.records import dataclass

DEVICE: Final = "device"
TYPE_NAME: Final = "kubernetes.DRADevice"
MAX_COST: Final = 1_000_000
SHARED: Final = "allowMultipleAllocations"
"""The field that comes with the gate."""

_ATTRIBUTES: Final = types.map_of(types.STRING, types.map_of(types.STRING, types.ANY))
_CAPACITY: Final = types.map_of(types.STRING, types.map_of(types.STRING, QUANTITY))
_FIELDS: Final = {"driver": types.STRING, "attributes": _ATTRIBUTES, "capacity": _CAPACITY}


@dataclass(frozen=True, slots=True)
class _Sizes:
    """How large the parts of a device can be: upstream's limits for slices."""

    def size(self, path: tuple[str, ...], _: types.Type) -> Range | None:
        if not path or path[0] != DEVICE:
            return None
        most = _most(path[1:])
        return None if most is None else Range(0, most)


def _most(path: tuple[str, ...]) -> int | None:
    if len(path) < 2:
        return {(): 0, ("driver",): 63, (SHARED,): 1, ("attributes",): 32, ("capacity",): 32}.get(
            path
        )
    part, step, *more = path
    if part not in ("attributes", "capacity"):
        return None
    if step == "@keys":
        return None if more else 63
    if step not in ("@items", "@values"):
        return None
    if not more:
        return 32
    last = more.pop(0)
    if more:
        return None
    if last == "@keys":
        return 32
    if part == "attributes":
        return 64
    return 0 if last in ("@items", "@values") else None


@functools.cache
def device_environment(*, is_stored: bool, has_shared: bool = True) -> Environment:
    """What selectors are written in: a new one may only use what the release before knew."""
    fields = {**_FIELDS, SHARED: types.BOOL} if has_shared else _FIELDS
    version = DEFAULT if is_stored else previous_minor(DEFAULT)
    base = environment(version, has_bindings=True)
    return base.extend({DEVICE: types.object_type(TYPE_NAME)}, [ObjectType(TYPE_NAME, fields)])


def selector_errors(path: FieldPath, text: str, *, is_stored: bool) -> Errors:
    """Whether an expression compiles to a bool, or to what nobody knows, and is cheap enough."""
    error = _fault(text, is_stored=is_stored, has_shared=True)
    if error:
        return iter((_error(path, text, error),))
    if SHARED not in text:
        return NO_ERRORS
    error = _fault(text, is_stored=is_stored, has_shared=False)
    return only_with(f"!{CONSUMABLE_CAPACITY}", [_error(path, text, error)] if error else ())


_TOO_COSTLY: Final = "too complex, exceeds cost limit"


def _error(path: FieldPath, text: str, why: str) -> fieldpath.FieldError:
    if why == _TOO_COSTLY:
        return fieldpath.forbidden(path, why)
    return fieldpath.invalid(path, text, why)


@functools.lru_cache(maxsize=256)
def _fault(text: str, *, is_stored: bool, has_shared: bool) -> str:
    """Empty for what is fine."""
    used = device_environment(is_stored=is_stored, has_shared=has_shared)
    compilation = used.compile(text)
    checked = compilation.ast
    if checked is None:
        return f"compilation failed: {compilation.issues.display()}"
    if checked.type not in (types.BOOL, types.ANY):
        return f"must evaluate to bool or the unknown type, not {checked.type}"
    try:
        used.program(checked, "device selector")
    except ProgramError as error:
        return f"program instantiation failed: {error}"
    return _TOO_COSTLY if used.estimate(checked, _Sizes()).max > MAX_COST else ""
