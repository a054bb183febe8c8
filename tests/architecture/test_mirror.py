"""The tests mirror the source: a room or sub-room has a folder of tests, in which its modules are
tested. `tests/kube/go/` holds the tests of `celadon.kube.go`, be that a folder of modules or one.

What one test module is about is its own matter, so that modules can be merged and cut without
moving tests. What tests no single room stands in a folder of its own (`conformance`, `recorded`,
`properties`, ...).
"""

from __future__ import annotations

from pathlib import Path

from tests.architecture.offenders import hold
from tests.architecture.rooms import MAY_USE, UNMIRRORED
from tests.architecture.source_tree import SourceTree

TESTS = Path(__file__).resolve().parent.parent


def test_a_test_stands_where_its_room_stands(source: SourceTree) -> None:
    astray = {
        path.relative_to(TESTS).as_posix()
        for room in MAY_USE
        for path in (TESTS / room).rglob("test_*.py")
        if ".".join(("celadon", *path.relative_to(TESTS).parent.parts)) not in source
    }
    hold("a folder of tests has the name of a room, sub-room or module", astray, UNMIRRORED)


def test_every_room_has_a_folder_of_tests() -> None:
    hold("a room has tests", (room for room in MAY_USE if not any((TESTS / room).rglob("test_*"))))
