"""`celadon lint`: files to findings, configured, silenced by comments, and fixed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from celadon.admission.lint import (
    RULES,
    Finding,
    LintMemory,
    Removal,
    Replacement,
    Rule,
    Settings,
    Severity,
    chosen,
    lint,
)
from celadon.cli import project_config
from celadon.cli.exit_codes import Exit
from celadon.cli.fmt import ChangedFile, Edit, changed_file, edited, layout_config, text_layout
from celadon.cli.options import DEFAULT_VERSION, did_you_mean, kubernetes_version
from celadon.cli.reading.documents import (
    Document,
    DocumentReader,
    Exclusion,
    Problem,
    Text,
    chunk_start,
    crash,
    exit_of,
    read_texts,
    shape_problem,
)
from celadon.kube import FieldPath, JsonObject, metadata
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, DEFINITION_KIND
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field

# --- What was found ----------------------------------------------------------

# What `celadon lint` found, as one value; every output format is made from it.

LEVELS: Final = (Severity.ERROR, Severity.WARNING, Severity.INFO)
"""The worst first."""


@dataclass(frozen=True, slots=True)
class LocatedFinding:
    """A finding where a reader sees it. `column` counts characters from 1. `subject` is the object,
    e.g. `ValidatingAdmissionPolicy limit`; `line_text` the line of the file."""

    code: str
    name: str
    severity: Severity
    file: str
    line: int
    column: int
    field: str
    subject: str
    message: str
    help: str = ""
    is_fixable: bool = False
    line_text: str = ""

    @property
    def place(self) -> str:
        """Return the place: `file:line:column`."""
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class LintReport:
    """Everything, in the order of the inputs. `fail_on` is the least severity that fails the run;
    None: nothing does."""

    findings: tuple[LocatedFinding, ...] = ()
    problems: tuple[Problem, ...] = ()
    objects: int = 0
    suppressed: int = 0
    fixed: int = 0
    fail_on: Severity | None = Severity.ERROR

    def count(self, severity: Severity) -> int:
        """Return how many findings are of this severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def only_failing(self) -> LintReport:
        """Return a report with no findings but those that fail the run."""
        failing = tuple(finding for finding in self.findings if finding.severity in self.failing)
        return replace(self, findings=failing)

    @property
    def failing(self) -> tuple[Severity, ...]:
        """Return the severities that fail the run."""
        return LEVELS[: LEVELS.index(self.fail_on) + 1] if self.fail_on is not None else ()

    @property
    def exit(self) -> Exit:
        """A defect of ours goes before unreadable input, and that before findings."""
        if self.problems:
            return exit_of(self.problems)
        return Exit.DENIED if any(map(self.count, self.failing)) else Exit.OK


# --- Rules about files -------------------------------------------------------

# The rules about files rather than objects: CEL098 (layout) and CEL099 (comments that silence
# nothing), and the comments themselves.
#
# CEL099 speaks of a comment, or of one rule in its
# brackets, if every rule that is meant was asked and none of them had anything to say there.

# --- CEL098 ------------------------------------------------------------------
#
# CEL098: expressions that are not in the layout of `celadon fmt`.
#
# The one rule that is asked only by its name or its code: who does not use `celadon fmt` need not
# hear of it.

_BAD_LAYOUT: Final = """\
validations:
- expression: object.spec.replicas<=5&&object.spec.paused
"""
_GOOD_LAYOUT: Final = """\
validations:
- expression: object.spec.replicas <= 5 && object.spec.paused
"""

UNFORMATTED: Final = Rule(
    "CEL098",
    "unformatted",
    Severity.INFO,
    "An expression is not in the layout that `celadon fmt` gives it. This rule speaks only where "
    "it is selected by its name or its whole code.",
    _BAD_LAYOUT,
    _GOOD_LAYOUT,
    lambda _: (),  # it is about files
)


def is_asked(select: Sequence[str]) -> bool:
    """Return whether a selection of rules names it."""
    return UNFORMATTED.name in select or UNFORMATTED.code in select


def unformatted(text: Text, width: int, lines: Sequence[str]) -> Iterator[LocatedFinding]:
    """Yield the expressions of a text that are not in their layout."""
    for misplaced in text_layout(text, width).misplaced:
        line, column = misplaced.document.chunk.spot((*misplaced.document.path, *misplaced.path))
        value = misplaced.document.value
        yield LocatedFinding(
            UNFORMATTED.code,
            UNFORMATTED.name,
            UNFORMATTED.severity,
            text.file,
            line,
            column,
            FieldPath(*misplaced.path).text,
            f"{value['kind']} {metadata.name(value)}".rstrip(),
            "this expression is not in its layout",
            "`celadon fmt` puts it there",
            line_text=lines[line - 1],
        )


# --- Comments ----------------------------------------------------------------
#
# Comments that silence findings.
#
#     # celadon: ignore[CEL025]              on the line of the finding or of its field, or above
#     // celadon: ignore[optional-field]     the same inside an expression of several lines
#     # celadon: ignore                      every rule
#     # celadon: ignore-file[CEL041]         anywhere: the whole file
#
# Rules go by their code, the beginning of it, or their name; several are separated by commas.

_COMMENT: Final = late_pattern(r"(?:#|//)\s*celadon:\s*ignore(-file)?(?![\w-])(?:\[([^\]]*)\])?")
_ONLY_COMMENT: Final = late_pattern(r"\s*(?:#|//)")


@dataclass(frozen=True, slots=True)
class Silenced:
    """Holds what one comment silences; without names: everything. Line and column count from
    1."""

    line: int
    column: int
    names: tuple[str, ...]

    def covering(self, code: str, name: str) -> list[str]:
        """Return the words of its names that mean this rule; an empty one for everything."""
        return [text for text in self.names or ("",) if self.about(text, code, name)]

    @staticmethod
    def about(word: str, code: str, name: str) -> bool:
        """Return whether a name in a comment means this rule."""
        return code.startswith(word) or word == name


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
            for match in _COMMENT.finditer(line):
                names = tuple(word.strip() for word in (match[2] or "").split(",") if word.strip())
                comment = Silenced(number, match.start() + 1, names)
                if match[1]:
                    self._of_file.append(comment)
                else:
                    self._of_lines.setdefault(number, []).append(comment)

    def all(self) -> Iterator[Silenced]:
        """Yield every comment of the file."""
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
        used = [(comment, text) for comment in comments for text in comment.covering(code, name)]
        self._used.update(used)
        return bool(used)

    def unused(self) -> Iterator[tuple[Silenced, str]]:
        """Yield the comments, and which of their names, that have silenced nothing so far."""
        for comment in self.all():
            for name in comment.names or ("",):
                if (comment, name) not in self._used:
                    yield comment, name


# --- CEL099 ------------------------------------------------------------------

_BAD: Final = """\
validations:
- expression: object.spec.replicas <= 5  # celadon: ignore[CEL025]
"""
_GOOD: Final = """\
validations:
- expression: object.spec.replicas <= 5
"""

UNUSED_COMMENT: Final = Rule(
    "CEL099",
    "unused-comment",
    Severity.WARNING,
    "A comment silences a rule that has nothing to say there: what it was about has been put "
    "right, or it stands on the wrong line. It would hide the next mistake.",
    _BAD,
    _GOOD,
    lambda _: (),  # it is not about objects
)

EVERY_RULE: Final = (*RULES, UNFORMATTED, UNUSED_COMMENT)
"""All rules that users can name."""


def unused_comments(
    file: str, comments: Comments, lines: Sequence[str], rules: Sequence[Rule]
) -> Iterator[LocatedFinding]:
    """To be asked when all findings have been looked at; nothing if the rule was not chosen."""
    if UNUSED_COMMENT not in rules:
        return
    for comment, name in comments.unused():
        matches = [rule for rule in RULES if comment.about(name, rule.code, rule.name)]
        if not matches or any(rule not in rules for rule in matches):
            continue
        subject = f"`{name}`" if name else "anything"
        yield LocatedFinding(
            UNUSED_COMMENT.code,
            UNUSED_COMMENT.name,
            UNUSED_COMMENT.severity,
            file,
            comment.line,
            comment.column,
            "",
            "comment",
            f"there is no finding of {subject} that this comment could silence",
            "take it away",
            line_text=lines[comment.line - 1],
        )


# --- Configuration -----------------------------------------------------------

# The configuration of `celadon lint`: `[lint]` in celadon.toml, `[tool.celadon.lint]` in
# pyproject.toml.
#
# The nearest file counts, from the working directory upwards; in one folder celadon.toml goes
# before pyproject.toml. Options of the command line go before the file.
#
#     [lint]
#     select = ["CEL0"]
#     ignore = ["CEL041", "status-warning"]
#     kubernetes-versions = ["1.33", "1.36"]
#     fail-on = "warning"
#     large-object = 512
#     exclude = ["*/drafts"]
#     [lint.per-file-ignores]
#     "legacy/*" = ["CEL041"]

FAIL_ON: Final = {
    **{name: name for name in ("error", "warning", "info", "never")},
    "warn": "warning",
}
"""What `fail-on` may be, and what it means."""


@dataclass(frozen=True, slots=True)
class LintConfig:
    """Holds the settings of lint. `large_object` is in KiB. The field names are the keys of the
    file, with underscores."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    kubernetes_versions: tuple[str, ...] = (DEFAULT_VERSION,)
    fail_on: str = "error"
    large_object: int = 256
    exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Patterns of files, each with the rules that do not count there."""

    @property
    def named(self) -> tuple[str, ...]:
        """Return all rules that it names."""
        ignored = (name for _, names in self.per_file_ignores for name in names)
        return (*self.select, *self.ignore, *ignored)


def find_config(
    folder: Path, project: project_config.Project = project_config.NO_PROJECT
) -> LintConfig:
    """Return the configuration that applies in a folder, on top of what all commands share there.
    Raises `ConfigError`."""
    default = LintConfig(kubernetes_versions=(project.version or DEFAULT_VERSION,))
    table = project_config.nearest_table(folder, "lint")
    config = default if table is None else _config(*table, default)
    return replace(config, exclude=(*project.exclude, *config.exclude))


def _config(path: Path, table: JsonObject, default: LintConfig) -> LintConfig:
    options = {field.name.replace("_", "-"): field.name for field in fields(LintConfig)}
    values = {}
    for key, value in table.items():
        if key not in options:
            raise project_config.ConfigError(
                f"{path}: no option `{key}`{did_you_mean(key, options)}"
            )
        values[options[key]] = _value(path, key, value)
    config = replace(default, **values)
    wrong = unknown_rule(config.named)
    if wrong:
        raise project_config.ConfigError(f"{path}: {wrong}")
    return config


def _value(path: Path, key: str, value: object) -> Any:  # noqa: ANN401 - any JSON
    if key == "large-object":
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise project_config.ConfigError(f"{path}: `{key}` must be a number of KiB")
        return value
    if key == "fail-on":
        if not isinstance(value, str) or value not in FAIL_ON:
            raise project_config.ConfigError(f"{path}: `{key}` must be one of {', '.join(FAIL_ON)}")
        return FAIL_ON[value]
    if key == "per-file-ignores":
        if not isinstance(value, dict):
            raise project_config.ConfigError(f"{path}: `{key}` must be a table")
        return tuple((pattern, _value(path, pattern, names)) for pattern, names in value.items())
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise project_config.ConfigError(f"{path}: `{key}` must be a list of texts")
    if key == "kubernetes-versions":
        try:
            return tuple(map(kubernetes_version, value)) or (DEFAULT_VERSION,)
        except argparse.ArgumentTypeError as error:
            raise project_config.ConfigError(f"{path}: {error}") from error
    return tuple(value)


def unknown_rule(names: tuple[str, ...]) -> str:
    """Return what is wrong with the first name that no rule goes by; empty if all are good."""
    for name in names:
        if not name or not any(
            rule.code.startswith(name) or rule.name == name for rule in EVERY_RULE
        ):
            every = [word for rule in EVERY_RULE for word in (rule.code, rule.name)]
            return f"no rule `{name}`{did_you_mean(name, every)}"
    return ""


# --- Files to findings -------------------------------------------------------

# Files to findings: read, lint, find the places, drop what comments silence; and safe fixes,
# written into the files.


@dataclass(slots=True)
class LintInput:
    """The files and the documents in them."""

    texts: dict[str, Text] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    others: list[Problem] = field(default_factory=list)
    """The files of folders that are no manifests."""


def read(arguments: Sequence[str], exclude: Sequence[str] = ()) -> LintInput:
    """Return everything that the arguments name, but what is to be left out."""
    lint_input = LintInput()
    reader = DocumentReader()
    for text in read_texts(arguments, Exclusion(exclude)):
        if isinstance(text, Problem):
            lint_input.problems.append(text)
            continue
        if other := project_config.passed_over(text, arguments):
            lint_input.others.append(project_config.other_file(text.file, other))
            continue
        lint_input.texts[text.file] = text
        for item in reader.read(text):
            wrong = item if isinstance(item, Problem) else _unusable(item)
            if wrong is not None:
                lint_input.problems.append(wrong)
            elif isinstance(item, Document):
                lint_input.documents.append(item)
    return lint_input


def _unusable(document: Document) -> Problem | None:
    """Return why nothing can be known of a definition, if so; of other objects the linter says
    it."""
    is_definition = metadata.gvk(document.value)[::2] == DEFINITION_KIND
    return shape_problem(document) if is_definition else None


@dataclass(frozen=True, slots=True)
class ShownFinding:
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
        named = any(code.startswith(rule) or rule == name for rule in self.rules)
        return named and self.files.covers(file)


@dataclass(frozen=True, slots=True)
class LintSetup:
    """The releases, the rules, and the rules that do not count in some files."""

    settings: Settings
    rules: tuple[Rule, ...]
    per_file: tuple[FileIgnores, ...] = ()


def findings(
    lint_input: LintInput, setup: LintSetup, memory: LintMemory | None = None
) -> tuple[list[ShownFinding], int]:
    """Return what is to be shown, and how many findings comments silence. `memory` makes a run over
    nearly the same files cheap."""
    rules, per_file = setup.rules, setup.per_file
    names = {rule.code: rule.name for rule in rules}
    comments = {file: Comments(text.content) for file, text in lint_input.texts.items()}
    for file, comment in comments.items():
        lint_input.problems += _unknown_names(file, comment)
    lines = {file: text.content.split("\n") for file, text in lint_input.texts.items()}
    shown_findings = []
    silenced = 0
    for finding in _found(lint_input, setup, memory):
        document = lint_input.documents[finding.spot.document]
        line, column = place(document, finding)
        name, file = names[finding.code], document.file
        if any(ignores.covers(file, finding.code, name) for ignores in per_file):
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
        shown_findings.append(ShownFinding(located, finding))
    for file, text in lint_input.texts.items() if UNFORMATTED in rules else ():
        width = layout_config(Path.cwd()).line_width
        for item in unformatted(text, width, lines[file]):
            if comments[file].silence(item.code, item.name, item.line):
                silenced += 1
            elif not any(ignored.covers(file, item.code, item.name) for ignored in per_file):
                shown_findings.append(ShownFinding(item))
    for file, value in comments.items():
        if not any(
            ignores.covers(file, UNUSED_COMMENT.code, UNUSED_COMMENT.name) for ignores in per_file
        ):
            shown_findings += map(ShownFinding, unused_comments(file, value, lines[file], rules))
    return sorted(shown_findings, key=lambda item: _order(item.located)), silenced


_NOTHING: Final = {"apiVersion": "celadon.dev/v1", "kind": "Nothing"}
"""Stands in the place of a document that cannot be linted."""


def _unknown_names(file: str, comments: Comments) -> Iterator[Problem]:
    """Yield misspelt comments, each of which silences nothing, or less than its writer believes."""
    for comment in comments.all():
        wrong = unknown_rule(comment.names)
        if wrong:
            yield Problem(file, comment.line, f"a comment silences what is not there: {wrong}")


def _found(lint_input: LintInput, setup: LintSetup, memory: LintMemory | None) -> list[Finding]:
    """Return the findings of all documents. Where one brings about an error of ours, it becomes a
    problem, and the others are linted without it."""
    settings, rules = setup.settings, setup.rules
    values = [document.value for document in lint_input.documents]
    try:
        return lint(values, settings, rules, memory)
    except Exception:
        for number, document in enumerate(lint_input.documents):
            alone = [value if i == number else _NOTHING for i, value in enumerate(values)]
            try:
                lint(alone, settings, rules)
            except Exception as its_error:  # noqa: BLE001
                values[number] = _NOTHING
                problem = crash(document.file, document.line(), "linting it", its_error)
                lint_input.problems.append(problem)
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


def registered(lint_input: LintInput) -> int:
    """Return how many objects there are to lint."""
    return sum(
        kind.group == ADMISSION_REGISTRATION or kind[::2] == DEFINITION_KIND
        for kind in (metadata.gvk(document.value) for document in lint_input.documents)
    )


def _lines(document: Document, finding: Finding, line: int) -> Iterable[int]:
    """Return where a comment may stand that silences it: at the finding, or at its field."""
    path = (*document.path, *finding.spot.path.steps)
    return line, document.chunk.spot(path)[0]


def _order(finding: LocatedFinding) -> tuple[str, int, int, str]:
    return finding.file, finding.line, finding.column, finding.code


# --- the configuration of a run -------------------------------------------------------------------


def lint_setup(config: LintConfig) -> LintSetup:
    """Return what a configuration means."""
    versions = sorted(
        set(config.kubernetes_versions), key=lambda version: int(version.split(".")[1])
    )
    ignored = config.ignore if is_asked(config.select) else (*config.ignore, UNFORMATTED.code)
    return LintSetup(
        Settings(versions[-1], tuple(versions[:-1]), config.large_object * 1024),
        tuple(chosen(config.select, ignored, EVERY_RULE)),
        tuple(
            FileIgnores(Exclusion([per_file_ignore]), names)
            for per_file_ignore, names in config.per_file_ignores
        ),
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


def fixes(lint_input: LintInput, chosen: Sequence[Finding]) -> list[ChangedFile]:
    """Return the files that change; nothing is written."""
    edits: dict[str, list[Edit]] = {}
    for finding in chosen:
        document = lint_input.documents[finding.spot.document]
        edit = fix_edit(lint_input.texts[document.file], document, finding)
        if edit is not None:
            edits.setdefault(document.file, []).append(edit)
    changed = (_fixed(lint_input.texts[file], edit) for file, edit in edits.items())
    return [file for file in changed if file is not None]


def fix_edit(text: Text, document: Document, finding: Finding) -> Edit | None:
    """Return what the fix of a finding does to the text of its file; None if it has none that is
    safe."""
    edit = _edit(document, finding)
    base = None if edit is None else chunk_start(text, document)
    if edit is None or base is None:
        return None
    return Edit(edit.start + base, edit.end + base, edit.text)


def _edit(document: Document, finding: Finding) -> Edit | None:
    fix = finding.fix
    if isinstance(fix, Replacement):
        return _replacement(document, fix)
    return _removal(document, fix) if isinstance(fix, Removal) else None


def _replacement(document: Document, replacement: Replacement) -> Edit | None:
    path = replacement.spot.path.steps
    value = document.value_at(path)
    start = replacement.spot.offset or 0
    end = start + len(replacement.old)
    if not isinstance(value, str) or value[start:end] != replacement.old:
        return None
    source_of = document.chunk.source_of((*document.path, *path), value, start, end)
    if source_of is None or document.chunk.text[slice(*source_of)] != replacement.old:
        return None
    return Edit(*source_of, _written(replacement.text, document, (*document.path, *path)))


def _written(text: str, document: Document, path: tuple[str | int, ...]) -> str:
    """Return the text in the style of the scalar at a path."""
    if document.chunk.is_json or document.chunk.style(path) == '"':
        return json.dumps(text, ensure_ascii=False)[1:-1]
    return text.replace("'", "''") if document.chunk.style(path) == "'" else text


def _removal(document: Document, removal: Removal) -> Edit | None:
    """Return how one item of a list that has others is removed."""
    path = removal.spot.path.steps
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
        index = path[-1]
        before = item.start
        if isinstance(index, int) and index > 0:
            before = node.children[index - 1][0].end
        return _from_flow(text, before, item.start, item.end)
    start = text.rfind("\n", 0, item.start) + 1
    line = _OWN_LINE.match(text, start)
    return None if line is None or item.end > line.end() else Edit(start, line.end(), "")


def _from_flow(text: str, before: int, start: int, end: int) -> Edit:
    """Return how an item is taken out together with a comma; the one before it ends at `before`."""
    comma = _COMMA_BEFORE.search(text, before, start)
    if comma is not None:
        return Edit(comma.start(), end, "")
    comma = _COMMA_BEHIND.match(text, end)
    return Edit(start, end if comma is None else comma.end(), "")


def _fixed(text: Text, edits: Iterable[Edit]) -> ChangedFile | None:
    apart: list[Edit] = []
    for edit in sorted(set(edits), reverse=True):
        if not apart or edit.end <= apart[-1].start:
            apart.append(edit)
    return changed_file(text, edited(text.content, apart[::-1]), len(apart))
