"""Which tests stay together, which units begin first, and how they are handed out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import (
    pytest_report_from_serializable,
    pytest_report_to_serializable,
    pytest_xdist_make_scheduler,
)
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


class Process:
    """One that runs tests, as the scheduler sees it."""

    shutting_down = False
    gateway = SimpleNamespace(id="gw")

    def __init__(self) -> None:
        self.given: list[int] = []

    def send_runtest_some(self, places: list[int]) -> None:
        self.given += places

    def shutdown(self) -> None:
        self.shutting_down = True


TESTS = [f"tests/test_{file}.py::test_{number}" for file in "cab" for number in range(4)]


def scheduled(*processes: Process) -> Any:
    """The tests, handed out to the processes."""
    config: Any = SimpleNamespace(option=SimpleNamespace(), getvalue={"tx": ["popen"] * 2}.get)
    log = SimpleNamespace(loadscopesched=lambda *_: None)
    scheduling = pytest_xdist_make_scheduler(config, log)
    for process in processes:
        scheduling.add_node(process)
        scheduling.add_node_collection(process, TESTS)
    scheduling.schedule()
    return scheduling


def test_units_are_handed_out_whole_and_in_order() -> None:
    one, other = Process(), Process()
    scheduling = scheduled(one, other)
    assert (one.given, other.given) == ([0, 1, 2, 3], [4, 5, 6, 7])
    scheduling.mark_test_complete(other, 4)
    assert other.given == [4, 5, 6, 7]
    scheduling.mark_test_complete(other, 5)  # two are left, so that it never waits
    assert other.given == [4, 5, 6, 7, 8, 9, 10, 11]
    for place in other.given[2:]:
        assert scheduling.has_pending
        scheduling.mark_test_complete(other, place)
    assert other.shutting_down


def test_tests_that_have_run_are_forgotten() -> None:
    one, other = Process(), Process()
    scheduling = scheduled(one, other)
    for place in range(4):
        scheduling.mark_test_complete(one, place)
    assert scheduling.assigned_work[one] == {"tests/test_b.py": dict.fromkeys(TESTS[8:], False)}


def test_the_work_of_a_process_that_has_ended_is_done_by_another() -> None:
    one, other = Process(), Process()
    scheduling = scheduled(one, other)
    scheduling.mark_test_complete(one, 0)
    assert scheduling.remove_node(one) == TESTS[1]
    for place in range(4, 6):
        scheduling.mark_test_complete(other, place)
    assert other.given == [4, 5, 6, 7, 8, 9, 10, 11]
    for place in range(6, 10):
        scheduling.mark_test_complete(other, place)
    assert other.given[8:] == [1, 2, 3]


def report_of(outcome: Any, **members: Any) -> pytest.TestReport:
    place = ("test_x.py", 3, "test_x")
    return pytest.TestReport("test_x.py::test_x", place, {"x": 1}, outcome, None, "call", **members)


def test_a_phase_that_passes_in_silence_is_a_few_values() -> None:
    report = report_of("passed", duration=0.5, start=1.0, stop=1.5)
    data = pytest_report_to_serializable(report)
    assert data == {"silent": (report.nodeid, report.location, "call", 0.5, 1.0, 1.5)}
    again = pytest_report_from_serializable({**data, "item_index": 1})
    assert again is not None
    assert {**vars(again), "keywords": {"x": 1}} == vars(report)


@pytest.mark.parametrize(
    "report",
    [
        report_of("failed"),
        report_of("skipped"),
        report_of("passed", sections=[("Captured stdout", "x")]),
        report_of("passed", user_properties=[("a", 1)]),
        report_of("passed", wasxfail="a reason"),
        pytest.CollectReport("test_x.py", "passed", None, []),
    ],
)
def test_every_other_report_has_the_form_of_pytest(report: object) -> None:
    assert pytest_report_to_serializable(report) is None
    assert pytest_report_from_serializable({"$report_type": "TestReport"}) is None
