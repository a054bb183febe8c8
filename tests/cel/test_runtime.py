"""Which overload runs: by the classes of the arguments, and what is remembered of that."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cel import types
from celadon.cel.declarations import Function, Overload
from celadon.cel.runtime import implementation
from celadon.cel.value_functions import MapList, SetList

INTS, TEXTS = types.list_of(types.INT), types.list_of(types.STRING)
KINDS = Function(
    "kind",
    (
        Overload("kind_ints", (INTS,), types.STRING, lambda x: "ints"),
        Overload("kind_texts", (TEXTS,), types.STRING, lambda x: "texts"),
    ),
)
MIXED = KINDS._replace(
    overloads=(
        *KINDS.overloads,
        Overload("kind_two", (INTS, types.STRING), types.STRING, lambda x, y: "ints and text"),
    )
)


@pytest.mark.parametrize("function", [KINDS, MIXED])
@pytest.mark.parametrize("made", [list, SetList, lambda items: MapList(items, ("k",))])
def test_a_single_list_is_known_by_its_first_element(function: Function, made: Any) -> None:
    call = implementation(function, [one.id for one in function.overloads])
    for _ in range(2):
        assert call(made([1])) == "ints"
        assert call(made(["a"])) == "texts"
        assert call(made([])) == "ints", "the first overload takes it"


def test_numbers_of_arguments_do_not_meet() -> None:
    call = implementation(MIXED, [one.id for one in MIXED.overloads])
    assert call([1], "x") == "ints and text"
    assert call(["x"]) == "texts"
    assert call([1], "x") == "ints and text"
