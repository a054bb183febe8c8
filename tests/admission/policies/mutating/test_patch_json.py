"""What a JSON patch writes for values of the language."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.policies.patchers import DataValues, json_value
from celadon.kube.authorization import Answer, Attributes, User
from celadon.kube.fieldmanager import MutationRefused
from celadon.kube.library import Authorizer
from tests.kube.library.evaluation import evaluate

OBJECT: dict[str, Any] = {"list": [1, [2]], "map": {"a": {"b": 1}}}


class _Unasked:
    def authorize(self, attributes: Attributes) -> Answer:
        raise AssertionError("nothing is checked")


AUTHORIZER = Authorizer(User("jane"), _Unasked())


def written(expression: str) -> Any:
    value = evaluate(expression, object=OBJECT, authorizer=AUTHORIZER)
    return json_value(value, DataValues([OBJECT]))


@pytest.mark.parametrize(
    ("expression", "json"),
    [
        ("null", None),
        ("true", True),
        ("'x'", "x"),
        ("1", 1),
        ("9007199254740991", 9007199254740991),
        ("-9007199254740991", -9007199254740991),
        ("9007199254740992", "9007199254740992"),
        ("-9007199254740992", "-9007199254740992"),
        ("7u", 7),
        ("18446744073709551615u", "18446744073709551615"),
        ("1.5", 1.5),
        ("1.0", 1),
        ("1e20", 100000000000000000000),
        ("1e21", 1e21),
        ("b'\\xff\\x00'", "/wA="),
        ("[[2.0], [0.5]]", [[2], [0.5]]),
        ("{'a': {'b': [true]}}", {"a": {"b": [True]}}),
        ("timestamp('2024-02-29T12:30:01.5Z')", "2024-02-29T12:30:01.5Z"),
        ("duration('1h1s')", "3601s"),
        ("optional.of({'a': optional.of(2)})", {"a": 2}),
        ("{quantity('1000m'): 2}", {"1": 2}),
        ("{ip('::0'): 3}", {"::": 3}),
        (
            "Object{spec: Object.spec{replicas: 1, paused: true}}",
            {"spec": {"replicas": 1, "paused": True}},
        ),
        ("Object{m: {type(1): 1}}", {"m": {"int": 1}}),
        ("Object{n: 9007199254740993}", {"n": 9007199254740992}),
        ("Object{n: 9007199254740993u, d: 2.0}", {"n": 9007199254740992, "d": 2}),
        ("Object{b: b'abc', t: 'x', n: optional.none()}", {"b": "YWJj", "t": "x", "n": None}),
        (
            "Object{l: [Object.l{a: 1}], m: {'k': Object.m{a: 1}}}",
            {"l": [{"a": 1}], "m": {"k": {"a": 1}}},
        ),
        ("Object{l: object.list, m: object.map}", {"l": [1, [2]], "m": {"a": {"b": 1}}}),
    ],
)
def test_values(expression: str, json: object) -> None:
    found = written(expression)
    assert (found, type(found)) == (json, type(json))


def test_whole_numbers_are_integers() -> None:
    assert [type(written(text)) for text in ("1.0", "1e20", "1e21", "-1e21")] == [
        int,
        int,
        float,
        float,
    ]


NUMBER = (
    "json: error calling MarshalJSON for type *structpb.Value: proto:\u00a0"
    "google.protobuf.Value.number_value: invalid {} value"
)
FOREIGN = "proto:\u00a0invalid type: {}"
KEY = "unsupported type conversion from '{}' to string"
NO_KEY = "type conversion error from {} to 'string'"
FIELD = 'fail to convert field "m": map key {} is of type {}, not string'
OPAQUE = "type conversion error from '{}' to '*structpb.Value'"


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("double('NaN')", NUMBER.format("NaN")),
        ("double('Infinity')", NUMBER.format("+Inf")),
        ("double('-Infinity')", NUMBER.format("-Inf")),
        ("Object{n: double('NaN')}", NUMBER.format("NaN")),
        ("{1: 2}", KEY.format("int")),
        ("{2u: 2}", KEY.format("uint")),
        ("[{optional.of(1): 2}]", KEY.format("int")),
        ("{true: 2}", NO_KEY.format("bool")),
        ("{'a': {1.0: 2}}", NO_KEY.format("Double")),
        ("{[1]: 2}", NO_KEY.format("list")),
        ("{{}: 2}", NO_KEY.format("map")),
        ("{null: 2}", NO_KEY.format("'null_type'")),
        ("{duration('1s'): 2}", NO_KEY.format("'Duration'")),
        ("{timestamp('2024-01-01T00:00:00Z'): 2}", NO_KEY.format("'Timestamp'")),
        ("{type(1): 2}", "type conversion not supported for 'type'"),
        ("type(1)", "type conversion not supported for 'type'"),
        ("quantity('1')", OPAQUE.format("Quantity")),
        ("[ip('1.2.3.4')]", OPAQUE.format("IP")),
        ("authorizer", OPAQUE.format("kubernetes.authorization.Authorizer")),
        ("{authorizer.path('/a'): 1}", NO_KEY.format("'kubernetes.authorization.PathCheck'")),
        (
            "JSONPatch{op: 'add', path: '/a', value: 1}",
            "cannot convert to native type: *structpb.Value",
        ),
        ("optional.none()", "optional.none() dereference"),
        ("Object{d: duration('1s')}", FOREIGN.format("time.Duration")),
        ("Object{n: null}", FOREIGN.format("structpb.NullValue")),
        ("Object{l: [[1]]}", FOREIGN.format("[]ref.Val")),
        ("Object{m: {'a': {'b': 1}}}", FOREIGN.format("map[ref.Val]ref.Val")),
        ("Object{m: {1: 'x'}}", FIELD.format("'\\x01'", "types.Int")),
        ("Object{m: {-1: 'x'}}", FIELD.format("'\ufffd'", "types.Int")),
        ("Object{m: {39: 'x'}}", FIELD.format("'\\''", "types.Int")),
        ("Object{m: {34: 'x'}}", FIELD.format("'\"'", "types.Int")),
        ("Object{m: {55296: 'x'}}", FIELD.format("'\ufffd'", "types.Int")),
        ("Object{m: {128512u: 'x'}}", FIELD.format("'\U0001f600'", "types.Uint")),
        ("Object{m: {true: 'x'}}", FIELD.format("%!q(types.Bool=true)", "types.Bool")),
        ("Object{m: {1e21: 'x'}}", FIELD.format("%!q(types.Double=1e+21)", "types.Double")),
        ("Object{m: {null: 'x'}}", FIELD.format("'\\x00'", "types.Null")),
        ("Object{m: {['q', 'r']: 'x'}}", FIELD.format('"[q, r]"', "*types.baseList")),
        ("Object{m: {{'q': 1}: 'x'}}", FIELD.format('"{q: 1}"', "*types.baseMap")),
        ("Object{m: {duration('90s'): 'x'}}", FIELD.format('"1m30s"', "types.Duration")),
        ("Object{m: {quantity('1'): 'x'}}", FIELD.format('"1"', "cel.Quantity")),
        ("Object{m: {optional.of(1): 'x'}}", FIELD.format('"optional(1)"', "*types.Optional")),
        ("Object{m: {optional.none(): 1}}", FIELD.format('"optional.none()"', "*types.Optional")),
        ("Object{l: [Object.l{m: {1: 'x'}}]}", FOREIGN.format("*types.Err")),
    ],
)
def test_what_is_no_json(expression: str, why: str) -> None:
    with pytest.raises(MutationRefused) as caught:
        written(expression)
    prefix = "JSONPath valueExpression evaluated to a type that could not marshal to JSON: "
    assert str(caught.value) == prefix + why


def test_objects_have_the_types_of_their_places() -> None:
    with pytest.raises(MutationRefused) as caught:
        written("Object{spec: Object.other{a: 1}}")
    assert str(caught.value).startswith('type mismatch: unexpected type name "Object.other", ')
