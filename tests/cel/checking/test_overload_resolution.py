"""Overload tables: which candidates there are, what is remembered, how variables are numbered."""

from __future__ import annotations

import pytest

from celadon.cel.checking.overload_resolution import (
    CROSS_TYPE_OVERLOADS,
    FunctionIndex,
    Substitution,
    fresh_variable,
)
from celadon.cel.declarations import Function, Overload
from celadon.cel.library.standard import LIBRARY
from celadon.cel.types import DYN, INT, NULL, STRING, Type
from tests.cel.types_in_tests import parse_type

_FUNCTIONS = {function.name: FunctionIndex(function) for function in LIBRARY.functions}


def _resolve(
    name: str, *arguments: str, member: bool = False
) -> tuple[str, tuple[str, ...]] | None:
    types = tuple(parse_type(text) for text in arguments)
    table = _FUNCTIONS[name].table(member=member, arity=len(types), cross_type=True)
    found = table.resolve(Substitution(), types, 0)
    return None if found is None else (found.type.display(), found.reference.overloads)


@pytest.mark.parametrize(
    ("name", "arguments", "found"),
    [
        ("_+_", ("int", "int"), ("int", ("add_int64",))),
        ("_+_", ("list(int)", "list(int)"), ("list(int)", ("add_list",))),
        ("_+_", ("list(int)", "list(dyn)"), ("list(dyn)", ("add_list",))),
        ("_+_", ("int", "string"), None),
        ("_[_]", ("dyn", "int"), ("dyn", ("index_list", "index_map"))),
        ("_[_]", ("map(string, int)", "string"), ("int", ("index_map",))),
        ("@in", ("dyn", "dyn"), ("bool", ("in_list", "in_map"))),
        ("_==_", ("int", "dyn"), ("bool", ("equals",))),
        ("size", ("null",), None),
        ("_?_:_", ("bool", "null", "timestamp"), ("null", ("conditional",))),
    ],
)
def test_resolution(
    name: str, arguments: tuple[str, ...], found: tuple[str, tuple[str, ...]] | None
) -> None:
    assert _resolve(name, *arguments) == found


def test_the_answer_for_plain_types_is_remembered() -> None:
    table = _FUNCTIONS["_-_"].table(member=False, arity=2, cross_type=True)
    first = table.resolve(Substitution(), (INT, DYN), 0)
    assert table.resolve(Substitution(), (INT, DYN), 99) is first


def test_call_styles_have_tables_of_their_own() -> None:
    assert _resolve("size", "string") == ("int", ("size_string",))
    assert _resolve("size", "string", member=True) == ("int", ("string_size",))


def test_only_the_switch_admits_mixed_comparisons() -> None:
    index = _FUNCTIONS["_<_"]
    narrow = {
        c.overload.id for c in index.table(member=False, arity=2, cross_type=False).candidates
    }
    wide = {c.overload.id for c in index.table(member=False, arity=2, cross_type=True).candidates}
    assert wide - narrow == {name for name in CROSS_TYPE_OVERLOADS if name.startswith("less_")} - {
        name for name in CROSS_TYPE_OVERLOADS if name.startswith("less_equals_")
    }
    assert len(wide - narrow) == 6


def test_all_gated_overloads_exist() -> None:
    declared = {o.id for function in LIBRARY.functions for o in function.overloads}
    assert declared >= CROSS_TYPE_OVERLOADS
    assert len(CROSS_TYPE_OVERLOADS) == 24


def test_variables_are_counted_for_overloads_of_other_arities() -> None:
    a: Type = parse_type("A")
    function = Function(
        "f", (Overload("one", (a,), a), Overload("two", (a, parse_type("B")), parse_type("B")))
    )
    index = FunctionIndex(function)
    table = index.table(member=False, arity=2, cross_type=True)
    assert table.fresh == 3
    assert table.candidates[0].first == 1
    assert table.resolve(Substitution(), (INT, STRING), 0) is not None


def test_variables_are_taken_for_the_result_first() -> None:
    function = Function("f", (Overload("one", (parse_type("map(A, B)"),), parse_type("B")),))
    table = FunctionIndex(function).table(member=False, arity=1, cross_type=True)
    assert table.candidates[0].type_params == ("B", "A")


def test_unusual_arities_are_not_kept() -> None:
    index = FunctionIndex(Function("f", (Overload("one", (NULL,), NULL),)))
    assert index.table(member=False, arity=40, cross_type=True) is not index.table(
        member=False, arity=40, cross_type=True
    )
    assert index.table(member=False, arity=2, cross_type=True) is index.table(
        member=False, arity=2, cross_type=True
    )


def test_there_are_always_fresh_variables() -> None:
    assert len({fresh_variable(number).name for number in range(70)}) == 70
