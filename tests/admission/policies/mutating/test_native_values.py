"""Objects of patches as the configurations that are merged."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.policies.patchers import (
    DataValues,
    configuration,
    foreign,
    require_type_names,
)
from celadon.kube.fieldmanager import NIL_LIST, MutationRefused
from tests.kube.library.evaluation import evaluate

OBJECT: dict[str, Any] = {"list": [1, [2]], "map": {"a": {"b": 1}}}


def configured(expression: str) -> dict[str, Any]:
    found = evaluate(expression, object=OBJECT)
    return dict(configuration(found, DataValues([OBJECT])))


@pytest.mark.parametrize(
    ("expression", "fields"),
    [
        ("Object{}", {}),
        (
            "Object{t: 'x', b: true, i: 1, d: 1.5, s: Object.s{a: 1}}",
            {"t": "x", "b": True, "i": 1, "d": 1.5, "s": {"a": 1}},
        ),
        (
            "Object{l: ['a'], n: [1, 2], o: [Object.o{a: 1}]}",
            {"l": ["a"], "n": [1, 2], "o": [{"a": 1}]},
        ),
        ("Object{m: {'a': 'b'}, n: {'a': 1}}", {"m": {"a": "b"}, "n": {"a": 1}}),
        (
            "Object{l: [optional.none(), optional.of(1)], o: optional.none()}",
            {"l": [None, 1], "o": None},
        ),
        ("Object{t: int, l: [string]}", {"t": "int", "l": ["string"]}),
        (
            "Object{l: [object.list], m: {'k': object.map}}",
            {"l": [[1, [2]]], "m": {"k": {"a": {"b": 1}}}},
        ),
        ("Object{l: [1, 2].map(x, x * 2)}", {"l": [2, 4]}),
        ("Object{m: {type(1): 'a'}}", {"m": {"int": "a"}}),
        ("Object{m: {optional.of('k'): 'a'}}", {"m": {"k": "a"}}),
    ],
)
def test_fields(expression: str, fields: dict[str, Any]) -> None:
    assert configured(expression) == fields


@pytest.mark.parametrize("inner", ["[1]", "{'k': 1}", "7u", "null", "duration('1s')"])
@pytest.mark.parametrize("around", ["Object{{f: [{}]}}", "Object{{f: {{'k': {}}}}}"])
def test_what_is_not_json_inside_is_foreign(around: str, inner: str) -> None:
    (field,) = configured(around.format(inner)).values()
    (value,) = field.values() if isinstance(field, dict) else field
    expected = foreign(evaluate(inner))
    assert (value.go_type, value.text) == (expected.go_type, expected.text)


@pytest.mark.parametrize("entries", ["{1: 2}", "{1: 'a'}", "{true: [1]}"])
def test_keys_are_texts(entries: str) -> None:
    with pytest.raises(MutationRefused, match=r"^invalid return type: \*dynamic\.ObjectVal$"):
        configured(f"Object{{m: {entries}}}")


@pytest.mark.parametrize(
    "expression", ["Object{s: Object.s{m: {1: 2}}}", "Object{s: [Object.s{m: {1: 2}}]}"]
)
def test_an_object_inside_without_texts_as_keys_is_an_error(expression: str) -> None:
    (field,) = configured(expression).values()
    value = field[0] if isinstance(field, list) else field
    assert (value.go_type, str(value)) == (
        "*types.Err",
        "fail to convert field \"m\": map key '\\x01' is of type types.Int, not string",
    )


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("Object{spec: Object.spec{a: Object.spec.a{}}}", ()),
        ("Object{spec: Object.other{}}", [("Object.other", "Object.spec")]),
        ("Object{l: [Object.x{}]}", [("Object.x", "Object.l")]),
        ("Object{m: {'k': Object.x{}}}", [("Object.x", "Object.m")]),
        (
            "Object{a: Object.b{}, c: Object.d{}}",
            [("Object.b", "Object.a"), ("Object.d", "Object.c")],
        ),
        (
            "Object{a: Object.b{c: Object.b.c{}}}",
            [("Object.b", "Object.a"), ("Object.b.c", "Object.a.c")],
        ),
    ],
)
def test_types_are_named_after_their_paths(expression: str, wrong: list[tuple[str, str]]) -> None:
    value = evaluate(expression)
    if not wrong:
        require_type_names(value)
        return
    with pytest.raises(MutationRefused) as caught:
        require_type_names(value)
    assert str(caught.value) == "type mismatch: " + "\n".join(
        f'unexpected type name "{found}", expected "{expected}", '
        "which matches field name path from root Object type"
        for found, expected in wrong
    )


@pytest.mark.parametrize(
    ("expression", "is_nil"),
    [
        ("[]", True),
        ("['a'].filter(x, false)", True),
        ("object.list.filter(x, false)", True),
        ("object.none", False),
        ("[] + object.none", False),
        ("object.none + []", True),
    ],
)
def test_empty_lists_that_expressions_make_are_none(expression: str, is_nil: bool) -> None:
    data = {**OBJECT, "none": []}
    found = configuration(evaluate(f"Object{{l: {expression}}}", object=data), DataValues([data]))
    assert found == {"l": []}
    assert (found["l"] is NIL_LIST) is is_nil


def test_data_is_known_by_its_identity() -> None:
    data = DataValues([OBJECT, None])
    assert OBJECT["list"][1] in data
    assert OBJECT["map"]["a"] in data
    assert [2] not in data
    assert "a" not in data
