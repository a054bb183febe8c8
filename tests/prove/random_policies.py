"""Random policies about built-in and custom kinds, for what is claimed of them.

Expressions ask for fields that a kind has, in the ways of policies: whether they are there, what
they are equal to, for all items of a list. Fields that Go writes in an odd way are asked for more
often.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

from celadon.kube import JsonObject
from celadon.kube.resources import Resource, known_resources
from celadon.kube.schemas import Schema, built_in, resolved, schema_for
from celadon.kube.schemas.schema_packs import INT_OR_STRING, QUANTITY
from tests.prove.test_policy_differences import changed
from tests.prove.test_policy_questions import LIMITS, policy

_KINDS: Final = (
    *("pods", "services", "configmaps", "limitranges", "persistentvolumeclaims", "events"),
    *("deployments", "daemonsets", "statefulsets", "jobs", "cronjobs", "ingresses", "csinodes"),
    *("networkpolicies", "roles", "poddisruptionbudgets", "endpointslices", "flowschemas"),
    *("horizontalpodautoscalers", "storageclasses", "secrets", "namespaces", "controllerrevisions"),
)
CUSTOM: Final = "limits"
DEFINITIONS: Final = (LIMITS,)
_DEEPEST: Final = 5
_OPERATIONS: Final = (("CREATE",), ("CREATE",), ("UPDATE",), ("DELETE",), ("CREATE", "UPDATE"))

_WAYS: Final[dict[str, tuple[str, ...]]] = {
    "text": (
        *("{x} == 'a'", "{x} != ''", "{x}.startsWith('a')", "{x} in ['a', 'b', '']", "{x} != null"),
        *("{x}.size() < 2", "{x}.matches('^[a-b]*$')", "type({x}) == string", "{x}.contains('/')"),
    ),
    "integer": (
        *("{x} == 1", "{x} < 2", "{x} != 0", "{x} % 2 == 0", "{x} + 1 > 1", "type({x}) == int"),
        *("{x} in [0, 1]", "{x} != null", "{x} <= 1.5", "string({x}) != '0'", "[7, 8][{x}] > 1"),
    ),
    "bool": ("{x}", "!{x}", "{x} == true", "{x} != null"),
    "quantity": ("isQuantity({x})", "quantity({x}).isLessThan(quantity('2'))", "{x} == '1'"),
    "either": ("type({x}) == int", "{x} == 1 || {x} == 'a'", "string({x}) != '1'", "{x} != null"),
    "object": ("{x} != null", "type({x}) != string", "has({x}.a)"),
}  # fmt: skip
_DEFAULTS: Final = {"text": "''", "integer": "0", "bool": "false", "quantity": "'1'"}


@dataclass
class Writer:
    """Writes expressions about one kind. Loops have variables `v0`, `v1`, ... ."""

    random: Random
    loops: int = 0

    def test(self, schema: Schema, place: str, depth: int = _DEEPEST) -> str:
        """A bool about what stands at a place."""
        schema = resolved(schema)
        if schema.properties and depth:
            return self._about_field(schema, place, depth)
        if schema.items is not None:
            return self._about_list(schema.items, place, depth)
        if schema.additional_properties is not None:
            return self._about_map(schema.additional_properties, place, depth)
        return self.random.choice(_WAYS[_sort(schema)]).replace("{x}", place)

    def _about_field(self, schema: Schema, place: str, depth: int) -> str:
        name = self._name(schema)
        inside, test = f"{place}.{name}", self.test
        if self.random.random() < 0.15 and name not in ("spec", "metadata"):
            return f"has({inside})"
        below = resolved(schema.properties[name])
        kind = _sort(below)
        if kind in _DEFAULTS and not below.properties and self.random.random() < 0.4:
            return test(below, f"{place}.?{name}.orValue({_DEFAULTS[kind]})", depth - 1)
        if below.items is not None and self.random.random() < 0.3:
            return test(below, f"{place}.?{name}.orValue([])", depth - 1)
        guards = ("",) if name in ("spec", "metadata") else ("!has({}) || ", "has({}) && ", "", "")
        guard = self.random.choice(guards)
        return f"({guard.format(inside)}{test(below, inside, depth - 1)})"

    def _name(self, schema: Schema) -> str:
        """A field; one that is not just left out where it is empty rather than others."""
        known = [one for one in sorted(schema.properties) if one.isidentifier() and one != "in"]
        known = [one for one in known if one not in ("apiVersion", "kind", "namespace", "status")]
        if schema.name in built_in() and self.random.random() < 0.4:
            encoding = built_in().encoding(schema.name)
            odd = {*encoding.get("always", {}), *encoding.get("ptr", ()), *schema.required}
            known = [one for one in known if one in odd] or known
        if "spec" in known and self.random.random() < 0.8:
            return "spec"
        return self.random.choice(known or ["metadata"])

    def _about_list(self, items: Schema, place: str, depth: int) -> str:
        shape = self.random.randrange(10)
        if shape == 0:
            return f"{place} != null"
        if shape == 1:
            return f"size({place}) < {self.random.randrange(4)}"
        if shape == 2:
            return self.test(items, f"{place}[{self.random.randrange(2)}]", depth - 1)
        variable = f"v{self.loops}"
        self.loops += 1
        inside = self._all_of(items, variable, depth)
        macro = self.random.choice(("all", "all", "exists", "exists_one", "filter"))
        if macro == "filter":
            found = f"{place}.filter({variable}, {inside})"
            return f"{found}.all({variable}, {self._all_of(items, variable, depth)})"
        return f"{place}.{macro}({variable}, {inside})"

    def _all_of(self, items: Schema, variable: str, depth: int) -> str:
        number = self.random.choice((1, 1, 2))
        return " && ".join(self.test(items, variable, depth - 1) for _ in range(number))

    def _about_map(self, values: Schema, place: str, depth: int) -> str:
        key = self.random.choice("abc")
        way = self.random.randrange(4)
        if way == 0:
            return f"'{key}' in {place}"
        if way == 1:
            return f"{place}.all(k, k != '{key}')"
        if way == 2:
            return self.test(values, f"{place}['{key}']", depth - 1)
        return f"(!('{key}' in {place}) || {self.test(values, f'{place}[{key!r}]', depth - 1)})"


def _sort(schema: Schema) -> str:
    if schema.int_or_string or INT_OR_STRING in (schema.name, schema.ref):
        return "either"
    if schema.format == "quantity" or QUANTITY in (schema.name, schema.ref):
        return "quantity"
    sorts = {"string": "text", "boolean": "bool", "integer": "integer", "number": "integer"}
    return sorts.get(schema.type, "object")


def random_policy(seed: int) -> tuple[JsonObject, Resource]:
    """A policy of one to three validations about one kind, now and then with conditions."""
    random = Random(seed)
    name = random.choice((*_KINDS, CUSTOM))
    resource, schema = _custom() if name == CUSTOM else _built_in(name)
    operations = random.choice(_OPERATIONS)
    root = "oldObject" if operations == ("DELETE",) else "object"

    def expression() -> str:
        writer = Writer(random)
        join: Callable[[list[str]], str] = random.choice((" && ".join, " || ".join))
        parts = [writer.test(schema, root) for _ in range(random.choice((1, 1, 2, 3)))]
        return random.choice(("{}", "{}", "!({})")).format(join(parts))

    conditions = tuple(f"({expression()}) == true" for _ in range(random.choice((0, 0, 0, 1, 2))))
    made = policy(
        "true", resource.gvr.resource, resource.gvr.group, operations=operations,
        conditions=conditions,
    )  # fmt: skip
    (rule,) = made["spec"]["matchConstraints"]["resourceRules"]
    rule["apiVersions"] = [resource.gvr.version]
    number = random.choice((1, 1, 2, 3))
    validations = [{"expression": expression()} for _ in range(number)]
    failures = random.choice(("Fail", "Fail", "Ignore"))
    return changed(made, validations=validations, failurePolicy=failures), resource


def _built_in(name: str) -> tuple[Resource, Schema]:
    resource = next(
        one
        for one in known_resources()
        if one.gvr.resource == name and one.gvr.version == "v1" and one.served
    )
    schema = schema_for(resource.gvk)
    assert schema is not None
    return resource, schema


def _custom() -> tuple[Resource, Schema]:
    from celadon.prove.symbolic_requests import KnownKinds

    kinds = KnownKinds.of(DEFINITIONS)
    (resource,) = kinds.resources
    return resource, kinds.custom[resource.gvk].schema
