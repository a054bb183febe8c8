"""Objects that are remembered by weight."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from celadon.apiserver.object_store import ObjectMemory, weight


@pytest.mark.parametrize(
    "text",
    [
        b"[" + b",".join([b"[]"] * 10_000) + b"]",
        b"[" + b",".join([b"{}"] * 10_000) + b"]",
        b"[" + b",".join(b'"%d"' % n for n in range(10_000)) + b"]",
        b"{" + b",".join(b'"%d":""' % n for n in range(10_000)) + b"}",
        b"[" + b",".join([b'{"a":{"b":1000}}'] * 10_000) + b"]",
        b"[" * 900 + b"]" * 900,
    ],
)
def test_an_object_is_not_heavier_than_it_is_said_to_be(text: bytes) -> None:
    tracemalloc.start()
    try:
        made = json.loads(text)
        assert tracemalloc.get_traced_memory()[0] < weight(text)
    finally:
        tracemalloc.stop()
    assert made


def test_what_is_too_heavy_together_is_forgotten() -> None:
    memory = ObjectMemory[str, int](10)
    memory.keep("a", 1, 4)
    memory.keep("b", 2, 4)
    memory.keep("b", 3, 6)  # in the place of the other
    assert (memory.get("a"), memory.get("b"), memory.weight_of("b")) == (1, 3, 6)
    memory.keep("c", 4, 1)  # the oldest makes room
    assert (memory.get("a"), memory.get("b"), memory.get("c")) == (None, 3, 4)
    memory.keep("d", 5, 11)  # nobody makes room for what is too heavy by itself
    assert (memory.get("b"), memory.get("c"), memory.get("d")) == (3, 4, None)
    memory.keep("c", 4, 11)
    assert (memory.get("b"), memory.get("c"), memory.weight_of("c")) == (3, None, 0)
    memory.keep("e", 6, 10)
    assert (memory.get("b"), memory.get("e")) == (None, 6)
