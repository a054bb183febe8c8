"""Objects that are remembered, as long as all of them together do not weigh too much.

Decoded, an object takes many times its text: a hostile one of 3 MB, of nothing but empty lists, a
hundred megabytes. So what is remembered is counted by weight, not by number.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")

_ITEM_BYTES: Final = 128
"""What an item or a list takes beside its text, at most: itself and its place in another."""
_MAP_BYTES: Final = 256


def weight(text: bytes) -> int:
    """About the bytes that an object takes beside this text of it; rather more than less."""
    items = text.count(b",") + text.count(b"[")
    return len(text) + _ITEM_BYTES * items + _MAP_BYTES * text.count(b"{")


class ObjectMemory(Generic[_K, _V]):
    """When a value would make it heavier than `most`, all others are forgotten; one that is too
    heavy by itself is not remembered."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._values: dict[_K, _V] = {}
        self._weights: dict[_K, int] = {}
        self.get = self._values.get

    def keep(self, key: _K, value: _V, heavy: int) -> None:
        """In the place of what was there."""
        self._weight -= self._weights.pop(key, 0)
        if self._weight + heavy > self._most:
            self._values.clear()
            self._weights.clear()
            self._weight = 0
            if heavy > self._most:
                return
        self._values[key] = value
        self._weights[key] = heavy
        self._weight += heavy

    def weight_of(self, key: _K) -> int:
        """Of what is remembered; 0 for what is not."""
        return self._weights.get(key, 0)
