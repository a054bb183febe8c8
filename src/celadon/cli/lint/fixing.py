"""Safe fixes, written into the files.

A replacement is made only where the file has, letter for letter, what the rule saw: not where an
escape stands in between. An item is removed from a list only if it is a plain word on a line of its
own, or in brackets. Of two fixes that touch each other the first is made; another run makes the
second. A file keeps its encoding and line ends; one that changed meanwhile, or has line ends of
both kinds, stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from celadon.admission.lint import Finding, Removal, Replacement
from celadon.cli.fmt import Edit
from celadon.cli.lint.lint_run import LintInput
from celadon.cli.project_files import ChangedFile, changed_file
from celadon.cli.reading.documents import Document, chunk_start
from celadon.cli.reading.json_text import Path
from celadon.cli.reading.sources import Text
from celadon.patterns import late_pattern

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


def _written(text: str, document: Document, path: Path) -> str:
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
