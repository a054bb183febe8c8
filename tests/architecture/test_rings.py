"""No import goes in a ring, neither of modules nor of the sub-rooms on one floor.

Imports under TYPE_CHECKING and inside functions count: a ring says that a Protocol or a third
module is missing. On every floor the modules and sub-rooms are drawn as a graph without a ring.
"""

from __future__ import annotations

import pytest

from tests.architecture.source_tree import MODULES, PACKAGES, Graph, imports, is_inside, rings


def test_no_ring_of_modules() -> None:
    assert [sorted(ring) for ring in rings({module: _imported(module) for module in MODULES})] == []


@pytest.mark.parametrize("floor", PACKAGES)
def test_sub_rooms_of_a_floor_do_not_need_each_other(floor: str) -> None:
    assert [sorted(ring) for ring in rings(_floor(floor))] == []


def _imported(module: str) -> set[str]:
    return {one for one in imports(module) if one in MODULES and one != module}


def _floor(floor: str) -> Graph:
    """The modules and sub-rooms directly in a package, each with those it imports something of."""
    graph: dict[str, set[str]] = {}
    for module in MODULES:
        if module == floor or not is_inside(module, floor):
            continue
        node = _step(module, floor)
        graph.setdefault(node, set()).update(
            _step(one, floor) for one in _imported(module) if one != floor and is_inside(one, floor)
        )
    return {node: targets - {node} for node, targets in graph.items()}


def _step(module: str, floor: str) -> str:
    """The first name of the way from the floor to the module."""
    return module.removeprefix(f"{floor}.").split(".")[0]
