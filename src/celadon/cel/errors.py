"""The exceptions of the language room.

    CelError
    ├── DeclarationError   declarations that contradict each other; no environment can be built
    ├── CompileError       source that cannot become a checked tree; carries its issues
    ├── ProgramError       a checked tree that cannot become a program (constant folding failed)
    └── EvaluationError    a CEL error at run time; inside generated code it *is* the CEL error
        ├── CostLimitExceeded   the metered variant went over its limit
        └── Panicked            cel-go panics here, which ends the evaluation

An `EvaluationError`'s text is exactly the text cel-go gives (no prefix, no position). `cost` is
filled in where the exception leaves a metered evaluation, not where it is raised: raising must
stay cheap because `&&`, `||`, `all` and `exists` absorb these errors. Where in the source it came
up is found on request (`Program.locate`).
"""

from __future__ import annotations

import enum
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from celadon.cel.types import Type
from celadon.late_patterns import late_pattern


class CelError(Exception):
    """Base of everything this room raises on purpose."""


class DeclarationError(CelError):
    """Two declarations of an environment collide."""


class CompileError(CelError):
    """Says that a source does not parse or check; `issues` says why and where."""

    def __init__(self, issues: Issues) -> None:
        super().__init__(issues.display())
        self.issues = issues


class ProgramError(CelError):
    """Planning failed, for instance `int('x')` or a bad constant regular expression."""


class EvaluationError(CelError):
    """Says that an evaluation failed. `str(error)` is cel-go's text.

    A value of the activation that computes itself when it is read may fail by raising one with an
    `origin` of its own: the error that leaves the evaluation because of it has the same. It is
    None for errors of the expression itself.
    """

    __slots__ = ("cost", "origin")

    def __init__(self, message: str, origin: object = None) -> None:
        super().__init__(message)
        self.cost: int | None = None
        self.origin = origin

    @property
    def message(self) -> str:
        """cel-go's text, without prefix or position."""
        return str(self.args[0])


class CostLimitExceeded(EvaluationError):
    """Says that an evaluation costs more than it may; cel-go: `operation cancelled: actual cost
    limit exceeded`. Never absorbed by `&&` or `||`."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Panicked(EvaluationError):
    """Says where cel-go panics: `internal error: ...`. Never absorbed by `&&` or `||`."""

    __slots__ = ()

    def __init__(self, message: str) -> None:
        super().__init__(f"internal error: {message}")


def unhashable(go_name: str) -> Panicked:
    """Go cannot look up a value of that class, nor make it a key."""
    return Panicked(f"runtime error: hash of unhashable type {go_name}")


def no_such_overload(detail: str = "") -> EvaluationError:
    """Return the error `no such overload` or `no such overload: <detail>`."""
    return EvaluationError(f"no such overload: {detail}" if detail else "no such overload")


# --- Source ------------------------------------------------------------------
#
# The text of an expression, and where things are in it.
#
# Positions are code-point offsets into `Source.text` everywhere; only what is shown to people
# is turned into lines and columns. A line ends at `\n` and nowhere else, as in cel-go.
#
# A `str` that came from JSON may hold lone surrogates, which no UTF-8 text can. They become
# U+FFFD, as they do when Go decodes the same JSON.

DEFAULT_DESCRIPTION = "<input>"

#: The offset of what cel-go's parser made up in place of something it could not read.
NOWHERE = -1

_SURROGATE = late_pattern("[\ud800-\udfff]")


class Source:
    """Holds the text of an expression. It never changes. Immutable. `description` is the name that
    error texts show; `older_lines` and `oldest_texts` are those of `Switches`."""

    def __init__(
        self,
        text: str,
        description: str = DEFAULT_DESCRIPTION,
        *,
        older_lines: bool = False,
        oldest_texts: bool = False,
    ) -> None:
        self.older_lines = older_lines
        self.oldest_texts = oldest_texts
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
        """Return the text of a 1-based line without its line end; None if there is no such line."""
        starts = self._line_starts
        if not 1 <= number <= len(starts):
            return None
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end]


# --- Issues ------------------------------------------------------------------
#
# Problems found while compiling, and the text a client sees of them.
#
# Each phase has its own `Issues`. The layout of the text is cel-go's (`common/error.go`,
# `common/errors.go`) to the letter, because Kubernetes puts it into API responses.

#: Issues kept per phase; further ones are only counted (cel-go `common/errors.go`).
MAX_ISSUES = 100
SYNTAX_ERROR = "Syntax error: "
"""How messages of the grammar begin."""
#: Longest line shown below an issue, in UTF-8 bytes (cel-go `common/error.go`).
MAX_SNIPPET_BYTES = 16384
#: Line and column of an issue that has no position.
NO_LOCATION = (-1, -1)

_DOT, _WIDE_DOT = ".", "．"
_CARET, _WIDE_CARET = "^", "＾"


class IssueKind(enum.Enum):
    """Says what types are to an issue."""

    OTHER = "no types"
    NO_OVERLOAD = "the operands, the receiver's first"
    TYPE_MISMATCH = "the expected one and the actual one"
    NOT_A_RANGE = "that of what is iterated"


class Issue(NamedTuple):
    """Says what is wrong with an expression, and where. `offset` is None if the expression as a
    whole is wrong. `node` is the blamed node's id. `types` are those in the message; what they are
    says `kind`."""

    message: str
    offset: int | None
    node: int | None = None
    kind: IssueKind = IssueKind.OTHER
    types: tuple[Type, ...] = ()


class Issues:
    """Collects the issues of one phase in the order found. Falsy when there is none."""

    __slots__ = ("_count", "_issues", "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self._issues: list[Issue] = []
        self._count = 0

    def add(self, message: str, offset: int | None, node: int | None = None) -> None:
        """Collect a problem at a code-point offset (None: of the expression as a whole), blamed on
        a node's id."""
        self.append(Issue(message, offset, node))

    def append(self, issue: Issue) -> None:
        """Collect a problem; beyond `MAX_ISSUES` it is only counted."""
        self._count += 1
        if self._count <= MAX_ISSUES:
            self._issues.append(issue)

    def __bool__(self) -> bool:
        return self._count > 0

    def __len__(self) -> int:
        """All issues found, also those too many to keep."""
        return self._count

    def __iter__(self) -> Iterator[Issue]:
        """Yield the kept issues by line and column, in the order found where these are equal."""
        return iter(sorted(self._issues, key=self.location))

    def location(self, issue: Issue) -> tuple[int, int]:
        """1-based line and 0-based column, `NO_LOCATION` where the issue has none."""
        return NO_LOCATION if issue.offset is None else self.source.location(issue.offset)

    def display(self) -> str:
        """Return all issues with the lines they are in, joined by line feeds, without a final
        one."""
        lines = [
            self._display_one(issue) for issue in sorted(self._issues, key=self._shown_location)
        ]
        if self._count > MAX_ISSUES:
            lines.append(f"{self._count - MAX_ISSUES} more errors were truncated")
        return "\n".join(lines)

    def _shown_location(self, issue: Issue) -> tuple[int, int]:
        """Return the location that is shown. What begins a line stood behind the end of the one
        before, except to the grammar (once to all that parses, which blames no node). And an empty
        text had a first column."""
        line, column = self.location(issue)
        if self.source.older_lines and not self.source.text:
            return line, 0
        is_moved = self.source.older_lines and line > 1 and column == 0
        is_of_parser = self.source.oldest_texts and issue.node is None
        if not is_moved or is_of_parser or issue.message.startswith(SYNTAX_ERROR):
            return line, column
        _, last = self.source.location((issue.offset or 0) - 1)
        return line - 1, last + 1

    def _display_one(self, issue: Issue) -> str:
        line, column = self._shown_location(issue)
        message = issue.message
        if self.source.oldest_texts and issue.node is not None:  # the checker's, which name types
            message = message.replace("optional_type(", "optional(")
        text = f"ERROR: {self.source.description}:{line}:{column + 1}: {message}"
        snippet = self.source.line(line) if self.source.text else None
        if snippet is None or len(snippet.encode()) > MAX_SNIPPET_BYTES:
            return text
        snippet = snippet.replace("\t", " ")
        return f"{text}\n | {snippet}\n | {_pointer(snippet, column)}"


def _pointer(snippet: str, column: int) -> str:
    """Dots up to the column and a caret; wide ones below characters of several UTF-8 bytes."""
    column = max(column, 0)
    dots = "".join(_DOT if c.isascii() else _WIDE_DOT for c in snippet[:column])
    character = snippet[column : column + 1]
    return dots + (_CARET if character.isascii() else _WIDE_CARET)
