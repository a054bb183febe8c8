"""Unions of selectors take whatever any of them takes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.selectors import label_selector
from celadon.webhook.webhook_rules import conjunction, union

KEYS = st.sampled_from(["a", "b"])
VALUES = st.sampled_from(["1", "2", "3"])
EXPRESSIONS = st.one_of(
    st.fixed_dictionaries(
        {
            "key": KEYS,
            "operator": st.sampled_from(["In", "NotIn"]),
            "values": st.lists(VALUES, min_size=1, max_size=3, unique=True),
        }
    ),
    st.fixed_dictionaries({"key": KEYS, "operator": st.sampled_from(["Exists", "DoesNotExist"])}),
)
SELECTORS = st.fixed_dictionaries(
    {},
    optional={
        "matchLabels": st.dictionaries(KEYS, VALUES, max_size=2),
        "matchExpressions": st.lists(EXPRESSIONS, max_size=3),
    },
)
LABELS = st.dictionaries(KEYS, VALUES, max_size=2)


def matches(selector: Any, labels: dict[str, str]) -> bool:
    return label_selector(selector).matches(labels)


@given(st.lists(SELECTORS, min_size=1, max_size=4), LABELS)
def test_a_union_takes_whatever_any_takes(selectors: list[Any], labels: dict[str, str]) -> None:
    if any(matches(one, labels) for one in selectors):
        assert matches(union(selectors), labels)


@given(SELECTORS, LABELS)
def test_of_one_key_a_union_takes_nothing_else(selector: Any, labels: dict[str, str]) -> None:
    assert matches(union([selector, selector]), labels) == matches(selector, labels)


@given(st.lists(SELECTORS, max_size=3), LABELS)
def test_a_conjunction_takes_what_all_take(selectors: list[Any], labels: dict[str, str]) -> None:
    assert matches(conjunction(selectors), labels) == all(matches(one, labels) for one in selectors)


def within(*values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "a", "operator": "In", "values": list(values)}]}


def outside(*values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": list(values)}]}


EXISTS = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
ABSENT = {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}
NEVER = {"matchLabels": {"a": "1"}, "matchExpressions": [*outside("1")["matchExpressions"]]}


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ([], {}),
        ([{"matchLabels": {"a": "1"}}], {"matchLabels": {"a": "1"}}),
        ([{"matchLabels": {"a": "1"}}, {"matchLabels": {"a": "2"}}], within("1", "2")),
        ([{"matchLabels": {"a": "1"}}, {"matchLabels": {"b": "1"}}], {}),
        ([outside("1", "2"), outside("2", "3")], outside("2")),
        ([outside("1", "2"), within("2", "3")], outside("1")),
        ([within("1"), EXISTS], EXISTS),
        ([within("1"), ABSENT], {}),
        ([EXISTS, ABSENT], {}),
        ([ABSENT, NEVER], ABSENT),
        ([NEVER, {**NEVER, "matchLabels": {"a": "1", "b": "1"}}], NEVER),
        ([within("1"), {}], {}),
    ],
)
def test_unions(selectors: list[Any], expected: Any) -> None:
    assert union(selectors) == expected
