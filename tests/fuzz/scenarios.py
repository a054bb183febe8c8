"""Random scenarios: policies and objects, or a schema and custom resources.

A scenario is one JSON value, so that it can be made smaller by leaving parts out, whatever they
are: those that make no sense any more no longer show what was looked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from celadon.cel import types
from celadon.kube.library.environments import environment
from tests.fuzz.pieces import Piece
from tests.fuzz.typed_expressions import Expressions, objects

GROUP = "fuzz.celadon.dev"
Scenario = dict[str, Any]
"""`namespace`, `policies` with their bindings, `definition` of the kind `Thing`, `objects`."""

Maker = Callable[[int], Scenario]
"""From a seed."""

_OBJECT = re.compile(r"\bobject\b")
_BOOL = types.BOOL
ACTIONS = (["Deny"], ["Warn"], ["Audit"], ["Deny", "Audit"], ["Warn", "Audit"])


def policy_scenario(seed: int) -> Scenario:
    """One or two policies for things whose `spec` is what expressions ask for."""
    random = Random(seed)
    name = f"celadon-fuzz-{seed}"
    policies = [_policy(random, f"{name}-{i}") for i in range(random.randrange(1, 3))]
    found = [_thing(f"t{i}", spec) for i, spec in enumerate(objects())]
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "namespace": name,
        "policies": policies,
        "definition": _definition(name, schema),
        "objects": found,
    }


def schema_scenario(seed: int) -> Scenario:
    """A random structural schema, and things that nearly keep to it."""
    random = Random(seed)
    name = f"celadon-fuzz-{seed}"
    schema = _schema(random, 3, kind="object")
    found = [_thing(f"t{i}", _value(random, schema)) for i in range(6)]
    definition = _definition(name, schema)
    return {"namespace": name, "policies": [], "definition": definition, "objects": found}


def _thing(name: str, spec: Any) -> dict[str, Any]:
    metadata = {"name": name}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": metadata, "spec": spec}


def _definition(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    plural = f"things{name.rpartition('-')[2]}"
    names = {"plural": plural, "singular": plural, "kind": "Thing", "listKind": "ThingList"}
    group = f"{name}.{GROUP}"
    whole = {"type": "object", "properties": {"spec": schema}}
    version = {
        "name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": whole},
    }  # fmt: skip
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


# --- policies -----------------------------------------------------------------------------------


def _policy(random: Random, name: str) -> dict[str, Any]:
    """A policy with its binding; they are for the namespace of the scenario alone."""
    expressions = Expressions(environment().extend({"object": types.DYN}), random)

    def one(wanted: types.Type, depth: int = 3) -> str:
        return _rooted(expressions.piece(wanted, random.randrange(1, depth + 1)))

    rule = {
        "apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["*"],
    }  # fmt: skip
    spec: dict[str, Any] = {
        "failurePolicy": random.choice(("Fail", "Fail", "Ignore")),
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [_validation(random, one) for _ in range(random.randrange(1, 4))],
    }
    if random.random() < 0.4:
        spec["variables"] = [
            {"name": f"v{i}", "expression": one(types.DYN)} for i in range(random.randrange(1, 3))
        ]
        test = random.choice(("variables.v0 == 1", "variables.v0 != null", "!has(variables.v0)"))
        spec["validations"].append({"expression": test})
    if random.random() < 0.3:
        spec["matchConditions"] = [{"name": "c", "expression": one(_BOOL)}]
    if random.random() < 0.4:
        spec["auditAnnotations"] = [{"key": "k", "valueExpression": one(types.STRING)}]
    return {"name": name, "spec": spec, "actions": random.choice(ACTIONS)}


def _validation(random: Random, one: Callable[..., str]) -> dict[str, Any]:
    found = {"expression": one(_BOOL, 5)}
    if random.random() < 0.4:
        found["messageExpression"] = one(types.STRING)
    if random.random() < 0.3:
        found["message"] = "no"
    if random.random() < 0.2:
        found["reason"] = random.choice(("Forbidden", "Invalid", "RequestEntityTooLarge"))
    return found


def _rooted(piece: Piece) -> str:
    """The text, about the object's spec."""
    return _OBJECT.sub("object.spec", piece.text)


# --- schemas ------------------------------------------------------------------------------------

_FORMATS = (
    *("date-time", "date", "duration", "uri", "email", "ipv4", "ipv6", "cidr", "uuid", "byte"),
    *("hostname", "mac", "hexcolor", "k8s-short-name", "nonsense"),
)
_TEXTS = (
    *("", "a", "abc", "é🐱", "10.0.0.1", "::1", "10.0.0.0/8", "1h30m", "2024-02-29"),
    *("2024-02-29T01:02:03Z", "a@b.c", "https://a.b/c", "aGk=", "00:1b:44:11:3a:b7", "#fff"),
    *("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "x" * 12, "a.b", "-a"),
)
_NUMBERS = (0, 1, -1, 2, 3, 7, 10, 1.5, 0.25, -2.5, 1000.5, 2147483648, 9223372036854775807, 1e300)
"""No whole number with a point: the command reads files as kubectl does, for which `2.0` is `2`."""

_RULES = {
    "string": ("self.size() < 4", "self.matches('^[a-z]*$')", "int(self) > 1"),
    "integer": ("self > 0", "self % 2 == 0", "1 / self > 0"),
    "number": ("self > 0.5", "self < 1e10"),
    "boolean": ("self", "!self"),
    "array": ("self.size() < 2", "self[0] == self[0]"),
    "object": ("has(self.a)", "self.size() < 9", "self.b == self.b", "true"),
}


def _schema(random: Random, depth: int, kind: str = "") -> dict[str, Any]:
    kinds = ["string", "integer", "number", "boolean"]
    if depth:
        kinds += ["array", "object", "object"]
    kind = kind or random.choice(kinds)
    found: dict[str, Any] = {"type": kind}
    if random.random() < 0.15:
        found["nullable"] = True
    _LIMITS[kind](random, found, depth)
    if random.random() < 0.25:
        found["x-kubernetes-validations"] = [{"rule": random.choice(_RULES[kind])}]
    if random.random() < 0.12:
        found["anyOf"] = [_branch(random, kind), _branch(random, kind)]
    return found


def _branch(random: Random, kind: str) -> dict[str, Any]:
    if kind == "string":
        return {"maxLength": random.randrange(5)}
    if kind in ("integer", "number"):
        return {"minimum": random.choice((0, 2, 5))}
    return {"required": [random.choice("ab")]} if kind == "object" else {}


def _text_limits(random: Random, found: dict[str, Any], depth: int) -> None:
    if random.random() < 0.4:
        found["format"] = random.choice(_FORMATS)
    if random.random() < 0.3:
        found["maxLength"] = random.choice((0, 1, 2, 5, 20))
    if random.random() < 0.2:
        found["minLength"] = random.choice((0, 1, 3))
    if random.random() < 0.2:
        found["pattern"] = random.choice(("^[a-z]+$", "a", "^$"))
    if random.random() < 0.15:
        found["enum"] = random.sample(("a", "b", "", "abc"), 2)


def _number_limits(random: Random, found: dict[str, Any], depth: int) -> None:
    whole = found["type"] == "integer"
    if random.random() < 0.3:
        found["format"] = random.choice(("int32", "int64") if whole else ("float", "double"))
    for limit in ("minimum", "maximum"):
        if random.random() < 0.3:
            found[limit] = random.choice((0, 1, 3, -2) if whole else (0, 1.5, 3, -0.5))
            if random.random() < 0.3:
                found[f"exclusive{limit.title()}"] = True
    if random.random() < 0.2:
        found["multipleOf"] = random.choice((1, 2, 3) if whole else (0.5, 0.1, 2))
    if random.random() < 0.1:
        found["enum"] = [1, 2, 3]


def _list_limits(random: Random, found: dict[str, Any], depth: int) -> None:
    found["items"] = _schema(random, depth - 1)
    if random.random() < 0.4:
        found["maxItems"] = random.randrange(3)
    if random.random() < 0.2:
        found["minItems"] = random.randrange(3)
    found.setdefault("maxItems", 5)


def _object_limits(random: Random, found: dict[str, Any], depth: int) -> None:
    if random.random() < 0.25 and depth < 3:
        found["additionalProperties"] = _schema(random, depth - 1)
        if random.random() < 0.4:
            found["maxProperties"] = random.randrange(1, 3)
        return
    names = random.sample(("a", "b", "c", "d", "x-y"), random.randrange(1, 4))
    found["properties"] = {name: _schema(random, max(depth - 1, 0)) for name in names}
    if random.random() < 0.4:
        found["required"] = random.sample(names, 1)


def _no_limits(random: Random, found: dict[str, Any], depth: int) -> None:
    """A boolean has none."""


_LIMITS: dict[str, Callable[[Random, dict[str, Any], int], None]] = {
    "string": _text_limits,
    "integer": _number_limits,
    "number": _number_limits,
    "boolean": _no_limits,
    "array": _list_limits,
    "object": _object_limits,
}


def _value(random: Random, schema: dict[str, Any]) -> Any:
    """Of the schema's type, mostly."""
    chance = random.random()
    if chance < 0.03:
        return random.choice((None, [], {}, "abc", 1, 2.5, True))
    match schema["type"]:
        case "string":
            return random.choice(_TEXTS)
        case "integer":
            whole = [n for n in _NUMBERS if isinstance(n, int)]
            return random.choice(whole if chance < 0.8 else _NUMBERS)
        case "number":
            return random.choice(_NUMBERS)
        case "boolean":
            return random.random() < 0.5
        case "array":
            return [_value(random, schema["items"]) for _ in range(random.randrange(4))]
        case _:
            return _members(random, schema)


def _members(random: Random, schema: dict[str, Any]) -> dict[str, Any]:
    if "additionalProperties" in schema:
        names = random.sample(("a", "b", "c"), random.randrange(4))
        return {name: _value(random, schema["additionalProperties"]) for name in names}
    known = schema.get("properties", {})
    return {name: _value(random, one) for name, one in known.items() if random.random() < 0.8}


# --- smaller ones -------------------------------------------------------------------------------


def smaller(value: Any) -> Iterator[Any]:
    """All values that lack one part of a JSON value, the largest parts first."""
    if isinstance(value, dict):
        for key in value:
            yield {other: one for other, one in value.items() if other != key}
        for key, one in value.items():
            for less in smaller(one):
                yield {**value, key: less}
    elif isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
        for index, one in enumerate(value):
            for less in smaller(one):
                yield [*value[:index], less, *value[index + 1 :]]


def shrunk(scenario: Scenario, is_found: Callable[[Scenario], bool], tries: int = 300) -> Scenario:
    """A scenario that lacks whatever is not needed for what was found; at most so many tries."""
    while tries > 0:
        for one in smaller(scenario):
            tries -= 1
            if tries <= 0:
                return scenario
            if is_found(one):
                scenario = one
                break
        else:
            return scenario
    return scenario
