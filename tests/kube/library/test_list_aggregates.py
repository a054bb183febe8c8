"""Lists: elements of mixed kinds, elements without an order, and their errors."""

from __future__ import annotations

import pytest

from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Duration
from tests.kube.library.evaluation import evaluate, failure

OBJECT = {
    "ints": [3, 1, 2],
    "mixed": [1, "a"],
    "nulls": [None],
    "empty": [],
    "nan": [1.0, float("nan"), 0.5],
    "text": "abc",
}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("[].sum()", 0),
        ("object.empty.sum()", 0),
        ("[1u, 2u].sum()", Uint(3)),
        ("[1.0, 3.0].sum()", 4.0),
        ("[duration('1m'), duration('1s')].sum()", Duration(61_000_000_000)),
        ("[].isSorted()", True),
        ("['a', 'b', 'b'].isSorted()", True),
        ("[2.0, 1.0].isSorted()", False),
        ("object.mixed.isSorted()", True),
        ("object.nan.isSorted()", True),
        ("object.nan.min()", 0.5),
        ("object.mixed.max()", 1),
        ("object.ints.max()", 3),
        ("object.ints.min()", 1),
        ("[true, false].max()", True),
        ("[b'a', b'b'].max()", b"b"),
        ("[1.0].indexOf(1.1)", -1),
        ("[].indexOf('x')", -1),
        ("object.ints.indexOf(2.0)", 2),
        ("[dyn(1), dyn('a'), dyn(1)].lastIndexOf(1)", 2),
        ("object.text.indexOf('c')", 2),
        ("[1].lastIndexOf(2)", -1),
        ("[quantity('1')].indexOf(quantity('1').add(0))", -1),
    ],
)
def test_values(expression: str, value: object) -> None:
    found = evaluate(expression, object=OBJECT)
    assert found == value
    assert found.__class__ is value.__class__


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("[].min()", "min called on empty list"),
        ("object.empty.max()", "max called on empty list"),
        ("[9223372036854775807, 1].sum()", "integer overflow"),
        ("object.mixed.sum()", "no such overload"),
        ("object.nulls.sum()", "no such overload: sum(list)"),
        ("object.nulls.isSorted()", "no such overload: isSorted(list)"),
        ("[dyn(1), dyn(null)].isSorted()", "no such overload"),
        ("[dyn(1), dyn(null)].min()", "no such overload"),
        ("[dyn(1), dyn(null)].sum()", "no such overload"),
    ],
)
def test_errors(expression: str, error: str) -> None:
    assert failure(expression, object=OBJECT) == error
