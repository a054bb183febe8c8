"""Files are written together or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.commands.init import FILES, write_project
from celadon.cli.exit_codes import WrongUseError


def test_it_is_written(tmp_path: Path) -> None:
    write_project(tmp_path / "new" / "one")
    for name, text in FILES.items():
        assert (tmp_path / "new" / "one" / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_overwritten(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).symlink_to("nowhere")
    with pytest.raises(WrongUseError, match=r"is there already: nothing was written"):
        write_project(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WrongUseError, match=r"cannot be written: not a directory"):
        write_project(tmp_path / "file" / "below")
