"""What something in an expression is: its type, its documentation, what the whole costs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from celadon.admission.lint import TypedScope
from celadon.cel import CheckedAst, Environment, types
from celadon.cel.extend import Overload
from celadon.cel.tracing import Written, written_tree
from celadon.cel.unfinished import type_in, typing_context
from celadon.cli.language_server.expression_costs import cost_text
from celadon.cli.language_server.function_docs import (
    MACROS,
    function_doc,
    functions_of,
    macro_doc,
)
from celadon.patterns import late_pattern
from celadon.records import dataclass

_WORD: Final = late_pattern(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Hover:
    """Markdown about `text[start:end]`."""

    start: int
    end: int
    markdown: str


def hover(text: str, offset: int, scopes: Sequence[TypedScope], size: int) -> Hover | None:
    """What stands at a place; None where nothing does. Costs are those for objects of that size."""
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
