"""Which tests stay together, and which units begin first."""

from __future__ import annotations

import pytest

from tests.paths import ROOT
from tests.work_units import CUT, IN_GROUPS, LONGEST_FIRST, WHOLE_FOLDERS, rank, unit_of

UNITS = [
    ("tests/cel/test_program.py::test_x[a/b::c]", "tests/cel/test_program.py"),
    ("tests/architecture/test_rooms.py::test_x", "tests/architecture/"),
    ("tests/test_docs.py::test_x[1]", "tests/test_docs.py::test_x[1]"),
    (
        "tests/recorded/test_in_process.py::test_scenario[fuzz/api/one]",
        "tests/recorded/test_in_process.py::test_scenario[fuzz/api",
    ),
]


@pytest.mark.parametrize(("test", "unit"), UNITS)
def test_units(test: str, unit: str) -> None:
    assert unit_of(test) == unit


def test_what_takes_long_begins_first() -> None:
    tests = ["tests/cel/test_program.py", "tests/clients/test_helm.py", "tests/recorded/test_x.py"]
    assert sorted(tests, key=rank) == tests[::-1]


def test_what_is_named_is_there() -> None:
    for name in (*CUT, *IN_GROUPS, *WHOLE_FOLDERS, *LONGEST_FIRST):
        assert (ROOT / name).exists(), name
