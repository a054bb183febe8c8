"""Sizes for the cost model."""

from __future__ import annotations

import pytest

from celadon.cel import types
from celadon.cel.errors import EvaluationError
from celadon.cel.values.maps import make_map
from celadon.cel.values.runtime_types import NONE, Opaque, Optional
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Timestamp
from celadon.cel.values.typed_lists import size_of


class Address(Opaque):
    cel_type = types.opaque("test.Address")
    __slots__ = ()

    @property
    def cost_size(self) -> int:
        return 16


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("é", 1),
        ("", 0),
        ("é".encode(), 2),
        ([[1, 2], 3], 2),
        ({"a": 1}, 1),
        (make_map([(True, 1), (False, 2)]), 2),
        (1, 1),
        (Uint(1), 1),
        (None, 1),
        (Timestamp(0), 1),
        (types.INT, 1),
        (NONE, 1),
        (Optional("abc"), 3),
        (Address(), 16),
        (EvaluationError("x"), 1),
    ],
)
def test_size_of(value: object, size: int) -> None:
    assert size_of(value) == size
