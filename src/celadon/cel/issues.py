"""Problems found while compiling, and the text a client sees of them.

Each phase has its own `Issues`. The layout of the text is cel-go's (`common/error.go`,
`common/errors.go`) to the letter, because Kubernetes puts it into API responses.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import NamedTuple

from celadon.cel.source import Source
from celadon.cel.types import Type

#: Issues kept per phase; further ones are only counted (cel-go `common/errors.go`).
MAX_ISSUES = 100
#: Longest line shown below an issue, in UTF-8 bytes (cel-go `common/error.go`).
MAX_SNIPPET_BYTES = 16384
#: Line and column of an issue that has no position.
NO_LOCATION = (-1, -1)

_DOT, _WIDE_DOT = ".", "．"
_CARET, _WIDE_CARET = "^", "＾"


class IssueKind(enum.Enum):
    """What types are to an issue."""

    OTHER = "no types"
    NO_OVERLOAD = "the operands, the receiver's first"
    TYPE_MISMATCH = "the expected one and the actual one"
    NOT_A_RANGE = "that of what is iterated"


class Issue(NamedTuple):
    """`offset` is None if the expression as a whole is wrong. `node` is the blamed node's id.
    `types` are those in the message; what they are says `kind`."""

    message: str
    offset: int | None
    node: int | None = None
    kind: IssueKind = IssueKind.OTHER
    types: tuple[Type, ...] = ()


class Issues:
    """Collects the issues of one phase in the order found. Falsy when there is none."""

    __slots__ = ("_found", "_kept", "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self._kept: list[Issue] = []
        self._found = 0

    def add(self, message: str, offset: int | None, node: int | None = None) -> None:
        """Collect a problem at a code-point offset (None: of the expression as a whole), blamed on
        a node's id."""
        self.append(Issue(message, offset, node))

    def append(self, issue: Issue) -> None:
        """Collect a problem; beyond `MAX_ISSUES` it is only counted."""
        self._found += 1
        if self._found <= MAX_ISSUES:
            self._kept.append(issue)

    def __bool__(self) -> bool:
        return self._found > 0

    def __len__(self) -> int:
        """All issues found, also those too many to keep."""
        return self._found

    def __iter__(self) -> Iterator[Issue]:
        """The kept issues by line and column, in the order found where these are equal."""
        return iter(sorted(self._kept, key=self.location))

    def location(self, issue: Issue) -> tuple[int, int]:
        """1-based line and 0-based column, `NO_LOCATION` where the issue has none."""
        return NO_LOCATION if issue.offset is None else self.source.location(issue.offset)

    def display(self) -> str:
        """All issues with the lines they are in, joined by line feeds, without a final one."""
        shown = [self._display_one(issue) for issue in self]
        if self._found > MAX_ISSUES:
            shown.append(f"{self._found - MAX_ISSUES} more errors were truncated")
        return "\n".join(shown)

    def _display_one(self, issue: Issue) -> str:
        line, column = self.location(issue)
        text = f"ERROR: {self.source.description}:{line}:{column + 1}: {issue.message}"
        snippet = self.source.line(line) if self.source.text else None
        if snippet is None or len(snippet.encode()) > MAX_SNIPPET_BYTES:
            return text
        snippet = snippet.replace("\t", " ")
        return f"{text}\n | {snippet}\n | {_pointer(snippet, column)}"


def _pointer(snippet: str, column: int) -> str:
    """Dots up to the column and a caret; wide ones below characters of several UTF-8 bytes."""
    column = max(column, 0)
    dots = "".join(_DOT if c.isascii() else _WIDE_DOT for c in snippet[:column])
    at = snippet[column : column + 1]
    return dots + (_CARET if at.isascii() else _WIDE_CARET)
