"""Cases of the public CEL conformance suite (cel.dev), with the switches that it calls for."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from celadon import cel
from celadon.cel.declarations import Function, Library, Overload, Variable
from celadon.cel.library import (
    comprehensions,
    encoders,
    math,
    network,
    optionals,
    standard,
    strings,
)
from celadon.cel.parsing.macros import BLOCK_MACROS, PROTOS_MACROS
from celadon.cel.types import Type
from tests.conformance import messages
from tests.conformance.grading import Grades
from tests.conformance.tagged import Tagged, decode, encode, same
from tests.conformance.type_texts import parse_type, type_text

_BLOCK_SLOTS = 30
_HARNESS = Library(
    "harness",
    macros=(*BLOCK_MACROS, *PROTOS_MACROS),
    variables=tuple(Variable(f"@index{n}", cel.types.DYN) for n in range(_BLOCK_SLOTS)),
)
_SWITCHES = cel.Switches(
    optional_syntax=True,
    escaped_identifiers=True,
    fold_constants=False,
    bad_presence_test_is_error=True,
    strict_map_keys=True,
    nullable_joins=True,
)
_LIBRARIES = (
    optionals.library(),
    comprehensions.bindings(),
    encoders.LIBRARY,
    math.library(),
    strings.library(checked_offsets=True),
    comprehensions.LIBRARY,
    network.LIBRARY,
    _HARNESS,
)


def run(case: dict[str, Any]) -> Grades:
    grades = Grades()
    strong = case["id"].startswith("enums/strong")
    env = _environment(case.get("container", ""), json.dumps(case.get("type_env", [])), strong)
    want = case["want"]
    checked, text = _compile(env, case)
    if checked is None:
        grades.give(
            "class", got=f"compile error\n{text}", want=_expected(want), agrees="error" in want
        )
        return grades
    if "type" in want:
        grades.give("type", got=type_text(checked.type), want=want["type"])
    if case.get("check_only"):
        return grades
    try:
        program = env.program(checked)
        bindings = case.get("bindings", {})
        activation = {name: _decode(value, strong) for name, value in bindings.items()}
    except (cel.EvaluationError, cel.ProgramError) as error:
        grades.give("class", got=f"error {error}", want=_expected(want), agrees="error" in want)
        return grades
    _evaluate(program, activation, want, grades)
    return grades


def _evaluate(
    program: cel.Program, activation: dict[str, Any], want: dict[str, Any], grades: Grades
) -> None:
    """The four ways to evaluate must agree with each other, too. (The first is interpreted.)"""
    outcome = _outcome(lambda: program.evaluate(activation))
    failed = "error" in outcome
    grades.give("class", got=outcome, want=_expected(want), agrees=failed is ("error" in want))
    if "value" in want and not failed:
        grades.give("value", got=outcome, want=want["value"], agrees=_same(outcome, want["value"]))
    for way in (
        lambda: program.prepare().evaluate(activation),
        lambda: program.evaluate_metered(activation)[0],
        lambda: program.evaluate_partial(activation, ())[0],
    ):
        other = _outcome(way)
        grades.give("plain", got=outcome, want=other, agrees=_same(outcome, other))


def _outcome(evaluate: Callable[[], Any]) -> Tagged:
    try:
        return _encode(evaluate())
    except cel.EvaluationError as error:
        return {"error": error.message}


def _decode(tagged: Tagged, strong_enums: bool) -> Any:
    if "message" in tagged or "enum" in tagged:
        return messages.decode(tagged, strong_enums=strong_enums)
    return decode(tagged)


def _encode(value: Any) -> Tagged:
    foreign = messages.encode(value) if messages.AVAILABLE else None
    return encode(value) if foreign is None else foreign


def _same(left: Tagged, right: Tagged) -> bool:
    if "message" in left and "message" in right:
        return messages.same(left["message"], right["message"])
    return same(left, right)


def _expected(want: dict[str, Any]) -> str:
    return "error" if "error" in want else f"value {want.get('value')}"


def _compile(env: cel.Environment, case: dict[str, Any]) -> tuple[cel.CheckedAst | None, str]:
    if not case.get("disable_check"):
        compilation = env.compile(case["expr"])
        return compilation.ast, compilation.issues.display()
    ast, issues = env.parse(case["expr"])
    return (None if ast is None else env.unchecked(ast)), issues.display()


@cache
def _environment(container: str, type_env: str, strong_enums: bool) -> cel.Environment:
    variables: dict[str, Type] = {}
    functions: list[Function] = []
    for entry in json.loads(type_env):
        if "overloads" in entry:
            functions.append(_function(entry))
        else:
            variables[entry["name"]] = parse_type(entry["type"])
    return cel.Environment(
        variables,
        libraries=(*_LIBRARIES, Library("declared", functions=tuple(functions))),
        container=container,
        standard=standard.SPECIFIED,
        switches=_SWITCHES,
        types=messages.types(strong_enums=strong_enums) if messages.AVAILABLE else None,
    )


def _function(entry: dict[str, Any]) -> Function:
    overloads = tuple(
        Overload(
            overload["id"],
            tuple(parse_type(param) for param in overload["params"]),
            parse_type(overload["result"]),
            member=overload["member"],
        )
        for overload in entry["overloads"]
    )
    return Function(entry["name"], overloads)
