"""An expression written back into its scalar, in its layout and in the style of the scalar.

A block (`|`, `>`) keeps its header and its indentation. Plain and quoted scalars stay on the line
of their key where they fit; else they begin below it and are folded by YAML, quotes and all. The
style changes only where it cannot say what is to be said: plain text that YAML would read as
something else is put in quotes, and comments, which need ends of lines, turn folded and quoted
scalars into literal blocks. In flow collections and in JSON, everything stays on one line. So does
a scalar with a comment behind it, which would be about another line otherwise.
"""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from celadon.cel.layout import UNLIMITED, laid_out
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_places import Path
from celadon.cli.reading.scalar_offsets import scalar_start
from celadon.patterns import late_pattern
from celadon.records import dataclass

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
    """`start` and `end` are those of the scalar without anchor and tag, `gap` is where the white
    space before it begins, if that is ours to change. `indent` is the column of what stands below
    its key."""

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
    """What makes the expression at a path of a document look as it should, in the text of its
    chunk; None if it does already, or cannot. Raises `NotAnExpression`."""
    value = document.value_at(path)
    assert isinstance(value, str)
    scalar = _json_scalar(document, path) if document.chunk.is_json else _scalar(document, path)
    one_line = laid_out(value, UNLIMITED)
    if one_line is None:
        raise NotAnExpression
    if scalar is None or not _BREAKS.isdisjoint(value):
        return None
    made = _rewritten(scalar, value, one_line, width)
    if made is None or scalar.text[made.start : made.end] == made.text:
        return None
    return made


class NotAnExpression(ValueError):
    """A text that cannot be parsed has no layout."""


def _json_scalar(document: Document, path: Path) -> _Scalar:
    start, end = document.chunk.span((*document.path, *path))
    return _Scalar(document.chunk.text, start, end, '"', is_flow=True, gap=None, indent=0)


def _scalar(document: Document, path: Path) -> _Scalar | None:
    """The scalar at a path; None where an alias, or a merged map, brings it there."""
    text, node = document.chunk.text, document.chunk.node()
    is_flow, key = False, 0
    for step in (*document.path, *path):
        is_flow = is_flow or node.is_flow
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
    if scalar.is_flow or fits or _COMMENT_BEHIND.match(scalar.text, scalar.end):
        if scalar.is_flow:
            gap, before = scalar.start, ""
        return Edit(gap, scalar.end, before + written)
    room = width - scalar.indent - (2 if style else 0)
    lines = _lines(value, room)
    if len(lines) == 1 and len(lines[0]) > room:
        return Edit(gap, scalar.end, before + written)
    below = "\n" + " " * scalar.indent
    written = below.join(_written(line, style, ends=False) for line in lines)
    return Edit(gap, scalar.end, f"{below if before else ''}{style}{written}{style}")


def _lines(value: str, width: int) -> list[str]:
    return (laid_out(value, max(width, 1)) or "").split("\n")


def _in_block(scalar: _Scalar, value: str, width: int, *, is_literal: bool) -> Edit | None:
    header = _BLOCK.match(scalar.text, scalar.start)
    if header is None:
        return None
    content = scalar.text[header.end() : scalar.end]
    first = next((one for one in content.split("\n") if one.strip()), "")
    said = next((one for one in value.split("\n") if one.strip()), "")
    indent = _leading(first) - _leading(said)
    lines = (" " * indent + one if one else "" for one in _lines(value, width - indent))
    style = "|" if is_literal else scalar.style
    made = style + header[0][1:] + "\n".join(lines)
    return Edit(scalar.start, header.end() + len(content.rstrip()), made)


def _leading(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _as_block(scalar: _Scalar, value: str, width: int) -> Edit | None:
    """A literal block in the place of a plain or quoted scalar."""
    if scalar.gap is None or _COMMENT_BEHIND.match(scalar.text, scalar.end):
        return None
    below = "\n" + " " * scalar.indent
    lines = [below + one if one else "\n" for one in _lines(value, width - scalar.indent)]
    return Edit(scalar.gap, scalar.end, " |-" + "".join(lines))


def _style(scalar: _Scalar, one_line: str) -> str:
    """The quote to write with: that of the scalar, or one that plain text needs; empty for plain
    text, `|` for a block."""
    if scalar.style in ('"', "'"):
        return scalar.style
    is_plain = _NOT_PLAIN.search(one_line) is None
    if is_plain and not (scalar.is_flow and _FLOW_MARKS.intersection(one_line)):
        return ""
    if "'" not in one_line:
        return "'"
    if '"' not in one_line and "\\" not in one_line:
        return '"'
    return "'" if scalar.is_flow or scalar.gap is None else "|"


def _written(text: str, style: str, *, ends: bool = True) -> str:
    """A text in a style, with or without the quotes."""
    quote = style if ends else ""
    if style == '"':
        return quote + _quoted(text)[1:-1] + quote
    return quote + text.replace("'", "''") + quote if style else text


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
