"""The map (docs/architecture.md) leads to modules and folders that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.offenders import hold
from tests.paths import ROOT

SOURCE = ROOT / "src" / "celadon"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_paths_exist() -> None:
    """Whatever looks like a path is one, in the repository or below `src/celadon`."""
    text = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
    paths = set(re.findall(r"`([a-z0-9_./]+/[a-z0-9_./]+)`", text)) - {"src/celadon"}
    assert len(paths) > 80
    hold("the map leads somewhere", (path for path in paths if not _exists(path)))


@pytest.mark.parametrize("room", ["cel", "kube", "admission", "storage", "apiserver", "webhook"])
def test_cells_name_modules_of_the_room(room: str) -> None:
    """Each name in the first column of a room's table is a folder or a module of the room, and
    every folder of the room that has modules stands there."""
    cells = _first_cells(room)
    hold("cells name modules", (name for name in cells if not _is_module(SOURCE / room / name)))
    folders = {path.parent.name for path in (SOURCE / room).glob("*/__init__.py")}
    hold("the map has every folder", folders - cells)


def _exists(path: str) -> bool:
    return (ROOT / path).exists() or (SOURCE / path).exists()


def _is_module(path: Path) -> bool:
    return path.is_dir() or path.with_suffix(".py").is_file()


def _first_cells(room: str) -> set[str]:
    table = re.search(rf"^\| in `{room}` .*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert table is not None
    rows = [row.split(" | ") for row in table[1].splitlines()[1:]]
    names = {name for row in rows for name in re.findall(r"`([a-z0-9_]+)`", row[0])}
    modules = [row[1] for row in rows if row[0].startswith("| modules of the room")]
    named = {name for cell in modules for name in re.findall(r"`([a-z0-9_]+)`", cell)}
    return names | named
