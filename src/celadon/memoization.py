"""Functions, properties and memories that remember what came out.

`functools.lru_cache` bounds how many texts are kept, not how long they are: four thousand of a
megabyte each are a denial of service. What is asked again and again is short.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final, Generic, Self, TypeVar, overload

K = TypeVar("K")
T = TypeVar("T")

LONGEST: Final = 256
"""Characters; of longer texts nothing is remembered."""


def remembering(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Remember what a function of one text returns for short texts, as `functools.lru_cache` does;
    `most` of them."""

    def decorated(function: Callable[[str], T]) -> Callable[[str], T]:
        known = functools.lru_cache(most)(function)

        @functools.wraps(function)
        def wrapped(text: str) -> T:
            return known(text) if len(text) <= LONGEST else function(text)

        return wrapped

    return decorated


# --- Memories by weight ------------------------------------------------------
#
# For values of which some are a thousand times as large as others: the sum is bounded.


class WeightedMemory(Generic[K, T]):
    """Remembers values that weigh up to `most` together: the latest, in two halves. When the newer
    half is full, the older one is forgotten as a whole. Threads may share it: nothing is locked,
    and the worst that comes of that is to forget too early."""

    __slots__ = ("_half", "_newer", "_older", "_weight")

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._newer: dict[K, T] = {}
        self._older: dict[K, T] = {}
        self._weight = 0

    def get(self, key: K) -> T | None:
        """Return the value; None if there is none (any more)."""
        value = self._newer.get(key)
        return self._older.get(key) if value is None else value

    def keep(self, key: K, value: T, weight: int) -> None:
        """Remember a value, unless it weighs more than a half."""
        if weight > self._half:
            return
        if self._weight + weight > self._half:
            self._older, self._newer, self._weight = self._newer, {}, 0
        self._newer[key] = value
        self._weight += weight


# --- Values on demand --------------------------------------------------------


class OnDemand(Generic[T]):
    """Holds a value that is found when somebody first asks for it. Threads may share it: at worst
    it is found twice."""

    __slots__ = ("_find", "_value")

    def __init__(self, find: Callable[[], T]) -> None:
        self._find: Callable[[], T] | None = find
        self._value: T

    @property
    def value(self) -> T:
        """Return the value, found once."""
        find = self._find
        if find is not None:
            self._value = find()
            self._find = None
        return self._value


# --- Properties --------------------------------------------------------------
#
# Properties that are worked out once: `functools.cached_property` without its lock, which costs
# more than most of what a request is asked for (Python 3.12 has none either).


class remembered(Generic[T]):
    """A property of a class whose instances have a dictionary, and belong to one thread."""

    def __init__(self, find: Callable[[Any], T]) -> None:
        self._find = find
        self.__doc__ = find.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> T | Self:
        if instance is None:
            return self
        find = instance.__dict__[self._name] = self._find(instance)
        return find
