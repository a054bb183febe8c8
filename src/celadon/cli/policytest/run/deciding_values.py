"""What the parts of an expression came to that decided about a request.

The engine is asked again, with somebody looking on (`celadon.admission.explain`): only for
cases that failed. Left out are literals, objects (their fields say it), and what loops evaluate in
their rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from celadon.admission.explain import ExpressionRun, Part, PolicyExplanation, explain
from celadon.cel.extend import Literal
from celadon.cel.tracing import written_tree
from celadon.cli.check.check_report import Violation
from celadon.cli.explain.value_texts import brief, shortened
from celadon.cli.policytest.run.case_judging import Judged
from celadon.cli.policytest.run.case_results import CaseOutcome, PartValue

_MOST_CHARACTERS: Final = 100
_MOST_PARTS: Final = 12


def deciding_values(judged: Judged, outcome: CaseOutcome) -> tuple[PartValue, ...]:
    """Return the values of the first expression that the verdict is due to; none if a mutating
    policy decided."""
    asked, deciding = judged.asked, outcome.deciding
    if asked is None or not deciding or not deciding[0].expression:
        return ()
    found = explain(judged.setting.engines.validating, asked.request, judged.setting.world)
    for policy in found.policies:
        if policy.policy.name == deciding[0].policy:
            for run in _runs(policy, deciding[0]):
                return tuple(dict.fromkeys(_values(run)))[:_MOST_PARTS]
    return ()


def _runs(policy: PolicyExplanation, wanted: Violation) -> Iterator[ExpressionRun]:
    for binding in policy.bindings:
        for case in binding.cases if binding.binding.name == wanted.binding else ():
            for part in (*case.conditions, *case.validations):
                if part.run is not None and _is_of(part, wanted):
                    yield part.run


def _is_of(part: Part, wanted: Violation) -> bool:
    """Also one that a variable of failed."""
    if part.source.path.text == wanted.field:
        return True
    decision = part.decision
    return decision is not None and decision.source.path.text == wanted.field


def _values(run: ExpressionRun) -> Iterator[PartValue]:
    """Yield those of variables that it was the first to read, then its own parts."""
    for variable in run.all_variables():
        text = variable.expression.text
        yield PartValue(_on_one_line(text), brief(variable.value, _MOST_CHARACTERS))
    program = run.expression.program
    if program is None:
        return
    ast = program.checked.ast
    for part in written_tree(ast).walk():
        known = run.frame.outcomes.get(part.node.id)
        if part.loop is not None or known is None or isinstance(part.node, Literal):
            continue
        if not isinstance(known.value, Mapping):
            text = ast.source.text[part.start : part.end]
            yield PartValue(_on_one_line(text), brief(known.value, _MOST_CHARACTERS))


def _on_one_line(text: str) -> str:
    return shortened(" ".join(text.split()), _MOST_CHARACTERS)
