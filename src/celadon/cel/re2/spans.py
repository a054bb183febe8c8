"""Where matches lie and what their groups hold, in time linear in the subject.

Go runs one search per match, each of which may look to the end of the subject; all matches of
`a(?:.*x)?` in a row of a's take it quadratic time. Here the subject is read twice, for all matches:

1. Forwards, the sets of instructions the automaton can be in before each character, starting anew
   at every position. These are states of a deterministic automaton and cached as such.
2. Backwards, which of those can still come to a match: the *viable* ones.

Then a match is found by walking from its start and always taking the most preferred way to an
instruction that is viable. It never has to be taken back, and it is Go's leftmost-first match: the
most preferred path among those that match.

The caches are bounded like those of `dfa`. Per position of the subject two references are kept.
"""

from __future__ import annotations

from celadon.cel.re2.program import ASSERT, CHAR, CHOICE, MATCH, PENDING, SAVE, Program
from celadon.cel.re2.sides import EDGE, holds, sides_of

Slots = tuple[int, ...]
"""Start and end of the match, then of each group; -1 where a group took no part."""

_MAX_ENTRIES = 20_000

# In place of the class of a character where the text ends.
_AT_END = -1

_Alive = frozenset[int]


class _Place:
    """A position with what is around it: the instructions of the automaton there, and the ways
    between them that consume nothing, backwards."""

    __slots__ = ("alive", "ends", "following", "sources")

    def __init__(self) -> None:
        self.sources: dict[int, list[int]] = {}
        """Instruction to those that lead to it."""
        self.ends: list[int] = []
        """The CHAR and MATCH instructions."""
        self.following: _State | None = None
        self.alive: dict[_Alive, _Alive] = {}
        """What is viable here, by what is viable at the next position."""


class _State:
    """The instructions arrived at, and the side to the left; `places` by the class of what comes
    next."""

    __slots__ = ("before", "places", "starts")

    def __init__(self, starts: frozenset[int], before: int) -> None:
        self.starts = starts
        self.before = before
        self.places: dict[int, _Place] = {}


class SpanFinder:
    """`steps` counts instructions visited in all passes: the work done, for tests."""

    def __init__(self, program: Program, *, anchored: bool) -> None:
        self._program = program
        self._anchored = anchored
        self._sides = sides_of(program.alphabet)
        self._states: dict[tuple[frozenset[int], int], _State] = {}
        self._entries = 0
        self.steps = 0

    def find_all(self, text: str, limit: int, groups: int, position: int = 0) -> list[Slots]:
        """The matches from `position` on, at most `limit` unless that is negative, as Go
        `Regexp.FindAllStringSubmatchIndex`: an empty match right after another is none."""
        alive = self._alive(text)
        start = self._program.start
        found: list[Slots] = []
        previous_end = -1
        while len(found) != limit:
            while position < len(alive) and start not in alive[position]:
                position += 1
            if position >= len(alive):
                break
            slots = self._walk(text, alive, position, groups)
            end = slots[1]
            if end != position or end != previous_end:
                found.append(slots)
            position = position + 1 if end == position else end
            previous_end = end
        return found

    def _alive(self, text: str) -> list[_Alive]:
        """The viable instructions at each position, the end included."""
        classes = [self._program.alphabet.class_of(char) for char in text]
        places: list[_Place] = []
        state = self._state(frozenset((self._program.start,)), EDGE)
        for number in classes:
            place = self._place(state, number)
            if place.following is None:
                place.following = self._next(place, number)
            places.append(place)
            state = place.following
        classes.append(_AT_END)
        places.append(self._place(state, _AT_END))
        alive: _Alive = frozenset()
        result = []
        for place, number in zip(reversed(places), reversed(classes), strict=True):
            known = place.alive.get(alive)
            if known is None:
                self._count_entry()
                known = place.alive[alive] = self._viable(place, number, alive)
            alive = known
            result.append(alive)
        result.reverse()
        return result

    def _state(self, starts: frozenset[int], before: int) -> _State:
        state = self._states.get((starts, before))
        if state is None:
            self._count_entry()
            state = self._states[starts, before] = _State(starts, before)
        return state

    def _count_entry(self) -> None:
        self._entries += 1
        if self._entries > _MAX_ENTRIES:
            self._entries = 0
            self._states = {}

    def _place(self, state: _State, number: int) -> _Place:
        place = state.places.get(number)
        if place is None:
            self._count_entry()
            after = EDGE if number == _AT_END else self._sides[number]
            place = state.places[number] = self._explore(state, after)
        return place

    def _explore(self, state: _State, after: int) -> _Place:
        program = self._program
        place = _Place()
        pending = list(state.starts)
        place.sources = {instruction: [] for instruction in pending}
        while pending:
            instruction = pending.pop()
            self.steps += 1
            while (op := program.op[instruction]) == PENDING:
                program.expand(instruction)
            if op in (CHAR, MATCH):
                place.ends.append(instruction)
            for target in self._choices(instruction, state.before, after):
                if target not in place.sources:
                    place.sources[target] = []
                    pending.append(target)
                place.sources[target].append(instruction)
        return place

    def _choices(self, instruction: int, before: int, after: int) -> tuple[int, ...]:
        """Where an instruction goes without consuming, the preferred way first."""
        program = self._program
        op = program.op[instruction]
        if op in (CHAR, MATCH):
            return ()
        if op == CHOICE:
            return (program.out[instruction], program.number(instruction))
        if op == ASSERT and not holds(program.kind(instruction), before, after):
            return ()
        return (program.out[instruction],)

    def _next(self, place: _Place, number: int) -> _State:
        program = self._program
        bit = 1 << number
        starts = {
            program.out[instruction]
            for instruction in place.ends
            if program.op[instruction] == CHAR and program.mask(instruction) & bit
        }
        if not self._anchored:
            starts.add(program.start)
        return self._state(frozenset(starts), self._sides[number])

    def _viable(self, place: _Place, number: int, following: _Alive) -> _Alive:
        program = self._program
        bit = 0 if number == _AT_END else 1 << number
        pending = [
            instruction
            for instruction in place.ends
            if program.op[instruction] == MATCH
            or (program.mask(instruction) & bit and program.out[instruction] in following)
        ]
        viable = set(pending)
        while pending:
            self.steps += 1
            for source in place.sources[pending.pop()]:
                if source not in viable:
                    viable.add(source)
                    pending.append(source)
        return frozenset(viable)

    def _walk(self, text: str, alive: list[_Alive], start: int, groups: int) -> Slots:
        """The most preferred match that begins at `start`, where there is one."""
        program = self._program
        instruction = program.start
        slots: Slots = (-1,) * (2 * groups + 2)
        at = start
        while True:
            instruction, slots = self._preferred(text, alive[at], instruction, slots, at)
            if program.op[instruction] == MATCH:
                return (start, at, *slots[2:])
            instruction = program.out[instruction]
            at += 1

    def _preferred(
        self, text: str, alive: _Alive, start: int, slots: Slots, at: int
    ) -> tuple[int, Slots]:
        """The first viable CHAR or MATCH in order of preference, and the slots on the way."""
        program = self._program
        before, after = self._around(text, at)
        pending = [(start, slots)]
        seen: set[int] = set()
        while True:
            instruction, slots = pending.pop()
            if instruction in seen or instruction not in alive:
                continue
            seen.add(instruction)
            self.steps += 1
            op = program.op[instruction]
            if op in (CHAR, MATCH):
                return instruction, slots
            if op == SAVE:
                slot = program.number(instruction)
                if slot < len(slots):
                    slots = (*slots[:slot], at, *slots[slot + 1 :])
            for target in reversed(self._choices(instruction, before, after)):
                pending.append((target, slots))

    def _around(self, text: str, at: int) -> tuple[int, int]:
        class_of = self._program.alphabet.class_of
        before = self._sides[class_of(text[at - 1])] if at else EDGE
        after = self._sides[class_of(text[at])] if at < len(text) else EDGE
        return before, after
