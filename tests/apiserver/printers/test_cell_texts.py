"""Ages, lists cut short, and other parts of cells."""

from __future__ import annotations

import pytest

from celadon.apiserver.printers.cell_texts import (
    at,
    elapsed,
    first_three,
    labels_text,
    quantity_text,
    selector_text,
    since,
)


@pytest.mark.parametrize(
    ("timestamp", "text"),
    [
        ("", "<unknown>"),
        ("1970-01-01T00:00:10Z", "90s"),
        ("1970-01-01T00:00:10.500000Z", "89s"),
        ("1970-01-01T00:01:40.900000Z", "0s"),
        ("1970-01-01T00:02:00Z", "<invalid>"),
        ("0001-01-01T00:00:00Z", "<unknown>"),
        ("0001-01-01T00:00:01Z", "292y"),
        ("9999-01-01T00:00:00Z", "<invalid>"),
    ],
)
def test_since(timestamp: str, text: str) -> None:
    assert since(timestamp, 100.0) == text


def test_elapsed_is_cut() -> None:
    assert elapsed(59.9) == "59s"


def test_at_stops_where_nothing_is() -> None:
    assert at({"a": {"b": 1}}, "a", "b") == 1
    assert at({"a": None}, "a", "b") is None
    assert at({"a": [1]}, "a", "b") is None


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([], "<unset>"),
        (["a"], "a"),
        (["a", "b", "c"], "a,b,c"),
        (["a", "b", "c", "d", "e"], "a,b,c + 2 more..."),
    ],
)
def test_first_three(values: list[str], text: str) -> None:
    assert first_three(values, "<unset>") == text


def test_labels_and_selectors() -> None:
    assert labels_text({"b": "2", "a": "1"}) == "a=1,b=2"
    assert labels_text({"a": "1", "a-b": "2"}) == "a-b=2,a=1"
    assert labels_text(None) == "<none>"
    assert selector_text({"matchLabels": {"z": "1"}}) == "z=1"
    assert selector_text({}) == "<none>"
    assert selector_text(None) == "<none>"
    broken = {"matchExpressions": [{"key": "a", "operator": "Near"}]}
    assert selector_text(broken) == "<error>"


def test_quantities_are_canonical() -> None:
    assert quantity_text("1000m") == "1"
    assert quantity_text(None) == "0"
    assert quantity_text(2) == "2"
