"""A traced expression as a text whose parts have values: for whoever draws it.

A `Snippet` is a stretch of the expression that was evaluated as one: all of it, or what a loop
evaluates in each round. Its `Mark`s are its parts, each at the character that people take for it:
the operator, the name behind the dot. Its `Loop`s have a snippet for each round that was kept.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from celadon.admission.explain import ExpressionRun
from celadon.cel import Ast, EvaluationError
from celadon.cel.extend import Optional
from celadon.cel.syntax import Comprehension, Ident, Literal, Select
from celadon.cel.tracing import Frame, Rounds, SourceNode, written_tree
from celadon.cel.value_functions import notation
from celadon.records import dataclass

# --- Values in few characters ------------------------------------------------

_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_DEPTH = 50
_LEAST = 12
"""Characters below which nothing of a container is shown but its size."""


def brief(value: Any, room: int, depth: int = _DEPTH) -> str:  # noqa: ANN401 - a value of CEL
    """Return the value in about so many characters, and containers within containers to a depth:
    what is left out leaves an ellipsis."""
    if not depth:
        return _ELLIPSIS
    if isinstance(value, EvaluationError):
        return shortened(f"error: {value.message}", room)
    if isinstance(value, str):
        return _text(value, room)
    if isinstance(value, Mapping):
        return _mapping(value, room, depth)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return _sequence(value, room, depth)
    if isinstance(value, Optional) and isinstance(value.value, Mapping | Sequence):
        return f"optional.of({brief(value.value, room - 13, depth - 1)})"
    try:
        return shortened(notation(value), room)
    except EvaluationError:
        return _ELLIPSIS


def size_text(value: Any) -> str:  # noqa: ANN401 - a value of CEL
    """`{4 keys}` or `[2 items]` of a container; empty for all else."""
    if isinstance(value, Mapping):
        return f"{{{_counted(len(value), 'key')}}}"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return f"[{_counted(len(value), 'item')}]"
    return ""


def shortened(text: str, room: int) -> str:
    """Return the beginning of a text, if not all of it fits."""
    return text if len(text) <= room else f"{text[: max(room - 1, 1)]}{_ELLIPSIS}"


def _counted(number: int, subject: str) -> str:
    return f"{number} {subject}" if number == 1 else f"{number} {subject}s"


def _text(value: str, room: int) -> str:
    if len(value) <= room:
        quoted = json.dumps(value, ensure_ascii=False)
        if len(quoted) <= max(room, 2):
            return quoted
    length = max(room - 3, 1)
    return f'{json.dumps(value[:length], ensure_ascii=False)[: length + 1]}{_ELLIPSIS}"'


def _mapping(value: Mapping[Any, Any], room: int, depth: int) -> str:
    entries = ((f"{brief(key, room)}: ", member) for key, member in value.items())
    return f"{{{_joined(entries, len(value), room, depth)}}}" if value else "{}"


def _sequence(value: Sequence[Any], room: int, depth: int) -> str:
    return (
        f"[{_joined((('', item) for item in value), len(value), room, depth)}]" if value else "[]"
    )


def _joined(items: Iterable[tuple[str, Any]], count: int, room: int, depth: int) -> str:
    """Items with what stands before each, as many as there is room for."""
    result: list[str] = []
    space = room - 2
    for label, item in items:
        if space < _LEAST and (result or space < len(label) + 2):
            break
        text = f"{label}{brief(item, max(space - len(label), 1), depth - 1)}"
        if len(text) > space and result:
            break
        result.append(text)
        space -= len(text) + 2
    rest = count - len(result)
    if rest:
        result.append(f"{_ELLIPSIS} {rest} more" if result else f"{_ELLIPSIS} {rest}")
    return ", ".join(result)


class State(enum.Enum):
    """Says what there is to tell of a part. `PASSED_ON` is an error that came up further in,
    `SKIPPED` what was not evaluated."""

    VALUE = "value"
    ERROR = "error"
    PASSED_ON = "passed on"
    SKIPPED = "not evaluated"


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a snippet: its span in the text of the expression, the offset where it is named,
    what it came to and for which cost (None where that is not counted by itself)."""

    start: int
    end: int
    offset: int
    state: State
    value: Any
    cost: int | None
    is_literal: bool
    parts: tuple[Mark, ...]

    def walk(self) -> Iterator[Mark]:
        """Yield this mark and all of its parts."""
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a loop: its number, its variables by name, and what was evaluated."""

    number: int
    variables: tuple[tuple[str, Any], ...]
    snippet: Snippet


@dataclass(frozen=True, slots=True)
class Loop:
    """A macro that goes through a list or map: its span, how many rounds there were, and those that
    were kept."""

    start: int
    end: int
    count: int
    rounds: tuple[Round, ...]


@dataclass(frozen=True, slots=True)
class Snippet:
    """A stretch of a text, from one offset to another, and what is to be said of it."""

    text: str
    start: int
    end: int
    marks: tuple[Mark, ...]
    loops: tuple[Loop, ...]


def annotated(run: ExpressionRun) -> Snippet:
    """Return the expression of a run, with what its parts came to."""
    program = run.expression.program
    assert program is not None, "what was run has a program"
    return traced(program.checked.ast, run.frame)


def traced(ast: Ast, frame: Frame) -> Snippet:
    """Return an expression, with what its parts came to in a frame."""
    text = ast.source.text
    tree = written_tree(ast)
    snippet = _Annotator(text, ast.positions).snippet([tree], frame)
    return Snippet(text, 0, len(text.rstrip()), snippet.marks, snippet.loops)


@dataclass(frozen=True, slots=True)
class _Annotator:
    text: str
    positions: dict[int, int]

    def snippet(self, parts: Sequence[SourceNode], frame: Frame) -> Snippet:
        """Parts that are evaluated in the same frame."""
        loops: list[Loop] = []
        marks = tuple(self.mark(part, frame, loops) for part in parts)
        start, end = min(part.start for part in parts), max(part.end for part in parts)
        return Snippet(self.text, start, end, marks, tuple(loops))

    def mark(self, part: SourceNode, frame: Frame, loops: list[Loop]) -> Mark:
        """Return the part; loops in it are added to those found so far."""
        outcome = frame.outcomes.get(part.node.id)
        inner = [child for child in part.parts if child.loop is part.loop]
        marks = tuple(self.mark(child, frame, loops) for child in inner)
        loops += self.loops(part, frame)
        value = None if outcome is None else outcome.value
        cost = None if outcome is None else outcome.cost
        return Mark(
            part.start,
            part.end,
            self.named_at(part),
            _state(part, frame),
            value,
            cost,
            isinstance(part.node, Literal),
            marks,
        )

    def loops(self, part: SourceNode, frame: Frame) -> Iterator[Loop]:
        """Yield those that the part itself is, or has in its expansion."""
        bodies: dict[int, list[SourceNode]] = {}
        nodes: dict[int, Comprehension] = {}
        for child in part.parts:
            if child.loop is not None and child.loop is not part.loop and not self.declares(child):
                bodies.setdefault(child.loop.id, []).append(child)
                nodes[child.loop.id] = child.loop
        for loop, body in bodies.items():
            rounds = frame.loops.get(loop)
            if rounds is not None:
                result = tuple(self.rounds(nodes[loop], body, rounds))
                yield Loop(part.start, part.end, rounds.count, result)

    def declares(self, part: SourceNode) -> bool:
        """Return whether it is the variable of a macro, which `filter` also keeps."""
        return isinstance(part.node, Ident) and self.text[: part.start].rstrip().endswith("(")

    def rounds(
        self, node: Comprehension, body: Sequence[SourceNode], rounds: Rounds
    ) -> Iterator[Round]:
        """Yield the rounds that were kept."""
        names = [node.iter_var, node.iter_var2] if node.iter_var2 else [node.iter_var]
        for loop_round in rounds.kept:
            variables = tuple(zip(names, loop_round.variables, strict=True))
            yield Round(loop_round.number, variables, self.snippet(body, loop_round.frame))

    def named_at(self, part: SourceNode) -> int:
        """Return the character that stands for a part."""
        index = self.positions[part.node.id]
        if isinstance(part.node, Ident | Literal):
            return part.start
        sign = self.text[index]
        if sign == ".":
            return part.end - len(part.node.field) if isinstance(part.node, Select) else index + 1
        if sign != "(":
            return index
        while index > part.start and not _is_of_names(self.text[index - 1]):
            index -= 1
        while index > part.start and _is_of_names(self.text[index - 1]):
            index -= 1
        return index


def _is_of_names(character: str) -> bool:
    return character.isalnum() or character == "_"


def _state(part: SourceNode, frame: Frame) -> State:
    outcome = frame.outcomes.get(part.node.id)
    if outcome is None:
        return State.SKIPPED
    if not isinstance(outcome.value, EvaluationError):
        return State.VALUE
    inside = (frame.outcomes.get(part.node.id) for part in part.parts)
    failed = [mark.value for mark in inside if mark and isinstance(mark.value, EvaluationError)]
    message = outcome.value.message
    came_from = any(error.message == message for error in failed)
    return State.PASSED_ON if came_from else State.ERROR
