"""The reader of parse trees and the grammar, which must speak of the same parts."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

from celadon.cel.parsing import diagnosis
from celadon.cel.parsing.antlr_grammar import GRAMMAR, Alternative, Block

ASKING = {"_part", "_parts", "_token", "_tokens", "_offset"}
#: The operand before an operator or suffix; `machine` collects it, the grammar does not name it.
LEFT = "left"


def labels(alternatives: tuple[Alternative, ...]) -> Iterator[str]:
    for alternative in alternatives:
        for element in alternative.elements:
            if isinstance(element, Block):
                yield from labels(element.alternatives)
            else:
                yield element.label


def asked() -> set[str]:
    return {
        label.value
        for node in ast.walk(ast.parse(inspect.getsource(diagnosis)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ASKING
        for label in node.args[1:]
        if isinstance(label, ast.Constant) and isinstance(label.value, str)
    }


def test_the_reader_asks_for_labels_that_the_grammar_has() -> None:
    known = {
        label for rule in GRAMMAR.values() for label in labels((*rule.alternatives, *rule.suffixes))
    }
    assert len(asked()) > 10
    assert asked() <= known | {LEFT}
