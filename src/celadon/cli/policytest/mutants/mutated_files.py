"""What an alteration comes to in the file of the policy, as `diff -u` shows it.

The edit is as small as it can be: of an expression the part that is other, of a list the lines of
an item. Whether the file then says what is meant is checked by reading it again. Where a style of
YAML stands against it, the nearest value around it that can be written anew is written as JSON,
which is YAML as well.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from celadon.cli.policytest.mutants.policy_mutants import ABSENT, Alteration, different_part
from celadon.cli.reading import sources
from celadon.cli.reading.documents import Document, DocumentReader, chunk_start
from celadon.cli.reading.json_text import Path
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import Text
from celadon.kube import JsonObject
from celadon.patterns import late_pattern
from celadon.records import dataclass

_CONTEXT: Final = 2
"""Lines around each change."""
_WORD: Final = late_pattern(r"[A-Za-z]+")
_COMMA_BEFORE: Final = late_pattern(r",\s*\Z")
_COMMA_BEHIND: Final = late_pattern(r"\s*,\s*")


class _Edit(NamedTuple):
    """Characters of a chunk, and what comes in their place."""

    start: int
    end: int
    text: str


def diff(alteration: Alteration) -> str:
    """Against the file of the policy; its lines are those of the file."""
    document = alteration.document
    chunk = document.chunk
    before, base = chunk.text, None
    read = sources.read(document.file) if os.path.isfile(document.file) else None
    if isinstance(read, Text):
        base = chunk_start(read, document)
    edit = _fitting_edit(alteration)
    if base is None or not isinstance(read, Text):
        before, base = "\n" * (chunk.first_line - 1) + before, chunk.first_line - 1
    else:
        before = read.content
    after = before[: base + edit.start] + edit.text + before[base + edit.end :]
    lines = difflib.unified_diff(
        before.splitlines(),
        after.splitlines(),
        document.file,
        document.file,
        n=_CONTEXT,
        lineterm="",
    )
    return "".join(f"{line}\n" for line in lines)


def _fitting_edit(alteration: Alteration) -> _Edit:
    document, altered = alteration.document, alteration.altered
    if altered is None:
        return _whole(document)
    for edit in _edits(alteration):
        if _says(document, edit, altered):
            return edit
    start, end = document.chunk.span(document.path)
    return _Edit(start, end, json.dumps(altered, indent=2))


def _whole(document: Document) -> _Edit:
    if document.path:
        return _Edit(*document.chunk.span(document.path), "{}")
    return _Edit(document.chunk.start, document.chunk.end, "")


def _says(document: Document, edit: _Edit, altered: JsonObject) -> bool:
    """Return whether the documents of the chunk are what they were but for this one."""
    text = document.chunk.text
    made = text[: edit.start] + edit.text + text[edit.end :]
    before, after = (list(DocumentReader().read(Text("", one))) for one in (text, made))
    if len(before) != len(after):
        return False
    wanted = document.chunk.line(document.path) - document.chunk.first_line
    for old, new in zip(before, after, strict=True):
        if isinstance(old, Problem) or isinstance(new, Problem):
            return False
        is_meant = old.path == document.path and old.line() - 1 == wanted
        if new.value != (altered if is_meant else old.value):
            return False
    return True


def _edits(alteration: Alteration) -> Iterator[_Edit]:
    """Yield those that may do, the smallest first."""
    document, path = alteration.document, alteration.path
    if alteration.expression is not None:
        yield from _in_expression(alteration)
    elif not document.chunk.is_json:
        yield from _in_yaml(alteration)
    altered = alteration.altered
    for length in range(len(path), 0, -1):
        above = path[:length]
        if document.value_at(above) is not None:
            value = _Value(altered).at(above)
            if value is not ABSENT:
                yield _rewritten(document, above, value)


@dataclass(frozen=True, slots=True)
class _Value:
    root: Any

    def at(self, path: Path) -> Any:  # noqa: ANN401 - any JSON
        """`ABSENT` where there is none."""
        value = self.root
        for step in path:
            if isinstance(value, dict):
                value = value.get(step, ABSENT)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return ABSENT
        return value


def _rewritten(document: Document, path: Path, value: Any) -> _Edit:  # noqa: ANN401 - any JSON
    """A value as JSON; a word where a word was."""
    start, end = document.chunk.span((*document.path, *path))
    whole = document.chunk.text
    was = whole[start:end].rstrip()
    is_word = not document.chunk.is_json and isinstance(value, str)
    plain = is_word and _WORD.fullmatch(was) and _WORD.fullmatch(value)
    text = value if plain else json.dumps(value, ensure_ascii=False)
    colon = whole.rfind(":", 0, start)
    if "\n" in whole[colon:start] and not whole[colon + 1 : start].strip():
        return _Edit(colon + 1, start + len(was), f" {text}")
    return _Edit(start, start + len(was), text)


def _in_expression(alteration: Alteration) -> Iterator[_Edit]:
    """Only the characters that are other, in the style of the scalar."""
    made, document = alteration.expression, alteration.document
    value = document.value_at(alteration.path)
    if made is None or not isinstance(value, str):
        return
    path = (*document.path, *alteration.path)
    head, tail = different_part(made.old, made.new)
    old, new = made.old[head : len(made.old) - tail], made.new[head : len(made.new) - tail]
    start = made.start + head
    for left, right, text in (
        (start, start + len(old), new),
        (made.start, made.start + len(made.old), made.new),
    ):
        found = document.chunk.source_of(path, value, left, max(right, left + 1))
        if found is not None:
            end = found[1] if right > left else found[0]
            yield _Edit(found[0], end, _escaped(text, document, path))


def _escaped(text: str, document: Document, path: Path) -> str:
    """In the style of the scalar at a path."""
    style = '"' if document.chunk.is_json else document.chunk.style(path)
    if style == '"':
        return json.dumps(text, ensure_ascii=False)[1:-1]
    return text.replace("'", "''") if style == "'" else text


def _in_yaml(alteration: Alteration) -> Iterator[_Edit]:
    """Something left out of a list or a map, or put into a map that does not have it."""
    document, path = alteration.document, alteration.path
    if alteration.value is ABSENT:
        yield from _left_out(document, path)
    elif document.value_at(path) is None:
        yield from _put_in(document, path, str(alteration.value))


def _left_out(document: Document, path: Path) -> Iterator[_Edit]:
    node, text = document.chunk.node(), document.chunk.text
    for step in (*document.path, *path[:-1]):
        node, _ = node.children[step]
    child, key = node.children[path[-1]]
    if node.is_flow:
        before = _COMMA_BEFORE.search(text, 0, key)
        behind = _COMMA_BEHIND.match(text, child.end)
        if before is not None:
            yield _Edit(before.start(), child.end, "")
        yield _Edit(key, child.end if behind is None else behind.end(), "")
        return
    start = text.rfind("\n", 0, key) + 1
    begun = text.rfind("\n", 0, child.end) + 1
    end = begun if not text[begun : child.end].strip() else text.find("\n", child.end) + 1
    yield _Edit(start, end or len(text), "")


def _put_in(document: Document, path: Path, value: str) -> Iterator[_Edit]:
    node, text = document.chunk.node(), document.chunk.text
    for step in (*document.path, *path[:-1]):
        node, _ = node.children[step]
    if not node.children:
        return
    key = min(at for _, at in node.children.values())
    if node.is_flow:
        yield _Edit(key, key, f"{path[-1]}: {value}, ")
    else:
        indent = key - text.rfind("\n", 0, key) - 1
        yield _Edit(key, key, f"{path[-1]}: {value}\n{' ' * indent}")
