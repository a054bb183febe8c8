"""Keys that are given twice, of which the last one counts, and what Go says about them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from celadon.records import dataclass


class RepeatedKey(NamedTuple):
    """A key that a map has already: how Go prints it, where it begins in the text (line from 1,
    character from 0), and the line of the second value, which counts."""

    shown: str
    offset: int
    line: int
    value_line: int

    @property
    def text(self) -> str:
        """Go's complaint, which is about the line of the value."""
        return f"line {self.value_line}: {self.complaint}"

    @property
    def complaint(self) -> str:
        """The same without the line."""
        return f"key {self.shown} already set in map"


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """`repeated` has a text for every key that is given twice: `line 7: key "a" already set in
    map`, in the order in which Go finds them."""

    value: Any
    repeated: tuple[str, ...] = ()

    def strict_error(self) -> str:
        """The text of the error of strict reading; empty if there is none."""
        return strict_error(self.repeated) if self.repeated else ""


def strict_error(repeated: Iterable[str]) -> str:
    """The text of the error of strict reading, from those about single keys."""
    return "yaml: unmarshal errors:" + "".join(f"\n  {one}" for one in repeated)
