"""An expression as it is written: a tree in which macros are calls like any other.

For whoever changes expressions and writes them down again. What runs is never such a tree.
"""

from __future__ import annotations

from typing import Final

from celadon.cel.parsing.parser import ParseOptions, parse
from celadon.cel.source import Source
from celadon.cel.syntax import Ast

_WITHOUT_MACROS: Final = ParseOptions(macros=(), escape_syntax=True)


def unexpanded_tree(text: str) -> Ast | None:
    """None for what is no expression."""
    ast, issues = parse(Source(text, "<input>"), _WITHOUT_MACROS)
    return None if issues else ast
