"""Where the tests find material that lives beside the repository.

`CELADON_SHARED` names the folder; without it, `../shared` next to the checkout is used. Tests that
need it call `shared(...)`, which skips them with a clear line when it is absent.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def shared_folder() -> Path:
    """The folder, whether it exists or not."""
    return Path(os.environ.get("CELADON_SHARED") or ROOT.parent / "shared")


def shared(*parts: str) -> Path:
    """A path below the shared folder; skips the calling test when it is not there."""
    path = shared_folder().joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{'/'.join(parts)} not found: set CELADON_SHARED to the shared folder")
    return path
