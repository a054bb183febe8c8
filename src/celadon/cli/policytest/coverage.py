"""The goals of coverage: what there is to reach in a policy.

A condition is a part of an expression that is true or false: all of a validation or a match
condition, what stands beside `&&`, `||` and `!`, what is before a `?`, what a macro asks of each
item. It is to be true once and false once. An operand of `&&` decides where it alone is false, one
of `||` where it alone is true, one of `?:` where it is the one that is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from celadon.admission import explain
from celadon.admission.registration import (
    MutatingAdmissionPolicy,
    Policy,
    ValidatingAdmissionPolicy,
)
from celadon.cel import types
from celadon.cel.extend import Literal
from celadon.cel.syntax import CONDITIONAL, LOGICAL_AND, LOGICAL_NOT, LOGICAL_OR, Call, CheckedAst
from celadon.cel.tracing import Frame, SourceNode, written_tree
from celadon.cli.check.check_report import Place
from celadon.cli.check.manifests import Placed, PolicySet
from celadon.cli.policytest.case_results import ExpectedOutcome, Goal, Measured
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Aim:
    """A goal within an expression. `part` is None for the expression as such. `others` are the
    operands beside one that is to decide, `chain` is their operator."""

    goal: Goal
    part: SourceNode | None = None
    others: tuple[SourceNode, ...] = ()
    chain: str = ""


def expression_aims(placed: Placed[Policy], version: str) -> dict[str, tuple[Aim, ...]]:
    """Return the aims of the expressions of a policy, by their paths; none of one that does not
    compile."""
    policy, owner = placed.value, measured(placed)
    assert isinstance(policy, ValidatingAdmissionPolicy | MutatingAdmissionPolicy)
    result = {}
    for expression in explain.policy_expressions(policy, version):
        if expression.program is not None:
            path = expression.source.path
            aims = _Aims(owner, placed, path.steps, str(expression.source))
            result[path.text] = tuple(aims.of(expression.program.checked))
    return result


def binding_goals(policy_set: PolicySet, name: str) -> dict[str, tuple[Goal, ...]]:
    """Return the goals of the bindings of a policy, by their names."""
    owner = measured(policy_set.policies[name])
    result = {}
    for binding in policy_set.bindings.values():
        value = binding.value
        if value.spec.policy_name != name:
            continue
        field = f"binding {value.name}"
        result[value.name] = tuple(
            Goal(owner, binding.place(), field, "", 0, 0, outcome)
            for outcome in (ExpectedOutcome.REACHED, ExpectedOutcome.NO_PARAMS)
            if outcome is ExpectedOutcome.REACHED or value.spec.param_ref is not None
        )
    return result


def measured(placed: Placed[Policy]) -> Measured:
    """Return the policy of a file."""
    document = placed.document
    kind = document.value["kind"]
    return Measured(document.file, document.line(), kind, placed.value.name)


_CHAINS: Final = frozenset({LOGICAL_AND, LOGICAL_OR})
_ASKED: Final = "?"
"""The operator of what is before a `?`; that of what is behind it is `CONDITIONAL`."""


@dataclass(frozen=True, slots=True)
class _Aims:
    """The aims of one expression of a policy."""

    owner: Measured
    placed: Placed[Policy]
    steps: tuple[str | int, ...]
    field: str

    def of(self, checked: CheckedAst) -> Iterator[Aim]:
        """Yield those of the whole, then those of its parts."""
        root = written_tree(checked.ast)
        for outcome in (ExpectedOutcome.EVALUATED, ExpectedOutcome.ERROR):
            yield Aim(self._goal(checked, root, outcome))
        yield from self._parts(checked, root, "", ())

    def _parts(
        self, checked: CheckedAst, part: SourceNode, beside: str, operands: tuple[SourceNode, ...]
    ) -> Iterator[Aim]:
        """Yield a part that stands beside an operator, with its operands. An operand that is a
        chain of the same operator is none by itself: `a && b && c` has three."""
        function = part.node.function if isinstance(part.node, Call) else ""
        if function not in _CHAINS or function != beside:
            if _is_condition(part, checked, beside):
                for outcome in (ExpectedOutcome.TRUE, ExpectedOutcome.FALSE):
                    yield Aim(self._goal(checked, part, outcome), part)
            if beside in {*_CHAINS, CONDITIONAL}:
                siblings = tuple(operand for operand in operands if operand is not part)
                yield Aim(
                    self._goal(checked, part, ExpectedOutcome.DECIDES), part, siblings, beside
                )
            operands = tuple(_chain(part, function)) if function in _CHAINS else ()
        for number, operand_node in enumerate(part.parts):
            is_asked = function == CONDITIONAL and number == 0
            operator = _ASKED if is_asked else function
            yield from self._parts(checked, operand_node, operator, operands)

    def _goal(self, checked: CheckedAst, part: SourceNode, outcome: ExpectedOutcome) -> Goal:
        document, start, end = self.placed.document, part.start, part.end
        value = document.value_at(self.steps)
        assert isinstance(value, str)
        line, _ = document.chunk.spot(document.path + self.steps, value, start)
        place = Place(document.file, line)
        return Goal(
            self.owner, place, self.field, checked.ast.source.text[start:end], start, end, outcome
        )


def _chain(part: SourceNode, operator: str) -> Iterator[SourceNode]:
    """Yield the operands of a chain of one operator."""
    for child in part.parts:
        if isinstance(child.node, Call) and child.node.function == operator:
            yield from _chain(child, operator)
        else:
            yield child


def _is_condition(part: SourceNode, checked: CheckedAst, beside: str) -> bool:
    """Return whether a part is a condition. A negation is not one: what it negates is."""
    node = part.node
    if isinstance(node, Literal) or (isinstance(node, Call) and node.function == LOGICAL_NOT):
        return False
    return beside in {*_CHAINS, _ASKED, LOGICAL_NOT} or checked.types.get(node.id) == types.BOOL


# --- Goal reaching -----------------------------------------------------------
#
# What one request has reached: the goals that came true while an engine worked.


def reached(
    aims: Mapping[str, Sequence[Aim]],
    bindings: Mapping[str, Sequence[Goal]],
    explanation: explain.PolicyExplanation,
) -> Iterator[Goal]:
    """Yield those of a policy, given by the paths of expressions and the names of bindings. What
    came true several times is there several times."""
    for binding in explanation.bindings:
        goals = bindings.get(binding.binding.name, ())
        yield from (goal for goal in goals if _happened(goal.expected, binding))
        for case in binding.cases:
            for run in _runs(case):
                yield from _in_run(aims.get(run.expression.source.path.text, ()), run)


def _happened(outcome: ExpectedOutcome, binding: explain.BindingExplanation) -> bool:
    if outcome is ExpectedOutcome.NO_PARAMS:
        return binding.lookup is not None and not any(binding.lookup.found_names)
    return binding.match is not None and binding.match.hit is not None


def _runs(case: explain.CaseExplanation) -> Iterator[explain.ExpressionRun]:
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


def _in_run(aims: Iterable[Aim], run: explain.ExpressionRun) -> Iterator[Goal]:
    frames: dict[int, list[Frame]] = {}
    _note_frames(0, run.frame, frames)
    for aim in aims:
        if aim.part is None:
            if aim.goal.expected is ExpectedOutcome.EVALUATED or run.failed:
                yield aim.goal
            continue
        loop = 0 if aim.part.loop is None else aim.part.loop.id
        if any(_is_reached(aim, aim.part, frame) for frame in frames.get(loop, ())):
            yield aim.goal


def _note_frames(loop: int, frame: Frame, frames: dict[int, list[Frame]]) -> None:
    """Note the frames by the loop whose rounds they are, 0 outside of loops."""
    frames.setdefault(loop, []).append(frame)
    for node, rounds in frame.loops.items():
        for loop_round in rounds.kept:
            _note_frames(node, loop_round.frame, frames)


def _is_reached(aim: Aim, part: SourceNode, frame: Frame) -> bool:
    """Return whether the aim is reached in one evaluation of what is in its loop."""
    outcome = frame.outcomes.get(part.node.id)
    if outcome is None:
        return False
    match aim.goal.expected:
        case ExpectedOutcome.TRUE:
            return outcome.value is True
        case ExpectedOutcome.FALSE:
            return outcome.value is False
        case _ if aim.chain == CONDITIONAL:
            return True
    deciding = aim.chain == LOGICAL_OR
    sibling_outcomes = (frame.outcomes.get(operand.node.id) for operand in aim.others)
    decides_alone = not any(
        outcome is not None and outcome.value is deciding for outcome in sibling_outcomes
    )
    return outcome.value is deciding and decides_alone
