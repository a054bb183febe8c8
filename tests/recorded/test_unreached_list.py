"""The list of what is not reached: what is wrong with it, and how it is written anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorded.scenarios import every_scenario
from tests.recorded.unreached_list import OPEN, complaints, reason_of, refilled, unreached, write

LISTED = {"api/a": "a reason", "api/b": "", "1.30/api/c": "another"}


def test_what_is_wrong() -> None:
    asked = ["api/a", "api/b", "api/d", "1.30/api/c"]
    assert list(complaints(LISTED, asked, {"api/a", "api/b", "api/d"}, "here")) == [
        "api/b is listed without a reason",
        "api/d differs (here)",
        "1.30/api/c agrees (here): take it off unreached.txt",
    ]


def test_the_list_after_a_run(tmp_path: Path) -> None:
    failed = {
        "api/a": ["whatever"],
        "api/e": ['want "at pkg/runtime/scheme.go:100", got "at scheme.go:110"'],
        "api/f": ["/body/message: missing"],
    }
    made = refilled(LISTED, ["api/a", "api/b", "api/e", "api/f"], failed)
    assert made == {
        "api/a": "a reason",
        "api/e": "names a source file of the recording's build",
        "api/f": OPEN,
        "1.30/api/c": "another",
    }
    write(made, tmp_path / "list")
    assert unreached(tmp_path / "list") == made


def test_a_reason_explains_all_differences() -> None:
    assert reason_of(["proto: a", "proto: b"]).startswith("one space")
    assert reason_of(["proto: a", "code: want 400"]) == OPEN


@pytest.mark.thorough
def test_who_is_listed_is_recorded_and_has_a_reason() -> None:
    listed, recorded = unreached(), {one.name for one in every_scenario()}
    assert [name for name, reason in listed.items() if reason in ("", OPEN)] == []
    assert not recorded or listed.keys() <= recorded
