"""Modules explain themselves, doors document every name, and rooms at least most of theirs."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from tests.architecture.documentation import documented_at_door, of_room, ratio
from tests.architecture.offenders import hold
from tests.architecture.rooms import DOORS, LEAST, MAY_USE
from tests.architecture.source_tree import SourceTree

_SNAKE_CASE = re.compile(r"`([a-z]+(?:_[a-z0-9]+)+)`")


def test_modules_explain_themselves(source: SourceTree) -> None:
    silent = (module for module, file in source.items() if not ast.get_docstring(file.tree))
    hold("a module has a docstring", silent)


def test_packages_name_what_stands_in_them(source: SourceTree) -> None:
    """A reading order leads to modules, here or elsewhere, or to names of this package."""
    modules = {module.rpartition(".")[2] for module in source}
    hold("what the docstring of a package names is there", _named_in_vain(source, modules))


def _named_in_vain(source: SourceTree, modules: Collection[str]) -> Iterator[str]:
    for package, file in source.items():
        if file.path.name == "__init__.py":
            inside = [one.text for name, one in source.items() if name.startswith(f"{package}.")]
            for name in _SNAKE_CASE.findall(ast.get_docstring(file.tree) or ""):
                if name not in modules and not any(name in text for text in inside):
                    yield f"{package}: {name}"


def test_names_at_doors_are_documented(source: SourceTree) -> None:
    hold(
        "what a door shows is documented where it is defined",
        (
            f"{door}: {name}"
            for door in DOORS & source.keys()
            for name, known in documented_at_door(source, door).items()
            if not known
        ),
    )


def test_most_names_in_rooms_are_documented(source: SourceTree) -> None:
    shares = {name: ratio(of_room(source, name)) for name in MAY_USE}
    hold(
        "LEAST is the documented share of public names; "
        "python -m tests.architecture.documentation ROOM lists those without",
        (
            f"{name}: {share:.1f} %, at least {LEAST[name]} % are wanted"
            for name, share in shares.items()
            if share < LEAST[name]
        ),
    )
