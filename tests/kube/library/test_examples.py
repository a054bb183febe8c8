"""Every example in the libraries' declarations is true, and everything is documented."""

from __future__ import annotations

import pytest

from celadon.cel.declarations import Library, Overload
from celadon.cel.values.equality import equal
from celadon.kube.library import (
    authz,
    costs,
    format_and_regex,
    ip_cidr_url,
    json_patches,
    list_aggregates,
    quantity_functions,
    semver,
)
from celadon.kube.library.environments import environment

LIBRARIES = [
    authz.LIBRARY,
    authz.SELECTORS_LIBRARY,
    ip_cidr_url.CIDR_LIBRARY,
    format_and_regex.FORMAT_LIBRARY,
    ip_cidr_url.IP_LIBRARY,
    json_patches.LIBRARY,
    list_aggregates.LIBRARY,
    quantity_functions.LIBRARY,
    format_and_regex.REGEX_LIBRARY,
    semver.LIBRARY,
    ip_cidr_url.URL_LIBRARY,
]

EXAMPLES = [
    (overload.id, example)
    for library in LIBRARIES
    for function in library.functions
    for overload in function.overloads
    for example in overload.examples
]


def evaluate(expression: str) -> object:
    env = environment(has_patch_types=True)
    return env.program(env.compile(expression).checked()).evaluate({})


@pytest.mark.parametrize(
    ("expression", "expected"), [example for _, example in EXAMPLES], ids=[id for id, _ in EXAMPLES]
)
def test_example(expression: str, expected: str) -> None:
    assert equal(evaluate(expression), evaluate(expected))


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_everything_is_documented(library: Library) -> None:
    assert all(overload.doc for overload in _overloads(library))


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_every_function_has_an_example(library: Library) -> None:
    """Except those that need an authorizer."""
    if library.name.startswith("kubernetes.authz"):
        return
    for function in library.functions:
        assert any(overload.examples for overload in function.overloads), function.name


def test_costs_name_known_functions() -> None:
    declared = environment(has_patch_types=True).declarations.functions
    assert all(declared[name].cost is rule for name, rule in costs.COSTS.items())


def _overloads(library: Library) -> list[Overload]:
    return [overload for function in library.functions for overload in function.overloads]
