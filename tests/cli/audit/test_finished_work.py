"""Results that are kept in a folder."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest

from celadon import __version__
from celadon.cli.audit.audit_report import Findings, Tally
from celadon.cli.audit.fleet_parts import DamagedResultError, KeptResults, key_of
from celadon.cli.reading.documents import BLOCK, Document, DocumentArchive
from celadon.cli.reading.locations import Chunk

FINDINGS = Findings(objects=3, total=Tally(matched=2), covered_outcomes={(1, "a", "b")})


def kept(folder: Path, result: Findings = FINDINGS) -> KeptResults:
    results = KeptResults(str(folder))
    results.keep("k", result)
    return results


def test_what_is_kept_is_found(tmp_path: Path) -> None:
    kept(tmp_path / "new")
    again = KeptResults(str(tmp_path / "new"))
    assert again.found(Findings, "k") == FINDINGS
    assert again.found(Findings, "other") is None


def test_what_is_forgotten_is_gone(tmp_path: Path) -> None:
    results = kept(tmp_path)
    for _ in range(2):
        results.forget("k")
    assert results.found(Findings, "k") is None


def test_another_version_of_celadon_finds_nothing_and_writes_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("celadon.cli.audit.fleet_parts.__version__", "0.0.1")
        results = kept(tmp_path, Findings(objects=1))
    assert results.found(Findings, "k") is None
    assert kept(tmp_path).found(Findings, "k") == FINDINGS


class Evil:
    """Does something when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("echo evil > evil",)


def evil_archive() -> bytes:
    """A set of an archive whose packed documents are pickled, as a reader that makes nothing but
    objects of ours let pass."""
    archive = DocumentArchive()
    for _ in range(BLOCK + 1):
        chunk = Chunk("f", "", 1, 0, is_json=True)
        archive.append(Document(chunk, (), {"apiVersion": "v1", "kind": "A"}))
    archive._packed[0] = pickle.dumps(Evil())
    return pickle.dumps((set, archive))


def result(found: object, version: str = __version__) -> bytes:
    return json.dumps({"celadonVersion": version, "result": found}).encode()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(b"", "Expecting value", id="empty"),
        pytest.param(b"junk", "Expecting value", id="junk"),
        pytest.param(b"\xff", "can't decode byte 0xff", id="no ASCII"),
        pytest.param(pickle.dumps(Evil()), "can't decode byte", id="pickled"),
        pytest.param(pickle.dumps(Evil(), 0), "Expecting value", id="pickled as text"),
        pytest.param(evil_archive(), "can't decode byte", id="pickled, of ours"),
        pytest.param(b"[" * 100_000, "nested too deeply", id="nested"),
        pytest.param(b"9" * 10_000, "Exceeds the limit", id="a long number"),
        pytest.param(b"{}", "expected an object with celadonVersion", id="no version"),
        pytest.param(result({}), "not the fields of Findings", id="no fields"),
        pytest.param(result([]), "expected an object", id="no object"),
    ],
)
def test_damaged_and_hostile_files_are_said(
    tmp_path: Path, data: bytes, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "k.json"
    path.write_bytes(data)
    with pytest.raises(DamagedResultError) as raised:
        KeptResults(str(tmp_path)).found(Findings, "k")
    assert str(raised.value).startswith(f"`{path}` is no result of an audit (")
    assert why in str(raised.value)
    assert not (tmp_path / "evil").exists()


def test_keys() -> None:
    assert key_of("a", 1) == key_of("a", 1)
    assert key_of("a", 1) != key_of("a1")
