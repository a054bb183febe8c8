"""The examples of every overload are true; what is known of each is in
`tests/cases/cel/functions.txt`, rewritten by `pytest --update-golden`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from celadon.cel import Environment, Switches
from celadon.cel.declarations import Function, Library, Overload
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
from tests.paths import ROOT

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


#: Each library, with its older versions: each shows the overloads that the one before has not.
VERSIONS = (
    (standard.LIBRARY,),
    tuple(strings.library(version) for version in range(5)),
    tuple(math.library(version) for version in range(3)),
    tuple(lists.library(version) for version in range(4)),
    tuple(optionals.library(version) for version in range(3)),
    (sets.LIBRARY,),
    (encoders.LIBRARY,),
    (comprehensions.bindings(),),
    (comprehensions.LIBRARY,),
    (regex.LIBRARY,),
    (network.LIBRARY,),
)


def _listing() -> Iterator[str]:
    """All overloads, by library and version."""
    for versions in VERSIONS:
        shown: dict[str, str] = {}
        for library in versions:
            yield f"# {library.name}"
            for macro in library.macros:
                yield f"{'receiver.' * macro.member}{macro.name}: macro of {macro.arg_count}"
            for validator in library.validators:
                exempt = " ".join(sorted(validator.exempt_functions))
                yield f"{validator.name}: validator {exempt}".rstrip()
            types = [str(one) for one in library.types]
            yield from [f"types: {' '.join(types)}"] if types else []
            for function in library.functions:
                for overload in function.overloads:
                    text = "\n".join(_lines(function, overload))
                    if shown.get(overload.id) != text:
                        yield text
                    shown[overload.id] = text
            yield ""


def _lines(function: Function, overload: Overload) -> Iterator[str]:
    params = [str(param) for param in overload.params]
    receiver = f"{params.pop(0)}." if overload.member else ""
    about = "" if function.pattern is None else f" (pattern {function.pattern})"
    call = f"{receiver}{function.name}({', '.join(params)}) -> {overload.result}"
    yield f"{overload.id}: {call}{about}"
    yield f"    {overload.doc}"
    for source, expected in overload.examples:
        yield f"    {source} is {expected}"


def test_what_is_known_of_each_function(request: pytest.FixtureRequest) -> None:
    path = ROOT / "tests" / "cases" / "cel" / "functions.txt"
    listing = "".join(f"{line}\n" for line in _listing())
    if request.config.getoption("--update-golden"):
        path.write_text(listing, encoding="utf-8")
    assert listing == path.read_text(encoding="utf-8")
