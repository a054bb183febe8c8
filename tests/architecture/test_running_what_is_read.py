"""What Celadon reads is data: no file, no body and no answer makes it run, import or unpickle
anything, but in the places that are named in `rooms`, each with the reason why that is no danger.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from functools import cache

from tests.architecture.offenders import hold
from tests.architecture.rooms import ALLOWED, RUNS_OR_LOADS
from tests.architecture.source_tree import SourceTree

_FIRST_WORDS = re.compile(
    rf"\b({'|'.join({re.escape(one.split('.')[0]) for one in RUNS_OR_LOADS})})\b"
)
"""A module whose text has none of these uses nothing of `RUNS_OR_LOADS`, by whatever name."""


def test_only_the_places_that_are_named(source: SourceTree) -> None:
    hold(
        "nothing runs, imports or unpickles what it reads",
        (
            f"{module}: {name}"
            for module, file in source.items()
            if _FIRST_WORDS.search(file.text)
            for name in dangers(file.nodes(ast.Import, ast.ImportFrom, ast.Attribute, ast.Name))
        ),
        [f"{module}: {name}" for module, name in ALLOWED],
    )


def dangers(nodes: Iterable[ast.AST]) -> set[str]:
    """What a module uses of `RUNS_OR_LOADS`, by its full name."""
    return {name for name in _names(list(nodes)) if _is_danger(name)}


@cache
def _is_danger(name: str) -> bool:
    for one in RUNS_OR_LOADS:
        if one.endswith("*"):
            if name.startswith(one[:-1]):
                return True
        elif f"{name}.".startswith(f"{one}."):
            return True
    return False


def _names(nodes: list[ast.AST]) -> Iterator[str]:
    """Every builtin and imported name that is used, in full, whatever it is called here. A module
    alone is none unless it is handed on as a value."""
    imported: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for one in node.names:
                imported[one.asname or one.name.split(".")[0]] = (
                    one.name if one.asname else one.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                imported[one.asname or one.name] = f"{node.module}.{one.name}"
                yield f"{node.module}.{one.name}"
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if not isinstance(node, ast.Attribute | ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        if id(node) not in inner:
            steps = _steps(node)
            if steps and (steps[0] in imported or hasattr(builtins, steps[0])):
                yield ".".join((imported.get(steps[0], steps[0]), *steps[1:]))


def _steps(node: ast.expr) -> list[str]:
    """Of `a.b.c`; none where something else than a name stands before the first dot."""
    if isinstance(node, ast.Name):
        return [node.id]
    above = _steps(node.value) if isinstance(node, ast.Attribute) else []
    return [*above, node.attr] if above and isinstance(node, ast.Attribute) else []


EXAMPLES: list[tuple[str, set[str]]] = [
    ("import pickle\npickle.loads(b'')", {"pickle.loads"}),
    ("import pickle as p\np.Unpickler(f).load()", {"pickle.Unpickler"}),
    ("import pickle as p\nread = p.Unpickler", {"pickle.Unpickler"}),
    ("from pickle import loads as read\nread(b'')", {"pickle.loads"}),
    ("import pickle\nf(pickle)", {"pickle"}),
    ("import yaml\nyaml.load_all(t, yaml.Loader)", {"yaml.load_all", "yaml.Loader"}),
    ("import yaml\nyaml.SafeLoader(t)", set()),
    ("import os\nos.execvp('a', [])", {"os.execvp"}),
    ("run = exec", {"exec"}),
    ("import builtins\nbuiltins.eval('1')", {"builtins.eval"}),
    ("environment.compile('1')", set()),
    ("import re\nre.compile('1')", set()),
    ("import importlib.util\nimportlib.util.find_spec('a')", set()),
]
"""Sources, and what is found in each."""


def test_that_they_are_found() -> None:
    for text, found in EXAMPLES:
        assert dangers(ast.walk(ast.parse(text))) == found, text
