"""The cost model of fleets: what it must say wherever one can tell by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.fleet_model import MEASURED, Costs, Fleet, course, parts

FLEET = Fleet(10, 10_000, 20, 0.5, 0.5, 1, live=False)
PLAIN = Costs(0, 0, read=1e-3, pass_by=0, judge=1e-3, page_wait=0, survey=0)


def test_one_worker_does_everything() -> None:
    # 5,000 objects of each source: one is read (1 ms), all twenty policies judge it (20 ms)
    assert course(FLEET, PLAIN, 1).seconds == pytest.approx(10 * 5_000 * 0.021)


@pytest.mark.parametrize("workers", [2, 5, 10])
def test_workers_share(workers: int) -> None:
    alone = course(FLEET, PLAIN, 1)
    together = course(FLEET, PLAIN, workers)
    assert together.seconds == pytest.approx(alone.seconds / workers)
    assert together.busy == pytest.approx(1)


def test_the_largest_part_is_the_least_time() -> None:
    fleet = replace(FLEET, resources=4)
    longest = max(one.seconds for one in parts(fleet, PLAIN))
    assert course(fleet, PLAIN, 1000).seconds == pytest.approx(longest)


def test_waiting_is_no_work() -> None:
    live = replace(FLEET, live=True)
    slow = replace(PLAIN, page_wait=1.0)
    calm, waiting = course(live, PLAIN, 1), course(live, slow, 1)
    assert waiting.processor == calm.processor
    pages = 10 * (5_000 // 500)
    surveys = 10
    assert waiting.seconds - calm.seconds == pytest.approx(pages + surveys)
    assert waiting.requests == pages + 2 * surveys


def test_policies_are_compiled_by_each_worker() -> None:
    few = course(replace(FLEET, policies=0), MEASURED, 3)
    costs = replace(MEASURED, judge=0)
    many = course(replace(FLEET, policies=200), costs, 3)
    assert many.processor - few.processor == pytest.approx(3 * 200 * MEASURED.compile)


def test_a_server_that_lets_few_pages_through_makes_its_lists_wait() -> None:
    live = replace(FLEET, sources=1, live=True)  # ten pages
    assert course(live, replace(PLAIN, judge=0, page_rate=0.1), 1).seconds == pytest.approx(90)
    assert course(live, replace(PLAIN, page_rate=0.1), 1).seconds == pytest.approx(5_000 * 0.021)
