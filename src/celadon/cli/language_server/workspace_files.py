"""The files of a workspace as an editor has them, read and linted together.

A file that is open counts as it is in the editor, any other as it is on disk. A change reads one
file again; what is known of the documents that did not change stays (`LintMemory`), and so every
answer is that of a fresh analysis.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cached_property
from typing import Final, NamedTuple

from celadon.admission.lint import LintMemory, Severity, TypedScopes
from celadon.cli.fmt import LayoutConfig, expression_fields, text_layout
from celadon.cli.lint import LintInput, LintSetup, ShownFinding, findings
from celadon.cli.reading.documents import (
    Document,
    DocumentReader,
    Exclusion,
    Problem,
    Text,
    chunk_start,
    expand_paths,
    is_test_file,
    read_text,
)
from celadon.cli.reading.json_text import Path as JsonPath
from celadon.cli.reading.locations import value_offset
from celadon.kube.well_known_values import (
    ADMISSION_REGISTRATION,
    DEFINITION_KIND,
    DYNAMIC_RESOURCES,
)
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field

# --- Foreign files -----------------------------------------------------------
#
# Files of a workspace that are none of ours: an editor opens all YAML there is.
#
# Of a chart's templates nothing is said, since they are no YAML before they are rendered. Of
# files that cannot be read, or hold something else than objects, something is said only if they
# name a group whose objects have expressions: others have their own tools.

_ACTION: Final = late_pattern(
    r"\{\{-?\s*"
    r"(?:/\*|[.$(]|(?:if|else|end|with|range|define|include|template|block)\b"
    r"|(?:default|fromYaml|indent|nindent|print|printf|quote|required|toJson|toYaml|tpl)\b)"
    r"[^{}\n]*\}\}"
)
"""A few of Go's templates, none of which is CEL: a map is no key there."""
_GROUPS: Final = (ADMISSION_REGISTRATION, DEFINITION_KIND[0], DYNAMIC_RESOURCES)


def is_template(content: str) -> bool:
    """Return whether a text is to be rendered by Helm, or something like it."""
    return "{{" in content and _ACTION.search(content) is not None


def may_have_expressions(content: str) -> bool:
    """Return whether a text names a group whose objects have expressions."""
    return any(group in content for group in _GROUPS)


# --- Text positions ----------------------------------------------------------
#
# Lines and columns as editors count them: from 0, columns in units of UTF-16.


class Position(NamedTuple):
    """A place between two characters."""

    line: int
    column: int


class Span(NamedTuple):
    """Reaches from one place to another."""

    start: Position
    end: Position


class Lines:
    """The lines of a text, whose ends are `\\n`. Nothing takes longer for a long line: a file of
    JSON may be one of megabytes."""

    __slots__ = ("_starts", "_text", "_wide")

    def __init__(self, text: str) -> None:
        self._text = text
        starts = [0]
        index = text.find("\n")
        while index >= 0:
            starts.append(index + 1)
            index = text.find("\n", index + 1)
        self._starts = starts
        self._wide = [] if text.isascii() else [match.start() for match in _WIDE.finditer(text)]

    def line(self, number: int) -> str:
        """Return a line without its end; empty behind the last one."""
        if number >= len(self._starts):
            return ""
        return self._text[self._starts[number] : self._end(number)]

    def end(self, number: int) -> Position:
        """Return where a line ends."""
        return self.position(self._end(number))

    def _end(self, number: int) -> int:
        is_last = number + 1 >= len(self._starts)
        return len(self._text) if is_last else self._starts[number + 1] - 1

    def offset(self, position: Position) -> int:
        """Return the offset in the text; of a place behind a line's end, that of the end."""
        if position.line >= len(self._starts):
            return len(self._text)
        start = self._starts[position.line]
        first = bisect_left(self._wide, start)
        # The n-th character of two units on the line begins at the unit `offset - start + n`.
        behind = bisect_left(
            range(first, len(self._wide)),
            position.column,
            key=lambda number: self._wide[number] - start + number - first,
        )
        offset = start + position.column - behind
        if behind:
            offset = max(offset, self._wide[first + behind - 1] + 1)
        return min(offset, self._end(position.line))

    def position(self, offset: int) -> Position:
        """Return where an offset is."""
        offset = min(offset, len(self._text))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        wide = bisect_left(self._wide, offset) - bisect_left(self._wide, start)
        return Position(line, offset - start + wide)

    def word_end(self, start: int) -> int:
        """Return where the word ends that begins at an offset; the offset itself without one."""
        match = _WORD.match(self._text, start)
        return start if match is None else match.end()

    def span(self, start: int, end: int) -> Span:
        """Return where a stretch of the text is."""
        return Span(self.position(start), self.position(end))


_WIDE: Final = late_pattern(r"[\U00010000-\U0010ffff]")
_WORD: Final = late_pattern(r"\.?\??[A-Za-z_]\w*|\S")
MAX_FILES: Final = 2000
"""Files of a workspace that are read; open ones always are."""


# House rule 9: without slots, because `cached_property` needs the instance dictionary.
@dataclass(frozen=True)
class EditedFile:
    """One file: its text, and what is in it. Without problems if it is none of ours."""

    text: Text
    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]

    @cached_property
    def lines(self) -> Lines:
        """Return the lines of the text, which turn offsets into positions."""
        return Lines(self.text.content)

    @cached_property
    def is_template(self) -> bool:
        """Return whether it is not for us before somebody renders it."""
        return is_template(self.text.content)


def edited_file(path: str, content: str) -> EditedFile:
    """Return a file with this content, whose lines may end as an editor's may."""
    text = Text(path, content.replace("\r\n", "\n").replace("\r", "\n"))
    items = list(DocumentReader().read(text))
    problems = (problem for problem in items if isinstance(problem, Problem))
    return EditedFile(
        text,
        tuple(document for document in items if not isinstance(document, Problem)),
        tuple(problems) if may_have_expressions(content) else (),
    )


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Something to be shown at a place. `shown` is the finding, if it is one of the linter, and
    `document` what it is about."""

    span: Span
    severity: Severity
    message: str
    code: str = ""
    help: str = ""
    shown_finding: ShownFinding | None = None
    document: Document | None = None


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Puts `text` in place of what stands at a span of a file."""

    path: str
    span: Span
    text: str


@dataclass(slots=True)
class Workspace:
    """All files, by their paths as the findings name them."""

    setup: LintSetup
    layout: LayoutConfig = field(default_factory=LayoutConfig)
    files: dict[str, EditedFile] = field(default_factory=dict)
    _on_disk: dict[str, EditedFile] = field(default_factory=dict)
    _memory: LintMemory = field(default_factory=LintMemory)
    _scopes: tuple[str, TypedScopes] | None = None

    def load(self, folder: str, exclude: Iterable[str] = ()) -> None:
        """Read the files below a folder."""
        if not os.path.isdir(folder):
            return
        for number, path in enumerate(expand_paths([folder], Exclusion(tuple(exclude)))):
            if isinstance(path, Problem) or number >= MAX_FILES:
                continue
            self.reload(path)

    def reload(self, path: str) -> None:
        """Reload a file that has changed on disk, or is gone."""
        text = read_text(path)
        if isinstance(text, Problem) or is_test_file(path):
            self._on_disk.pop(path, None)
            self.files.pop(path, None)
        else:
            self.files[path] = self._on_disk[path] = edited_file(path, text.content)

    def change(self, path: str, content: str) -> None:
        """Change a file: it is like that in the editor now."""
        self.files[path] = edited_file(path, content)

    def close(self, path: str) -> None:
        """Close a file: it counts as it is on disk again."""
        if path in self._on_disk:
            self.files[path] = self._on_disk[path]
        else:
            self.files.pop(path, None)

    def diagnoses(self) -> dict[str, list[Diagnosis]]:
        """Return what `celadon lint` says of all files, by file."""
        lint_input = LintInput(
            {path: file.text for path, file in sorted(self.files.items())},
            [document for _, file in sorted(self.files.items()) for document in file.documents],
        )
        shown_findings, _ = findings(lint_input, self.setup, self._memory)
        result: dict[str, list[Diagnosis]] = {path: [] for path in self.files}
        for item in shown_findings:
            finding = item.finding
            document = None if finding is None else lint_input.documents[finding.spot.document]
            file = self.files[item.located.file]
            result[item.located.file].append(_of_finding(file, item, document))
        problems = [problem for file in self.files.values() for problem in file.problems]
        for problem in (*problems, *lint_input.problems):
            result[problem.file].append(_of_problem(self.files[problem.file], problem))
        return {path: [] if self.files[path].is_template else result[path] for path in result}

    def layout_edits(self, path: str, span: Span | None = None) -> list[TextEdit]:
        """Return what puts the expressions of a file, or of a part of it, in their layout."""
        file = self.files[path]
        edits = [
            TextEdit(
                path, file.lines.span(misplaced.edit.start, misplaced.edit.end), misplaced.edit.text
            )
            for misplaced in text_layout(file.text, self.layout.line_width).misplaced
        ]
        return [edit for edit in edits if span is None or _touch(edit.span, span)]

    def scopes(self) -> TypedScopes:
        """Return what expressions may name, by the definitions in the workspace."""
        definitions = [
            document.value
            for file in self.files.values()
            for document in file.documents
            if document.group_kind == DEFINITION_KIND
        ]
        key = repr(definitions)
        if self._scopes is None or self._scopes[0] != key:
            self._scopes = key, TypedScopes(definitions, self.setup.settings)
        return self._scopes[1]


def _touch(span: Span, other: Span) -> bool:
    return span.start <= other.end and other.start <= span.end


def _of_finding(
    file: EditedFile, shown_finding: ShownFinding, document: Document | None
) -> Diagnosis:
    finding = shown_finding.located
    span = _word(file.lines, finding.line, finding.column)
    return Diagnosis(
        span, finding.severity, finding.message, finding.code, finding.help, shown_finding, document
    )


def _of_problem(file: EditedFile, problem: Problem) -> Diagnosis:
    span = _word(file.lines, max(problem.line, 1), max(problem.column, 1))
    return Diagnosis(span, Severity.ERROR, problem.message, "", problem.help)


def _word(lines: Lines, line: int, column: int) -> Span:
    """Return the word that begins at a line and a column, both from 1, the latter in characters."""
    start = lines.offset(Position(line - 1, 0)) + column - 1
    return lines.span(start, lines.word_end(start))


# --- Expression spots --------------------------------------------------------
#
# From a place in a file to a place in an expression, and back.
#
# While something is typed, YAML itself is often broken: a quote is not closed yet, `a ? b : `
# is no plain scalar. If the document cannot be read, it is read again with what stands behind
# the key on the line in quotes.

_KEYED: Final = late_pattern(r"(\s*(?:- +)*[\w\"']+:)(?:[ ]++(.*))?")
_EXPRESSIONS: Final = frozenset({"expression", "messageExpression", "valueExpression", "rule"})


@dataclass(frozen=True, slots=True)
class ExpressionSpot:
    """A place in an expression: `text[:offset]` stands before it. `base` is where the chunk of the
    document begins in the file; None where the file was mended to be read."""

    document: Document
    path: JsonPath
    text: str
    offset: int
    base: int | None

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where a stretch of the expression stands in the file; None where that is not
        known."""
        if self.base is None or start >= end:
            return None
        path = (*self.document.path, *self.path)
        source_of = self.document.chunk.source_of(path, self.text, start, end)
        return None if source_of is None else (source_of[0] + self.base, source_of[1] + self.base)


def expression_spots(file: EditedFile) -> list[ExpressionSpot]:
    """Return all expressions of a file, each with its beginning."""
    result = []
    for document in file.documents:
        fields = list(expression_fields(document.group_kind, document.value))
        base = chunk_start(file.text, document) if fields else None
        result += [ExpressionSpot(document, path, text, 0, base) for path, text in fields]
    return result


def expression_at(file: EditedFile, position: Position) -> ExpressionSpot | None:
    """Return the expression at a place; None where there is none."""
    offset = file.lines.offset(position)
    for document in file.documents:
        base = chunk_start(file.text, document)
        if base is None or not base <= offset <= base + len(document.chunk.text):
            continue
        for path, text in expression_fields(document.group_kind, document.value):
            start, end = document.chunk.span((*document.path, *path))
            if start <= offset - base <= _end(document, end):
                index = value_offset(document.chunk.text, start, text, offset - base)
                return ExpressionSpot(document, path, text, index, base)
    return _mended(file, position)


def _end(document: Document, end: int) -> int:
    """Return where typing still goes on with a scalar: behind the white space on its line."""
    text = document.chunk.text
    while end < len(text) and text[end] in " \t":
        end += 1
    return end


def _mended(file: EditedFile, position: Position) -> ExpressionSpot | None:
    """Return the expression at a place when what stands behind a key on the line is put in quotes,
    as far as it is before the place."""
    line = file.lines.line(position.line)
    match = _KEYED.fullmatch(line)
    if match is None or match[1].strip(" -:\"'") not in _EXPRESSIONS:
        return None
    begin = file.lines.offset(Position(position.line, 0))
    column = file.lines.offset(position) - begin
    if column <= match.end(1):
        return None
    written = (match[2] or "").lstrip("\"'|>-") if match[2] != "" else ""
    written = written.rstrip("\"'") or " "
    shift = line.rfind(written) if written.strip() else len(line)
    before = file.text.content[:begin] + f"{match[1]} {json.dumps(written, ensure_ascii=False)}"
    mended = edited_file(file.text.file, before + file.text.content[begin + len(line) :])
    for spot in expression_spots(mended):
        if spot.document.chunk.span((*spot.document.path, *spot.path)) == _quoted(spot, before):
            index = min(max(column - shift, 0), len(spot.text))
            return ExpressionSpot(spot.document, spot.path, spot.text, index, None)
    return None


def _quoted(spot: ExpressionSpot, before: str) -> tuple[int, int] | None:
    """Return the scalar that ends where the mended line does."""
    if spot.base is None:
        return None
    end = len(before) - spot.base
    start, found_end = spot.document.chunk.span((*spot.document.path, *spot.path))
    return (start, end) if found_end == end else None
