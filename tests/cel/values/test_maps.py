"""Which keys are the same."""

from __future__ import annotations

import math
from typing import Any

import pytest

from celadon.cel.errors import EvaluationError
from celadon.cel.values.maps import MISSING, MixedMap, find, is_map, make_map, put, with_entry
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Duration, Timestamp


@pytest.mark.parametrize(
    ("keys", "is_plain"),
    [
        ([], True),
        (["a", "b"], True),
        ([1, 2, "a"], True),
        ([Uint(1), "a"], True),
        ([1, Uint(1)], False),
        ([True], False),
        ([1.0], False),
        ([None], False),
    ],
)
def test_class_of_literals(keys: list[Any], is_plain: bool) -> None:
    made = make_map([(key, None) for key in keys])
    assert (made.__class__ is dict) is is_plain
    assert len(made) == len(keys)
    assert is_map(made)


def test_the_last_of_equal_keys_wins() -> None:
    assert make_map([("a", 1), ("a", 2)]) == {"a": 2}
    assert list(make_map([(True, 1), (True, 2)]).items()) == [(True, 2)]


def test_keys_that_python_would_merge() -> None:
    mixed = make_map([(True, "bool"), (1, "int"), (1.0, "double"), (Uint(1), "uint")])
    assert len(mixed) == 4
    found = [find(mixed, key) for key in (True, 1, 1.0, Uint(1))]
    assert found == ["bool", "int", "double", "uint"]
    assert [key.__class__ for key in mixed] == [bool, int, float, Uint]


@pytest.mark.parametrize(
    ("stored", "asked", "found"),
    [
        (1, Uint(1), True),
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (Uint(1), 1, True),
        (Uint(1), 1.0, True),
        (Uint(2**64 - 1), -1, False),
        (1.0, 1, False),
        (1.0, Uint(1), False),
        (1.5, 1.5, True),
        (1, 1.5, False),
        (True, 1, False),
        (True, True, True),
        (None, None, True),
        ("a", "a", True),
        ("a", b"a", False),
        (1, None, False),
        (1, math.inf, False),
        (math.nan, math.nan, False),
        (Timestamp(0), Timestamp(0), True),
        (Timestamp(0), Timestamp(0, 0, 60), False),
        (Duration(1), Duration(1), True),
        (1, [1], False),
    ],
)
def test_lookup(stored: object, asked: object, found: bool) -> None:
    assert (find(make_map([(stored, "x")]), asked) == "x") is found


def test_containers_are_keys_by_identity() -> None:
    key = [1]
    mixed = make_map([(key, "x")])
    assert find(mixed, key) == "x"
    assert find(mixed, [1]) is MISSING


def test_bytes_cannot_be_keys() -> None:
    message = "internal error: runtime error: hash of unhashable type types.Bytes"
    with pytest.raises(EvaluationError, match=message):
        make_map([(b"a", 1)])


def test_a_mixed_map_reads_like_a_mapping() -> None:
    mixed = MixedMap([(True, "x"), (2, "y")])
    assert mixed[2.0] == "y"
    assert 2 in mixed
    assert 1 not in mixed
    assert list(mixed.values()) == ["x", "y"]
    assert repr(mixed) == "MixedMap([(True, 'x'), (2, 'y')])"
    with pytest.raises(KeyError):
        mixed[1]


def test_subclasses_that_compute_their_values_are_asked() -> None:
    class Lazy(dict[str, int]):
        def __missing__(self, key: str) -> int:
            if key == "known":
                return 5
            raise KeyError(key)

    assert find(Lazy(), "known") == 5
    assert find(Lazy(), "other") is MISSING


def test_adding_entries() -> None:
    original = {"a": 1}
    assert with_entry(original, "b", 2) == {"a": 1, "b": 2}
    assert original == {"a": 1}
    assert put(original, "b", 2) is original
    mixed = put(original, True, 3)
    assert list(mixed.items()) == [("a", 1), ("b", 2), (True, 3)]
    assert put(mixed, None, 4) is mixed
    assert len(with_entry(mixed, False, 5)) == 5
    assert len(mixed) == 4


def test_missing_is_false() -> None:
    assert not MISSING
    assert repr(MISSING) == "MISSING"
