"""The files of a workspace as an editor has them, read and linted together.

A file that is open counts as it is in the editor, any other as it is on disk. A change reads one
file again; what is known of the documents that did not change stays (`LintMemory`), and so every
answer is that of a fresh analysis.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Final

from celadon.admission.lint import LintMemory, Severity, TypedScopes
from celadon.cli.language_server.foreign_files import is_template, may_have_expressions
from celadon.cli.language_server.text_positions import Lines, Position, Span
from celadon.cli.laying_out.file_layout import text_layout
from celadon.cli.laying_out.layout_config import LayoutConfig
from celadon.cli.linting.lint_run import LintInput, LintSetup, Shown, findings
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import Exclusion, Text, expand, is_test_file, read
from celadon.kube.well_known_values import DEFINITION_KIND
from celadon.patterns import late_pattern
from celadon.records import dataclass

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
        """For positions in it."""
        return Lines(self.text.content)

    @cached_property
    def is_template(self) -> bool:
        """Whether it is not for us before somebody renders it."""
        return is_template(self.text.content)


def edited_file(path: str, content: str) -> EditedFile:
    """A file with this content, whose lines may end as an editor's may."""
    text = Text(path, content.replace("\r\n", "\n").replace("\r", "\n"))
    found = list(DocumentReader().read(text))
    problems = (one for one in found if isinstance(one, Problem))
    return EditedFile(
        text,
        tuple(one for one in found if not isinstance(one, Problem)),
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
    shown: Shown | None = None
    document: Document | None = None


@dataclass(frozen=True, slots=True)
class TextEdit:
    """What stands at a span of a file becomes `text`."""

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
        if not Path(folder).is_dir():
            return
        for number, path in enumerate(expand([folder], Exclusion(tuple(exclude)))):
            if isinstance(path, Problem) or number >= MAX_FILES:
                continue
            self.reload(path)

    def reload(self, path: str) -> None:
        """A file has changed on disk, or is gone."""
        text = read(path)
        if isinstance(text, Problem) or is_test_file(path):
            self._on_disk.pop(path, None)
            self.files.pop(path, None)
        else:
            self.files[path] = self._on_disk[path] = edited_file(path, text.content)

    def change(self, path: str, content: str) -> None:
        """A file is like that in the editor now."""
        self.files[path] = edited_file(path, content)

    def close(self, path: str) -> None:
        """A file counts as it is on disk again."""
        if path in self._on_disk:
            self.files[path] = self._on_disk[path]
        else:
            self.files.pop(path, None)

    def diagnoses(self) -> dict[str, list[Diagnosis]]:
        """What `celadon lint` says of all files, by file."""
        given = LintInput(
            {path: one.text for path, one in sorted(self.files.items())},
            [document for _, one in sorted(self.files.items()) for document in one.documents],
        )
        shown, _ = findings(given, self.setup, self._memory)
        found: dict[str, list[Diagnosis]] = {path: [] for path in self.files}
        for one in shown:
            finding = one.finding
            document = None if finding is None else given.documents[finding.spot.document]
            file = self.files[one.located.file]
            found[one.located.file].append(_of_finding(file, one, document))
        problems = [problem for one in self.files.values() for problem in one.problems]
        for problem in (*problems, *given.problems):
            found[problem.file].append(_of_problem(self.files[problem.file], problem))
        return {path: [] if self.files[path].is_template else found[path] for path in found}

    def layout_edits(self, path: str, span: Span | None = None) -> list[TextEdit]:
        """What puts the expressions of a file, or of a part of it, in their layout."""
        file = self.files[path]
        edits = [
            TextEdit(path, file.lines.span(one.edit.start, one.edit.end), one.edit.text)
            for one in text_layout(file.text, self.layout.line_width).misplaced
        ]
        return [one for one in edits if span is None or _touch(one.span, span)]

    def scopes(self) -> TypedScopes:
        """What expressions may name, by the definitions in the workspace."""
        definitions = [
            document.value
            for one in self.files.values()
            for document in one.documents
            if document.group_kind == DEFINITION_KIND
        ]
        key = repr(definitions)
        if self._scopes is None or self._scopes[0] != key:
            self._scopes = key, TypedScopes(definitions, self.setup.settings)
        return self._scopes[1]


def _touch(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end


def _of_finding(file: EditedFile, shown: Shown, document: Document | None) -> Diagnosis:
    one = shown.located
    span = _word(file.lines, one.line, one.column)
    return Diagnosis(span, one.severity, one.message, one.code, one.help, shown, document)


def _of_problem(file: EditedFile, problem: Problem) -> Diagnosis:
    span = _word(file.lines, max(problem.line, 1), max(problem.column, 1))
    return Diagnosis(span, Severity.ERROR, problem.message, "", problem.help)


def _word(lines: Lines, line: int, column: int) -> Span:
    """The word that begins at a line and a column, both from 1, the latter in characters."""
    start = lines.offset(Position(line - 1, 0)) + column - 1
    found = _WORD.match(lines.line(line - 1), column - 1)
    return lines.span(start, start if found is None else start + len(found[0]))
