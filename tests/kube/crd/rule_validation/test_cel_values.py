"""Typed evaluation of what no rule of a CRD is about, and data that does not fit its schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from celadon.cel import EvaluationError, types
from celadon.cel.value_functions import MapList, SetList
from celadon.kube.crd.cel_values import Preserved, typed
from celadon.kube.library.environments import environment
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.definition_schemas import decode_schema, schema_type
from celadon.kube.schemas.schema_packs import schema_for
from tests.growth.counted_steps import LINEAR, growth

SERVICE = GroupVersionKind("", "v1", "Service")
OBJECT = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "s", "creationTimestamp": "2024-01-02T03:04:05Z"},
    "spec": {
        "ports": [
            {"port": 1, "protocol": "TCP", "targetPort": "web"},
            {"port": 2, "protocol": "TCP", "targetPort": 80},
        ]
    },
}


def evaluate(expression: str) -> Any:
    schema = schema_for(SERVICE)
    assert schema is not None
    declared = schema_type(schema, "Service")
    names = {"object": declared.type, "oldObject": declared.type}
    env = environment().extend(names, declared.objects)
    old = {**OBJECT, "spec": {"ports": OBJECT["spec"]["ports"][::-1]}}  # type: ignore[index]  # JSON
    activation = {"object": typed(OBJECT, schema), "oldObject": typed(old, schema)}
    return env.program(env.compile(expression).checked()).evaluate_metered(activation)[0]


@pytest.mark.parametrize(
    "expression",
    [
        "object.spec.ports == oldObject.spec.ports",
        "(object.spec.ports + oldObject.spec.ports).size() == 2",
        "object.metadata.creationTimestamp.getFullYear() == 2024",
        "object.spec.ports[1].targetPort == 80 && object.spec.ports[0].targetPort == 'web'",
        "!has(object.spec.type)",
    ],
)
def test_built_in_kinds(expression: str) -> None:
    assert evaluate(expression) is True


MISFITS: list[tuple[dict[str, Any], Any, str]] = [
    ({"type": "string"}, None, "invalid data, got null for schema with nullable=false"),
    ({"type": "string"}, 1, "invalid data, expected string, got int64"),
    ({"type": "string"}, [], "invalid data, expected string, got []interface {}"),
    ({"type": "integer"}, {}, "invalid data, expected int, got map[string]interface {}"),
    ({"type": "integer"}, "1", "invalid data, expected int, got string"),
    ({"type": "number"}, True, "invalid data, expected float, got bool"),
    ({"type": "boolean"}, 1.5, "invalid data, expected bool, got float64"),
    (
        {"type": "object"},
        [],
        "invalid data, expected a map for the provided schema with type=object",
    ),
    (
        {"type": "array", "items": {}},
        {},
        "invalid data, expected an array for the provided schema with type=array",
    ),
    ({"type": "array"}, [], "invalid array type, expected Items with a non-empty Schema"),
    (
        {"type": "array", "items": {}, "x-kubernetes-list-type": "heap"},
        [],
        "invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got heap",
    ),
    (
        {"x-kubernetes-int-or-string": True},
        1.5,
        "invalid data, expected XIntOrString value to be either a string or integer",
    ),
    ({"type": "string", "format": "duration"}, "soon", "Invalid duration soon: unable to parse"),
    (
        {"type": "string", "format": "date"},
        "soon",
        'Invalid date formatted string soon: parsing time "soon" as "2006-01-02": cannot parse '
        '"soon" as "2006"',
    ),
    ({"type": "string", "format": "date-time"}, "soon", "Invalid date-time formatted string soon"),
    ({"type": "string", "format": "byte"}, "!", "Invalid byte formatted string !: illegal base64"),
    ({}, 1, "invalid type, expected object, array, number, integer, boolean or string"),
]


@pytest.mark.parametrize(("schema", "value", "message"), MISFITS)
def test_misfits(schema: dict[str, Any], value: Any, message: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        typed(value, decode_schema(schema))
    assert caught.value.message.startswith(message)


PLAIN_EXPRESSIONS = [
    "x[1]",
    "x[2]",
    "x[dyn('a')]",
    "x.?a",
    "x[?1]",
    "x.a",
    "has(x.a)",
    "size(x)",
    "y.size() == 2",
    "'a' in x",
    "'a' in y",
    "x.all(one, one < 'c')",
    "x.map(one, one + '!')",
    "y.exists_one(one, one == 'a')",
    "x.transformList(i, one, [i, one])",
    "type(x) == list",
    "type(x)",
    "x.join()",
    "y.join('-')",
    "y.sort()",
    "y.distinct()",
    "y.reverse()",
    "y.slice(0, 1)",
    "[y, y].flatten()",
    "optional.ofNonZeroValue(x)",
    "sets.contains(['a', 'b', 'c'], y)",
    "'%s'.format([x])",
    "x.isSorted()",
    "y.isSorted()",
    "y.max()",
    "y.indexOf('a')",
    "x == 1",
    "x != {}",
    "1 in x",
    "{'k': y}.k[0]",
    "['b', 'a'] == x",
    "['a', 'b'] == x",
    "['c'] + x",
    "-x",
    "x - x",
    "x < x",
]
"""What no list decides for itself: `x` is of any type, `y` a list of strings."""


def test_preserved_values_can_be_compared() -> None:
    schema = decode_schema({"x-kubernetes-preserve-unknown-fields": True})
    a, b, c = (typed(value, schema) for value in ({"x": [1]}, {"x": [1]}, {"x": [1.0]}))
    assert isinstance(a, Preserved)
    assert a == b
    assert a != c


@pytest.mark.parametrize("expression", PLAIN_EXPRESSIONS)
def test_typed_lists_do_what_lists_do(expression: str) -> None:
    env = environment().extend({"x": types.DYN, "y": types.list_of(types.STRING)})
    program = env.program(env.compile(expression).checked())
    plain = ["b", "a"]
    for one in (SetList(plain), MapList(plain, ("k",))):
        for run in (program.evaluate, program.evaluate_metered):
            assert _outcome(run, one) == _outcome(run, plain)


def _outcome(run: Callable[[dict[str, Any]], Any], items: list[str]) -> str:
    try:
        return repr(run({"x": items, "y": items}))
    except EvaluationError as error:
        return error.message


def test_typed_lists_decide_what_they_equal() -> None:
    assert SetList(["a", "b"]) == ["b", "a"]
    assert SetList(["a", "b"]) == ["b", "b"], "as upstream: nobody looks for what is missing"
    assert SetList(["a", "b"]) != ["b", "c"]
    assert MapList([{"k": 1, "v": 2}], ("k",)) == [{"k": 1, "v": 2}]
    assert MapList([{"k": 1}], ("k",)) != [{"k": 2}]
    assert MapList([{"k": 1}], ("k",)) != []


def _typed(kind: str, items: list[Any]) -> list[Any]:
    return SetList(items) if kind == "set" else MapList(items, ("k",))


@pytest.mark.parametrize("kind", ["set", "map"])
@pytest.mark.parametrize(
    "item",
    [
        lambda number: {"k": f"a{number}", "v": number},
        lambda number: {"k": 2**60 + number},
        lambda number: f"a{number}" if number % 2 else number,
        lambda number: number / 2,
        lambda number: [number],
    ],
)
def test_typed_lists_are_compared_and_added_in_proportion(
    kind: str, item: Callable[[int], Any]
) -> None:
    def work(count: int) -> Callable[[], object]:
        items = [item(number) for number in range(count)]
        other = items[::-1]
        return lambda: (_typed(kind, items) == other, _typed(kind, items) + other)

    is_equal, added = cast("tuple[bool, list[Any]]", work(5)())
    if isinstance(item(0), dict) or kind == "set":
        assert (is_equal, len(added)) == (True, 5)
    assert growth(work, 50) < LINEAR


def test_a_part_that_does_not_fit_is_an_error_where_somebody_looks_at_it() -> None:
    schema = decode_schema(
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    )
    value = typed({"a": 1, "b": "x"}, schema)
    assert (value["a"], value.get("a"), value.get("c", 5), "a" in value) == (1, 1, 5, True)
    assert "c" not in value
    looks: list[Callable[[], Any]] = [
        lambda: value["b"],
        lambda: value.get("b"),
        lambda: "b" in value,
        value.values,
        value.items,
        lambda: value == {"a": 1},
    ]
    for look in looks:
        with pytest.raises(EvaluationError, match="invalid data, expected int"):
            look()
