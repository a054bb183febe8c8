"""uint as a class, and the ranges of the three number types.

int is Python's `int` (never bool), double is `float`. `Uint` is a subclass of int: equality and
hashing across int, uint and double then agree with CEL's for free, and only results have to be
wrapped again.
"""

from __future__ import annotations

MIN_INT = -(1 << 63)
MAX_INT = (1 << 63) - 1
MAX_UINT = (1 << 64) - 1


class Uint(int):
    """An unsigned 64-bit number. The constructor does not check the range; operations do."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Uint({int(self)})"
