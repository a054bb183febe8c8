"""The classes a CEL list may have: `list`, and lists that know what their schema says.

Nearly all lists are of class `list`, so code asks for that first and for `TypedList` only where the
answer was no (as with `dict` and the other maps).
"""

from __future__ import annotations

from typing import Any, TypeGuard


class TypedList(list[Any]):
    """A list that decides by its schema what it equals and what adding to it gives: see
    `operations.typed_lists`. INVARIANT (typed lists): whatever looks for a list by its class looks
    for this one, too."""

    __slots__ = ()

    def matches(self, other: list[object]) -> bool:
        """CEL's `self == other`."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list) and self.matches(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # lists are never keys


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Is the value a CEL list, whichever of the classes it has?"""
    return value.__class__ is list or isinstance(value, TypedList)
