"""What is sure about the class of a value before anything runs."""

from __future__ import annotations

import pytest

from celadon.cel import Environment, types
from celadon.cel.analysis.folding import fold
from celadon.cel.analysis.named_constants import constant_identifiers
from celadon.cel.analysis.tree_context import Context
from celadon.cel.libraries import optionals

VARIABLES = {"b": types.BOOL, "d": types.DYN, "n": types.INT}
ENVIRONMENT = Environment(VARIABLES, libraries=(optionals.library(),))


def context_of(text: str) -> Context:
    checked = ENVIRONMENT.compile(text).checked()
    declarations = ENVIRONMENT.declarations
    constants = constant_identifiers(checked, declarations)
    folded = fold(checked, declarations.functions, constants)
    return Context(checked, folded, declarations.functions, constants, ENVIRONMENT.switches)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", int),
        ("'x'", str),
        ("1 + 2", int),
        ("b ? 1 : 2", int),
        ("b ? n : 2", None),
        ("b ? 2 : n", None),
        ("b ? dyn(1) : dyn('x')", None),
        ("b ? 'x' : 'y' + 'z'", str),
        ("n", None),
        ("d", None),
        ("[1, 2][n]", None),
        ("{'a': 1}['a']", None),
        ("optional.of(1).value()", None),
        ("optional.of(1).orValue(2)", None),
        ("optional.of(1).or(optional.none())", None),
        ("[n]", list),
        ("has(d.f)", bool),
        ("[n].all(x, x > 1)", bool),
    ],
)
def test_certain_classes(text: str, expected: type | None) -> None:
    context = context_of(text)
    assert context.certain(context.checked.ast.root) is expected
