"""Each tutorial does what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.tutorials.performing import PAGES, perform


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_is_performed(page: Path, tmp_path: Path) -> None:
    commands = []

    def compare(command: str, shown: str, actual: str) -> None:
        commands.append(command)
        assert shown == actual, f"{command}: `python -m tests.tutorials.performing {page}`"

    perform(page, tmp_path, compare)
    assert len(commands) >= 2


def test_each_role_has_one() -> None:
    front = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert {page.stem for page in PAGES} == {
        "cluster-owner",
        "operator-developer",
        "platform-engineer",
        "policy-author",
    }
    for page in PAGES:
        assert f"(tutorials/{page.name})" in front
        assert page.read_text(encoding="utf-8").split("\n")[2].startswith("*Tutorial, for ")
