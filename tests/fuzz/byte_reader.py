"""One reader of bytes, as searches see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ByteReader:
    """`refusals` is what it may raise. `words` are pieces that its language is made of."""

    name: str
    read: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...] = ()
    seeds: tuple[bytes, ...] = ()
    words: tuple[bytes, ...] = ()
    warms_up: bool = False
    """Whether its first input takes long, whatever it is."""


def text_of(data: bytes) -> str:
    """As request bodies are read, so that each input is a text."""
    return data.decode("utf-8", "replace")
