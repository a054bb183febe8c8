"""Each promise of docs/security.md, and each repaired attack, names a test that is there."""

from __future__ import annotations

import re

import pytest
from tools.attacks_page import page

from tests.attacks.undone_repairs import UNDONE, Undone
from tests.paths import ROOT

_PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
_PROMISES = _PAGE.partition("## What is promised")[2].partition("\n## ")[0]
_ROWS = re.findall(r"^\| (.+) \| (`tests/.+) \|$", _PROMISES, re.MULTILINE)


def test_every_row_names_a_test() -> None:
    rows = [line for line in _PROMISES.splitlines() if line.startswith("| ")]
    assert len(rows) - 1 == len(_ROWS) > 10


@pytest.mark.parametrize(("promise", "tests"), _ROWS, ids=[promise for promise, _ in _ROWS])
def test_the_tests_of_a_promise_are_there(promise: str, tests: str) -> None:
    for name in re.findall(r"`([^`]+)`", tests):
        path, _, function = name.partition("::")
        found = ROOT / path
        assert found.exists(), f"{promise}: {name}"
        if function:
            assert f"def {function}(" in found.read_text(encoding="utf-8"), f"{promise}: {name}"


@pytest.mark.parametrize("undone", UNDONE, ids=[one.attack for one in UNDONE])
def test_each_repaired_attack_stands_with_its_test(undone: Undone) -> None:
    path, _, function = undone.test.partition("::")
    found = ROOT / path
    assert found.exists()
    function = function.partition("[")[0]
    assert not function or f"def {function}(" in found.read_text(encoding="utf-8")


def test_the_page_of_attacks_is_current() -> None:
    written = (ROOT / "docs" / "attacks.md").read_text(encoding="utf-8")
    assert written == page(), "python -m tools.attacks_page > docs/attacks.md"
