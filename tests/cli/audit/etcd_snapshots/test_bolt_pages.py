"""Files of bbolt: everything is found, and nothing that is damaged does harm."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.cli.audit.etcd_snapshots import BoltError, bolt_file, is_bolt
from tests.cli.audit.etcd_snapshots.snapshot_files import Pages, database
from tests.examples import examples

PAIRS = [(b"%03d" % i, b"v%d" % i * i) for i in range(40)]


def found(data: bytes) -> list[tuple[bytes, bytes]]:
    items = bolt_file(data, len(data)).bucket(b"key")
    return [(one.key, data[one.start : one.start + one.size]) for one in items]


@given(
    st.dictionaries(st.binary(min_size=1, max_size=20), st.binary(max_size=3000), max_size=30),
    st.sampled_from([1024, 4096]),
    st.integers(2, 5),
)
@settings(max_examples=examples(50))
def test_all_is_found_in_its_order(values: dict[bytes, bytes], page_size: int, fanout: int) -> None:
    pairs = sorted(values.items())
    assert found(database(pairs, page_size, fanout)) == pairs
    assert found(database(pairs, page_size, fanout, inline=True)) == pairs


def test_the_newer_meta_counts_and_one_may_be_damaged() -> None:
    data = database(PAIRS)
    assert is_bolt(data)
    assert found(data) == PAIRS
    swapped = data[1024:2048] + data[:1024] + data[2048:]
    assert found(swapped) == PAIRS
    torn = bytes(1024) + data[:1024] + data[2048:]
    assert not is_bolt(torn)
    assert found(torn) == PAIRS, "the first is gone"


def patched(data: bytes, at: int, form: str, *values: int) -> bytes:
    made = bytearray(data)
    struct.pack_into(form, made, at, *values)
    return bytes(made)


def ring() -> bytes:
    """A branch that leads to itself."""
    pages = Pages()
    root = len(pages.made)
    content = struct.pack("<IIQ", 16, 0, root)
    assert pages.add(1, 1, content) == root
    return pages.database(root)


def twice() -> bytes:
    """A branch that leads to the same leaf twice."""
    pages = Pages()
    leaf = pages.tree([(b"a", b"")])
    return pages.database(pages.add(1, 2, struct.pack("<IIQIIQ", 32, 0, leaf, 16, 0, leaf)))


def of_depth(depth: int) -> bytes:
    pages = Pages()
    page = pages.tree([(b"a", b"")])
    for _ in range(depth):
        page = pages.add(1, 1, struct.pack("<IIQ", 16, 0, page))
    return pages.database(page)


def overlapping() -> bytes:
    """A page of three keys with the same large value."""
    pages = Pages()
    elements = (struct.pack("<IIII", 0, 16 * (3 - i), 0, 2000) for i in range(3))
    bucket = struct.pack("<QQ", pages.add(2, 3, b"".join(elements) + bytes(2000)), 0)
    return pages.database(pages.tree([(b"key", bucket)], 1))


DATA = database(PAIRS[:3])
LEAF = 3 * 1024
DAMAGED = {
    "nothing": (b"", "it is no database of etcd"),
    "another file": (b"SQLite format 3\0" * 300, "it is no database of etcd"),
    "no meta is whole": (
        patched(patched(DATA, 50, "<B", 1), 1024 + 50, "<B", 1),
        "it is no database of etcd",
    ),
    "cut off": (DATA[:-1024], "it is incomplete: 4096 bytes of 5120"),
    "no bucket": (of_depth(1), "it has no bucket `key`"),
    "a page says that it is another": (
        patched(DATA, LEAF, "<Q", 9),
        "page 3 says that it is page 9",
    ),
    "a page of another kind": (
        patched(DATA, LEAF + 8, "<H", 16),
        "a page in a tree is neither branch nor leaf",
    ),
    "too many elements": (
        patched(DATA, LEAF + 10, "<H", 999),
        "a page has more elements than fit into it",
    ),
    "too long": (patched(DATA, LEAF + 12, "<I", 999), "page 3 goes on behind the end"),
    "a value behind the end": (
        patched(DATA, LEAF + 28, "<I", 2000),
        "a value goes on behind the end of its page",
    ),
    "a key behind the end": (
        patched(DATA, LEAF + 20, "<I", 2**32 - 1),
        "a value goes on behind the end of its page",
    ),
    "values overlap": (overlapping(), "values of a page overlap"),
    "a ring": (ring(), "page 3 is in a tree twice"),
    "a page twice": (twice(), "page 3 is in a tree twice"),
    "too deep": (of_depth(70), "its pages are nested too deep"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_damaged_is_said(name: str) -> None:
    data, why = DAMAGED[name]
    with pytest.raises(BoltError) as caught:
        found(data)
    assert str(caught.value) == why


def test_deep_trees_are_read() -> None:
    with pytest.raises(BoltError) as caught:
        found(of_depth(60))
    assert "no bucket" in str(caught.value)


@given(st.lists(st.tuples(st.integers(0, len(DATA) - 1), st.integers(0, 255)), max_size=8))
@settings(max_examples=examples(200))
def test_any_damage_is_found_or_without_harm(changes: list[tuple[int, int]]) -> None:
    data = bytearray(DATA)
    for at, byte in changes:
        data[at] = byte
    with suppress(BoltError):
        assert len(found(bytes(data))) <= len(DATA)


@given(st.binary(max_size=4000))
def test_any_bytes(data: bytes) -> None:
    with pytest.raises(BoltError):
        found(data)
