"""Validation rules of a CRD that is being written."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.crd.definition_parts import Demands, internal_definition
from celadon.kube.crd.definition_rules import schema_findings
from celadon.kube.crd.structural_schemas import GivenSchema
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.releases import answering_as
from celadon.kube.schemas.definition_schemas import decode_schema

SPEC = "spec.validation.openAPIV3Schema.properties[spec]"
RULE = f"{SPEC}.x-kubernetes-validations[0]"
ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, "
    "maps, and strings are declared)"
)
TOTAL = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
CONTRIBUTED = (
    "Forbidden: contributed to estimated rule cost total exceeding cost limit for entire "
    "OpenAPIv3 schema"
)


def errors_of(definition: dict[str, Any]) -> list[FieldError]:
    schemas = [
        GivenSchema(path, decode_schema(given), given)
        for path, given in internal_definition(definition["spec"]).schemas()
    ]
    found = [schema_findings(one, Demands()) for one in schemas]
    return [error for one in found for error in (*one.keywords, *one.rules, *one.costs)]


def definition(*schemas: dict[str, Any]) -> dict[str, Any]:
    versions = [
        {"name": f"v{i}", "served": True, "storage": i == 1, "schema": {"openAPIV3Schema": one}}
        for i, one in enumerate(schemas, 1)
    ]
    names = {"plural": "gizmos", "kind": "Gizmo"}
    return {"spec": {"group": "example.com", "names": names, "versions": versions}}


def with_rule(schema: dict[str, Any], **rule: Any) -> dict[str, Any]:
    found = {**schema, "x-kubernetes-validations": [rule]}
    return definition({"type": "object", "properties": {"spec": found}})


def shown(**rule: Any) -> str:
    text = '{{"Rule":"{}","Message":"{}","MessageExpression":"{}"'.format(
        rule["rule"],
        rule.get("message", ""),
        rule.get("messageExpression", ""),
    )
    return text + ',"Reason":null,"FieldPath":"","OptionalOldSelf":null}'


SIZED = {"type": "object", "properties": {"size": {"type": "integer"}, "a.b": {"type": "string"}}}

SHAPES: list[tuple[dict[str, Any], list[str]]] = [
    ({"rule": "self.size > 0"}, []),
    ({"rule": " "}, [f"{RULE}.rule: Required value: rule is not specified"]),
    (
        {"rule": "true", "message": " "},
        [f'{RULE}.message: Invalid value: " ": must be non-empty if specified'],
    ),
    (
        {"rule": "true", "message": "a\nb"},
        [f'{RULE}.message: Invalid value: "a\\nb": must not contain line breaks'],
    ),
    (
        {"rule": "true &&\ntrue"},
        [f"{RULE}.message: Required value: message must be specified if rule contains line breaks"],
    ),
    (
        {"rule": "true", "messageExpression": " "},
        [
            f"{RULE}.messageExpression: Required value: messageExpression must be non-empty if "
            "specified"
        ],
    ),
    (
        {"rule": "true", "reason": "Bad"},
        [
            f'{RULE}.reason: Unsupported value: "Bad": supported values: "FieldValueDuplicate", '
            '"FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"'
        ],
    ),
    ({"rule": "true", "fieldPath": ".size"}, []),
    ({"rule": "true", "fieldPath": "['a.b']"}, []),
    (
        {"rule": "true", "fieldPath": ".sizes"},
        [f'{RULE}.fieldPath: Invalid value: ".sizes": must be a valid path'],
    ),
    (
        {"rule": "true", "optionalOldSelf": True},
        [
            f"{RULE}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used "
            "in rule"
        ],
    ),
    ({"rule": "!oldSelf.hasValue() || self == oldSelf.value()", "optionalOldSelf": True}, []),
    (
        {"rule": "1"},
        [f"{RULE}.rule: Invalid value: {shown(rule='1')}: cel expression must evaluate to a bool"],
    ),
    (
        {"rule": "true", "messageExpression": "1"},
        [
            f"{RULE}.messageExpression: Invalid value: "
            f"{shown(rule='true', messageExpression='1')}: messageExpression must evaluate to a "
            "string"
        ],
    ),
]


@pytest.mark.parametrize(("rule", "errors"), SHAPES)
def test_shapes(rule: dict[str, Any], errors: list[str]) -> None:
    assert [str(one) for one in errors_of(with_rule(SIZED, **rule))] == errors


@pytest.mark.parametrize(
    ("beside", "size", "path", "wrong"),
    [
        ({"$schema": "x"}, {}, ".size", False),
        ({"$schema": "x"}, {}, ".sizes", True),
        ({}, {"id": "x"}, ".size", False),
        ({}, {"id": "x"}, ".sizes", False),
    ],
)
def test_paths_of_rules_that_are_not_compiled(
    beside: dict[str, Any], size: dict[str, Any], path: str, wrong: bool
) -> None:
    ruled = {
        "type": "object",
        "properties": {"size": {"type": "integer", **size}},
        "x-kubernetes-validations": [{"rule": "1", "fieldPath": path}],
    }
    root = {"type": "object", "properties": {"a": ruled}, **beside}
    schema = GivenSchema(FieldPath("s"), decode_schema(root), root)
    found = schema_findings(schema, Demands(), compiles=False)
    assert any("must be a valid path" in str(one) for one in found.keywords) is wrong
    assert found.rules == []


@pytest.mark.parametrize(("release", "subject"), [("1.33", "fieldPath "), ("1.34", "")])
@pytest.mark.parametrize(
    ("path", "details"),
    [
        ("", []),
        (" ", ["must be non-empty if specified", "must be a valid path"]),
        ("a\nb", ["must not contain line breaks", "must be a valid path"]),
        (".sizes", ["must be a valid path"]),
    ],
)
def test_paths_of_rules_by_release(
    release: str, subject: str, path: str, details: list[str]
) -> None:
    with answering_as(release):
        found = errors_of(with_rule(SIZED, rule="true", fieldPath=path))
        assert [(one.field, one.detail) for one in found] == [
            (f"{RULE}.fieldPath", f"{subject}{detail}") for detail in details
        ]


def test_a_rule_that_does_not_compile() -> None:
    [error] = errors_of(with_rule(SIZED, rule="self.sizes == 1"))
    assert error.field == f"{RULE}.rule"
    assert error.detail.startswith(
        "compilation failed: ERROR: <input>:1:5: undefined field 'sizes'"
    )


def test_old_self_below_a_list() -> None:
    items = {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf"}]}
    schema = {"type": "array", "maxItems": 3, "items": items}
    errors = errors_of(definition({"type": "object", "properties": {"spec": schema}}))
    assert [str(one) for one in errors] == [
        f'{SPEC}.items.x-kubernetes-validations[0].rule: Invalid value: "self >= oldSelf": oldSelf '
        f"cannot be used on the uncorrelatable portion of the schema within {SPEC}"
    ]


def test_costs() -> None:
    text = {"type": "string", "x-kubernetes-validations": [{"rule": "self.contains('abcdefghij')"}]}
    bounded = {"type": "array", "maxItems": 30, "items": text}
    errors = errors_of(definition({"type": "object", "properties": {"spec": bounded}}))
    where = f"{SPEC}.items.x-kubernetes-validations[0].rule"
    # 314,574 for one text that fills the request, 30 times
    assert [str(one) for one in errors] == []
    bounded["maxItems"] = 40
    errors = errors_of(definition({"type": "object", "properties": {"spec": bounded}}))
    assert [str(one) for one in errors] == [
        f"{where}: Forbidden: estimated rule cost exceeds budget by factor of 1.258296x {ADVICE}"
    ]
    del bounded["maxItems"]
    errors = errors_of(definition({"type": "object", "properties": {"spec": bounded}}))
    assert [str(one) for one in errors] == [
        f"{where}: Forbidden: estimated rule cost exceeds budget by factor of more than 100x "
        f"{ADVICE}",
        f"{where}: {CONTRIBUTED}",
        f"spec.validation.openAPIV3Schema: Forbidden: {TOTAL} exceeds budget by factor of more "
        f"than 100x {ADVICE}",
    ]


@pytest.mark.parametrize(
    ("around", "factor"),
    [
        ({"type": "array", "maxItems": 40}, "1.258296x"),
        ({"type": "object", "maxProperties": 40}, "1.258296x"),
        ({"type": "object", "maxProperties": 30, "maxItems": 40}, None),
        ({"type": "array", "maxItems": 30, "maxProperties": 40}, None),
        ({"type": "array", "maxItems": 0}, None),
        ({"type": "array"}, "more than 100x"),
        ({"type": "object"}, "more than 100x"),
        ({"type": "object", "is": "a struct"}, None),
    ],
)
def test_a_rule_costs_as_often_as_its_part_may_be_there(
    around: dict[str, Any], factor: str | None
) -> None:
    text: dict[str, Any] = {
        "type": "string",
        "x-kubernetes-validations": [{"rule": "self.contains('abcdefghij')"}],
    }
    below = {"items": text} if around["type"] == "array" else {"additionalProperties": text}
    if around.pop("is", None):
        below = {"properties": {"a": text}}
    errors = errors_of(definition({"type": "object", "properties": {"spec": {**around, **below}}}))
    budget = f"Forbidden: estimated rule cost exceeds budget by factor of {factor} {ADVICE}"
    where = f"{SPEC}.{next(iter(below))}.x-kubernetes-validations[0].rule"
    assert [str(one) for one in errors][:1] == ([] if factor is None else [f"{where}: {budget}"])


LABEL_KEY = (
    r"self.all(key, key.matches('^([a-z0-9]([a-z0-9\\-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9\\-]*"
    r"[a-z0-9])?)*\\/)?[a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?$') && key.size() <= 253)"
)
KEY_COSTS = [
    (LABEL_KEY, "1.376253x"),
    ("self.exists(k, k.contains(k))", None),
    ("self.all(k, k.startsWith('x') && k.split('/').size() < 3)", None),
    ("self.all(k, v, k.matches('^[a-z.]*$') && v.matches('^[a-z.]*$'))", "3.4x"),
    ("self.all(key, key.size() <= 63 && key.size() > 0)", None),
    ("self.all(key, key.matches('^[a-z]+$'))", None),
    ("self.all(key, key.lowerAscii() == key)", None),
]


@pytest.mark.parametrize(("rule", "factor"), KEY_COSTS)
def test_keys_of_maps_count_as_empty_texts(rule: str, factor: str | None) -> None:
    """What a rule over keys costs depends on how many there can be, not on how long they are."""
    labels: dict[str, Any] = {
        "type": "object",
        "additionalProperties": {"type": "string", "maxLength": 63},
    }
    where = f"{SPEC}.x-kubernetes-validations[0].rule"
    expected = []
    if factor is not None:
        expected.append(
            f"{where}: Forbidden: estimated rule cost exceeds budget by factor of {factor} {ADVICE}"
        )
    assert [str(one) for one in errors_of(with_rule(labels, rule=rule))] == expected
    assert errors_of(with_rule(labels | {"maxProperties": 8}, rule=rule)) == []


def test_versions_with_schemas_of_their_own() -> None:
    one = with_rule(SIZED, rule=" ")["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    errors = errors_of(definition({"type": "object"}, one))
    assert [one.field for one in errors] == [
        "spec.versions[1].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule"
    ]


def test_a_schema_without_a_type() -> None:
    [error] = errors_of(with_rule({"x-kubernetes-preserve-unknown-fields": True}, rule="true"))
    assert str(error) == (
        f"{SPEC}.x-kubernetes-validations: Internal error: internal error: failed to construct "
        "type information for x-kubernetes-validations rules: unable to convert structural schema "
        "to CEL declarations"
    )


MAP_TYPES: list[tuple[Any, list[str]]] = [
    ("atomic", []),
    ("granular", []),
    (
        "x",
        [
            f'{SPEC}.x-kubernetes-map-type: Unsupported value: "x": supported values: '
            '"atomic", "granular"'
        ],
    ),
]


@pytest.mark.parametrize(("map_type", "errors"), MAP_TYPES)
def test_types_of_maps(map_type: str, errors: list[str]) -> None:
    spec = {"type": "object", "x-kubernetes-map-type": map_type}
    found = errors_of(definition({"type": "object", "properties": {"spec": spec}}))
    assert [str(one) for one in found] == errors


@pytest.mark.parametrize("name", ["Duplicate", "Forbidden", "Invalid", "Required"])
def test_reasons_of_rules(name: str) -> None:
    assert errors_of(with_rule(SIZED, rule="true", reason=f"FieldValue{name}")) == []


def test_rules_are_shown_with_their_types_before_1_34() -> None:
    with answering_as("1.33"):
        (error,) = map(str, errors_of(with_rule(SIZED, rule="1")))
    assert error.startswith(
        f'{RULE}.rule: Invalid value: apiextensions.ValidationRule{{Rule:"1", Message:"", '
        'MessageExpression:"", Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:"", '
        "OptionalOldSelf:(*bool)(nil)}: "
    )
