"""The reference the engines are compared with: Pike's virtual machine, as Go's `regexp` runs it.

All threads walk over the subject side by side, in order of preference, and no two stand on the same
instruction. When one matches, those less preferred are dropped and the others go on.
"""

from __future__ import annotations

from celadon.cel.re2.automaton import ASSERT, CHAR, CHOICE, MATCH, PENDING, SAVE, SKIP, Program
from celadon.cel.re2.pattern_tree import WORD, AssertionKind, contains

Slots = tuple[int, ...]
"""Start and end of the match, then of each group; -1 where a group took no part."""

_Threads = dict[int, Slots]


def find_all(program: Program, text: str, groups: int) -> list[Slots]:
    """As Go `FindAllStringSubmatchIndex`."""
    found: list[Slots] = []
    position = 0
    previous_end = -1
    while position <= len(text):
        slots = search(program, text, position, groups)
        if slots is None:
            break
        start, end = slots[:2]
        if end != position or start != previous_end:
            found.append(slots)
        position = position + 1 if end == position else end
        previous_end = end
    return found


def search(program: Program, text: str, position: int, groups: int) -> Slots | None:
    """The first match at or after `position` with its first `groups` groups."""
    blank = (-1,) * (2 * groups)
    best: Slots | None = None
    threads: _Threads = {}
    for at in range(position, len(text) + 1):
        if best is None:
            _follow(program, threads, program.start, (at, -1, *blank), text, at)
        bit = 1 << program.alphabet.class_of(text[at]) if at < len(text) else 0
        following: _Threads = {}
        for instruction, slots in threads.items():
            op = program.op[instruction]
            if op == CHAR:
                if program.mask(instruction) & bit:
                    out = program.out[instruction]
                    _follow(program, following, out, slots, text, at + 1)
            elif op == MATCH:
                best = (slots[0], at, *slots[2:])
                break
        threads = following
    return best


def _follow(
    program: Program, threads: _Threads, start: int, slots: Slots, text: str, at: int
) -> None:
    """Adds the thread at `start` and all it reaches without consuming."""
    pending = [(start, slots)]
    while pending:
        instruction, slots = pending.pop()
        if instruction in threads:
            continue
        threads[instruction] = slots
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
