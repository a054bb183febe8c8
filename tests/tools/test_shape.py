"""The numbers of the source are what they say, and docs/architecture.md shows every one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.shape import BEGIN, END, MAP, MEASURES, Measure, Shape, table, with_table

from tests.architecture.source_tree import read_source

DOOR = '''"""A door."""

from celadon.house import (
    first,
    second,
)

__all__ = ["one", "two"]
'''
FIRST = '''"""Reads of the second."""

import celadon.second
from typing import Any

# A reason.
def reads(value: Any) -> Any:
    """What it reads."""
    return celadon.second


class Reader:
    """Read a value."""
'''
LENGTHS = "def long():\n" + "    pass\n" * 60 + "\n" * 800

COUNTED = {
    "modules": "4",
    "lines": str(8 + 13 + 861 + 1),
    "lines of `src/celadon`": str(8 + 13 + 861),
    "folders": "3",
    "lines that import": "0.8 %",
    "lines that comment": "0.1 %",
    "lines of docstrings": "0.5 %",
    "docstrings that begin with a fragment": "50.0 %",
    "`Any` in 1,000 lines that are not blank": "26.0",
    "names at the largest door": "2",
    "rings of imports": "0",
    "modules loaded by a `check` of one object": "7",
    "modules over 800 lines": "1",
    "functions over 60 lines": "1",
    "modules under 90 lines with one reader": "1",
}


@pytest.fixture(scope="module")
def shape(tmp_path_factory: pytest.TempPathFactory) -> Shape:
    root = tmp_path_factory.mktemp("src")
    files = {
        "celadon/__init__.py": DOOR,
        "celadon/house/first.py": FIRST,
        "celadon/second.py": LENGTHS,
        "beside/third.py": "import celadon.second\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Shape(read_source(root), 7)


@pytest.mark.parametrize("measure", [one for one in MEASURES if one.name in COUNTED])
def test_what_is_counted(measure: Measure, shape: Shape) -> None:
    assert measure.value(shape) == COUNTED[measure.name]


def test_every_count_is_known() -> None:
    assert COUNTED.keys() - {one.name for one in MEASURES} == set()


def test_a_table_stands_between_the_marks(shape: Shape) -> None:
    shown = table(shape)
    page = with_table(f"before\n{BEGIN}old\n{END}after\n", shown)
    assert page == f"before\n{BEGIN}\n{shown}\n{END}after\n"
    assert with_table(page, shown) == page
    with pytest.raises(ValueError, match="no place"):
        with_table("before\nafter\n", shown)


def test_the_map_shows_every_number() -> None:
    """Their form; what they are today is nobody's promise."""
    _, _, rest = Path(MAP).read_text(encoding="utf-8").partition(BEGIN)
    shown, end, _ = rest.partition(END)
    rows = [re.split(r" *\| *", line)[1:-1] for line in shown.strip().splitlines()]
    assert end
    assert rows[:2] == [["of `src`", "today", "aim"], ["---", "---:", "---"]]
    assert [(name, aim) for name, _, aim in rows[2:]] == [(one.name, one.aim) for one in MEASURES]
    assert all(re.fullmatch(r"[\d,]+(\.\d)?( %)?", number) for _, number, _ in rows[2:])
