"""The examples of every overload are true."""

from __future__ import annotations

import pytest

from celadon.cel import Environment, Switches
from celadon.cel.declarations import Library
from celadon.cel.library import (
    comprehensions,
    encoders,
    lists,
    math,
    network,
    optionals,
    regex,
    sets,
    standard,
    strings,
)
from celadon.cel.values.equality import equal

SWITCHES = Switches(optional_syntax=True, cross_type_numeric_comparisons=True)
NEWEST = (
    optionals.library(),
    strings.library(),
    math.library(),
    lists.library(),
    sets.LIBRARY,
    encoders.LIBRARY,
    comprehensions.bindings(),
    comprehensions.LIBRARY,
    regex.LIBRARY,
    network.LIBRARY,
)
ENVIRONMENT = Environment(libraries=NEWEST, switches=SWITCHES)
LEGACY = Environment(libraries=(strings.library(2),), switches=SWITCHES)

#: What has no example, because no expression calls it: macros, optimizers or cel-go's quirks do.
WITHOUT_EXAMPLE = {
    "not_strictly_false",
    "int64_to_duration",
    "cel_block_list",
    *(
        f"list_{name}_sortByAssociatedKeys"
        for name in (
            "uint",
            "double",
            "bool",
            "string",
            "bytes",
            "google.protobuf.Duration",
            "google.protobuf.Timestamp",
        )
    ),
}


def _rows(*libraries: Library) -> list[tuple[str, str, str]]:
    return [
        (overload.id, source, expected)
        for library in libraries
        for function in library.functions
        for overload in function.overloads
        for source, expected in overload.examples
    ]


def _evaluate(environment: Environment, source: str) -> object:
    return environment.program(environment.compile(source).checked()).evaluate({})


@pytest.mark.parametrize(("id", "source", "expected"), _rows(standard.LIBRARY, *NEWEST))
def test_example(id: str, source: str, expected: str) -> None:
    actual, wanted = _evaluate(ENVIRONMENT, source), _evaluate(ENVIRONMENT, expected)
    assert equal(actual, wanted), f"{id}: {source} is {actual!r}"


@pytest.mark.parametrize(("id", "source", "expected"), _rows(strings.library(2)))
def test_example_of_the_version_in_kubernetes(id: str, source: str, expected: str) -> None:
    actual, wanted = _evaluate(LEGACY, source), _evaluate(LEGACY, expected)
    assert equal(actual, wanted), f"{id}: {source} is {actual!r}"


def test_every_overload_is_documented_and_has_an_example() -> None:
    for library in (standard.LIBRARY, *NEWEST):
        for function in library.functions:
            for overload in function.overloads:
                assert overload.doc.endswith("."), overload.id
                assert bool(overload.examples) is (overload.id not in WITHOUT_EXAMPLE), overload.id


def test_overload_ids_are_unique() -> None:
    ids = [
        overload.id
        for library in (standard.LIBRARY, *NEWEST)
        for function in library.functions
        for overload in function.overloads
    ]
    assert len(ids) == len(set(ids))
