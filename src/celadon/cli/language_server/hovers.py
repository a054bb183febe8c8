"""Hovers over an expression (the type of a part, its documentation, what the whole costs), and the
outline of a file."""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from celadon.admission.lint import LargeObject, TypedScope, TypedScopes
from celadon.cel import RESERVED, CheckedAst, Environment, types
from celadon.cel.completion import OpenCall, type_in, typing_context
from celadon.cel.extend import Overload
from celadon.cel.tracing import SourceNode, written_tree
from celadon.cli.fmt import expression_fields
from celadon.cli.language_server import completions
from celadon.cli.language_server.workspace_files import (
    EditedFile,
    ExpressionSpot,
    Position,
    Span,
    TextEdit,
    expression_at,
    expression_spots,
)
from celadon.cli.reading.documents import EXTENSIONS, Document, chunk_start, is_test_file
from celadon.cli.reading.json_text import Path
from celadon.kube import metadata
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, DEFINITION_KIND
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Expression costs --------------------------------------------------------


def cost_text(text: str, scopes: Sequence[TypedScope], size: int) -> str:
    """`cost 5`, or `cost 3 to 40` for objects of up to that many bytes; of several kinds, all of
    their costs; empty for what does not compile."""
    result = []
    for scope in scopes:
        checked = scope.environment.compile(text).ast
        if checked is not None:
            result.append(scope.environment.estimate(checked, LargeObject(size)))
    if not result:
        return ""
    least, most = min(size.min for size in result), max(size.max for size in result)
    return f"cost {least}" if least == most else f"cost {least} to {_shown(most)}"


def _shown(cost: int) -> str:
    """Large numbers without digits that mean nothing."""
    return str(cost) if cost < 1_000_000 else f"{cost:.1e}".replace("e+", "e")


_WORD: Final = late_pattern(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Hover:
    """Markdown about `text[start:end]`."""

    start: int
    end: int
    markdown: str


def hover(text: str, offset: int, scopes: Sequence[TypedScope], size: int) -> Hover | None:
    """Return what stands at a place; None where nothing does. Costs are those for objects of that
    size."""
    word = next(
        (match for match in _WORD.finditer(text) if match.start() <= offset <= match.end()), None
    )
    kinds: dict[str, list[str]] = {}
    hover: Hover | None = None
    for scope in scopes:
        in_scope = _in_scope(text, offset, word, scope.environment)
        if in_scope is not None:
            hover = hover or in_scope
            kinds.setdefault(in_scope.markdown, []).append(
                "" if scope.kind is None else scope.kind.kind
            )
    if hover is None:
        return None
    parts = [
        f"{markdown}\n\nfor {', '.join(names)}" if len(kinds) > 1 else markdown
        for markdown, names in kinds.items()
    ]
    cost = cost_text(text, scopes, size)
    if cost:
        parts.append(f"the whole expression: {cost}")
    return Hover(hover.start, hover.end, "\n\n---\n\n".join(parts))


def _in_scope(
    text: str, offset: int, word: re.Match[str] | None, environment: Environment
) -> Hover | None:
    checked = environment.compile(text).ast
    if checked is None:
        return None if word is None else _of_word(text, word, environment)
    covering = [
        node for node in written_tree(checked.ast).walk() if node.start <= offset <= node.end
    ]
    if not covering:
        return None
    part = min(covering, key=lambda node: node.end - node.start)
    markdown = _of_part(text, part, checked, environment)
    name = "" if word is None else word[0]
    is_called = word is not None and text[word.end() :].lstrip().startswith("(")
    if is_called and name in completions.MACROS and not _overloads(part, checked, environment):
        markdown = f"{completions.macro_doc(name)}\n\n{markdown}"
    if word is not None and part.start <= word.start() and word.end() <= part.end:
        return Hover(word.start(), word.end(), markdown)
    return Hover(part.start, part.end, markdown)


def _of_part(text: str, part: SourceNode, checked: CheckedAst, environment: Environment) -> str:
    """Return the type of a part, and what is known of the function that it calls."""
    type_ = checked.types.get(part.node.id, types.DYN).display()
    source = " ".join(text[part.start : part.end].split())
    markdown = f"```cel\n{source}: {type_}\n```"
    overloads = _overloads(part, checked, environment)
    if overloads:
        name = checked.references[part.node.id].name
        markdown += f"\n\n{completions.function_doc(name, overloads)}"
    return markdown


def _overloads(part: SourceNode, checked: CheckedAst, environment: Environment) -> list[Overload]:
    """Return the overloads that the checker left, of functions that are called by a name."""
    reference = checked.references.get(part.node.id)
    if reference is None:
        return []
    return [
        overload
        for function in completions.functions_of(environment)
        if function.name == reference.name
        for overload in function.overloads
        if overload.id in reference.overloads
    ]


def _of_word(text: str, word: re.Match[str], environment: Environment) -> Hover | None:
    """Describe, in a text with errors, the operand that ends with the word."""
    context = typing_context(text, word.end(), environment)
    if context is None:
        return None
    operand = word[0] if context.receiver is None else f"{context.receiver}.{word[0]}"
    is_qualified = environment.declarations.find_function(operand) is not None
    name = operand if is_qualified else word[0]
    if environment.declarations.find_function(name) is not None or name in completions.MACROS:
        overloads = [
            overload
            for function in completions.functions_of(environment)
            if function.name == name
            for overload in function.overloads
        ]
        markdown = (
            completions.function_doc(name, overloads) if overloads else completions.macro_doc(name)
        )
    else:
        operand_type = type_in(context.environment, operand)
        markdown = f"```cel\n{operand}: {operand_type.display()}\n```"
    return Hover(word.start(), word.end(), markdown)


# --- Signature help ----------------------------------------------------------
#
# The signatures of the call whose arguments are being written.


@dataclass(frozen=True, slots=True)
class Signature:
    """Shows the parameters of a function. `parameters` are parts of the label."""

    label: str
    doc: str
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Signatures:
    """All that the call may mean, and which argument is being written, from 0."""

    signatures: tuple[Signature, ...]
    argument: int


def signatures(text: str, offset: int, scopes: Sequence[TypedScope]) -> Signatures | None:
    """Return the signatures of the innermost call around a place; None outside of calls."""
    for scope in scopes:
        context = typing_context(text, offset, scope.environment)
        if context is None or not context.calls:
            return None
        call = context.calls[-1]
        macros = _macros(call) or _signature_help_overloads(call, TypedScope(context.environment))
        if macros:
            return Signatures(tuple(macros), call.argument)
    return None


def _macros(call: OpenCall) -> list[Signature]:
    is_ours = call.name != "bind" or call.receiver == "cel"
    is_global = call.name == "has"
    if call.name not in completions.MACROS or not is_ours or is_global != (not call.receiver):
        return []
    doc = completions.MACROS[call.name]
    return [Signature(completions.macro_signature(call.name), doc.doc, doc.parameters)]


def _signature_help_overloads(call: OpenCall, scope: TypedScope) -> list[Signature]:
    environment = scope.environment
    qualified = f"{call.receiver}.{call.name}" if call.receiver else call.name
    functions = {function.name: function for function in completions.functions_of(environment)}
    function = functions.get(qualified)
    is_method = function is None and bool(call.receiver)
    if is_method:
        function = functions.get(call.name)
    if function is None:
        return []
    receiver = type_in(environment, call.receiver) if is_method else None
    return [
        Signature(
            completions.signature(function.name, overload),
            overload.doc,
            tuple(f"<{param.display()}>" for param in overload.params[int(is_method) :]),
        )
        for overload in function.overloads
        if overload.member is is_method
        and (receiver is None or completions.fits(overload.params[0], receiver))
    ]


# --- Variable names ----------------------------------------------------------
#
# The variables of policies: where they are defined, where they are used, and other names for
# them.
#
# A use is `variables.x` outside of literals and comments in an expression of the same policy,
# so that uses in expressions with errors are found as well.

_VARIABLES: Final = "variables"
_USE: Final = late_pattern(
    r"//[^\n]*"
    r"|[rR](?:\"{3}.*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)|\"[^\"\n]*+\"?|'[^'\n]*+'?)"
    r"|\"{3}(?:[^\\\"]++|\\.|\"(?!\"\"))*+(?:\"{3}|\\?\Z)"
    r"|'{3}(?:[^\\']++|\\.|'(?!''))*+(?:'{3}|\\?\Z)"
    r"|\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?"
    r"|(?<![\w.])variables\s*\.\s*(?P<name>[A-Za-z_]\w*)",
    re.DOTALL,
)
"""Literals, some of which do not end, and comments, and what is wanted outside of them."""


@dataclass(frozen=True, slots=True)
class VariableName:
    """A variable of a policy, and the place where somebody asked for it."""

    document: Document
    name: str
    span: Span


def variable_at(file: EditedFile, position: Position) -> VariableName | None:
    """Return the variable whose definition or use is at a place."""
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
    """Return where the variable at a place is defined."""
    variable_name = variable_at(file, position)
    if variable_name is None:
        return None
    for name, start, end in _definitions(file, variable_name.document):
        if name == variable_name.name:
            return file.lines.span(start, end)
    return None


def occurrences(file: EditedFile, position: Position) -> list[Span]:
    """Return the definition and all uses of the variable at a place, in the order of the file."""
    variable_name = variable_at(file, position)
    if variable_name is None:
        return []
    places = list(_definitions(file, variable_name.document))
    for spot in expression_spots(file):
        if spot.document is variable_name.document:
            places += _uses(spot)
    named = sorted({(start, end) for name, start, end in places if name == variable_name.name})
    return [file.lines.span(start, end) for start, end in named]


class NoVariableName(ValueError):
    """A variable cannot be called that; the text says why."""


def renaming(file: EditedFile, position: Position, name: str) -> list[TextEdit]:
    """Return what gives the variable at a place another name. Raises `NoVariableName`."""
    if not (name.isidentifier() and name.isascii()) or name in RESERVED:
        raise NoVariableName(f"`{name}` is no name of a variable")
    variable_name = variable_at(file, position)
    if variable_name is not None and any(
        text == name for text, _, _ in _definitions(file, variable_name.document)
    ):
        raise NoVariableName(f"there is a variable `{name}` already")
    return [TextEdit(file.text.file, span, name) for span in occurrences(file, position)]


def _definitions(file: EditedFile, document: Document) -> Iterator[tuple[str, int, int]]:
    """Name, start and end of each."""
    spec = document.value.get("spec")
    variables = spec.get(_VARIABLES) if isinstance(spec, dict) else None
    base = chunk_start(file.text, document) if isinstance(variables, list) else None
    if base is None or not isinstance(variables, list):
        return
    for index, variable in enumerate(variables):
        name = variable.get("name") if isinstance(variable, dict) else None
        path: Path = (*document.path, "spec", _VARIABLES, index, "name")
        if isinstance(name, str) and name:
            source_of = document.chunk.source_of(path, name, 0, len(name))
            if source_of is not None:
                yield name, source_of[0] + base, source_of[1] + base


def _uses(spot: ExpressionSpot) -> Iterator[tuple[str, int, int]]:
    """Yield those in an expression."""
    for match in _USE.finditer(spot.text):
        placed = spot.span(*match.span("name")) if match["name"] else None
        if placed is not None:
            yield match["name"], *placed


# --- Outlines ----------------------------------------------------------------
#
# What is in a file, as a tree: its objects, and in them what has expressions.
#
# Policies and webhooks show their lists (`validations`, `variables`, `webhooks`, …) with the
# items by name, bindings what they bind, definitions of custom resources the rules of each
# version by the field that they stand at. Every part has a range, in which those below it lie.

MAX_NAME: Final = 80
"""Characters of a name or a detail: expressions are cut."""

_BOUND: Final = frozenset({"policyName", "paramRef", "matchResources", "validationActions"})
_NAMES: Final = ("name", "key", "message")
_ROOT: Final = "self"


class OutlineSort(enum.Enum):
    """A part of an outline is one of these."""

    OBJECT = enum.auto()
    SECTION = enum.auto()
    ITEM = enum.auto()
    FIELD = enum.auto()
    VARIABLE = enum.auto()


@dataclass(frozen=True, slots=True)
class OutlinePart:
    """Holds a part of the outline of a file. `span` is all of it, `chosen` what an editor goes
    to."""

    name: str
    detail: str
    sort: OutlineSort
    span: Span
    chosen: Span
    parts: tuple[OutlinePart, ...] = ()


def document_outline(file: EditedFile) -> list[OutlinePart]:
    """Return the objects of a file, in its order. Templates of charts have none."""
    if file.is_template:
        return []
    documents = (_Outliner(file, document).outline() for document in file.documents)
    return [part for part in documents if part is not None]


class _Outliner:
    """Makes the outline of one object."""

    def __init__(self, file: EditedFile, document: Document) -> None:
        self._file = file
        self._document = document
        self._base = _base(file, document)

    def outline(self) -> OutlinePart | None:
        """Return the outline; None where it is not known where the object stands."""
        if self._base is None:
            return None
        document = self._document
        name = metadata.name(document.value)
        span = self._span(())
        chosen = self._span(("metadata", "name")) if name else Span(span.start, span.start)
        kind = document.value["kind"]
        parts = tuple(_moved(part, span) for part in self._parts())
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
        """Yield the lists in which expressions are; `paths` go on from `above`."""
        lists: dict[Path, dict[int, list[Path]]] = {}
        for path in paths:
            depth = next((n for n, step in enumerate(path) if isinstance(step, int)), None)
            if depth is not None:
                index = path[depth]
                assert isinstance(index, int)
                lists.setdefault(path[:depth], {}).setdefault(index, []).append(path[depth + 1 :])
        for path, items in sorted(
            lists.items(), key=lambda group: self._offset((*above, *group[0]))
        ):
            where = (*above, *path)
            parts = tuple(
                self._item((*where, index), below) for index, below in sorted(items.items())
            )
            yield self._part(where, str(path[-1]), "", OutlineSort.SECTION, parts)

    def _item(self, path: Path, below: list[Path]) -> OutlinePart:
        is_variable = path[-2] == "variables"
        sort = OutlineSort.VARIABLE if is_variable else OutlineSort.ITEM
        written = (path for path in below if path and path[-1] == "expression")
        expression = next((str(self._value((*path, *item))) for item in written), "")
        name = _named(self._value(path)) or expression or f"[{path[-1]}]"
        parts = tuple(self._sections(path, below))
        detail = "" if parts or name == expression else expression
        return self._part(path, name, detail, sort, parts)

    def _bound(self) -> Iterator[OutlinePart]:
        spec = self._document.value.get("spec")
        for name, value in spec.items() if isinstance(spec, dict) else ():
            if name in _BOUND and value is not None:
                yield self._part(("spec", name), name, _value_text(value), OutlineSort.FIELD)

    # --- definitions of custom resources ---

    def _versions(self, paths: Iterable[Path]) -> Iterator[OutlinePart]:
        rules: dict[Path, dict[Path, list[Path]]] = {}
        for path in paths:
            if path[-1] == "rule":
                version = path[:3] if path[1] == "versions" else path[:2]
                rules.setdefault(version, {}).setdefault(path[:-3], []).append(path[:-1])
        for version, fields in rules.items():
            parts = tuple(self._field(field, value) for field, value in fields.items())
            name = _named(self._value(version)) or str(version[-1])
            ordered = tuple(sorted(parts, key=lambda part: part.span.start))
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
        inside = tuple(_moved(part, span) for part in parts)
        return OutlinePart(_cut(name), _cut(detail), sort, span, chosen, inside)

    def _value(self, path: Path) -> Any:  # noqa: ANN401 - any JSON
        return self._document.value_at(path)

    def _offset(self, path: Path) -> int:
        """Return where the value of a path begins, in its chunk."""
        return self._document.chunk.span((*self._document.path, *path))[0]

    def _span(self, path: Path) -> Span:
        """Return the span from the key, or from the item, to the end of the value."""
        chunk, lines = self._document.chunk, self._file.lines
        full_path = (*self._document.path, *path)
        start, end = chunk.span(full_path)
        assert self._base is not None
        last = self._base + len(chunk.text[:end].rstrip())
        first = self._base + start
        if path and not isinstance(path[-1], int):
            line, column = chunk.spot(full_path)
            first = min(first, lines.offset(Position(line - 1, 0)) + column - 1)
        return lines.span(first, max(first, last))


def _base(file: EditedFile, document: Document) -> int | None:
    """Return where the chunk of a document begins in its file; it may begin behind a `---`."""
    line = document.chunk.first_line - 1
    start = file.lines.offset(Position(line, 0))
    text = document.chunk.text
    offset = file.text.content.find(text, start, start + len(file.lines.line(line)) + len(text))
    return None if offset < 0 else offset


def _moved(part: OutlinePart, span: Span) -> OutlinePart:
    """Move a part into the span of what it is a part of: an alias stands where its anchor is
    not."""
    if span.start <= part.span.start and part.span.end <= span.end:
        return part
    start = Span(span.start, span.start)
    return replace(part, span=start, chosen=start, parts=())


def _named(value: object) -> str:
    """Return what the item of a list is called."""
    if not isinstance(value, Mapping):
        return ""
    return next((value[name] for name in _NAMES if isinstance(value.get(name), str)), "")


def _field_name(path: Path) -> str:
    """Return the field that a schema describes: `spec.items[].size`."""
    name, steps = "", iter(path[path.index("openAPIV3Schema") + 1 :])
    for step in steps:
        if step == "properties":
            name += f".{next(steps, '')}"
        elif step == "items":
            name += "[]"
        elif step == "additionalProperties":
            name += "{}"
    return name.lstrip(".") or _ROOT


def _value_text(value: object) -> str:
    """Return the value in a few words."""
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
    """Return the costs of the expressions that begin in a span, for objects of that size."""
    result = []
    for spot in expression_spots(file):
        line = spot.document.line(spot.path) - 1
        if span.start.line <= line <= span.end.line:
            text = cost_text(spot.text, scopes.at(spot.document.value, spot.path), size)
            if text:
                result.append(CostHint(file.lines.end(line), text))
    return result


@dataclass(frozen=True, slots=True)
class TestLens:
    """The tests of a policy, to be run from the place where its document begins."""

    position: Position
    policy: str
    files: tuple[str, ...]


def test_lenses(file: EditedFile, tests: Iterable[str]) -> list[TestLens]:
    """Return the lenses of the policies in a file that one of the test files may be about: it
    stands in the same folder, or names the file."""
    path = os.path.abspath(file.text.file)
    names = tuple(test for test in tests if _is_about(test, path))
    return [
        TestLens(Position(document.line() - 1, 0), metadata.name(document.value), names)
        for document in file.documents
        if names
        and document.group_kind[0] == ADMISSION_REGISTRATION
        and document.group_kind[1] in _POLICIES
    ]


def test_files(folder: str) -> list[str]:
    """Return the tests of policies below a folder."""
    result = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        result += [os.path.join(parent, name) for name in names if name.endswith(EXTENSIONS)]
    return sorted(filter(is_test_file, result))


def _is_about(test: str, policy: str) -> bool:
    try:
        with open(test, encoding="utf-8") as stream:
            content = stream.read()
    except (OSError, UnicodeDecodeError):
        return False
    folder, name = os.path.split(policy)
    is_beside = os.path.dirname(os.path.abspath(test)) == folder
    return name in content or (is_beside and not _POLICY_FILES.search(content))
