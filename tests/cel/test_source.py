from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.errors import Source


@pytest.mark.parametrize(
    ("text", "offset", "location"),
    [
        ("abc", 0, (1, 0)),
        ("abc", 3, (1, 3)),
        ("a\nbc", 1, (1, 1)),
        ("a\nbc", 2, (2, 0)),
        ("a\n", 2, (2, 0)),
        ("a\r\nb", 3, (2, 0)),
        ("日本\n語x", 4, (2, 1)),
        ("", 0, (1, -1)),
    ],
)
def test_locations(text: str, offset: int, location: tuple[int, int]) -> None:
    assert Source(text).location(offset) == location


def test_lines() -> None:
    source = Source("one\ntwo\r\n\nfour")
    assert [source.line(n) for n in range(6)] == [None, "one", "two\r", "", "four", None]


def test_lone_surrogates_are_replaced() -> None:
    assert Source("'\ud800'").text == "'\ufffd'"


@given(st.text(alphabet="ab\n語"), st.data())
def test_a_location_leads_back_to_its_offset(text: str, data: st.DataObject) -> None:
    source = Source(f"{text}.")
    offset = data.draw(st.integers(0, len(source.text)))
    line, column = source.location(offset)
    assert sum(len(source.line(n) or "") + 1 for n in range(1, line)) + column == offset
