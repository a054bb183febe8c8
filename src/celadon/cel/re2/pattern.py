"""Compiled patterns: which way each question about a subject is answered.

Whether there is a match (`search_fn`), first that applies:

- a method of `str`, when the pattern is a text or two (`plain`);
- `re`, when the pattern means the same to it and it provably takes linear time
  (`backtracking_proofs`);
- `re` for subjects so short that it cannot take long, the automaton (`dfa`) for others;
- the automaton.

Where the matches are: first `search_fn`, as most often there is none; then `re` under like
conditions, else `spans`. Groups: always `spans`.
"""

from __future__ import annotations

import enum
import re
import sys
from collections.abc import Callable
from functools import cached_property
from typing import Generic, TypeVar

from celadon.cel.re2 import pattern_tree
from celadon.cel.re2.automaton import Program, alphabet_of, to_python
from celadon.cel.re2.backtracking_proofs import Analysis, Slots, SpanFinder
from celadon.cel.re2.dfa import MAX_HEIGHT, Dfa, Question, question, starts_anchored
from celadon.cel.re2.pattern_parser import parse
from celadon.records import dataclass

# --- Machine pool ------------------------------------------------------------
#
# Machines that remember, shared by callers that may run at the same time.
#
# An automaton grows while it runs, so two threads must not run it at once. Each run takes one
# from the spares, or a new one when there is none, and puts it back when it is done; one that
# failed in between is not put back. Taking and putting are single operations of a list.

T = TypeVar("T")


class Spares(Generic[T]):
    """Machines that nobody is using; more are made when there are none."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._spares: list[T] = []

    def take(self) -> T:
        try:
            return self._spares.pop()
        except IndexError:
            return self._make()

    def put(self, machine: T) -> None:
        self._spares.append(machine)


# --- String methods ----------------------------------------------------------
#
# Questions that a method of `str` answers.
#
# `^docker.io/` is a prefix, `:latest$` a suffix, `^(a|b)$` one of two texts. Each function made
# here raises TypeError when its argument is not a `str`, as `re` does.

_END = pattern_tree.Assertion(pattern_tree.AssertionKind.END_TEXT)

# More texts than this are left to `re`.
_MAX_TEXTS = 8


def plain_search(question: Question) -> Search | None:
    """Return the search, when the pattern is a handful of texts at the start, the end, or
    anywhere."""
    parts = (
        question.tree.subs if isinstance(question.tree, pattern_tree.Concat) else (question.tree,)
    )
    ends = parts[-1] == _END
    texts = _texts_of(parts[:-1] if ends else parts)
    if texts is None:
        return None
    if question.anchored:
        return _equals(texts) if ends else _starts_with(texts)
    if ends:
        return _ends_with(texts)
    return _contains(next(iter(texts))) if len(texts) == 1 else None


def _texts_of(parts: tuple[pattern_tree.Node, ...]) -> frozenset[str] | None:
    """Return the texts a sequence matches, when they are few."""
    texts = frozenset({""})
    for part in parts:
        more = _texts(part)
        if more is None or len(texts) * len(more) > _MAX_TEXTS:
            return None
        texts = frozenset(left + right for left in texts for right in more)
    return texts


def _texts(node: pattern_tree.Node) -> frozenset[str] | None:
    match node:
        case pattern_tree.Empty():
            return frozenset({""})
        case pattern_tree.Literal(text, False):
            return frozenset({text})
        case pattern_tree.Chars(chars) if len(chars) <= _MAX_TEXTS and all(
            high - low < _MAX_TEXTS for low, high in chars
        ):
            return frozenset(chr(point) for low, high in chars for point in range(low, high + 1))
        case pattern_tree.Repeat(sub, 0, 1):
            texts = _texts(sub)
            return None if texts is None else texts | {""}
        case pattern_tree.Concat(subs):
            return _texts_of(subs)
        case pattern_tree.Alternate(subs):
            return _union(subs)
        case _:
            return None


def _union(subs: tuple[pattern_tree.Node, ...]) -> frozenset[str] | None:
    all_texts: frozenset[str] = frozenset()
    for sub in subs:
        texts = _texts(sub)
        if texts is None or len(all_texts) + len(texts) > _MAX_TEXTS:
            return None
        all_texts |= texts
    return all_texts


def _equals(texts: frozenset[str]) -> Search:
    if len(texts) > 1:
        as_str = str.__str__
        return lambda text: as_str(text) in texts
    (only,) = texts
    equal = str.__eq__
    return lambda text: equal(text, only)


def _starts_with(texts: frozenset[str]) -> Search:
    starts_with = str.startswith
    prefixes = _prefixes(texts)
    return lambda text: starts_with(text, prefixes)


def _ends_with(texts: frozenset[str]) -> Search:
    ends_with = str.endswith
    suffixes = _prefixes(texts)
    return lambda text: ends_with(text, suffixes)


def _prefixes(texts: frozenset[str]) -> str | tuple[str, ...]:
    return next(iter(texts)) if len(texts) == 1 else tuple(sorted(texts))


def _contains(part: str) -> Search:
    contains = str.__contains__
    return lambda text: contains(text, part)


Span = tuple[int, int]
Search = Callable[[str], object]

# Larger patterns are not worth the analysis: they go to the automaton.
_MAX_SIZE = 400

# Subjects up to so long are searched once in less time than it takes to find out how to do it best.
_SHORT = 2_000

# Subjects shorter than this are not worth asking `re` about first.
_MIN_SHORT_LIMIT = 16


@dataclass(frozen=True, slots=True)
class _PythonFinder:
    """Finds matches by `re.Pattern.search`, which is good for subjects up to a length."""

    search: Callable[..., re.Match[str] | None]
    limit: int


_NO_FINDER = _PythonFinder(re.compile("").search, -1)


class Strategy(enum.Enum):
    """Says how `search_fn` works."""

    PLAIN = "str methods"
    RE = "re"
    RE_IF_SHORT = "re for short subjects"
    AUTOMATON = "automaton"


class Pattern:
    """Matches texts by a pattern of RE2. Matches are Go's: leftmost, then most preferred. Positions
    count code points.

    `search_fn(text)` is true if there is a match and false if not, though not necessarily a bool:
    the fastest way to ask. It raises TypeError when `text` is not a `str`. `groups` is the number
    of capturing groups. How to search is worked out when somebody first wants to: most patterns are
    only read, to see whether they are right.
    """

    __slots__ = ("__dict__", "_is_new", "groups", "source")

    def __init__(self, source: str) -> None:
        """Compile the pattern. Raises `RegexError`."""
        parsed = parse(source)
        self.source = source
        self.groups = parsed.groups
        self._tree = parsed.tree
        self._is_new = True

    def __repr__(self) -> str:
        return f"Pattern({self.source!r})"

    @cached_property
    def strategy(self) -> Strategy:
        """Return how `search_fn` works."""
        return self._searching[0]

    @cached_property
    def search_fn(self) -> Search:
        """The fastest way to ask: see the class."""
        return self._searching[1]

    @cached_property
    def _searching(self) -> tuple[Strategy, Search]:
        return _searcher(self._tree)

    def search(self, text: str) -> bool:
        """Return whether the pattern matches somewhere in `text`."""
        return bool((_unanalysed(self._tree) if self._begins_with(text) else self.search_fn)(text))

    def _begins_with(self, text: str) -> bool:
        """Return whether this is the first text that it is searched in, and a short one. To work
        out how to search takes a hundred times as long, and a hostile loop makes a new pattern in
        each round."""
        is_new, self._is_new = self._is_new, False
        return is_new and "_searching" not in self.__dict__ and len(text) <= _SHORT

    def find(self, text: str) -> Span | None:
        """Return where the first match is."""
        if self._only_text:
            start = text.find(self._only_text)
            return None if start < 0 else (start, start + len(self._only_text))
        is_first = self._begins_with(text)
        if not (_unanalysed(self._tree) if is_first else self.search_fn)(text):
            return None
        finder = _NO_FINDER if is_first else self._find_first
        if len(text) <= finder.limit:
            span = finder.search(text)
            return None if span is None else span.span()
        start, end, *_ = self._all_spans(text, 1)[0]
        return start, end

    def find_all(self, text: str, limit: int = -1) -> list[Span]:
        """Return where the matches are, at most `limit` unless that is negative. As Go
        `FindAllString`: an empty match right after another match is left out."""
        if self._only_text:
            return _occurrences(text, self._only_text, limit)
        is_first = self._begins_with(text)
        if not (_unanalysed(self._tree) if is_first else self.search_fn)(text):
            return []
        finder = _NO_FINDER if is_first else self._find_next
        if len(text) > finder.limit:
            return [(slots[0], slots[1]) for slots in self._all_spans(text, limit)]
        result: list[Span] = []
        position = 0
        previous_end = -1
        while position <= len(text) and len(result) != limit:
            match = finder.search(text, position)
            if match is None:
                break
            start, end = match.span()
            if end != position or start != previous_end:
                result.append((start, end))
            position = position + 1 if end == position else end
            previous_end = end
        return result

    def match_groups(self, text: str) -> list[Span | None] | None:
        """Return the first match: its span, then one per group, None for groups that took no part.
        None when there is no match."""
        all_groups = self._all_groups(text, 1)
        return _spans(all_groups[0]) if all_groups else None

    def find_all_groups(self, text: str, limit: int = -1) -> list[list[Span | None]]:
        """Find all as `find_all`, each match as `match_groups` has it."""
        return [_spans(slots) for slots in self._all_groups(text, limit)]

    @cached_property
    def _only_text(self) -> str:
        """Return the only text that it matches, wherever that stands; empty if there is none."""
        match self._tree:
            case pattern_tree.Literal(text, False):
                return text
        return ""

    @cached_property
    def _find_first(self) -> _PythonFinder:
        return _python_finder(self._tree, find_all=False)

    @cached_property
    def _find_next(self) -> _PythonFinder:
        return _python_finder(self._tree, find_all=True)

    @cached_property
    def _span_finders(self) -> Spares[SpanFinder]:
        return Spares(lambda: _spans_of(self._tree, captures=False))

    @cached_property
    def _group_finders(self) -> Spares[SpanFinder]:
        return Spares(lambda: _spans_of(self._tree, captures=True))

    def _all_spans(self, text: str, limit: int) -> list[Slots]:
        finder = self._span_finders.take()
        find_all = finder.find_all(text, limit, 0)
        self._span_finders.put(finder)
        return find_all

    def _all_groups(self, text: str, limit: int) -> list[Slots]:
        finder = self._group_finders.take()
        find_all = finder.find_all(text, limit, self.groups)
        self._group_finders.put(finder)
        return find_all


def _occurrences(text: str, part: str, limit: int) -> list[Span]:
    """Return where `part` is, at most so often unless `limit` is negative."""
    result: list[Span] = []
    start = text.find(part)
    while start >= 0 and len(result) != limit:
        result.append((start, start + len(part)))
        start = text.find(part, start + len(part))
    return result


def _unanalysed(tree: pattern_tree.Node) -> Search:
    """Return how to search without looking further into the pattern."""
    if tree.facts.height > MAX_HEIGHT:
        return _automaton(Question(tree, starts_anchored(tree)))
    query = question(tree)
    return plain_search(query) or _automaton(query)


def _searcher(tree: pattern_tree.Node) -> tuple[Strategy, Search]:
    if tree.facts.height > MAX_HEIGHT:
        return Strategy.AUTOMATON, _automaton(Question(tree, starts_anchored(tree)))
    query = question(tree)
    plain = plain_search(query)
    if plain is not None:
        return Strategy.PLAIN, plain
    automaton = _automaton(query)
    translated = None if _is_large(query.tree) else to_python(query.tree)
    if translated is None:
        return Strategy.AUTOMATON, automaton
    analysis = Analysis(_program(query.tree))
    if analysis.linear_question(anchored=query.anchored):
        return Strategy.RE, _python_search(translated, anchored=query.anchored)
    limit = analysis.short_limit(anchored=query.anchored)
    if limit < _MIN_SHORT_LIMIT:
        return Strategy.AUTOMATON, automaton
    short = _python_search(translated, anchored=query.anchored)
    return Strategy.RE_IF_SHORT, _by_length(short, limit, automaton)


def _python_finder(tree: pattern_tree.Node, *, find_all: bool) -> _PythonFinder:
    """Return how to find with `re` what `tree` matches, and for which subjects."""
    translated = None if _is_large(tree) else to_python(tree)
    if translated is None:
        return _NO_FINDER
    anchored = starts_anchored(tree)
    analysis = Analysis(_program(tree))
    prove = analysis.linear_find_all if find_all else analysis.linear_find
    limit = sys.maxsize
    if not prove(anchored=anchored):
        limit = analysis.short_limit(anchored=anchored, find_all=find_all)
    return _PythonFinder(re.compile(translated).search, limit) if limit else _NO_FINDER


def _is_large(tree: pattern_tree.Node) -> bool:
    return tree.facts.height > MAX_HEIGHT or tree.facts.size > _MAX_SIZE


def _spans_of(tree: pattern_tree.Node, *, captures: bool) -> SpanFinder:
    program = Program(tree, alphabet_of(tree), captures=captures)
    return SpanFinder(program, anchored=starts_anchored(tree))


def _program(tree: pattern_tree.Node) -> Program:
    return Program(tree, alphabet_of(tree))


def _python_search(translated: str, *, anchored: bool) -> Search:
    compiled = re.compile(translated)
    return compiled.match if anchored else compiled.search


def _by_length(short: Search, limit: int, long: Search) -> Search:
    return lambda text: short(text) if len(text) <= limit else long(text)


def _automaton(query: Question) -> Search:
    spares = Spares(lambda: Dfa(_program(query.tree), anchored=query.anchored))
    shortest = query.tree.facts.shortest

    def search(text: str) -> bool:
        if text.__class__ is str and len(text) < shortest:
            return False
        automaton = spares.take()
        span = automaton.search(text)
        spares.put(automaton)
        return span

    return search


def _spans(slots: Slots) -> list[Span | None]:
    pairs = zip(slots[::2], slots[1::2], strict=True)
    return [None if start < 0 else (start, end) for start, end in pairs]
