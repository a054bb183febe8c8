"""Objects of snapshots as pieces; what is none of them is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.audit.audit_blocks import ReadObject
from celadon.cli.audit.etcd_snapshots import SnapshotObjects, snapshot_objects
from celadon.cli.reading import Problem
from celadon.cli.reading.documents import Document, DocumentReader
from tests.cli.audit.etcd_snapshots.snapshot_files import database, revision, snapshot, with_hash
from tests.cli.audit.etcd_snapshots.stored_objects import AES, KMS, OBJECTS, shown, stored

STORED: dict[str, bytes | None] = {key: stored(one) for key, one in OBJECTS.items()}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def objects_of(values: dict[str, bytes | None], prefix: str = "/registry") -> SnapshotObjects:
    Path("s.db").write_bytes(snapshot(values.items()))
    found = snapshot_objects("s.db", prefix)
    assert isinstance(found, SnapshotObjects)
    return found


def notices(values: dict[str, bytes | None]) -> list[str]:
    return [one.message for one in objects_of(values).notices]


def test_all_objects_in_the_order_of_their_keys() -> None:
    found = objects_of(dict(reversed(STORED.items())))
    reader = DocumentReader()
    revisions = {key: at for at, key in enumerate(reversed(STORED), 2)}
    seen = []
    for block in found.blocks(0):
        for piece in block.pieces():
            (one,) = piece.objects(reader)
            assert isinstance(one, ReadObject)
            (document,) = piece.documents(reader)
            assert isinstance(document, Document)
            assert document.value == one.value
            seen.append((one.place.file, one.place.line, one.value))
    assert seen == [(f"s.db!{key}", 0, shown(one, revisions[key])) for key, one in OBJECTS.items()]
    assert found.notices == ()


def test_what_a_block_mentions() -> None:
    (block,) = objects_of(STORED).blocks(100)
    assert block.mentions([b"Widget"])
    assert block.mentions([b"Nothing", b"Deployment"])
    assert not block.mentions([b"ReplicaSet"])
    assert block.read_bytes == 100 + objects_of(STORED).size


def test_many_keys_are_cut_into_blocks() -> None:
    pod = stored(OBJECTS["/registry/pods/shop/p"])
    found = objects_of({f"/registry/pods/shop/p{i:04}": pod for i in range(600)})
    blocks = list(found.blocks(0))
    assert [len(one.keys) for one in blocks] == [250, 250, 100]
    assert sorted(one.read_bytes for one in blocks) == [one.read_bytes for one in blocks]
    assert blocks[-1].read_bytes == found.size


def test_what_servers_keep_for_themselves_is_no_object() -> None:
    own = {
        "compact_rev_key": b"2",
        "/registry/masterleases/10.0.0.1": STORED["/registry/pods/shop/p"],
        "/registry/ranges/serviceips": STORED["/registry/pods/shop/p"],
        "/registry/pods/shop/p": STORED["/registry/pods/shop/p"],
        "/other/pods/shop/p": STORED["/registry/pods/shop/p"],
    }
    found = objects_of(own)
    assert found.keys == (b"/registry/pods/shop/p",)
    assert found.notices == ()


def test_what_is_encrypted_is_counted() -> None:
    sealed = {
        "/registry/secrets/shop/a": AES,
        "/registry/secrets/shop/b": AES,
        "/registry/secrets/shop/c": KMS,
        "/registry/example.com/widgets/shop/w": KMS,
        "/registry/secrets/shop/d": STORED["/registry/secrets/shop/s"],
    }
    assert objects_of(sealed).keys == (b"/registry/secrets/shop/d",)
    assert notices(sealed) == [
        "1 value is encrypted (kms) under `/registry/example.com/widgets`, and not audited",
        "2 values are encrypted (aescbc) under `/registry/secrets`, and not audited",
        "1 value is encrypted (kms) under `/registry/secrets`, and not audited",
    ]


def test_what_is_no_object_is_counted() -> None:
    assert notices({"/registry/health": b"ok", "/registry/x/y": b""}) == [
        "2 values are no object and not audited: first `/registry/health`"
    ]


def test_an_object_that_cannot_be_read_is_a_problem() -> None:
    found = objects_of({"/registry/pods/shop/p": b"k8s\0\xff"})
    (piece,) = (piece for block in found.blocks(0) for piece in block.pieces())
    assert piece.head() is None
    for made in (*piece.objects(DocumentReader()), *piece.documents(DocumentReader())):
        assert isinstance(made, Problem)
        assert made.file == "s.db!/registry/pods/shop/p"
        assert made.message.startswith("cannot be read: ")


def test_other_prefixes() -> None:
    value = STORED["/registry/pods/shop/p"]
    elsewhere = {f"/{one}/pods/shop/p": value for one in ("a", "b", "c", "kubernetes.io")}
    assert objects_of(elsewhere, "/kubernetes.io").keys == (b"/kubernetes.io/pods/shop/p",)
    assert objects_of(elsewhere, "/kubernetes.io/").keys == (b"/kubernetes.io/pods/shop/p",)
    found = snapshot_objects("s.db")
    assert isinstance(found, Problem)
    assert found.text() == (
        "s.db: no key begins with `/registry/` "
        "(name another prefix with `--etcd-prefix`: there are `/a`, `/b`, `/c`, ...)"
    )
    assert objects_of({}).keys == ()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "s.db: cannot be read: no such file or directory"),
        (b"", "s.db: cannot be read as a snapshot of etcd: it is empty"),
        (
            with_hash(database([(revision(2), b"\x0a\x0b/registry/a\x07")])),
            "s.db: cannot be read as a snapshot of etcd: a revision is damaged",
        ),
        (b"text", "s.db: cannot be read as a snapshot of etcd: it is no database of etcd"),
    ],
)
def test_files_that_are_none(content: bytes | None, why: str) -> None:
    if content is not None:
        Path("s.db").write_bytes(content)
    found = snapshot_objects("s.db")
    assert isinstance(found, Problem)
    assert found.text() == why
