"""How rules become functions: every kind of rule, on small objects, and all rules of the pack."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.defaulting.defaulting_context import (
    DefaultingContext,
    Each,
    Run,
    lookup,
    parse_path,
)
from celadon.kube.defaulting.defaulting_rules import compile_rules, compiled, enabled_gates
from celadon.kube.names import GroupVersionKind, parse_api_version
from celadon.kube.resources.admission_plugins import DEFAULT_PLUGINS
from celadon.kube.schemas import schema_packs
from celadon.kube.schemas.struct_decoding import EmptyValue

NO_GATES: frozenset[str] = frozenset()


def applied(obj: dict[str, Any], *rules: dict[str, Any]) -> dict[str, Any]:
    run = Run(obj, DefaultingContext(), NO_GATES)
    for rule in compile_rules(rules, NO_GATES):
        rule(obj, run)
    return obj


@pytest.mark.parametrize(("path", "want"), [("x.a", {}), ("x.b", {"a": [1]})])
def test_what_came_empty_stays_so(path: str, want: dict[str, Any]) -> None:
    obj: dict[str, Any] = {"x": {}}
    empties = (EmptyValue(tuple(path.split(".")), []),)
    run = Run(obj, DefaultingContext(), NO_GATES, empties=empties)
    for rule in compile_rules([{"path": "x.a", "value": [1], "nil": True}], NO_GATES):
        rule(obj, run)
    assert obj == {"x": want}


@pytest.mark.parametrize(
    ("obj", "rule", "want"),
    [
        ({}, {"path": "a", "value": 1}, {"a": 1}),
        ({"a": 2}, {"path": "a", "value": 1}, {"a": 2}),
        ({"a": 2}, {"path": "a", "value": 1, "force": True}, {"a": 1}),
        ({"a": 2}, {"path": "a", "value": {"b": []}, "force": True}, {"a": {"b": []}}),
        ({}, {"path": "x.a", "value": 1}, {}),
        ({"x": {}}, {"path": "x.a", "value": 1}, {"x": {"a": 1}}),
        ({"x": [{}, {"a": 2}]}, {"path": "x[*].a", "value": 1}, {"x": [{"a": 1}, {"a": 2}]}),
        ({"x": {"k": {}}}, {"path": "x{*}.a", "value": 1}, {"x": {"k": {"a": 1}}}),
        ({"b": 3}, {"path": "a", "copyFrom": "b"}, {"a": 3, "b": 3}),
        ({}, {"path": "a", "copyFrom": "b"}, {}),
        ({"b": {}}, {"path": "a", "value": 1, "when": {"b": {"exists": True}}}, {"b": {}, "a": 1}),
        ({"b": 0}, {"path": "a", "value": 1, "when": {"b": {"exists": True}}}, {"b": 0, "a": 1}),
        ({"a": 1, "b": 3}, {"path": "a", "copyFrom": "b", "force": True}, {"a": 3, "b": 3}),
        ({"x": {}, "b": 3}, {"path": "x.a", "copyFrom": "$.b"}, {"x": {"a": 3}, "b": 3}),
        ({"a": 1}, {"path": "a", "delete": True}, {}),
        ({"b": "v"}, {"path": "a", "value": 1, "when": {"b": "v"}}, {"a": 1, "b": "v"}),
        ({"b": "w"}, {"path": "a", "value": 1, "when": {"b": ["v", "w"]}}, {"a": 1, "b": "w"}),
        ({"b": "x"}, {"path": "a", "value": 1, "when": {"b": ["v", "w"]}}, {"b": "x"}),
        ({}, {"path": "a", "value": 1, "when": {"b": None}}, {"a": 1}),
        ({"b": 1}, {"path": "a", "value": 1, "when": {"b": None}}, {"b": 1}),
        ({"b": 1}, {"path": "a", "value": 1, "when": {"b": {"exists": True}}}, {"a": 1, "b": 1}),
        ({"b": ""}, {"path": "a", "value": 1, "when": {"b": {"exists": True}}}, {"b": ""}),
        (
            {"x": {"c": {"d": 1}}},
            {"path": "x.a", "value": 1, "when": {"c.d": 1}},
            {"x": {"a": 1, "c": {"d": 1}}},
        ),
        ({}, {"path": "a", "value": 1, "gate": "Off"}, {}),
        ({}, {"path": "a", "value": 1, "gate": "!Off"}, {"a": 1}),
        ({"f": {}}, {"path": "f", "use": "FieldRef"}, {"f": {"apiVersion": "v1"}}),
        ({"l": ["a"]}, {"path": "l", "fn": "appendUnique", "item": "b"}, {"l": ["a", "b"]}),
        ({"l": ["b"]}, {"path": "l", "fn": "appendUnique", "item": "b"}, {"l": ["b"]}),
        (
            {"m": {"a": "1", "b": "2"}},
            {"path": "m", "fn": "dropKeys", "keys": ["a"]},
            {"m": {"b": "2"}},
        ),
        ({"m": {"a": "1"}}, {"path": "m", "fn": "dropKeys", "keys": ["a"]}, {}),
        (
            {"s": [{"a": 1, "b": 2}]},
            {"path": "s[*]", "fn": "keepKeys", "keys": ["a"]},
            {"s": [{"a": 1}]},
        ),
        (
            {"kind": "Foo"},
            {"path": "n", "fn": "lower", "from": "kind"},
            {"kind": "Foo", "n": "foo"},
        ),
        (
            {"kind": "Foo"},
            {"path": "n", "fn": "suffix", "from": "kind", "suffix": "List"},
            {"kind": "Foo", "n": "FooList"},
        ),
        ({"v": -3}, {"path": "v", "fn": "negativeToOne"}, {"v": 1}),
        ({"v": 0}, {"path": "v", "fn": "negativeToOne"}, {"v": 0}),
        ({}, {"path": "v", "fn": "negativeToOne"}, {}),
        ({}, {"path": "t", "fn": "now"}, {"t": "1970-01-01T00:00:00Z"}),
        ({"t": "x"}, {"path": "t", "fn": "now"}, {"t": "x"}),
        ({"l": {"stopSignal": "S"}}, {"path": "l", "fn": "dropStopSignal"}, {}),
        (
            {"l": {"stopSignal": "S", "a": 1}},
            {"path": "l", "fn": "dropStopSignal"},
            {"l": {"a": 1}},
        ),
        ({"l": {}}, {"path": "l", "fn": "dropStopSignal"}, {"l": {}}),
    ],
)
def test_rule(obj: dict[str, Any], rule: dict[str, Any], want: dict[str, Any]) -> None:
    assert applied(obj, rule) == want


def test_values_are_not_shared_but_aliases_are() -> None:
    rule = {"path": "a", "value": {"b": []}}
    first, second = applied({}, rule), applied({}, rule)
    first["a"]["b"].append(1)
    assert second == {"a": {"b": []}}
    shared = applied({"b": {}}, {"path": "a", "copyFrom": "b", "alias": True})
    assert shared["a"] is shared["b"]
    copied = applied({"b": {}}, {"path": "a", "copyFrom": "b"})
    assert copied["a"] is not copied["b"]


def test_paths() -> None:
    assert parse_path("") == ()
    assert [step.each for step in parse_path("a.b[*].c{*}")] == [
        Each.FIELD,
        Each.ITEMS,
        Each.VALUES,
    ]
    assert lookup("a.b", {"a": []}, {}) is None


def test_gates() -> None:
    assert "PodLevelResources" in enabled_gates({})
    assert "MaxUnavailableStatefulSet" not in enabled_gates({})
    assert "MaxUnavailableStatefulSet" in enabled_gates({"AllBeta": True})
    gates = {"AllBeta": True, "MaxUnavailableStatefulSet": False}
    assert "MaxUnavailableStatefulSet" not in enabled_gates(gates)


def test_every_rule_of_the_pack_compiles() -> None:
    for kind, phases in schema_packs.load("defaults")["kinds"].items():
        api_version, _, name = kind.rpartition("/")
        gvk = GroupVersionKind(*parse_api_version(api_version), name)
        for phase in phases:
            if phase != "update":
                rules = compiled(gvk, phase, enabled_gates({}), DEFAULT_PLUGINS)
                assert rules or phase == "create"  # some only drop fields of gates that are off
