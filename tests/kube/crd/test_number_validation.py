"""Numbers against formats, factors and bounds."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.crd.openapi_validation import is_json_integer, number_errors
from celadon.kube.fieldpath import FieldPath
from celadon.kube.schemas.definition_schemas import decode_schema

INT: dict[str, Any] = {"type": "integer"}
NUMBER: dict[str, Any] = {"type": "number"}
DEFAULT = "value must be of type integer (default format) in a"
ROWS: list[tuple[dict[str, Any], float, list[str]]] = [
    (INT, 2**63 - 1, []),
    (INT, 2.0, []),
    (INT, 1e18, []),
    (INT, 9.3e18, [f"Checked {DEFAULT}"]),
    (INT | {"format": "int32"}, 2**31 - 1, []),
    (
        INT | {"format": "int32"},
        2**31,
        ["Checked value must be of type integer with format int32 in a"],
    ),
    (INT | {"format": "int32"}, -(2**31), []),
    (NUMBER | {"format": "float"}, 1e38, []),
    (
        NUMBER | {"format": "float"},
        1e39,
        ["Checked value must be of type number with format float in a"],
    ),
    (NUMBER | {"format": "double"}, 1e39, []),
    (INT | {"multipleOf": 3}, 9, []),
    (INT | {"multipleOf": 3}, 10, ["a in body should be a multiple of 3"]),
    (
        INT | {"multipleOf": 0.5},
        3,
        [f"MultipleOf {DEFAULT}"],
    ),
    (NUMBER | {"multipleOf": 0.1}, 0.3, []),
    (NUMBER | {"multipleOf": 3}, 1e30, ["a in body should be a multiple of 3"]),
    (INT | {"minimum": 2, "exclusiveMinimum": True}, 2, ["a in body should be greater than 2"]),
    (INT | {"maximum": 1.5}, 1, [f"Maximum boundary {DEFAULT}"]),
    (
        INT | {"maximum": 1.5},
        2,
        [
            f"Maximum boundary {DEFAULT}",
            "a in body should be less than or equal to 1.5",
        ],
    ),
    (NUMBER | {"maximum": 1.5}, 1.5, []),
    # limits are doubles
    (
        INT | {"maximum": 9223372036854775000},
        9223372036854775000,
        ["a in body should be less than or equal to 9223372036854774784"],
    ),
    (INT | {"maximum": 2**63 - 1}, 1, [f"Maximum boundary {DEFAULT}"]),
    (INT | {"minimum": -(2**63)}, 1, [f"Minimum boundary {DEFAULT}"]),
    (
        NUMBER | {"maximum": 2**63 - 1},
        1,
        ["a in body should be less than or equal to -9223372036854775808"],
    ),
    (NUMBER | {"maximum": 2**63 - 1}, 1.0, []),
    (INT | {"minimum": 2**53 + 1}, 2**53, []),
]


@pytest.mark.parametrize(("schema", "value", "texts"), ROWS)
def test_what_is_said(schema: dict[str, Any], value: float, texts: list[str]) -> None:
    found = number_errors(FieldPath("a"), value, decode_schema(schema))
    assert [error.detail for error in found] == texts


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (2.0, True),
        (3.0000000000000004, True),
        (2.9999999999999996, False),
        (2.0**53, False),
        (0.5, False),
    ],
)
def test_integers_among_doubles(value: float, answer: bool) -> None:
    assert is_json_integer(value) is answer
