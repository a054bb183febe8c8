"""How much stands on one floor, how much one door shows, and that names are nobody else's."""

from __future__ import annotations

from collections import Counter, defaultdict

from tests.architecture.offenders import hold
from tests.architecture.rooms import (
    DOORS,
    DRAWERS,
    INNER_DOORS,
    MAX_DOOR,
    MAX_FLOOR,
    SHARED_NAMES,
    WIDE_FLOORS,
    room,
)
from tests.architecture.source_tree import SourceTree


def test_a_floor_has_about_a_dozen_modules(source: SourceTree) -> None:
    floors = Counter(one.rpartition(".")[0] for one in source if not source[one].is_package)
    wide = {floor: number for floor, number in floors.items() if number > MAX_FLOOR}
    hold(
        f"a folder has at most {MAX_FLOOR} modules; these have more: "
        + ", ".join(f"{floor} {number}" for floor, number in wide.items()),
        wide,
        WIDE_FLOORS,
    )


def test_a_door_has_few_names(source: SourceTree) -> None:
    sizes = {door: len(source[door].exported) for door in DOORS & source.keys()}
    hold(
        f"a door shows at most {MAX_DOOR} names",
        (f"{door}: {size} names" for door, size in sizes.items() if size > MAX_DOOR),
    )


def test_packages_that_show_names_are_doors(source: SourceTree) -> None:
    shown = {one for one, file in source.items() if file.is_package and file.exported}
    hold("a package that shows names is one of DOORS", shown - DOORS, INNER_DOORS)


def test_names_of_modules_are_theirs_alone(source: SourceTree) -> None:
    """In its room: `handlers` is the field's word for those of a server and for those of a webhook.
    A command is called as its user calls it."""
    named = defaultdict(set)
    for module in source:
        if room(module) and not module.startswith("celadon.cli.commands."):
            named[room(module), module.rpartition(".")[2]].add(module)
    hold(
        "one module of a room has a name",
        (_sharing(name, among) for (_, name), among in named.items() if len(among) > 1),
        [_sharing(name, among) for name, (among, _) in SHARED_NAMES.items()],
    )


def _sharing(name: str, modules: set[str]) -> str:
    return f"{name}: {', '.join(sorted(modules))}"


def test_no_drawers(source: SourceTree) -> None:
    drawers = (one for one in source if one.rpartition(".")[2] in DRAWERS)
    hold("a name says what is inside", drawers)
