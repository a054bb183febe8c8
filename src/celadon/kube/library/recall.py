"""Remembering what texts were read as.

The same limits, addresses and versions come with one request after the other, and reading one takes
longer than everything else an expression does with it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeVar

T = TypeVar("T")

_MAX_TEXTS: Final = 1024
#: Longer texts are not worth their memory.
_MAX_LENGTH: Final = 256


def remembered(read: Callable[[str], T]) -> Callable[[str], T]:
    """The same function with its latest results kept; they must be immutable. Errors are not."""
    recall = lru_cache(maxsize=_MAX_TEXTS)(read)

    def remember(text: str) -> T:
        return recall(text) if len(text) <= _MAX_LENGTH else read(text)

    return remember
