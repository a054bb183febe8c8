"""Whether a subject matches at all: a deterministic automaton, built while it runs.

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
from typing import Final

from celadon.cel.re2.automata.assertion_sides import EDGE, holds, sides_of
from celadon.cel.re2.automata.instructions import (
    ASSERT,
    CHAR,
    CHOICE,
    MATCH,
    PENDING,
    SAVE,
    SKIP,
    Program,
)

# Transitions, and instructions in all states together.
_MAX_CACHED = 50_000

# An automaton with fewer of them is small.
_MAX_SMALL = 2_000
_MAX_LARGE = 16


class _State(dict[str, "_State"]):
    """`threads` are CHAR, ASSERT and MATCH instructions; `before` is the side to the left."""

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
    """`steps` counts instructions looked at to work out transitions: the work done, for tests."""

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
        """Whether the pattern matches somewhere in `text`."""
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
        """Counts what is put into the cache, and empties it when it is too much."""
        self._cached += size
        if self._cached > _MAX_CACHED:
            self.forget()

    def forget(self) -> None:
        """Gives back the memory; also while the automaton runs, which holds what it needs."""
        self._cached = 0
        self._states = {}

    def step(self, state: _State, number: int) -> _State:
        """The state after a character of class `number`."""
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
        """Where a character leads; None when there is a match already."""
        self.steps += len(reached)
        if self.program.match in reached:
            return None
        return self.program.consumed(reached, number)

    def _beginning(self, before: int, number: int) -> set[int] | None:
        """The targets of a match that begins with a character of class `number`."""
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
        """The threads of a state with the assertions decided, now that `after` is known."""
        if state.threads.isdisjoint(self._undecided):
            return state.threads
        return self._follow(state.threads, state.before, after)

    def _follow(
        self, starts: set[int] | frozenset[int], before: int, after: int | None
    ) -> set[int]:
        """CHAR, MATCH and undecided ASSERT instructions reached without consuming."""
        program = self.program
        ops = program.op
        found = {instruction for instruction in starts if ops[instruction] == CHAR}
        seen: set[int] = set()
        pending = list(starts - found)
        while pending:
            instruction = pending.pop()
            if instruction in seen:
                continue
            seen.add(instruction)
            while (op := ops[instruction]) == PENDING:
                program.expand(instruction)
            if op in (CHAR, MATCH):
                found.add(instruction)
            elif op == ASSERT:
                held = holds(program.kind(instruction), before, after)
                if held is None:
                    found.add(instruction)
                    self._undecided.add(instruction)
                elif held:
                    pending.append(program.out[instruction])
            elif op in (SKIP, SAVE):
                pending.append(program.out[instruction])
            elif op == CHOICE:
                pending.append(program.out[instruction])
                pending.append(program.number(instruction))
        return found


_large: Final[deque[Dfa]] = deque()


def _keep(automaton: Dfa) -> None:
    """The automaton is large: of those that ran longest ago, the first gives way."""
    if automaton not in _large:
        _large.append(automaton)
        if len(_large) > _MAX_LARGE:
            _large.popleft().forget()
