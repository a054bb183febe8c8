"""What JSONPath steps select, and how the found is printed."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import jsonpath
from celadon.kube.jsonpath import parse_jsonpath, printed, selected

OBJECT: dict[str, Any] = {
    "metadata": {"name": "n", "labels": {"a.b": "dotted"}},
    "spec": {
        "list": [1, 2, 3, 4],
        "empty": [],
        "none": None,
        "items": [{"t": "a", "n": 1}, {"t": "b", "n": 2}, {"u": 3}],
        "flag": True,
    },
}
ROWS: list[tuple[str, list[Any]]] = [
    (".metadata.name", ["n"]),
    (".metadata.labels.a\\.b", ["dotted"]),
    (".metadata.labels['a\\.b']", ["dotted"]),
    (".metadata.labels['a.b']", []),
    (".spec.nothing.there", []),
    (".spec.none", [None]),
    (".spec.none.x", []),
    (".spec.list[0]", [1]),
    (".spec.list[]", [1]),
    (".spec.list[-1]", [4]),
    (".spec.list[-2]", [3]),
    (".spec.list[4]", []),
    (".spec.list[-5]", []),
    (".spec.list[1:3]", [2, 3]),
    (".spec.list[:2]", [1, 2]),
    (".spec.list[-2:]", [3, 4]),
    (".spec.list[3:1]", []),
    (".spec.list[::2]", [1, 3]),
    (".spec.list[::0]", []),
    (".spec.list[*]", [1, 2, 3, 4]),
    (".spec.empty[*]", []),
    (".spec.list[0,2]", [1, 3]),
    (".spec.list[0,9]", []),
    (".metadata[0]", []),
    (".spec.items[*].t", ["a", "b"]),
    ('.spec.items[?(@.t=="b")].n', [2]),
    (".spec.items[?(@.n>=1)].n", [1, 2]),
    (".spec.items[?(@.u)].u", [3]),
    ('.spec.items[?(@.n=="1")].n', []),
    (".spec.items[?(@.n=1)]", []),
    (".spec.list[?(@>2)]", [3, 4]),
    (".spec[?(@.flag==true)]", []),
    (".metadata.labels.*", ["dotted"]),
    ("..n", [1, 2]),
    ('"text"', ["text"]),
    ("range .spec", []),
    ("", [OBJECT]),
]


@pytest.mark.parametrize(("path", "values"), ROWS)
def test_selected(path: str, values: list[Any]) -> None:
    assert list(selected(parse_jsonpath(f"{{{path}}}"), OBJECT)) == values


CHAIN: Any = 1
for _ in range(15):
    CHAIN = {"a": CHAIN, "b": [CHAIN]}


@pytest.mark.parametrize(
    "path",
    [
        "..a" * 30,
        "['a','a']" * 30,
        "[*]" * 30,
        "..b[?(@..a)]" * 20,
        ".a" * 100_000,
    ],
)
def test_values_that_multiply_are_not_all_looked_at(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonpath, "MOST_VALUES", 20_000)
    assert selected(parse_jsonpath(f"{{{path}}}"), CHAIN) == ()


def test_a_filter_compares_booleans_only_for_equality() -> None:
    value = {"a": [{"b": True}, {"b": False}]}
    assert list(selected(parse_jsonpath("{.a[?(@.b==true)]}"), value)) == [{"b": True}]
    assert list(selected(parse_jsonpath("{.a[?(@.b<true)]}"), value)) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "<no value>"),
        ("a", "a"),
        (True, "true"),
        (False, "false"),
        (5, "5"),
        (2.5, "2.5"),
        (3.0, "3"),
        (1e30, "1e+30"),
        ({"b": [1, {"d": 1, "c": "<"}], "a": None}, '{"a":null,"b":[1,{"c":"\\u003c","d":1}]}'),
        ([], "[]"),
    ],
)
def test_printed(value: Any, text: str) -> None:
    assert printed(value) == text
