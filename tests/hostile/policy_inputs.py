"""Policies, bindings and what they look up, for `celadon check` and `celadon lint`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tests.hostile.hostile_case import (
    BROKEN,
    CONFIG_MAP,
    DENIED,
    OK,
    UNREADABLE,
    HostileCase,
    judged,
    linted,
    policy,
    texts,
)

_ANY: Final = (OK, DENIED, BROKEN, UNREADABLE)


def _chain(first: str, link: str, count: int, last: str, **spec: Any) -> Callable[[], str]:
    """Variables that read the one before; `V` stands for it."""

    def make() -> str:
        variables = {"v0": first}
        for i in range(1, count):
            variables[f"v{i}"] = link.replace("V", f"variables.v{i - 1}")
        return policy(last.replace("V", f"variables.v{count - 1}"), variables=variables, **spec)

    return make


def _many(count: int, text: str) -> Callable[[], str]:
    return lambda: policy(*(text.replace("N", str(n)) for n in range(count)))


def _message(text: str, count: int = 100, first: str = "[1]") -> Callable[[], str]:
    """A message expression about pairs of pairs."""

    def make() -> str:
        variables = {"v0": first}
        for i in range(1, count):
            variables[f"v{i}"] = f"[variables.v{i - 1}, variables.v{i - 1}]"
        asked = text.replace("V", f"variables.v{count - 1}")
        checks = [{"expression": "false", "messageExpression": asked}]
        return policy(variables=variables, validations=checks)

    return make


def _annotation(text: str) -> Callable[[], str]:
    return lambda: policy(
        "true",
        variables={"v": "lists.range(1000)"},
        auditAnnotations=[{"key": f"k{i}", "valueExpression": text} for i in range(20)],
    )


def _conditions(count: int) -> Callable[[], str]:
    conditions = [{"name": f"c{i}", "expression": f"object.kind != '{i}'"} for i in range(count)]
    return lambda: policy("true", matchConditions=conditions)


def _selector(count: int) -> Callable[[], str]:
    expressions = [
        {"key": f"k{i}", "operator": "NotIn", "values": [str(i), "x" * 50]} for i in range(count)
    ]
    everything = [
        {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
    ]
    return lambda: policy(
        "true",
        matchConstraints={
            "resourceRules": everything,
            "objectSelector": {"matchExpressions": expressions},
            "namespaceSelector": {"matchExpressions": expressions[: count // 10]},
        },
    )


def _rules(count: int) -> Callable[[], str]:
    rules = [
        {
            "apiGroups": [f"g{i}.example.com"],
            "apiVersions": ["v1"],
            "operations": ["CREATE"],
            "resources": ["things"],
        }
        for i in range(count)
    ]
    return lambda: policy("true", matchConstraints={"resourceRules": rules})


def _policies(count: int, text: str) -> Callable[[], str]:
    def make() -> str:
        made = policy(text)
        return "\n".join(
            made.replace('"name": "p"', f'"name": "p{i}"')
            .replace('"name": "b"', f'"name": "b{i}"')
            .replace('"policyName": "p"', f'"policyName": "p{i}"')
            for i in range(count)
        )

    return make


def _bindings(count: int) -> Callable[[], str]:
    def make() -> str:
        rule, bound = policy("object.kind == 'ConfigMap'").split("\n")
        more = [bound.replace('"name": "b"', f'"name": "b{i}"') for i in range(count)]
        return "\n".join([rule, *more])

    return make


def _params(count: int) -> Callable[[], str]:
    def make() -> str:
        rule, bound = policy(
            "params.data.a == object.data.a", paramKind={"apiVersion": "v1", "kind": "ConfigMap"}
        ).split("\n")
        binding = json.loads(bound)
        binding["spec"]["paramRef"] = {
            "selector": {"matchLabels": {"a": "b"}},
            "parameterNotFoundAction": "Deny",
        }
        params = [
            {
                **CONFIG_MAP,
                "metadata": {"name": f"c{i}", "namespace": "default", "labels": {"a": "b"}},
            }
            for i in range(count)
        ]
        return texts(json.loads(rule), binding, *params)

    return make


_MIB: Final = "'" + "a" * 90_000 + "'"

_CHAINS: Final = {
    "a chain of 180 variables": _chain("object.data.a == 'b'", "V", 180, "V"),
    "a chain of 180 failing variables": _chain("object.data.zz", "V", 180, "V == 1"),
    "a chain of 3000 variables": _chain("object.data.a == 'b'", "V", 3000, "V"),
    "a chain of 3000 failing variables": _chain("object.data.zz", "V", 3000, "V == 1"),
    "a chain of 10000 variables": _chain("true", "V", 10_000, "V"),
    "variables that read all twice": _chain("1", "V + V - V", 1000, "V == 1"),
    "doubled lists": _chain("[1, 2]", "V + V", 40, "V.size() > 0"),
    "doubled lists, many": _chain("[1, 2]", "(V + V).slice(0, 2)", 1000, "V.size() > 0"),
    "doubled lists, kept": _chain("lists.range(9000)", "V + [1]", 2000, "V.size() > 0"),
    "doubled texts": _chain("'ab'", "V + V", 60, "V.size() > 0"),
    "doubled wide texts": _chain("'\U0001f4a3'", "V + V", 60, "V.size() > 0"),
    "wide texts, many": _chain("'\U0001f4a3' + " + _MIB, "V + 'a'", 1000, "V.size() > 0"),
    "pairs of pairs": _chain("[1, 2]", "[V, V]", 300, "V == V"),
    "pairs of pairs, both built": _chain("[1, 2]", "[V, V]", 300, "[V] == [V]"),
    "pairs of pairs, found": _chain("[1, 2]", "[V, V]", 300, "V in [[1], V]"),
    "pairs of pairs, flattened": _chain("[1, 2]", "[V, V]", 100, "V.flatten(200).size() > 0"),
    "pairs of pairs, formatted": _chain("[1, 2]", "[V, V]", 100, "'%s'.format([V]) == ''"),
    "pairs of pairs, nothing else": _chain("[1, 2]", "[V, V]", 5000, "V.size() == 2"),
    "maps of maps": _chain("{'a': 1}", "{'a': V, 'b': V}", 300, "V == V"),
    "maps of many types": _chain("{'a': 1}", "{'a': V, 'b': [V]}", 200, "V == V"),
    "typed lists of lists": _chain("[1]", "[V]", 2000, "V == V"),
    "loops in every variable": _chain("lists.range(1000)", "V.map(x, x + 1)", 2000, "V.size() > 0"),
    "all that a policy may cost": _chain(
        "lists.range(100000)", "V.map(x, x)", 15, "V.all(x, x >= 0)"
    ),
}

_RULES: Final = {
    "many validations": _many(6000, "object.kind != 'N'"),
    "the same validation": _many(10_000, "object.kind == 'ConfigMap'"),
    "many failing validations": _many(3000, "object.data.aN == 'b'"),
    "many broken validations": _many(3000, "object..data.aN"),
    "many untyped validations": _many(3000, "unknownN == 1"),
    "many patterns": _many(800, "!object.data.a.matches('a{1N}b{1N}')"),
    "many alternatives": _many(20, "!object.data.a.matches('" + "(x|y)*N" * 4000 + "')"),
    "long validations": _many(10, " || ".join(["object.kind != 'N'"] * 4500)),
    "one policy, many bindings": _bindings(4000),
    "many policies": _policies(1200, "object.kind == 'ConfigMap'"),
    "many params": _params(5000),
    "many match conditions": _conditions(5000),
    "a selector of many": _selector(5000),
    "many rules": _rules(6000),
    "a message of pairs": _message("'%s'.format([V])"),
    "a message too long": _message("string(V.size()) + " + _MIB),
    "annotations": _annotation("string(variables.v.map(x, x * x).size())"),
    "long annotations": _annotation("'" + "a" * 40_000 + "'"),
    "a failing message": _message("string(V[5].nothing)"),
    "messages of errors": lambda: policy(
        validations=[
            {"expression": f"object.data.k{i} == 1", "message": "m" * 900} for i in range(900)
        ]
    ),
    "expressions without end": lambda: policy("true" + " " * 90_000, "(" * 3000, "[" * 90_000),
    "a name without end": lambda: policy("true").replace('"p"', '"' + "p" * 300_000 + '"'),
    "spec as text": lambda: policy("true").replace('"spec": {', '"spec": "x", "y": {'),
    "validations as numbers": lambda: policy("true").replace(
        '{"expression": "true"}', ",".join(["1"] * 200_000)
    ),
    "unknown fields": lambda: policy("true").replace(
        '"spec": {', '"spec": {' + "".join(f'"x{i}": {i}, ' for i in range(20_000))
    ),
    "fields given twice": lambda: policy("true").replace(
        '"spec": {', '"spec": {' + '"failurePolicy": "Fail", ' * 19_000
    ),
}

_LINTED: Final = (
    "a chain of 3000 variables",
    "a chain of 3000 failing variables",
    "variables that read all twice",
    "doubled lists",
    "pairs of pairs",
    "maps of many types",
    "typed lists of lists",
    "many validations",
    "the same validation",
    "many broken validations",
    "many patterns",
    "long validations",
    "many policies",
    "a selector of many",
    "many rules",
    "many match conditions",
    "unknown fields",
    "expressions without end",
    "one policy, many bindings",
)

CASES: Final[tuple[HostileCase, ...]] = (
    *(judged(f"policy: {name}", make, *_ANY) for name, make in (_CHAINS | _RULES).items()),
    *(
        linted(f"policy: {name}, linted", (_CHAINS | _RULES)[name], OK, DENIED, UNREADABLE)
        for name in _LINTED
    ),
)
