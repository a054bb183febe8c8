"""No pattern and no subject takes more than time in proportion to their product.

Work is counted in steps, not seconds.
"""

from __future__ import annotations

import random

import pytest

from celadon.cel.re2 import compile
from celadon.cel.re2.automaton import Program, alphabet_of
from celadon.cel.re2.backtracking_proofs import Analysis, SpanFinder
from celadon.cel.re2.dfa import Dfa
from celadon.cel.re2.pattern import Pattern
from celadon.cel.re2.pattern_parser import parse
from tests.growth.counted_steps import steps_of

_PATTERNS = [
    "(a+)+$",
    "(a|aa)*b",
    "(a*)*b",
    "(.*)(.*)(.*)x",
    "([a-z]+)*!",
    "(x+x+)+y",
    "^(a|a)*$",
    "^(?:a?){30}a{30}$",
    "a(?:.*x)?",
    "[a-z]+x",
]


def _program(pattern: str) -> Program:
    tree = parse(pattern).tree
    return Program(tree, alphabet_of(tree))


@pytest.mark.parametrize("pattern", _PATTERNS)
def test_searching_is_linear(pattern: str) -> None:
    steps = []
    for length in (1000, 2000, 4000):
        automaton = Dfa(_program(pattern), anchored=False)
        automaton.search("a" * length)
        steps.append(automaton.steps)
    assert steps[2] <= 2.2 * steps[1] <= 4.84 * steps[0]
    assert steps[2] <= 4000 * 100


@pytest.mark.parametrize("pattern", _PATTERNS)
def test_finding_all_matches_is_linear(pattern: str) -> None:
    steps = []
    for length in (500, 1000, 2000):
        finder = SpanFinder(_program(pattern), anchored=False)
        finder.find_all("a" * length, -1, 0)
        steps.append(finder.steps)
    assert steps[2] <= 2.2 * steps[1] <= 4.84 * steps[0]
    assert steps[2] <= 2000 * 200


def test_an_automaton_with_countless_states_costs_its_size_per_character() -> None:
    program = _program("[ab]*a[ab]{60}c")
    rng = random.Random(1)
    text = "".join(rng.choice("ab") for _ in range(2000))
    automaton = Dfa(program, anchored=False)
    assert not automaton.search(text)
    assert automaton.steps <= len(text) * len(program.op)
    finder = SpanFinder(program, anchored=False)
    assert finder.find_all(text, -1, 0) == []
    assert finder.steps <= len(text) * len(program.op) * 3


@pytest.mark.parametrize("text", ["a" * 5_000, "é" * 5_000])
def test_a_long_text_is_found_in_itself(text: str) -> None:
    """As an automaton it has a state for each character, each of which is looked at for each."""
    assert steps_of(lambda: compile(text).find(text)) < 1_000_000
    assert compile(text).find("b" + text) == (1, 5_001)
    assert compile(text).find(text[1:]) is None


@pytest.mark.parametrize(
    ("limit", "spans"),
    [(-1, [(1, 3), (3, 5), (6, 8)]), (0, []), (1, [(1, 3)]), (2, [(1, 3), (3, 5)])],
)
def test_all_places_of_a_text(limit: int, spans: list[tuple[int, int]]) -> None:
    assert compile("ab").find_all("babab-ab", limit) == spans
    assert compile("ab").find_all("ba", limit) == []


@pytest.mark.parametrize("pattern", _PATTERNS)
def test_a_hundred_kilobytes(pattern: str) -> None:
    compiled = compile(pattern)
    text = "a" * 100_000
    assert bool(compiled.search_fn(text)) is compiled.search(text)
    assert bool(compiled.search_fn(text + "!")) is compiled.search(text + "!")


@pytest.mark.parametrize(
    ("pattern", "anchored", "question", "find", "find_all"),
    [
        ("a+$", True, True, True, True),
        ("a+$", False, False, False, False),
        ("a+", False, False, True, True),
        ("[0-9]+[.][0-9]+", False, False, False, False),
        ("v[0-9]+[.][0-9]+", False, True, True, True),
        ("[a-z0-9]([-a-z0-9]*[a-z0-9])?", True, True, True, True),
        ("[a-z]+([.][a-z]+)*", False, False, True, True),
        ("a(.*x)?", True, True, True, True),
        ("a(.*x)?", False, False, True, False),
        ("(a.*x)|a", False, False, False, False),
        (r"a\b(.*x)?", False, False, False, False),
        ("(a|aa)*b", True, False, False, False),
        ("(a|a)*", True, True, True, True),
        ("(a|ab|b)*", True, False, False, False),
        ("x.*y.*z", True, False, False, False),
        ("(a+)+b", True, False, False, False),
    ],
)
def test_what_is_proven(
    pattern: str, anchored: bool, question: bool, find: bool, find_all: bool
) -> None:
    program = _program(pattern)
    assert Analysis(program).linear_question(anchored=anchored) is question
    assert Analysis(program).linear_find(anchored=anchored) is find
    assert Analysis(program).linear_find_all(anchored=anchored) is find_all


@pytest.mark.parametrize(
    ("pattern", "least", "most"),
    [("(a|aa)*b", 10, 30), ("(.+)/(.+):(.+)", 50, 120), ("(a+)+b", 8, 24), ("abc", 256, 256)],
)
def test_short_subjects(pattern: str, least: int, most: int) -> None:
    limit = Analysis(_program(pattern)).short_limit(anchored=True)
    assert least <= limit <= most
    assert Analysis(_program(pattern)).short_limit(anchored=True, find_all=True) <= limit


@pytest.mark.parametrize("pattern", [r"\pL{200}!", "[a-c]{2}!+", "(a|b)*c", "a!$", "(a+)(!|b)"])
def test_a_pattern_that_is_asked_once_is_not_analysed(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hostile loop makes a new one in each round; those of policies are asked again."""
    text = "aab!" * 60
    analysed = Pattern(pattern)
    _ = analysed.strategy  # asks for the analysis
    expected = analysed.search(text), analysed.find(text), analysed.find_all(text)
    monkeypatch.setattr(Analysis, "__init__", _refuse)
    asked = (
        Pattern(pattern).search(text),
        Pattern(pattern).find(text),
        Pattern(pattern).find_all(text),
    )
    assert asked == expected


def _refuse(*_: object) -> None:
    raise AssertionError("nobody asks again")


def test_few_automata_are_large_at_a_time() -> None:
    """What a policy with hundreds of such patterns remembers is bounded."""
    made = [Dfa(_program(f"a{{{n}}}b{{{n}}}"), anchored=False) for n in range(150, 190)]
    for automaton in made:
        assert not automaton.search("a" * 200)
        assert automaton.search("a" * 200 + "b" * 200)
    remembered = [len(automaton._states) for automaton in made]
    assert sum(count > 0 for count in remembered) <= 17
    assert remembered[0] == 0 < remembered[-1]
    assert made[0].search("a" * 200 + "b" * 200)


def test_a_subject_shorter_than_any_match_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    search = Dfa.search

    def noted(automaton: Dfa, text: str) -> bool:
        searched.append(text)
        return search(automaton, text)

    monkeypatch.setattr(Dfa, "search", noted)
    subject = "a" * 400 + "b" * 400
    pattern = compile("(a|a){400}b{400}")
    assert not pattern.search(subject[:-1])
    assert searched == []
    assert pattern.search(subject)
    assert searched == [subject]
