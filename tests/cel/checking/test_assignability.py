"""When one type may stand for another, and what a question leaves behind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.checking.overload_resolution import Substitution, most_general
from celadon.cel.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    Type,
    is_optional,
    list_of,
    map_of,
    object_type,
    opaque,
    optional_of,
    type_of,
    type_param,
    wrapper_of,
)

A = type_param("A")
B = type_param("B")
FOO = object_type("Foo")
IP = opaque("net.IP")


@pytest.mark.parametrize(
    ("actual", "expected", "fits"),
    [
        (INT, INT, True),
        (INT, UINT, False),
        (INT, DYN, True),
        (DYN, INT, True),
        (ANY, INT, True),
        (ERROR, INT, True),
        (INT, ERROR, True),
        (NULL, NULL, True),
        (NULL, INT, False),
        (INT, NULL, False),
        (NULL, TIMESTAMP, True),
        (DURATION, NULL, True),
        (NULL, FOO, True),
        (IP, NULL, True),
        (NULL, optional_of(INT), True),
        (NULL, list_of(INT), False),
        (NULL, wrapper_of(INT), True),
        (INT, wrapper_of(INT), True),
        (wrapper_of(INT), INT, True),
        (wrapper_of(INT), STRING, False),
        (TYPE, type_of(INT), True),
        (type_of(STRING), type_of(INT), True),
        (type_of(STRING), STRING, False),
        (list_of(INT), list_of(DYN), True),
        (list_of(INT), list_of(STRING), False),
        (list_of(INT), map_of(INT, INT), False),
        (map_of(STRING, INT), map_of(STRING, DYN), True),
        (map_of(STRING, INT), map_of(INT, INT), False),
        (FOO, FOO, True),
        (FOO, object_type("Bar"), False),
        (IP, opaque("net.CIDR"), False),
        (optional_of(INT), optional_of(INT), True),
        (optional_of(INT), optional_of(STRING), False),
        (optional_of(INT), INT, False),
        (opaque("pair", INT), opaque("pair", INT, INT), False),
        (BYTES, STRING, False),
        (BOOL, BOOL, True),
        (DOUBLE, INT, False),
    ],
)
def test_types_without_parameters(actual: Type, expected: Type, fits: bool) -> None:
    assert Substitution().assignable(actual, expected) is fits


def test_a_free_parameter_is_bound_by_what_is_assigned_to_it() -> None:
    known = Substitution()
    assert known.assignable(INT, A)
    assert known.substitute(list_of(A)) == list_of(INT)


def test_a_bound_parameter_refuses_another_type() -> None:
    known = Substitution()
    assert known.assignable(INT, A)
    assert not known.assignable(STRING, A)
    assert known.substitute(A) is INT


def test_a_bound_parameter_becomes_more_general() -> None:
    known = Substitution()
    assert known.assignable(INT, A)
    assert known.assignable(DYN, A)
    assert known.substitute(A) is DYN
    assert known.assignable(STRING, A)


def test_null_does_not_narrow_a_nullable_type() -> None:
    known = Substitution()
    assert known.assignable(TIMESTAMP, A)
    assert known.assignable(NULL, A)
    assert known.substitute(A) is TIMESTAMP


def test_null_stays_null_when_a_nullable_type_follows() -> None:
    known = Substitution()
    assert known.assignable(NULL, A)
    assert known.assignable(TIMESTAMP, A)
    assert known.substitute(A) is NULL


def test_a_failed_attempt_leaves_nothing_behind() -> None:
    known = Substitution()
    assert known.assignable(INT, A)
    assert not known.all_assignable((DYN, INT, STRING), (A, B, BOOL))
    assert known.substitute(A) is INT
    assert known.substitute(B) is B


def test_a_failed_attempt_that_bound_a_parameter_twice_leaves_nothing_behind() -> None:
    """It is undone backwards: what the parameter was before the attempt comes last."""
    free = Substitution()
    assert not free.all_assignable((INT, DYN, STRING), (A, A, BOOL))
    assert free.substitute(A) is A
    bound = Substitution()
    assert bound.assignable(list_of(INT), A)
    assert not bound.all_assignable((list_of(DYN), DYN, STRING), (A, A, BOOL))
    assert bound.substitute(A) == list_of(INT)


def test_different_numbers_do_not_fit() -> None:
    assert not Substitution().all_assignable((INT,), (INT, INT))


def test_a_parameter_is_not_bound_to_a_type_that_contains_it() -> None:
    known = Substitution()
    assert not known.assignable(list_of(A), A)
    assert known.assignable(list_of(B), A)
    assert not known.assignable(list_of(A), B)


def test_parameters_bound_to_each_other_share_their_fate() -> None:
    known = Substitution()
    assert known.assignable(A, B)
    assert known.assignable(INT, A)
    assert known.substitute(map_of(A, B)) == map_of(INT, INT)


@pytest.mark.parametrize(
    ("previous", "current", "joined"),
    [
        (INT, INT, INT),
        (INT, STRING, DYN),
        (INT, DYN, DYN),
        (DYN, INT, DYN),
        (list_of(INT), list_of(DYN), list_of(DYN)),
        (list_of(INT), list_of(STRING), DYN),
        (TIMESTAMP, NULL, NULL),
        (type_of(INT), type_of(STRING), type_of(INT)),
    ],
)
def test_join(previous: Type, current: Type, joined: Type) -> None:
    assert Substitution().join(previous, current) == joined


def test_free_parameters_become_dyn_on_demand() -> None:
    known = Substitution()
    assert known.substitute(list_of(A)) == list_of(A)
    assert known.substitute(map_of(A, INT), to_dyn=True) == map_of(DYN, INT)


def test_a_type_without_bound_parameters_is_not_rebuilt() -> None:
    t = map_of(STRING, list_of(B))
    assert Substitution().substitute(t) is t


def test_deep_types_fit_within_the_stack() -> None:
    left, right = INT, DYN
    for _ in range(250):
        left, right = list_of(left), list_of(right)
    assert Substitution().assignable(left, right)
    assert most_general(left, right) is right


_TERMS = st.recursive(
    st.sampled_from((INT, STRING, DYN, NULL, TIMESTAMP, FOO, A, B)),
    lambda inner: st.one_of(
        inner.map(list_of), inner.map(optional_of), st.builds(map_of, inner, inner)
    ),
    max_leaves=6,
)


@given(st.lists(st.tuples(_TERMS, _TERMS), max_size=6))
def test_questions_end_and_bindings_stay_acyclic(pairs: list[tuple[Type, Type]]) -> None:
    known = Substitution()
    for actual, expected in pairs:
        before = (known.substitute(A), known.substitute(B))
        if not known.assignable(actual, expected):
            assert (known.substitute(A), known.substitute(B)) == before
        known.substitute(map_of(A, B))


@given(_TERMS, _TERMS)
def test_most_general_is_one_of_the_two(a: Type, b: Type) -> None:
    assert most_general(a, b) in (a, b)


@pytest.mark.parametrize(
    ("type_", "is_one"),
    [
        (optional_of(INT), True),
        (optional_of(DYN), True),
        (opaque("net.IP"), False),
        (opaque("vector", INT), False),
        (object_type("optional_type"), False),
        (INT, False),
        (DYN, False),
    ],
)
def test_only_optionals_are_optional(type_: Type, is_one: bool) -> None:
    assert is_optional(type_) is is_one
