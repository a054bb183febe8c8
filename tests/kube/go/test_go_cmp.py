"""Reports of github.com/google/go-cmp. What real servers print is in the tests of specs of pods."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.go.go_cmp import MOST_STEPS, reported_difference
from celadon.kube.go.go_values import GoData, go_list, go_map, go_number, go_pointer, go_struct
from celadon.kube.go.go_values import go_text as text


def texts(*items: str) -> GoData:
    return go_struct("p.T", {"Items": go_list([text(item) for item in items], "string")})


def numbers(*items: int) -> GoData:
    return go_struct("p.T", {"Items": go_list([go_number(one, "int64") for one in items], "int64")})


def one_text(value: str) -> GoData:
    return go_struct("p.T", {"Value": text(value)})


def inside(*lines: str) -> str:
    return "\n".join(["  p.T{", *lines, "  }", ""])


@pytest.mark.parametrize(
    ("old", "new", "report"),
    [
        (one_text("a"), one_text("a"), ""),
        (one_text("a"), one_text("b"), inside('- \tValue: "a",', '+ \tValue: "b",')),
        (one_text('"'), one_text("\n"), inside('- \tValue: `"`,', '+ \tValue: "\\n",')),
        (
            texts("a", "b", "c", "d", "e", "f"),
            texts("a", "b", "c", "d", "e", "g"),
            inside(
                "  \tItems: []string{",
                "  \t\t... // 3 identical elements",
                '  \t\t"d",',
                '  \t\t"e",',
                '- \t\t"f",',
                '+ \t\t"g",',
                "  \t},",
            ),
        ),
        (
            numbers(*range(50)),
            numbers(*range(30), 99, *range(30, 50)),
            inside(
                "  \tItems: []int64{",
                "  \t\t... // 14 identical int64s",
                "  \t\t14, 15, 16, 17, 18, 19, 20, 21,",
                "  \t\t22, 23, 24, 25, 26, 27, 28, 29,",
                "+ \t\t99,",
                "  \t\t30, 31, 32, 33, 34, 35, 36, 37,",
                "  \t\t38, 39, 40, 41, 42, 43, 44, 45,",
                "  \t\t46, 47, 48, 49,",
                "  \t},",
            ),
        ),
        (
            one_text("x" * 40 + "a" + "y" * 40),
            one_text("x" * 40 + "b" + "y" * 40),
            inside(
                "  \tValue: strings.Join({",
                f'  \t\t"{"x" * 40}",',
                '- \t\t"a",',
                '+ \t\t"b",',
                f'  \t\t"{"y" * 40}",',
                '  \t}, ""),',
            ),
        ),
        (
            go_struct("p.T", {"At": go_pointer(None, "string"), "By": text("x")}),
            go_struct("p.T", {"At": go_pointer(text("a"), "string"), "By": text("x")}),
            inside("- \tAt: nil,", '+ \tAt: &"a",', '  \tBy: "x",'),
        ),
        (
            go_struct("p.T", {"Map": go_map({"a": text("1")}, "map[string]string")}),
            go_struct("p.T", {"Map": go_map({"b": text("1")}, "map[string]string")}),
            inside("  \tMap: map[string]string{", '- \t\t"a": "1",', '+ \t\t"b": "1",', "  \t},"),
        ),
    ],
)
def test_reports(old: GoData, new: GoData, report: str) -> None:
    assert reported_difference(old, new) == report


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_a_report_says_how_one_list_becomes_another(old: Sequence[str], new: Sequence[str]) -> None:
    padded = ["^", *old, "$"], ["^", *new, "$"]
    report = reported_difference(texts(*padded[0]), texts(*padded[1]))
    assert bool(report) == (list(old) != list(new))
    gone = [line for line in report.splitlines() if line.startswith("-")]
    come = [line for line in report.splitlines() if line.startswith("+")]
    assert len(padded[0]) - len(gone) == len(padded[1]) - len(come) or not report


def test_what_takes_long_has_no_report() -> None:
    size = MOST_STEPS
    assert reported_difference(one_text("a" * size), one_text("b" * size)) == ""
