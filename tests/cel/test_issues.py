from __future__ import annotations

import pytest

from celadon.cel.errors import MAX_ISSUES, MAX_SNIPPET_BYTES, Issues, Source


def display(text: str, *found: tuple[str, int | None]) -> str:
    issues = Issues(Source(text))
    for message, offset in found:
        issues.add(message, offset)
    return issues.display()


@pytest.mark.parametrize(
    ("text", "found", "shown"),
    [
        ("a + b", [("no", 2)], "ERROR: <input>:1:3: no\n | a + b\n | ..^"),
        ("a +\n  b", [("no", 6)], "ERROR: <input>:2:3: no\n |   b\n | ..^"),
        ("\ta", [("no", 1)], "ERROR: <input>:1:2: no\n |  a\n | .^"),
        ("é + 語", [("no", 4)], "ERROR: <input>:1:5: no\n | é + 語\n | ．...＾"),
        ("a", [("end", 1)], "ERROR: <input>:1:2: end\n | a\n | .^"),
        ("a", [("all of it", None)], "ERROR: <input>:-1:0: all of it"),
        ("", [("nothing", 0)], "ERROR: <input>:1:0: nothing"),
        ("a\n", [("end", 2)], "ERROR: <input>:2:1: end\n | \n | ^"),
    ],
)
def test_display(text: str, found: list[tuple[str, int | None]], shown: str) -> None:
    assert display(text, *found) == shown


def test_issues_are_sorted_by_place_and_stay_in_order_within_it() -> None:
    shown = display("ab\nc", ("d", 3), ("b", 1), ("a", 0), ("a2", 0), ("z", None))
    assert [line.split(": ", 2)[2] for line in shown.splitlines() if line.startswith("ERROR")] == [
        "z",
        "a",
        "a2",
        "b",
        "d",
    ]


def test_long_lines_are_not_shown() -> None:
    fits = "é" * (MAX_SNIPPET_BYTES // 2)
    assert display(fits, ("no", 0)).count("\n") == 2
    assert display(fits + "a", ("no", 0)) == "ERROR: <input>:1:1: no"


def test_only_so_many_issues_are_kept() -> None:
    found = [(f"issue {n}", n) for n in range(MAX_ISSUES + 2)]
    shown = display("x" * 200, *reversed(found))
    assert shown.count("ERROR") == MAX_ISSUES
    assert "issue 0\n" not in shown
    assert shown.endswith("\n2 more errors were truncated")


def test_description_and_counting() -> None:
    issues = Issues(Source("a", "policy"))
    assert not issues
    assert issues.display() == ""
    issues.add("no", 0, node=7)
    assert issues
    assert len(issues) == 1
    assert [issue.node for issue in issues] == [7]
    assert issues.display().startswith("ERROR: policy:1:1: no")
