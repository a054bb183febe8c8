"""CustomResourceDefinitions and the objects they are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.hostile.hostile_case import BROKEN, DENIED, OK, UNREADABLE, HostileCase, policy, texts

_ANY: Final = frozenset({OK, DENIED, BROKEN, UNREADABLE})
_PRESERVED: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _definition(spec: Any, **more: Any) -> dict[str, Any]:
    """Of `Thing`s, whose `spec` has that schema."""
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
        **more,
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {
                "plural": "things",
                "singular": "thing",
                "kind": "Thing",
                "listKind": "ThingList",
            },
            "versions": [version],
        },
    }


def _thing(spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "t", "namespace": "default"},
        "spec": spec,
    }


def _case(
    name: str, schema: Callable[[], Any], value: Callable[[], Any] = dict, **more: Any
) -> HostileCase:
    """A definition and one object of it."""
    files = {
        "rules.json": lambda: policy("object == object"),
        "definition.json": lambda: texts(_definition(schema(), **more)),
        "object.json": lambda: texts(_thing(value())),
    }
    arguments = ("check", "-f", "rules.json", "-f", "definition.json", "object.json")
    return HostileCase(f"crd: {name}", arguments, files, _ANY)


def _nested(depth: int, leaf: Any) -> Callable[[], Any]:
    def make() -> Any:
        schema = leaf
        for _ in range(depth):
            schema = {"type": "object", "properties": {"a": schema}}
        return schema

    return make


def _lists(depth: int) -> Callable[[], Any]:
    def make() -> Any:
        schema: Any = {"type": "string"}
        for _ in range(depth):
            schema = {"type": "array", "items": schema}
        return schema

    return make


def _nots(depth: int) -> Any:
    schema: Any = {"minimum": 1}
    for _ in range(depth):
        schema = {"not": schema}
    return {"type": "integer", **schema}


def _junctors(word: str, width: int, depth: int) -> Callable[[], Any]:
    def make() -> Any:
        schema: Any = {"minimum": 1}
        for _ in range(depth):
            schema = {word: [schema] * width}
        return {"type": "object", "properties": {"a": {"type": "integer", **schema}}}

    return make


def _wide(count: int, leaf: Any) -> Callable[[], Any]:
    return lambda: {"type": "object", "properties": {f"p{i}": leaf for i in range(count)}}


def _of(leaf: Any) -> Callable[[], Any]:
    return lambda: {"type": "object", "properties": {"a": leaf}}


def _ruled(rule: str, leaf: Any, count: int = 1) -> Callable[[], Any]:
    rules = [{"rule": rule.replace("N", str(i))} for i in range(count)]
    return _of({**leaf, "x-kubernetes-validations": rules})


def _listed(kind: str, **more: Any) -> Callable[[], Any]:
    items: Any = {"type": "string"}
    if kind == "map":
        items = {"type": "object", "properties": {"k": {"type": "string"}}, "required": ["k"]}
        more["x-kubernetes-list-map-keys"] = ["k"]
    return _of({"type": "array", "items": items, "x-kubernetes-list-type": kind, **more})


_STRING: Final = {"type": "string"}
_INTEGERS: Final = {"type": "array", "items": {"type": "integer"}}
_BOUNDED: Final = {**_INTEGERS, "maxItems": 100_000}

CASES: Final[tuple[HostileCase, ...]] = (
    _case("a schema 400 deep", _nested(400, _STRING)),
    _case("a schema 3000 deep", _nested(3000, _STRING)),
    _case("lists 3000 deep", _lists(3000)),
    _case("not not not", lambda: {"type": "object", "properties": {"a": _nots(3000)}}),
    _case("anyOf of anyOf", _junctors("anyOf", 3, 8), lambda: {"a": 0}),
    _case("oneOf of oneOf", _junctors("oneOf", 3, 8), lambda: {"a": 5}),
    _case("allOf of allOf", _junctors("allOf", 9, 4), lambda: {"a": 0}),
    _case("many anyOf", _junctors("anyOf", 20_000, 1), lambda: {"a": 0}),
    _case("many properties", _wide(20_000, _STRING), lambda: {f"p{i}": 1 for i in range(20_000)}),
    _case(
        "many patterns",
        lambda: {
            "type": "object",
            "properties": {
                f"p{i}": {"type": "string", "pattern": f"^a{{{i}}}b{{{i}}}$"} for i in range(900)
            },
        },
        lambda: {f"p{i}": "ab" for i in range(900)},
    ),
    _case(
        "a bad pattern",
        _of({**_STRING, "pattern": "^(a|aa)+$"}),
        lambda: {"a": "a" * 500_000 + "b"},
    ),
    _case(
        "a worse pattern",
        _of({**_STRING, "pattern": "^((a{0,30}){0,30}){0,30}$"}),
        lambda: {"a": "a" * 3000 + "b"},
    ),
    _case(
        "a pattern of a megabyte",
        _of({**_STRING, "pattern": "(a|b)" * 150_000}),
        lambda: {"a": "ab"},
    ),
    _case(
        "a pattern that is none", _of({**_STRING, "pattern": "(" * 400_000}), lambda: {"a": "ab"}
    ),
    _case(
        "an enum of many",
        _of({**_STRING, "enum": [str(i) for i in range(80_000)]}),
        lambda: {"a": "x"},
    ),
    _case(
        "an enum of lists",
        _of({**_PRESERVED, "enum": [{"a": [i]} for i in range(40_000)]}),
        lambda: {"a": {"a": [3]}},
    ),
    _case("an enum of the same", _of({**_STRING, "enum": ["x"] * 100_000}), lambda: {"a": "x"}),
    _case(
        "many required",
        _of({"type": "object", "required": [f"k{i}" for i in range(60_000)]}),
        lambda: {"a": {}},
    ),
    _case(
        "a default of a megabyte",
        _of({"type": "array", "items": {"type": "integer"}, "default": list(range(100_000))}),
        dict,
    ),
    _case(
        "a default that does not fit",
        _of({"type": "array", "items": {"type": "string"}, "default": list(range(60_000))}),
        dict,
    ),
    _case("defaults in defaults", _nested(200, {"type": "string", "default": "x"}), dict),
    _case("a set of many", _listed("set"), lambda: {"a": [str(i) for i in range(70_000)]}),
    _case("a set of the same", _listed("set"), lambda: {"a": ["x"] * 100_000}),
    _case("a map of many", _listed("map"), lambda: {"a": [{"k": str(i)} for i in range(40_000)]}),
    _case("a map of the same", _listed("map"), lambda: {"a": [{"k": "x"}] * 50_000}),
    _case(
        "unique items",
        _of({"type": "array", "items": _STRING, "uniqueItems": True}),
        lambda: {"a": [str(i) for i in range(50_000)]},
    ),
    _case(
        "numbers without end",
        _of({"type": "number", "multipleOf": 1e-300}),
        lambda: {"a": int("9" * 4000)},
    ),
    _case(
        "a great bound",
        _of({"type": "string", "maxLength": 10**18, "minLength": 10**17}),
        lambda: {"a": "a" * 900_000},
    ),
    _case("many wrong values", _of(_INTEGERS), lambda: {"a": ["x"] * 100_000}),
    _case("many unknown fields", _of(_STRING), lambda: {f"x{i}": 1 for i in range(60_000)}),
    _case("an object 3000 deep", _of(_PRESERVED), lambda: _nested(3000, 1)()),
    _case("many rules", _ruled("self.size() != N", _STRING, 4000), lambda: {"a": "x"}),
    _case(
        "a rule that loops",
        _ruled("self.all(x, self.all(y, x == y))", _BOUNDED),
        lambda: {"a": [1] * 90_000},
    ),
    _case(
        "a rule about each",
        _of(
            {
                **_BOUNDED,
                "items": {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= 0"}]},
            }
        ),
        lambda: {"a": [1] * 90_000},
    ),
    _case(
        "a rule about each that fails",
        _of(
            {
                **_BOUNDED,
                "items": {
                    "type": "integer",
                    "x-kubernetes-validations": [
                        {"rule": "self < 0", "messageExpression": "'no ' + string(self)"}
                    ],
                },
            }
        ),
        lambda: {"a": [1] * 90_000},
    ),
    _case(
        "a rule with a pattern",
        _ruled("self.matches('^(a|aa)+$')", {**_STRING, "maxLength": 900_000}),
        lambda: {"a": "a" * 900_000},
    ),
    _case(
        "a rule about equality",
        _ruled("self == self", _PRESERVED | {"maxProperties": 10}),
        lambda: {"a": {"b": list(range(100_000))}},
    ),
    _case("broken rules", _ruled("self..x", _STRING, 2000), lambda: {"a": "x"}),
    _case(
        "rules in deep schemas",
        _nested(200, {**_STRING, "x-kubernetes-validations": [{"rule": "self != ''"}]}),
        dict,
    ),
    _case(
        "many columns",
        _of(_STRING),
        dict,
        additionalPrinterColumns=[
            {"name": f"c{i}", "type": "string", "jsonPath": ".spec.a"} for i in range(8000)
        ],
    ),
    _case(
        "a column without end",
        _of(_STRING),
        dict,
        additionalPrinterColumns=[{"name": "c", "type": "string", "jsonPath": ".a" * 200_000}],
    ),
    _case("a schema that is a list", lambda: [[]] * 100_000),
    _case(
        "an int-or-string of many digits",
        _of({"x-kubernetes-int-or-string": True}),
        lambda: {"a": int("9" * 4000)},
    ),
    _case(
        "embedded objects",
        _of(
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "x-kubernetes-preserve-unknown-fields": True,
                },
            }
        ),
        lambda: {"a": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}] * 9000},
    ),
)
