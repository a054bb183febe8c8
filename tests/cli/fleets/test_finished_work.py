"""Results that are kept in a folder."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from celadon.cli.auditing.audit_findings import Findings, Tally
from celadon.cli.fleets.finished_work import KeptResults, key_of


def test_what_is_kept_is_found(tmp_path: Path) -> None:
    result = Findings(objects=3, total=Tally(matched=2), met={(1, "a", "b")})
    KeptResults(str(tmp_path / "new")).keep("k", result)
    again = KeptResults(str(tmp_path / "new"))
    assert again.found("k") == result
    assert again.found("other") is None


class Evil:
    """Does something when it is read."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("echo evil > evil",)


@pytest.mark.parametrize("data", [b"", b"junk", pickle.dumps(Evil()), pickle.dumps(Findings())[:9]])
def test_damaged_and_hostile_files_are_not_there(
    tmp_path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.result").write_bytes(data)
    assert KeptResults(str(tmp_path)).found("k") is None
    assert not (tmp_path / "evil").exists()


def test_names_of_ours_lead_nowhere_else(tmp_path: Path) -> None:
    """`celadon.cli.output` imports `os`: that makes it no way to `os.system`."""
    data = b"\x80\x04\x8c\x12celadon.cli.output\x8c\x09os.system\x93\x8c\x04true\x85R."
    (tmp_path / "k.result").write_bytes(data)
    assert KeptResults(str(tmp_path)).found("k") is None


def test_keys() -> None:
    assert key_of("a", 1) == key_of("a", 1)
    assert key_of("a", 1) != key_of("a1")
