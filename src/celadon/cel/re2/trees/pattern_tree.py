"""The tree of a regular expression: one frozen class per kind of node.

A tree may be a thousand levels high, so nothing may recurse over it without having looked at its
height first. What the parser and the engines ask of every tree is therefore computed bottom-up when
a node is made, from the facts of its children: see `Facts`. Composite nodes are made by the lower
case functions (`concat`, `repeat`, ...), never by calling the classes.
"""

from __future__ import annotations

import enum
from typing import TypeAlias

from celadon.cel.re2.trees.charsets import CharSet
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """`height` of the tree; `size` in instructions as Go estimates it; `shortest`, so many
    characters a match has at least; `repeats`, the largest product of nested counted
    repetitions."""

    height: int = 1
    size: int = 1
    shortest: int = 1
    repeats: int = 1

    @property
    def nullable(self) -> bool:
        """Whether it can match without consuming."""
        return not self.shortest


_CONSUMING = Facts()
_NULLABLE = Facts(shortest=0)


class AssertionKind(enum.Enum):
    """What stands between two characters."""

    BEGIN_TEXT = enum.auto()
    END_TEXT = enum.auto()
    BEGIN_LINE = enum.auto()
    END_LINE = enum.auto()
    WORD_BOUNDARY = enum.auto()
    NOT_WORD_BOUNDARY = enum.auto()


@dataclass(frozen=True, slots=True)
class Empty:
    """Matches the empty string."""

    @property
    def facts(self) -> Facts:
        return _NULLABLE


@dataclass(frozen=True, slots=True)
class Literal:
    """A run of characters, not empty; with `fold`, in any case."""

    text: str
    fold: bool

    @property
    def facts(self) -> Facts:
        length = len(self.text)
        return Facts(size=length, shortest=length) if length > 1 else _CONSUMING


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of a set; the empty set matches nothing."""

    chars: CharSet

    @property
    def facts(self) -> Facts:
        return _CONSUMING


@dataclass(frozen=True, slots=True)
class Assertion:
    """Matches nothing, at a place of that kind."""

    kind: AssertionKind

    @property
    def facts(self) -> Facts:
        return _NULLABLE


@dataclass(frozen=True, slots=True)
class Capture:
    """A capturing group; groups are numbered from 1 by their opening parenthesis."""

    sub: Node
    index: int
    facts: Facts


@dataclass(frozen=True, slots=True)
class Repeat:
    """`least` to `most` times, `most` None for no limit. `counted` tells `x{0,1}` from `x?`."""

    sub: Node
    least: int
    most: int | None
    greedy: bool
    counted: bool
    facts: Facts


@dataclass(frozen=True, slots=True)
class Concat:
    """One part after the other."""

    subs: tuple[Node, ...]
    facts: Facts


@dataclass(frozen=True, slots=True)
class Alternate:
    """One of the parts, the first that matches."""

    subs: tuple[Node, ...]
    facts: Facts


Node: TypeAlias = Empty | Literal | Chars | Assertion | Capture | Repeat | Concat | Alternate

EMPTY = Empty()


def capture(sub: Node, index: int) -> Capture:
    inner = sub.facts
    facts = Facts(inner.height + 1, inner.size + 2, inner.shortest, inner.repeats)
    return Capture(sub, index, facts)


def repeat(sub: Node, least: int, most: int | None, *, greedy: bool, counted: bool) -> Repeat:
    inner = sub.facts
    estimate = _counted_size if counted else _operator_size
    size = estimate(inner.size, least, most)
    count = max(1, (most or least) if counted else 1)
    repeats = 1 if most == 0 else inner.repeats * count
    facts = Facts(inner.height + 1, max(1, size), least * inner.shortest, repeats)
    return Repeat(sub, least, most, greedy, counted, facts)


def star(sub: Node, *, greedy: bool = True) -> Repeat:
    return repeat(sub, 0, None, greedy=greedy, counted=False)


def plus(sub: Node, *, greedy: bool = True) -> Repeat:
    return repeat(sub, 1, None, greedy=greedy, counted=False)


def quest(sub: Node, *, greedy: bool = True) -> Repeat:
    return repeat(sub, 0, 1, greedy=greedy, counted=False)


def concat(subs: tuple[Node, ...]) -> Concat:
    facts = [sub.facts for sub in subs]
    return Concat(
        subs,
        Facts(
            1 + max(fact.height for fact in facts),
            sum(fact.size for fact in facts),
            sum(fact.shortest for fact in facts),
            max(fact.repeats for fact in facts),
        ),
    )


def alternate(subs: tuple[Node, ...]) -> Alternate:
    facts = [sub.facts for sub in subs]
    return Alternate(
        subs,
        Facts(
            1 + max(fact.height for fact in facts),
            sum(fact.size for fact in facts) + len(subs) - 1,
            min(fact.shortest for fact in facts),
            max(fact.repeats for fact in facts),
        ),
    )


def _operator_size(inner: int, least: int, most: int | None) -> int:
    """Go counts two for a star, which may have to become `(x+)?`, and one for `+` and `?`."""
    return inner + (2 if least == 0 and most is None else 1)


def _counted_size(inner: int, least: int, most: int | None) -> int:
    if most is not None:
        return most * inner + most - least
    return 1 + least * inner if least else 2 + inner
