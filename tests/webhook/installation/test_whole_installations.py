"""What is installed, whole: manifests and values of the chart.

`tests/cases/installations` has it all, rewritten by `pytest --update-golden`, then read like code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from celadon import __version__
from celadon.webhook.installation import chart_values, namespace_manifests
from celadon.webhook.webhook_rules import InstallationSettings
from tests.paths import ROOT
from tests.webhook.installation.installations import (
    FILES,
    INSTALLATIONS,
    covered,
    documents,
    mutated,
)

CASES = ROOT / "tests" / "cases" / "installations"


def whole(settings: InstallationSettings) -> list[Any]:
    """The manifests, and last the values with which the chart makes the same."""
    values = chart_values(settings, FILES, covered(), mutated())
    return [*namespace_manifests(settings), *documents(settings), values]


def written(documents: list[Any]) -> str:
    text = yaml.safe_dump_all(documents, sort_keys=False, width=100)
    return text.replace(__version__, "VERSION")


@pytest.mark.parametrize("name", INSTALLATIONS)
def test_an_installation(name: str, request: pytest.FixtureRequest) -> None:
    found = written(whole(INSTALLATIONS[name]))
    path: Path = CASES / f"{name.replace(', ', '-')}.yaml"
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")
