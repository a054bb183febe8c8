"""What a module must not contain, and how large it may get."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.offenders import hold
from tests.architecture.rooms import (
    FORBIDDEN_CALLS,
    IMPORTS_LATE,
    LONG_FUNCTIONS,
    LONG_MODULES,
    MAX_FUNCTION,
    MAX_MODULE,
    MAY_LOAD_LATE,
)
from tests.architecture.source_tree import SourceFile, SourceTree

_JUDGED = (
    ast.Call, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.ExceptHandler, ast.ImportFrom
)  # fmt: skip
"""The nodes that `_fault` knows."""


def test_forbidden_constructs(source: SourceTree) -> None:
    hold(
        "a module says plainly what it does",
        (
            f"{module}:{getattr(node, 'lineno', 0)}: {fault}"
            for module, file in source.items()
            for node in file.nodes(*_JUDGED)
            if (fault := _fault(module, node))
        ),
    )


def _fault(module: str, node: ast.AST) -> str:
    """What is forbidden in a node; empty if it may stand there."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in FORBIDDEN_CALLS:
            return f"{name}()"
        case ast.ClassDef() if any(one.arg == "metaclass" for one in node.keywords):
            return "metaclass"
        case ast.FunctionDef(name="__getattr__") | ast.AsyncFunctionDef(name="__getattr__"):
            return "" if module in MAY_LOAD_LATE else "__getattr__"
        case ast.ExceptHandler(type=None):
            return "bare except"
        case ast.ImportFrom() if node.level:
            return "relative import"
        case _:
            return ""


def test_modules_are_short(source: SourceTree) -> None:
    sizes = {module: file.text.count("\n") for module, file in source.items()}
    hold(*_longer("module", sizes, MAX_MODULE), LONG_MODULES)


def test_functions_are_short(source: SourceTree) -> None:
    sizes = {
        name: length
        for module, file in source.items()
        for name, length in _functions(file.tree, module)
    }
    hold(*_longer("function", sizes, MAX_FUNCTION), LONG_FUNCTIONS)


def _longer(what: str, sizes: dict[str, int], most: int) -> tuple[str, list[str]]:
    """The rule, with the sizes of those that are longer, and their names."""
    long = {name: lines for name, lines in sizes.items() if lines > most}
    shown = ", ".join(f"{name} {lines}" for name, lines in sorted(long.items()))
    return f"a {what} has at most {most} lines; longer are: {shown}", list(long)


def _functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, int]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield f"{prefix}.{node.name}", node.end_lineno - node.lineno + 1
            yield from _functions(node, f"{prefix}.{node.name}")
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}.{node.name}")


def test_doors_that_load_late_are_still_there(source: SourceTree) -> None:
    loading = (
        module
        for module, file in source.items()
        for node in file.nodes(ast.FunctionDef)
        if node.name == "__getattr__"
    )
    hold("a door with a `__getattr__` is one of MAY_LOAD_LATE", loading, MAY_LOAD_LATE)


def test_imports_inside_functions_say_why(source: SourceTree) -> None:
    hold(
        "an import inside a function has a comment `late: ` with the reason",
        (
            f"{module}:{number}"
            for module, file in source.items()
            if not module.startswith(IMPORTS_LATE)
            for number in _inner_imports(file)
            if not _says_why(file.lines, number)
        ),
    )


def _inner_imports(file: SourceFile) -> Iterator[int]:
    """The lines of imports inside functions."""
    functions = list(file.nodes(ast.FunctionDef, ast.AsyncFunctionDef))
    for node in file.nodes(ast.Import, ast.ImportFrom):
        if node.col_offset and any(
            one.lineno <= node.lineno <= (one.end_lineno or 0) for one in functions
        ):
            yield node.lineno


def _says_why(lines: list[str], number: int) -> bool:
    """On the line of the first import of several, or in a comment above it."""
    while lines[number - 2].lstrip().startswith(("from ", "import ")):
        number -= 1
    above = number - 2
    while lines[above].lstrip().startswith("#"):
        above -= 1
    return any("# late: " in line for line in lines[above + 1 : number])
