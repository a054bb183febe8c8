"""Comments that silence findings.

    # celadon: ignore[CEL025]              on the line of the finding or of its field, or above
    // celadon: ignore[optional-field]     the same inside an expression of several lines
    # celadon: ignore                      every rule
    # celadon: ignore-file[CEL041]         anywhere: the whole file

Rules go by their code, the beginning of it, or their name; several are separated by commas.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.patterns import late_pattern
from celadon.records import dataclass

_COMMENT: Final = late_pattern(r"(?:#|//)\s*celadon:\s*ignore(-file)?(?![\w-])(?:\[([^\]]*)\])?")
_ONLY_COMMENT: Final = late_pattern(r"\s*(?:#|//)")


@dataclass(frozen=True, slots=True)
class Silenced:
    """This is what one comment silences; without names: everything. Line and column count from
    1."""

    line: int
    column: int
    names: tuple[str, ...]

    def covering(self, code: str, name: str) -> list[str]:
        """Return those of its names that mean this rule; an empty one for everything."""
        return [one for one in self.names or ("",) if self.about(one, code, name)]

    @staticmethod
    def about(wanted: str, code: str, name: str) -> bool:
        """Return whether a name in a comment means this rule."""
        return code.startswith(wanted) or wanted == name


class Comments:
    """The comments of one file."""

    __slots__ = ("_lines", "_of_file", "_of_lines", "_used")

    def __init__(self, content: str) -> None:
        self._used: set[tuple[Silenced, str]] = set()
        self._lines: list[str] = []
        self._of_file: list[Silenced] = []
        self._of_lines: dict[int, list[Silenced]] = {}
        if "celadon:" not in content:
            return
        self._lines = content.split("\n")
        for number, line in enumerate(self._lines, 1):
            for found in _COMMENT.finditer(line):
                names = tuple(one.strip() for one in (found[2] or "").split(",") if one.strip())
                comment = Silenced(number, found.start() + 1, names)
                if found[1]:
                    self._of_file.append(comment)
                else:
                    self._of_lines.setdefault(number, []).append(comment)

    def all(self) -> Iterator[Silenced]:
        """Every comment of the file."""
        yield from self._of_file
        for comments in self._of_lines.values():
            yield from comments

    def silence(self, code: str, name: str, *lines: int) -> bool:
        """Return whether a finding of this rule on one of these lines (from 1) is not to be
        shown."""
        if not self._lines:
            return False
        comments = list(self._of_file)
        for line in lines:
            comments += self._of_lines.get(line, ())
            above = line - 1
            while above >= 1 and _ONLY_COMMENT.match(self._lines[above - 1]):
                comments += self._of_lines.get(above, ())
                above -= 1
        used = [(one, meant) for one in comments for meant in one.covering(code, name)]
        self._used.update(used)
        return bool(used)

    def unused(self) -> Iterator[tuple[Silenced, str]]:
        """The comments, and which of their names, that have silenced nothing so far."""
        for comment in self.all():
            for name in comment.names or ("",):
                if (comment, name) not in self._used:
                    yield comment, name
