"""The variables of policies: where they are defined, where they are used, and other names for them.

A use is `variables.x` outside of literals and comments in an expression of the same policy, so that
uses in expressions with errors are found as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from celadon.cel import RESERVED
from celadon.cli.language_server.expression_spots import (
    ExpressionSpot,
    expression_at,
    expression_spots,
)
from celadon.cli.language_server.text_positions import Position, Span
from celadon.cli.language_server.workspace_files import EditedFile, TextEdit
from celadon.cli.reading.documents import Document, chunk_start
from celadon.cli.reading.json_places import Path
from celadon.patterns import late_pattern
from celadon.records import dataclass

_VARIABLES: Final = "variables"
_USE: Final = late_pattern(
    r"//[^\n]*"
    r"|[rR](?:\"{3}.*?\"{3}|'{3}.*?'{3}|\"[^\"\n]*\"|'[^'\n]*')"
    r"|\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    r"|(?<![\w.])variables\s*\.\s*(?P<name>[A-Za-z_]\w*)",
    re.DOTALL,
)
"""Literals and comments, and what is wanted outside of them."""


@dataclass(frozen=True, slots=True)
class VariableName:
    """A variable of a policy, and the place where somebody asked for it."""

    document: Document
    name: str
    span: Span


def variable_at(file: EditedFile, position: Position) -> VariableName | None:
    """The variable whose definition or use is at a place."""
    offset = file.lines.offset(position)
    for document in file.documents:
        for name, start, end in _definitions(file, document):
            if start <= offset <= end:
                return VariableName(document, name, file.lines.span(start, end))
    spot = expression_at(file, position)
    if spot is None:
        return None
    for name, start, end in _uses(spot):
        if start <= offset <= end:
            return VariableName(spot.document, name, file.lines.span(start, end))
    return None


def definition(file: EditedFile, position: Position) -> Span | None:
    """Where the variable at a place is defined."""
    found = variable_at(file, position)
    if found is None:
        return None
    for name, start, end in _definitions(file, found.document):
        if name == found.name:
            return file.lines.span(start, end)
    return None


def occurrences(file: EditedFile, position: Position) -> list[Span]:
    """The definition and all uses of the variable at a place, in the order of the file."""
    found = variable_at(file, position)
    if found is None:
        return []
    places = list(_definitions(file, found.document))
    for spot in expression_spots(file):
        if spot.document is found.document:
            places += _uses(spot)
    named = sorted({(start, end) for name, start, end in places if name == found.name})
    return [file.lines.span(start, end) for start, end in named]


class NoVariableName(ValueError):
    """Not what a variable can be called; the text says so."""


def renaming(file: EditedFile, position: Position, name: str) -> list[TextEdit]:
    """What gives the variable at a place another name. Raises `NoVariableName`."""
    if not (name.isidentifier() and name.isascii()) or name in RESERVED:
        raise NoVariableName(f"`{name}` is no name of a variable")
    found = variable_at(file, position)
    if found is not None and any(one == name for one, _, _ in _definitions(file, found.document)):
        raise NoVariableName(f"there is a variable `{name}` already")
    return [TextEdit(file.text.file, span, name) for span in occurrences(file, position)]


def _definitions(file: EditedFile, document: Document) -> Iterator[tuple[str, int, int]]:
    """Name, start and end of each."""
    spec = document.value.get("spec")
    variables = spec.get(_VARIABLES) if isinstance(spec, dict) else None
    base = chunk_start(file.text, document) if isinstance(variables, list) else None
    if base is None or not isinstance(variables, list):
        return
    for index, one in enumerate(variables):
        name = one.get("name") if isinstance(one, dict) else None
        path: Path = (*document.path, "spec", _VARIABLES, index, "name")
        if isinstance(name, str) and name:
            found = document.chunk.source_of(path, name, 0, len(name))
            if found is not None:
                yield name, found[0] + base, found[1] + base


def _uses(spot: ExpressionSpot) -> Iterator[tuple[str, int, int]]:
    """Those in an expression."""
    for found in _USE.finditer(spot.text):
        placed = spot.span(*found.span("name")) if found["name"] else None
        if placed is not None:
            yield found["name"], *placed
