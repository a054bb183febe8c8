"""Recorded scenarios of a real server, replayed in process.

`unreached.txt` beside this file names those that do not pass yet, under the reason. It is only
allowed to shrink: `python -m tests.serve.test_recorded` replays them and takes off what passes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import shared_folder
from tests.serve.replaying import replayed, replayed_together

FOLDERS = ("clients", "defaulting", "tables", "watch")
JOBS = 16
ALONE = frozenset({"defaulting"})
"""Scenarios that use the same namespaces get a server each."""

LIST = Path(__file__).with_name("unreached.txt")


def unreached() -> set[str]:
    lines = LIST.read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def recordings(folder: str) -> list[Path]:
    return sorted((shared_folder() / "conformance" / folder).glob("*.json"))


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def test_the_list_names_recordings() -> None:
    assert unreached() <= {name_of(path) for folder in FOLDERS for path in recordings(folder)}


@pytest.mark.parametrize("folder", FOLDERS)
def test_recorded_scenarios(folder: str) -> None:
    known = unreached()
    paths = [path for path in recordings(folder) if name_of(path) not in known]
    assert paths
    done = _alone(paths) if folder in ALONE else replayed_together(paths, JOBS)
    failed = {name_of(path): different[:3] for path, different in done if different}
    assert not failed


def _alone(paths: list[Path]) -> Iterator[tuple[Path, list[str]]]:
    return ((path, replayed(path)) for path in paths)


def main() -> int:
    known = unreached()
    paths = [path for folder in FOLDERS for path in recordings(folder) if name_of(path) in known]
    passed = {name_of(path) for path, different in replayed_together(paths, JOBS) if not different}
    kept = [line for line in LIST.read_text().splitlines(True) if line.strip() not in passed]
    LIST.write_text("".join(kept))
    sys.stdout.writelines(f"passes: {name}\n" for name in sorted(passed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
