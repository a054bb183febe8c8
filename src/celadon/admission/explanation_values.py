"""The values of an explanation: a tree from the request down to each expression.

    Explanation          a request and all policies of one type, in the order of evaluation
      PolicyExplanation    why it matches, or not
        BindingExplanation   likewise, and where its params were looked for
          CaseExplanation      with one param, or none: what its expressions came to
            Part                 an expression, its trace, and what followed from it

Nothing in it is a text for people but what the engine itself says to clients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from celadon.admission import policy_limits
from celadon.admission.activation import Hit, MatchError, RequestContext
from celadon.admission.cluster_lookups import World
from celadon.admission.compiled_expressions import Expression, Meter, OutOfBudget
from celadon.admission.decision_source import Source
from celadon.admission.policies.compiled_mutations import Change, MutationFailure
from celadon.admission.policies.matching import (
    Binding,
    Miss,
    Policy,
    Target,
    hit_or_miss,
    plan,
    uncovered,
)
from celadon.admission.policies.params import ParamError, looked_in, resolve
from celadon.admission.registration import registration_types
from celadon.admission.request import Request
from celadon.admission.verdict import Decision, Note, Verdict
from celadon.cel import EvaluationError
from celadon.cel.tracing import Frame, TraceRecorder
from celadon.kube import GroupVersionResource, JsonObject
from celadon.kube.resources import Catalog
from celadon.kube.selectors import SelectorError, label_selector
from celadon.records import dataclass, field

# --- Why something matches or not --------------------------------------------
#
# Why a policy or a binding matches a request, or does not: what `matching` says of each part.

RULES = "resourceRules"
"""What does not match if no rule covers the request; the other fields are those of `Miss`."""


@dataclass(frozen=True, slots=True)
class RuleReason:
    """A rule, and the first of its fields that does not cover the request (`resourceNames` too),
    empty if it does. `resource` is what it covers: that of the request, or an equivalent one."""

    index: int
    rule: registration_types.Rule
    uncovered: str
    resource: GroupVersionResource


@dataclass(frozen=True, slots=True)
class SelectorReason:
    """A label selector and the labels it looks at: of the object and the old one, or of the
    namespace; none where it does not apply. `selects` is None if that cannot be said."""

    selector: JsonObject
    labels: Sequence[Mapping[str, str]]
    selects: bool | None


@dataclass(frozen=True, slots=True)
class MatchReason:
    """Says why a request is matched, or is not. `hit` is what the request is matched as; without
    it, `missed` is the field that does not match, or `error` says why that cannot be said. A match
    of everything has no parts."""

    hit: Hit | None
    missed: str = ""
    error: str = ""
    rules: tuple[RuleReason, ...] = ()
    excludes: tuple[RuleReason, ...] = ()
    namespace_selector: SelectorReason | None = None
    object_selector: SelectorReason | None = None


def match_reason(
    match: registration_types.MatchResources | None, target: Target, context: RequestContext
) -> MatchReason:
    """Return what match constraints or match resources say of the request."""
    hit, missed, error = _outcome(match, target, context)
    if match is None:
        return MatchReason(hit)
    return MatchReason(
        hit,
        missed,
        error,
        tuple(_rules(match.resource_rules, match, target, context)),
        tuple(_rules(match.exclude_resource_rules, match, target, context)),
        _selector(match.namespace_selector, _namespace_labels(context)),
        _selector(match.object_selector, context.object_labels()),
    )


def _outcome(
    match: registration_types.MatchResources | None, target: Target, context: RequestContext
) -> tuple[Hit | None, str, str]:
    planned = plan(match, target, context.world.catalog)
    if planned is None:
        assert match is not None, "nothing to match matches everything"
        rules = _rules(match.resource_rules, match, target, context)
        covered = not match.resource_rules or any(not rule.uncovered for rule in rules)
        return None, Miss.EXCLUDED.value if covered else RULES, ""
    try:
        outcome = hit_or_miss(planned, context)
    except MatchError as error:
        return None, "", str(error)
    return (None, outcome.value, "") if isinstance(outcome, Miss) else (outcome, "", "")


def _rules(
    rules: Sequence[registration_types.Rule],
    match: registration_types.MatchResources,
    target: Target,
    context: RequestContext,
) -> Iterator[RuleReason]:
    equivalents: Sequence[GroupVersionResource] = ()
    if match.match_policy == registration_types.EQUIVALENT:
        pairs = context.world.catalog.equivalents(target.resource, target.subresource)
        equivalents = [resource for resource, _ in pairs]
    for index, rule in enumerate(rules):
        reason = uncovered(rule, target, target.resource)
        resource = target.resource
        for other in equivalents if reason else ():
            if not uncovered(rule, target, other):
                reason, resource = "", other
                break
        if not reason and rule.resource_names and context.name not in rule.resource_names:
            reason = Miss.NAMES.value
        yield RuleReason(index, rule, reason, resource)


def _namespace_labels(context: RequestContext) -> Sequence[Mapping[str, str]] | None:
    """Return the labels a namespace selector looks at; None if they cannot be had."""
    try:
        namespace_labels = context.namespace_labels()
    except MatchError:
        return None
    return () if namespace_labels is None else (namespace_labels,)


def _selector(
    selector: JsonObject | None, labels: Sequence[Mapping[str, str]] | None
) -> SelectorReason | None:
    """Return what a selector says; None for one that selects everything."""
    if not selector:
        return None
    try:
        compiled = label_selector(selector)
    except SelectorError:
        return SelectorReason(selector, labels or (), None)
    if labels is None:
        return SelectorReason(selector, (), None)
    return SelectorReason(selector, labels, any(map(compiled.matches, labels)))


# --- Param lookups -----------------------------------------------------------
#
# Where the params of a binding were looked for, and which were found.


@dataclass(frozen=True, slots=True)
class ParamLookup:
    """Params of a kind: in `namespace` (empty for kinds that are in none) by name, or by labels.
    `resource` is None for a kind that is not known; `found` are names, `error` says why nothing
    could be looked for, `action` is `parameterNotFoundAction`."""

    kind: registration_types.ParamKind
    resource: GroupVersionResource | None
    namespace: str
    name: str
    selector: JsonObject | None
    action: str
    found_names: tuple[str, ...]
    error: str = ""


def param_lookup(
    kind: registration_types.ParamKind | None,
    ref: registration_types.ParamRef | None,
    namespace: str,
    catalog: Catalog,
    param_names: tuple[str, ...],
) -> ParamLookup | None:
    """Return how params were looked up for a request in `namespace`, with what was found; None
    where the policy or the binding has no params."""
    if kind is None or ref is None:
        return None
    resource, where, wrong = None, "", ""
    try:
        source = resolve(kind, catalog)
        if source is not None:
            resource = source.resource
            where = looked_in(source, ref, namespace)
    except ParamError as error:
        wrong = str(error)
    return ParamLookup(
        kind,
        resource,
        where,
        ref.name,
        ref.selector,
        ref.parameter_not_found_action or "",
        param_names,
        wrong,
    )


# --- Observers ---------------------------------------------------------------
#
# Looking on while an engine works: a request's context whose budgets trace what is paid from
# them.
#
# An engine tells the context of its request which policy, binding and param it evaluates, and
# asks it for a budget before each phase. Expressions are then run by the traced variant, which
# gives the same values, errors and costs.


@dataclass(frozen=True, slots=True)
class ExpressionRun:
    """One evaluation of an expression. `value` is an `EvaluationError` where it gave none; `cost`
    is its own, without that of the variables that it was the first to read."""

    expression: Expression
    frame: Frame
    value: Any
    cost: int
    variables: tuple[ExpressionRun, ...]

    @property
    def failed(self) -> bool:
        """Return whether it gave no value."""
        return isinstance(self.value, EvaluationError)

    @property
    def charged(self) -> int:
        """Return what its budget paid: the variables are charged with it."""
        return self.cost + sum(variable.charged for variable in self.variables)

    def all_variables(self) -> list[ExpressionRun]:
        """Return the variables that it read, and theirs, in the order of their ends."""
        return [run for variable in self.variables for run in (*variable.all_variables(), variable)]


class TracingMeter(Meter):
    """One budget, and all that was paid from it, in its order."""

    __slots__ = ("_read", "budget", "runs")

    def __init__(self, budget: int) -> None:
        super().__init__(budget)
        self.budget = budget
        self.runs: list[ExpressionRun] = []
        self._read: list[ExpressionRun] = self.runs

    def evaluated(self, expression: Expression, activation: JsonObject) -> tuple[object, int]:
        """Evaluate as ever; variables that are read meanwhile are put down with the expression."""
        if expression.program is None:
            return super().evaluated(expression, activation)
        recorder, outer = TraceRecorder(), self._read
        read: list[ExpressionRun] = []
        outcome: tuple[Any, int] | None = None
        self._read = read
        try:
            outcome = expression.program.evaluate_traced(
                activation, recorder, policy_limits.PER_CALL_COST
            )
        except EvaluationError as error:
            outcome = error, error.cost or 0
            raise
        except OutOfBudget as stopped:
            outcome = EvaluationError(str(stopped)), 0
            raise
        finally:
            self._read = outer
            if outcome is None:  # given up for now, and evaluated again: see `compiled_expressions`
                outer += read
            else:
                outer.append(ExpressionRun(expression, recorder.frame, *outcome, tuple(read)))
        return outcome


@dataclass(slots=True)
class CaseRecord:
    """A policy with a binding and a param, empty for none, matched as `hit`; and the budgets of its
    phases."""

    policy: str
    binding: str
    param: str
    hit: Hit
    meters: list[TracingMeter] = field(default_factory=list)


class ObservedContext(RequestContext):
    """The context of a request that somebody looks at."""

    __slots__ = ("cases",)

    def __init__(self, request: Request, world: World) -> None:
        super().__init__(request, world)
        self.cases: list[CaseRecord] = []

    @property
    def traces(self) -> bool:
        """Return that expressions are traced: always."""
        return True

    def begin(self, policy: str, binding: str, param: str, hit: Hit) -> None:
        """Note to which policy, binding and param the next phases belong."""
        self.cases.append(CaseRecord(policy, binding, param, hit))

    def meter(self, budget: int) -> Meter:
        """Return a budget that traces what is paid from it."""
        meter = TracingMeter(budget)
        self.cases[-1].meters.append(meter)
        return meter


# --- Explanations ------------------------------------------------------------


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
    """Explains how one policy judged the request for one binding and param. `outcome` is what came
    of the case as a whole, `decisions` what no single validation of it came to, such as an error
    that stands for all. `round` is 1 where a mutating policy was asked again."""

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
    """Explains what one binding has to do with a request. `match` is None where the policy does not
    match, since bindings are not asked then. `notes`, `decisions` and `failures` are about its
    configuration and its params."""

    binding: Binding
    match: MatchReason | None
    lookup: ParamLookup | None
    notes: tuple[Note, ...]
    decisions: tuple[Decision, ...]
    failures: tuple[MutationFailure, ...]
    cases: tuple[CaseExplanation, ...]


@dataclass(frozen=True, slots=True)
class PolicyExplanation:
    """Explains what one policy has to do with a request. `notes`, `decisions` and `failures` are
    about the policy without a binding."""

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
    """Explains how a request was decided. `verdict` is the engine's: decisions, warnings, audit
    annotations, Status. `exempt` says that no policy ever sees the resource."""

    request: Request
    exempt: bool
    policies: tuple[PolicyExplanation, ...]
    verdict: Verdict
