"""What one request has reached: the goals that came true while an engine worked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from celadon.admission.explanation import (
    BindingExplanation,
    CaseExplanation,
    ExpressionRun,
    PolicyExplanation,
)
from celadon.cel.syntax import CONDITIONAL, LOGICAL_OR
from celadon.cel.tracing import Frame, Written
from celadon.cli.policy_tests.coverage_counts import Goal, Wanted
from celadon.cli.policy_tests.measuring.coverage_goals import Aim


def reached(
    aims: Mapping[str, Sequence[Aim]],
    bindings: Mapping[str, Sequence[Goal]],
    seen: PolicyExplanation,
) -> Iterator[Goal]:
    """Those of a policy, given by the paths of expressions and the names of bindings. What came
    true several times is there several times."""
    for binding in seen.bindings:
        own = bindings.get(binding.binding.name, ())
        yield from (one for one in own if _happened(one.wanted, binding))
        for case in binding.cases:
            for run in _runs(case):
                yield from _in_run(aims.get(run.expression.source.path.text, ()), run)


def _happened(wanted: Wanted, binding: BindingExplanation) -> bool:
    if wanted is Wanted.NO_PARAMS:
        return binding.lookup is not None and not any(binding.lookup.found)
    return binding.match is not None and binding.match.hit is not None


def _runs(case: CaseExplanation) -> Iterator[ExpressionRun]:
    """Messages are evaluated for every request; the runs that count are those that somebody reads,
    of validations that are false."""
    for part in (*case.conditions, *case.validations, *case.annotations, *case.mutations):
        if part.run is None:
            continue
        yield part.run
        if part.message is not None and part.message.run is not None and part.run.value is False:
            yield part.message.run
    for variable in case.variables:
        yield from variable.runs


def _in_run(aims: Iterable[Aim], run: ExpressionRun) -> Iterator[Goal]:
    frames: dict[int, list[Frame]] = {}
    _note_frames(0, run.frame, frames)
    for aim in aims:
        if aim.part is None:
            if aim.goal.wanted is Wanted.EVALUATED or run.failed:
                yield aim.goal
            continue
        loop = 0 if aim.part.loop is None else aim.part.loop.id
        if any(_is_reached(aim, aim.part, frame) for frame in frames.get(loop, ())):
            yield aim.goal


def _note_frames(loop: int, frame: Frame, found: dict[int, list[Frame]]) -> None:
    """By the loop whose rounds they are, 0 outside of loops."""
    found.setdefault(loop, []).append(frame)
    for node, rounds in frame.loops.items():
        for one in rounds.kept:
            _note_frames(node, one.frame, found)


def _is_reached(aim: Aim, part: Written, frame: Frame) -> bool:
    """In one evaluation of what is in its loop."""
    outcome = frame.outcomes.get(part.node.id)
    if outcome is None:
        return False
    match aim.goal.wanted:
        case Wanted.TRUE:
            return outcome.value is True
        case Wanted.FALSE:
            return outcome.value is False
        case _ if aim.chain == CONDITIONAL:
            return True
    deciding = aim.chain == LOGICAL_OR
    beside = (frame.outcomes.get(one.node.id) for one in aim.others)
    alone = not any(one is not None and one.value is deciding for one in beside)
    return outcome.value is deciding and alone
