"""Trees to instructions of a nondeterministic automaton, made as they are reached.

The construction is Thompson's with the choices in Go's order of preference (golang/go
`regexp/syntax/compile.go`), but lazy: an instruction starts out as `PENDING`, which remembers a
tree and what follows it, and is rewritten in place when an engine first arrives. `x{1000}`
therefore costs what the subject makes of it, not a thousand instructions up front, and nothing
recurses.

Three parallel lists hold the program: `op[i]`, `out[i]` (what follows) and `arg[i]`:

    PENDING  arg: (tree, progress)       becomes something else on `expand(i)`
    CHAR     arg: mask of classes        consumes a character of one of them
    CHOICE   arg: second choice          `out` is preferred
    SAVE     arg: slot                   remembers the position
    ASSERT   arg: AssertionKind
    SKIP     goes on to `out`
    MATCH, FAIL
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never, cast

from celadon.cel.re2.automata.alphabet import Alphabet
from celadon.cel.re2.trees.charsets import fold_char, single
from celadon.cel.re2.trees.pattern_tree import (
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
)

PENDING, CHAR, CHOICE, SAVE, ASSERT, SKIP, MATCH, FAIL = range(8)

Progress = tuple[int, int | None]
"""How far a node has been worked off: parts done, or repetitions still to do (least, most)."""

_START: Progress = (-1, None)

Argument = int | AssertionKind | tuple[Node, Progress]


class Program:
    """`start` is where a match begins, `match` the one MATCH. Without `captures` there are no SAVE
    instructions."""

    def __init__(self, tree: Node, alphabet: Alphabet, *, captures: bool = False) -> None:
        self.alphabet = alphabet
        self._captures = captures
        self.op: list[int] = []
        self.out: list[int] = []
        self.arg: list[Argument] = []
        self.match = self._add(MATCH)
        self.start = self._pending(tree, self.match)

    def mask(self, instruction: int) -> int:
        """The classes a CHAR consumes."""
        mask = self.arg[instruction]
        assert isinstance(mask, int)
        return mask

    def consumed(self, chars: Iterable[int], number: int) -> set[int]:
        """Where those of these CHARs lead that consume class `number`."""
        masks, out, bit = cast(list[int], self.arg), self.out, 1 << number
        return {out[char] for char in chars if masks[char] & bit}

    def number(self, instruction: int) -> int:
        """The slot of a SAVE, the second choice of a CHOICE."""
        number = self.arg[instruction]
        assert isinstance(number, int)
        return number

    def kind(self, instruction: int) -> AssertionKind:
        kind = self.arg[instruction]
        assert isinstance(kind, AssertionKind)
        return kind

    def expand(self, instruction: int) -> None:
        """Rewrites a PENDING instruction, possibly to another PENDING one."""
        pending = self.arg[instruction]
        assert isinstance(pending, tuple)
        node, progress = pending
        match node:
            case Empty():
                self._set(instruction, SKIP, self.out[instruction])
            case Chars(chars):
                mask = self.alphabet.mask(chars)
                self._set(instruction, CHAR, self.out[instruction], mask)
            case Assertion(kind):
                self._set(instruction, ASSERT, self.out[instruction], kind)
            case Literal():
                self._literal(instruction, node, max(0, progress[0]))
            case Capture() if not self._captures:
                self._set(instruction, PENDING, self.out[instruction], (node.sub, _START))
            case Capture():
                close = self._add(SAVE, self.out[instruction], 2 * node.index + 1)
                self._set(instruction, SAVE, self._pending(node.sub, close), 2 * node.index)
            case Concat():
                self._concat(instruction, node, max(0, progress[0]))
            case Alternate():
                self._alternate(instruction, node, max(0, progress[0]))
            case Repeat():
                counts = (node.least, node.most) if progress is _START else progress
                self._repeat(instruction, node, *counts)
            case _:
                assert_never(node)

    def _add(self, op: int, out: int = -1, arg: Argument = 0) -> int:
        self.op.append(op)
        self.out.append(out)
        self.arg.append(arg)
        return len(self.op) - 1

    def _set(self, instruction: int, op: int, out: int, arg: Argument = 0) -> None:
        self.op[instruction] = op
        self.out[instruction] = out
        self.arg[instruction] = arg

    def _pending(self, node: Node, out: int, progress: Progress = _START) -> int:
        return self._add(PENDING, out, (node, progress))

    def _literal(self, instruction: int, node: Literal, done: int) -> None:
        out = self.out[instruction]
        if done + 1 < len(node.text):
            out = self._pending(node, out, (done + 1, None))
        char = node.text[done]
        chars = fold_char(char) if node.fold else single(char)
        self._set(instruction, CHAR, out, self.alphabet.mask(chars))

    def _concat(self, instruction: int, node: Concat, done: int) -> None:
        out = self.out[instruction]
        if done + 1 < len(node.subs):
            out = self._pending(node, out, (done + 1, None))
        self._set(instruction, PENDING, out, (node.subs[done], _START))

    def _alternate(self, instruction: int, node: Alternate, done: int) -> None:
        out = self.out[instruction]
        sub = node.subs[done]
        if done + 1 == len(node.subs):
            self._set(instruction, PENDING, out, (sub, _START))
        else:
            other = self._pending(node, out, (done + 1, None))
            self._set(instruction, CHOICE, self._pending(sub, out), other)

    def _repeat(self, instruction: int, node: Repeat, least: int, most: int | None) -> None:
        """`least` and `most` say how many are still to come."""
        out = self.out[instruction]
        if most is None and least <= 1:
            self._loop(instruction, node, at_least_once=least == 1)
        elif least > 0:
            fewer = None if most is None else most - 1
            rest = self._pending(node, out, (least - 1, fewer)) if fewer != 0 else out
            self._set(instruction, PENDING, rest, (node.sub, _START))
        elif most:
            rest = self._pending(node, out, (0, most - 1)) if most > 1 else out
            self._choose(instruction, self._pending(node.sub, rest), out, greedy=node.greedy)
        else:
            self._set(instruction, SKIP, out)

    def _loop(self, instruction: int, node: Repeat, *, at_least_once: bool) -> None:
        """`x+` is x, then back or on. `x*` is the choice itself, unless x can be empty: then it is
        `(x+)?`, which keeps the order of preference right."""
        out = self.out[instruction]
        if not at_least_once and not node.sub.facts.nullable:
            self._choose(instruction, self._pending(node.sub, instruction), out, greedy=node.greedy)
            return
        back = self._add(CHOICE)
        body = self._pending(node.sub, back)
        self._choose(back, body, out, greedy=node.greedy)
        if at_least_once:
            self._set(instruction, SKIP, body)
        else:
            self._choose(instruction, body, out, greedy=node.greedy)

    def _choose(self, instruction: int, more: int, done: int, *, greedy: bool) -> None:
        preferred, other = (more, done) if greedy else (done, more)
        self._set(instruction, CHOICE, preferred, other)
