"""Rooms import only rooms before them, through doors; the first three do nothing but compute."""

from __future__ import annotations

import sys

import pytest

from tests.architecture.rooms import DOORS, MAY_USE, PURE, room
from tests.architecture.source_tree import MODULES, exported, imports, is_inside

IMPURE_MODULES = {
    "asyncio", "concurrent", "glob", "http", "io", "logging", "multiprocessing", "os", "pathlib",
    "queue", "random", "secrets", "select", "shutil", "signal", "socket", "ssl", "subprocess",
    "tempfile", "threading", "time", "urllib", "uuid",
}  # fmt: skip

MAY_IMPORT_IMPURE: dict[tuple[str, str], str] = {}
"""(module, what it imports) in a pure room, with the reason."""

EXTRAS = {"celadon.cel.protobuf": "google"}
"""Packages that are on top of an optional dependency, and what that is imported as."""


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
    return door in DOORS and name in exported(door)


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
            assert not is_inside(imported, "celadon.deep_calls"), module
            continue
        if top != _extra(module):
            assert top in sys.stdlib_module_names, f"{module} imports {imported}: not standard"
        if top in IMPURE_MODULES:
            assert (module, imported) in MAY_IMPORT_IMPURE, f"{module} imports {imported}"


def _extra(module: str) -> str | None:
    """The optional dependency that the module may import."""
    return next((top for package, top in EXTRAS.items() if is_inside(module, package)), None)


@pytest.mark.parametrize("module", MODULES)
def test_nothing_else_imports_what_is_optional(module: str) -> None:
    for imported in imports(module):
        for package in EXTRAS:
            inside = is_inside(module, package)
            assert inside or not is_inside(imported, package), f"{module}: {imported}"


def test_excuses_are_still_needed() -> None:
    for module, imported in MAY_IMPORT_IMPURE:
        assert imported in imports(module), f"{module} no longer imports {imported}"
