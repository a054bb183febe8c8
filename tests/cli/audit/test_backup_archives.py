"""Backups: the objects of a tarball, and nothing else that a tarball may hold."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping

import pytest

from celadon.cli.audit import audit_inputs
from celadon.cli.audit.audit_blocks import AnyPiece, Piece
from celadon.cli.audit.audit_inputs import archive_blocks
from celadon.cli.reading import Problem
from tests.cli.audit.dumps import tarball, written

POD = json.dumps(written("Pod", "a")).encode()
GOOD = "resources/pods/namespaces/default/a.json"


def pieces(data: bytes) -> list[AnyPiece | Problem]:
    found: list[AnyPiece | Problem] = []
    for block in archive_blocks("b.tar", io.BytesIO(data), lambda: 0):
        found += [block] if isinstance(block, Problem) else block.pieces()
    return found


def texts(files: Mapping[str, bytes]) -> list[str]:
    return [
        one.text() if isinstance(one, Problem) else one.place.file for one in pieces(tarball(files))
    ]


def test_objects_once_each() -> None:
    files = {
        "metadata/version": b"1",
        GOOD: POD,
        "./resources/nodes/cluster/n.json": POD,
        "resources/pods/v1-preferredversion/namespaces/default/a.json": POD,
        "resources/deployments.apps/namespaces/shop/x.y.json": POD,
        "resources/pods/namespaces/default/a.txt": b"",
    }
    assert texts(files) == [
        f"b.tar!{GOOD}",
        "b.tar!resources/nodes/cluster/n.json",
        "b.tar!resources/deployments.apps/namespaces/shop/x.y.json",
    ]


def test_links_and_devices_are_passed_over() -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
            member = tarfile.TarInfo(GOOD)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        whole = tarfile.TarInfo(GOOD)
        whole.size = len(POD)
        archive.addfile(whole, io.BytesIO(POD))
    (one,) = pieces(made.getvalue())
    assert isinstance(one, Piece)
    assert one.text == POD


class Endless(io.RawIOBase):
    """A beginning, and then the same byte for ever; it counts what was read."""

    def __init__(self, begin: bytes, filler: bytes) -> None:
        self.begin, self.filler, self.count = begin, filler, 0

    def read(self, size: int = -1) -> bytes:
        found = self.begin[self.count : self.count + size]
        self.count += size
        assert self.count < 20 << 20, "it is read without end"
        return found + self.filler * (size - len(found))


def header(kind: bytes, size: int, name: str = "a") -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT)


def padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % 512)


def extended(sparse: bytes) -> bytes:
    """A header whose map goes on behind it."""
    changed = bytearray(sparse)
    changed[482] = 1
    changed[148:156] = b" " * 8
    changed[148:156] = b"%06o\0 " % sum(changed)
    return bytes(changed)


SPARSE = b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n26 GNU.sparse.realsize=10\n"
ENDLESS = {
    "a name": (header(tarfile.GNUTYPE_LONGNAME, 4 << 30), b"a"),
    "attributes": (header(tarfile.XHDTYPE, 4 << 30), b"a"),
    "attributes of all": (header(tarfile.XGLTYPE, 4 << 30), b"a"),
    "a map of holes": (
        header(tarfile.XHDTYPE, len(SPARSE)) + padded(SPARSE) + header(tarfile.REGTYPE, 4 << 30),
        b"1",
    ),
    "an old map of holes": (
        extended(header(tarfile.GNUTYPE_SPARSE, 9)),
        b"1",
    ),
}


@pytest.mark.parametrize(("begin", "filler"), ENDLESS.values(), ids=ENDLESS)
def test_headers_without_end(begin: bytes, filler: bytes) -> None:
    stream = Endless(header(tarfile.REGTYPE, 0, GOOD) + begin, filler)
    found = [*archive_blocks("b.tar", stream, lambda: 0)]  # type: ignore[arg-type]
    problems = [one for block in found for one in block.pieces() if isinstance(one, Problem)]  # type: ignore[union-attr]
    assert any("cannot be read as a backup" in one.text() for one in problems)


def test_headers_within_headers() -> None:
    nested = b"".join(header(tarfile.XHDTYPE, 6) + padded(b"6 a=b\n") for _ in range(5_000))
    (found,) = pieces(nested)
    assert "cannot be read as a backup" in found.text()  # type: ignore[operator]


def test_no_backup() -> None:
    assert texts({"a/b.json": POD}) == [
        "b.tar: no backup: it has no `resources/RESOURCE/...` with JSON files"
    ]


@pytest.mark.parametrize(
    "data", [tarball({GOOD: POD})[:700], b"\0" * 100, b"resources" * 100], ids=repr
)
def test_broken_archives_are_said_to_be(data: bytes) -> None:
    problems = [one for one in pieces(data) if isinstance(one, Problem)]
    assert len(problems) == 1
    assert "backup" in problems[0].text()


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_inputs, "MAX_DOCUMENT_CHARACTERS", 1 << 20)
    assert texts({GOOD: b" " * ((1 << 20) + 1)}) == [f"b.tar!{GOOD}: larger than 1 MiB"]
    monkeypatch.setattr(audit_inputs, "MAX_MEMBERS", 2)
    files = {f"resources/pods/cluster/{n}.json": POD for n in range(3)}
    assert texts(files)[2:] == ["b.tar: more than 2 files"]


def test_a_member_that_claims_more_than_there_is() -> None:
    member = tarfile.TarInfo(GOOD)
    member.size = 1 << 20
    data = member.tobuf() + POD
    assert any(isinstance(one, Problem) for one in pieces(data))


@pytest.mark.parametrize("size", [10**10, 10**15])
def test_nothing_is_skipped_for_hours_behind_the_end(size: int) -> None:
    member = tarfile.TarInfo("resources/huge.json")
    member.pax_headers = {"size": str(size)}
    header = member.tobuf(tarfile.PAX_FORMAT)
    (problem,) = pieces(header)
    assert isinstance(problem, Problem)
    assert problem.text() == "b.tar: cannot be read as a backup: it ends in the middle of a file"
