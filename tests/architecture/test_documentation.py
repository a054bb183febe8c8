"""Modules explain themselves, doors document every name, and rooms at least most of theirs."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.documentation import documented_at_door, of_room, ratio
from tests.architecture.rooms import DOORS, MAY_USE
from tests.architecture.source_tree import MODULES, tree_of

LEAST = {
    "cel": 88, "kube": 93, "admission": 93, "store": 80, "goyaml": 100, "serve": 88, "webhook": 95,
    "cli": 99, "testing": 100,
}  # fmt: skip
"""How many of a room's public names are documented, in percent; a number that only rises."""


@pytest.mark.parametrize("module", MODULES)
def test_modules_explain_themselves(module: str) -> None:
    assert ast.get_docstring(tree_of(module)), f"{module} has no docstring (house rule 13)"


@pytest.mark.parametrize("door", sorted(DOORS & set(MODULES)))
def test_names_at_doors_are_documented(door: str) -> None:
    missing = {name for name, known in documented_at_door(door).items() if not known}
    assert missing == set()


@pytest.mark.parametrize("name", MAY_USE)
def test_most_names_in_rooms_are_documented(name: str) -> None:
    assert ratio(of_room(name)) >= LEAST[name], f"python -m tests.architecture.documentation {name}"
