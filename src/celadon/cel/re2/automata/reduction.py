"""Trees for the question "does it match anywhere", which is most of what policies ask.

For that question groups and preferences mean nothing, so a tree may become any other with the same
answer: simpler ones are far more often safe to hand to `re` (see `backtracking`).

- Loops of loops become one: `(a*)*`, `(a+)+` and `(a|b*)*` are `a*`, `a+` and `[ab]*`. A loop body
  that can be empty contributes nothing by being empty, so its optional parts become branches. Where
  an assertion is involved that would be wrong, and the loop stays.
- Neighbours that repeat the same set become one: `.*.*` is `.*`, `[0-9][0-9]*` is `[0-9]+`.
- What is optional at an open end goes: searching for `.*x+y*` is searching for `x`. If the whole
  matches somewhere then so does the rest without it, and the other way round with it being empty.

Recursive, so only for trees of bounded height: `MAX_HEIGHT`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from celadon.cel.re2.trees.factoring import alternatives, single_char_set
from celadon.cel.re2.trees.pattern_tree import (
    EMPTY,
    Alternate,
    Assertion,
    AssertionKind,
    Capture,
    Chars,
    Concat,
    Empty,
    Literal,
    Node,
    Repeat,
    concat,
    plus,
    quest,
    repeat,
    star,
)
from celadon.records import dataclass

MAX_HEIGHT = 60


@dataclass(frozen=True, slots=True)
class Question:
    """`tree` is to be found anywhere or, with `anchored`, at the start of the text only."""

    tree: Node
    anchored: bool


def question(tree: Node) -> Question:
    """The simplest question with the same answer as searching for `tree`."""
    reduced = _reduce(tree)
    if starts_anchored(reduced):
        parts = _parts(reduced)
        if parts[0] == Assertion(AssertionKind.BEGIN_TEXT):
            reduced = _join(parts[1:])
        return Question(_trim_end(reduced), anchored=True)
    return Question(_trim_end(_trim_start(reduced)), anchored=False)


def starts_anchored(node: Node) -> bool:
    """Whether every match begins at the start of the text. Looks 60 levels deep at most."""
    return _starts_anchored(node, MAX_HEIGHT)


def _starts_anchored(node: Node, depth: int) -> bool:
    if depth == 0:
        return False
    match node:
        case Assertion(kind):
            return kind is AssertionKind.BEGIN_TEXT
        case Concat(subs):
            return _starts_anchored(subs[0], depth - 1)
        case Alternate(subs):
            return all(_starts_anchored(sub, depth - 1) for sub in subs)
        case Capture(sub):
            return _starts_anchored(sub, depth - 1)
        case Repeat(sub, least):
            return least > 0 and _starts_anchored(sub, depth - 1)
        case Empty() | Literal() | Chars():
            return False
        case _:
            assert_never(node)


def _reduce(node: Node) -> Node:
    match node:
        case Empty() | Literal() | Chars() | Assertion():
            return node
        case Capture():
            return _reduce(node.sub)
        case Concat():
            return _join(tuple(_reduce(sub) for sub in node.subs))
        case Alternate():
            return _either([_reduce(sub) for sub in node.subs])
        case Repeat():
            return _repeated(_reduce(node.sub), node.least, node.most)
        case _:
            assert_never(node)


def _parts(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Concat):
        return node.subs
    return () if isinstance(node, Empty) else (node,)


def _join(nodes: tuple[Node, ...]) -> Node:
    joined: list[Node] = []
    for node in nodes:
        for part in _parts(node):
            merged = _merge(joined[-1], part) if joined else None
            if merged is None:
                joined.append(part)
            else:
                joined[-1] = merged
    if not joined:
        return EMPTY
    return joined[0] if len(joined) == 1 else concat(tuple(joined))


def _merge(left: Node, right: Node) -> Node | None:
    """Two neighbours as one node."""
    if isinstance(left, Literal) and isinstance(right, Literal) and left.fold == right.fold:
        return Literal(left.text + right.text, left.fold)
    if not isinstance(left, Repeat) and not isinstance(right, Repeat):
        return None
    first, first_least, first_most = _times(left)
    second, second_least, second_most = _times(right)
    chars = single_char_set(first)
    if chars is None or chars != single_char_set(second):
        return None
    most = None if first_most is None or second_most is None else first_most + second_most
    return repeat(first, first_least + second_least, most, greedy=True, counted=True)


def _times(node: Node) -> tuple[Node, int, int | None]:
    return (node.sub, node.least, node.most) if isinstance(node, Repeat) else (node, 1, 1)


def _either(branches: list[Node]) -> Node:
    kept: list[Node] = [branch for branch in branches if not isinstance(branch, Empty)]
    if not kept:
        return EMPTY
    node = alternatives(kept)
    return _repeated(node, 0, 1) if len(kept) < len(branches) else node


def _repeated(sub: Node, least: int, most: int | None) -> Node:
    if isinstance(sub, Empty) or most == 0:
        return EMPTY
    empty = _can_be_empty(sub)
    if empty:
        least = 0
    if most is None:
        return _looped(sub, least)
    if most == 1:
        if least == 1 or empty:
            return sub
        if isinstance(sub, Repeat) and (sub.least, sub.most) == (1, None):
            return star(sub.sub)
        return quest(sub)
    if isinstance(sub, Repeat) and (sub.least, sub.most) == (0, 1):
        sub = sub.sub
    return repeat(sub, least, most, greedy=True, counted=True)


def _can_be_empty(node: Node) -> bool:
    """Whether it matches the empty string anywhere, no matter what assertions would say."""
    match node:
        case Empty():
            return True
        case Repeat(sub, least):
            return least == 0 or _can_be_empty(sub)
        case Concat(subs):
            return all(map(_can_be_empty, subs))
        case Alternate(subs):
            return any(map(_can_be_empty, subs))
        case _:
            return False


def _looped(sub: Node, least: int) -> Node:
    if least > 0 and sub.facts.nullable:
        return repeat(sub, least, None, greedy=True, counted=True)
    body = _loop_body(sub)
    if body is None:
        return EMPTY
    if least > 1:
        return repeat(sub, least, None, greedy=True, counted=True)
    return plus(body) if least else star(body)


def _loop_body(sub: Node) -> Node | None:
    """What, looped, gives the same strings as `sub` looped; None when that is only the empty one.

    When `sub` cannot be empty neither can the result.
    """
    match sub:
        case Empty() | Assertion():
            return None
        case Repeat(inner, least, most) if least <= 1 and most != 0:
            return _loop_body(inner)
        case Alternate(subs):
            return _branches(subs)
        case Concat(subs) if sub.facts.nullable and not any(map(_asserts, subs)):
            return _branches(subs)
        case _:
            return sub


def _branches(subs: tuple[Node, ...]) -> Node | None:
    bodies = [body for body in map(_loop_body, subs) if body is not None]
    return alternatives(bodies) if bodies else None


def _asserts(node: Node) -> bool:
    match node:
        case Assertion():
            return True
        case Capture(sub) | Repeat(sub):
            return _asserts(sub)
        case Concat(subs) | Alternate(subs):
            return any(map(_asserts, subs))
        case _:
            return False


def _trimmed_repeat(sub: Node, least: int, trim: Callable[[Node], Node]) -> Node:
    """One repetition at an open end is as good as the number asked for, if that is one."""
    if least == 0:
        return EMPTY
    return trim(sub) if least == 1 else repeat(sub, least, least, greedy=True, counted=True)


def _trimmed_branches(branches: list[Node]) -> Node:
    """A branch that matches everywhere makes the others idle."""
    return EMPTY if any(isinstance(branch, Empty) for branch in branches) else _either(branches)


def _trim_start(node: Node) -> Node:
    match node:
        case Repeat(sub, least):
            return _trimmed_repeat(sub, least, _trim_start)
        case Alternate(subs):
            return _trimmed_branches([_trim_start(sub) for sub in subs])
        case Concat(subs):
            first = _trim_start(subs[0])
            rest = _join(subs[1:])
            return _trim_start(rest) if isinstance(first, Empty) else _join((first, rest))
        case _:
            return node


def _trim_end(node: Node) -> Node:
    match node:
        case Repeat(sub, least):
            return _trimmed_repeat(sub, least, _trim_end)
        case Alternate(subs):
            return _trimmed_branches([_trim_end(sub) for sub in subs])
        case Concat(subs):
            last = _trim_end(subs[-1])
            rest = _join(subs[:-1])
            return _trim_end(rest) if isinstance(last, Empty) else _join((rest, last))
        case _:
            return node
