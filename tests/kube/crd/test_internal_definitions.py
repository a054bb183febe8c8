"""Definitions as upstream's internal type has them, and their values as errors print them."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.crd.definition_parts import (
    has_status,
    internal_definition,
    rule_value,
    schema_value,
    set_fields,
    version_value,
)

Json = dict[str, Any]
SCHEMA: Json = {"type": "object"}
OTHER: Json = {"type": "object", "description": "d"}


def version(name: str, schema: Json | None = None, **more: Any) -> Json:
    return {"name": name, **({"schema": {"openAPIV3Schema": schema}} if schema else {}), **more}


def test_what_is_the_same_in_all_versions_is_taken_out_of_them() -> None:
    columns = [{"name": "c"}]
    parts: Json = {"status": {}}
    whole = internal_definition(
        {
            "versions": [
                version("v1", SCHEMA, subresources=parts, additionalPrinterColumns=columns),
                version("v2", OTHER, subresources=parts, selectableFields=[{"jsonPath": ".a"}]),
            ]
        }
    )
    assert whole.shared == {"subresources": parts}
    assert [set(one) for one in whole.versions] == [
        {"name", "schema", "additionalPrinterColumns"},
        {"name", "schema", "selectableFields"},
    ]
    assert whole.first_name == "v1"
    assert [whole.schema_of(0), whole.schema_of(1)] == [SCHEMA, OTHER]
    assert [str(path) for path, _ in whole.schemas()] == [
        "spec.versions[0].schema.openAPIV3Schema",
        "spec.versions[1].schema.openAPIV3Schema",
    ]


def test_a_shared_schema_is_that_of_every_version() -> None:
    whole = internal_definition({"versions": [version("v1", SCHEMA), version("v2", SCHEMA)]})
    assert [whole.schema_of(0), whole.schema_of(1)] == [SCHEMA, SCHEMA]
    assert [str(path) for path, _ in whole.schemas()] == ["spec.validation.openAPIV3Schema"]
    bare = internal_definition({})
    assert (bare.first_name, list(bare.schemas()), bare.shared) == ("", [], {})


def test_empty_lists_are_as_good_as_none_and_empty_objects_are_not() -> None:
    versions = [version("v1", additionalPrinterColumns=[]), version("v2")]
    assert internal_definition({"versions": versions}).versions == ({"name": "v1"}, {"name": "v2"})
    versions = [version("v1", subresources={}), version("v2")]
    whole = internal_definition({"versions": versions})
    assert whole.versions == ({"name": "v1", "subresources": {}}, {"name": "v2"})


@pytest.mark.parametrize(
    ("more", "shared"),
    [
        ({"allOf": [], "required": [], "description": "", "nullable": False}, True),
        ({"properties": {"a": {"type": "string", "enum": [], "maxLength": None}}}, True),
        ({"items": {}}, False),
        ({"x-kubernetes-preserve-unknown-fields": False}, False),
        ({"additionalProperties": False}, False),
    ],
)
def test_schemas_are_alike_where_empty_parts_are_absent(more: Json, shared: bool) -> None:
    plain: Json = {**SCHEMA, "properties": {"a": {"type": "string"}}}
    whole = internal_definition(
        {"versions": [version("v1", plain), version("v2", {**plain, **more})]}
    )
    assert ("schema" in whole.shared) is shared


@pytest.mark.parametrize(
    ("holder", "wanted"),
    [
        ({"subresources": {"status": {}}}, True),
        ({"subresources": {"status": None}}, False),
        ({"subresources": {"scale": {}}}, False),
        ({"subresources": None}, False),
        ({}, False),
    ],
)
def test_whether_there_is_a_status(holder: Json, wanted: bool) -> None:
    assert has_status(holder) is wanted


def test_versions_are_printed_with_all_of_their_fields() -> None:
    assert version_value({}) == {
        "Name": "",
        "Served": False,
        "Storage": False,
        "Deprecated": False,
        "DeprecationWarning": None,
        "Schema": None,
        "Subresources": None,
        "AdditionalPrinterColumns": None,
        "SelectableFields": None,
    }
    column = {
        "name": "n",
        "type": "t",
        "format": "f",
        "description": "d",
        "priority": 1,
        "jsonPath": ".j",
    }
    scale = {"specReplicasPath": ".a", "statusReplicasPath": ".b", "labelSelectorPath": ".c"}
    shown = version_value(
        {
            "name": "v1",
            "served": True,
            "storage": True,
            "deprecated": True,
            "deprecationWarning": "w",
            "schema": {"openAPIV3Schema": SCHEMA},
            "subresources": {"status": {}, "scale": scale},
            "additionalPrinterColumns": [column, {}],
            "selectableFields": [{"jsonPath": ".x"}, {}],
        }
    )
    assert list(shown) == list(version_value({}))
    assert shown == {
        "Name": "v1",
        "Served": True,
        "Storage": True,
        "Deprecated": True,
        "DeprecationWarning": "w",
        "Schema": {"OpenAPIV3Schema": schema_value(SCHEMA)},
        "Subresources": {
            "Status": {},
            "Scale": {
                "SpecReplicasPath": ".a",
                "StatusReplicasPath": ".b",
                "LabelSelectorPath": ".c",
            },
        },
        "AdditionalPrinterColumns": [
            {
                "Name": "n",
                "Type": "t",
                "Format": "f",
                "Description": "d",
                "Priority": 1,
                "JSONPath": ".j",
            },
            {
                "Name": "",
                "Type": "",
                "Format": "",
                "Description": "",
                "Priority": 0,
                "JSONPath": "",
            },
        ],
        "SelectableFields": [{"JSONPath": ".x"}, {"JSONPath": ""}],
    }
    assert (
        version_value({"schema": {}, "subresources": {}}).items()
        >= {
            "Schema": {"OpenAPIV3Schema": None},
            "Subresources": {"Status": None, "Scale": None},
        }.items()
    )
    bare = version_value({"subresources": {"scale": {}}})["Subresources"]["Scale"]
    assert bare == {"SpecReplicasPath": "", "StatusReplicasPath": "", "LabelSelectorPath": None}


def test_rules_are_printed_with_all_of_their_fields() -> None:
    assert rule_value({}) == {
        "Rule": "",
        "Message": "",
        "MessageExpression": "",
        "Reason": None,
        "FieldPath": "",
        "OptionalOldSelf": None,
    }
    given = {
        "rule": "r",
        "message": "m",
        "messageExpression": "e",
        "reason": "FieldValueInvalid",
        "fieldPath": ".p",
        "optionalOldSelf": False,
    }
    assert list(rule_value(given).values()) == list(given.values())


INNER = schema_value(SCHEMA)
KEYWORDS: list[tuple[str, Any, str, Any, Any]] = [
    # Keyword, a value, the field in Go, the value and an absent one as they are printed.
    ("id", "x", "ID", "x", ""),
    ("$schema", "x", "Schema", "x", ""),
    ("$ref", "x", "Ref", "x", None),
    ("description", "x", "Description", "x", ""),
    ("type", "x", "Type", "x", ""),
    ("nullable", True, "Nullable", True, False),
    ("format", "x", "Format", "x", ""),
    ("title", "x", "Title", "x", ""),
    ("default", 0, "Default", 0, None),
    ("maximum", 0, "Maximum", 0, None),
    ("exclusiveMaximum", True, "ExclusiveMaximum", True, False),
    ("minimum", 0, "Minimum", 0, None),
    ("exclusiveMinimum", True, "ExclusiveMinimum", True, False),
    ("maxLength", 0, "MaxLength", 0, None),
    ("minLength", 0, "MinLength", 0, None),
    ("pattern", "x", "Pattern", "x", ""),
    ("maxItems", 0, "MaxItems", 0, None),
    ("minItems", 0, "MinItems", 0, None),
    ("uniqueItems", True, "UniqueItems", True, False),
    ("multipleOf", 2, "MultipleOf", 2, None),
    ("enum", ["x"], "Enum", ["x"], None),
    ("maxProperties", 0, "MaxProperties", 0, None),
    ("minProperties", 0, "MinProperties", 0, None),
    ("required", ["x"], "Required", ["x"], None),
    ("items", SCHEMA, "Items", {"Schema": INNER, "JSONSchemas": None}, None),
    ("items", [SCHEMA], "Items", {"Schema": None, "JSONSchemas": [INNER]}, None),
    ("allOf", [SCHEMA], "AllOf", [INNER], None),
    ("oneOf", [SCHEMA], "OneOf", [INNER], None),
    ("anyOf", [SCHEMA], "AnyOf", [INNER], None),
    ("not", SCHEMA, "Not", INNER, None),
    ("properties", {"b": SCHEMA, "a": SCHEMA}, "Properties", {"a": INNER, "b": INNER}, None),
    (
        *("additionalProperties", SCHEMA, "AdditionalProperties"),
        *({"Allows": True, "Schema": INNER}, None),
    ),
    (
        *("additionalProperties", False, "AdditionalProperties"),
        *({"Allows": False, "Schema": None}, None),
    ),
    ("patternProperties", {"a": SCHEMA}, "PatternProperties", {"a": INNER}, None),
    (
        *("dependencies", {"b": ["x"], "a": SCHEMA}, "Dependencies"),
        {"a": {"Schema": INNER, "Property": None}, "b": {"Schema": None, "Property": ["x"]}},
        None,
    ),
    ("additionalItems", True, "AdditionalItems", {"Allows": True, "Schema": None}, None),
    ("definitions", {"a": SCHEMA}, "Definitions", {"a": INNER}, None),
    (
        *("externalDocs", {"description": "d", "url": "u"}, "ExternalDocs"),
        *({"Description": "d", "URL": "u"}, None),
    ),
    ("externalDocs", {}, "ExternalDocs", {"Description": "", "URL": ""}, None),
    ("example", 0, "Example", 0, None),
    ("x-kubernetes-preserve-unknown-fields", False, "XPreserveUnknownFields", False, None),
    ("x-kubernetes-embedded-resource", True, "XEmbeddedResource", True, False),
    ("x-kubernetes-int-or-string", True, "XIntOrString", True, False),
    ("x-kubernetes-list-map-keys", ["x"], "XListMapKeys", ["x"], None),
    ("x-kubernetes-list-type", "x", "XListType", "x", None),
    ("x-kubernetes-map-type", "x", "XMapType", "x", None),
    (
        *("x-kubernetes-validations", [{"rule": "r"}], "XValidations"),
        *([rule_value({"rule": "r"})], None),
    ),
]


@pytest.mark.parametrize(("keyword", "value", "field", "shown", "absent"), KEYWORDS)
def test_keywords_are_printed_by_their_names_in_go(
    keyword: str, value: Any, field: str, shown: Any, absent: Any
) -> None:
    found = schema_value({keyword: value})
    assert found[field] == shown
    assert list(found[field]) == list(shown) if isinstance(shown, dict) else True
    assert {key for key in found if found[key] != schema_value({})[key]} == {field}
    assert schema_value({})[field] == absent
    assert schema_value({})[field].__class__ is absent.__class__
    assert list(set_fields({keyword: value})) == [field]


def test_keywords_are_printed_in_the_order_of_go() -> None:
    fields = list(dict.fromkeys(field for _, _, field, _, _ in KEYWORDS))
    assert list(schema_value({})) == fields
    every = {keyword: value for keyword, value, _, _, _ in reversed(KEYWORDS)}
    assert list(set_fields(every)) == fields
    empty = {"type": "", "nullable": False, "enum": [], "allOf": [], "properties": {}}
    assert list(set_fields(empty)) == ["Enum", "AllOf", "Properties"]
    shown = schema_value(empty)
    assert (shown["Enum"], shown["AllOf"], shown["Properties"]) == ([], [], {})
