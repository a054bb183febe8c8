"""Tracing: what every part of an expression came to, and where in the text it stands.

    recorder = TraceRecorder()
    program.evaluate_traced(activation, recorder)    # values, errors and costs as ever
    recorder.frame.outcomes[node_id]                 # what a part came to, and its cost
    written_tree(program.checked.ast)                # the parts as they are written, with spans

The recorders below hold what is kept; the variant of programs that tells it is `cel.codegen.traced`
(decision 0023). A part that has no outcome was not evaluated: something else decided.
`unexpanded_tree` is the tree of a text before macros are expanded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

from celadon.cel import syntax
from celadon.cel.errors import Source
from celadon.cel.parsing import tokens
from celadon.cel.parsing.lexer import TokenList, tokenize
from celadon.cel.parsing.parser import ParseOptions, parse
from celadon.cel.syntax import Ast, Call, Comprehension, Expr, Ident, ListLiteral, Literal, children
from celadon.cel.values import Value
from celadon.records import dataclass

__all__ = [
    "Frame",
    "Outcome",
    "Recorder",
    "Round",
    "Rounds",
    "SourceNode",
    "TraceRecorder",
    "unexpanded_tree",
    "written_tree",
]


# --- Recorders ---------------------------------------------------------------
#
# What a traced evaluation tells, and a recorder that keeps it.
#
# Nodes are named by their ids, loops by those of their comprehensions; 0 is outside of all
# loops.

KEPT_ROUNDS: Final = 10
"""Of each loop; and the last one, which decides `all` and `exists`."""

KEPT_FRAMES: Final = 10_000
"""Rounds of all loops together of which more than the last one is kept."""


class Recorder(Protocol):
    """Is told what happens in a traced evaluation, as it happens. Values may be errors, of the
    class `EvaluationError`. A node may be told of twice, the second time with the same value."""

    def value(self, loop: int, node: int, value: Any, cost: int | None) -> None:
        """Note that a node in that loop was evaluated, for that cost, its operands included; None
        is for nodes whose cost counts as part of a larger one's."""

    def walked(
        self,
        loop: int,
        nodes: Sequence[int],
        walk: Callable[[Value, Sequence[Value]], tuple[Value, int]],
        base: Value,
        keys: Sequence[Value],
    ) -> None:
        """Note that selections and indexings with constant keys were applied one after the other to
        a value; `walk(base, keys[:n])` begins with what the nth came to."""

    def loop(self, outer: int, node: int) -> None:
        """Note that a loop begins, for which there may be no round."""

    def round(self, node: int, *variables: Value) -> None:
        """Note that a round of a loop begins, with its one or two variables."""


class Outcome(NamedTuple):
    """Says what a node came to: a value, or an `EvaluationError`; see `Recorder.value`."""

    value: Any
    cost: int | None


class Frame:
    """One evaluation of what stands in one loop, or outside of loops: outcomes by node, and the
    loops further in by their nodes."""

    __slots__ = ("loops", "outcomes")

    def __init__(self) -> None:
        self.outcomes: dict[int, Outcome] = {}
        self.loops: dict[int, Rounds] = {}


class Round(NamedTuple):
    """One round of a loop; the first is number 1."""

    number: int
    variables: tuple[Value, ...]
    frame: Frame


class Rounds:
    """Says how often a loop ran, and the first and the last of its rounds."""

    __slots__ = ("count", "kept")

    def __init__(self) -> None:
        self.count = 0
        self.kept: list[Round] = []


class TraceRecorder:
    """Keeps everything of one evaluation, but of long loops only some rounds."""

    __slots__ = ("_frames", "_frames_left", "_rounds", "frame")

    def __init__(self) -> None:
        self.frame = Frame()
        self._frames = {0: self.frame}
        self._rounds: dict[int, Rounds] = {}
        self._frames_left = KEPT_FRAMES

    def value(self, loop: int, node: int, value: Any, cost: int | None) -> None:
        """Keep the outcome of a node, but not instead of one with a cost."""
        outcomes = self._frames[loop].outcomes
        if cost is not None or node not in outcomes:
            outcomes[node] = Outcome(value, cost)

    def walked(
        self,
        loop: int,
        nodes: Sequence[int],
        walk: Callable[[Value, Sequence[Value]], tuple[Value, int]],
        base: Value,
        keys: Sequence[Value],
    ) -> None:
        """Walk again, to each of the nodes."""
        for number, node in enumerate(nodes, 1):
            self.value(loop, node, walk(base, keys[:number])[0], None)

    def loop(self, outer: int, node: int) -> None:
        """Room for the rounds."""
        self._rounds[node] = self._frames[outer].loops[node] = Rounds()

    def round(self, node: int, *variables: Value) -> None:
        """Note a round. The latest takes the place of the one before, once there are enough."""
        rounds = self._rounds[node]
        rounds.count += 1
        latest = Round(rounds.count, variables, Frame())
        self._frames[node] = latest.frame
        if rounds.kept and (len(rounds.kept) > KEPT_ROUNDS or self._frames_left <= 0):
            rounds.kept[-1] = latest
        else:
            self._frames_left -= 1
            rounds.kept.append(latest)


# --- Unexpanded --------------------------------------------------------------
#
# An expression as it is written: a tree in which macros are calls like any other.
#
# For whoever changes expressions and writes them down again. What runs is never such a tree.

_WITHOUT_MACROS: Final = ParseOptions(macros=(), escape_syntax=True)


def unexpanded_tree(text: str) -> Ast | None:
    """Return the tree before macros are expanded; None for what is no expression."""
    ast, issues = parse(Source(text, "<input>"), _WITHOUT_MACROS)
    return None if issues else ast


# --- Written tree ------------------------------------------------------------
#
# The parts of an expression as they are written: each with its span in the text.
#
# A tree knows one position of each node: that of its operator, its `.`, or its opening bracket.
# What belongs to it is found among the tokens: the brackets that match, the operand that ends
# before the `.`, the spans of an operator's operands with the parentheses around them.
#
# What a macro expands to has the position of the macro's call throughout. Of all nodes with the
# same position only the outermost is written there; what else is made by the expansion is left
# out, and its parts that are written (arguments, the receiver) are parts of what is left. A
# copy of an operand stands where the operand does, and is left out, too.

_OPENING = {")": "(", "]": "[", "}": "{"}
_SIGNS = frozenset({"-", "!"})
_NAMES = frozenset({tokens.IDENTIFIER, tokens.ESC_IDENTIFIER})
_ENDS_OF_OPERANDS = frozenset({*_NAMES, *tokens.LITERALS, *_OPENING})


@dataclass(frozen=True, slots=True)
class SourceNode:
    """A node, the code points `[start, end)` that it is written with, and its parts in the order
    in which they are written. `loop` is the innermost comprehension whose rounds evaluate it."""

    node: Expr
    start: int
    end: int
    loop: Comprehension | None
    parts: tuple[SourceNode, ...]

    def walk(self) -> list[SourceNode]:
        """Return this and all parts, parts behind what they are part of."""
        result = [self]
        for item in result:
            result += item.parts
        return result


def written_tree(ast: Ast) -> SourceNode:
    """Return the whole, of a tree that was parsed without errors."""
    tokenized = tokenize(ast.source.text)
    assert tokenized is not None, "what was parsed has tokens"
    reader = _Reader(ast, tokenized)
    (whole,) = reader.written(ast.root, None)
    return reader.placed(whole)


@dataclass(frozen=True, slots=True)
class _Part:
    """A `SourceNode` in terms of tokens: the indices of its first and its last."""

    node: Expr
    first: int
    last: int
    loop: Comprehension | None
    parts: tuple[_Part, ...]


class _Reader:
    def __init__(self, ast: Ast, tokenized: TokenList) -> None:
        self._positions = ast.positions
        self._kinds, self._texts, self._offsets = tokenized
        self._index_at = {offset: index for index, offset in enumerate(self._offsets)}
        self._partner = _matching(self._kinds)
        self._read_offsets: set[int] = set()

    def placed(self, part: _Part) -> SourceNode:
        """Return the node of a part, with code points in place of tokens."""
        end = self._offsets[part.last] + len(self._texts[part.last])
        parts = sorted(map(self.placed, part.parts), key=lambda node: node.start)
        return SourceNode(part.node, self._offsets[part.first], end, part.loop, tuple(parts))

    def written(self, node: Expr, loop: Comprehension | None) -> list[_Part]:
        """Return the node, if it is written; else its parts that are."""
        index = self._index_at[self._positions[node.id]]
        is_written = index not in self._read_offsets
        self._read_offsets.add(index)
        parts: list[_Part] = []
        for child in _evaluated(node):
            parts += self.written(child, _loop_of(node, child, loop))
        if not is_written:
            return parts
        first, last = self._extent(node, index, parts)
        return [_Part(node, first, last, loop, tuple(parts))]

    def _extent(self, node: Expr, index: int, parts: list[_Part]) -> tuple[int, int]:
        """Return the first and the last token of a node whose position is that of token `index`."""
        match self._kinds[index]:
            case "(":
                return self._start(index), self._partner[index]
            case ".":
                return self._start(index), index + (2 if self._kinds[index + 1] == "?" else 1)
            case "[":
                start = index if isinstance(node, ListLiteral) else self._start(index)
                return start, self._partner[index]
            case "{":
                start = self._start(index) if isinstance(node, syntax.Struct) else index
                return start, self._partner[index]
            case "-" if isinstance(node, Literal):
                return index, index + 1
            case _ if isinstance(node, Ident):
                return self._start(index + 1), index
            case _ if isinstance(node, Literal):
                return index, index
            case _:
                ends = [self._outside(part) for part in parts]
                is_prefix = isinstance(node, Call) and len(node.args) == 1
                return index if is_prefix else min(ends)[0], max(last for _, last in ends)

    def _outside(self, part: _Part) -> tuple[int, int]:
        """Return the first and the last token of a part with the parentheses around it, and with
        signs that cancel out, of which there are no nodes."""
        first, last = part.first, part.last
        while first:
            before = self._kinds[first - 1]
            if before == "(" and self._partner[first - 1] == last + 1:
                first, last = first - 1, last + 1
            elif before in _SIGNS and first > 1 and self._kinds[first - 2] == before:
                first -= 2
            else:
                break
        return first, last

    def _start(self, index: int) -> int:
        """Return the first token of the operand that goes on at token `index`, with a `.` or a
        bracket."""
        kinds = self._kinds
        while True:
            index -= 1
            if kinds[index] in _OPENING:
                index = self._partner[index]
                goes_on = kinds[index - 1] in (_NAMES if kinds[index] == "(" else _ENDS_OF_OPERANDS)
                if index and goes_on:
                    continue
                return index
            dot = index - 2 if index > 1 and kinds[index - 1] == "?" else index - 1
            if kinds[index] not in _NAMES or dot < 0 or kinds[dot] != ".":
                return index
            if not dot or kinds[dot - 1] not in _ENDS_OF_OPERANDS:
                return dot
            index = dot


def _matching(kinds: list[str]) -> dict[int, int]:
    """Brackets and those that match them, both ways."""
    partner: dict[int, int] = {}
    open_at: list[int] = []
    for index, kind in enumerate(kinds):
        if kind in _OPENING.values():
            open_at.append(index)
        elif kind in _OPENING:
            partner[index] = open_at.pop()
            partner[partner[index]] = index
    return partner


def _evaluated(node: Expr) -> tuple[Expr, ...]:
    """Return the children of a node; the name behind a `.?` is no expression."""
    is_selection = isinstance(node, Call) and node.function == syntax.OPT_SELECT
    return children(node)[:1] if is_selection else children(node)


def _loop_of(node: Expr, child: Expr, loop: Comprehension | None) -> Comprehension | None:
    """Return the loop of a child of a node in that loop: a range is evaluated outside, and the
    loops that bind names are none."""
    if not isinstance(node, Comprehension) or node.iter_var == syntax.UNUSED:
        return loop
    outside = child is node.iter_range or child is node.accu_init or child is node.result
    return loop if outside else node
