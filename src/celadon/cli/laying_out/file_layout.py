"""The layout of a text: of all expressions in its documents.

Afterwards the text is read again, and compared: every value that is no expression must be what it
was, and every expression must have its tokens and comments. An edit that would change more, as of a
scalar with an anchor that means a message elsewhere, is not made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from celadon.cel.layout import commented_tokens
from celadon.cli.laying_out.expression_fields import expression_fields
from celadon.cli.laying_out.scalar_rewriting import Edit, NotAnExpression, rewriting
from celadon.cli.reading.documents import Document, DocumentReader, chunk_start
from celadon.cli.reading.json_places import Path
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import Text
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Misplaced:
    """An expression that is not in its layout, and the edit that would put it there."""

    document: Document
    path: Path
    edit: Edit


@dataclass(frozen=True, slots=True)
class TextLayout:
    """What there is to do with a text. The edits are in the order of the text, and do not touch."""

    text: Text
    misplaced: tuple[Misplaced, ...]
    problems: tuple[Problem, ...]

    def content(self) -> str:
        """The text in its layout."""
        return edited(self.text.content, [one.edit for one in self.misplaced])


def text_layout(text: Text, width: int) -> TextLayout:
    """Which expressions of a text are not in their layout."""
    documents, problems = _read(text)
    found: dict[int, Misplaced] = {}
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
                found.setdefault(moved.start, Misplaced(document, path, moved))
    misplaced = _harmless(text, documents, [found[start] for start in sorted(found)])
    return TextLayout(text, tuple(misplaced), tuple(sorted(problems, key=lambda one: one.line)))


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
    """A text after edits that do not touch each other."""
    parts, at = [], 0
    for edit in edits:
        parts += [content[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, content[at:]])


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
    return [one for one in misplaced if _is_harmless(text, documents, [one])]


def _is_harmless(text: Text, before: list[Document], misplaced: list[Misplaced]) -> bool:
    if not misplaced:
        return True
    content = edited(text.content, [one.edit for one in misplaced])
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
    """A copy of an object with nothing at these paths."""
    if () in paths:
        return None
    if not paths:
        return value
    below: dict[str | int, list[Path]] = {}
    for step, *rest in paths:
        below.setdefault(step, []).append(tuple(rest))
    return [(key, _without(one, below.get(key, []))) for key, one in _children(value)]


def _children(value: Any) -> Iterator[tuple[str | int, Any]]:  # noqa: ANN401 - any JSON
    yield from value.items() if isinstance(value, dict) else enumerate(value)
