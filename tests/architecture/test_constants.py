"""A fact stands once: no long text or set of texts is a constant of two modules.

Numbers are left out (10 means many things), short texts too, and what two modules call by the same
text without meaning the same is in `HOMONYMS`.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tests.architecture.offenders import hold
from tests.architecture.rooms import HOMONYMS, JSON_ALIASES, LONG_TEXT
from tests.architecture.source_tree import SourceTree

Texts = tuple[str, ...]
OPEN_TYPES = ("Any", "Mapping[str, Any]", "dict[str, Any]", "JsonObject", "JsonDict")


def test_long_constants_stand_once(source: SourceTree) -> None:
    same_texts: defaultdict[Texts, list[tuple[str, ast.expr]]] = defaultdict(list)
    for module, file in source.items():
        for texts, value in _constants(file.tree):
            same_texts[texts].append((module, value))
    known = {tuple(_texts(ast.parse(value, mode="eval").body)) for value in HOMONYMS}
    places: defaultdict[str, set[str]] = defaultdict(set)
    for texts, found in same_texts.items():
        if len(found) > 1 or texts in known:  # writing out all of them would take seconds
            for module, value in found:
                places[ast.unparse(value)].add(module)
    repeated = {value: modules for value, modules in places.items() if len(modules) > 1}
    hold(
        "a constant stands in one module; these stand in more: "
        + "; ".join(
            f"{value} in {', '.join(sorted(modules))}"
            for value, modules in repeated.items()
            if value not in HOMONYMS
        ),
        repeated,
        [value for value in HOMONYMS if value in repeated or value not in places],
    )


def test_json_has_one_name(source: SourceTree) -> None:
    aliases = {
        module
        for module, file in source.items()
        for node in file.tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and node.value is not None
        and ast.unparse(node.value) in OPEN_TYPES
    }
    hold("`Any` and JSON objects have no other name", aliases, JSON_ALIASES)


def _constants(tree: ast.Module) -> Iterator[tuple[Texts, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            texts = tuple(_texts(node.value))
            if texts and sum(map(len, texts)) >= LONG_TEXT:
                yield texts, node.value


def _texts(value: ast.expr) -> Iterator[str]:
    """All there are in a literal, those in calls included; none where other names are used."""
    nodes = list(ast.walk(value))
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    if all(node in called for node in nodes if isinstance(node, ast.Name)):
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
