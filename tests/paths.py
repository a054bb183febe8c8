"""Where the tests find material that lives beside the repository.

`CELADON_SHARED` names the folder; without it, `../shared` next to the checkout is used. Tests that
need it call `shared(...)`, which skips them with a clear line when it is absent.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent


def shared_folder() -> Path:
    """The folder, whether it exists or not."""
    return Path(os.environ.get("CELADON_SHARED") or ROOT.parent / "shared")


def shared(*parts: str) -> Path:
    """A path below the shared folder; skips the calling test when it is not there."""
    path = shared_folder().joinpath(*parts)
    if not path.exists():
        pytest.skip(_absent(parts))
    return path


def recordings(folder: str) -> list[Any]:
    """The files of a folder of recordings as parameters of a test; a test of an absent folder is
    one skipped test that says so."""
    path = shared_folder() / "conformance" / folder
    if not path.exists():
        reason = _absent(("conformance", folder))
        return [pytest.param(path, id="absent", marks=pytest.mark.skip(reason=reason))]
    return [pytest.param(file, id=file.name) for file in sorted(path.glob("*.json"))]


def _absent(parts: tuple[str, ...]) -> str:
    return f"{'/'.join(parts)} not found: set CELADON_SHARED to the shared folder"
