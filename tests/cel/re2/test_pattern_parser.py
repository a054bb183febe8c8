"""Patterns that are refused, with Go's texts, and what some odd ones mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.re2 import RegexError, compile
from celadon.cel.re2.pattern_parser import MAX_SIZE, parse
from celadon.cel.re2.pattern_tree import Chars, Literal

_REFUSED = [
    ("(", "missing closing ): `(`"),
    ("a(b", "missing closing ): `a(b`"),
    ("(?:a", "missing closing ): `(?:a`"),
    (")", "unexpected ): `)`"),
    ("a)", "unexpected ): `a)`"),
    ("(a))b", "unexpected ): `(a))b`"),
    ("[a", "missing closing ]: `[a`"),
    ("x[", "missing closing ]: `[`"),
    ("[]", "missing closing ]: `[]`"),
    ("[^]a", "missing closing ]: `[^]a`"),
    ("[a-", "missing closing ]: `[a-`"),
    ("[z-a]", "invalid character class range: `z-a`"),
    (r"[b-\x61]", r"invalid character class range: `b-\x61`"),
    ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
    (r"\p{Foo}", r"invalid character class range: `\p{Foo}`"),
    (r"\p{^Foo}x", r"invalid character class range: `\p{^Foo}`"),
    (r"\pX", r"invalid character class range: `\pX`"),
    (r"\p", r"invalid character class range: `\p`"),
    (r"\p{Greek", r"invalid character class range: `\p{Greek`"),
    (r"\p{Old_Italic}", r"invalid character class range: `\p{Old_Italic}`"),
    (r"[\p{L]", r"invalid character class range: `\p{L]`"),
    (r"[a-\d]", r"invalid escape sequence: `\d`"),
    (r"\1", r"invalid escape sequence: `\1`"),
    (r"\8", r"invalid escape sequence: `\8`"),
    (r"\18", r"invalid escape sequence: `\1`"),
    (r"\C", r"invalid escape sequence: `\C`"),
    (r"\Z", r"invalid escape sequence: `\Z`"),
    (r"\q", r"invalid escape sequence: `\q`"),
    ("\\é", "invalid escape sequence: `\\é`"),
    (r"[\b]", r"invalid escape sequence: `\b`"),
    (r"\x", r"invalid escape sequence: `\x`"),
    (r"\x1", r"invalid escape sequence: `\x1`"),
    (r"\xgh", r"invalid escape sequence: `\xgh`"),
    (r"\x{", r"invalid escape sequence: `\x{`"),
    (r"\x{}", r"invalid escape sequence: `\x{}`"),
    (r"\x{6g}", r"invalid escape sequence: `\x{6g`"),
    (r"\x{110000}", r"invalid escape sequence: `\x{110000`"),
    ("a\\", "trailing backslash at end of expression: ``"),
    ("[\\", "trailing backslash at end of expression: ``"),
    ("*", "missing argument to repetition operator: `*`"),
    ("+?a", "missing argument to repetition operator: `+?`"),
    ("a|*", "missing argument to repetition operator: `*`"),
    ("(?:+)", "missing argument to repetition operator: `+`"),
    ("{2}", "missing argument to repetition operator: `{2}`"),
    ("a**", "invalid nested repetition operator: `**`"),
    ("a*+?b", "invalid nested repetition operator: `*+?`"),
    ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
    ("a{1001}", "invalid repeat count: `{1001}`"),
    ("a{1,1001}?", "invalid repeat count: `{1,1001}`"),
    ("a{99999999999999}", "invalid repeat count: `{99999999999999}`"),
    ("a{2,1}", "invalid repeat count: `{2,1}`"),
    ("(?:a{100}){11}", "invalid repeat count: `{11}`"),
    ("(?:a{1000}){2,}?", "invalid repeat count: `{2,}?`"),
    ("((((x{10}){10}){10}){10})", "invalid repeat count: `{10}`"),
    ("(?=x)", "invalid or unsupported Perl syntax: `(?=`"),
    ("(?!x)", "invalid or unsupported Perl syntax: `(?!`"),
    ("(?>x)", "invalid or unsupported Perl syntax: `(?>`"),
    ("(?#x)", "invalid or unsupported Perl syntax: `(?#`"),
    ("(?x)", "invalid or unsupported Perl syntax: `(?x`"),
    ("(?", "invalid or unsupported Perl syntax: `(?`"),
    ("(?i", "invalid or unsupported Perl syntax: `(?i`"),
    ("(?i-)", "invalid or unsupported Perl syntax: `(?i-)`"),
    ("(?--i)", "invalid or unsupported Perl syntax: `(?--`"),
    ("(?P=n)", "invalid or unsupported Perl syntax: `(?P`"),
    ("(?P<", "invalid or unsupported Perl syntax: `(?P`"),
    ("(?'n'x)", "invalid or unsupported Perl syntax: `(?'`"),
    ("(?<", "invalid or unsupported Perl syntax: `(?<`"),
    ("(?<=a)", "invalid named capture: `(?<=a)`"),
    ("(?<=a>b)", "invalid named capture: `(?<=a>`"),
    ("(?P<n", "invalid named capture: `(?P<n`"),
    ("(?P<>a)", "invalid named capture: `(?P<>`"),
    ("(?P<n m>a)", "invalid named capture: `(?P<n m>`"),
    ("(?<é>a)", "invalid named capture: `(?<é>`"),
    ("a\ud800b", "invalid UTF-8: `?b`"),
]


@pytest.mark.parametrize(("pattern", "text"), _REFUSED)
def test_refused(pattern: str, text: str) -> None:
    with pytest.raises(RegexError) as caught:
        compile(pattern)
    assert str(caught.value) == f"error parsing regexp: {text}"


_NESTED = {
    "captures": ("(" * 1000 + "a" + ")" * 1000, "(" * 999 + "a" + ")" * 999),
    "repetitions": ("(?:" * 1000 + "a" + ")?" * 1000, "(?:" * 999 + "a" + ")?" * 999),
    "alternations": ("(?:a|bc" * 900 + ")" * 900, "(?:a|bc" * 400 + ")" * 400),
}


@pytest.mark.parametrize("name", _NESTED)
def test_height_is_bounded(name: str) -> None:
    too_deep, deep_enough = _NESTED[name]
    with pytest.raises(RegexError) as caught:
        parse(too_deep)
    assert str(caught.value) == f"error parsing regexp: expression nests too deeply: `{too_deep}`"
    assert parse(deep_enough).tree.facts.height <= 1000


def test_unclosed_parentheses_are_reported_as_such_however_many() -> None:
    with pytest.raises(
        RegexError, match=r"^error parsing regexp: missing closing \): `\({10000}`$"
    ):
        parse("(" * 10_000)


@pytest.mark.parametrize("pattern", ["x{1000}" * 4000, f"(?:{'xy' * 2000}){{1000}}"])
def test_size_is_bounded(pattern: str) -> None:
    with pytest.raises(RegexError) as caught:
        parse(pattern)
    assert str(caught.value) == f"error parsing regexp: expression too large: `{pattern}`"


def test_size_just_within_bounds_costs_nothing_until_it_is_used() -> None:
    pattern = f"^(?:{'x' * 3000}){{1000}}$"
    assert parse(pattern).tree.facts.size < MAX_SIZE
    assert not compile(pattern).search("x" * 100)


def test_characters_in_classes_are_bounded() -> None:
    with pytest.raises(RegexError, match="expression too large"):
        parse(r"\pL" * 30_000)


_LITERALS = [
    ("a{,2}", "a{,2}"),
    ("a{01}", "a{01}"),
    ("a{1", "a{1"),
    ("a{1,x}", "a{1,x}"),
    ("]}", "]}"),
    (r"\Q+*\E", "+*"),
    (r"\Qa\b", r"a\b"),
    (r"\Q\E", ""),
    (r"\012\x41\x{1F600}\0", "\nA\U0001f600\0"),
    (r"\777", "\u01ff"),
    (r"\a\f\n\r\t\v\_\-\.", "\a\f\n\r\t\v_-."),
    (r"[a][\n]", "a\n"),
]


@pytest.mark.parametrize(("pattern", "text"), _LITERALS)
def test_literals(pattern: str, text: str) -> None:
    tree = parse(pattern).tree
    assert (tree.text if isinstance(tree, Literal) else "") == text


def test_classes_of_one_letter_in_both_cases_are_literals() -> None:
    assert parse("[Aa]").tree == Literal("A", fold=True)
    assert parse("[Kk]").tree == Chars(((0x4B, 0x4B), (0x6B, 0x6B)))


def test_alternations_of_characters_are_sets() -> None:
    assert parse("a|b|[x-z]").tree == Chars(((0x61, 0x62), (0x78, 0x7A)))


@pytest.mark.parametrize(
    ("pattern", "groups"),
    [("a", 0), ("(a)(?:b)(c(d))", 3), ("(?P<n>a)(?<m>b)", 2), ("(?P<n>a)(?P<n>b)", 2)],
)
def test_groups_are_counted(pattern: str, groups: int) -> None:
    assert compile(pattern).groups == groups


@given(st.text(r"ab(){}[]*+?|^$.\\,:<>=!-019pPdwxQEzimsU", max_size=20) | st.text(max_size=12))
def test_junk_is_compiled_or_refused(pattern: str) -> None:
    try:
        compiled = compile(pattern)
    except RegexError as error:
        assert str(error).startswith("error parsing regexp: ")  # noqa: PT017
    else:
        assert compiled.search("a0") is bool(compiled.find_all_groups("a0"))


@pytest.mark.parametrize(
    ("pattern", "shortest"),
    [
        ("", 0),
        ("abc", 3),
        ("(?i)abc|de", 2),
        ("a{3}b{2,}(c{4})", 9),
        ("(ab|c){5}[x-z]?", 5),
        ("(ab)*", 0),
        ("(ab)+", 2),
        ("^a$|x{2,9}", 1),
        ("(a*b{3}){7}", 21),
    ],
)
def test_how_short_a_match_can_be(pattern: str, shortest: int) -> None:
    facts = parse(pattern).tree.facts
    assert facts.shortest == shortest
    assert facts.nullable is (shortest == 0)
