"""What a module must not contain, and how large it may get."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source_tree import MODULES, path_of, tree_of

FORBIDDEN_CALLS = {"setattr", "globals"}

MAY_LOAD_LATE = {
    "celadon.testing": "tests of policies need no server, nor the packages of one",
}
"""Doors with a `__getattr__`, and why."""

MAX_MODULE = 600
MAX_FUNCTION = 60
LONG_MODULES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}


@pytest.mark.parametrize("module", MODULES)
def test_forbidden_constructs(module: str) -> None:
    for node in ast.walk(tree_of(module)):
        where = f"{module}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            assert name not in FORBIDDEN_CALLS, f"{where}: {name}()"
            assert name != "print", f"{where}: print"
        if isinstance(node, ast.ClassDef):
            assert not [one for one in node.keywords if one.arg == "metaclass"], (
                f"{where}: metaclass"
            )
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lazy = node.name == "__getattr__"
            assert not lazy or module in MAY_LOAD_LATE, f"{where}: __getattr__"
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"{where}: bare except"


@pytest.mark.parametrize("module", MODULES)
def test_sizes(module: str) -> None:
    lines = _lines(module)
    assert lines <= MAX_MODULE or module in LONG_MODULES, f"{module} has {lines} lines"
    for name, length in _functions(tree_of(module), module):
        assert length <= MAX_FUNCTION or name in LONG_FUNCTIONS, f"{name} has {length} lines"


def test_excuses_are_still_needed() -> None:
    for module in LONG_MODULES:
        assert _lines(module) > MAX_MODULE, module
    functions = {
        name: length for module in MODULES for name, length in _functions(tree_of(module), module)
    }
    for name in LONG_FUNCTIONS:
        assert functions.get(name, 0) > MAX_FUNCTION, name


def _lines(module: str) -> int:
    return path_of(module).read_text(encoding="utf-8").count("\n")


def _functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, int]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield f"{prefix}.{node.name}", node.end_lineno - node.lineno + 1
            yield from _functions(node, f"{prefix}.{node.name}")
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}.{node.name}")


def test_imports_inside_functions_say_why() -> None:
    """Not in `cli`, where each command loads what it needs."""
    silent = []
    for module in MODULES:
        if module.startswith(("celadon.cli.", "celadon.pytest_plugin")):
            continue
        lines = path_of(module).read_text(encoding="utf-8").splitlines()
        for node in _inner_imports(tree_of(module)):
            if not _says_why(lines, node.lineno):
                silent.append(f"{module}:{node.lineno}")
    assert silent == []


def _inner_imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield node


def _says_why(lines: list[str], number: int) -> bool:
    """On the line of the first import of several, or in a comment above it."""
    while lines[number - 2].lstrip().startswith(("from ", "import ")):
        number -= 1
    above = number - 2
    while lines[above].lstrip().startswith("#"):
        above -= 1
    return any("# late: " in line for line in lines[above + 1 : number])
