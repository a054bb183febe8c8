"""What is in a file, as a tree: its objects, and in them what has expressions.

Policies and webhooks show their lists (`validations`, `variables`, `webhooks`, …) with the items by
name, bindings what they bind, definitions of custom resources the rules of each version by the
field that they stand at. Every part has a range, in which those below it lie.
"""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from celadon.admission.lint import TypedScopes
from celadon.cli.fmt import expression_fields
from celadon.cli.language_server.hovers import cost_text
from celadon.cli.language_server.workspace_files import EditedFile, Position, Span, expression_spots
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_text import Path
from celadon.cli.reading.sources import EXTENSIONS, is_test_file
from celadon.kube import metadata
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, DEFINITION_KIND
from celadon.patterns import late_pattern
from celadon.records import dataclass

MAX_NAME: Final = 80
"""Characters of a name or a detail: expressions are cut."""

_BOUND: Final = frozenset({"policyName", "paramRef", "matchResources", "validationActions"})
_NAMES: Final = ("name", "key", "message")
_ROOT: Final = "self"


class OutlineSort(enum.Enum):
    """What a part is."""

    OBJECT = enum.auto()
    SECTION = enum.auto()
    ITEM = enum.auto()
    FIELD = enum.auto()
    VARIABLE = enum.auto()


@dataclass(frozen=True, slots=True)
class OutlinePart:
    """`span` is all of it, `chosen` what an editor goes to."""

    name: str
    detail: str
    sort: OutlineSort
    span: Span
    chosen: Span
    parts: tuple[OutlinePart, ...] = ()


def document_outline(file: EditedFile) -> list[OutlinePart]:
    """The objects of a file, in its order. Templates of charts have none."""
    if file.is_template:
        return []
    found = (_Outliner(file, document).outline() for document in file.documents)
    return [one for one in found if one is not None]


class _Outliner:
    """Of one object."""

    def __init__(self, file: EditedFile, document: Document) -> None:
        self._file = file
        self._document = document
        self._base = _base(file, document)

    def outline(self) -> OutlinePart | None:
        """None where it is not known where the object stands."""
        if self._base is None:
            return None
        document = self._document
        name = metadata.name(document.value)
        span = self._span(())
        chosen = self._span(("metadata", "name")) if name else Span(span.start, span.start)
        kind = document.value["kind"]
        parts = tuple(_moved(one, span) for one in self._parts())
        return OutlinePart(name or kind, kind, OutlineSort.OBJECT, span, chosen, parts)

    def _parts(self) -> Iterator[OutlinePart]:
        group, kind = self._document.group_kind
        fields = expression_fields((group, kind), self._document.value)
        paths = [path for path, _ in fields]
        if (group, kind) == DEFINITION_KIND:
            return self._versions(paths)
        if group == ADMISSION_REGISTRATION and kind.endswith("PolicyBinding"):
            return self._bound()
        if group == ADMISSION_REGISTRATION and kind.endswith("WebhookConfiguration"):
            webhooks = self._document.value.get("webhooks")
            number = len(webhooks) if isinstance(webhooks, list) else 0
            paths += [("webhooks", index) for index in range(number)]
        return self._sections((), paths)

    # --- policies and webhooks ---

    def _sections(self, above: Path, paths: Iterable[Path]) -> Iterator[OutlinePart]:
        """The lists in which expressions are; `paths` go on from `above`."""
        lists: dict[Path, dict[int, list[Path]]] = {}
        for path in paths:
            at = next((n for n, step in enumerate(path) if isinstance(step, int)), None)
            if at is not None:
                index = path[at]
                assert isinstance(index, int)
                lists.setdefault(path[:at], {}).setdefault(index, []).append(path[at + 1 :])
        for path, items in sorted(lists.items(), key=lambda one: self._offset((*above, *one[0]))):
            where = (*above, *path)
            parts = tuple(
                self._item((*where, index), below) for index, below in sorted(items.items())
            )
            yield self._part(where, str(path[-1]), "", OutlineSort.SECTION, parts)

    def _item(self, path: Path, below: list[Path]) -> OutlinePart:
        is_variable = path[-2] == "variables"
        sort = OutlineSort.VARIABLE if is_variable else OutlineSort.ITEM
        written = (one for one in below if one and one[-1] == "expression")
        expression = next((str(self._value((*path, *one))) for one in written), "")
        name = _named(self._value(path)) or expression or f"[{path[-1]}]"
        parts = tuple(self._sections(path, below))
        detail = "" if parts or name == expression else expression
        return self._part(path, name, detail, sort, parts)

    def _bound(self) -> Iterator[OutlinePart]:
        spec = self._document.value.get("spec")
        for name, value in spec.items() if isinstance(spec, dict) else ():
            if name in _BOUND and value is not None:
                yield self._part(("spec", name), name, _shown(value), OutlineSort.FIELD)

    # --- definitions of custom resources ---

    def _versions(self, paths: Iterable[Path]) -> Iterator[OutlinePart]:
        rules: dict[Path, dict[Path, list[Path]]] = {}
        for path in paths:
            if path[-1] == "rule":
                version = path[:3] if path[1] == "versions" else path[:2]
                rules.setdefault(version, {}).setdefault(path[:-3], []).append(path[:-1])
        for version, fields in rules.items():
            parts = tuple(self._field(field, found) for field, found in fields.items())
            name = _named(self._value(version)) or str(version[-1])
            ordered = tuple(sorted(parts, key=lambda one: one.span.start))
            yield self._part(version, name, "", OutlineSort.SECTION, ordered)

    def _field(self, path: Path, rules: list[Path]) -> OutlinePart:
        parts = []
        for rule in sorted(rules, key=self._offset):
            value = self._value(rule)
            text = str(value["rule"])
            message = _named(value) or text
            detail = "" if message == text else text
            parts.append(self._part(rule, message, detail, OutlineSort.ITEM))
        return self._part(path, _field_name(path), "", OutlineSort.FIELD, tuple(parts))

    # --- places ---

    def _part(
        self,
        path: Path,
        name: str,
        detail: str,
        sort: OutlineSort,
        parts: tuple[OutlinePart, ...] = (),
    ) -> OutlinePart:
        span = self._span(path)
        chosen = Span(span.start, span.start)
        inside = tuple(_moved(one, span) for one in parts)
        return OutlinePart(_cut(name), _cut(detail), sort, span, chosen, inside)

    def _value(self, path: Path) -> Any:  # noqa: ANN401 - any JSON
        return self._document.value_at(path)

    def _offset(self, path: Path) -> int:
        """Return where the value of a path begins, in its chunk."""
        return self._document.chunk.span((*self._document.path, *path))[0]

    def _span(self, path: Path) -> Span:
        """From the key, or from the item, to the end of the value."""
        chunk, lines = self._document.chunk, self._file.lines
        whole = (*self._document.path, *path)
        start, end = chunk.span(whole)
        assert self._base is not None
        last = self._base + len(chunk.text[:end].rstrip())
        first = self._base + start
        if path and not isinstance(path[-1], int):
            line, column = chunk.spot(whole)
            first = min(first, lines.offset(Position(line - 1, 0)) + column - 1)
        return lines.span(first, max(first, last))


def _base(file: EditedFile, document: Document) -> int | None:
    """Return where the chunk of a document begins in its file; it may begin behind a `---`."""
    line = document.chunk.first_line - 1
    start = file.lines.offset(Position(line, 0))
    text = document.chunk.text
    found = file.text.content.find(text, start, start + len(file.lines.line(line)) + len(text))
    return None if found < 0 else found


def _moved(part: OutlinePart, span: Span) -> OutlinePart:
    """Into the span of what it is a part of: an alias stands where its anchor is not."""
    if span.start <= part.span.start and part.span.end <= span.end:
        return part
    start = Span(span.start, span.start)
    return replace(part, span=start, chosen=start, parts=())


def _named(value: object) -> str:
    """Return what the item of a list is called."""
    if not isinstance(value, Mapping):
        return ""
    return next((value[one] for one in _NAMES if isinstance(value.get(one), str)), "")


def _field_name(path: Path) -> str:
    """The field that a schema describes: `spec.items[].size`."""
    name, steps = "", iter(path[path.index("openAPIV3Schema") + 1 :])
    for step in steps:
        if step == "properties":
            name += f".{next(steps, '')}"
        elif step == "items":
            name += "[]"
        elif step == "additionalProperties":
            name += "{}"
    return name.lstrip(".") or _ROOT


def _shown(value: object) -> str:
    """In a few words."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, Mapping):
        return _named(value) or ", ".join(map(str, value))
    return str(value)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_NAME else f"{line[: MAX_NAME - 1]}…"


# --- Margin notes ------------------------------------------------------------
#
# What is shown beside the text: what expressions cost, and which tests a policy has.


_POLICIES: Final = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
_POLICY_FILES: Final = late_pattern(r"^policies:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CostHint:
    """A text to be shown at a place, behind the line."""

    position: Position
    text: str


def cost_hints(file: EditedFile, span: Span, scopes: TypedScopes, size: int) -> list[CostHint]:
    """The costs of the expressions that begin in a span, for objects of that size."""
    found = []
    for spot in expression_spots(file):
        line = spot.document.line(spot.path) - 1
        if span.start.line <= line <= span.end.line:
            text = cost_text(spot.text, scopes.at(spot.document.value, spot.path), size)
            if text:
                end = Position(line, len(file.lines.line(line).encode("utf-16-le")) // 2)
                found.append(CostHint(end, text))
    return found


@dataclass(frozen=True, slots=True)
class TestLens:
    """The tests of a policy, to be run from the place where its document begins."""

    position: Position
    policy: str
    files: tuple[str, ...]


def test_lenses(file: EditedFile, tests: Iterable[str]) -> list[TestLens]:
    """Those of the policies in a file that one of the test files may be about: it stands in the
    same folder, or names the file."""
    path = os.path.abspath(file.text.file)
    own = tuple(one for one in tests if _is_about(one, path))
    return [
        TestLens(Position(one.line() - 1, 0), metadata.name(one.value), own)
        for one in file.documents
        if own and one.group_kind[0] == ADMISSION_REGISTRATION and one.group_kind[1] in _POLICIES
    ]


def test_files(folder: str) -> list[str]:
    """The tests of policies below a folder."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [os.path.join(parent, one) for one in names if one.endswith(EXTENSIONS)]
    return sorted(filter(is_test_file, found))


def _is_about(test: str, policy: str) -> bool:
    try:
        with open(test, encoding="utf-8") as stream:
            content = stream.read()
    except (OSError, UnicodeDecodeError):
        return False
    folder, name = os.path.split(policy)
    is_beside = os.path.dirname(os.path.abspath(test)) == folder
    return name in content or (is_beside and not _POLICY_FILES.search(content))
