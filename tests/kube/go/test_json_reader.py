"""JSON as Go reads it: values, repeated members, complaints."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.go.go_json import JsonSyntaxError, NumberText, check_syntax, read_json

END = "unexpected end of JSON input"
ROWS = [
    ("", END),
    ('{"a":', END),
    ("-", END),
    ("1.", END),
    ("tru", END),
    ("hello", "invalid character 'h' looking for beginning of value"),
    ("[]x", "invalid character 'x' after top-level value"),
    ("01", "invalid character '1' after top-level value"),
    ("{bad}", "invalid character 'b' looking for beginning of object key string"),
    ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
    ("[1,]", "invalid character ']' looking for beginning of value"),
    ('{"a" 1}', "invalid character '1' after object key"),
    ('{"a":1 2}', "invalid character '2' after object key:value pair"),
    ("[1 2]", "invalid character '2' after array element"),
    ('"a\nb"', "invalid character '\\n' in string literal"),
    ('"\\x"', "invalid character 'x' in string escape code"),
    ('"\\u12g0"', "invalid character 'g' in \\u hexadecimal character escape"),
    ("nul!", "invalid character '!' in literal null (expecting 'l')"),
    ("-a", "invalid character 'a' in numeric literal"),
    ("1.e", "invalid character 'e' after decimal point in numeric literal"),
    ("1ex", "invalid character 'x' in exponent of numeric literal"),
    ("NaN", "invalid character 'N' looking for beginning of value"),
    ("'a'", "invalid character '\\'' looking for beginning of value"),
    ("\ufeff{}", "invalid character 'ï' looking for beginning of value"),
    ("[" * 10_001, "exceeded max depth"),
]


@pytest.mark.parametrize(("text", "message"), ROWS)
def test_complaints(text: str, message: str) -> None:
    with pytest.raises(JsonSyntaxError) as caught:
        read_json(text)
    assert str(caught.value) == message


HALVES = [
    (r'"\ud800x"', "\ufffdx"),
    (r'"\uDFFF"', "\ufffd"),
    (r'"\ud800\ud83d\udca3"', "\ufffd\U0001f4a3"),
    (r'"\udca3\ud83d"', "\ufffd\ufffd"),
    (r'"\\ud800"', r"\ud800"),
    (r'"\\\ud800"', "\\\ufffd"),
    (r'{"\ud800": 1, "\udbff": 2}', {"\ufffd": 2}),
]


@pytest.mark.parametrize(("text", "value"), HALVES, ids=[row[0] for row in HALVES])
def test_halves_of_surrogate_pairs_are_replaced(text: str, value: object) -> None:
    assert read_json(text).value == value


def test_repeated_members() -> None:
    text = '{"a": {"x": 1}, "b": 2, "a": {"y": 3}}'
    last = read_json(text)
    assert last.value == {"a": {"y": 3}, "b": 2}
    merged = read_json(text, merge=True)
    assert merged.value == {"a": {"x": 1, "y": 3}, "b": 2}
    assert [key for key, _ in merged.members(merged.value)] == ["a", "b", "a"]
    assert [key for key, _ in merged.members(merged.value["a"])] == ["x", "y"]


def test_numbers_keep_their_text() -> None:
    value = read_json("[1e1, 10.0, 99999999999999999999999]").value
    assert value == [10.0, 10.0, 1e23]
    assert isinstance(value[0], NumberText)
    assert value[0].text == "1e1"
    assert value[1].__class__ is float
    assert value[2].text == "99999999999999999999999"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


@given(JSON)
def test_what_was_written_is_read(value: Any) -> None:
    text = json.dumps(value)
    check_syntax(text)
    assert read_json(text).value == value


@given(st.text(alphabet='{}[]",:\\u0123456789.eE+-truefalsn \n', max_size=12))
def test_both_readers_agree(text: str) -> None:
    try:
        json.loads(text)
    except ValueError:
        with pytest.raises(JsonSyntaxError):
            read_json(text)
    else:
        check_syntax(text)
