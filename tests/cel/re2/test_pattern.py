"""What matches where, which way it is found, and the edges of the interface."""

from __future__ import annotations

import threading

import pytest

from celadon.cel.re2 import compile
from celadon.cel.re2.pattern import Pattern, Strategy

_SEARCHES = [
    # `$` is the very end, in contrast to Python's.
    ("a$", "a\n", False),
    ("(?m)a$", "a\nb", True),
    ("^b", "a\nb", False),
    ("(?m)^b", "a\nb", True),
    (r"(?m)\Ab", "a\nb", False),
    (r"(?m)a\z", "a\nb", False),
    # Words, digits and spaces are ASCII.
    (r"^\w$", "é", False),
    (r"^\d$", "٣", False),
    (r"^\s$", "\u00a0", False),
    (r"^\s$", "\v", False),
    (r"^[[:space:]]$", "\v", True),
    (r"\bé", "é", False),
    (r"\Bé\B", "é", True),
    (r"\B", "", True),
    (r"\b", "", False),
    # `.` and negated classes.
    ("^.$", "\n", False),
    ("(?s)^.$", "\n", True),
    ("^[^a]$", "\n", True),
    ("^.$", "\U0001f600", True),
    # Other cases.
    ("(?i)^straße$", "STRAẞE", True),
    ("(?i)^k$", "\u212a", True),
    ("(?i)^[a-z]$", "\u017f", True),
    (r"(?i)^\w$", "\u212a", True),
    (r"(?i)^\W$", "\u212a", False),
    ("(?i)^i$", "İ", False),
    ("(?i:a)b", "Ab", True),
    ("(?i:a)b", "AB", False),
    ("(?i)a(?-i)b", "AB", False),
    (r"(?i)^\p{Lu}$", "a", True),
    (r"^\P{L}$", "1", True),
    (r"^[^\PL]$", "a", True),
    # Nothing and everything.
    ("", "", True),
    ("^$", "a", False),
    ("[^\\x00-\\x{10FFFF}]", "a", False),
    ("a{0}", "b", True),
    ("^(?:^$)+$", "1", False),
    (r"x*\z.", "xx", False),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), _SEARCHES)
def test_search(pattern: str, text: str, expected: bool) -> None:
    compiled = compile(pattern)
    assert compiled.search(text) is expected
    assert (compiled.find(text) is not None) is expected
    assert bool(compiled.find_all_groups(text)) is expected


_FINDS = [
    ("[0-9]*", "123 abc 456", ["123", "", "", "", "", "456"]),
    ("a|b|", "abc", ["a", "b", ""]),
    ("x*", "abc", ["", "", "", ""]),
    ("a|ab", "ab", ["a"]),
    ("ab|a", "ab", ["ab"]),
    ("a+?", "aa", ["a", "a"]),
    ("(?U)a+", "aa", ["a", "a"]),
    ("(?U)a+?", "aa", ["aa"]),
    ("[^/]+$", "a/b/c", ["c"]),
    ("a(?:.*x)?", "aaa", ["a", "a", "a"]),
    ("a(?:.*x)?", "aaxa", ["aax", "a"]),
    (r"\b", "ab cd", ["", "", "", ""]),
    (".", "ß∂🐱", ["ß", "∂", "🐱"]),
    ("^a", "aaa", ["a"]),
    ("(?m)^.", "ab\ncd", ["a", "c"]),
    ("(a*)*", "b", ["", ""]),
    ("(|a)*", "aa", ["", "", ""]),
    ("(|a)+", "aa", ["", "", ""]),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), _FINDS)
def test_find_all(pattern: str, text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in compile(pattern).find_all(text)] == expected


_GROUPS = [
    ("(a)|(b)", "b", [(0, 1), None, (0, 1)]),
    ("(a)(b)?", "a", [(0, 1), (0, 1), None]),
    ("(?:(a)|b)*", "ab", [(0, 2), (0, 1)]),
    ("(a*)*", "b", [(0, 0), (0, 0)]),
    ("(a*)+", "b", [(0, 0), (0, 0)]),
    ("(a|ab)(c|bcd)(d*)", "abcd", [(0, 4), (0, 1), (1, 4), (4, 4)]),
    ("(?P<x>.)(?<y>.)", "éa", [(0, 2), (0, 1), (1, 2)]),
    ("(a){2}", "aa", [(0, 2), (1, 2)]),
    ("(a){0}b", "ab", [(1, 2), None]),
    ("^(x)", "y", None),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), _GROUPS)
def test_match_groups(pattern: str, text: str, expected: list[tuple[int, int] | None]) -> None:
    assert compile(pattern).match_groups(text) == expected


@pytest.mark.parametrize(
    ("pattern", "strategy"),
    [
        (r"^docker\.io/", Strategy.PLAIN),
        (".*:latest$", Strategy.PLAIN),
        ("^(dev|test|prod)$", Strategy.PLAIN),
        ("^$", Strategy.PLAIN),
        ("nginx", Strategy.PLAIN),
        ("(a*)*", Strategy.PLAIN),
        ("[a-z0-9]([-a-z0-9]*[a-z0-9])?", Strategy.RE),
        (r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", Strategy.RE),
        (r"^registry\.example\.com/[a-z0-9-]+(/[a-z0-9-]+)*:[a-z0-9.-]+$", Strategy.RE),
        (r"^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$", Strategy.RE),
        ("@sha256:[a-f0-9]{64}$", Strategy.RE),
        ("^(.+)/(.+):(.+)$", Strategy.RE_IF_SHORT),
        ("foo.*bar", Strategy.RE_IF_SHORT),
        ("^(a|aa)*c", Strategy.RE),
        ("^(a|ab|b)*c", Strategy.AUTOMATON),
        (r"^(?:\b|a)+$", Strategy.AUTOMATON),
    ],
)
def test_strategies(pattern: str, strategy: Strategy) -> None:
    assert compile(pattern).strategy is strategy


_ONE_OF_EACH = [
    "nginx",
    "^a",
    "a$",
    "^ab$",
    "^(a|b)$",
    "^[a-z]+$",
    "x.*y",
    "^(a|ab|b)*c",
    "(a+a+)+b{3}",
]


@pytest.mark.parametrize("pattern", _ONE_OF_EACH)
@pytest.mark.parametrize("value", [None, 5, 1.5, b"a", ["a"], ("a",), {"a": "a"}])
def test_anything_but_a_str_is_a_type_error(pattern: str, value: object) -> None:
    search: object = compile(pattern).search_fn
    assert callable(search)
    with pytest.raises(TypeError):
        search(value)


@pytest.mark.parametrize("pattern", _ONE_OF_EACH)
def test_long_and_short_subjects_get_the_same_answer(pattern: str) -> None:
    compiled = compile(pattern)
    for text in ("", "a", "ab", "xzy", "nginx", "aac"):
        padded = text + "z" * 500
        assert bool(compiled.search_fn(padded)) is bool(compile(f"(?:{pattern})").find(padded))


def test_short_patterns_are_kept() -> None:
    assert compile("a+b") is compile("a+b")


def test_repr_names_the_source() -> None:
    assert repr(compile("a+")) == "Pattern('a+')"


def test_threads_may_share_a_pattern() -> None:
    compiled = Pattern("^(?:(a)|(aa)|b)*c$")
    subjects = ["ab" * size + "c" for size in range(40)]
    answers: list[bool] = []

    def run() -> None:
        answers.append(
            all(compiled.search(text) and compiled.match_groups(text) for text in subjects)
        )

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 4


def test_long_patterns_are_kept_within_bounds() -> None:
    first, *others = ("x" * 300_000 + str(number) for number in range(4))
    kept = compile(first)
    assert compile(first) is kept
    for other in others:
        compile(other)
    assert compile(others[-1]) is compile(others[-1])
    assert compile(first) is not kept
