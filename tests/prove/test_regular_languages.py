"""Patterns as languages of the solver: in them are the texts in which the engine finds a match."""

from __future__ import annotations

import pytest

pytest.importorskip("z3")

import z3

from celadon.cel.extend import re2
from celadon.prove.regular_languages import consumed, contained, sample
from celadon.prove.solver_terms import text
from celadon.prove.symbolic_values import NotModelled

TEXTS = ("", "a", "b", "A", "ab", "ba", "aa", "aba", "abab", "aaaa", "xaby", "7", "a\nb", "\u00e9")


@pytest.mark.parametrize(
    "pattern",
    [
        *("", "a", "ab", "^", "$", "^$", "^a", "a$", "^ab$", "a^", "$a", "^a|b$", "(^|a)b"),
        *("a(b|$)", "(?i)a", "(?i)ab", "[a-b]", "[^a]", ".", "(?s).", "^.$", "(?s)^.$", r"\d"),
        *(r"^\w*$", "a*", "a+", "^a?$", "^a{2}$", "^a{2,}$", "^a{1,2}$", "^a{0}$", "^(ab)*$"),
        *("^(ab){2}$", "^(a|b)+$", "(a)(b)", "(?:^)?a", "^(^a)?b", "x|", "^a$b"),
        "[^\\x00-\\x{10FFFF}]",
    ],
)  # fmt: skip
def test_a_text_is_in_the_language_of_what_is_found_in_it(pattern: str) -> None:
    language = contained(pattern)
    found = re2.compile(pattern).search
    matched = [one for one in TEXTS if z3.is_true(z3.simplify(z3.InRe(text(one), language)))]
    assert matched == [one for one in TEXTS if found(one)]


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("ab", ["ab"]),
        ("^a", ["a"]),
        ("a+", ["a", "aa", "aaaa"]),
        ("a|b$", ["a", "b"]),
        ("(?i)a?", ["", "a", "A"]),
        (".", ["a", "b", "A", "7", "\u00e9"]),
    ],
)
def test_what_a_match_may_be(pattern: str, matches: list[str]) -> None:
    language = consumed(pattern)
    assert [
        one for one in TEXTS if z3.is_true(z3.simplify(z3.InRe(text(one), language)))
    ] == matches


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("\\ba", "a pattern about lines or words"),
        ("(?m)^a", "a pattern about lines or words"),
        ("(^a)*", "a pattern that repeats ^ or $"),
        ("(a$)+", "a pattern that repeats ^ or $"),
    ],
)
def test_patterns_that_are_no_languages(pattern: str, reason: str) -> None:
    for function in (contained, consumed):
        with pytest.raises(NotModelled, match=f"^{reason.replace('^', '.').replace('$', '.')}$"):
            function(pattern)


@pytest.mark.parametrize(
    ("pattern", "shortest"),
    [
        ("", ""),
        ("abc", "abc"),
        ("^abc$", "abc"),
        ("a*b+c?", "b"),
        ("(ab){2,}", "abab"),
        ("abc|de|fgh", "de"),
        ("(?:a|)$", ""),
        ("[^a-y]", "z"),
        ("[%&]", "%"),
        ("[!-1]", "0"),
        ("(x)[0-9]-", "x0-"),
        ("a^", None),
        ("\\b", None),
        ("(", None),
    ],
)
def test_a_short_text_with_a_match(pattern: str, shortest: str | None) -> None:
    assert sample(pattern) == shortest


def test_a_pattern_that_is_not_right_has_no_language() -> None:
    assert (contained("("), consumed("(")) == (None, None)
