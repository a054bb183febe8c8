"""Everything that is changed in a policy and its bindings, one thing at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from celadon.cli.explaining.value_texts import shortened
from celadon.cli.policy_tests.alteration_counts import AlterationKind
from celadon.cli.policy_tests.altering.altered_expressions import (
    AlteredExpression,
    altered_expressions,
)
from celadon.cli.policy_tests.altering.field_changes import ABSENT, field_changes
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_places import Path
from celadon.kube import FieldPath
from celadon.records import dataclass

_LISTS: Final = {
    "variables": ("expression",),
    "matchConditions": ("expression",),
    "validations": ("expression",),
    "auditAnnotations": ("valueExpression",),
    "mutations": ("applyConfiguration", "jsonPatch"),
}
"""Where expressions are. Those of messages are left out: of a text that people read, a test need
not fix every word. That there is one is changed, see `field_changes`."""

_MOST_CHARACTERS: Final = 60
_AROUND: Final = 24
"""Characters before a difference that are shown."""


@dataclass(frozen=True, slots=True)
class Alteration:
    """`value` is what stands at a path of a document instead; `ABSENT` for nothing, an empty path
    for all of it. `expression` is how, where that is an expression."""

    kind: AlterationKind
    document: Document
    path: Path
    value: Any
    expression: AlteredExpression | None = None

    @property
    def altered(self) -> dict[str, Any] | None:
        """The object with the change; the other parts are shared with the old one. None if the
        whole object is gone."""
        if not self.path:
            return None
        found: dict[str, Any] = _with_value(self.document.value, self.path, self.value)
        return found

    @property
    def field(self) -> str:
        """As people call it."""
        return FieldPath(*self.path).text if self.path else f"{self.document.value['kind']}"

    @property
    def text(self) -> str:
        """What is changed into what, in a line."""
        if self.expression is not None:
            old, new = _excerpts(self.expression.old, self.expression.new)
            return f"`{old}` becomes `{new}`"
        old_value = self.document.value_at(self.path)
        if self.value is ABSENT:
            is_text = isinstance(old_value, str)
            return f"`{_line(str(old_value))}` is left out" if is_text else "is left out"
        was = "nothing" if old_value is None else f"`{_shown(old_value)}`"
        return f"{was} becomes `{_shown(self.value)}`"


def alterations(documents: Sequence[Document]) -> Iterator[Alteration]:
    """Those of a policy and its bindings, in the order of the documents and their fields."""
    for document in documents:
        for path in _expressions(document):
            text = document.value_at(path)
            for one in altered_expressions(text) if isinstance(text, str) else ():
                yield Alteration(one.kind, document, path, one.text, one)
        for change in field_changes(document.value):
            yield Alteration(change.kind, document, change.path, change.value)


def _expressions(document: Document) -> Iterator[Path]:
    spec = document.value["spec"]
    for name, fields in _LISTS.items():
        for i, item in enumerate(spec.get(name) or ()):
            for field in fields:
                found = item.get(field)
                if isinstance(found, dict):
                    yield ("spec", name, i, field, "expression")
                elif found:
                    yield ("spec", name, i, field)


def _with_value(holder: Any, path: Path, value: Any) -> Any:  # noqa: ANN401 - any JSON
    """A copy of a list or a map with something else deep inside."""
    step, rest = path[0], path[1:]
    made: Any = holder.copy()
    if rest:
        inner = made.get(step, {}) if isinstance(made, dict) else made[step]
        made[step] = _with_value(inner, rest, value)
    elif value is ABSENT:
        del made[step]
    else:
        made[step] = value
    return made


def different_part(old: str, new: str) -> tuple[int, int]:
    """How many characters both begin with, and how many they end with. What is left of the old text
    has something in it, and no white space at its ends, whose place in a file is not certain."""
    head = _same(old, new)
    tail = _same(old[head:][::-1], new[head:][::-1])
    while head and not old[head : len(old) - tail][:1].strip():
        head -= 1
    while tail and old[len(old) - tail - 1].isspace():
        tail -= 1
    return head, tail


def _same(left: str, right: str) -> int:
    """How many characters both begin with."""
    found = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        found += 1
    return found


def _excerpts(old: str, new: str) -> tuple[str, str]:
    """Both on one line, what is different in the middle."""
    old, new = " ".join(old.split()), " ".join(new.split())
    head = _same(old, new)
    first = max(0, head - _AROUND) if max(len(old), len(new)) > _MOST_CHARACTERS else 0
    begun = "…" if first else ""
    return begun + _line(old[first:]), begun + _line(new[first:])


def _line(text: str) -> str:
    return shortened(" ".join(text.split()), _MOST_CHARACTERS)


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
