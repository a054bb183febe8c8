"""All ways to run a pattern give the same matches, on random patterns and subjects."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.cel.re2 import compile
from celadon.cel.re2.automaton import Program, alphabet_of, to_python
from celadon.cel.re2.backtracking_proofs import SpanFinder
from celadon.cel.re2.dfa import Dfa, question, starts_anchored
from celadon.cel.re2.pattern import Pattern
from celadon.cel.re2.pattern_parser import parse
from tests.cel.re2 import pike
from tests.examples import examples

_ATOMS = ["a", "b", "c", "ab", ".", "[ab]", "[^a]", r"\w", r"\n", "-", "(?i:a)", "(?s:.)", r"\d"]
_ASSERTIONS = ["^", "$", r"\b", r"\B", r"\A", r"\z", "(?m:^)", "(?m:$)"]
_REPEATS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,3}?", "{2,}", "{0}"]


def _patterns() -> st.SearchStrategy[str]:
    atoms = st.sampled_from(_ATOMS) | st.sampled_from(_ASSERTIONS)
    return st.recursive(atoms, _compound, max_leaves=8)


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=2, max_size=4).map("".join),
        st.lists(inner | st.just(""), min_size=2, max_size=3).map(lambda b: f"(?:{'|'.join(b)})"),
        inner.map(lambda p: f"({p})"),
        st.tuples(inner, st.sampled_from(_REPEATS)).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    )


_SUBJECTS = st.text("aabbcA-\n1", max_size=12)


@settings(max_examples=examples(300), deadline=None)
@given(_patterns(), st.lists(_SUBJECTS, min_size=1, max_size=4))
def test_matches_are_those_of_the_reference(pattern: str, texts: list[str]) -> None:
    """Several subjects for one pattern: what engines remember must not mislead them."""
    parsed = parse(pattern)
    program = Program(parsed.tree, alphabet_of(parsed.tree), captures=True)
    finder = SpanFinder(program, anchored=starts_anchored(parsed.tree))
    compiled = Pattern(pattern)
    for text in texts:
        expected = pike.find_all(program, text, parsed.groups)
        assert finder.find_all(text, -1, parsed.groups) == expected
        spans = [slots[:2] for slots in expected]
        assert compiled.find_all(text) == spans
        assert compiled.find(text) == (spans[0] if spans else None)
        assert compiled.search(text) is bool(expected)


@settings(max_examples=examples(300), deadline=None)
@given(_patterns(), _SUBJECTS)
def test_the_automaton_and_the_reduced_question_agree(pattern: str, text: str) -> None:
    tree = parse(pattern).tree
    program = Program(tree, alphabet_of(tree))
    expected = pike.search(program, text, 0, 0) is not None
    assert Dfa(program, anchored=starts_anchored(tree)).search(text) is expected
    asked = question(tree)
    reduced = Program(asked.tree, alphabet_of(asked.tree))
    assert Dfa(reduced, anchored=asked.anchored).search(text) is expected


@settings(max_examples=examples(300), deadline=None)
@given(_patterns(), st.text("aabbcA-\n1", max_size=8))
def test_translations_find_the_same_matches(pattern: str, text: str) -> None:
    tree = parse(pattern).tree
    translated = to_python(tree)
    if translated is None:
        return
    expected = pike.search(Program(tree, alphabet_of(tree)), text, 0, 0)
    found = re.search(translated, text)
    assert (None if found is None else found.span()) == expected


@given(_patterns(), _SUBJECTS)
def test_a_limit_takes_the_first_matches(pattern: str, text: str) -> None:
    compiled = compile(pattern)
    everything = compiled.find_all_groups(text)
    for limit in (0, 1, 2):
        assert compiled.find_all_groups(text, limit) == everything[:limit]
        assert compiled.find_all(text, limit) == [match[0] for match in everything[:limit]]
