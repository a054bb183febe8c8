"""Stored objects, decoded once for as long as their specs stay.

Who keeps policies current sees them again and again: with each change of any of them, and of their
statuses. One whose spec is what it was comes out as the very same value, so that an engine does not
compile it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from celadon.admission.registration.decoding import RegistrationError
from celadon.kube import JsonObject, metadata

T = TypeVar("T")


class RememberedDecoding(Generic[T]):
    """Of one kind. `problems` are the texts about those that could not be decoded the last time,
    by name: they were stored by another release, and take no part."""

    def __init__(self, decode: Callable[[JsonObject], T]) -> None:
        self._decode = decode
        self._known: dict[str, tuple[Any, T | None, str]] = {}

    def values(self, objects: Iterable[JsonObject]) -> list[T]:
        """Of objects with different names, in their order."""
        made: dict[str, tuple[Any, T | None, str]] = {}
        for obj in objects:
            name, spec = metadata.name(obj), obj.get("spec")
            found = self._known.get(name)
            if found is None or (found[0] is not spec and found[0] != spec):
                made[name] = (spec, *self._decoded(obj))
            else:
                made[name] = (spec, *found[1:])
        self._known = made
        return [value for _, value, _ in made.values() if value is not None]

    @property
    def problems(self) -> dict[str, str]:
        """By the names of the objects."""
        return {name: problem for name, (_, _, problem) in self._known.items() if problem}

    def _decoded(self, obj: JsonObject) -> tuple[T | None, str]:
        try:
            return self._decode(obj), ""
        except RegistrationError as error:
            return None, str(error)
