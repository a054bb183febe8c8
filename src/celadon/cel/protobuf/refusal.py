"""How writing a value says that a field cannot take it; `writing` adds which field."""

from __future__ import annotations

from typing import NoReturn

from celadon.cel.values.runtime_types import type_of


class Refused(Exception):
    """The reason, without the field."""


def refuse(value: object, target: str) -> NoReturn:
    """A value of another type than the field's."""
    raise Refused(f"type conversion error from '{type_of(value)}' to '{target}'")
