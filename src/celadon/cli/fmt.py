"""The layout of a text: of all expressions in its documents; and files that commands change.

Afterwards the text is read again, and compared: every value that is no expression must be what it
was, and every expression must have its tokens and comments. An edit that would change more, as of a
scalar with an anchor that means a message elsewhere, is not made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, Final, NamedTuple

from celadon import private_files
from celadon.cel.formatter import UNLIMITED, commented_tokens, laid_out
from celadon.cli.options import did_you_mean
from celadon.cli.project_config import ConfigError, nearest_table
from celadon.cli.reading.documents import (
    STDIN_NAME,
    Document,
    DocumentReader,
    Problem,
    Text,
    chunk_start,
    encoded_like,
)
from celadon.cli.reading.json_text import Path
from celadon.cli.reading.locations import scalar_start
from celadon.kube.json_types import JsonObject
from celadon.kube.well_known_values import (
    ADMISSION_REGISTRATION,
    DEFINITION_KIND,
    DYNAMIC_RESOURCES,
)
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Expression fields -------------------------------------------------------
#
# Where expressions stand in objects: the fields of each kind, and the rules in schemas.

Pattern = tuple[str, ...]

_EACH: Final = "*"
"""Stands for every item of a list."""
_CONDITIONS: Final[Pattern] = ("matchConditions", _EACH, "expression")
_VARIABLES: Final[Pattern] = ("spec", "variables", _EACH, "expression")
_WEBHOOKS: Final[tuple[Pattern, ...]] = (("webhooks", _EACH, *_CONDITIONS),)
_DEVICES: Final[Pattern] = ("selectors", _EACH, "cel", "expression")
_CLAIM: Final[tuple[Pattern, ...]] = (
    ("devices", "requests", _EACH, *_DEVICES),
    ("devices", "requests", _EACH, "exactly", *_DEVICES),
    ("devices", "requests", _EACH, "firstAvailable", _EACH, *_DEVICES),
)

_FIELDS: Final[Mapping[tuple[str, str], tuple[Pattern, ...]]] = {
    (ADMISSION_REGISTRATION, "ValidatingAdmissionPolicy"): (
        ("spec", *_CONDITIONS),
        _VARIABLES,
        ("spec", "validations", _EACH, "expression"),
        ("spec", "validations", _EACH, "messageExpression"),
        ("spec", "auditAnnotations", _EACH, "valueExpression"),
    ),
    (ADMISSION_REGISTRATION, "MutatingAdmissionPolicy"): (
        ("spec", *_CONDITIONS),
        _VARIABLES,
        ("spec", "mutations", _EACH, "applyConfiguration", "expression"),
        ("spec", "mutations", _EACH, "jsonPatch", "expression"),
    ),
    (ADMISSION_REGISTRATION, "ValidatingWebhookConfiguration"): _WEBHOOKS,
    (ADMISSION_REGISTRATION, "MutatingWebhookConfiguration"): _WEBHOOKS,
    (DYNAMIC_RESOURCES, "DeviceClass"): (("spec", *_DEVICES),),
    (DYNAMIC_RESOURCES, "ResourceClaim"): tuple(("spec", *path) for path in _CLAIM),
    (DYNAMIC_RESOURCES, "ResourceClaimTemplate"): tuple(("spec", "spec", *path) for path in _CLAIM),
}

_SCHEMAS: Final[tuple[Pattern, ...]] = (
    ("spec", "versions", _EACH, "schema", "openAPIV3Schema"),
    ("spec", "validation", "openAPIV3Schema"),
)
_RULES: Final = "x-kubernetes-validations"
_RULE: Final[tuple[Pattern, ...]] = ((_RULES, _EACH, "rule"), (_RULES, _EACH, "messageExpression"))


def expression_fields(group_kind: tuple[str, str], value: object) -> Iterator[tuple[Path, str]]:
    """Yield the paths of an object's expressions, with their texts, in no particular order."""
    if group_kind == DEFINITION_KIND:
        for pattern in _SCHEMAS:
            for path, schema in _matching(value, pattern):
                yield from _rules(schema, path)
        return
    for pattern in _FIELDS.get(group_kind, ()):
        yield from _texts(value, pattern)


def _rules(schema: object, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield those of a schema and of all schemas in it, wherever a map or a list leads to one."""
    pending: list[tuple[Path, object]] = [(path, schema)]
    while pending:
        place, value = pending.pop()
        if isinstance(value, dict):
            for pattern in _RULE:
                yield from ((place + below, text) for below, text in _texts(value, pattern))
            pending += [((*place, key), below) for key, below in value.items() if key != _RULES]
        elif isinstance(value, list):
            pending += [((*place, index), below) for index, below in enumerate(value)]


def _texts(value: object, pattern: Pattern) -> Iterator[tuple[Path, str]]:
    return ((path, text) for path, text in _matching(value, pattern) if isinstance(text, str))


def _matching(value: object, pattern: Sequence[str], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if not pattern:
        yield path, value
        return
    step, *below = pattern
    if step == _EACH and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _matching(item, below, (*path, index))
    elif isinstance(value, dict) and step in value:
        yield from _matching(value[step], below, (*path, step))


# --- Scalar rewriting --------------------------------------------------------
#
# An expression written back into its scalar, in its layout and in the style of the scalar.
#
# A block (`|`, `>`) keeps its header and its indentation. Plain and quoted scalars stay on the
# line of their key where they fit; else they begin below it and are folded by YAML, quotes and
# all. The style changes only where it cannot say what is to be said: plain text that YAML would
# read as something else is put in quotes, and comments, which need ends of lines, turn folded
# and quoted scalars into literal blocks. In flow collections and in JSON, everything stays on
# one line. So does a scalar with a comment behind it, which would be about another line
# otherwise.

_STEP: Final = 2
_KEY: Final = late_pattern(r"(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s#\"'][^\s#]*)[ ]*:")
_COMMENT_BEHIND: Final = late_pattern(r"[ \t]+#")
_BLOCK: Final = late_pattern(r"[|>][^\n]*\n")
_BREAKS: Final = frozenset("\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\ufeff")
"""Characters that some reader of lines takes for an end of one, or leaves out."""
_NOT_PLAIN: Final = late_pattern(r":(?:[ \t]|\Z)|[ \t]#|\A[,\[\]{}#&*!|>'\"%@`]|\A[-?:](?:\s|\Z)")
_FLOW_MARKS: Final = frozenset(",[]{}")


class Edit(NamedTuple):
    """The characters from `start` to `end` become `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Scalar:
    """Says where a scalar stands in its file. `start` and `end` are those of the scalar without
    anchor and tag, `gap` is where the white space before it begins, if that is ours to change.
    `indent` is the column of what stands below its key."""

    text: str
    start: int
    end: int
    style: str
    is_flow: bool
    gap: int | None
    indent: int

    def column(self, offset: int) -> int:
        return offset - self.text.rfind("\n", 0, offset) - 1


def rewriting(document: Document, path: Path, width: int) -> Edit | None:
    """Return what makes the expression at a path of a document look as it should, in the text of
    its chunk; None if it does already, or cannot. Raises `NotAnExpression`."""
    value = document.value_at(path)
    assert isinstance(value, str)
    scalar = _json_scalar(document, path) if document.chunk.is_json else _scalar(document, path)
    one_line = laid_out(value, UNLIMITED)
    if one_line is None:
        raise NotAnExpression
    if scalar is None or not _BREAKS.isdisjoint(value):
        return None
    rewritten = _rewritten(scalar, value, one_line, width)
    if rewritten is None or scalar.text[rewritten.start : rewritten.end] == rewritten.text:
        return None
    return rewritten


class NotAnExpression(ValueError):
    """A text that cannot be parsed has no layout."""


def _json_scalar(document: Document, path: Path) -> _Scalar:
    start, end = document.chunk.span((*document.path, *path))
    return _Scalar(document.chunk.text, start, end, '"', is_flow=True, gap=None, indent=0)


def _scalar(document: Document, path: Path) -> _Scalar | None:
    """Return the scalar at a path; None where an alias, or a merged map, brings it there."""
    text, node = document.chunk.text, document.chunk.node()
    is_flow, key = False, 0
    for step in (*document.path, *path):
        is_flow = is_flow or node.is_flow
        # An alias has its text elsewhere, where other places read it, too.
        if step not in node.children or node.value != node.start:
            return None
        node, key = node.children[step]
    if node.value != node.start:
        return None
    start = scalar_start(text, node.start)
    gap = len(text[:start].rstrip())
    named = text[key : len(text[: node.start].rstrip())]
    is_ours = _KEY.fullmatch(named) is not None
    column = key - text.rfind("\n", 0, key) - 1
    own_line = text.rfind("\n", key, start) >= 0
    indent = column + _STEP
    # Something stands between key and value (a tag, an anchor, a comment): then the value stays in
    # its column.
    if not is_ours and own_line:
        indent = start - text.rfind("\n", 0, start) - 1
    style = text[start : start + 1]
    return _Scalar(text, start, node.end, style, is_flow, gap if is_ours else None, indent)


def _rewritten(scalar: _Scalar, value: str, one_line: str, width: int) -> Edit | None:
    if scalar.style in ("|", ">"):
        return _in_block(scalar, value, width, is_literal="\n" in one_line)
    if "\n" in one_line:
        if not scalar.is_flow:
            return _as_block(scalar, value, width)
        return Edit(scalar.start, scalar.end, _quoted(one_line)) if scalar.style == '"' else None
    style = _style(scalar, one_line)
    if style == "|":
        return _as_block(scalar, value, width)
    written = _written(one_line, style)
    gap = scalar.start if scalar.gap is None else scalar.gap
    begin = scalar.column(gap) + (scalar.gap is not None)
    before = "" if scalar.gap is None else " "
    fits = begin + len(written) <= width
    # A comment behind the value would be lost, or move, if the value went below its key.
    if scalar.is_flow or fits or _COMMENT_BEHIND.match(scalar.text, scalar.end):
        if scalar.is_flow:
            gap, before = scalar.start, ""
        return Edit(gap, scalar.end, before + written)
    room = width - scalar.indent - (2 if style else 0)
    lines = _lines(value, room)
    # Below its key it would not fit either, so it stays beside it.
    if len(lines) == 1 and len(lines[0]) > room:
        return Edit(gap, scalar.end, before + written)
    line_break = "\n" + " " * scalar.indent
    written = line_break.join(_written(line, style, ends=False) for line in lines)
    return Edit(gap, scalar.end, f"{line_break if before else ''}{style}{written}{style}")


def _lines(value: str, width: int) -> list[str]:
    return (laid_out(value, max(width, 1)) or "").split("\n")


def _in_block(scalar: _Scalar, value: str, width: int, *, is_literal: bool) -> Edit | None:
    header = _BLOCK.match(scalar.text, scalar.start)
    if header is None:
        return None
    content = scalar.text[header.end() : scalar.end]
    first = next((word for word in content.split("\n") if word.strip()), "")
    text = next((word for word in value.split("\n") if word.strip()), "")
    indent = _leading(first) - _leading(text)
    lines = (" " * indent + line if line else "" for line in _lines(value, width - indent))
    style = "|" if is_literal else scalar.style
    result = style + header[0][1:] + "\n".join(lines)
    return Edit(scalar.start, header.end() + len(content.rstrip()), result)


def _leading(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _as_block(scalar: _Scalar, value: str, width: int) -> Edit | None:
    """Return a literal block in the place of a plain or quoted scalar."""
    if scalar.gap is None or _COMMENT_BEHIND.match(scalar.text, scalar.end):
        return None
    line_break = "\n" + " " * scalar.indent
    lines = [line_break + line if line else "\n" for line in _lines(value, width - scalar.indent)]
    return Edit(scalar.gap, scalar.end, " |-" + "".join(lines))


def _style(scalar: _Scalar, one_line: str) -> str:
    """Return the quote to write with: that of the scalar, or one that plain text needs; empty for
    plain text, `|` for a block."""
    if scalar.style in ('"', "'"):
        return scalar.style
    is_plain = _NOT_PLAIN.search(one_line) is None
    if is_plain and not (scalar.is_flow and _FLOW_MARKS.intersection(one_line)):
        return ""
    if "'" not in one_line:
        return "'"
    if '"' not in one_line and "\\" not in one_line:
        return '"'
    # A literal block needs no quotes, but it can stand in block style only, and behind a key that
    # is ours to change.
    return "'" if scalar.is_flow or scalar.gap is None else "|"


def _written(text: str, style: str, *, ends: bool = True) -> str:
    """Return a text in a style, with or without the quotes."""
    quote = style if ends else ""
    if style == '"':
        return quote + _quoted(text)[1:-1] + quote
    return quote + text.replace("'", "''") + quote if style else text


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Misplaced:
    """An expression that is not in its layout, and the edit that would put it there."""

    document: Document
    path: Path
    edit: Edit


@dataclass(frozen=True, slots=True)
class TextLayout:
    """Says what there is to do with a text. The edits are in the order of the text, and do not
    touch."""

    text: Text
    misplaced: tuple[Misplaced, ...]
    problems: tuple[Problem, ...]

    def content(self) -> str:
        """Return the text in its layout."""
        return edited(self.text.content, [misplaced.edit for misplaced in self.misplaced])


def text_layout(text: Text, width: int) -> TextLayout:
    """Return which expressions of a text are not in their layout."""
    documents, problems = _read(text)
    result: dict[int, Misplaced] = {}
    for document in documents:
        base: int | None = None
        for path, _ in expression_fields(document.group_kind, document.value):
            try:
                edit = rewriting(document, path, width)
            except NotAnExpression:
                problems.append(_not_an_expression(document, path))
                continue
            if edit is None:
                continue
            base = chunk_start(text, document) if base is None else base
            if base is not None:
                moved = Edit(edit.start + base, edit.end + base, edit.text)
                # One text may be several expressions, where an object is read by alias.
                result.setdefault(moved.start, Misplaced(document, path, moved))
    misplaced = _harmless(text, documents, [result[start] for start in sorted(result)])
    return TextLayout(
        text, tuple(misplaced), tuple(sorted(problems, key=lambda problem: problem.line))
    )


def _not_an_expression(document: Document, path: Path) -> Problem:
    line, column = document.chunk.spot((*document.path, *path))
    return Problem(
        document.file,
        line,
        "this expression has a syntax error, so it keeps its layout",
        "`celadon lint` says which",
        column=column,
    )


def edited(content: str, edits: list[Edit]) -> str:
    """Return a text after edits that do not touch each other."""
    parts, index = [], 0
    for edit in edits:
        parts += [content[index : edit.start], edit.text]
        index = edit.end
    return "".join([*parts, content[index:]])


def _read(text: Text) -> tuple[list[Document], list[Problem]]:
    documents: list[Document] = []
    problems: list[Problem] = []
    for item in DocumentReader().read(text):
        if isinstance(item, Problem):
            problems.append(item)
        else:
            documents.append(item)
    return documents, problems


def _harmless(text: Text, documents: list[Document], misplaced: list[Misplaced]) -> list[Misplaced]:
    """All of them, if together they change nothing else; else those that alone do not."""
    if _is_harmless(text, documents, misplaced):
        return misplaced
    return [misplaced for misplaced in misplaced if _is_harmless(text, documents, [misplaced])]


def _is_harmless(text: Text, before: list[Document], misplaced: list[Misplaced]) -> bool:
    if not misplaced:
        return True
    # Read again and compared: whatever this module has wrong about YAML, it never changes a
    # meaning.
    content = edited(text.content, [misplaced.edit for misplaced in misplaced])
    after, _ = _read(Text(text.file, content))
    return len(before) == len(after) and all(map(_same, before, after))


def _same(before: Document, after: Document) -> bool:
    fields = list(expression_fields(before.group_kind, before.value))
    for path, text in fields:
        now = after.value_at(path)
        if not isinstance(now, str) or commented_tokens(now) != commented_tokens(text):
            return False
    paths = [path for path, _ in fields]
    return bool(_without(before.value, paths) == _without(after.value, paths))


def _without(value: Any, paths: list[Path]) -> Any:  # noqa: ANN401 - any JSON
    """Return a copy of an object with nothing at these paths."""
    if () in paths:
        return None
    if not paths:
        return value
    below: dict[str | int, list[Path]] = {}
    for step, *rest in paths:
        below.setdefault(step, []).append(tuple(rest))
    return [(key, _without(child, below.get(key, []))) for key, child in _children(value)]


def _children(value: Any) -> Iterator[tuple[str | int, Any]]:  # noqa: ANN401 - any JSON
    yield from value.items() if isinstance(value, dict) else enumerate(value)


# --- Layout config -----------------------------------------------------------
#
# The configuration of `celadon fmt`: `[fmt]` in celadon.toml, `[tool.celadon.fmt]` in
# pyproject.toml.
#
#     [fmt]
#     line-width = 100
#     exclude = ["*/drafts"]

DEFAULT_WIDTH: Final = 80
MIN_WIDTH: Final = 20
MAX_WIDTH: Final = 1000
_KEYS: Final = ("line-width", "exclude")


@dataclass(frozen=True, slots=True)
class LayoutConfig:
    """Holds how expressions are laid out. `line_width` is in characters, the indentation of the
    file included."""

    line_width: int = DEFAULT_WIDTH
    exclude: tuple[str, ...] = ()


def layout_config(folder: FilePath) -> LayoutConfig:
    """Return the configuration that applies in a folder. Raises `ConfigError`."""
    table = nearest_table(folder, "fmt")
    return LayoutConfig() if table is None else _config(*table)


def _config(path: FilePath, table: JsonObject) -> LayoutConfig:
    for key in table:
        if key not in _KEYS:
            raise ConfigError(f"{path}: no option `{key}`{did_you_mean(key, _KEYS)}")
    width = table.get("line-width", DEFAULT_WIDTH)
    if not isinstance(width, int) or isinstance(width, bool) or not is_width(width):
        raise ConfigError(f"{path}: `line-width` must be a number from {MIN_WIDTH} to {MAX_WIDTH}")
    exclude = table.get("exclude", [])
    if not isinstance(exclude, list) or not all(isinstance(item, str) for item in exclude):
        raise ConfigError(f"{path}: `exclude` must be a list of texts")
    return LayoutConfig(width, tuple(exclude))


def is_width(width: int) -> bool:
    """Return whether lines may be that long."""
    return MIN_WIDTH <= width <= MAX_WIDTH


# --- Changed files -----------------------------------------------------------
#
# A file that a command changes is shown as a difference, or written. It keeps its encoding and line
# ends. One that changed meanwhile, or has line ends of both kinds, stays as it is.

_NO_END: Final = "\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """The text of a file as it is and as it will be, the bytes of the latter, and in how many
    places that changes it."""

    file: str
    before: str
    after: str
    data: bytes
    count: int

    def write(self) -> None:
        """Change the file. Raises OSError."""
        private_files.replace_content(FilePath(self.file), self.data)

    def diff(self) -> str:
        """Return the change as `diff -u` shows it."""
        return unified_diff(self.file, self.before, self.after)


def changed_file(text: Text, content: str, count: int) -> ChangedFile | None:
    """Return a file with other content, changed in so many places; None if it must stay as it
    is."""
    if text.file == STDIN_NAME or not count:
        return None
    data = FilePath(text.file).read_bytes()
    if encoded_like(text.content, data) != data:
        return None
    encoded = encoded_like(content, data)
    if encoded is None:
        return None
    return ChangedFile(text.file, text.content, content, encoded, count)


def unified_diff(file: str, before: str, after: str) -> str:
    """Return what `diff -u` shows of two texts of a file."""
    import difflib  # late: few commands show any

    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), file, file
    )
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_END}" for line in lines)
