"""The switches that bring cel-go closer to the specification, in every way to evaluate."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from celadon import cel
from celadon.cel.library import optionals, standard, strings
from celadon.cel.values.equality import equal

OFF = cel.Switches(optional_syntax=True)
PRESENCE = cel.Switches(optional_syntax=True, bad_presence_test_is_error=True)
KEYS = cel.Switches(optional_syntax=True, strict_map_keys=True)


def environment(switches: cel.Switches) -> cel.Environment:
    variables = {"x": cel.types.DYN, "none": cel.types.DYN}
    return cel.Environment(variables, libraries=(optionals.library(),), switches=switches)


def outcomes(switches: cel.Switches, expression: str) -> list[object]:
    """The values, or texts of errors, of the plain, metered and partial evaluation."""
    env = environment(switches)
    program = env.program(env.compile(expression).checked())
    inputs = {"x": 5, "none": None}
    found: list[object] = []
    ways: tuple[Callable[[], object], ...] = (
        lambda: program.evaluate(inputs),
        lambda: program.evaluate_metered(inputs)[0],
        lambda: program.evaluate_partial(inputs, ())[0],
    )
    for evaluate in ways:
        try:
            found.append(evaluate())
        except cel.EvaluationError as error:
            found.append(error.message)
    return found


@pytest.mark.parametrize(
    ("switches", "expression", "outcome"),
    [
        (OFF, "has(x.f)", False),
        (PRESENCE, "has(x.f)", "no such key: f"),
        (OFF, "{'a': none}.?a.b.hasValue()", False),
        (PRESENCE, "{'a': none}.?a.b.hasValue()", "no such key: b"),
        (PRESENCE, "{'a': none}.?b.c.hasValue()", False),
        (PRESENCE, "{'a': {}}.?a.b.hasValue()", False),
        (PRESENCE, "[1][?3].hasValue()", False),
        (PRESENCE, "has({'a': optional.none()}.a.b)", False),
        (PRESENCE, "has({'a': optional.of({'b': 1})}.a.b)", True),
        (OFF, "{'a': x, 'a': 2}.a", 2),
        (KEYS, "{'a': x, 'a': 2}.a", "Failed with repeated key"),
        (KEYS, "{'a': 1, 'a': 2}.a", "Failed with repeated key"),
        (KEYS, "{'a': x, 'b': 2}.a", 5),
        (OFF, "{1: x, 1u: 2}[1]", 5),
        (KEYS, "{1: x, 1u: 2}[1]", "Failed with repeated key"),
        (KEYS, "{true: x, 1: 2, 's': 3}[true]", 5),
        (OFF, "{1.0: x}[1.0]", 5),
        (KEYS, "{1.0: x}[1.0]", "unsupported key type"),
        (KEYS, "{none: x}.size()", "unsupported key type"),
        (KEYS, "{?'a': optional.none(), 'a': x}.a", 5),
        (KEYS, "{?'a': optional.of(1), 'a': x}.a", "Failed with repeated key"),
    ],
)
def test_evaluation(switches: cel.Switches, expression: str, outcome: object) -> None:
    for found in outcomes(switches, expression):
        assert equal(found, outcome), found


@pytest.mark.parametrize(
    ("expression", "by_default", "joined"),
    [
        ("[duration('1s'), null]", "list(null)", "list(duration)"),
        ("[null, duration('1s')]", "list(duration)", "list(duration)"),
        ("[optional.of(1), null]", "list(null)", "list(optional_type(int))"),
        (
            "[google.protobuf.Int64Value{value: 1}, 2]",
            "list(wrapper(int))",
            "list(wrapper(int))",
        ),
        ("[2, google.protobuf.Int64Value{value: 1}]", "list(int)", "list(wrapper(int))"),
        ("[1, null]", "list(dyn)", "list(dyn)"),
        ("[x, null]", "list(dyn)", "list(dyn)"),
        ("[null, x]", "list(dyn)", "list(dyn)"),
        ("x ? null : duration('1s')", "null", "duration"),
    ],
)
def test_joins(expression: str, by_default: str, joined: str) -> None:
    nullable = cel.Switches(optional_syntax=True, nullable_joins=True)
    for switches, expected in ((OFF, by_default), (nullable, joined)):
        checked = environment(switches).compile(expression).checked()
        assert checked.type.display() == expected


def test_functions_as_specified() -> None:
    env = cel.Environment(
        libraries=(strings.library(checked_offsets=True),), standard=standard.SPECIFIED
    )
    for expression, outcome in (
        ("duration('-123.321456789s').getMilliseconds()", -321),
        ("'tacocat'.indexOf('a', 6)", -1),
        ("'tacocat'.indexOf('a', 7)", "index out of range: 7"),
        ("'tacocat'.indexOf('', 9)", 9),
        ("'tacocat'.lastIndexOf('a', 6)", 5),
        ("'tacocat'.lastIndexOf('a', 7)", "index out of range: 7"),
    ):
        program = env.program(env.compile(expression).checked())
        try:
            found = program.evaluate({})
        except cel.EvaluationError as error:
            found = error.message
        assert found == outcome, expression


@pytest.mark.parametrize(
    ("expression", "outcome"),
    [
        ("google.protobuf.FloatValue{value: 1.1} == 1.1", False),
        ("google.protobuf.FloatValue{value: 1e300}", float("inf")),
        ("google.protobuf.Int32Value{value: -2147483648}", -2147483648),
        (
            "google.protobuf.Int32Value{value: 2147483648}",
            "field type conversion error for google.protobuf.Int32Value.value value type: "
            "integer overflow",
        ),
        (
            "google.protobuf.Any{}",
            'anypb.UnmarshalNew() failed for type "": proto: invalid empty type URL',
        ),
        ("google.protobuf.Value{null_value: 0}", None),
        ("google.protobuf.Struct{fields: {'a': google.protobuf.Value{}}}", {"a": None}),
    ],
)
def test_well_known_messages(expression: str, outcome: object) -> None:
    for found in outcomes(OFF, expression):
        assert found == outcome
