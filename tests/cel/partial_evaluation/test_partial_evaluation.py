"""Partial evaluation: values where the unknowns do not matter, what results wait for, errors."""

from __future__ import annotations

from typing import Any

import pytest

from celadon import cel
from celadon.cel import AttributePattern, Unknown
from celadon.cel.library import comprehensions, optionals
from celadon.cel.syntax import Ast, walk
from celadon.cel.values.runtime_types import ANY

ENVIRONMENT = cel.Environment(
    {"object": cel.types.DYN, "u": cel.types.DYN, "b": cel.types.BOOL, "n": cel.types.INT},
    libraries=(optionals.library(), comprehensions.bindings()),
    switches=cel.Switches(optional_syntax=True),
)
OBJECT = {"spec": {"replicas": 3, "labels": {"a": "x"}, "ports": [80, 443]}, "flag": True}
U = (AttributePattern("u"),)


def evaluate(expression: str, *unknowns: AttributePattern) -> tuple[Any, Ast]:
    program = ENVIRONMENT.program(ENVIRONMENT.compile(expression).checked())
    return program.evaluate_partial({"object": OBJECT, "n": 2}, unknowns)


def waits_for(expression: str, *unknowns: AttributePattern) -> list[int]:
    """Where the attributes begin that the result waits for."""
    outcome, ast = evaluate(expression, *unknowns)
    assert isinstance(outcome, Unknown), outcome
    assert ast.positions is not None
    return sorted(ast.positions[node] for node in outcome.nodes)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("object.spec.replicas > n", True),
        ("(n == 2 ? has(object.?spec.labels) : false) == true", False),
        ("has(object.?spec.labels) == true", True),
        ("u || object.flag", True),
        ("object.flag || u", True),
        ("!object.flag && u == 1", False),
        ("object.flag ? 1 : u", 1),
        ("[1, 2].exists(i, u || i == 2)", True),
        ("object.spec.ports.all(p, p > 0)", True),
        ("[u, 1].size() == 2 || true", True),
        ("has(object.spec.replicas)", True),
        ("object.spec.?missing.orValue(7)", 7),
        ("optional.of(1).or(u).value()", 1),
        ("cel.bind(v, n + 1, v * v)", 9),
        ("type(n) == int", True),
        ("google.protobuf.Timestamp == type(timestamp(0))", True),
        ("google.protobuf.Int64Value{?value: optional.of(4)} == 4", True),
        ("[?object.?flag, ?object.?no]", [True]),
        ("{?'a': object.?no, 'b': 1}", {"b": 1}),
        ("u || (1 / 0 == 1) || true", True),
        ("[1].map(u, u)", [1]),
        ("+".join(["n"] * 50), 100),
        pytest.param("+".join(["n"] * 200), 400, marks=pytest.mark.thorough),
    ],
)
def test_values_that_need_no_unknown(expression: str, value: object) -> None:
    outcome, _ = evaluate(expression, *U)
    assert outcome == value


@pytest.mark.parametrize(
    ("expression", "positions"),
    [
        ("u", [0]),
        ("u.a.b", [3]),
        ("object.flag && u", [15]),
        ("u && n == u", [0, 10]),
        ("u + 1", [0]),
        ("n + u", [4]),
        ("u ? 1 : 2", [0]),
        ("has(u.a)", [3]),
        ("object[u]", [7]),
        ("object.spec[?u]", [13]),
        ("[1, u]", [4]),
        ("{'a': u}", [6]),
        ("[1].map(i, u)", [11]),
        ("u.map(i, i)", [0]),
        ("[u].exists(i, i == 1)", [1]),
        ("u && 1 / 0 == 1", [0]),
        ("1 / 0 == 1 || u", [14]),
        ("optional.none().or(u)", [19]),
        ("google.protobuf.Int64Value{value: u}", [34]),
    ],
)
def test_what_a_result_waits_for(expression: str, positions: list[int]) -> None:
    assert waits_for(expression, *U) == positions


@pytest.mark.parametrize(
    ("keys", "unknown", "known"),
    [
        (("spec",), ["object", "object.spec", "object.spec.replicas", "has(object.spec)"],
         ["object.flag", "object['flag']"]),
        (("spec", "labels", "a"), ["object.spec.labels", "object.spec['labels'].a"],
         ["object.spec.replicas", "object.spec.ports[0]"]),
        (("spec", "ports", 1),
         ["object.spec.ports[1]", "object.spec.ports", "object.spec.ports[n - 1]"],
         ["object.spec.ports[0]", "object.spec.ports[n - 2]"]),
        (("spec", ANY, "a"), ["object.spec.labels.a", "object.spec.ports", "object.spec.replicas"],
         ["object.flag"]),
        (("spec", "ports", True), ["object.spec.ports"], ["object.spec.ports[1]"]),
    ],
)  # fmt: skip
def test_patterns(keys: tuple[Any, ...], unknown: list[str], known: list[str]) -> None:
    pattern = AttributePattern("object", keys)
    for expression in unknown:
        assert isinstance(evaluate(expression, pattern)[0], Unknown), expression
    for expression in known:
        assert not isinstance(evaluate(expression, pattern)[0], Unknown), expression


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("1 / 0 > u", "division by zero"),
        ("object.nope[u]", "no such key: nope"),
        ("object.spec.ports[object.nope]", "no such key: nope"),
        ("object.nope[object.never]", "no such key: nope"),
        ("object.?spec[object.nope]", "no such key: nope"),
        ("object.flag && object.nope", "no such key: nope"),
        ("dyn(n) ? 1 : u", "no such overload"),
        ("b", "no such attribute(s): b"),
        ("google.protobuf.Int32Value{value: n * 3000000000}", "field type conversion error for "
         "google.protobuf.Int32Value.value value type: integer overflow"),
    ],
)  # fmt: skip
def test_errors(expression: str, message: str) -> None:
    with pytest.raises(cel.EvaluationError) as caught:
        evaluate(expression, *U)
    assert caught.value.message == message


def test_an_absent_optional_looks_at_no_further_key() -> None:
    outcome, _ = evaluate("object.?nope[u].hasValue()", *U)
    assert outcome is False


def test_as_deep_as_the_parser_admits() -> None:
    """Expressions of 250 levels are within Python's stack, or fail in words."""
    expression = "n"
    for _ in range(120):
        expression = f"({expression} + 1)"
    assert evaluate(expression, *U)[0] == 122


def test_loop_variables_hide_unknowns_and_end() -> None:
    assert evaluate("[1, 2].map(u, u + n)", *U)[0] == [3, 4]
    outcome, ast = evaluate("[1].map(u, u).size() + u", *U)
    assert isinstance(outcome, Unknown)
    assert len(list(walk(ast.root))) == 3
