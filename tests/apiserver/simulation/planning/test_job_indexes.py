"""Sets of indexes as text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.apiserver.simulation.planning.job_indexes import (
    all_failures_of,
    count,
    failures_of,
    first_missing,
    has,
    merged,
    next_failures,
    of_numbers,
    overlap,
    parsed,
    surplus_of_indexes,
    text_of,
    valid_index,
)
from celadon.kube import metadata
from tests.apiserver.simulation.planning.sample_objects import at, pod
from tests.growth.counted_steps import LINEAR, growth

INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"
NUMBERS = st.sets(st.integers(0, 40))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ()),
        ("1", ((1, 1),)),
        ("0,1,3-5,7", ((0, 1), (3, 5), (7, 7))),
        ("1,x,3", ((1, 1), (3, 3))),
        (f"1,{'9' * 5000},3", ((1, 1), (3, 3))),
        ("3-20", ((3, 9),)),
        ("3,12", ((3, 3),)),
    ],
)
def test_texts_are_read(text: str, wanted: object) -> None:
    assert parsed(text, 10) == wanted


@pytest.mark.parametrize(
    ("numbers", "wanted"),
    [(set(), ""), ({4}, "4"), ({1, 2}, "1,2"), ({1, 2, 3, 5, 7, 8}, "1-3,5,7,8")],
)
def test_texts_are_written(numbers: set[int], wanted: str) -> None:
    assert text_of(of_numbers(numbers)) == wanted


@given(NUMBERS, NUMBERS)
def test_sets_are_sets(one: set[int], other: set[int]) -> None:
    mine, others = of_numbers(one), of_numbers(other)
    assert parsed(text_of(mine), 41) == mine
    assert merged(mine, others) == of_numbers(one | other)
    assert count(mine) == len(one)
    assert overlap(mine, others) == len(one & other)
    assert all(has(mine, number) == (number in one) for number in range(42))


def test_many_intervals_are_compared_in_proportion() -> None:
    """A status and a policy may have tens of thousands, and a status is anybody's who may write
    it."""

    def work(size: int) -> Callable[[], object]:
        mine, others = of_numbers(range(0, 4 * size, 4)), of_numbers(range(2, 4 * size, 4))
        return lambda: (overlap(mine, others), [has(mine, number) for number in range(size)])

    assert growth(work, 200) < LINEAR


@given(NUMBERS, st.integers(0, 10), st.integers(0, 45))
def test_the_first_that_are_missing(taken: set[int], wanted: int, total: int) -> None:
    missing = [number for number in range(total) if number not in taken]
    assert first_missing(of_numbers(taken), wanted, total) == missing[:wanted]


@pytest.mark.parametrize(("text", "wanted"), [("3", 3), ("4", None), ("-1", None), ("x", None)])
def test_the_index_of_a_pod(text: str, wanted: int | None) -> None:
    assert valid_index(pod("a", annotations={INDEX: text}), 4) == wanted
    assert valid_index(pod("a"), 4) is None


@pytest.mark.parametrize("text", ["9" * 5000, "²", "-1"])
def test_numbers_that_are_none(text: str) -> None:
    former = pod("a", annotations={INDEX: text, FAILURES: text})
    assert valid_index(former, 4) is None
    assert next_failures(former, is_counted=True) == {FAILURES: "1"}


def test_failures_are_handed_on() -> None:
    assert next_failures(None, is_counted=True) == {FAILURES: "0"}
    former = pod("a", annotations={FAILURES: "2", IGNORED: "1"})
    assert next_failures(former, is_counted=True) == {FAILURES: "3", IGNORED: "1"}
    assert next_failures(former, is_counted=False) == {FAILURES: "2", IGNORED: "2"}


def test_pods_without_a_place_are_surplus() -> None:
    pods = [
        pod("first", annotations={INDEX: "0"}),
        pod("second", annotations={INDEX: "0"}, ready=False),
        pod("beyond", annotations={INDEX: "9"}),
        pod("none"),
        pod("other", annotations={INDEX: "1"}),
    ]
    gone, left = surplus_of_indexes(pods, 2, at())
    assert {metadata.name(one) for one in gone} == {"second", "beyond", "none"}
    assert [metadata.name(one) for one in left] == ["first", "other"]


@pytest.mark.parametrize(
    ("annotations", "failures", "all_failures"),
    [
        ({}, 0, 0),
        ({FAILURES: "2"}, 2, 2),
        ({FAILURES: "2", IGNORED: "3"}, 2, 5),
        ({FAILURES: "x", IGNORED: "-1"}, 0, 0),
        ({FAILURES: "2147483647"}, 2147483647, 2147483647),
        ({FAILURES: "2147483648"}, 0, 0),
    ],
)
def test_failures_that_a_pod_tells(
    annotations: dict[str, str], failures: int, all_failures: int
) -> None:
    told = pod("a", annotations=annotations)
    assert (failures_of(told), all_failures_of(told)) == (failures, all_failures)
