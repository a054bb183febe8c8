"""Defaults that are valid, and others."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.crd import structural_schemas
from celadon.kube.crd.structural_schemas import (
    GivenSchema,
    default_errors,
    defaulted,
    has_long_defaults,
    has_unpruned_defaults,
)
from celadon.kube.fieldpath import FieldPath
from celadon.kube.schemas.definition_schemas import decode_schema
from celadon.kube.status import StatusError

RULED: dict[str, Any] = {
    "type": "string",
    "x-kubernetes-validations": [{"rule": "self.size() > 1"}],
}

CHOICE: dict[str, Any] = {"x-kubernetes-int-or-string": True, "pattern": "^a"}


@pytest.mark.parametrize(
    ("node", "errors"),
    [
        ({"type": "string", "default": "x"}, []),
        # the format is of another type: nothing is asked of texts and lists
        ({"type": "boolean", "format": "int32", "default": "x"}, []),
        ({"type": "object", "format": "date-time", "default": []}, []),
        (
            {"type": "boolean", "format": "int32", "default": 1.5},
            ['Invalid value: "float64":  in body must be of type int32: "float64"'],
        ),
        (
            {"type": "boolean", "format": "int64", "default": 1},
            ['Invalid value: "integer":  in body must be of type boolean: "integer"'],
        ),
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
            {"type": "object", "default": {"z": 1, "a": [{"d": 2, "c": 3}]}},
            ['Invalid value: {"a":[{"c":3,"d":2}],"z":1}: must not have unknown fields'],
        ),
        (
            {"type": "object", "default": {"z": 1}, "required": ["b"], "properties": {"b": {}}},
            ['Invalid value: {"z":1}: must not have unknown fields', "b: Required value"],
        ),
        # an integer or string is anything, wherever in a default it stands
        ({"x-kubernetes-int-or-string": True, "default": 1.5}, []),
        (
            {"type": "object", "default": {"b": []}, "properties": {"b": CHOICE}},
            [],
        ),
        (
            {"type": "object", "default": {"b": "c"}, "additionalProperties": CHOICE},
            ["b: Invalid value: \"c\": .b in body should match '^a'"],
        ),
        # the path of an item is taken for a name
        (
            {"type": "array", "default": [1], "items": {"type": "string"}},
            ['[0]: Invalid value: "integer": [0] in body must be of type string: "integer"'],
        ),
        # a name without letters
        ({"type": "object", "default": {}, "required": [""]}, ["Required value"]),
        (
            {
                "type": "object",
                "default": {"b": {}},
                "properties": {"b": {"type": "object", "required": [""]}},
            },
            ["b.: Required value"],
        ),
        (RULED | {"default": "ab"}, []),
        (RULED | {"default": "a"}, ['Invalid value: "a": failed rule: self.size() > 1']),
        (
            {"type": "object", "default": {"b": "a"}, "properties": {"b": RULED}},
            ['b: Invalid value: "a": failed rule: self.size() > 1'],
        ),
        (
            {
                "type": "string",
                "default": "string",
                "x-kubernetes-validations": [{"rule": "int(self) > 3"}],
            },
            [
                "Invalid value: \"string\": type conversion error from 'string' to 'int' "
                "evaluating rule: int(self) > 3"
            ],
        ),
        # as an object that stays what it is, and as a new one
        (
            {
                "type": "integer",
                "default": 1,
                "x-kubernetes-validations": [
                    {"rule": "oldSelf.hasValue()", "optionalOldSelf": True, "message": "new"},
                    {"rule": "self == oldSelf"},
                ],
            },
            ["Invalid value: 1: new"],
        ),
        (
            {"type": "object", "default": {}, "additionalProperties": {"default": 1}},
            [],
        ),
    ],
)
def test_defaults(node: dict[str, Any], errors: list[str]) -> None:
    for given, at in (
        ({"type": "object", "properties": {"a": node}}, "s.properties[a]"),
        ({"type": "array", "items": node}, "s.items"),
    ):
        found = default_errors(GivenSchema(FieldPath("s"), decode_schema(given), given))
        places = [
            f"{at}.default.{one}" if one[0].islower() or one[0] == "[" else f"{at}.default: {one}"
            for one in errors
        ]
        assert [str(one) for one in found] == places


def test_rules_around_a_default_know_nothing_of_it() -> None:
    given = {
        "type": "object",
        "properties": {"a": {"type": "integer", "default": 1}},
        "x-kubernetes-validations": [{"rule": "self.a > 1"}],
    }
    assert default_errors(GivenSchema(FieldPath("s"), decode_schema(given), given)) == []


def test_unknown_fields_of_an_update() -> None:
    given = {"type": "object", "properties": {"a": {"type": "object", "default": {"z": 1}}}}
    assert has_unpruned_defaults(given)
    one = GivenSchema(FieldPath("s"), decode_schema(given), given)
    assert default_errors(one, pruned=False) == []
    assert not has_unpruned_defaults({"type": "object", "default": {}})


@pytest.mark.parametrize(
    ("more", "found"),
    [({}, True), ({"x-kubernetes-embedded-resource": True}, False)],
)
def test_metadata_of_resources_is_not_pruned(more: dict[str, Any], found: bool) -> None:
    labels = {"type": "object", "default": {"labels": {"a": "b"}}}
    inner = {"type": "object", "properties": {"metadata": labels}, **more}
    assert has_unpruned_defaults({"type": "object", "properties": {"spec": inner}}) is found
    assert not has_unpruned_defaults({"type": "object", "properties": {"metadata": labels}})


EMBEDDED = {"type": "object", "x-kubernetes-embedded-resource": True}
POD = {"apiVersion": "v1", "kind": "Pod"}


@pytest.mark.parametrize(
    ("resource", "errors"),
    [
        ({"default": {**POD, "metadata": {"name": "a"}}}, []),
        ({"default": {"kind": "Pod"}}, ["default.apiVersion: Required value"]),
        (
            {"default": {**POD, "metadata": {"labels": {"a": 1}}}},
            [
                'default.metadata: Invalid value: {"labels":{"a":1}}: json: cannot unmarshal '
                "number into Go struct field ObjectMeta.labels of type string"
            ],
        ),
        (
            {"default": {**POD, "metadata": {"name": "a", "z": 1}, "z": 1}},
            [
                'default: Invalid value: {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},'
                '"z":1}: must not have unknown fields'
            ],
        ),
        ({"properties": {"kind": {"type": "string", "default": "Pod"}}}, []),
        (
            {"properties": {"kind": {"type": "string", "default": 1}}},
            [
                "properties[kind].default: Invalid value: 1: must result in valid metadata: "
                "kind: Invalid value: 1: must be a string"
            ],
        ),
        (
            {
                "properties": {
                    "metadata": {"type": "object", "properties": {"name": {"default": "a/b"}}}
                }
            },
            [
                'properties[metadata].properties[name].default: Invalid value: "a/b": must result '
                "in valid metadata: metadata.name: Invalid value: \"a/b\": may not contain '/'"
            ],
        ),
        (
            {
                "properties": {
                    "metadata": {
                        "type": "object",
                        "properties": {"finalizers": {"type": "array", "items": {"default": 1}}},
                    }
                }
            },
            [
                "properties[metadata].properties[finalizers].items.default: Invalid value: 1: must "
                'result in valid metadata: metadata: Invalid value: {"finalizers":[1]}: json: '
                "cannot unmarshal number into Go struct field ObjectMeta.finalizers of type string"
            ],
        ),
    ],
)
def test_defaults_of_resources_inside(resource: dict[str, Any], errors: list[str]) -> None:
    given = {"type": "object", "properties": {"a": {**EMBEDDED, **resource}}}
    found = default_errors(GivenSchema(FieldPath("s"), decode_schema(given), given))
    assert [str(one).removeprefix("s.properties[a].") for one in found] == errors


def test_defaults_of_what_a_custom_resource_is() -> None:
    given = {"type": "object", "properties": {"kind": {"type": "string", "default": "a b"}}}
    (found,) = default_errors(GivenSchema(FieldPath("s"), decode_schema(given), given))
    assert str(found).startswith(
        's.properties[kind].default: Invalid value: "a b": must result in valid metadata: kind: '
    )


def listed(item: Any, **more: Any) -> Any:
    return {"type": "object", "properties": {"a": {"type": "array", "items": item, **more}}}


DOUBLED: Any = {"type": "object"}
for _ in range(40):
    DOUBLED = listed(DOUBLED, default=[{}, {}])
LONG: Any = {"type": "object", "properties": {"b": {"type": "string", "default": "x" * 1_000}}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (DOUBLED, {}),
        (listed(LONG), {"a": [{}] * 1_000}),
        (listed(LONG), {"a": [{"c": {}}] * 1_000}),
    ],
)
def test_no_more_is_filled_in_than_a_store_takes(
    schema: Any, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(structural_schemas, "_MOST_DEFAULTED", 100_000)
    with pytest.raises(StatusError, match="request is too large"):
        defaulted(value, decode_schema(schema))
    assert defaulted({"a": [{}]}, decode_schema(listed(LONG))) == {"a": [{"b": "x" * 1_000}]}


@pytest.mark.parametrize(
    ("schema", "is_long"),
    [
        ({"type": "object"}, False),
        (listed(LONG), False),
        (listed({**LONG, "default": {}}, default=[{}] * 100), True),
        (DOUBLED, True),
        ({"type": "object", "additionalProperties": DOUBLED}, True),
        ({"type": "object", "properties": {f"p{n}": LONG for n in range(100)}}, True),
    ],
)
def test_long_defaults(schema: Any, *, is_long: bool) -> None:
    assert has_long_defaults(decode_schema(schema)) is is_long
