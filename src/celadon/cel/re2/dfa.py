"""Decides whether a subject matches at all, with a deterministic automaton that is built while it
runs.

A state is the set of instructions the nondeterministic automaton can be in, before assertions are
looked at, and what the character before was. States are dictionaries from character to next state,
so a character that was seen before in a state costs one lookup; `__missing__` works out the others.
Where a match may begin anywhere, what begins at a position does not depend on the state and is kept
apart (`_beginnings`), so that states stay small.
The two final answers, `_MATCHED` and `_DEAD`, are the only empty dictionaries.

Memory is bounded: when states and transitions come to more than `_MAX_CACHED`, all are forgotten.
The worst subject then pays what the nondeterministic automaton would cost, which is linear as well.
Of all automata together few may be large at a time: those that ran last.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, assert_never

from celadon.cel.re2 import pattern_tree
from celadon.cel.re2.automaton import (
    ASSERT,
    CHAR,
    CHOICE,
    EDGE,
    MATCH,
    PENDING,
    SAVE,
    SKIP,
    Program,
    holds,
    sides_of,
)
from celadon.cel.re2.pattern_parser import alternatives, single_char_set
from celadon.records import dataclass

# Transitions, and instructions in all states together.
_MAX_CACHED = 50_000

# An automaton with fewer of them is small.
_MAX_SMALL = 2_000
_MAX_LARGE = 16


class _State(dict[str, "_State"]):
    """Holds a state of the automaton. `threads` are CHAR, ASSERT and MATCH instructions; `before`
    is the side to the left."""

    __slots__ = ("_automaton", "_by_class", "_matches_at_end", "before", "threads")

    def __init__(self, automaton: Dfa | None, threads: frozenset[int], before: int) -> None:
        super().__init__()
        self.threads = threads
        self.before = before
        self._automaton = automaton
        self._by_class: dict[int, _State] = {}
        self._matches_at_end: bool | None = None
        if automaton is not None:
            self[""] = _DEAD

    def __missing__(self, char: str) -> _State:
        automaton = self._automaton
        assert automaton is not None
        number = automaton.program.alphabet.class_of(char)
        following = self._by_class.get(number)
        if following is None:
            following = automaton.step(self, number)
            self._by_class[number] = following
        automaton.spend(1)
        self[char] = following
        return following

    def matches_at_end(self) -> bool:
        if self._matches_at_end is None:
            assert self._automaton is not None
            self._matches_at_end = self._automaton.matches_at_end(self)
        return self._matches_at_end


_MATCHED = _State(None, frozenset(), EDGE)
_DEAD = _State(None, frozenset(), EDGE)


class Dfa:
    """Finds matches by an automaton that is worked out as it runs. `steps` counts instructions
    looked at to work out transitions: the work done, for tests."""

    def __init__(self, program: Program, *, anchored: bool) -> None:
        self.program = program
        self._anchored = anchored
        self.steps = 0
        self._cached = 0
        self._beginnings: dict[tuple[int, int], set[int] | None] = {}
        self._states: dict[tuple[frozenset[int], int], _State] = {}
        self._undecided: set[int] = set()
        self._sides = sides_of(program.alphabet)

    def search(self, text: str) -> bool:
        """Return whether the pattern matches somewhere in `text`."""
        if not isinstance(text, str):
            raise TypeError(f"expected a str, not {text.__class__.__name__}")
        state = self._state({self.program.start} if self._anchored else set(), EDGE)
        if state:
            for char in text:
                state = state[char]
                if not state:
                    break
            else:
                state = _MATCHED if state.matches_at_end() else _DEAD
        if self._cached > _MAX_SMALL:
            _keep(self)
        return state is _MATCHED

    def spend(self, size: int) -> None:
        """Count what is put into the cache, and empty it when it is too much."""
        self._cached += size
        if self._cached > _MAX_CACHED:
            self.forget()

    def forget(self) -> None:
        """Give back the memory; also while the automaton runs, which holds what it needs."""
        self._cached = 0
        self._states = {}

    def step(self, state: _State, number: int) -> _State:
        """Return the state after a character of class `number`."""
        side = self._sides[number]
        following = self._targets(self._reached(state, side), number)
        if following is None:
            return _MATCHED
        if not self._anchored:
            beginning = self._beginning(state.before, number)
            if beginning is None:
                return _MATCHED
            following |= beginning
        return self._state(following, side)

    def matches_at_end(self, state: _State) -> bool:
        reached = set(self._reached(state, EDGE))
        if not self._anchored:
            reached |= self._follow({self.program.start}, state.before, EDGE)
        return self.program.match in reached

    def _targets(self, reached: set[int] | frozenset[int], number: int) -> set[int] | None:
        """Return where a character leads; None when there is a match already."""
        self.steps += len(reached)
        if self.program.match in reached:
            return None
        return self.program.consumed(reached, number)

    def _beginning(self, before: int, number: int) -> set[int] | None:
        """Return the targets of a match that begins with a character of class `number`."""
        key = before, number
        if key not in self._beginnings:
            reached = self._follow({self.program.start}, before, self._sides[number])
            self._beginnings[key] = self._targets(reached, number)
        return self._beginnings[key]

    def _state(self, starts: set[int], before: int) -> _State:
        threads = frozenset(self._follow(starts, before, None))
        if self._anchored and not threads:
            return _DEAD
        if self.program.match in threads:
            return _MATCHED
        key = (threads, before)
        state = self._states.get(key)
        if state is None:
            self.spend(len(threads))
            state = self._states[key] = _State(self, threads, before)
        return state

    def _reached(self, state: _State, after: int) -> set[int] | frozenset[int]:
        """Return the threads of a state with the assertions decided, now that `after` is known."""
        if state.threads.isdisjoint(self._undecided):
            return state.threads
        return self._follow(state.threads, state.before, after)

    def _follow(
        self, starts: set[int] | frozenset[int], before: int, after: int | None
    ) -> set[int]:
        """CHAR, MATCH and undecided ASSERT instructions reached without consuming."""
        program = self.program
        ops = program.op
        result = {instruction for instruction in starts if ops[instruction] == CHAR}
        seen: set[int] = set()
        pending = list(starts - result)
        while pending:
            instruction = pending.pop()
            if instruction in seen:
                continue
            seen.add(instruction)
            while (op := ops[instruction]) == PENDING:
                program.expand(instruction)
            if op in (CHAR, MATCH):
                result.add(instruction)
            elif op == ASSERT:
                is_met = holds(program.kind(instruction), before, after)
                if is_met is None:
                    result.add(instruction)
                    self._undecided.add(instruction)
                elif is_met:
                    pending.append(program.out[instruction])
            elif op in (SKIP, SAVE):
                pending.append(program.out[instruction])
            elif op == CHOICE:
                pending.append(program.out[instruction])
                pending.append(program.number(instruction))
        return result


_large: Final[deque[Dfa]] = deque()


def _keep(automaton: Dfa) -> None:
    """Keep a large automaton: of those that ran longest ago, the first gives way."""
    if automaton not in _large:
        _large.append(automaton)
        if len(_large) > _MAX_LARGE:
            _large.popleft().forget()


# --- Reduction ---------------------------------------------------------------
#
# Trees for the question "does it match anywhere", which is most of what policies ask.
#
# For that question groups and preferences mean nothing, so a tree may become any other with the
# same answer: simpler ones are far more often safe to hand to `re` (see `backtracking_proofs`).
#
# - Loops of loops become one: `(a*)*`, `(a+)+` and `(a|b*)*` are `a*`, `a+` and `[ab]*`. A loop
#   body that can be empty contributes nothing by being empty, so its optional parts become
#   branches. Where an assertion is involved that would be wrong, and the loop stays.
# - Neighbours that repeat the same set become one: `.*.*` is `.*`, `[0-9][0-9]*` is `[0-9]+`.
# - What is optional at an open end goes: searching for `.*x+y*` is searching for `x`. If the whole
#   matches somewhere then so does the rest without it, and the other way round with it being empty.
#
# Recursive, so only for trees of bounded height: `MAX_HEIGHT`.

MAX_HEIGHT = 60


@dataclass(frozen=True, slots=True)
class Question:
    """Asks whether a pattern is found. `tree` is to be found anywhere or, with `anchored`, at the
    start of the text only."""

    tree: pattern_tree.Node
    anchored: bool


def question(tree: pattern_tree.Node) -> Question:
    """Return the simplest question with the same answer as searching for `tree`."""
    reduced = _reduce(tree)
    if starts_anchored(reduced):
        parts = _parts(reduced)
        if parts[0] == pattern_tree.Assertion(pattern_tree.AssertionKind.BEGIN_TEXT):
            reduced = _join(parts[1:])
        return Question(_trim_end(reduced), anchored=True)
    return Question(_trim_end(_trim_start(reduced)), anchored=False)


def starts_anchored(node: pattern_tree.Node) -> bool:
    """Return whether every match begins at the start of the text. Looks 60 levels deep at most."""
    return _starts_anchored(node, MAX_HEIGHT)


def _starts_anchored(node: pattern_tree.Node, depth: int) -> bool:
    if depth == 0:
        return False
    match node:
        case pattern_tree.Assertion(kind):
            return kind is pattern_tree.AssertionKind.BEGIN_TEXT
        case pattern_tree.Concat(subs):
            return _starts_anchored(subs[0], depth - 1)
        case pattern_tree.Alternate(subs):
            return all(_starts_anchored(sub, depth - 1) for sub in subs)
        case pattern_tree.Capture(sub):
            return _starts_anchored(sub, depth - 1)
        case pattern_tree.Repeat(sub, least):
            return least > 0 and _starts_anchored(sub, depth - 1)
        case pattern_tree.Empty() | pattern_tree.Literal() | pattern_tree.Chars():
            return False
        case _:
            assert_never(node)


def _reduce(node: pattern_tree.Node) -> pattern_tree.Node:
    match node:
        case (
            pattern_tree.Empty()
            | pattern_tree.Literal()
            | pattern_tree.Chars()
            | pattern_tree.Assertion()
        ):
            return node
        case pattern_tree.Capture():
            return _reduce(node.sub)
        case pattern_tree.Concat():
            return _join(tuple(_reduce(sub) for sub in node.subs))
        case pattern_tree.Alternate():
            return _either([_reduce(sub) for sub in node.subs])
        case pattern_tree.Repeat():
            return _repeated(_reduce(node.sub), node.least, node.most)
        case _:
            assert_never(node)


def _parts(node: pattern_tree.Node) -> tuple[pattern_tree.Node, ...]:
    if isinstance(node, pattern_tree.Concat):
        return node.subs
    return () if isinstance(node, pattern_tree.Empty) else (node,)


def _join(nodes: tuple[pattern_tree.Node, ...]) -> pattern_tree.Node:
    joined: list[pattern_tree.Node] = []
    for node in nodes:
        for part in _parts(node):
            merged = _merge(joined[-1], part) if joined else None
            if merged is None:
                joined.append(part)
            else:
                joined[-1] = merged
    if not joined:
        return pattern_tree.EMPTY
    return joined[0] if len(joined) == 1 else pattern_tree.concat(tuple(joined))


def _merge(left: pattern_tree.Node, right: pattern_tree.Node) -> pattern_tree.Node | None:
    """Two neighbours as one node."""
    if (
        isinstance(left, pattern_tree.Literal)
        and isinstance(right, pattern_tree.Literal)
        and left.fold == right.fold
    ):
        return pattern_tree.Literal(left.text + right.text, left.fold)
    if not isinstance(left, pattern_tree.Repeat) and not isinstance(right, pattern_tree.Repeat):
        return None
    first, first_least, first_most = _times(left)
    second, second_least, second_most = _times(right)
    chars = single_char_set(first)
    if chars is None or chars != single_char_set(second):
        return None
    most = None if first_most is None or second_most is None else first_most + second_most
    return pattern_tree.repeat(first, first_least + second_least, most, greedy=True, counted=True)


def _times(node: pattern_tree.Node) -> tuple[pattern_tree.Node, int, int | None]:
    return (
        (node.sub, node.least, node.most) if isinstance(node, pattern_tree.Repeat) else (node, 1, 1)
    )


def _either(branches: list[pattern_tree.Node]) -> pattern_tree.Node:
    result: list[pattern_tree.Node] = [
        branch for branch in branches if not isinstance(branch, pattern_tree.Empty)
    ]
    if not result:
        return pattern_tree.EMPTY
    node = alternatives(result)
    return _repeated(node, 0, 1) if len(result) < len(branches) else node


def _repeated(sub: pattern_tree.Node, least: int, most: int | None) -> pattern_tree.Node:
    if isinstance(sub, pattern_tree.Empty) or most == 0:
        return pattern_tree.EMPTY
    empty = _can_be_empty(sub)
    if empty:
        least = 0
    if most is None:
        return _looped(sub, least)
    if most == 1:
        if least == 1 or empty:
            return sub
        if isinstance(sub, pattern_tree.Repeat) and (sub.least, sub.most) == (1, None):
            return pattern_tree.star(sub.sub)
        return pattern_tree.quest(sub)
    if isinstance(sub, pattern_tree.Repeat) and (sub.least, sub.most) == (0, 1):
        sub = sub.sub
    return pattern_tree.repeat(sub, least, most, greedy=True, counted=True)


def _can_be_empty(node: pattern_tree.Node) -> bool:
    """Return whether it matches the empty string anywhere, no matter what assertions would say."""
    match node:
        case pattern_tree.Empty():
            return True
        case pattern_tree.Repeat(sub, least):
            return least == 0 or _can_be_empty(sub)
        case pattern_tree.Concat(subs):
            return all(map(_can_be_empty, subs))
        case pattern_tree.Alternate(subs):
            return any(map(_can_be_empty, subs))
        case _:
            return False


def _looped(sub: pattern_tree.Node, least: int) -> pattern_tree.Node:
    if least > 0 and sub.facts.nullable:
        return pattern_tree.repeat(sub, least, None, greedy=True, counted=True)
    body = _loop_body(sub)
    if body is None:
        return pattern_tree.EMPTY
    if least > 1:
        return pattern_tree.repeat(sub, least, None, greedy=True, counted=True)
    return pattern_tree.plus(body) if least else pattern_tree.star(body)


def _loop_body(sub: pattern_tree.Node) -> pattern_tree.Node | None:
    """Return what, looped, gives the same strings as `sub` looped; None when that is only the empty
    one.

    When `sub` cannot be empty neither can the result.
    """
    match sub:
        case pattern_tree.Empty() | pattern_tree.Assertion():
            return None
        case pattern_tree.Repeat(inner, least, most) if least <= 1 and most != 0:
            return _loop_body(inner)
        case pattern_tree.Alternate(subs):
            return _branches(subs)
        case pattern_tree.Concat(subs) if sub.facts.nullable and not any(map(_asserts, subs)):
            return _branches(subs)
        case _:
            return sub


def _branches(subs: tuple[pattern_tree.Node, ...]) -> pattern_tree.Node | None:
    bodies = [body for body in map(_loop_body, subs) if body is not None]
    return alternatives(bodies) if bodies else None


def _asserts(node: pattern_tree.Node) -> bool:
    match node:
        case pattern_tree.Assertion():
            return True
        case pattern_tree.Capture(sub) | pattern_tree.Repeat(sub):
            return _asserts(sub)
        case pattern_tree.Concat(subs) | pattern_tree.Alternate(subs):
            return any(map(_asserts, subs))
        case _:
            return False


def _trimmed_repeat(
    sub: pattern_tree.Node, least: int, trim: Callable[[pattern_tree.Node], pattern_tree.Node]
) -> pattern_tree.Node:
    """One repetition at an open end is as good as the number asked for, if that is one."""
    if least == 0:
        return pattern_tree.EMPTY
    return (
        trim(sub)
        if least == 1
        else pattern_tree.repeat(sub, least, least, greedy=True, counted=True)
    )


def _trimmed_branches(branches: list[pattern_tree.Node]) -> pattern_tree.Node:
    """Trim branches: one that matches everywhere makes the others idle."""
    return (
        pattern_tree.EMPTY
        if any(isinstance(branch, pattern_tree.Empty) for branch in branches)
        else _either(branches)
    )


def _trim_start(node: pattern_tree.Node) -> pattern_tree.Node:
    match node:
        case pattern_tree.Repeat(sub, least):
            return _trimmed_repeat(sub, least, _trim_start)
        case pattern_tree.Alternate(subs):
            return _trimmed_branches([_trim_start(sub) for sub in subs])
        case pattern_tree.Concat(subs):
            first = _trim_start(subs[0])
            rest = _join(subs[1:])
            return (
                _trim_start(rest) if isinstance(first, pattern_tree.Empty) else _join((first, rest))
            )
        case _:
            return node


def _trim_end(node: pattern_tree.Node) -> pattern_tree.Node:
    match node:
        case pattern_tree.Repeat(sub, least):
            return _trimmed_repeat(sub, least, _trim_end)
        case pattern_tree.Alternate(subs):
            return _trimmed_branches([_trim_end(sub) for sub in subs])
        case pattern_tree.Concat(subs):
            last = _trim_end(subs[-1])
            rest = _join(subs[:-1])
            return _trim_end(rest) if isinstance(last, pattern_tree.Empty) else _join((rest, last))
        case _:
            return node
