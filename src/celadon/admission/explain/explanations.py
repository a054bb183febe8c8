"""What an explanation is: a tree of values, from the request down to each expression.

    Explanation          a request and all policies of one type, in the order of evaluation
      PolicyExplanation    why it matches, or not
        BindingExplanation   likewise, and where its params were looked for
          CaseExplanation      with one param, or none: what its expressions came to
            Part                 an expression, its trace, and what followed from it

Nothing in it is a text for people but what the engine itself says to clients.
"""

from __future__ import annotations

from celadon.admission.decision_source import Source
from celadon.admission.explain.match_reasons import MatchReason, ParamLookup
from celadon.admission.explain.observers import ExpressionRun
from celadon.admission.hits import Hit
from celadon.admission.policies.matching import Binding, Policy
from celadon.admission.policies.mutation_records import Change, MutationFailure
from celadon.admission.request import Request
from celadon.admission.verdict import Decision, Note, Verdict
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """An expression of a policy. `run` is None if it was not evaluated: its phase never began or
    ended early, or it does not compile (`broken` says why). `decision` is what a validation came
    to, `message` its message expression; `change` and `failure` are what a mutation did. `name` is
    that of a condition, a variable or an annotation."""

    source: Source
    text: str
    run: ExpressionRun | None
    name: str = ""
    broken: str = ""
    decision: Decision | None = None
    message: Part | None = None
    change: Change | None = None
    failure: MutationFailure | None = None


@dataclass(frozen=True, slots=True)
class VariablePart:
    """A variable and its evaluations, at most one in each phase. One without was never needed."""

    source: Source
    name: str
    text: str
    runs: tuple[ExpressionRun, ...]
    broken: str = ""


@dataclass(frozen=True, slots=True)
class Budget:
    """Holds what the expressions of a phase may cost together, and did; `spent` is more than
    `limit` if that ended the phase."""

    phase: str
    limit: int
    spent: int


@dataclass(frozen=True, slots=True)
class CaseExplanation:
    """`outcome` is what came of the case as a whole, `decisions` what no single validation of it
    came to, such as an error that stands for all. `round` is 1 where a mutating policy was asked
    again."""

    param: str
    hit: Hit
    round: int
    outcome: Note | None
    decisions: tuple[Decision, ...]
    failures: tuple[MutationFailure, ...]
    budgets: tuple[Budget, ...]
    conditions: tuple[Part, ...]
    variables: tuple[VariablePart, ...]
    validations: tuple[Part, ...] = ()
    annotations: tuple[Part, ...] = ()
    mutations: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class BindingExplanation:
    """`match` is None where the policy does not match, since bindings are not asked then. `notes`,
    `decisions` and `failures` are about its configuration and its params."""

    binding: Binding
    match: MatchReason | None
    lookup: ParamLookup | None
    notes: tuple[Note, ...]
    decisions: tuple[Decision, ...]
    failures: tuple[MutationFailure, ...]
    cases: tuple[CaseExplanation, ...]


@dataclass(frozen=True, slots=True)
class PolicyExplanation:
    """`notes`, `decisions` and `failures` are about the policy without a binding."""

    policy: Policy
    static: bool
    ignores_failures: bool
    match: MatchReason
    notes: tuple[Note, ...]
    decisions: tuple[Decision, ...]
    failures: tuple[MutationFailure, ...]
    bindings: tuple[BindingExplanation, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """`verdict` is the engine's: decisions, warnings, audit annotations, Status. `exempt` says that
    no policy ever sees the resource."""

    request: Request
    exempt: bool
    policies: tuple[PolicyExplanation, ...]
    verdict: Verdict
