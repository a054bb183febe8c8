"""Which public names there are, and whether they are documented.

Public are functions, classes and methods whose name, and whose class's and module's names, have no
leading underscore; nested functions are not. Documented is what has a docstring; a constant or an
alias, which can have none, has a text right below it or a comment right above.
`python -m tests.architecture.documentation [ROOM]` prints the ratios, and a room's names without.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from tests.architecture.rooms import DOORS, MAY_USE, room
from tests.architecture.source_tree import SourceFile, SourceTree, read_source

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def public_names(file: SourceFile) -> dict[str, bool]:
    """The module's public functions, classes and methods: whether each is documented."""
    return dict(_definitions(file.tree.body, file.module))


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, bool]]:
    for node in body:
        if not isinstance(node, Definition) or node.name.startswith("_") or _is_overload(node):
            continue
        yield f"{prefix}.{node.name}", ast.get_docstring(node) is not None
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{prefix}.{node.name}")


def _is_overload(node: Definition) -> bool:
    return any(ast.unparse(one).split(".")[-1] == "overload" for one in node.decorator_list)


def documented_at_door(source: SourceTree, door: str) -> dict[str, bool]:
    """What the door shows: whether each name is documented where it is defined."""
    return {name: _is_documented(source, door, name) for name in sorted(source[door].exported)}


def _is_documented(source: SourceTree, module: str, name: str) -> bool:
    if f"{module}.{name}" in source:
        return ast.get_docstring(source[f"{module}.{name}"].tree) is not None
    body = list(_at_the_top(source[module].tree.body))
    for at, node in enumerate(body):
        if isinstance(node, Definition) and node.name == name:
            return ast.get_docstring(node) is not None
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    assert node.module is not None
                    return _is_documented(source, node.module, alias.name)
        if name in _assigned(node):
            return _has_text(body[at + 1 :]) or _has_comment(source[module].lines, node)
    raise LookupError(f"{module}.{name}")


def _at_the_top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements, those under `if TYPE_CHECKING:` included."""
    for node in body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from node.body
        else:
            yield node


def _assigned(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.AnnAssign):
        return [ast.unparse(node.target)]
    return [ast.unparse(one) for one in node.targets] if isinstance(node, ast.Assign) else []


def _has_text(rest: list[ast.stmt]) -> bool:
    return bool(rest) and (
        isinstance(rest[0], ast.Expr)
        and isinstance(rest[0].value, ast.Constant)
        and isinstance(rest[0].value.value, str)
    )


def _has_comment(lines: list[str], node: ast.stmt) -> bool:
    return lines[node.lineno - 2].startswith("#") or "  # " in lines[node.lineno - 1]


def ratio(names: dict[str, bool]) -> float:
    """The part that is documented, in percent; of nothing, all."""
    return 100 * sum(names.values()) / len(names) if names else 100.0


def of_room(source: SourceTree, name: str) -> dict[str, bool]:
    """All public names of a room."""
    return {
        public: documented
        for module, file in source.items()
        if room(module) == name
        for public, documented in public_names(file).items()
    }


def report(rooms: list[str]) -> Iterator[str]:
    """The ratio of every room; of the rooms given, and of all doors, what is missing."""
    source = read_source()
    for name in MAY_USE:
        names = of_room(source, name)
        yield f"{name}: {ratio(names):.1f} % of {len(names)} documented"
    for name in rooms:
        yield from (public for public, known in of_room(source, name).items() if not known)
    for door in sorted(DOORS & source.keys()):
        missing = [name for name, known in documented_at_door(source, door).items() if not known]
        if missing:
            yield f"{door}: {', '.join(missing)}"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in report(sys.argv[1:]))
