"""What checks of one value find, put together."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.crd import openapi_validation
from celadon.kube.crd.cel_values import Unknown
from celadon.kube.crd.openapi_validation import Result, value_errors
from celadon.kube.fieldpath import ROOT, ErrorType, FieldError
from celadon.kube.schemas.definition_schemas import decode_schema

_ERRORS = st.builds(
    FieldError,
    st.sampled_from((ErrorType.INVALID, ErrorType.REQUIRED)),
    st.sampled_from((ROOT, ROOT.child("a"), ROOT.child("a", "b"))),
    detail=st.sampled_from(("too long", "too short")),
)

REQUIRING = {"type": "object", "required": ["a", "b", "c"]}


@given(st.lists(st.tuples(st.lists(_ERRORS, max_size=4), st.booleans()), max_size=6))
def test_nothing_is_said_again(found: list[tuple[list[FieldError], bool]]) -> None:
    """Errors taken from other checks are not, and those found here are always said."""
    result = Result()
    wanted: list[FieldError] = []
    for errors, here in found:
        if here:
            result.errors += errors
            wanted += errors
        else:
            result.take(Result(errors, matches=1))
            said = {(one.path.text, one.detail, one.type) for one in wanted}
            wanted += [one for one in errors if (one.path.text, one.detail, one.type) not in said]
    assert result.errors == wanted
    assert result.matches == sum(not here for _, here in found)


INTEGER, TEXT = {"type": "integer"}, {"type": "string"}


@pytest.mark.parametrize(
    ("keywords", "is_closer"),
    [
        ({}, False),
        ({"type": "object"}, True),
        ({"enum": [{"a": 1, "l": [1]}]}, False),
        ({"properties": {"a": INTEGER}}, True),
        ({"properties": {"b": INTEGER}}, False),
        ({"additionalProperties": {}}, True),
        ({"minProperties": 1}, False),
        ({"anyOf": [TEXT, {"type": "object"}]}, True),
        ({"oneOf": [TEXT, {"type": "object"}]}, True),
        ({"allOf": [{"type": "object"}]}, True),
        ({"not": TEXT}, False),
        ({"not": {"type": "object"}}, False),
        ({"properties": {"l": {"items": INTEGER}}}, True),
    ],
)
def test_of_what_fails_the_closest_is_shown(keywords: dict[str, Any], is_closer: bool) -> None:
    """The alternative in which most matches; of those with equally much the first."""
    base = {"required": ["first"]}
    given = {"anyOf": [base, {"required": ["second"], **keywords}]}
    found = value_errors({"a": 1, "l": [1]}, decode_schema(given), Unknown())
    assert ("second" in [one.field for one in found]) is is_closer


OF_TYPE = "<nil>: Invalid value: {found}:  in body must be of type {wanted}: {found}"


@pytest.mark.parametrize(
    ("below", "value"),
    [
        ({"type": "array", "items": REQUIRING}, [{}] * 10_000),
        ({"type": "object", "additionalProperties": REQUIRING}, {str(n): {} for n in range(9999)}),
        (
            {"type": "object", "properties": {str(n): REQUIRING for n in range(9999)}},
            {str(n): {} for n in range(9999)},
        ),
        ({"type": "array", "items": {"type": "object", "anyOf": [REQUIRING]}}, [{}] * 10_000),
    ],
)
def test_no_more_errors_are_looked_for_than_a_refusal_shows(
    below: dict[str, Any], value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openapi_validation, "_MOST_ERRORS", 100)
    schema = decode_schema({"type": "object", "properties": {"x": below}})
    assert 100 <= len(value_errors({"x": value}, schema, Unknown())) <= 103


@pytest.mark.parametrize(
    ("type_", "format_", "value", "found", "wanted"),
    [
        ("integer", "int64", 1, None, ""),
        ("integer", "int64", 1.0, None, ""),
        ("integer", "int64", "1", '"string"', "integer"),
        ("integer", "int32", [1], '"array"', "integer"),
        ("integer", "date", "1", '"string"', "integer"),
        ("integer", "int64", True, '""', "int64"),
        ("number", "double", 1, None, ""),
        ("number", "double", "1", '"string"', "number"),
        ("number", "", 1, None, ""),
        ("", "int64", "1", None, ""),
        # a format of texts says what is wrong with texts and lists, not the type
        ("string", "date", [1], None, ""),
    ],
)
def test_types(type_: str, format_: str, value: Any, found: str | None, wanted: str) -> None:
    given = {"type": type_, "format": format_}
    schema = decode_schema({key: one for key, one in given.items() if one})
    assert [str(one) for one in value_errors(value, schema, Unknown())] == (
        [] if found is None else [OF_TYPE.format(found=found, wanted=wanted)]
    )
