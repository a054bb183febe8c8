"""Go's `%q` and `%v`, and its JSON."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.go.go_text import json_text, plain_text, quote, type_text


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", '""'),
        ("plain text", '"plain text"'),
        ('a"b\\c', '"a\\"b\\\\c"'),
        ("\a\b\f\n\r\t\v", '"\\a\\b\\f\\n\\r\\t\\v"'),
        ("\x00\x7f", '"\\x00\\x7f"'),
        ("é😀", '"é😀"'),
        ("\u200b\u00a0", '"\\u200b\\u00a0"'),
        ("\U000e0001", '"\\U000e0001"'),
        ("\ud800", '"\ufffd"'),
    ],
)
def test_quote(text: str, want: str) -> None:
    assert quote(text) == want


def test_json_text() -> None:
    assert json_text({"b": [1, "<é&>\u2028"], "a": None}) == (
        '{"b":[1,"\\u003cé\\u0026\\u003e\\u2028"],"a":null}'
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0001, "0.0001"),
        (0.00001, "0.00001"),
        (0.0000015, "0.0000015"),
        (-1e-6, "-0.000001"),
        (9.9e-7, "9.9e-7"),
        (1e-10, "1e-10"),
        (1e16, "10000000000000000"),
        (1.2345678901234568e20, "123456789012345680000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        ("1e-07", '"1e-07"'),
        ('"1e+16', '"\\"1e+16"'),
    ],
)
def test_doubles_in_json(value: Any, text: str) -> None:
    """As kube-apiserver 1.36 answers of custom resources."""
    assert json_text({"a": [value]}) == f'{{"a":[{text}]}}'


def test_plain_text() -> None:
    assert plain_text({"b": [1, True, None], "a": {"x": "y"}}) == "map[a:map[x:y] b:[1 true <nil>]]"
    assert plain_text([2.0, 1.5, 1e21]) == "[2 1.5 1e+21]"


def test_type_text() -> None:
    values: list[Any] = [{}, [], "", True, 1, 1.0, None]
    found = [type_text(value) for value in values]
    assert found == [
        "map[string]interface {}",
        "[]interface {}",
        "string",
        "bool",
        "int64",
        "float64",
        "<nil>",
    ]
