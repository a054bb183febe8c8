"""Where a match lies and what its groups hold: Pike's virtual machine.

All threads of the automaton walk over the subject side by side, in order of preference, and no two
of them stand on the same instruction: a subject of n characters takes at most n times the size of
the program, whatever the pattern. When a thread matches, those less preferred are dropped and the
others go on, which yields Go's leftmost-first match.
"""

from __future__ import annotations

from celadon.cel.re2.alphabet import Alphabet
from celadon.cel.re2.charsets import WORD, contains
from celadon.cel.re2.program import ASSERT, CHAR, CHOICE, MATCH, PENDING, SAVE, SKIP, Program
from celadon.cel.re2.syntax import AssertionKind

Slots = tuple[int, ...]
"""Start and end of the match, then of each group; -1 where a group took no part."""

_Threads = dict[int, Slots]


class Pike:
    """`steps` counts visited instructions over all searches: the work done, for tests."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.steps = 0

    def search(self, text: str, position: int, groups: int, *, anchored: bool) -> Slots | None:
        """The first match at or after `position` with its first `groups` groups.

        `anchored` says that the pattern can match at the start of the text only.
        """
        program = self._program
        alphabet: Alphabet = program.alphabet
        blank = (-1,) * (2 * groups)
        best: Slots | None = None
        threads: _Threads = {}
        for at in range(position, len(text) + 1):
            if best is None and (not anchored or at == position == 0):
                self._follow(threads, program.start, (at, -1, *blank), text, at)
            if not threads:
                if best is not None or anchored:
                    break
                continue
            bit = 1 << alphabet.class_of(text[at]) if at < len(text) else 0
            following: _Threads = {}
            for instruction, slots in threads.items():
                op = program.op[instruction]
                if op == CHAR:
                    if program.mask(instruction) & bit:
                        self._follow(following, program.out[instruction], slots, text, at + 1)
                elif op == MATCH:
                    best = (slots[0], at, *slots[2:])
                    break
            threads = following
        return best

    def _follow(self, threads: _Threads, start: int, slots: Slots, text: str, at: int) -> None:
        """Adds the thread at `start` and all it reaches without consuming."""
        program = self._program
        pending = [(start, slots)]
        while pending:
            instruction, slots = pending.pop()
            if instruction in threads:
                continue
            threads[instruction] = slots
            self.steps += 1
            while (op := program.op[instruction]) == PENDING:
                program.expand(instruction)
            out = program.out[instruction]
            if op == CHOICE:
                pending.append((program.number(instruction), slots))
                pending.append((out, slots))
            elif op == SKIP:
                pending.append((out, slots))
            elif op == SAVE:
                slot = program.number(instruction)
                if slot < len(slots):
                    slots = (*slots[:slot], at, *slots[slot + 1 :])
                pending.append((out, slots))
            elif op == ASSERT and holds(program.kind(instruction), text, at):
                pending.append((out, slots))


def holds(kind: AssertionKind, text: str, at: int) -> bool:
    match kind:
        case AssertionKind.BEGIN_TEXT:
            return at == 0
        case AssertionKind.END_TEXT:
            return at == len(text)
        case AssertionKind.BEGIN_LINE:
            return at == 0 or text[at - 1] == "\n"
        case AssertionKind.END_LINE:
            return at == len(text) or text[at] == "\n"
    boundary = _is_word(text, at - 1) != _is_word(text, at)
    return boundary == (kind is AssertionKind.WORD_BOUNDARY)


def _is_word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and contains(WORD, ord(text[at]))
