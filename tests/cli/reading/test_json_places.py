"""The index of a JSON document beside the decoder, and what it does not walk again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cli.reading import json_text
from celadon.cli.reading.json_text import JsonIndex, Path, Place, places

TEXT = '{"a": {"b": [1, {"c": 2}], "": 3}, "d": "{x", "e": {}, "f": [[], [4]]}'

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


def _paths(value: Any, above: Path = ()) -> list[tuple[Path, Any]]:
    steps: list[tuple[str | int, Any]] = []
    if isinstance(value, dict | list):
        steps = [*(value.items() if isinstance(value, dict) else enumerate(value))]
    below = [found for step, one in steps for found in _paths(one, (*above, step))]
    return [(above, value), *below]


@given(_JSON, st.randoms(use_true_random=False), st.booleans())
def test_every_value_is_found(value: Any, order: Any, indented: bool) -> None:
    text = " " + json.dumps(value, indent=1 if indented else None)
    index = JsonIndex(text, 1)
    paths = _paths(value)
    order.shuffle(paths)
    for path, wanted in paths:
        key, start, is_whole = index.offsets(path)
        assert is_whole
        assert json.JSONDecoder().raw_decode(text, start)[0] == wanted
        if path and isinstance(path[-1], str):
            assert json.JSONDecoder().raw_decode(text, key)[0] == path[-1]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (("a", "x"), '"a": {"b"'),
        (("a", "b", 2), '"b": ['),
        (("a", "b", 1, "c", "d"), '"c": 2'),
        (("d", "x"), '"d": "{x"'),
        (("e", 0), '"e": {}'),
        (("f", 0, 0), "[], [4]"),
        (("x", "y"), '{"a"'),
    ],
)
def test_of_what_is_not_there_the_longest_part(path: Path, found: str) -> None:
    key, _, is_whole = JsonIndex(TEXT, 0).offsets(path)
    assert not is_whole
    assert TEXT[key:].startswith(found)


def test_of_a_key_given_twice_the_last_one_counts() -> None:
    text = '{"a": {"b": {"c": 1}}, "a": {"b": 7, "d": 2}}'
    index = JsonIndex(text, 0)
    assert index.offsets(("a", "b", "c")) == (text.rindex('"b"'), text.index("7"), False)
    assert index.offsets(("a", "d"))[0] == text.index('"d"')


def test_items_of_a_list_do_not_walk_the_list_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({"spec": {"validations": [{"expression": str(i)} for i in range(500)]}})
    walked = 0

    def counted(*given: Any) -> Iterator[Place]:
        nonlocal walked
        for place in places(*given):
            walked += 1
            yield place

    monkeypatch.setattr(json_text, "places", counted)
    index = JsonIndex(text, 0)
    for i in range(500):
        assert index.offsets(("spec", "validations", i, "expression"))[2]
    assert walked < 3000
