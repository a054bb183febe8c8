"""Generated modules for people: every line with the CEL that it was written for, and a legend of
the names that stand for constants.

Made when somebody looks (`celadon eval --show-python`, a traceback), never while evaluating.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from celadon.cel import re2
from celadon.cel.analysis.tree_context import Context, macro_call
from celadon.cel.codegen.emitter import GeneratedModule
from celadon.cel.errors import EvaluationError
from celadon.cel.parsing.unparser import fragments
from celadon.cel.runtime import EXPORTS
from celadon.cel.syntax import Call, Comprehension, Struct, children, walk
from celadon.cel.values.conversions import notation

#: Longest fragment or constant that is shown in full, in characters.
_WIDEST: Final = 72
#: Comments begin in this column, or behind the longest line if that is shorter.
_COMMENT_COLUMN: Final = 64


def listing(module: GeneratedModule, context: Context) -> str:
    """Return the legend of the module's names as comments, and its annotated lines."""
    lines = annotated(module.source, module.nodes, context)
    return "\n".join([*_legend(module, context), *lines])


def annotated(source: str, nodes: Sequence[int], context: Context) -> Iterator[str]:
    """Yield the lines of a module, each with the CEL of its node as a comment, without line
    feeds."""
    texts = _fragments(context)
    lines = source.splitlines()
    column = min(max(map(len, lines)), _COMMENT_COLUMN)
    for line, node in zip(lines, nodes, strict=True):
        yield f"{line:<{column}}  # {_in_one_line(texts[node])}"


def _fragments(context: Context) -> Mapping[int, str]:
    """Return the canonical text of each node, of its parent if it has none. Environments need not
    keep the calls of macros; those they did not keep are rebuilt."""
    ast = context.checked.ast
    nodes = walk(ast.root)
    loops = (node for node in nodes if isinstance(node, Comprehension))
    rebuilt = {node.id: call for node in loops if (call := macro_call(node)) is not None}
    texts = fragments(replace(ast, macro_calls={**rebuilt, **ast.macro_calls}))
    for node in reversed(nodes):
        for child in children(node):
            texts.setdefault(child.id, texts[node.id])
    return texts


def _legend(module: GeneratedModule, context: Context) -> Iterator[str]:
    for name, meaning in module.parameters.items():
        yield f"# {name} = {meaning}"
    callables = _callables(context)
    for name, text in module.texts.items():
        yield f"# {name!r} = {_in_one_line(_constant(text))}"
    for name, value in module.constants.items():
        if name not in EXPORTS:
            meaning = callables.get(id(value)) or _constant(value)
            yield f"# {name} = {_in_one_line(meaning)}"
    exported = sorted(module.constants.keys() & EXPORTS.keys())
    if exported:
        yield f"# from celadon.cel.runtime: {', '.join(exported)}"


def _constant(value: object) -> str:
    if isinstance(value, EvaluationError):
        return f"the error `{value.message}`"
    if isinstance(value, frozenset):
        return f"the set of {', '.join(sorted(map(notation, value)))}"
    return f"a function, {value.__name__}" if hasattr(value, "__name__") else notation(value)


def _callables(context: Context) -> dict[int, str]:
    """Return what each callable of the tree does, by the callable's `id`."""
    result: dict[int, str] = {}
    for node in walk(context.checked.root):
        if isinstance(node, Struct):
            result[id(context.constructor(node.type_name))] = f"makes a `{node.type_name}`"
        elif isinstance(node, Call):
            result |= _callables_of(context, node)
    return result


def _callables_of(context: Context, node: Call) -> dict[int, str]:
    chosen, rule = context.overload(node), context.cost_rule(node)
    name = f"`{node.function}`"
    result = {id(context.impl(node)): name}
    if chosen is not None:
        result[id(chosen.impl)] = f"{name}, overload {chosen.id}"
    if rule is not None:
        result[id(rule.tracked)] = f"what {name} costs"
    pattern = node.args[-1] if node.args else node
    if node.function == "matches" and context.is_constant(pattern):
        text = context.constant(pattern)
        result[id(re2.compile(text).search_fn)] = f"searches for {notation(text)}"
    return result


def _in_one_line(text: str) -> str:
    """At most `_WIDEST` printable characters."""
    message = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return message if len(message) <= _WIDEST else f"{message[: _WIDEST - 3]}..."
