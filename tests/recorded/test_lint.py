"""Lint over every recorded policy: no crash, and quick enough."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celadon.admission.lint import Settings, lint
from tests.paths import shared_folder

FOLDER = shared_folder() / "conformance" / "policy"
SETTINGS = Settings("1.36", ("1.30",))

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="conformance/policy not found")


def objects(file: Path) -> list[dict[str, Any]]:
    """The objects of a scenario."""
    scenario = json.loads(file.read_text())
    bodies = [*scenario["setup"], *(step.get("body") for step in scenario["steps"])]
    return [
        one
        for one in bodies
        if isinstance(one, dict)
        and isinstance(one.get("kind"), str)
        and isinstance(one.get("apiVersion"), str)
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.json")), ids=lambda file: file.stem)
def test_no_crash(file: Path) -> None:
    given = objects(file)
    for finding in lint(given, SETTINGS):
        assert 0 <= finding.spot.document < len(given)


@pytest.mark.thorough
def test_policies_of_all_recordings_together() -> None:
    """Names recur among them, and every one is looked at."""
    every = [one for file in sorted(FOLDER.glob("*.json")) for one in objects(file)]
    policies = [one for one in every if one["kind"] == "ValidatingAdmissionPolicy"]
    found = {finding.spot.document for finding in lint(policies, SETTINGS)}
    assert found
    assert max(found) < len(policies)
