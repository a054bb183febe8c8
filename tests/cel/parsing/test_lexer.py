from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.parsing import tokens
from celadon.cel.parsing.lexer import next_token, tokenize

S, B, NAME, F, N, U, E = (
    tokens.STRING,
    tokens.BYTES,
    tokens.IDENTIFIER,
    tokens.FLOAT,
    tokens.INT,
    tokens.UINT,
    tokens.ESC_IDENTIFIER,
)


def lex(text: str) -> list[tuple[str, str]] | None:
    tokenized = tokenize(text)
    if tokenized is None:
        return None
    assert tokenized.kinds[-1] == tokens.EOF
    for kind, token, offset in list(zip(*tokenized, strict=True))[:-1]:
        assert text.startswith(token, offset), kind
    return list(zip(tokenized.kinds, tokenized.texts, strict=True))[:-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a<=b", [(NAME, "a"), ("<=", "<="), (NAME, "b")]),
        ("a<b", [(NAME, "a"), ("<", "<"), (NAME, "b")]),
        ("!=!", [("!=", "!="), ("!", "!")]),
        ("in inn", [("in", "in"), (NAME, "inn")]),
        ("true truex", [("true", "true"), (NAME, "truex")]),
        ("in'x'", [("in", "in"), (S, "'x'")]),
        ("x.5", [(NAME, "x"), (F, ".5")]),
        ("1.", [(N, "1"), (".", ".")]),
        ("1..5", [(N, "1"), (".", "."), (F, ".5")]),
        ("1.5e-3", [(F, "1.5e-3")]),
        ("1e3", [(F, "1e3")]),
        ("1e", [(N, "1"), (NAME, "e")]),
        ("0x1Fu", [(U, "0x1Fu")]),
        ("0X1F", [(N, "0"), (NAME, "X1F")]),
        ("0x", [(N, "0"), (NAME, "x")]),
        ("007U", [(U, "007U")]),
        ("1u1", [(U, "1u"), (N, "1")]),
        ("a//b\nc", [(NAME, "a"), (NAME, "c")]),
        ("a // b", [(NAME, "a")]),
        ("a / b", [(NAME, "a"), ("/", "/"), (NAME, "b")]),
        (" \t\r\n\fa", [(NAME, "a")]),
        ("`a.b-c/d e`", [(E, "`a.b-c/d e`")]),
        ("''", [(S, "''")]),
        ("''''''", [(S, "''''''")]),
        ("'''a'b''c'''", [(S, "'''a'b''c'''")]),
        ("'''a''''", None),
        ('"""a\nb"""', [(S, '"""a\nb"""')]),
        (r"'\''", [(S, r"'\''")]),
        (r"r'\'", [(S, r"r'\'")]),
        ("R'''\\'''", [(S, "R'''\\'''")]),
        ("b'x'", [(B, "b'x'")]),
        ("bR'x'", [(B, "bR'x'")]),
        ("rb'x'", [(NAME, "rb"), (S, "'x'")]),
        (r"'\x41\101A\U00000041\`\?'", [(S, r"'\x41\101A\U00000041\`\?'")]),
        ("'a\nb'", None),
        (r"'\q'", None),
        (r"'\400'", None),
        ("\u00a0a", None),
        ("\v", None),
        ("a & b", None),
        ("``", None),
        ("", []),
    ],
)
def test_tokens(text: str, expected: list[tuple[str, str]] | None) -> None:
    assert lex(text) == expected


@pytest.mark.parametrize(
    ("text", "at", "junk"),
    [
        ("@a", 0, "@"),
        ("a & b", 2, "& "),
        ("a | b", 2, "| "),
        ("= b", 0, "= "),
        ("=", 0, "="),
        ("'abc", 0, "'abc"),
        ("'a\nb'", 0, "'a\n"),
        (r'"\q"', 0, r'"\q'),
        (r'"\u12"', 0, r'"\u12"'),
        (r'"\xFh"', 0, r'"\xFh'),
        (r"'\18'", 0, r"'\18"),
        (r"'\4'", 0, r"'\4"),
        ("`a$`", 0, "`a$"),
        ("``", 0, "``"),
        ("😁", 0, "😁"),
    ],
)
def test_junk_ends_where_it_became_junk(text: str, at: int, junk: str) -> None:
    assert next_token(text, at) == (None, at, at + len(junk))


def test_an_unterminated_triple_quote_is_an_empty_string_and_a_rest() -> None:
    assert next_token('"""abc', 0) == (S, 0, 2)
    assert next_token('"""abc', 2) == (None, 2, 6)


@given(st.text(alphabet="ab1.'\"\\rbux \n=&|`@/-u0", max_size=30))
def test_both_ways_give_the_same_tokens(text: str) -> None:
    found: list[tuple[str | None, str]] = []
    at = 0
    while True:
        kind, start, end = next_token(text, at)
        assert start >= at
        if kind == tokens.EOF:
            break
        assert end > start
        found.append((kind, text[start:end]))
        at = end
    has_junk = any(kind is None for kind, _ in found)
    assert lex(text) == (None if has_junk else found)
