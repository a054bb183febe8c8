"""What something in an expression is: its type, its documentation, what the whole costs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from celadon.admission.lint import LargeObject, TypedScope
from celadon.cel import RESERVED, CheckedAst, Environment, types
from celadon.cel.completion import OpenCall, type_in, typing_context
from celadon.cel.extend import Overload
from celadon.cel.tracing import Written, written_tree
from celadon.cli.language_server.completions import (
    MACROS,
    fits,
    function_doc,
    functions_of,
    macro_doc,
    macro_signature,
    signature,
)
from celadon.cli.language_server.workspace_files import (
    EditedFile,
    ExpressionSpot,
    Position,
    Span,
    TextEdit,
    expression_at,
    expression_spots,
)
from celadon.cli.reading.documents import Document, chunk_start
from celadon.cli.reading.json_text import Path
from celadon.patterns import late_pattern
from celadon.records import dataclass

# --- Expression costs --------------------------------------------------------
#
# What an expression may cost, in words.


def cost_text(text: str, scopes: Sequence[TypedScope], size: int) -> str:
    """`cost 5`, or `cost 3 to 40` for objects of up to that many bytes; of several kinds, all of
    their costs; empty for what does not compile."""
    found = []
    for scope in scopes:
        checked = scope.environment.compile(text).ast
        if checked is not None:
            found.append(scope.environment.estimate(checked, LargeObject(size)))
    if not found:
        return ""
    least, most = min(one.min for one in found), max(one.max for one in found)
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
    word = next((one for one in _WORD.finditer(text) if one.start() <= offset <= one.end()), None)
    kinds: dict[str, list[str]] = {}
    found: Hover | None = None
    for scope in scopes:
        one = _in_scope(text, offset, word, scope.environment)
        if one is not None:
            found = found or one
            kinds.setdefault(one.markdown, []).append("" if scope.kind is None else scope.kind.kind)
    if found is None:
        return None
    parts = [
        f"{markdown}\n\nfor {', '.join(names)}" if len(kinds) > 1 else markdown
        for markdown, names in kinds.items()
    ]
    cost = cost_text(text, scopes, size)
    if cost:
        parts.append(f"the whole expression: {cost}")
    return Hover(found.start, found.end, "\n\n---\n\n".join(parts))


def _in_scope(
    text: str, offset: int, word: re.Match[str] | None, environment: Environment
) -> Hover | None:
    checked = environment.compile(text).ast
    if checked is None:
        return None if word is None else _of_word(text, word, environment)
    covering = [one for one in written_tree(checked.ast).walk() if one.start <= offset <= one.end]
    if not covering:
        return None
    part = min(covering, key=lambda one: one.end - one.start)
    markdown = _of_part(text, part, checked, environment)
    name = "" if word is None else word[0]
    is_called = word is not None and text[word.end() :].lstrip().startswith("(")
    if is_called and name in MACROS and not _overloads(part, checked, environment):
        markdown = f"{macro_doc(name)}\n\n{markdown}"
    if word is not None and part.start <= word.start() and word.end() <= part.end:
        return Hover(word.start(), word.end(), markdown)
    return Hover(part.start, part.end, markdown)


def _of_part(text: str, part: Written, checked: CheckedAst, environment: Environment) -> str:
    """The type of a part, and what is known of the function that it calls."""
    type_ = checked.types.get(part.node.id, types.DYN).display()
    source = " ".join(text[part.start : part.end].split())
    markdown = f"```cel\n{source}: {type_}\n```"
    overloads = _overloads(part, checked, environment)
    if overloads:
        name = checked.references[part.node.id].name
        markdown += f"\n\n{function_doc(name, overloads)}"
    return markdown


def _overloads(part: Written, checked: CheckedAst, environment: Environment) -> list[Overload]:
    """Those that the checker left, of functions that are called by a name."""
    reference = checked.references.get(part.node.id)
    if reference is None:
        return []
    return [
        overload
        for function in functions_of(environment)
        if function.name == reference.name
        for overload in function.overloads
        if overload.id in reference.overloads
    ]


def _of_word(text: str, word: re.Match[str], environment: Environment) -> Hover | None:
    """In a text with errors: the operand that ends with the word."""
    context = typing_context(text, word.end(), environment)
    if context is None:
        return None
    operand = word[0] if context.receiver is None else f"{context.receiver}.{word[0]}"
    if environment.declarations.find_function(word[0]) is not None or word[0] in MACROS:
        overloads = [
            one for it in functions_of(environment) if it.name == word[0] for one in it.overloads
        ]
        markdown = function_doc(word[0], overloads) if overloads else macro_doc(word[0])
    else:
        known = type_in(context.environment, operand)
        markdown = f"```cel\n{operand}: {known.display()}\n```"
    return Hover(word.start(), word.end(), markdown)


# --- Signature help ----------------------------------------------------------
#
# The signatures of the call whose arguments are being written.


@dataclass(frozen=True, slots=True)
class Signature:
    """`parameters` are parts of the label."""

    label: str
    doc: str
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Signatures:
    """All that the call may mean, and which argument is being written, from 0."""

    signatures: tuple[Signature, ...]
    argument: int


def signatures(text: str, offset: int, scopes: Sequence[TypedScope]) -> Signatures | None:
    """Of the innermost call around a place; None outside of calls."""
    for scope in scopes:
        context = typing_context(text, offset, scope.environment)
        if context is None or not context.calls:
            return None
        call = context.calls[-1]
        found = _macros(call) or _signature_help_overloads(call, TypedScope(context.environment))
        if found:
            return Signatures(tuple(found), call.argument)
    return None


def _macros(call: OpenCall) -> list[Signature]:
    is_ours = call.name != "bind" or call.receiver == "cel"
    is_global = call.name == "has"
    if call.name not in MACROS or not is_ours or is_global != (not call.receiver):
        return []
    doc = MACROS[call.name]
    return [Signature(macro_signature(call.name), doc.doc, doc.parameters)]


def _signature_help_overloads(call: OpenCall, scope: TypedScope) -> list[Signature]:
    environment = scope.environment
    qualified = f"{call.receiver}.{call.name}" if call.receiver else call.name
    every = {one.name: one for one in functions_of(environment)}
    function = every.get(qualified)
    is_method = function is None and bool(call.receiver)
    if is_method:
        function = every.get(call.name)
    if function is None:
        return []
    receiver = type_in(environment, call.receiver) if is_method else None
    return [
        Signature(
            signature(function.name, one),
            one.doc,
            tuple(f"<{param.display()}>" for param in one.params[int(is_method) :]),
        )
        for one in function.overloads
        if one.member is is_method and (receiver is None or fits(one.params[0], receiver))
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
    """Return where the variable at a place is defined."""
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
    """Return what gives the variable at a place another name. Raises `NoVariableName`."""
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
