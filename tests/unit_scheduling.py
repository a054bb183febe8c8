"""How units of tests are handed out to the processes that run them (pytest-xdist).

Who hands out 30,000 tests works on a processor that a test could have. So what is done for one test
does not grow with the number of all tests, as it does in the scheduling of xdist.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from xdist.scheduler import LoadScopeScheduling

from tests.work_units import unit_of


class UnitScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out units in the order of the collection."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)

    @cached_property
    def _places(self) -> dict[str, int]:
        """By the id of each test, its place in the collection of every process."""
        return {test: place for place, test in enumerate(self.collection or ())}

    def _assign_work_unit(self, node: Any) -> None:
        unit, tests = self.workqueue.popitem(last=False)
        self.assigned_work[node][unit] = tests
        node.send_runtest_some([self._places[test] for test in tests])

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """A test that has run is forgotten: what is left is counted after each test."""
        test = self.registered_collections[node][item_index]
        unit, units = unit_of(test), self.assigned_work[node]
        del units[unit][test]
        if not units[unit]:
            del units[unit]
        self._reschedule(node)
