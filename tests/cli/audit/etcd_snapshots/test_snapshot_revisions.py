"""What etcd keeps: of each key the newest revision, unless it is deleted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.cli.audit.etcd_snapshots import BoltError, Snapshot, Stored, read_snapshot
from tests.cli.audit.etcd_snapshots.snapshot_files import (
    database,
    key_value,
    revision,
    snapshot,
    with_hash,
    written,
)
from tests.examples import examples


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "snapshot.db"


def read(file: Path, data: bytes) -> Snapshot:
    file.write_bytes(data)
    return read_snapshot(str(file))


def test_the_newest_revision_counts(file: Path) -> None:
    values = [("b", b"1"), ("a", b"2"), ("b", b"3"), ("c", b"4"), ("a", None), ("d", None)]
    found = read(file, snapshot([*values, ("e", b"5"), ("e", None), ("e", b"6")]))
    assert found.keys == (b"b", b"c", b"e")
    assert found.stored(b"b") == Stored(b"3", 4)
    assert found.stored(b"e") == Stored(b"6", 10)


def test_several_in_one_transaction_and_large_ones(file: Path) -> None:
    large = b"x" * 100_000
    pairs = [
        (revision(2, 0), key_value(b"a", b"1", 2)),
        (revision(2, 1), key_value(b"b", large, 2, lease=2**62)),
        (revision(300, 0), key_value(b"c", b"", 300)),
    ]
    found = read(file, with_hash(database(pairs)))
    assert found.stored(b"b") == Stored(large, 2)
    assert found.stored(b"c") == Stored(b"", 300)


def test_the_database_of_a_member_has_no_hash(file: Path) -> None:
    assert read(file, database(written([("a", b"1")]))).keys == (b"a",)


@settings(max_examples=examples(40))
@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.none() | st.binary(max_size=9))))
def test_as_a_dictionary(
    tmp_path_factory: pytest.TempPathFactory, values: list[tuple[str, bytes | None]]
) -> None:
    found = read(tmp_path_factory.mktemp("s") / "s.db", snapshot(values))
    wanted: dict[str, tuple[bytes, int]] = {}
    for at, (key, value) in enumerate(values, 2):
        wanted.pop(key, None)
        if value is not None:
            wanted[key] = (value, at)
    assert [key.decode() for key in found.keys] == sorted(wanted)
    assert {key.decode(): found.stored(key) for key in found.keys} == wanted


ONE = key_value(b"a", b"1", 2)
GOOD = snapshot([("a", b"1"), ("b", b"2")])
WRONG = {
    "empty": (b"", "it is empty"),
    "a byte changed": (GOOD[:5000] + b"\1" + GOOD[5001:], "its checksum is another one"),
    "cut off": (GOOD[:-512], "its checksum is another one"),
    "no hash and cut off": (GOOD[:2048], "it is incomplete"),
    "text": (b"apiVersion: v1\n", "it is no database of etcd"),
    "no revision": (with_hash(database([(b"a", b"")])), "not in their order"),
    "wrong order": (
        with_hash(database([(revision(3), ONE), (revision(2), ONE)])),
        "not in their order",
    ),
    "a message cut off": (
        with_hash(database([(revision(2), key_value(b"a", b"1", 2)[:-1])])),
        "a revision is cut off",
    ),
    "a number cut off": (
        with_hash(database([(revision(2), ONE + b"\x08\xff")])),
        "a revision is cut off",
    ),
    "an endless number": (
        with_hash(database([(revision(2), ONE + b"\x08" + b"\xff" * 20)])),
        "a revision is cut off",
    ),
    "no field": (with_hash(database([(revision(2), ONE + b"\x07")])), "a revision is damaged"),
    "no key": (with_hash(database([(revision(2), ONE[3:])])), "a revision has no key"),
    "half a key": (with_hash(database([(revision(2), ONE[:2])])), "a revision has no key"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name: str, file: Path) -> None:
    data, why = WRONG[name]
    with pytest.raises(BoltError) as caught:
        read(file, data).stored(b"a")
    assert why in str(caught.value)


def test_fields_that_nobody_knows_are_passed_over(file: Path) -> None:
    unknown = b"\x49" + bytes(8) + b"\x55" + bytes(4) + b"\x58\x01"
    pairs = [(revision(2), key_value(b"a", b"1", 2) + unknown)]
    assert read(file, with_hash(database(pairs))).stored(b"a") == Stored(b"1", 2)
