"""Remembering what texts were read as.

The same limits, addresses and versions come with one request after the other, and reading one takes
longer than everything else an expression does with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from celadon.cel.errors import no_such_overload

T = TypeVar("T")

#: How many texts one function remembers; then it begins anew.
MAX_TEXTS: Final = 1024
#: Longer texts are not worth their memory, in characters.
MAX_LENGTH: Final = 256


class Remembered(dict[str, T]):
    """A function of one text with its results kept, which must be immutable; errors are not.

    `read(text)` is the function, `read[text]` the same for generated code: a text that is known
    costs one look-up and no call. Whatever is no text is `no such overload`.
    """

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[str], T]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, text: str) -> T:
        if text.__class__ is not str:
            raise no_such_overload()
        value = self._read(text)
        if len(text) <= MAX_LENGTH:
            if len(self) >= MAX_TEXTS:
                self.clear()
            self[text] = value
        return value

    __call__ = dict.__getitem__

    def __bool__(self) -> bool:
        """As every function: also while nothing is known."""
        return True
