"""The types that variables are known under, and what names expressions have."""

from __future__ import annotations

import pytest

from celadon.admission.expressions.declared_types import variable_type, variable_types
from celadon.cel import types


@pytest.mark.parametrize(
    ("result", "known"),
    [
        (types.BOOL, types.BOOL),
        (types.STRING, types.STRING),
        (types.BYTES, types.BYTES),
        (types.INT, types.INT),
        (types.UINT, types.UINT),
        (types.DOUBLE, types.DOUBLE),
        (types.DURATION, types.DURATION),
        (types.TIMESTAMP, types.TIMESTAMP),
        (types.NULL, types.NULL),
        (types.DYN, types.DYN),
        (types.list_of(types.INT), types.list_of(types.INT)),
        (types.map_of(types.STRING, types.INT), types.map_of(types.STRING, types.INT)),
        (types.object_type("a.B"), types.DYN),
        (types.list_of(types.object_type("a.B")), types.list_of(types.DYN)),
        (
            types.map_of(types.STRING, types.list_of(types.object_type("a.B"))),
            types.map_of(types.STRING, types.list_of(types.DYN)),
        ),
    ],
)
def test_what_later_expressions_know_of_a_variable(result: types.Type, known: types.Type) -> None:
    assert variable_type(result) == known


@pytest.mark.parametrize("authorizer", [True, False])
@pytest.mark.parametrize("params", [None, types.DYN])
def test_names(params: types.Type | None, authorizer: bool) -> None:
    found = variable_types(types.DYN, params=params, authorizer=authorizer)
    always = {"object", "oldObject", "request", "namespaceObject"}
    asked = {"authorizer", "authorizer.requestResource"} if authorizer else set()
    assert found.keys() == always | asked | ({"params"} if params is not None else set())


def test_types_of_lists_in_lists_are_known_so_deep() -> None:
    deep = types.INT
    for _ in range(3000):
        deep = variable_type(types.list_of(deep))
    shown = str(deep)
    assert shown.startswith("list(list(list(")
    assert shown.rstrip(")").endswith("(dyn")
    assert 10 < shown.count("list") < 100
