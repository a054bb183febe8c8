"""Texts that are digits are not yet numbers: Python's `int` raises where there are thousands."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.offenders import hold
from tests.architecture.rooms import FEW_DIGITS
from tests.architecture.source_tree import SourceTree

_ASKS = {"isdigit", "isdecimal", "isnumeric"}


def test_who_asks_for_digits_asks_how_many(source: SourceTree) -> None:
    hold(
        "what others have written is read with `int_or` or `parse_int` of celadon.kube.go, or with "
        "`int` after a look at its length",
        (
            f"{module}: {node.name}"
            for module, file in source.items()
            if any(f".{name}(" in file.text for name in _ASKS)
            for node in file.nodes(ast.FunctionDef, ast.AsyncFunctionDef)
            if careless(node)
        ),
        FEW_DIGITS,
    )


def careless(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """What a function asks for digits and reads with `int`, whatever its length is."""
    uses = set(_uses(function))
    digits, numbers, lengths = (
        {text for what, text in uses if what == wanted} for wanted in ("digits", "int", "len")
    )
    return (digits & numbers) - lengths


def _uses(function: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(function):
        match node:
            case ast.Call(ast.Attribute(text, name)) if name in _ASKS:
                yield "digits", ast.unparse(text)
            case ast.Call(ast.Name("int" | "len" as name), [text]):
                yield name, ast.unparse(text)


def test_what_is_careless() -> None:
    tree = ast.parse("def f(a, b):\n    return int(a) if a.isdigit() else int(b)")
    assert careless(tree.body[0]) == {"a"}  # type: ignore[arg-type]
    tree = ast.parse("def f(a):\n    return int(a) if len(a) < 5 and a.isdigit() else 0")
    assert not careless(tree.body[0])  # type: ignore[arg-type]
