"""The regex library."""

from __future__ import annotations

import pytest

from celadon.cel.errors import EvaluationError
from celadon.cel.library import regex
from celadon.cel.values.runtime_types import NONE


@pytest.mark.parametrize(
    ("text", "pattern", "found"),
    [
        ("item-A", "item-(\\w+)", "A"),
        ("hello", "l+", "ll"),
        ("hello", "x", None),
        ("hello", "h(x?)", None),
        ("hello", "h(x)?", None),
    ],
)
def test_extract(text: str, pattern: str, found: str | None) -> None:
    optional = regex.extract(text, pattern)
    assert (optional is NONE) is (found is None)
    assert optional.value == found


@pytest.mark.parametrize(
    ("text", "pattern", "found"),
    [
        ("id:123, id:456", "id:(\\d+)", ["123", "456"]),
        ("id:123, id:456", "id:\\d+", ["id:123", "id:456"]),
        ("ab a", "a(b?)", ["b"]),
        ("none", "x", []),
    ],
)
def test_extract_all(text: str, pattern: str, found: list[str]) -> None:
    assert regex.extract_all(text, pattern) == found


@pytest.mark.parametrize(
    ("text", "pattern", "replacement", "limit", "result"),
    [
        ("banana", "a", "x", -1, "bxnxnx"),
        ("banana", "a", "x", 2, "bxnxna"),
        ("banana", "a", "x", 0, "banana"),
        ("banana", "(", "x", 0, "banana"),
        ("foo bar", "(fo)o (ba)r", "\\2 \\1", -1, "ba fo"),
        ("ab", "(a)(x)?", "[\\2\\0]", -1, "[a]b"),
        ("ab", "b", "\\\\", -1, "a\\"),
        ("ab", "", "-", -1, "-a-b-"),
    ],
)
def test_replace(text: str, pattern: str, replacement: str, limit: int, result: str) -> None:
    assert regex.replace(text, pattern, replacement, limit) == result


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        ("(", "", "error parsing regexp: missing closing ): `(`"),
        ("a", "x\\", "invalid replacement string: 'x\\' \\ not allowed at end"),
        (
            "a",
            "\\x",
            "invalid replacement string: '\\x' \\ must be followed by a digit or \\",
        ),
        (
            "(a)",
            "\\2",
            "replacement string references group 2 but regex has only 1 group(s)",
        ),
    ],
)
def test_replace_errors(pattern: str, replacement: str, message: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        regex.replace("aaa", pattern, replacement)
    assert raised.value.message == message


def test_only_one_group_can_be_extracted() -> None:
    for function in (regex.extract, regex.extract_all):
        with pytest.raises(EvaluationError) as raised:
            function("ab", "(a)(b)")
        assert raised.value.message == (
            'regular expression has more than one capturing group: "(a)(b)"'
        )
