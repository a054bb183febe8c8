"""What all tests share: options, how hypothesis searches, how tests are spread over processes."""

from __future__ import annotations

import gc
import inspect
import os
import sys
import time
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.work_units import rank

# Machines differ in speed; a property that takes long on one of them is not wrong.
settings.register_profile(
    "everywhere", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
# What decides whether a change lands must not depend on luck; searching on is for developers.
settings.register_profile("ci", parent=settings.get_profile("everywhere"), derandomize=True)
# `make test` tries a little of every property, `make test-all` all of it.
settings.register_profile("quick", parent=settings.get_profile("ci"), max_examples=10)
settings.register_profile("search", parent=settings.get_profile("everywhere"), max_examples=5000)
settings.load_profile(
    os.environ.get("CELADON_HYPOTHESIS", "ci" if os.environ.get("CI") else "everywhere")
)

collect_ignore = ["cases"]  # inputs of tests: among them files of policy tests that are to fail


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the expectations of tests/cases; review the diff like code",
    )
    parser.addoption(
        "--begin-within",
        type=float,
        metavar="SECONDS",
        help="skip tests that have not begun by then: for runs that are ended from outside",
    )


_BEGUN = time.monotonic()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    seconds = item.config.getoption("--begin-within")
    if seconds is not None and time.monotonic() - _BEGUN > seconds:
        pytest.skip(f"not begun within {seconds:.0f} seconds (--begin-within)")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Garbage is not looked for among the tests, which all last as long as the process: neither
    while they are collected, which takes a third less time so, nor while they run. Then it is
    looked for seldom: the usual 700 new objects would cost a sixth of all time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)
        gc.enable()


@pytest.fixture
def usual_calls() -> Iterator[None]:
    """As many calls as Python allows where nobody asked for more. Servers that other tests leave
    running in this process have asked (`celadon.deep_recursion`)."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000 + len(inspect.stack(0)))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):  # one of several processes
        items.sort(key=lambda item: rank(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from tests.unit_scheduling import UnitScheduling  # only where xdist was asked for

    config.option.loadscopereorder = False  # the order is that of `rank`
    return UnitScheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_report_to_serializable(report: object) -> dict[str, Any] | None:
    """Of a phase of a test that has passed in silence, one of 90,000, few values are sent between
    processes: pytest's own form takes them half of what xdist costs."""
    if not isinstance(report, pytest.TestReport) or not report.passed:
        return None
    if report.sections or report.user_properties or hasattr(report, "wasxfail"):
        return None
    times = (report.duration, report.start, report.stop)
    return {"silent": (report.nodeid, report.location, report.when, *times)}


@pytest.hookimpl(tryfirst=True)
def pytest_report_from_serializable(data: dict[str, Any]) -> pytest.TestReport | None:
    if "silent" not in data:
        return None
    nodeid, location, when, duration, start, stop = data["silent"]
    times = {"duration": duration, "start": start, "stop": stop}
    return pytest.TestReport(nodeid, location, {}, "passed", None, when, **times)
