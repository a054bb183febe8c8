"""The modules of the package, each read once; what each imports; and rings in a graph of names."""

from __future__ import annotations

import ast
import gc
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar, cast

Node = TypeVar("Node", bound=ast.AST)

SOURCE = Path(__file__).resolve().parent.parent.parent / "src"

Graph = Mapping[str, set[str]]


def module_paths(root: Path = SOURCE) -> dict[str, Path]:
    """The files of all modules, by dotted name."""
    paths = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for path in root.rglob("*.py")
    }
    return dict(sorted(paths.items()))


MODULES = list(module_paths())


@dataclass(frozen=True)
class SourceFile:
    """A module: its text, its tree, and all nodes of it by class. `known` are all modules."""

    module: str
    path: Path
    text: str
    tree: ast.Module
    by_class: Mapping[type[ast.AST], list[ast.AST]]
    known: frozenset[str]

    def nodes(self, *classes: type[Node]) -> Iterator[Node]:
        """Every node of these classes. Most tests ask for few of the millions that there are."""
        for wanted in classes:
            yield from cast("list[Node]", self.by_class.get(wanted, []))

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """Every module that is imported, also inside functions and under TYPE_CHECKING."""
        return tuple(self._imports())

    def _imports(self) -> Iterator[str]:
        for node in self.nodes(ast.Import):
            for name in node.names:
                yield name.name
        for node in self.nodes(ast.ImportFrom):
            for name in node.names if node.module is not None else ():
                full = f"{node.module}.{name.name}"
                yield full if full in self.known else str(node.module)

    @cached_property
    def imported_modules(self) -> set[str]:
        """Those of its imports that are modules of the package."""
        return {one for one in self.imports if one in self.known and one != self.module}

    @cached_property
    def exported(self) -> set[str]:
        """The names of `__all__`; empty if there is none."""
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                return set(ast.literal_eval(node.value))
        return set()


SourceTree = Mapping[str, SourceFile]


@cache
def read_source(root: Path = SOURCE) -> SourceTree:
    """All modules. What is read is kept: looking for garbage among it would double the time, of
    reading it and of what walks through it."""
    paths = module_paths(root)
    known = frozenset(paths)
    gc.disable()
    try:
        return {module: _read(module, path, known) for module, path in paths.items()}
    finally:
        gc.freeze()
        gc.enable()


def _read(module: str, path: Path, known: frozenset[str]) -> SourceFile:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    by_class: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
    for node in ast.walk(tree):
        by_class[type(node)].append(node)
    return SourceFile(module, path, text, tree, by_class, known)


def is_inside(module: str, package: str) -> bool:
    """Whether the module is the package or lies in it."""
    return f"{module}.".startswith(f"{package}.")


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
