"""Questions that a method of `str` answers.

`^docker.io/` is a prefix, `:latest$` a suffix, `^(a|b)$` one of two texts. Each function made here
raises TypeError when its argument is not a `str`, as `re` does.
"""

from __future__ import annotations

from collections.abc import Callable

from celadon.cel.re2.automata.reduction import Question
from celadon.cel.re2.trees.pattern_tree import (
    Alternate,
    Assertion,
    AssertionKind,
    Chars,
    Concat,
    Empty,
    Literal,
    Node,
    Repeat,
)

Search = Callable[[str], object]

_END = Assertion(AssertionKind.END_TEXT)

# More texts than this are left to `re`.
_MAX_TEXTS = 8


def plain_search(question: Question) -> Search | None:
    """The search, when the pattern is a handful of texts at the start, the end, or anywhere."""
    parts = question.tree.subs if isinstance(question.tree, Concat) else (question.tree,)
    ends = parts[-1] == _END
    texts = _texts_of(parts[:-1] if ends else parts)
    if texts is None:
        return None
    if question.anchored:
        return _equals(texts) if ends else _starts_with(texts)
    if ends:
        return _ends_with(texts)
    return _contains(next(iter(texts))) if len(texts) == 1 else None


def _texts_of(parts: tuple[Node, ...]) -> frozenset[str] | None:
    """The texts a sequence matches, when they are few."""
    texts = frozenset({""})
    for part in parts:
        more = _texts(part)
        if more is None or len(texts) * len(more) > _MAX_TEXTS:
            return None
        texts = frozenset(left + right for left in texts for right in more)
    return texts


def _texts(node: Node) -> frozenset[str] | None:
    match node:
        case Empty():
            return frozenset({""})
        case Literal(text, False):
            return frozenset({text})
        case Chars(chars) if len(chars) <= _MAX_TEXTS and all(
            high - low < _MAX_TEXTS for low, high in chars
        ):
            return frozenset(chr(point) for low, high in chars for point in range(low, high + 1))
        case Repeat(sub, 0, 1):
            texts = _texts(sub)
            return None if texts is None else texts | {""}
        case Concat(subs):
            return _texts_of(subs)
        case Alternate(subs):
            return _union(subs)
        case _:
            return None


def _union(subs: tuple[Node, ...]) -> frozenset[str] | None:
    union: frozenset[str] = frozenset()
    for sub in subs:
        texts = _texts(sub)
        if texts is None or len(union) + len(texts) > _MAX_TEXTS:
            return None
        union |= texts
    return union


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
