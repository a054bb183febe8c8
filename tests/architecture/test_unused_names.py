"""Nothing is in the product for tests alone: what it defines, it uses or gives to users.

Names are compared, not what they stand for: one that something else has as well goes unseen.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from tests.architecture.offenders import hold
from tests.architecture.rooms import CALLED_BY_OTHERS, PUBLIC
from tests.architecture.source_tree import SourceFile, SourceTree

_FUNCTION_BY_TEXT = re.compile(r"[a-z_.]+:([A-Za-z][A-Za-z_]+)")
_MEMBER_BY_TEXT = re.compile(r"(?:[A-Za-z]+=)?(?:[a-z_]+\.)*([a-z][a-z_]+)[?!]?")
_SHAPED = "celadon.cli.report."
"""Where shapes name members of records in texts (`celadon.cli.report.report_model`)."""


def test_every_name_is_used(source: SourceTree) -> None:
    used = set().union(*map(_asked_for, source.values()))
    public = set().union(*(source[door].exported for door in PUBLIC))
    unused = {
        f"{module}.{path}"
        for module, file in source.items()
        for path in _unused(file.tree, used)
        if not public.intersection(path.split("."))
    }
    hold(
        "what the product defines, it uses or shows at a door of PUBLIC",
        {_excuse(name) or name for name in unused},
        CALLED_BY_OTHERS,
    )


def _excuse(name: str) -> str | None:
    """What of `CALLED_BY_OTHERS` the name is or lies in."""
    return next((one for one in CALLED_BY_OTHERS if f"{name}.".startswith(f"{one}.")), None)


def _asked_for(file: SourceFile) -> set[str]:
    """What the module imports, if it is no door, the attributes that it reads, and what is named in
    texts: functions as `module:function`, members of records in shapes."""
    imported = {
        name.name
        for node in file.nodes(ast.ImportFrom)
        if not file.is_package
        for name in node.names
    }
    patterns = [_FUNCTION_BY_TEXT, *([_MEMBER_BY_TEXT] if file.module.startswith(_SHAPED) else [])]
    by_text = {
        found[1]
        for node in file.nodes(ast.Constant)
        if isinstance(node.value, str)
        for pattern in patterns
        if (found := pattern.fullmatch(node.value))
    }
    return imported | by_text | {node.attr for node in file.nodes(ast.Attribute)}


def _unused(scope: ast.Module | ast.ClassDef, used: set[str], prefix: str = "") -> Iterator[str]:
    """Functions, classes and variables of the module, and members of its classes, that no other
    statement of theirs names either."""
    named = [_named(statement) for statement in scope.body]
    namings = Counter(name for names in named for name in names)
    for statement, own in zip(scope.body, named, strict=True):
        for name in _defined(statement):
            if not (name.startswith("__") or name in used or namings[name] > (name in own)):
                yield f"{prefix}{name}"
        if isinstance(statement, ast.ClassDef):
            yield from _unused(statement, used, f"{prefix}{statement.name}.")


def _named(statement: ast.stmt) -> set[str]:
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _defined(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [statement.name]
        case ast.Assign(targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(ast.Name(name)):
            return [name]
        case _:
            return []
