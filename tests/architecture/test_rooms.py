"""Rooms import only rooms before them, through doors; the first three do nothing but compute."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tests.architecture.offenders import hold
from tests.architecture.rooms import (
    BESIDE,
    DOORS,
    EXTRAS,
    IMPURE_MODULES,
    MAY_IMPORT_IMPURE,
    MAY_USE,
    PURE,
    SUPPORT,
    room,
)
from tests.architecture.source_tree import SourceTree, is_inside


def test_rooms_import_only_rooms_before_them(source: SourceTree) -> None:
    hold(
        "MAY_USE says which rooms a room imports",
        (
            f"{module} imports {imported}"
            for module, imported in _across(source)
            if room(imported) not in MAY_USE[room(module)]
        ),
    )


def test_rooms_are_entered_through_doors(source: SourceTree) -> None:
    hold(
        "another room is entered through one of its DOORS",
        (
            f"{module} imports {imported}"
            for module, imported in _across(source)
            if imported not in DOORS and not _is_shown(source, imported)
        ),
    )


def _across(source: SourceTree) -> Iterator[tuple[str, str]]:
    """Imports of a module in a room of something in another room."""
    for module, file in source.items():
        for imported in file.imports:
            here, there = room(module), room(imported)
            if here and there and here != there:
                yield module, imported


def _is_shown(source: SourceTree, imported: str) -> bool:
    """Whether a submodule is itself a public name of its room's door (`celadon.kube.metadata`)."""
    door, _, name = imported.rpartition(".")
    return door in DOORS and door in source and name in source[door].exported


def test_inside_a_room_modules_are_imported_directly(source: SourceTree) -> None:
    hold(
        "no module goes through a door of its own room",
        (
            f"{module} imports {imported}"
            for module, file in source.items()
            if module not in DOORS
            for imported in file.imports
            if imported in DOORS - {"celadon"} and source[imported].is_package
            if room(imported) == room(module)
        ),
    )


def test_libraries_beside_the_house_need_little_of_it(source: SourceTree) -> None:
    hold(
        "BESIDE says what a library imports of the house",
        (
            f"{module} imports {imported}"
            for library, used in BESIDE.items()
            for module, file in source.items()
            if is_inside(module, library)
            for imported in file.imports
            if is_inside(imported, "celadon") and imported not in SUPPORT
            if not any(is_inside(imported, package) for package in {library, *used})
        ),
    )
    assert all(library in source for library in BESIDE)


def test_pure_rooms_stay_pure(source: SourceTree) -> None:
    hold(
        "a pure room imports only what computes, of the standard library",
        (
            f"{module} imports {imported}"
            for module, file in source.items()
            if room(module) in PURE
            for imported in file.imports
            if not _is_pure(module, imported)
        ),
        [f"{module} imports {imported}" for module, imported in MAY_IMPORT_IMPURE],
    )


def _is_pure(module: str, imported: str) -> bool:
    top = imported.split(".")[0]
    if top == "celadon":
        return not is_inside(imported, "celadon.deep_recursion")
    if top in (extra for package, extra in EXTRAS.items() if is_inside(module, package)):
        return True
    return top in sys.stdlib_module_names and top not in IMPURE_MODULES


def test_nothing_else_imports_what_is_optional(source: SourceTree) -> None:
    hold(
        "only what is in a package of EXTRAS imports it",
        (
            f"{module} imports {imported}"
            for module, file in source.items()
            for imported in file.imports
            for package in EXTRAS
            if is_inside(imported, package) and not is_inside(module, package)
        ),
    )
