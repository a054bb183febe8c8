"""Bounds how long `re` can take: proofs that a pattern cannot make it backtrack without end.

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

from celadon.cel.re2.automaton import (
    ASSERT,
    CHAR,
    CHOICE,
    EDGE,
    MATCH,
    PENDING,
    SAVE,
    Program,
    holds,
    sides_of,
)

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
    """Holds what an instruction leads to without consuming: CHAR instructions with the number of
    ways to each; whether to a match; whether to one that may depend on an assertion."""

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
        """Return whether `re` decides in linear time if there is a match."""
        try:
            start = self._started(_UNMATCHED)
            return self._bounded(start, {} if anchored else start, self._any)
        except _Refused:
            return False

    def linear_find(self, *, anchored: bool) -> bool:
        """Return whether `re` finds the first match in linear time."""
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
        """Return whether that holds for all matches together. An anchored pattern matches only
        once."""
        try:
            may_match = self._reach(self._program.start).may_match
            start = self._started(0 if may_match else _UNMATCHED)
            return self.linear_find(anchored=anchored) and (
                anchored or self._bounded(start, {}, self._overshooting)
            )
        except _Refused:
            return False

    def short_limit(self, *, anchored: bool, find_all: bool = False) -> int:
        """Return the length of subjects up to which `re` is quick whatever they are; 0 for none.

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
        """Return whether all fronts that follow `first` stay small; each gets `restart` added."""
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
        """Yield the classes that something in the front consumes, one bit each."""
        classes = 0
        for instruction, _ in front:
            classes |= self._program.mask(instruction)
        while classes:
            bit = classes & -classes
            classes ^= bit
            yield bit

    def _started(self, overshoot: int) -> _Front:
        chars = self._reach(self._program.start).chars
        return {(instruction, overshoot): ways for instruction, ways in chars.items()}

    def _taken(self, front: _Front, bits: int) -> Iterator[tuple[_Reach, int, int]]:
        """Yield the paths that go on with one of the classes: where to, their overshoot, how
        many."""
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
        moves = list(self._taken(front, bits))
        may_match = any(reach.may_match for reach, _, _ in moves)
        following: _Front = {}
        for reach, overshoot, paths in moves:
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


# --- Spans -------------------------------------------------------------------
#
# Where matches lie and what their groups hold, in time linear in the subject.
#
# Go runs one search per match, each of which may look to the end of the subject; all matches of
# `a(?:.*x)?` in a row of a's take it quadratic time. Here the subject is read twice, for all
# matches:
#
# 1. Forwards: the instructions the automaton can arrive at before each character, starting anew at
#    every position, and the CHAR and MATCH instructions they reach without consuming, the *ends*.
# 2. Backwards: which instructions can still come to a match, the *viable* ones.
#
# Then a match is found by walking from its start and always taking the most preferred way to a
# viable instruction. It never has to be taken back, and it is Go's leftmost-first match: the
# most preferred path among those that match.
#
# Sets of instructions are bit masks, of which two are kept per position. What follows from what
# is cached, and the caches are emptied when they grow large: then, as in the worst case, each
# position takes time in proportion to the size of the program.

Slots = tuple[int, ...]
"""Start and end of the match, then of each group; -1 where a group took no part."""

# Machine words in all caches together, roughly.
_MAX_CACHED = 500_000

# In place of the class of a character where the text ends.
_AT_END = -1

_Mask = int

_Way = tuple[int, tuple[int, ...]]
"""A CHAR or MATCH instruction, and the slots saved on the way to it."""


class SpanFinder:
    """Finds where matches begin and end. `steps` counts instructions looked at in all passes: the
    work done, for tests."""

    def __init__(self, program: Program, *, anchored: bool) -> None:
        self.steps = 0
        self._cached = 0
        self._program = program
        self._restart = 0 if anchored else 1 << program.start
        self._sides = [*sides_of(program.alphabet), EDGE]
        # Instruction to those that go on to it without consuming; filled as they are reached.
        self._sources: dict[int, list[int]] = {program.start: []}
        self._linked: set[int] = set()
        self._forwards: dict[tuple[_Mask, int, int], tuple[_Mask, _Mask]] = {}
        self._backwards: dict[tuple[_Mask, int, int, _Mask], _Mask] = {}
        self._ways: dict[tuple[int, int, int, _Mask], _Way] = {}

    def find_all(self, text: str, limit: int, groups: int) -> list[Slots]:
        """Return the matches, at most `limit` unless that is negative, as Go
        `Regexp.FindAllStringSubmatchIndex`: an empty match right after another is none."""
        classes = [self._program.alphabet.class_of(char) for char in text]
        classes.append(_AT_END)
        viable = self._viable(classes)
        start = 1 << self._program.start
        last_start = len(text) if self._restart else 0
        result: list[Slots] = []
        position, previous_end = 0, -1
        while len(result) != limit:
            while position <= last_start and not viable[position] & start:
                position += 1
            if position > last_start:
                break
            slots = self._walk(classes, viable, position, groups)
            end = slots[1]
            if end != position or end != previous_end:
                result.append(slots)
            position = position + 1 if end == position else end
            previous_end = end
        return result

    def _viable(self, classes: list[int]) -> list[_Mask]:
        """Return the viable instructions at each position, the end included."""
        arrivals = []
        arrived = 1 << self._program.start
        before = EDGE
        for number in classes:
            arrivals.append((arrived, before))
            _, arrived = self._forward(arrived, before, number)
            before = self._sides[number]
        viable = [0]
        for number, (arrived, before) in zip(reversed(classes), reversed(arrivals), strict=True):
            viable.append(self._backward(arrived, before, number, viable[-1]))
        viable.reverse()
        viable.pop()
        return viable

    def _forward(self, arrived: _Mask, before: int, number: int) -> tuple[_Mask, _Mask]:
        """Return the ends reached from the instructions arrived at, and where a character of class
        `number` leads from there."""
        key = arrived, before, number
        forward = self._forwards.get(key)
        if forward is None:
            forward = self._arrive(arrived, before, number)
            self._spend(arrived, *forward)
            self._forwards[key] = forward
        return forward

    def _arrive(self, arrived: _Mask, before: int, number: int) -> tuple[_Mask, _Mask]:
        program = self._program
        ops = program.op
        bit = _bit(number)
        ends = 0
        following = self._restart
        pending = list(_members(arrived))
        seen = set(pending)
        while pending:
            instruction = pending.pop()
            self.steps += 1
            while ops[instruction] == PENDING:
                program.expand(instruction)
            op = ops[instruction]
            if op in (CHAR, MATCH):
                ends |= 1 << instruction
                if op == CHAR and program.mask(instruction) & bit:
                    following |= 1 << program.out[instruction]
            targets = self._targets(instruction)
            if instruction not in self._linked:
                self._linked.add(instruction)
                for target in targets:
                    self._sources.setdefault(target, []).append(instruction)
            if op == ASSERT and not self._holds(instruction, before, number):
                continue
            for target in targets:
                if target not in seen:
                    seen.add(target)
                    pending.append(target)
        return ends, following

    def _targets(self, instruction: int) -> tuple[int, ...]:
        """Return where an instruction goes without consuming, the preferred way first."""
        program = self._program
        op = program.op[instruction]
        if op in (CHAR, MATCH):
            return ()
        if op == CHOICE:
            return program.out[instruction], program.number(instruction)
        return (program.out[instruction],)

    def _holds(self, assertion: int, before: int, number: int) -> bool | None:
        return holds(self._program.kind(assertion), before, self._sides[number])

    def _backward(self, arrived: _Mask, before: int, number: int, following: _Mask) -> _Mask:
        """Return what is viable at a position, given what is at the next.

        Complete for what can be reached from `arrived`: its sources were filled in going forwards.
        """
        key = arrived, before, number, following
        backward = self._backwards.get(key)
        if backward is None:
            ends, _ = self._forward(arrived, before, number)
            backward = self._trace_back(ends, before, number, following)
            self._spend(arrived, following, backward)
            self._backwards[key] = backward
        return backward

    def _trace_back(self, ends: _Mask, before: int, number: int, following: _Mask) -> _Mask:
        program = self._program
        ops = program.op
        bit = _bit(number)
        pending = [
            end
            for end in _members(ends)
            if ops[end] == MATCH or (program.mask(end) & bit and following >> program.out[end] & 1)
        ]
        viable = set(pending)
        while pending:
            self.steps += 1
            for source in self._sources.get(pending.pop(), ()):
                if source not in viable and (
                    ops[source] != ASSERT or self._holds(source, before, number)
                ):
                    viable.add(source)
                    pending.append(source)
        return _mask_of(viable, len(ops))

    def _walk(self, classes: list[int], viable: list[_Mask], start: int, groups: int) -> Slots:
        """Return the most preferred match that begins at `start`, where there is one."""
        program = self._program
        instruction = program.start
        slots = [-1] * (2 * groups + 2)
        index = start
        while True:
            before = self._sides[classes[index - 1]] if index else EDGE
            key = instruction, before, classes[index], viable[index]
            way = self._ways.get(key)
            if way is None:
                way = self._choose(*key)
                self._spend(viable[index])
                self._ways[key] = way
            instruction, saved = way
            for slot in saved:
                if slot < len(slots):
                    slots[slot] = index
            if program.op[instruction] == MATCH:
                return (start, index, *slots[2:])
            instruction = program.out[instruction]
            index += 1

    def _choose(self, start: int, before: int, number: int, viable: _Mask) -> _Way:
        """Return the most preferred way to a viable end."""
        program = self._program
        pending: list[_Way] = [(start, ())]
        seen: set[int] = set()
        while True:
            instruction, saved = pending.pop()
            if instruction in seen or not viable >> instruction & 1:
                continue
            seen.add(instruction)
            self.steps += 1
            op = program.op[instruction]
            if op in (CHAR, MATCH):
                return instruction, saved
            if op == SAVE:
                saved = (*saved, program.number(instruction))
            if op != ASSERT or self._holds(instruction, before, number):
                pending.extend((target, saved) for target in reversed(self._targets(instruction)))

    def _spend(self, *masks: _Mask) -> None:
        """Count what is about to be cached, and empty the caches when it is too much."""
        self._cached += 16 + sum(mask.bit_length() >> 6 for mask in masks)
        if self._cached > _MAX_CACHED:
            self._cached = 0
            self._forwards.clear()
            self._backwards.clear()
            self._ways.clear()


def _bit(number: int) -> int:
    return 0 if number == _AT_END else 1 << number


def _members(mask: _Mask) -> Iterator[int]:
    digits = bin(mask)[:1:-1]
    index = digits.find("1")
    while index >= 0:
        yield index
        index = digits.find("1", index + 1)


def _mask_of(members: set[int], size: int) -> _Mask:
    digits = bytearray(size)
    for member in members:
        digits[size - 1 - member] = 1
    return int(digits.translate(_DIGITS), 2)


_DIGITS = bytes.maketrans(bytes((0, 1)), b"01")
