"""Large JSON that is read in pieces is the same JSON, and no piece is large."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.apiserver import http_messages
from celadon.apiserver.http_messages import PIECE, NotInPieces, read_in_pieces

TEXTS = st.text(st.sampled_from('ab\\"[]{},:é\x00'), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda parts: st.lists(parts) | st.dictionaries(TEXTS, parts),
    max_leaves=40,
)


def written(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


@given(VALUES.filter(lambda value: isinstance(value, dict | list)), st.integers(0, 30))
def test_it_is_what_it_was(value: Any, piece: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(http_messages, "PIECE", piece)
        found = read_in_pieces(written(value), json.loads)
    assert found == value
    assert written(found) == written(value), "members keep their order"


@given(VALUES, st.data())
def test_what_is_no_json_is_not_read(value: Any, data: st.DataObject) -> None:
    """A byte is left out, doubled or replaced."""
    text = bytearray(written(value))
    at = data.draw(st.integers(0, len(text) - 1))
    text[at : at + 1] = data.draw(st.sampled_from([b"", b",", b"[", b"}", b'"', b",,", b"\\"]))
    try:
        wanted = json.loads(bytes(text))
    except ValueError:
        wanted = NotInPieces
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(http_messages, "PIECE", data.draw(st.integers(0, 5)))
        try:
            found = read_in_pieces(bytes(text), json.loads)
        except (NotInPieces, ValueError):
            return
    assert found == wanted


@pytest.mark.thorough
@pytest.mark.parametrize(
    "value",
    [
        {f"label-{number}": "" for number in range(40_000)},
        {"properties": {f"p{number}": {"type": "string"} for number in range(20_000)}},
        {"a": [{"b": {"c": [[number, {"d": "e"}] for number in range(30_000)]}}, 1], "f": {}},
        [[] for _ in range(200_000)],
    ],
    ids=["a wide map", "properties", "what is nested", "a list of nothing"],
)
def test_no_piece_is_large(value: Any) -> None:
    sizes = []

    def read(text: bytes) -> Any:
        sizes.append(len(text))
        return json.loads(text)

    assert read_in_pieces(written(value), read) == value
    assert max(sizes) < 128 << 10
    assert sum(sizes) < 2 * len(written(value))


def test_depth_is_no_matter() -> None:
    text = b"[" * 5_000 + b'"' + b"a" * PIECE + b'"' + b"]" * 5_000
    found = read_in_pieces(text, json.loads)
    for _ in range(5_000):
        (found,) = found
    assert found == "a" * PIECE
