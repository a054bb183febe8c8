"""Defaults that are valid, and others."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.custom.definitions.given_schemas import GivenSchema
from celadon.kube.custom.definitions.schema_defaults import default_errors
from celadon.kube.fieldpath import FieldPath
from celadon.kube.schemas.definition_schemas import decode_schema


@pytest.mark.parametrize(
    ("node", "errors"),
    [
        ({"type": "string", "default": "x"}, []),
        ({"type": "object", "default": {}, "properties": {"b": {"type": "string"}}}, []),
        (
            {"type": "string", "default": 1},
            ['Invalid value: "integer":  in body must be of type string: "integer"'],
        ),
        (
            {"type": "string", "maxLength": 1, "default": "xx"},
            ["Too long: may not be more than 1 byte"],
        ),
        (
            {"type": "object", "default": {"z": 1}},
            ['Invalid value: {"z":1}: must not have unknown fields'],
        ),
    ],
)
def test_defaults(node: dict[str, Any], errors: list[str]) -> None:
    for given, at in (
        ({"type": "object", "properties": {"a": node}}, "s.properties[a]"),
        ({"type": "array", "items": node}, "s.items"),
    ):
        found = default_errors(GivenSchema(FieldPath("s"), decode_schema(given), given))
        assert [str(one) for one in found] == [f"{at}.default: {one}" for one in errors]
