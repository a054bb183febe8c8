"""Makes the mutants of a policy and its bindings: each has one thing changed. Shows a change as a
difference in the file."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from celadon.admission.registration import BINDING_KIND, MUTATING_BINDING_KIND
from celadon.cli.annotated_source import shortened
from celadon.cli.policytest.case_results import AlterationKind
from celadon.cli.policytest.case_results import AlterationKind as Kind
from celadon.cli.policytest.mutants.canonical_expressions import (
    AlteredExpression,
    altered_expressions,
)
from celadon.cli.reading.documents import (
    Document,
    DocumentReader,
    Problem,
    Text,
    chunk_start,
    read_text,
)
from celadon.cli.reading.json_text import Path
from celadon.kube import FieldPath, JsonObject
from celadon.kube.json_types import JsonDict
from celadon.kube.selectors import OPPOSITE_OPERATORS
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Field changes -----------------------------------------------------------
#
# The ways in which the fields of a policy or a binding are changed, expressions left aside.
#
# Each change leaves an object that the API server would take: the last rule, the last operation
# or the last validation stays where it is.

ABSENT: Final = object()
"""What is in the place of something that is left out."""

_FIELD_CHANGES_LISTS: Final = {
    "operations": Kind.OPERATION,
    "resources": Kind.RESOURCE,
    "apiGroups": Kind.RESOURCE,
    "apiVersions": Kind.RESOURCE,
    "resourceNames": Kind.RESOURCE,
}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """Changes one field of a document. `value` is what stands at a path of the document instead,
    `ABSENT` for nothing. `of` is what is left out, where the value is a list that is shorter by
    that."""

    kind: Kind
    path: Path
    value: Any


def field_changes(document: JsonObject) -> Iterator[FieldChange]:
    """Yield those of a policy, or of a binding."""
    spec = document["spec"]
    if document["kind"] in (BINDING_KIND, MUTATING_BINDING_KIND):
        yield from _binding(spec)
    else:
        yield from _policy(spec)


def _binding(spec: JsonObject) -> Iterator[FieldChange]:
    actions = spec.get("validationActions") or []
    path = ("spec", "validationActions")
    if len(actions) > 1:
        for action in actions:
            yield FieldChange(Kind.ACTIONS, path, [other for other in actions if other != action])
    if "Deny" in actions and "Warn" not in actions:
        soft = ["Warn" if action == "Deny" else action for action in actions]
        yield FieldChange(Kind.ACTIONS, path, soft)
    elif actions == ["Warn"]:
        yield FieldChange(Kind.ACTIONS, path, ["Deny"])
    elif actions == ["Audit"]:
        yield FieldChange(Kind.ACTIONS, path, ["Warn"])
    param_ref = spec.get("paramRef") or {}
    result = param_ref.get("parameterNotFoundAction")
    if result:
        other = "Allow" if result == "Deny" else "Deny"
        yield FieldChange(Kind.PARAMS, ("spec", "paramRef", "parameterNotFoundAction"), other)
    yield from _selector(("spec", "paramRef", "selector"), param_ref.get("selector"), Kind.PARAMS)
    yield from _matching(("spec", "matchResources"), spec.get("matchResources") or {})
    yield FieldChange(Kind.BINDING, (), ABSENT)


def _policy(spec: JsonObject) -> Iterator[FieldChange]:
    other = "Fail" if spec.get("failurePolicy") == "Ignore" else "Ignore"
    yield FieldChange(Kind.FAILURE_POLICY, ("spec", "failurePolicy"), other)
    if "reinvocationPolicy" in spec:
        other_policy = "Never" if spec["reinvocationPolicy"] == "IfNeeded" else "IfNeeded"
        yield FieldChange(Kind.REINVOCATION, ("spec", "reinvocationPolicy"), other_policy)
    constraints = spec.get("matchConstraints") or {}
    place: Path = ("spec", "matchConstraints")
    exact = "Equivalent" if constraints.get("matchPolicy") == "Exact" else "Exact"
    yield FieldChange(Kind.MATCH_POLICY, (*place, "matchPolicy"), exact)
    yield from _matching(place, constraints)
    yield from _items(spec, "matchConditions", Kind.CONDITION, least=0)
    annotations, validations = spec.get("auditAnnotations"), spec.get("validations")
    yield from _items(spec, "validations", Kind.VALIDATION, least=0 if annotations else 1)
    yield from _items(spec, "auditAnnotations", Kind.ANNOTATION, least=0 if validations else 1)
    yield from _items(spec, "mutations", Kind.MUTATION, least=1)
    for i, validation in enumerate(validations or ()):
        if validation.get("messageExpression"):
            path = ("spec", "validations", i, "messageExpression")
            yield FieldChange(Kind.MESSAGE, path, ABSENT)


def _items(spec: JsonObject, name: str, kind: Kind, *, least: int) -> Iterator[FieldChange]:
    """Yield the list with each item left out; so many have to stay."""
    items = spec.get(name) or []
    if len(items) > least:
        for i in range(len(items)):
            yield FieldChange(kind, ("spec", name, i), ABSENT)


def _matching(place: Path, constraints: JsonObject) -> Iterator[FieldChange]:
    for name in ("namespaceSelector", "objectSelector"):
        yield from _selector((*place, name), constraints.get(name), Kind.SELECTOR)
    for name in ("resourceRules", "excludeResourceRules"):
        rules = constraints.get(name) or []
        for i, rule in enumerate(rules):
            if len(rules) > 1 or name == "excludeResourceRules":
                yield FieldChange(Kind.RULE, (*place, name, i), ABSENT)
            yield from _rule((*place, name, i), rule)


def _rule(place: Path, rule: JsonObject) -> Iterator[FieldChange]:
    for name, kind in _FIELD_CHANGES_LISTS.items():
        items = rule.get(name) or []
        if len(items) > 1:
            for i in range(len(items)):
                yield FieldChange(kind, (*place, name, i), ABSENT)
    if rule.get("resourceNames"):
        yield FieldChange(Kind.RESOURCE, (*place, "resourceNames"), ABSENT)
    if rule.get("scope", "*") != "*":
        yield FieldChange(Kind.RULE, (*place, "scope"), "*")


def _selector(place: Path, selector: JsonObject | None, kind: Kind) -> Iterator[FieldChange]:
    """Leave out each requirement, so that more is selected; or turn it around."""
    if not selector:
        return
    for key in selector.get("matchLabels") or {}:
        yield FieldChange(kind, (*place, "matchLabels", key), ABSENT)
    for i, match_expression in enumerate(selector.get("matchExpressions") or ()):
        path = (*place, "matchExpressions", i)
        yield FieldChange(kind, path, ABSENT)
        yield FieldChange(
            kind, (*path, "operator"), OPPOSITE_OPERATORS[match_expression["operator"]]
        )
        values = match_expression.get("values") or []
        for j in range(len(values) if len(values) > 1 else 0):
            yield FieldChange(kind, (*path, "values", j), ABSENT)


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
    """Changes a policy or one of its bindings in one place. `value` is what stands at a path of a
    document instead; `ABSENT` for nothing, an empty path for all of it. `expression` is how, where
    that is an expression."""

    kind: AlterationKind
    document: Document
    path: Path
    value: Any
    expression: AlteredExpression | None = None

    @property
    def altered(self) -> JsonDict | None:
        """Return the object with the change; the other parts are shared with the old one. None if
        the whole object is gone."""
        if not self.path:
            return None
        altered: dict[str, object] = _with_value(self.document.value, self.path, self.value)
        return altered

    @property
    def field(self) -> str:
        """Return the field as people call it."""
        return FieldPath(*self.path).text if self.path else f"{self.document.value['kind']}"

    @property
    def text(self) -> str:
        """Return what is changed into what, in a line."""
        if self.expression is not None:
            old, new = _excerpts(self.expression.old, self.expression.new)
            return f"`{old}` becomes `{new}`"
        old_value = self.document.value_at(self.path)
        if self.value is ABSENT:
            is_text = isinstance(old_value, str)
            return f"`{_line(str(old_value))}` is left out" if is_text else "is left out"
        old_text = "nothing" if old_value is None else f"`{_shown(old_value)}`"
        return f"{old_text} becomes `{_shown(self.value)}`"


def alterations(documents: Sequence[Document]) -> Iterator[Alteration]:
    """Yield those of a policy and its bindings, in the order of the documents and their fields."""
    for document in documents:
        for path in _expressions(document):
            text = document.value_at(path)
            for altered_expression in altered_expressions(text) if isinstance(text, str) else ():
                yield Alteration(
                    altered_expression.kind,
                    document,
                    path,
                    altered_expression.text,
                    altered_expression,
                )
        for change in field_changes(document.value):
            yield Alteration(change.kind, document, change.path, change.value)


def _expressions(document: Document) -> Iterator[Path]:
    spec = document.value["spec"]
    for name, fields in _LISTS.items():
        for i, item in enumerate(spec.get(name) or ()):
            for field in fields:
                result = item.get(field)
                if isinstance(result, dict):
                    yield ("spec", name, i, field, "expression")
                elif result:
                    yield ("spec", name, i, field)


def _with_value(holder: Any, path: Path, value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a copy of a list or a map with something else deep inside."""
    step, rest = path[0], path[1:]
    result: Any = holder.copy()
    if rest:
        inner = result.get(step, {}) if isinstance(result, dict) else result[step]
        result[step] = _with_value(inner, rest, value)
    elif value is ABSENT:
        del result[step]
    else:
        result[step] = value
    return result


def different_part(old: str, new: str) -> tuple[int, int]:
    """Return how many characters both begin with, and how many they end with. What is left of the
    old text has something in it, and no white space at its ends, whose place in a file is not
    certain."""
    head = _same(old, new)
    tail = _same(old[head:][::-1], new[head:][::-1])
    while head and not old[head : len(old) - tail][:1].strip():
        head -= 1
    while tail and old[len(old) - tail - 1].isspace():
        tail -= 1
    return head, tail


def _same(left: str, right: str) -> int:
    """Return how many characters both begin with."""
    length = 0
    for text, other in zip(left, right, strict=False):
        if text != other:
            break
        length += 1
    return length


def _excerpts(old: str, new: str) -> tuple[str, str]:
    """Return both on one line, what is different in the middle."""
    old, new = " ".join(old.split()), " ".join(new.split())
    head = _same(old, new)
    first = max(0, head - _AROUND) if max(len(old), len(new)) > _MOST_CHARACTERS else 0
    begun = "…" if first else ""
    return begun + _line(old[first:]), begun + _line(new[first:])


def _line(text: str) -> str:
    return shortened(" ".join(text.split()), _MOST_CHARACTERS)


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


# --- Mutated files -----------------------------------------------------------
#
# What an alteration comes to in the file of the policy, as `diff -u` shows it.
#
# The edit is as small as it can be: of an expression the part that is other, of a list the lines
# of an item. Whether the file then says what is meant is checked by reading it again. Where a
# style of YAML stands against it, the nearest value around it that can be written anew is written
# as JSON, which is YAML as well.

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
    """Return the difference to the file of the policy; its lines are those of the file."""
    document = alteration.document
    chunk = document.chunk
    before, base = chunk.text, None
    text = read_text(document.file) if os.path.isfile(document.file) else None
    if isinstance(text, Text):
        base = chunk_start(text, document)
    edit = _fitting_edit(alteration)
    if base is None or not isinstance(text, Text):
        before, base = "\n" * (chunk.first_line - 1) + before, chunk.first_line - 1
    else:
        before = text.content
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
    result = text[: edit.start] + edit.text + text[edit.end :]
    before, after = (list(DocumentReader().read(Text("", text))) for text in (text, result))
    if len(before) != len(after):
        return False
    line = document.chunk.line(document.path) - document.chunk.first_line
    for old, new in zip(before, after, strict=True):
        if isinstance(old, Problem) or isinstance(new, Problem):
            return False
        is_meant = old.path == document.path and old.line() - 1 == line
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
    """Return a value as JSON; a word where a word was."""
    start, end = document.chunk.span((*document.path, *path))
    whole = document.chunk.text
    old_text = whole[start:end].rstrip()
    is_word = not document.chunk.is_json and isinstance(value, str)
    plain = is_word and _WORD.fullmatch(old_text) and _WORD.fullmatch(value)
    text = value if plain else json.dumps(value, ensure_ascii=False)
    colon = whole.rfind(":", 0, start)
    if "\n" in whole[colon:start] and not whole[colon + 1 : start].strip():
        return _Edit(colon + 1, start + len(old_text), f" {text}")
    return _Edit(start, start + len(old_text), text)


def _in_expression(alteration: Alteration) -> Iterator[_Edit]:
    """Change only the characters that differ, in the style of the scalar."""
    expression, document = alteration.expression, alteration.document
    value = document.value_at(alteration.path)
    if expression is None or not isinstance(value, str):
        return
    path = (*document.path, *alteration.path)
    head, tail = different_part(expression.old, expression.new)
    old, new = (
        expression.old[head : len(expression.old) - tail],
        expression.new[head : len(expression.new) - tail],
    )
    start = expression.start + head
    for left, right, text in (
        (start, start + len(old), new),
        (expression.start, expression.start + len(expression.old), expression.new),
    ):
        source_of = document.chunk.source_of(path, value, left, max(right, left + 1))
        if source_of is not None:
            end = source_of[1] if right > left else source_of[0]
            yield _Edit(source_of[0], end, _escaped(text, document, path))


def _escaped(text: str, document: Document, path: Path) -> str:
    """Write the text in the style of the scalar at a path."""
    style = '"' if document.chunk.is_json else document.chunk.style(path)
    if style == '"':
        return json.dumps(text, ensure_ascii=False)[1:-1]
    return text.replace("'", "''") if style == "'" else text


def _in_yaml(alteration: Alteration) -> Iterator[_Edit]:
    """Yield the edits that leave something out of a list or a map, or put it into a map that does
    not have it."""
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
        match = _COMMA_BEHIND.match(text, child.end)
        if before is not None:
            yield _Edit(before.start(), child.end, "")
        yield _Edit(key, child.end if match is None else match.end(), "")
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
    key = min(index for _, index in node.children.values())
    if node.is_flow:
        yield _Edit(key, key, f"{path[-1]}: {value}, ")
    else:
        indent = key - text.rfind("\n", 0, key) - 1
        yield _Edit(key, key, f"{path[-1]}: {value}\n{' ' * indent}")
