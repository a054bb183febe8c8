"""Comments that silence findings.

    # celadon: ignore[CEL025]              on the line of the finding or of its field, or above
    // celadon: ignore[optional-field]     the same inside an expression of several lines
    # celadon: ignore                      every rule
    # celadon: ignore-file[CEL041]         anywhere: the whole file

Rules go by their code, the beginning of it, or their name; several are separated by commas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_COMMENT: Final = re.compile(r"(?:#|//)\s*celadon:\s*ignore(-file)?(?![\w-])(?:\[([^\]]*)\])?")
_ONLY_COMMENT: Final = re.compile(r"\s*(?:#|//)")


@dataclass(frozen=True, slots=True)
class Silenced:
    """What one comment, on a line from 1, silences; without names: everything."""

    line: int
    names: tuple[str, ...]

    def covers(self, code: str, name: str) -> bool:
        """Whether it is about this rule."""
        return not self.names or any(code.startswith(one) or one == name for one in self.names)


class Comments:
    """The comments of one file."""

    __slots__ = ("_lines", "_of_file", "_of_lines")

    def __init__(self, content: str) -> None:
        self._lines: list[str] = []
        self._of_file: list[Silenced] = []
        self._of_lines: dict[int, list[Silenced]] = {}
        if "celadon:" not in content:
            return
        self._lines = content.split("\n")
        for number, line in enumerate(self._lines, 1):
            for found in _COMMENT.finditer(line):
                names = tuple(one.strip() for one in (found[2] or "").split(",") if one.strip())
                if found[1]:
                    self._of_file.append(Silenced(number, names))
                else:
                    self._of_lines.setdefault(number, []).append(Silenced(number, names))

    def all(self) -> Iterator[Silenced]:
        """Every comment of the file."""
        yield from self._of_file
        for comments in self._of_lines.values():
            yield from comments

    def silence(self, code: str, name: str, *lines: int) -> bool:
        """Whether a finding of this rule on one of these lines (from 1) is not to be shown."""
        if not self._lines:
            return False
        comments = list(self._of_file)
        for line in lines:
            comments += self._of_lines.get(line, ())
            above = line - 1
            while above >= 1 and _ONLY_COMMENT.match(self._lines[above - 1]):
                comments += self._of_lines.get(above, ())
                above -= 1
        return any(one.covers(code, name) for one in comments)
