"""Every case of tests/cases/cel: to issues or types; with an `input` to Python and a result too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from celadon.cel import Environment, EvaluationError, Program, ProgramError, Switches
from celadon.cel.checking import validators
from celadon.cel.checking.checker import check
from celadon.cel.checking.scope import Declarations
from celadon.cel.declarations import Variable
from celadon.cel.errors import Source
from celadon.cel.library import comprehensions, lists, optionals, sets, standard, strings
from celadon.cel.parsing.parser import ParseOptions, parse
from celadon.cel.parsing.unparser import print_ast, print_checked
from tests.cel.types_in_tests import parse_type
from tests.golden import Case, CaseFile, compare
from tests.paths import ROOT
from tests.properties.interpreter import show

CASES = sorted((ROOT / "tests" / "cases" / "cel").glob("*.case"))
LIBRARIES = (
    standard.LIBRARY,
    optionals.library(),
    strings.library(2),
    sets.LIBRARY,
    comprehensions.LIBRARY,
    lists.library(3),
)
VALIDATORS = (
    validators.DURATION,
    validators.TIMESTAMP,
    validators.MATCHES,
    validators.HOMOGENEOUS_LITERALS,
    *(validator for library in LIBRARIES for validator in library.validators),
)


@cache
def _parse_options() -> ParseOptions:
    return ParseOptions(macros=tuple(m for library in LIBRARIES for m in library.macros))


@cache
def _libraries(container: str) -> Declarations:
    return Declarations.build(LIBRARIES, container=container, cross_type_numeric_comparisons=True)


def _produce(case: Case) -> Mapping[str, str]:
    declarations = _libraries(case.sections.get("container", "")).extend(_variables(case))
    ast, issues = parse(Source(case.sections["expression"]), _parse_options())
    if ast is None or issues:
        return {"issues": issues.display()}
    tree = print_ast(ast)
    checked, issues = check(ast, declarations)
    if checked is None:
        return {"tree": tree, "issues": issues.display()}
    issues = validators.run(checked, VALIDATORS)
    if issues:
        return {"issues": issues.display()}
    produced = {"tree": tree, "types": print_checked(checked)}
    if "input" in case.sections:
        produced |= _run(case)
    return produced


def _run(case: Case) -> dict[str, str]:
    """Both variants as Python, and what they say about the input."""
    variables = {variable.name: variable.type for variable in _variables(case)}
    environment = _environment(case.sections.get("container", "")).extend(variables)
    checked = environment.compile(case.sections["expression"]).checked()
    inputs = json.loads(case.sections["input"])
    estimate = environment.estimate(checked)
    try:
        program = environment.program(checked)
    except ProgramError as error:
        return {"result": f"no program: {error}"}
    results, cost = _results(program, inputs)
    return {
        "python": program.source.strip(),
        "metered": program.metered_source.strip(),
        "estimate": f"{estimate.min} to {estimate.max}",
        "cost": str(cost),
        "result": " but ".join(results),
    }


def _results(program: Program, inputs: dict[str, Any]) -> tuple[list[str], int | None]:
    """One result if both variants agree, and the cost."""
    results, cost = [], None
    try:
        results.append(show(program.prepare().evaluate(inputs)))
    except EvaluationError as error:
        results.append(f"error: {error.message}")
    try:
        value, cost = program.evaluate_metered(inputs)
        results.append(show(value))
    except EvaluationError as error:
        cost = error.cost
        results.append(f"error: {error.message}")
    return list(dict.fromkeys(results)), cost


@cache
def _environment(container: str) -> Environment:
    switches = Switches(
        optional_syntax=True,
        cross_type_numeric_comparisons=True,
        presence_test_has_cost=False,
    )
    return Environment(
        libraries=LIBRARIES[1:],
        container=container,
        validators=VALIDATORS[:4],
        switches=switches,
    )


def _variables(case: Case) -> list[Variable]:
    lines = case.sections.get("variables", "").splitlines()
    pairs = [line.split(": ", 1) for line in lines if line]
    return [Variable(name, parse_type(t)) for name, t in pairs]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_cases(path: Path, request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update-golden"))
    differences = compare(CaseFile.read(path), _produce, update=update)
    assert not differences, "\n".join(differences)
