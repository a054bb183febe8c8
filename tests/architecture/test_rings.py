"""No import goes in a ring, neither of modules nor of the sub-rooms on one floor.

Imports under TYPE_CHECKING and inside functions count: a ring says that a Protocol or a third
module is missing. On every floor the modules and sub-rooms are drawn as a graph; it has no ring
once the imports in `BACK_EDGES` are left out. Those are known and may only become fewer.
"""

from __future__ import annotations

import pytest

from tests.architecture.source_tree import MODULES, PACKAGES, Graph, imports, is_inside, rings

KNOWN_RINGS: set[frozenset[str]] = set()
"""Rings of modules that still stand."""

BACK_EDGES: set[tuple[str, str]] = set()
"""Imports from a lower sub-room (or module) of a floor to a higher one."""


def test_no_ring_of_modules() -> None:
    graph = {module: _imported(module) for module in MODULES}
    assert set(rings(graph)) - KNOWN_RINGS == set()


def test_known_rings_still_stand() -> None:
    graph = {module: _imported(module) for module in MODULES}
    assert set(rings(graph)) & KNOWN_RINGS == KNOWN_RINGS


@pytest.mark.parametrize("floor", PACKAGES)
def test_sub_rooms_of_a_floor_do_not_need_each_other(floor: str) -> None:
    graph = _floor(floor, BACK_EDGES)
    known = [{one.removeprefix(f"{floor}.") for one in ring} for ring in KNOWN_RINGS]
    assert [sorted(ring) for ring in rings(graph) if ring not in known] == []


@pytest.mark.parametrize(("module", "imported"), sorted(BACK_EDGES))
def test_back_edges_are_still_there(module: str, imported: str) -> None:
    assert imported in imports(module)
    floor = _common_floor(module, imported)
    others = BACK_EDGES - {(module, imported)}
    assert len(rings(_floor(floor, others))) > len(rings(_floor(floor, BACK_EDGES)))


def _imported(module: str) -> set[str]:
    return {one for one in imports(module) if one in MODULES and one != module}


def _floor(floor: str, without: set[tuple[str, str]]) -> Graph:
    """The modules and sub-rooms directly in a package, each with those it imports something of."""
    graph: dict[str, set[str]] = {}
    for module in MODULES:
        if module == floor or not is_inside(module, floor):
            continue
        node = _step(module, floor)
        graph.setdefault(node, set()).update(
            _step(one, floor)
            for one in _imported(module)
            if one != floor and is_inside(one, floor) and (module, one) not in without
        )
    return {node: targets - {node} for node, targets in graph.items()}


def _step(module: str, floor: str) -> str:
    """The first name of the way from the floor to the module."""
    return module.removeprefix(f"{floor}.").split(".")[0]


def _common_floor(one: str, other: str) -> str:
    """The innermost package that holds both."""
    return max(
        (each for each in PACKAGES if is_inside(one, each) and is_inside(other, each)), key=len
    )
