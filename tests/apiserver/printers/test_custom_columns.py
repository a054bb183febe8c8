"""Cells of custom columns: what fits a column's type, and what becomes null."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.printers.tables import custom_cells, custom_headers, shown_columns

ROWS: list[tuple[str, Any, Any]] = [
    ("string", "a", "a"),
    ("string", 5, "5"),
    ("string", True, "true"),
    ("string", {"b": 1, "a": [2]}, '{"a":[2],"b":1}'),
    ("integer", 3, 3),
    ("integer", 2.9, 2),
    ("integer", -2.9, -2),
    ("integer", 1e30, -(2**63)),
    ("integer", "3", None),
    ("integer", True, None),
    ("number", 1.5, 1.5),
    ("number", 2.0, 2),
    ("number", 1e30, 1e30),
    ("number", 2**53 + 1, 2**53),
    ("number", 2**62, 2.0**62),
    ("number", "1", None),
    ("number", True, None),
    ("boolean", False, False),
    ("boolean", "true", None),
    ("date", "1970-01-01T00:00:10Z", "90s"),
    ("date", "1970-01-01T01:00:10+01:00", "90s"),
    ("date", "2999-01-01T00:00:00Z", "<invalid>"),
    ("date", "yesterday", "<invalid>"),
    ("date", "", "<unknown>"),
    ("date", "0001-01-01T00:00:00Z", "<unknown>"),
    ("date", "0001-01-01T00:00:01Z", "292y"),
    ("date", 5, None),
]


@pytest.mark.parametrize(("kind", "value", "cell"), ROWS)
def test_cell(kind: str, value: Any, cell: Any) -> None:
    read = custom_cells([{"name": "C", "type": kind, "jsonPath": ".spec.c"}])
    got = read({"metadata": {"name": "n"}, "spec": {"c": value}}, 100.0)
    assert got == ["n", cell]
    assert type(got[1]) is type(cell)
    assert read({"metadata": {"name": "n"}}, 100.0) == ["n", None]


def test_headers() -> None:
    columns: list[dict[str, Any]] = [
        {"name": "A", "type": "integer", "format": "int32", "jsonPath": ".a", "priority": 1},
        {"name": "B", "type": "string", "jsonPath": ".b", "description": "words"},
    ]
    assert custom_headers(columns)[1:] == (
        {
            "name": "A",
            "type": "integer",
            "format": "int32",
            "description": "Custom resource definition column (in JSONPath format): .a",
            "priority": 1,
        },
        {"name": "B", "type": "string", "format": "", "description": "words", "priority": 0},
    )
    assert [one["name"] for one in custom_headers(shown_columns(()))] == ["Name", "Age"]


@pytest.mark.parametrize(
    "path",
    [
        ".spec.list[",
        ".spec{.a}",
        ".spec.list[a]",
        ".spec['a]",
        ".spec.list[?(]",
        ".a[?(@.n==1==2)]",
    ],
)
def test_columns_end_before_one_whose_path_cannot_be_read(path: str) -> None:
    first, last = ({"name": one, "type": "string", "jsonPath": ".a"} for one in "xz")
    broken = {"name": "y", "type": "string", "jsonPath": path}
    assert shown_columns([first, broken, last]) == (first,)
    assert shown_columns([broken]) == ()
