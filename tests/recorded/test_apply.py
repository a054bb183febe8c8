"""The recorded applies, and what becomes of `managedFields`: each that can be expressed agrees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.paths import shared_folder
from tests.recorded.api import replay

FOLDER = shared_folder() / "conformance" / "apply"


@pytest.mark.skipif(not FOLDER.exists(), reason="conformance/apply not found")
@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.json")), ids=lambda file: file.stem)
def test_scenario(file: Path) -> None:
    result = replay(json.loads(file.read_text()), file.stem)
    assert not result.wrong, "\n".join(result.wrong)
    if not result.compared:
        pytest.skip("; ".join(result.left_out))
