"""The recorded policy scenarios: each that can be expressed in process must agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.paths import shared_folder
from tests.recorded.policy import replay

FOLDER = shared_folder() / "conformance" / "policy"


@pytest.mark.skipif(not FOLDER.exists(), reason="conformance/policy not found")
@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.json")), ids=lambda file: file.stem)
def test_scenario(file: Path) -> None:
    result = replay(json.loads(file.read_text()), file.stem)
    if result.unsupported:
        pytest.skip(result.unsupported)
    assert not result.wrong, "\n".join(result.wrong)
