"""The walls of the house: who may import whom, what no module may contain, how large it may get.

The rooms and their order are those of docs/architecture.md. Every excuse below has its reason; a
list may shrink freely, and grows only with a reason a reader will accept.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"

MAY_USE: dict[str, set[str]] = {
    "cel": set(),
    "kube": {"cel"},
    "admission": {"cel", "kube"},
    "store": {"kube"},
    "serve": {"cel", "kube", "admission", "store"},
    "cli": {"cel", "kube", "admission", "store", "serve"},
}
"""Which rooms a room may import, besides itself."""

DOORS = {
    "celadon",
    "celadon.cel",
    "celadon.cel.extend",
    "celadon.cel.libraries",
    "celadon.cel.value_functions",
    "celadon.kube",
    "celadon.kube.catalogue",
    "celadon.kube.custom",
    "celadon.kube.defaulting",
    "celadon.kube.go",
    "celadon.kube.library",
    "celadon.kube.protobuf",
    "celadon.kube.quantities",
    "celadon.kube.schemas",
    "celadon.kube.selection",
    "celadon.kube.validation",
    "celadon.kube.writes",
    "celadon.admission",
    "celadon.admission.lint",
    "celadon.admission.registration",
    "celadon.store",
    "celadon.serve",
}
"""What one room may import of another."""

PURE = ("cel", "kube", "admission")
"""Rooms without input, output, threads, clocks, randomness or logging."""

IMPURE_MODULES = {
    "asyncio", "concurrent", "glob", "http", "io", "logging", "multiprocessing", "os", "pathlib",
    "queue", "random", "secrets", "select", "shutil", "signal", "socket", "ssl", "subprocess",
    "tempfile", "threading", "time", "urllib", "uuid",
}  # fmt: skip

MAY_IMPORT_IMPURE: dict[tuple[str, str], str] = {}
"""(module, what it imports) in a pure room, with the reason."""

EXTRAS = {"celadon.cel.protobuf": "google"}
"""Packages that are on top of an optional dependency, and what that is imported as."""

FORBIDDEN_CALLS = {"eval", "exec", "compile", "setattr", "globals", "__import__"}
MAY_CALL: dict[tuple[str, str], str] = {
    ("celadon.cel.program", "compile"): "the one place where generated Python is loaded",
    ("celadon.cel.program", "exec"): "the one place where generated Python is loaded",
}

MAX_MODULE = 600
MAX_FUNCTION = 60
LONG_MODULES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}


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


def tree_of(module: str) -> ast.Module:
    return ast.parse(path_of(module).read_text(encoding="utf-8"))


def imports(module: str) -> Iterator[str]:
    """Every module that is imported, also inside functions and under TYPE_CHECKING."""
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


def room(module: str) -> str:
    """`cel`, `kube`, ...; empty for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in MAY_USE else ""


@pytest.mark.parametrize("module", MODULES)
def test_rooms_import_only_rooms_before_them_and_only_through_doors(module: str) -> None:
    own = room(module)
    for imported in imports(module):
        if not imported.startswith("celadon") or room(imported) in ("", own):
            continue
        assert not own or room(imported) in MAY_USE[own], f"{module} imports {imported}"
        entrance = imported in DOORS or _is_door_export(imported)
        assert entrance or not own, f"{module} imports {imported}, which is no door"


def _is_door_export(imported: str) -> bool:
    """Whether a submodule is itself a public name of its room's door (`celadon.kube.metadata`)."""
    door, _, name = imported.rpartition(".")
    return door in DOORS and name in _exported(door)


def _exported(door: str) -> set[str]:
    for node in tree_of(door).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


@pytest.mark.parametrize("module", [one for one in MODULES if one not in DOORS])
def test_inside_a_room_modules_are_imported_directly(module: str) -> None:
    for imported in imports(module):
        if imported in DOORS - {"celadon"}:
            assert room(imported) != room(module), f"{module} goes through its own door {imported}"


@pytest.mark.parametrize("module", [one for one in MODULES if room(one) in PURE])
def test_pure_rooms_stay_pure(module: str) -> None:
    for imported in imports(module):
        top = imported.split(".")[0]
        if top == "celadon":
            continue
        if top != _extra(module):
            assert top in sys.stdlib_module_names, f"{module} imports {imported}: not standard"
        if top in IMPURE_MODULES:
            assert (module, imported) in MAY_IMPORT_IMPURE, f"{module} imports {imported}"


def _extra(module: str) -> str | None:
    """The optional dependency that the module may import."""
    return next(
        (top for package, top in EXTRAS.items() if f"{module}.".startswith(f"{package}.")), None
    )


@pytest.mark.parametrize("module", MODULES)
def test_nothing_else_imports_what_is_optional(module: str) -> None:
    for imported in imports(module):
        for package in EXTRAS:
            inside = f"{module}.".startswith(f"{package}.")
            assert inside or not f"{imported}.".startswith(f"{package}."), f"{module}: {imported}"


@pytest.mark.parametrize("module", MODULES)
def test_forbidden_constructs(module: str) -> None:
    for node in ast.walk(tree_of(module)):
        where = f"{module}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            assert name not in FORBIDDEN_CALLS or (module, name) in MAY_CALL, f"{where}: {name}()"
        if isinstance(node, ast.ClassDef):
            assert not [one for one in node.keywords if one.arg == "metaclass"], (
                f"{where}: metaclass"
            )
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.name != "__getattr__", f"{where}: __getattr__"
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"{where}: bare except"


@pytest.mark.parametrize("module", MODULES)
def test_sizes(module: str) -> None:
    text = path_of(module).read_text(encoding="utf-8")
    lines = text.count("\n")
    assert lines <= MAX_MODULE or module in LONG_MODULES, f"{module} has {lines} lines"
    for name, length in _functions(ast.parse(text), module):
        assert length <= MAX_FUNCTION or name in LONG_FUNCTIONS, f"{name} has {length} lines"


def _functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, int]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield f"{prefix}.{node.name}", node.end_lineno - node.lineno + 1
            yield from _functions(node, f"{prefix}.{node.name}")
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}.{node.name}")


def test_excuses_are_still_needed() -> None:
    for module, imported in MAY_IMPORT_IMPURE:
        assert imported in set(imports(module)), f"{module} no longer imports {imported}"
    for module in LONG_MODULES:
        assert path_of(module).read_text(encoding="utf-8").count("\n") > MAX_MODULE, module
    functions = {
        name: length for module in MODULES for name, length in _functions(tree_of(module), module)
    }
    for name in LONG_FUNCTIONS:
        assert functions.get(name, 0) > MAX_FUNCTION, name


@pytest.mark.parametrize("module", MODULES)
def test_modules_explain_themselves(module: str) -> None:
    assert ast.get_docstring(tree_of(module)), f"{module} has no docstring (house rule 13)"


@pytest.mark.parametrize("module", MODULES)
def test_only_output_prints(module: str) -> None:
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"{module}:{node.lineno}: print"
