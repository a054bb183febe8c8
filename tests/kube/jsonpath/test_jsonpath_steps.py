"""What JSONPath templates are refused, and with which words."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.jsonpath import JSONPathError, parse_jsonpath

GOOD = [
    "spec.validations[0].expression",
    "spec!",
    "spec.x}",
    "..x",
    "a b",
    ".spec['a.b']",
    "spec[*]",
    "spec[0,1]",
    "spec[-1:]",
    "spec[::2]",
    '.items[?(@.a=="b")]',
    ".items[?(@.a)]",
    '"text"',
    "1.5",
    "$.a\\.b",
    "",
]
BAD = [
    ("spec[foo]", "invalid array index foo"),
    ("spec[0:1:2:3]", "invalid array index 0:1:2:3"),
    ("spec[-]", "array index - is not a number"),
    ("spec[", "unterminated array"),
    ("spec['a", "unterminated array"),
    ("spec[0,x]", "invalid array index x"),
    ("!x", "unrecognized character in action: U+0021 '!'"),
    ("{x", "unrecognized character in action: U+007B '{'"),
    ("a\nb", "unclosed action"),
    ("....x", "invalid multiple recursive descent"),
    ("'a", "unterminated quoted string"),
    ("'\\q'", "unquote string '\\q' error invalid syntax"),
    ("+", "cannot parse number +"),
    ("9" * 5_000, f"cannot parse number {'9' * 5_000}"),
    (f"spec[0:{'9' * 5_000}]", f"array index {'9' * 5_000} is not a number"),
    ("spec[9223372036854775808]", "array index 9223372036854775808 is not a number"),
    ("a[?(@.b", "unterminated filter"),
    ("a[?(@.b)", "unclosed array expect ]"),
]


@pytest.mark.parametrize("reference", GOOD)
def test_accepted(reference: str) -> None:
    parse_jsonpath(f"{{{reference}}}")


@pytest.mark.parametrize(("reference", "message"), BAD)
def test_refused(reference: str, message: str) -> None:
    with pytest.raises(JSONPathError) as caught:
        parse_jsonpath(f"{{{reference}}}")
    assert str(caught.value) == message


@given(st.text(alphabet="{}[]().,?@$'\"\\*:-+0 a=!\n", max_size=30))
def test_any_text_is_answered(text: str) -> None:
    with contextlib.suppress(JSONPathError):
        parse_jsonpath(f"{{{text}}}")
