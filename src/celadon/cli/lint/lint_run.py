"""Files to findings: read, lint, find the places, drop what comments silence; and safe fixes,
written into the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from celadon.admission.lint import (
    Finding,
    LintMemory,
    Removal,
    Replacement,
    Rule,
    Settings,
    chosen,
    lint,
)
from celadon.cli.fmt import Edit, layout_config
from celadon.cli.lint.file_rules import (
    EVERY_RULE,
    UNFORMATTED,
    UNUSED_COMMENT,
    Comments,
    is_asked,
    unformatted,
    unused_comments,
)
from celadon.cli.lint.lint_config import LintConfig, unknown_rule
from celadon.cli.lint.lint_report import LocatedFinding
from celadon.cli.project_config import ChangedFile, changed_file, other_file, passed_over
from celadon.cli.reading.documents import (
    Document,
    DocumentReader,
    Exclusion,
    Problem,
    Text,
    chunk_start,
    crash,
    expand_paths,
    read_text,
    shape_problem,
)
from celadon.kube import metadata
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, DEFINITION_KIND
from celadon.patterns import late_pattern
from celadon.records import dataclass, field


@dataclass(slots=True)
class LintInput:
    """The files and the documents in them."""

    texts: dict[str, Text] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    others: list[Problem] = field(default_factory=list)
    """The files of folders that are no manifests."""


def read(arguments: Sequence[str], exclude: Sequence[str] = ()) -> LintInput:
    """Everything that the arguments name, but what is to be left out."""
    found = LintInput()
    reader = DocumentReader()
    for file in expand_paths(arguments, Exclusion(exclude)):
        text = file if isinstance(file, Problem) else read_text(file)
        if isinstance(text, Problem):
            found.problems.append(text)
            continue
        if other := passed_over(text, arguments):
            found.others.append(other_file(text.file, other))
            continue
        found.texts[text.file] = text
        for item in reader.read(text):
            wrong = item if isinstance(item, Problem) else _unusable(item)
            if wrong is not None:
                found.problems.append(wrong)
            elif isinstance(item, Document):
                found.documents.append(item)
    return found


def _unusable(document: Document) -> Problem | None:
    """Return why nothing can be known of a definition, if so; of other objects the linter says
    it."""
    is_definition = metadata.gvk(document.value)[::2] == DEFINITION_KIND
    return shape_problem(document) if is_definition else None


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding that is not silenced, as it is shown and, if it is about an object, as it was
    found."""

    located: LocatedFinding
    finding: Finding | None = None


@dataclass(frozen=True, slots=True)
class FileIgnores:
    """Rules that do not count in some files."""

    files: Exclusion
    rules: tuple[str, ...]

    def covers(self, file: str, code: str, name: str) -> bool:
        """Return whether a finding of a rule in a file does not count."""
        named = any(code.startswith(one) or one == name for one in self.rules)
        return named and self.files.covers(file)


@dataclass(frozen=True, slots=True)
class LintSetup:
    """The releases, the rules, and the rules that do not count in some files."""

    settings: Settings
    rules: tuple[Rule, ...]
    per_file: tuple[FileIgnores, ...] = ()


def findings(
    given: LintInput, setup: LintSetup, memory: LintMemory | None = None
) -> tuple[list[Shown], int]:
    """Return what is to be shown, and how many findings comments silence. `memory` makes a run over
    nearly the same files cheap."""
    rules, per_file = setup.rules, setup.per_file
    names = {rule.code: rule.name for rule in rules}
    comments = {file: Comments(text.content) for file, text in given.texts.items()}
    for file, found in comments.items():
        given.problems += _unknown_names(file, found)
    lines = {file: text.content.split("\n") for file, text in given.texts.items()}
    shown = []
    silenced = 0
    for finding in _found(given, setup, memory):
        document = given.documents[finding.spot.document]
        line, column = place(document, finding)
        name, file = names[finding.code], document.file
        if any(one.covers(file, finding.code, name) for one in per_file):
            continue
        if comments[file].silence(finding.code, name, *_lines(document, finding, line)):
            silenced += 1
            continue
        located = LocatedFinding(
            finding.code,
            name,
            finding.severity,
            file,
            line,
            column,
            finding.spot.field,
            f"{document.value['kind']} {metadata.name(document.value)}".rstrip(),
            finding.message,
            finding.help,
            finding.fix is not None,
            lines[file][line - 1] if line <= len(lines[file]) else "",
        )
        shown.append(Shown(located, finding))
    for file, text in given.texts.items() if UNFORMATTED in rules else ():
        width = layout_config(Path.cwd()).line_width
        for one in unformatted(text, width, lines[file]):
            if comments[file].silence(one.code, one.name, one.line):
                silenced += 1
            elif not any(ignored.covers(file, one.code, one.name) for ignored in per_file):
                shown.append(Shown(one))
    for file, said in comments.items():
        if not any(one.covers(file, UNUSED_COMMENT.code, UNUSED_COMMENT.name) for one in per_file):
            shown += map(Shown, unused_comments(file, said, lines[file], rules))
    return sorted(shown, key=lambda one: _order(one.located)), silenced


_NOTHING: Final = {"apiVersion": "celadon.dev/v1", "kind": "Nothing"}
"""Stands in the place of a document that cannot be linted."""


def _unknown_names(file: str, comments: Comments) -> Iterator[Problem]:
    """A misspelt comment silences nothing, or less than its writer believes."""
    for comment in comments.all():
        wrong = unknown_rule(comment.names)
        if wrong:
            yield Problem(file, comment.line, f"a comment silences what is not there: {wrong}")


def _found(given: LintInput, setup: LintSetup, memory: LintMemory | None) -> list[Finding]:
    """The findings of all documents. Where one brings about an error of ours, it becomes a problem,
    and the others are linted without it."""
    settings, rules = setup.settings, setup.rules
    values = [one.value for one in given.documents]
    try:
        return lint(values, settings, rules, memory)
    except Exception:
        for number, document in enumerate(given.documents):
            alone = [value if i == number else _NOTHING for i, value in enumerate(values)]
            try:
                lint(alone, settings, rules)
            except Exception as its_error:  # noqa: BLE001
                values[number] = _NOTHING
                problem = crash(document.file, document.line(), "linting it", its_error)
                given.problems.append(problem)
        if _NOTHING not in values:  # none of them alone
            raise
        return lint(values, settings, rules)


def place(document: Document, finding: Finding) -> tuple[int, int]:
    """Line and column of a finding."""
    path = (*document.path, *finding.spot.path.steps)
    value = document.value_at(finding.spot.path.steps)
    if finding.spot.offset is None or not isinstance(value, str):
        return document.chunk.spot(path)
    return document.chunk.spot(path, value, finding.spot.offset)


def registered(given: LintInput) -> int:
    """Return how many objects there are to lint."""
    return sum(
        kind.group == ADMISSION_REGISTRATION or kind[::2] == DEFINITION_KIND
        for kind in (metadata.gvk(one.value) for one in given.documents)
    )


def _lines(document: Document, finding: Finding, line: int) -> Iterable[int]:
    """Return where a comment may stand that silences it: at the finding, or at its field."""
    path = (*document.path, *finding.spot.path.steps)
    return line, document.chunk.spot(path)[0]


def _order(one: LocatedFinding) -> tuple[str, int, int, str]:
    return one.file, one.line, one.column, one.code


# --- the configuration of a run -------------------------------------------------------------------


def lint_setup(config: LintConfig) -> LintSetup:
    """Return what a configuration means."""
    versions = sorted(set(config.kubernetes_versions), key=lambda one: int(one.split(".")[1]))
    ignored = config.ignore if is_asked(config.select) else (*config.ignore, UNFORMATTED.code)
    return LintSetup(
        Settings(versions[-1], tuple(versions[:-1]), config.large_object * 1024),
        tuple(chosen(config.select, ignored, EVERY_RULE)),
        tuple(FileIgnores(Exclusion([one]), names) for one, names in config.per_file_ignores),
    )


# --- Safe fixes --------------------------------------------------------------
#
# Safe fixes, written into the files.
#
# A replacement is made only where the file has, letter for letter, what the rule saw: not where
# an escape stands in between. An item is removed from a list only if it is a plain word on a line
# of its own, or in brackets. Of two fixes that touch each other the first is made; another run
# makes the second. A file keeps its encoding and line ends; one that changed meanwhile, or has
# line ends of both kinds, stays as it is.

_OWN_LINE: Final = late_pattern(r"[ \t]*-[ \t]+[^\n]*(?:\n|\Z)")
_COMMA_BEFORE: Final = late_pattern(r",\s*\Z")
_COMMA_BEHIND: Final = late_pattern(r"\s*,\s*")


def fixes(given: LintInput, wanted: Sequence[Finding]) -> list[ChangedFile]:
    """The files that change; nothing is written."""
    edits: dict[str, list[Edit]] = {}
    for finding in wanted:
        document = given.documents[finding.spot.document]
        edit = fix_edit(given.texts[document.file], document, finding)
        if edit is not None:
            edits.setdefault(document.file, []).append(edit)
    changed = (_fixed(given.texts[file], found) for file, found in edits.items())
    return [one for one in changed if one is not None]


def fix_edit(text: Text, document: Document, finding: Finding) -> Edit | None:
    """Return what the fix of a finding does to the text of its file; None if it has none that is
    safe."""
    edit = _edit(document, finding)
    base = None if edit is None else chunk_start(text, document)
    if edit is None or base is None:
        return None
    return Edit(edit.start + base, edit.end + base, edit.text)


def _edit(document: Document, finding: Finding) -> Edit | None:
    wanted = finding.fix
    if isinstance(wanted, Replacement):
        return _replacement(document, wanted)
    return _removal(document, wanted) if isinstance(wanted, Removal) else None


def _replacement(document: Document, wanted: Replacement) -> Edit | None:
    path = wanted.spot.path.steps
    value = document.value_at(path)
    start = wanted.spot.offset or 0
    end = start + len(wanted.old)
    if not isinstance(value, str) or value[start:end] != wanted.old:
        return None
    found = document.chunk.source_of((*document.path, *path), value, start, end)
    if found is None or document.chunk.text[slice(*found)] != wanted.old:
        return None
    return Edit(*found, _written(wanted.text, document, (*document.path, *path)))


def _written(text: str, document: Document, path: tuple[str | int, ...]) -> str:
    """The text in the style of the scalar at a path."""
    if document.chunk.is_json or document.chunk.style(path) == '"':
        return json.dumps(text, ensure_ascii=False)[1:-1]
    return text.replace("'", "''") if document.chunk.style(path) == "'" else text


def _removal(document: Document, wanted: Removal) -> Edit | None:
    """Return how one item of a list that has others is removed."""
    path = wanted.spot.path.steps
    if document.chunk.is_json or not path:
        return None
    node = document.chunk.node()
    for step in (*document.path, *path[:-1]):
        if step not in node.children:
            return None
        node, _ = node.children[step]
    if path[-1] not in node.children or len(node.children) < 2:
        return None
    item, _ = node.children[path[-1]]
    text = document.chunk.text
    if node.is_flow:
        return _from_flow(text, item.start, item.end)
    start = text.rfind("\n", 0, item.start) + 1
    line = _OWN_LINE.match(text, start)
    return None if line is None or item.end > line.end() else Edit(start, line.end(), "")


def _from_flow(text: str, start: int, end: int) -> Edit:
    before = _COMMA_BEFORE.search(text, 0, start)
    if before is not None:
        return Edit(before.start(), end, "")
    behind = _COMMA_BEHIND.match(text, end)
    return Edit(start, end if behind is None else behind.end(), "")


def _fixed(text: Text, edits: Iterable[Edit]) -> ChangedFile | None:
    content = text.content
    made = 0
    reached = len(content) + 1
    for edit in sorted(set(edits), reverse=True):
        if edit.end <= reached:
            content = content[: edit.start] + edit.text + content[edit.end :]
            reached = edit.start
            made += 1
    return changed_file(text, content, made)
