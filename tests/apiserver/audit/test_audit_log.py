"""The file of events, and what becomes of it when it is full."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from celadon.apiserver.audit import MEGABYTE, METADATA_FOR_ALL, AuditLog, Rotation

LARGE = {"x": "x" * (MEGABYTE * 2 // 3)}
NOW = datetime(2026, 1, 31, 8, 15, 0, 123456, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(hours=1)
        return self.now


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def written(folder: Path, rotation: Rotation, times: int) -> list[str]:
    with AuditLog(folder / "audit.log", METADATA_FOR_ALL, rotation, Clock()) as log:
        for _ in range(times):
            log.write(LARGE)
    return names(folder)


def test_a_line_for_each_event_after_those_of_before(tmp_path: Path) -> None:
    for number in range(2):
        with AuditLog(tmp_path / "log", METADATA_FOR_ALL) as log:
            log.write({"n": number, "text": "ü\n"})
    lines = (tmp_path / "log").read_text().splitlines()
    assert [json.loads(line)["n"] for line in lines] == [0, 1]
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_full_is_put_aside(tmp_path: Path) -> None:
    assert written(tmp_path, Rotation(megabytes=1), 3) == [
        "audit-2026-01-31T09-15-00.123.log",
        "audit-2026-01-31T10-15-00.123.log",
        "audit.log",
    ]
    for one in tmp_path.iterdir():
        assert json.loads(one.read_text()) == LARGE


def test_what_is_left_of_before_counts(tmp_path: Path) -> None:
    assert written(tmp_path, Rotation(megabytes=1), 1) == ["audit.log"]
    assert len(written(tmp_path, Rotation(megabytes=1), 1)) == 2


def test_only_so_many_are_kept(tmp_path: Path) -> None:
    (tmp_path / "audit-other.log").write_text("not ours")
    kept = written(tmp_path, Rotation(megabytes=1, backups=2), 6)
    assert kept == [
        "audit-2026-01-31T12-15-00.123.log",
        "audit-2026-01-31T13-15-00.123.log",
        "audit-other.log",
        "audit.log",
    ]


def test_only_for_so_long(tmp_path: Path) -> None:
    for day in (29, 30, 31):
        (tmp_path / f"audit-2026-01-{day}T09-14-59.000.log").write_text("{}")
    (tmp_path / "audit-2026-13-99T09-00-00.000.log").write_text("no time")
    assert written(tmp_path, Rotation(megabytes=1, days=1), 2) == [
        "audit-2026-01-31T09-14-59.000.log",
        "audit-2026-01-31T09-15-00.123.log",
        "audit-2026-13-99T09-00-00.000.log",
        "audit.log",
    ]


def test_one_megabyte_is_not_the_default(tmp_path: Path) -> None:
    assert Rotation().bytes == 100 * MEGABYTE
    assert written(tmp_path, Rotation(), 3) == ["audit.log"]


def test_a_place_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        AuditLog(tmp_path / "nowhere" / "log", METADATA_FOR_ALL)


def test_files_that_were_put_aside_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[int] = []
    close = os.close

    def noted(file: int) -> None:
        closed.append(file)
        close(file)

    monkeypatch.setattr(os, "close", noted)
    with AuditLog(tmp_path / "log", METADATA_FOR_ALL, Rotation(megabytes=1), Clock()) as log:
        for _ in range(3):
            log.write(LARGE)
        assert len(closed) == 2
    assert len(closed) == 3
