"""From a place in a file to a place in an expression, and back.

While something is typed, YAML itself is often broken: a quote is not closed yet, `a ? b : ` is no
plain scalar. If the document cannot be read, it is read again with what stands behind the key on
the line in quotes.
"""

from __future__ import annotations

import json
from typing import Final

from celadon.cli.language_server.text_positions import Position
from celadon.cli.language_server.workspace_files import EditedFile, edited_file
from celadon.cli.laying_out.expression_fields import expression_fields
from celadon.cli.reading.documents import Document, chunk_start
from celadon.cli.reading.json_places import Path
from celadon.cli.reading.scalar_offsets import value_offset
from celadon.patterns import late_pattern
from celadon.records import dataclass

_KEYED: Final = late_pattern(r"(\s*(?:- +)*[\w\"']+:)(?:[ ]+(.*))?")
_EXPRESSIONS: Final = frozenset({"expression", "messageExpression", "valueExpression", "rule"})


@dataclass(frozen=True, slots=True)
class ExpressionSpot:
    """A place in an expression: `text[:offset]` stands before it. `base` is where the chunk of the
    document begins in the file; None where the file was mended to be read."""

    document: Document
    path: Path
    text: str
    offset: int
    base: int | None

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Where a stretch of the expression stands in the file; None where that is not known."""
        if self.base is None or start >= end:
            return None
        path = (*self.document.path, *self.path)
        found = self.document.chunk.source_of(path, self.text, start, end)
        return None if found is None else (found[0] + self.base, found[1] + self.base)


def expression_spots(file: EditedFile) -> list[ExpressionSpot]:
    """All expressions of a file, each with its beginning."""
    found = []
    for document in file.documents:
        fields = list(expression_fields(document.group_kind, document.value))
        base = chunk_start(file.text, document) if fields else None
        found += [ExpressionSpot(document, path, text, 0, base) for path, text in fields]
    return found


def expression_at(file: EditedFile, position: Position) -> ExpressionSpot | None:
    """The expression at a place; None where there is none."""
    offset = file.lines.offset(position)
    for document in file.documents:
        base = chunk_start(file.text, document)
        if base is None or not base <= offset <= base + len(document.chunk.text):
            continue
        for path, text in expression_fields(document.group_kind, document.value):
            start, end = document.chunk.span((*document.path, *path))
            if start <= offset - base <= _end(document, end):
                at = value_offset(document.chunk.text, start, text, offset - base)
                return ExpressionSpot(document, path, text, at, base)
    return _mended(file, position)


def _end(document: Document, end: int) -> int:
    """Where typing still goes on with a scalar: behind the white space on its line."""
    text = document.chunk.text
    while end < len(text) and text[end] in " \t":
        end += 1
    return end


def _mended(file: EditedFile, position: Position) -> ExpressionSpot | None:
    """With what stands behind a key on the line in quotes, as far as it is before the place."""
    line = file.lines.line(position.line)
    found = _KEYED.fullmatch(line)
    if found is None or found[1].strip(" -:\"'") not in _EXPRESSIONS:
        return None
    begin = file.lines.offset(Position(position.line, 0))
    column = file.lines.offset(position) - begin
    if column <= found.end(1):
        return None
    written = (found[2] or "").lstrip("\"'|>-") if found[2] != "" else ""
    written = written.rstrip("\"'") or " "
    shift = line.rfind(written) if written.strip() else len(line)
    before = file.text.content[:begin] + f"{found[1]} {json.dumps(written, ensure_ascii=False)}"
    mended = edited_file(file.text.file, before + file.text.content[begin + len(line) :])
    for spot in expression_spots(mended):
        if spot.document.chunk.span((*spot.document.path, *spot.path)) == _quoted(spot, before):
            at = min(max(column - shift, 0), len(spot.text))
            return ExpressionSpot(spot.document, spot.path, spot.text, at, None)
    return None


def _quoted(spot: ExpressionSpot, before: str) -> tuple[int, int] | None:
    """The scalar that ends where the mended line does."""
    if spot.base is None:
        return None
    end = len(before) - spot.base
    start, found_end = spot.document.chunk.span((*spot.document.path, *spot.path))
    return (start, end) if found_end == end else None
