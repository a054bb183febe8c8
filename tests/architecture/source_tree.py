"""The modules of the package, what each imports, and rings in any graph of names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent / "src"

Graph = Mapping[str, set[str]]


def modules() -> list[str]:
    """The dotted names of all modules."""
    return sorted(
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        for path in SOURCE.rglob("*.py")
    )


MODULES = modules()


def path_of(module: str) -> Path:
    base = SOURCE.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def is_package(module: str) -> bool:
    return path_of(module).name == "__init__.py"


PACKAGES = [module for module in MODULES if is_package(module)]


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(path_of(module).read_text(encoding="utf-8"))


@cache
def imports(module: str) -> tuple[str, ...]:
    """Every module that is imported, also inside functions and under TYPE_CHECKING."""
    return tuple(_imports(module))


def _imports(module: str) -> Iterator[str]:
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno}: relative import (house rule 12)"
            assert node.module is not None
            for name in node.names:
                full = f"{node.module}.{name.name}"
                yield full if full in MODULES else node.module


def is_inside(module: str, package: str) -> bool:
    """Whether the module is the package or lies in it."""
    return f"{module}.".startswith(f"{package}.")


def exported(door: str) -> set[str]:
    """The names of `__all__`; empty if there is none."""
    for node in tree_of(door).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def rings(graph: Graph) -> list[frozenset[str]]:
    """The largest sets of nodes that reach each other: Tarjan's strongly connected components."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[frozenset[str]] = []

    def visit(node: str) -> None:
        order[node] = lowest[node] = len(order)
        stack.append(node)
        for target in sorted(graph.get(node, ())):
            if target not in order:
                visit(target)
                lowest[node] = min(lowest[node], lowest[target])
            elif target in stack:
                lowest[node] = min(lowest[node], order[target])
        if lowest[node] == order[node]:
            at = stack.index(node)
            if len(stack) > at + 1:
                found.append(frozenset(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found
