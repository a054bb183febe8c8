"""Every case of tests/cases/cel, from expression to issues or types."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from celadon.cel import validators
from celadon.cel.checker import check
from celadon.cel.debug import print_ast, print_checked
from celadon.cel.declarations import Variable
from celadon.cel.declared import Declarations
from celadon.cel.library import comprehensions, lists, optionals, sets, standard, strings
from celadon.cel.parser import ParseOptions, parse
from celadon.cel.source import Source
from tests.cel.types_in_tests import parse_type
from tests.golden import Case, CaseFile, compare
from tests.paths import ROOT

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
    issues = validators.run(checked, declarations, VALIDATORS)
    if issues:
        return {"issues": issues.display()}
    return {"tree": tree, "types": print_checked(checked)}


def _variables(case: Case) -> list[Variable]:
    lines = case.sections.get("variables", "").splitlines()
    pairs = [line.split(": ", 1) for line in lines if line]
    return [Variable(name, parse_type(t)) for name, t in pairs]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_cases(path: Path, request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update-golden"))
    differences = compare(CaseFile.read(path), _produce, update=update)
    assert not differences, "\n".join(differences)
