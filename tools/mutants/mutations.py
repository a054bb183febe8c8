"""Small mistakes that can be made in a module: one changed operator, constant or statement.

A mutation is known by its number in the order of `mutations`, so that a process that is told the
number can make the same mistake again. Annotations, docstrings, imports, `__slots__` and names of
types, threads and folders for a while are left alone: nothing would behave differently.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

Site = tuple[ast.AST, str, Callable[[], None]]
"""The node, what becomes of it, and what makes it so."""

_COMPARED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_UNTOUCHED_FIELDS: Final = {
    "annotation",
    "returns",
    "decorator_list",
    "type_params",
    "bases",
    "msg",
}
_TYPES: Final = {"Literal", "Union", "Optional", "Callable", "TypeVar", "ParamSpec", "NewType"}
"""What makes types, or other names of types."""

_UNREAD_ARGUMENTS: Final = {
    ("zip", "strict"),
    ("Thread", "name"),
    ("ThreadPoolExecutor", "thread_name_prefix"),
    ("TemporaryDirectory", "prefix"),
    ("mkdtemp", "prefix"),
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """`number` counts the mutations of the module; `change` is `before -> after`, in Python.
    `function` is the innermost one; outside of functions, `definition` is the class or constant."""

    module: str
    number: int
    line: int
    end_line: int
    function: str
    definition: str
    change: str

    @property
    def key(self) -> str:
        """What it is called as long as its surroundings are."""
        return f"{self.module} {self.function or self.definition or '(module)'}: {self.change}"

    def __str__(self) -> str:
        _, _, rest = self.key.partition(" ")
        return f"{self.module}:{self.line} {rest}"


def mutations(module: str, source: str) -> Iterator[Mutation]:
    """All mistakes that can be made in the module, in the order of its text."""
    tree = ast.parse(source)
    functions, definitions = _functions(tree), list(_definitions(tree))
    for number, (node, change, _) in enumerate(_sites(tree)):
        line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
        inside = [name for name, first, last in functions if first <= line <= last]
        around = [name for name, first, last in definitions if first <= line <= last]
        yield Mutation(
            module,
            number,
            line,
            end,
            inside[-1] if inside else "",
            around[0] if around else "",
            change,
        )


def mutated(source: str, number: int) -> ast.Module:
    """The module with one mistake."""
    tree = ast.parse(source)
    for at, (_, _, make) in enumerate(_sites(tree)):
        if at == number:
            make()
            return ast.fix_missing_locations(tree)
    raise LookupError(number)


def _functions(tree: ast.Module) -> list[tuple[str, int, int]]:
    """Name, first and last line of every function, outer ones first."""
    found = [
        (node.name, node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return sorted(found, key=lambda one: one[1])


def _definitions(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """Name, first and last line of every class and constant of the module."""
    for node in tree.body:
        names: list[str] = []
        if isinstance(node, ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [one.id for one in node.targets if isinstance(one, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        for name in names:
            yield name, node.lineno, node.end_lineno or node.lineno


def _sites(node: ast.AST) -> Iterator[Site]:
    for name, value in ast.iter_fields(node):
        if name in _UNTOUCHED_FIELDS:
            continue
        parts = value if isinstance(value, list) else [value]
        for at, part in enumerate(parts):
            if not isinstance(part, ast.AST) or _is_silent(part) or _is_unread(node, part):
                continue
            yield from _replacements(node, name, at if isinstance(value, list) else None, part)
            yield from _sites(part)


def _is_silent(node: ast.AST) -> bool:
    """Whether no change in it could show: docstrings, imports, assertions in other words, aliases
    of types."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.Expr) and ast.unparse(node).startswith("assert_never("):
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.Assign):
        made = ast.unparse(node.value).partition("[")[0].partition("(")[0]
        return ast.unparse(node.targets[0]) in ("__slots__", "__all__") or made in _TYPES
    return isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation)


def _is_unread(parent: ast.AST, part: ast.AST) -> bool:
    """Whether it is an argument that nothing depends on: `strict` of a `zip`, which is an
    assertion; the type of a `cast`; `total` of a type of dicts; the name of a thread
    or of a folder for a while."""
    if isinstance(parent, ast.ClassDef):
        return isinstance(part, ast.keyword) and part.arg == "total"
    if not isinstance(parent, ast.Call):
        return False
    called = ast.unparse(parent.func).rpartition(".")[2]
    if called == "cast":
        return part is parent.args[0]
    return isinstance(part, ast.keyword) and (called, part.arg) in _UNREAD_ARGUMENTS


def _replacements(parent: ast.AST, name: str, at: int | None, node: ast.AST) -> Iterator[Site]:
    """Every way to replace the node, which is in that field of its parent."""
    for new in _alternatives(node):
        shown = f"{_text(node)} -> {_text(new)}"
        yield node, shown, lambda new=new: _put(parent, name, at, new)  # type: ignore[misc]


def _put(parent: ast.AST, name: str, at: int | None, new: ast.AST) -> None:
    if at is None:
        parent.__dict__[name] = new
    else:
        getattr(parent, name)[at] = new


def _text(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 100 else f"{text[:97]}..."


def _alternatives(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(left, [op], comparators):
            yield _at(node, ast.Compare(left, [_COMPARED[type(op)]()], comparators))
        case ast.BoolOp(op, values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield _at(node, ast.BoolOp(other, values))
        case ast.BinOp(left, op, right) if type(op) in _COMPUTED:
            yield _at(node, ast.BinOp(left, _COMPUTED[type(op)](), right))
        case ast.AugAssign(target, op, value) if type(op) in _COMPUTED:
            yield _at(node, ast.AugAssign(target, _COMPUTED[type(op)](), value))
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.IfExp(test, body, orelse):
            yield _at(node, ast.IfExp(test, orelse, body))
        case ast.If(test, body, orelse) if not isinstance(test, ast.Compare | ast.BoolOp):
            yield _at(node, ast.If(ast.UnaryOp(ast.Not(), test), body, orelse))
        case ast.Constant():
            yield from _constants(node)
        case ast.Return(value) if value is not None and not _is_false(value):
            yield _at(node, ast.Return(ast.Constant(None)))
        case ast.Expr(ast.Call()):
            yield _at(node, ast.Pass())
        case ast.Break():
            yield _at(node, ast.Continue())
        case ast.Continue():
            yield _at(node, ast.Break())
        case _:
            pass


def _constants(node: ast.Constant) -> Iterator[ast.AST]:
    if isinstance(node.value, bool):
        yield _at(node, ast.Constant(not node.value))
    elif isinstance(node.value, int):
        yield _at(node, ast.Constant(node.value + 1))
    elif isinstance(node.value, str):
        yield _at(node, ast.Constant(f"{node.value}XX"))


def _is_false(node: ast.expr) -> bool:
    """None, or what all who ask for a truth take for the same; `False -> True` and
    `'' -> 'XX'` are tried anyway."""
    return isinstance(node, ast.Constant) and node.value in (None, False, "")


def _at(old: ast.AST, new: ast.AST) -> ast.AST:
    return ast.copy_location(new, old)
