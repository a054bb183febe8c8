"""The text of an expression, and where things are in it.

Positions are code-point offsets into `Source.text` everywhere; only what is shown to people is
turned into lines and columns. A line ends at `\\n` and nowhere else, as in cel-go.

A `str` that came from JSON may hold lone surrogates, which no UTF-8 text can. They become U+FFFD,
as they do when Go decodes the same JSON.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from celadon.patterns import late_pattern

DEFAULT_DESCRIPTION = "<input>"

#: The offset of what cel-go's parser made up in place of something it could not read.
NOWHERE = -1

_SURROGATE = late_pattern("[\ud800-\udfff]")


class Source:
    """Immutable. `description` is the name that error texts show."""

    def __init__(self, text: str, description: str = DEFAULT_DESCRIPTION) -> None:
        self.text = text if text.isascii() else _SURROGATE.sub("\ufffd", text)
        self.description = description

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        starts.extend(match.end() for match in re.finditer("\n", self.text))
        return starts

    def location(self, offset: int) -> tuple[int, int]:
        """1-based line and 0-based column.

        The only position of an empty source is column -1, and so is `NOWHERE`: kube-apiserver shows
        them as `1:0`.
        """
        if not self.text or offset == NOWHERE:
            return (1, -1)
        index = bisect_right(self._line_starts, offset) - 1
        return (index + 1, offset - self._line_starts[index])

    def line(self, number: int) -> str | None:
        """The text of a 1-based line without its line end; None if there is no such line."""
        starts = self._line_starts
        if not 1 <= number <= len(starts):
            return None
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end]
