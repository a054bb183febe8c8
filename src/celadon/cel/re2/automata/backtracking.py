"""How long `re` can take: proofs that a pattern cannot make it backtrack without end.

Theory of operation. A backtracking matcher walks the paths of the nondeterministic automaton one
after another. Whatever order it takes them in, at each position of the subject it does work in
proportion to the number of distinct paths that reach it, so a bound on that number for all
subjects is a bound on the time. Call a *front* the paths alive at a position: how many wait at
each CHAR instruction. A front and a character class give the next front, so all fronts that any
subject can produce are found by trying every class from every front. If there are finitely many
and none is larger than `_MAX_PATHS`, time is linear: at most `_MAX_PATHS` times the length.

This covers far more than patterns without choices. `[a-z0-9]([-a-z0-9]*[a-z0-9])?` has two paths
after each letter, never more. `(a|aa)*b` doubles its paths and fails the test, `x.*y.*z` grows by
one with every `y` and fails too. Assertions are taken to hold and paths counted that they would
end, so the answer errs on the side of refusing.

A search that is not anchored starts again at every position; the fronts include a new start each.
For the question whether there is a match that is all. For the question where, starts that find one
end the search, so only paths that have not matched add up (`_failing`). Finding all matches must
besides not look far beyond the end of each, or the sum is quadratic: paths that go on after a match
was possible must reach another one within `_MAX_OVERSHOOT` characters (`_overshooting`).

Patterns that fail may still be fine for short subjects: `short_limit` counts all paths through the
graph, ignoring characters, and tells up to which length they stay below `_SHORT_BUDGET`.

Everything here walks instructions that may be many; the limits end it early, with a refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from celadon.cel.re2.automata.instructions import ASSERT, CHAR, CHOICE, MATCH, PENDING, Program

_MAX_PATHS = 64
_MAX_FRONTS = 1500
_MAX_OVERSHOOT = 16
_SHORT_BUDGET = 100_000
_SHORT_MAX = 256

# Dictionary operations one analysis may take: a few milliseconds. Ordinary patterns need some
# hundred, and a policy may have a thousand others.
_MAX_WORK = 6_000

# The overshoot of a path whose start has not yet had a chance to match.
_UNMATCHED = -1

_Front = dict[tuple[int, int], int]
"""(CHAR instruction, overshoot) to number of paths."""

_Advance = Callable[[_Front, int], _Front | None]


class _Refused(Exception):
    """A limit was reached: nothing is proven."""


class _Reach:
    """What an instruction leads to without consuming: CHAR instructions with the number of ways to
    each; whether to a match; whether to one that may depend on an assertion."""

    __slots__ = ("chars", "matches", "may_match")

    def __init__(self) -> None:
        self.chars: dict[int, int] = {}
        self.matches = False
        self.may_match = False


class Analysis:
    """Answers about one program, which must not be able to loop without consuming."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._reaches: dict[int, _Reach] = {}
        self._work = 0

    def linear_question(self, *, anchored: bool) -> bool:
        """Whether `re` decides in linear time if there is a match."""
        try:
            start = self._started(_UNMATCHED)
            return self._bounded(start, {} if anchored else start, self._any)
        except _Refused:
            return False

    def linear_find(self, *, anchored: bool) -> bool:
        """Whether `re` finds the first match in linear time."""
        try:
            failing = self._started(_UNMATCHED)
            if self._reach(self._program.start).matches:
                failing = {}
            return self._bounded(self._started(_UNMATCHED), {}, self._any) and (
                anchored or self._bounded(failing, failing, self._failing)
            )
        except _Refused:
            return False

    def linear_find_all(self, *, anchored: bool) -> bool:
        """Whether that holds for all matches together. An anchored pattern matches only once."""
        try:
            may_match = self._reach(self._program.start).may_match
            start = self._started(0 if may_match else _UNMATCHED)
            return self.linear_find(anchored=anchored) and (
                anchored or self._bounded(start, {}, self._overshooting)
            )
        except _Refused:
            return False

    def short_limit(self, *, anchored: bool, find_all: bool = False) -> int:
        """The length of subjects up to which `re` is quick whatever they are; 0 for none.

        `find_all` allows for as many searches as the subject is long."""
        try:
            start = self._started(_UNMATCHED)
            front = start
            total = 0
            for length in range(_SHORT_MAX):
                total += sum(front.values())
                if total * (length + 1 if find_all else 1) > _SHORT_BUDGET:
                    return length
                front = self._any(front, -1)
                if not anchored:
                    _add(front, start)
        except _Refused:
            return 0
        return _SHORT_MAX

    def _bounded(self, first: _Front, restart: _Front, advance: _Advance) -> bool:
        """Whether all fronts that follow `first` stay small; each gets `restart` added."""
        seen: set[frozenset[tuple[tuple[int, int], int]]] = set()
        pending = [first]
        while pending:
            front = pending.pop()
            key = frozenset(front.items())
            if key in seen:
                continue
            seen.add(key)
            if sum(front.values()) > _MAX_PATHS or len(seen) > _MAX_FRONTS:
                return False
            for bit in self._bits(front):
                following = advance(front, bit)
                if following is None:
                    return False
                _add(following, restart)
                if following:
                    pending.append(following)
        return True

    def _bits(self, front: _Front) -> Iterator[int]:
        """The classes that something in the front consumes, one bit each."""
        union = 0
        for instruction, _ in front:
            union |= self._program.mask(instruction)
        while union:
            bit = union & -union
            union ^= bit
            yield bit

    def _started(self, overshoot: int) -> _Front:
        chars = self._reach(self._program.start).chars
        return {(instruction, overshoot): ways for instruction, ways in chars.items()}

    def _taken(self, front: _Front, bits: int) -> Iterator[tuple[_Reach, int, int]]:
        """The paths that go on with one of the classes: where to, their overshoot, how many."""
        program = self._program
        for (instruction, overshoot), paths in front.items():
            if program.mask(instruction) & bits:
                reach = self._reach(program.out[instruction])
                self._spend(1 + len(reach.chars))
                yield reach, overshoot, paths

    def _any(self, front: _Front, bits: int) -> _Front:
        following: _Front = {}
        for reach, _, paths in self._taken(front, bits):
            _extend(following, reach, _UNMATCHED, paths)
        return following

    def _failing(self, front: _Front, bits: int) -> _Front:
        following: _Front = {}
        for reach, _, paths in self._taken(front, bits):
            if not reach.matches:
                _extend(following, reach, _UNMATCHED, paths)
        return following

    def _overshooting(self, front: _Front, bits: int) -> _Front | None:
        taken = list(self._taken(front, bits))
        may_match = any(reach.may_match for reach, _, _ in taken)
        following: _Front = {}
        for reach, overshoot, paths in taken:
            if reach.matches or (overshoot == _UNMATCHED and may_match):
                overshoot = 0
            elif overshoot != _UNMATCHED:
                overshoot += 1
            if overshoot > _MAX_OVERSHOOT:
                return None
            _extend(following, reach, overshoot, paths)
        return following

    def _reach(self, instruction: int) -> _Reach:
        reach = self._reaches.get(instruction)
        if reach is None:
            reach = self._reaches[instruction] = self._explore(instruction)
        return reach

    def _explore(self, start: int) -> _Reach:
        program = self._program
        reach = _Reach()
        pending = [(start, True)]
        while pending:
            instruction, certain = pending.pop()
            self._spend(1)
            while (op := program.op[instruction]) == PENDING:
                program.expand(instruction)
            if op == CHAR:
                reach.chars[instruction] = reach.chars.get(instruction, 0) + 1
            elif op == MATCH:
                reach.may_match = True
                reach.matches = reach.matches or certain
            else:
                if op == CHOICE:
                    pending.append((program.number(instruction), certain))
                pending.append((program.out[instruction], certain and op != ASSERT))
        return reach

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > _MAX_WORK:
            raise _Refused


def _add(front: _Front, more: _Front) -> None:
    for key, paths in more.items():
        front[key] = front.get(key, 0) + paths


def _extend(front: _Front, reach: _Reach, overshoot: int, paths: int) -> None:
    for instruction, ways in reach.chars.items():
        key = (instruction, overshoot)
        front[key] = front.get(key, 0) + paths * ways
