"""What is kept of a traced evaluation: costs, loops, what was evaluated before an end came."""

from __future__ import annotations

from contextlib import suppress

import pytest

from celadon.cel import Environment, EvaluationError, types
from celadon.cel.libraries import comprehensions
from celadon.cel.tracing import (
    KEPT_FRAMES,
    KEPT_ROUNDS,
    Frame,
    SourceNode,
    TraceRecorder,
    written_tree,
)

ENVIRONMENT = Environment(
    {"l": types.list_of(types.INT), "o": types.DYN, "b": types.BOOL},
    libraries=[comprehensions.bindings()],
)


def trace(
    text: str, limit: int = 1_000_000, **inputs: object
) -> tuple[dict[str, SourceNode], Frame]:
    """The parts by their texts, and what was kept."""
    program = ENVIRONMENT.program(ENVIRONMENT.compile(text).checked())
    recorder = TraceRecorder()
    with suppress(EvaluationError):
        program.evaluate_traced(inputs, recorder, limit)
    parts = written_tree(program.checked.ast).walk()
    return {text[part.start : part.end]: part for part in parts}, recorder.frame


def test_parts_of_chains() -> None:
    parts, frame = trace("o.a.b == 1 || o.a.c", o={"a": {"b": 2}})
    values = {text: frame.outcomes[part.node.id].value for text, part in parts.items()}
    assert isinstance(values.pop("o.a.c"), EvaluationError)
    assert isinstance(values.pop("o.a.b == 1 || o.a.c"), EvaluationError)
    whole = {"a": {"b": 2}}
    assert values == {"o": whole, "o.a": {"b": 2}, "o.a.b": 2, "o.a.b == 1": False, "1": 1}


def test_what_is_not_evaluated_has_no_outcome() -> None:
    parts, frame = trace("b && o.a ? [1] : l", b=False, l=[3])
    evaluated = {text for text, part in parts.items() if part.node.id in frame.outcomes}
    assert evaluated == {"b && o.a ? [1] : l", "b && o.a", "b", "l"}


def test_constants_are_evaluated_where_they_are_reached() -> None:
    parts, frame = trace("b ? duration('1h') : duration('1m')", b=True)
    assert parts["duration('1h')"].node.id in frame.outcomes
    assert parts["duration('1m')"].node.id not in frame.outcomes


def test_costs() -> None:
    parts, frame = trace("o.a.b == 1 && size(l) > 1", o={"a": {"b": 1}}, l=[1, 2])
    costs = {text: frame.outcomes[part.node.id].cost for text, part in parts.items()}
    assert costs == {
        "o.a.b == 1 && size(l) > 1": 7,
        "o.a.b == 1": 4,
        "o.a.b": 3,
        "o.a": None,
        "o": None,
        "1": 0,
        "size(l) > 1": 3,
        "size(l)": 2,
        "l": 1,
    }


def test_first_and_last_rounds_are_kept() -> None:
    parts, frame = trace("l.all(x, x < 40)", l=list(range(100)))
    rounds = frame.loops[parts["l.all(x, x < 40)"].node.id]
    assert rounds.count == 41
    assert [one.number for one in rounds.kept] == [*range(1, KEPT_ROUNDS + 1), 41]
    predicate = parts["x < 40"].node.id
    assert [one.frame.outcomes[predicate].value for one in rounds.kept] == [True] * 10 + [False]
    assert rounds.kept[-1].variables == (40,)


def test_loops_without_rounds() -> None:
    parts, frame = trace("l.exists(x, x > 0)", l=[])
    rounds = frame.loops[parts["l.exists(x, x > 0)"].node.id]
    assert (rounds.count, rounds.kept) == (0, [])


def test_all_rounds_together_are_bounded() -> None:
    text = "l.all(a, l.all(b, l.all(c, l.all(d, l.all(e, a + b + c + d + e >= 0)))))"
    _, frame = trace(text, 10_000_000, l=list(range(9)))
    assert 100 < rounds_kept(frame) <= KEPT_FRAMES + 9**4 + 9**3 + 9**2 + 9


def rounds_kept(frame: Frame) -> int:
    return sum(1 + rounds_kept(one.frame) for rounds in frame.loops.values() for one in rounds.kept)


def test_names_are_kept_where_they_are_bound() -> None:
    """Though a name is evaluated where it is first read."""
    parts, frame = trace("cel.bind(x, l.size() + 1, l.all(y, y < x))", l=[1, 2])
    assert frame.outcomes[parts["l.size() + 1"].node.id].value == 3
    (rounds,) = frame.loops.values()
    assert parts["l.size() + 1"].node.id not in rounds.kept[0].frame.outcomes
    assert rounds.kept[0].frame.outcomes[parts["x"].node.id].value == 3


@pytest.mark.parametrize("limit", [0, 4, 9])
def test_what_was_evaluated_when_the_limit_was_reached(limit: int) -> None:
    parts, frame = trace("l.map(x, x + 1).size() > 2", limit, l=[1, 2, 3])
    assert parts["l.map(x, x + 1).size() > 2"].node.id not in frame.outcomes
    assert parts["l"].node.id in frame.outcomes
