"""No import goes in a ring, neither of modules nor of the sub-rooms on one floor.

Imports under TYPE_CHECKING and inside functions count: a ring says that a Protocol or a third
module is missing. On every floor the modules and sub-rooms are drawn as a graph without a ring.
"""

from __future__ import annotations

from collections import defaultdict

from tests.architecture.offenders import hold
from tests.architecture.source_tree import Graph, SourceTree, rings


def test_no_ring_of_modules(source: SourceTree) -> None:
    graph = {module: file.imported_modules for module, file in source.items()}
    hold("modules do not import each other", map(_named, rings(graph)))


def test_sub_rooms_of_a_floor_do_not_need_each_other(source: SourceTree) -> None:
    hold(
        "sub-rooms do not import of each other",
        (
            f"in {floor}: {_named(ring)}"
            for floor, graph in _floors(source).items()
            for ring in rings(graph)
        ),
    )


def _named(ring: frozenset[str]) -> str:
    return " <-> ".join(sorted(ring))


def _floors(source: SourceTree) -> dict[str, Graph]:
    """By package, the modules and sub-rooms directly in it, each with those it imports something
    of. An import is an edge on that floor where the ways to the two modules part."""
    floors: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module, file in source.items():
        for imported in file.imported_modules:
            here, there = module.split("."), imported.split(".")
            for depth, (step, target) in enumerate(zip(here, there, strict=False)):
                if step != target:
                    floors[".".join(here[:depth])][step].add(target)
                    break
    return {floor: dict(graph) for floor, graph in floors.items()}
