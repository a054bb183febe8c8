"""Whether files have changed."""

from __future__ import annotations

from pathlib import Path

from celadon.cli.reading.documents import signatures


def test_changes_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1")
    paths = [str(tmp_path)]
    before = signatures(paths)
    assert signatures(paths) == before
    (tmp_path / "notes.txt").write_text("of no concern")
    assert signatures(paths) == before
    (tmp_path / "b.yaml").write_text("b: 1")
    added = signatures(paths)
    assert added != before
    (tmp_path / "a.yaml").write_text("a: 12")
    assert signatures(paths) != added
    (tmp_path / "b.yaml").unlink()
    (tmp_path / "a.yaml").unlink()
    assert signatures(paths) != added, "an empty folder is something else as well"


def test_a_mounted_config_map_is_switched_by_a_link(tmp_path: Path) -> None:
    for version in ("one", "two"):
        (tmp_path / f"..{version}").mkdir()
        (tmp_path / f"..{version}" / "p.yaml").write_text("a: 1")
    data = tmp_path / "..data"
    data.symlink_to("..one")
    (tmp_path / "p.yaml").symlink_to("..data/p.yaml")
    before = signatures([str(tmp_path)])
    fresh = tmp_path / "..fresh"
    fresh.symlink_to("..two")
    fresh.rename(data)
    assert signatures([str(tmp_path)]) != before
