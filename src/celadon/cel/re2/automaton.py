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

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import assert_never, cast

from celadon.cel.re2 import pattern_tree

# --- Alphabet ----------------------------------------------------------------
#
# The characters of a pattern sorted into classes it cannot tell apart.
#
# A pattern that mentions `[a-z]` and `-` sees three kinds of characters: letters, the dash, the
# rest. Automata work on those classes, so their size does not depend on Unicode's. Sets of
# classes are bit masks.


class Alphabet:
    """Sorts code points into classes that a pattern cannot tell apart. `count` classes, numbered
    from 0. `representatives` holds one code point of each."""

    def __init__(self, sets: set[pattern_tree.CharSet]) -> None:
        toggles: dict[int, int] = {0: 0}
        for number, chars in enumerate(sets):
            bit = 1 << number
            for low, high in chars:
                toggles[low] = toggles.get(low, 0) ^ bit
                toggles[high + 1] = toggles.get(high + 1, 0) ^ bit
        toggles.pop(pattern_tree.MAX_CODE_POINT + 1, None)
        self._starts = sorted(toggles)
        self._classes: list[int] = []
        self.representatives: list[int] = []
        numbers: dict[int, int] = {}
        signature = 0
        for start in self._starts:
            signature ^= toggles[start]
            number = numbers.setdefault(signature, len(numbers))
            if number == len(self.representatives):
                self.representatives.append(start)
            self._classes.append(number)
        self.count = len(numbers)
        self._masks: dict[pattern_tree.CharSet, int] = {}

    def class_of(self, char: str) -> int:
        return self._classes[bisect_right(self._starts, ord(char)) - 1]

    def mask(self, chars: pattern_tree.CharSet) -> int:
        """Return the classes that make up a set this alphabet was built with."""
        mask = self._masks.get(chars)
        if mask is None:
            mask = 0
            for low, high in chars:
                first = bisect_right(self._starts, low) - 1
                for number in self._classes[first : bisect_right(self._starts, high)]:
                    mask |= 1 << number
            self._masks[chars] = mask
        return mask

    def classes_in(self, chars: pattern_tree.CharSet) -> frozenset[int]:
        return frozenset(
            number
            for number, code_point in enumerate(self.representatives)
            if pattern_tree.contains(chars, code_point)
        )


def alphabet_of(tree: pattern_tree.Node) -> Alphabet:
    """Return the alphabet of all sets in a tree; with assertions, words and newlines are told
    apart."""
    sets: set[pattern_tree.CharSet] = set()
    seen: set[tuple[str, bool]] = set()
    pending: list[pattern_tree.Node] = [tree]
    while pending:
        node = pending.pop()
        match node:
            case pattern_tree.Chars(chars):
                sets.add(chars)
            case pattern_tree.Literal(text, fold):
                seen.update((char, fold) for char in text)
            case pattern_tree.Assertion():
                sets.update((pattern_tree.WORD, pattern_tree.NEWLINE))
            case pattern_tree.Capture() | pattern_tree.Repeat():
                pending.append(node.sub)
            case pattern_tree.Concat() | pattern_tree.Alternate():
                pending.extend(node.subs)
            case pattern_tree.Empty():
                pass
            case _:
                assert_never(node)
    sets.update(
        pattern_tree.fold_char(char) if fold else pattern_tree.single(char) for char, fold in seen
    )
    return Alphabet(sets)


PENDING, CHAR, CHOICE, SAVE, ASSERT, SKIP, MATCH, FAIL = range(8)

Progress = tuple[int, int | None]
"""How far a node has been worked off: parts done, or repetitions still to do (least, most)."""

_START: Progress = (-1, None)

Argument = int | pattern_tree.AssertionKind | tuple[pattern_tree.Node, Progress]


class Program:
    """Holds the instructions of a pattern. `start` is where a match begins, `match` the one MATCH.
    Without `captures` there are no SAVE instructions."""

    def __init__(
        self, tree: pattern_tree.Node, alphabet: Alphabet, *, captures: bool = False
    ) -> None:
        self.alphabet = alphabet
        self._captures = captures
        self.op: list[int] = []
        self.out: list[int] = []
        self.arg: list[Argument] = []
        self.match = self._add(MATCH)
        self.start = self._pending(tree, self.match)

    def mask(self, instruction: int) -> int:
        """Return the classes a CHAR consumes."""
        mask = self.arg[instruction]
        assert isinstance(mask, int)
        return mask

    def consumed(self, chars: Iterable[int], number: int) -> set[int]:
        """Return where those of these CHARs lead that consume class `number`."""
        masks, out, bit = cast(list[int], self.arg), self.out, 1 << number
        return {out[char] for char in chars if masks[char] & bit}

    def number(self, instruction: int) -> int:
        """Return the slot of a SAVE, the second choice of a CHOICE."""
        number = self.arg[instruction]
        assert isinstance(number, int)
        return number

    def kind(self, instruction: int) -> pattern_tree.AssertionKind:
        kind = self.arg[instruction]
        assert isinstance(kind, pattern_tree.AssertionKind)
        return kind

    def expand(self, instruction: int) -> None:
        """Rewrites a PENDING instruction, possibly to another PENDING one."""
        pending = self.arg[instruction]
        assert isinstance(pending, tuple)
        node, progress = pending
        match node:
            case pattern_tree.Empty():
                self._set(instruction, SKIP, self.out[instruction])
            case pattern_tree.Chars(chars):
                mask = self.alphabet.mask(chars)
                self._set(instruction, CHAR, self.out[instruction], mask)
            case pattern_tree.Assertion(kind):
                self._set(instruction, ASSERT, self.out[instruction], kind)
            case pattern_tree.Literal():
                self._literal(instruction, node, max(0, progress[0]))
            case pattern_tree.Capture() if not self._captures:
                self._set(instruction, PENDING, self.out[instruction], (node.sub, _START))
            case pattern_tree.Capture():
                close = self._add(SAVE, self.out[instruction], 2 * node.index + 1)
                self._set(instruction, SAVE, self._pending(node.sub, close), 2 * node.index)
            case pattern_tree.Concat():
                self._concat(instruction, node, max(0, progress[0]))
            case pattern_tree.Alternate():
                self._alternate(instruction, node, max(0, progress[0]))
            case pattern_tree.Repeat():
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

    def _pending(self, node: pattern_tree.Node, out: int, progress: Progress = _START) -> int:
        return self._add(PENDING, out, (node, progress))

    def _literal(self, instruction: int, node: pattern_tree.Literal, done: int) -> None:
        out = self.out[instruction]
        if done + 1 < len(node.text):
            out = self._pending(node, out, (done + 1, None))
        char = node.text[done]
        chars = pattern_tree.fold_char(char) if node.fold else pattern_tree.single(char)
        self._set(instruction, CHAR, out, self.alphabet.mask(chars))

    def _concat(self, instruction: int, node: pattern_tree.Concat, done: int) -> None:
        out = self.out[instruction]
        if done + 1 < len(node.subs):
            out = self._pending(node, out, (done + 1, None))
        self._set(instruction, PENDING, out, (node.subs[done], _START))

    def _alternate(self, instruction: int, node: pattern_tree.Alternate, done: int) -> None:
        out = self.out[instruction]
        sub = node.subs[done]
        if done + 1 == len(node.subs):
            self._set(instruction, PENDING, out, (sub, _START))
        else:
            other = self._pending(node, out, (done + 1, None))
            self._set(instruction, CHOICE, self._pending(sub, out), other)

    def _repeat(
        self, instruction: int, node: pattern_tree.Repeat, least: int, most: int | None
    ) -> None:
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

    def _loop(self, instruction: int, node: pattern_tree.Repeat, *, at_least_once: bool) -> None:
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


# --- Assertion sides ---------------------------------------------------------
#
# What assertions look at: the kind of thing on either side of a position.

EDGE, OTHER, LETTER, LINE_END = range(4)
"""The end of the text, a character of no interest, a word character, a newline."""


def sides_of(alphabet: Alphabet) -> list[int]:
    """Return the side that each class makes. It is exact when the alphabet tells words and newlines
    apart."""
    words = alphabet.classes_in(pattern_tree.WORD)
    newlines = alphabet.classes_in(pattern_tree.NEWLINE)
    return [
        LINE_END if number in newlines else LETTER if number in words else OTHER
        for number in range(alphabet.count)
    ]


def holds(kind: pattern_tree.AssertionKind, before: int, after: int | None) -> bool | None:
    """Return whether the assertion holds; None when it depends on the side after, and that is None:
    not known yet."""
    match kind:
        case pattern_tree.AssertionKind.BEGIN_TEXT:
            return before == EDGE
        case pattern_tree.AssertionKind.BEGIN_LINE:
            return before in (EDGE, LINE_END)
    if after is None:
        return None
    match kind:
        case pattern_tree.AssertionKind.END_TEXT:
            return after == EDGE
        case pattern_tree.AssertionKind.END_LINE:
            return after in (EDGE, LINE_END)
    boundary = (before == LETTER) != (after == LETTER)
    return boundary == (kind is pattern_tree.AssertionKind.WORD_BOUNDARY)


# --- Translation -------------------------------------------------------------
#
# Trees to patterns of Python's `re`, where that means the same.
#
# Everything is spelled out so that no flag and no Unicode rule of `re` takes part: sets are
# written as ranges, other cases as sets, `$` as `\Z`, words as ASCII words. What `re` could
# read differently is not translated: a repetition of something that can be empty, where engines
# disagree on when to stop.

# `\B` of `re` is false in an empty text, Go's is true.
_ASSERTIONS = {
    pattern_tree.AssertionKind.BEGIN_TEXT: r"\A",
    pattern_tree.AssertionKind.END_TEXT: r"\Z",
    pattern_tree.AssertionKind.BEGIN_LINE: "(?m:^)",
    pattern_tree.AssertionKind.END_LINE: "(?m:$)",
    pattern_tree.AssertionKind.WORD_BOUNDARY: r"(?a:\b)",
    pattern_tree.AssertionKind.NOT_WORD_BOUNDARY: r"(?!(?a:\b))",
}


def to_python(node: pattern_tree.Node) -> str | None:
    """Return the pattern without groups; None when `re` might take it differently. Recursive."""
    match node:
        case pattern_tree.Empty():
            return "(?:)"
        case pattern_tree.Literal(text, fold):
            return (
                "".join(_set(pattern_tree.fold_char(char)) for char in text)
                if fold
                else re.escape(text)
            )
        case pattern_tree.Chars(chars):
            return _set(chars)
        case pattern_tree.Assertion(kind):
            return _ASSERTIONS[kind]
        case pattern_tree.Capture(sub):
            return to_python(sub)
        case pattern_tree.Concat(subs):
            return _joined("", subs)
        case pattern_tree.Alternate(subs):
            branches = _joined("|", subs)
            return None if branches is None else f"(?:{branches})"
        case pattern_tree.Repeat():
            return _repeat(node)
        case _:
            assert_never(node)


def _joined(separator: str, subs: tuple[pattern_tree.Node, ...]) -> str | None:
    parts = []
    for sub in subs:
        part = to_python(sub)
        if part is None:
            return None
        parts.append(part)
    return separator.join(parts)


def _repeat(node: pattern_tree.Repeat) -> str | None:
    if node.sub.facts.nullable:
        return None
    body = to_python(node.sub)
    if body is None:
        return None
    if not (
        isinstance(node.sub, pattern_tree.Chars)
        or (isinstance(node.sub, pattern_tree.Literal) and _is_atom(node.sub))
    ):
        body = f"(?:{body})"
    return body + _count(node.least, node.most) + ("" if node.greedy else "?")


def _is_atom(literal: pattern_tree.Literal) -> bool:
    return len(literal.text) == 1


def _count(least: int, most: int | None) -> str:
    match least, most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case _:
            return f"{{{least},{'' if most is None else most}}}"


def _set(chars: pattern_tree.CharSet) -> str:
    if chars == pattern_tree.ANY_BUT_NEWLINE:
        return "."
    if chars == pattern_tree.ANY:
        return "(?s:.)"
    if not chars:
        return "(?!)"
    if len(chars) == 1 and chars[0][0] == chars[0][1]:
        return re.escape(chr(chars[0][0]))
    complement = pattern_tree.negate(chars)
    if len(complement) < len(chars) or (chars[0][0] == 0 and len(complement) == len(chars)):
        return f"[^{_ranges(complement)}]"
    return f"[{_ranges(chars)}]"


def _ranges(chars: pattern_tree.CharSet) -> str:
    return "".join(
        _member(low) if low == high else f"{_member(low)}-{_member(high)}" for low, high in chars
    )


def _member(code_point: int) -> str:
    char = chr(code_point)
    if char.isascii() and char.isalnum():
        return char
    return f"\\x{code_point:02x}" if code_point < 0x100 else f"\\U{code_point:08x}"
