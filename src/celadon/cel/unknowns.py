"""What is not known yet: how a caller says it, and how a result does. See `partial`."""

from __future__ import annotations

from typing import NamedTuple

ANY = None
"""In `AttributePattern.keys`: any key at this place."""


class AttributePattern(NamedTuple):
    """An attribute that is not known: a variable and keys. What lies below or above it is unknown
    too: with `object.spec` unknown, so are `object.spec.replicas` and `object` as a whole."""

    variable: str
    keys: tuple[str | int | bool | None, ...] = ()


class Unknown(NamedTuple):
    """A result that waits for inputs; `nodes` are the ids of the attributes it waits for."""

    nodes: frozenset[int]

    def merged(self, other: Unknown) -> Unknown:
        """Return what waits for the attributes of both."""
        return Unknown(self.nodes | other.nodes)
