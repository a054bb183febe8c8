"""Search for inputs that a reader cannot bear, guided by the lines of Celadon that it runs.

An input that made the reader go from one line to another as none did before is kept, and changed
further. How many lines run is also what bounds the work for an input: a count, not a time, so that
the same seed finds the same on every machine.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import celadon
from tests.fuzz.byte_reader import ByteReader

MOST_BYTES: Final = 4096
MOST_LINES: Final = 200_000
MOST_LINES_PER_BYTE: Final = 2_000
_PACKAGE: Final = str(Path(celadon.__file__).parent)
_ODD_BYTES: Final = (b"\0", b"\x7f", b"\x80", b"\xff", b"\xf0\x9f\x92\xa3", b"\xed\xa0\x80")


@dataclass(frozen=True, slots=True)
class Find:
    """An input, and what is wrong with what the reader made of it."""

    reader: str
    data: bytes
    wrong: str


class _TooMuchWork(BaseException):
    """Not an error that readers would answer for."""


class _Lines:
    """What ran: the steps from line to line, and how many lines."""

    def __init__(self, most: int) -> None:
        self.steps: set[tuple[CodeType, int, int]] = set()
        self._left = most

    def entered(self, frame: FrameType, event: str, _: object) -> Any:
        if event != "call" or not frame.f_code.co_filename.startswith(_PACKAGE):
            return None
        code, before = frame.f_code, 0

        def line(frame: FrameType, event: str, _: object) -> Any:
            nonlocal before
            if event == "line":
                self.steps.add((code, before, frame.f_lineno))
                before = frame.f_lineno
                self._left -= 1
                if self._left < 0:
                    raise _TooMuchWork
            return line

        return line


def wrong_with(reader: ByteReader, data: bytes) -> str:
    """What the reader does that it must not; empty if all is well. Nothing is traced."""
    try:
        reader.read(data)
    except reader.refusals:
        return ""
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return _told(error)
    return ""


def traced(reader: ByteReader, data: bytes) -> tuple[set[tuple[CodeType, int, int]], str]:
    """The steps that an input makes the reader go, and what is wrong."""
    lines = _Lines(MOST_LINES + MOST_LINES_PER_BYTE * len(data))
    before = sys.gettrace()
    sys.settrace(lines.entered)
    try:
        wrong = wrong_with(reader, data)
    except _TooMuchWork:
        wrong = f"more than {MOST_LINES_PER_BYTE} lines run for each byte"
    finally:
        sys.settrace(before)
    return lines.steps, wrong


def _told(error: Exception) -> str:
    """The kind of an error and where it was raised: the same for all inputs that meet it."""
    trace = error.__traceback__
    place = ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name.startswith(_PACKAGE):
            place = f"{name.removeprefix(_PACKAGE)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__} at {place}"


def search(reader: ByteReader, seed: int, count: int) -> Iterator[Find | None]:
    """Tries so many inputs; None for each that is borne. What is found is made small, and said
    once for each kind of it."""
    dice = random.Random(f"{reader.name} {seed}")
    known: set[tuple[CodeType, int, int]] = set()
    kept: list[bytes] = []
    said: set[str] = set()
    waiting = [*reader.seeds, b""]
    if reader.warms_up:
        wrong_with(reader, reader.seeds[0])  # what is loaded late is nobody's work
    for _ in range(count):
        data = waiting.pop() if waiting else mutated(dice, kept, reader.words)
        steps, wrong = traced(reader, data)
        if not steps <= known or not kept:
            known |= steps
            kept.append(data)
        if wrong and wrong not in said:
            said.add(wrong)
            yield Find(reader.name, minimized(reader, data, wrong), wrong)
        else:
            yield None


def mutated(dice: random.Random, kept: list[bytes], words: tuple[bytes, ...]) -> bytes:
    """One of these inputs, changed at some places."""
    data = dice.choice(kept[-20:] if dice.random() < 0.5 else kept)
    for _ in range(dice.choice((1, 1, 2, 3, 6))):
        start = dice.randrange(len(data) + 1)
        end = min(len(data), start + dice.choice((0, 0, 1, 2, 8, 40)))
        data = data[:start] + _piece(dice, data[start:end], kept, words) + data[end:]
    return data[: max(MOST_BYTES, max(map(len, kept)))]


def _piece(dice: random.Random, old: bytes, kept: list[bytes], words: tuple[bytes, ...]) -> bytes:
    match dice.randrange(7):
        case 0:
            return b""
        case 1:
            return dice.randbytes(dice.choice((1, 1, 2, 4)))
        case 2:
            return dice.choice(_ODD_BYTES)
        case 3 if words:
            return dice.choice(words)
        case 4:
            return old * dice.choice((2, 3, 50))
        case 5 if old:
            return bytes([old[0] ^ (1 << dice.randrange(8))]) + old[1:]
        case _:
            other = dice.choice(kept)
            start = dice.randrange(len(other) + 1)
            return other[start : start + dice.choice((1, 4, 20, 100))]


def minimized(reader: ByteReader, data: bytes, wrong: str) -> bytes:
    """The same mistake with as few bytes as cutting pieces off comes to."""
    size = len(data) // 2
    while size:
        start = 0
        while start < len(data):
            shorter = data[:start] + data[start + size :]
            if traced(reader, shorter)[1] == wrong:
                data = shorter
            else:
                start += size
        size //= 2
    return data
