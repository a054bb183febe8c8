"""Expressions that somebody is typing: what stands before a place, whatever stands behind it.

context = typing_context("object.spec.containers.all(c, c.", 32, environment)
context.receiver, type_in(context.environment, context.receiver)
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from celadon.cel import types
from celadon.cel.environment import Environment
from celadon.cel.errors import DeclarationError
from celadon.cel.parsing import tokens
from celadon.cel.parsing.lexer import TokenList, next_token, tokenize
from celadon.cel.types import Kind, Type
from celadon.records import dataclass

__all__ = ["OpenCall", "OpenMessage", "TypingContext", "type_in", "typing_context"]


# --- Typing context ----------------------------------------------------------
#
# What stands before a place in an expression, however incomplete the text: for completion.
#
# Only the tokens before the place are looked at, so that nothing behind it, and no error in it,
# is in the way. Names that macros around the place bind are typed by what they iterate over.

_OPENING: Final = {")": "(", "]": "[", "}": "{"}
_NAMES: Final = frozenset({tokens.IDENTIFIER, tokens.ESC_IDENTIFIER})
_OPERANDS: Final = frozenset({*_NAMES, *tokens.LITERALS, *_OPENING})
_INNER: Final = frozenset({"optMap", "optFlatMap"})
_LOOPS: Final = frozenset(
    {
        *("all", "exists", "exists_one", "existsOne", "filter", "map", "sortBy"),
        *("transformList", "transformMap", "transformMapEntry"),
    }
)


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call whose arguments are being written: its name, with what stands before it if that is a
    name as well (`cel.bind`), the text of its receiver, and which argument it is (from 0)."""

    name: str
    receiver: str
    argument: int
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpenMessage:
    """Holds a message or map, `Name{...}` or `{...}`, that is being written: its name, empty for a
    map; the fields that it has already; and the one whose value is being written, None where a
    field's name is."""

    name: str
    fields: tuple[str, ...]
    field: str | None


@dataclass(frozen=True, slots=True)
class TypingContext:
    """Says what is being typed at a place. `word` is what has been typed of a name, from `start`
    on; `receiver` the text before its dot, None where there is no dot. `calls` are those around it,
    the outermost first. `environment` knows the names that macros bind. `message` is what is
    directly around the place."""

    word: str
    start: int
    receiver: str | None
    calls: tuple[OpenCall, ...]
    environment: Environment
    message: OpenMessage | None = None


def typing_context(text: str, offset: int, environment: Environment) -> TypingContext | None:
    """Return what is being typed; None inside of a literal or a comment."""
    before = text[:offset]
    token_list = tokenize(before)
    if token_list is None or _in_comment(before):
        return None
    kinds, texts, offsets = token_list
    last = len(kinds) - 2
    word, start = "", offset
    if last >= 0 and offsets[last] + len(texts[last]) == offset:
        if kinds[last] in _NAMES or kinds[last] in tokens.KEYWORDS:
            word, start = texts[last], offsets[last]
            last -= 1
        elif kinds[last] in tokens.LITERALS:
            return None
    receiver = None
    if last >= 1 and kinds[last] == "?" and kinds[last - 1] == ".":
        last -= 1
    if last >= 0 and kinds[last] == ".":
        receiver = _operand(token_list, before, last)
    calls = _open_calls(token_list, before)
    names = _with_variables(environment, calls)
    return TypingContext(word, start, receiver, calls, names, _open_message(token_list, start))


def type_in(environment: Environment, text: str) -> Type:
    """Return the type of an expression; dyn where nobody knows."""
    checked = environment.compile(text).ast if text.strip() else None
    return types.DYN if checked is None else checked.type


def _in_comment(before: str) -> bool:
    """Return whether the last thing is a comment, which is no token."""
    index = 0
    while True:
        kind, _, end = next_token(before, index)
        if kind == tokens.EOF:
            return "//" in before[index:].rpartition("\n")[2]
        index = end


def _operand(token_list: TokenList, text: str, dot: int) -> str:
    """Return the text of what a dot is behind; empty where there is nothing."""
    kinds, _, offsets = token_list
    start = dot
    while start > 0:
        before = start - 1
        if kinds[before] in _OPENING:
            start = _matching(kinds, before)
            if start > 0 and kinds[start - 1] in _NAMES and kinds[before] == ")":
                start -= 1
            elif start > 0 and kinds[before] != ")" and kinds[start - 1] in _OPERANDS:
                continue
        elif kinds[before] in _OPERANDS:
            start = before
        else:
            break
        mark = start - 1 if start > 0 and kinds[start - 1] == "?" else start
        if mark > 0 and kinds[mark - 1] == ".":
            start = mark - 1
            continue
        break
    return text[offsets[start] : offsets[dot]].strip()


def _matching(kinds: list[str], closing: int) -> int:
    """Return the index of the bracket that is closed there; 0 if none is."""
    depth = 0
    for index in range(closing, -1, -1):
        depth += kinds[index] in _OPENING
        depth -= kinds[index] in _OPENING.values()
        if not depth:
            return index
    return 0


def _open_calls(token_list: TokenList, text: str) -> tuple[OpenCall, ...]:
    """Return the calls whose closing bracket is not there yet."""
    kinds, _, offsets = token_list
    open_at: list[tuple[int, list[int]]] = []
    for index, kind in enumerate(kinds):
        if kind in _OPENING.values():
            open_at.append((index, [index]))
        elif kind in _OPENING and open_at:
            open_at.pop()
        elif kind == "," and open_at:
            open_at[-1][1].append(index)
    calls = []
    for index, commas in open_at:
        if kinds[index] == "(" and index > 0 and kinds[index - 1] in _NAMES:
            ends = [*commas[1:], len(kinds) - 1]
            parts = tuple(
                text[offsets[begin] + 1 : offsets[end]].strip()
                for begin, end in zip(commas, ends, strict=True)
            )
            is_method = index > 1 and kinds[index - 2] == "."
            receiver = _operand(token_list, text, index - 2) if is_method else ""
            name = text[offsets[index - 1] : offsets[index]].strip()
            calls.append(OpenCall(name, receiver, len(parts) - 1, parts))
    return tuple(calls)


def _open_message(token_list: TokenList, end: int) -> OpenMessage | None:
    """Return the innermost bracket that is open before an offset, if it is that of a message."""
    kinds, texts, offsets = token_list
    open_at: list[list[list[int]]] = []
    for index, kind in enumerate(kinds[: bisect_left(offsets, end)]):
        if kind in _OPENING.values():
            open_at.append([[index]])
        elif kind in _OPENING and open_at:
            open_at.pop()
        elif kind == "," and open_at:
            open_at[-1].append([index])
        elif kind == ":" and open_at:
            open_at[-1][-1].append(index)
    if not open_at or kinds[open_at[-1][0][0]] != "{":
        return None
    brace, *_ = open_at[-1][0]
    *entries, last = [texts[item[1] - 1] if len(item) > 1 else None for item in open_at[-1]]
    name = ""
    while brace > 0 and kinds[brace - 1] in (".", *_NAMES):
        brace -= 1
        name = texts[brace] + name
    return OpenMessage(name, tuple(entry for entry in entries if entry is not None), last)


def _with_variables(environment: Environment, calls: tuple[OpenCall, ...]) -> Environment:
    for call in calls:
        for name, type_ in _bound(environment, call).items():
            try:
                environment = environment.extend({name: type_})
            except DeclarationError:
                continue  # it hides another one
    return environment


def _bound(environment: Environment, call: OpenCall) -> dict[str, Type]:
    """Return the names that a macro binds for the argument that is being written."""
    names = call.arguments[: call.argument]
    if not names or not all(name.isidentifier() for name in names[:1]):
        return {}
    if call.name == "bind" and call.receiver == "cel":
        return {names[0]: type_in(environment, names[1])} if len(names) > 1 else {}
    if call.name in _INNER:
        optional = type_in(environment, call.receiver)
        return {names[0]: optional.params[0] if types.is_optional(optional) else types.DYN}
    if call.name not in _LOOPS:
        return {}
    ranged = type_in(environment, call.receiver)
    first, second = _items(ranged)
    if len(names) > 1 and names[1].isidentifier() and call.name not in ("map", "filter"):
        return {names[0]: first, names[1]: second}
    return {names[0]: second if ranged.kind is Kind.LIST else first}


def _items(ranged: Type) -> tuple[Type, Type]:
    """Return what two variables stand for: index and item, or key and value."""
    if ranged.kind is Kind.LIST:
        return types.INT, ranged.params[0]
    if ranged.kind is Kind.MAP:
        return ranged.params[0], ranged.params[1]
    return types.DYN, types.DYN
