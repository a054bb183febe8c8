"""The engine: all policies and bindings at once, one request at a time.

`Engine(policies, bindings)` compiles and pairs them; `review` judges a request. Per endpoint and
operation the engine keeps the short list of policies that can match (`Candidate`), so a request
touches only those. Policies are looked at in the order of their names, bindings of one policy
likewise, params by namespace and name; upstream's orders are random (decision 0003). Static ones,
from files of the server, come before all that are objects.

Hooks are walked once per endpoint, for the candidates that requests are shown to (`_Endpoint`), and
once more if somebody asks why the others are not among them (`_Survey`). A request is judged in
`_judged` for `review` and `noted`; `explain` leaves nothing out and goes through the survey.

Dispatch follows k8s.io/apiserver `pkg/admission/plugin/policy/{generic/policy_dispatcher,
validating/dispatcher}.go`: nothing is cut short, a denial does not keep later policies from
warning and annotating.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol

from celadon.admission import policy_limits
from celadon.admission.activation import Hit, MatchError, RequestContext
from celadon.admission.cluster_lookups import World
from celadon.admission.compiled_expressions import ExpressionMemory
from celadon.admission.conversion import ConversionError
from celadon.admission.decision_source import MATCH_CONSTRAINTS
from celadon.admission.policies import compiled_policy, matching, params
from celadon.admission.policies.params import ParamSource
from celadon.admission.registration.registration_types import (
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)
from celadon.admission.request import Request
from celadon.admission.verdict import (
    ALLOWED,
    Action,
    Cause,
    Decision,
    Folder,
    Note,
    Outcome,
    Verdict,
)
from celadon.cel import EvaluationError, Program
from celadon.kube import GroupVersionResource, Json, JsonObject, StatusError
from celadon.kube.releases import current_release
from celadon.kube.resources import Catalog


class Observer(Protocol):
    """Takes notice of what policies did: for measuring."""

    @property
    def clock(self) -> Callable[[], float] | None:
        """Return what tells the time, or None if `content` need not be called; read once for each
        request."""

    def content(self, ends: Mapping[str, float]) -> None:
        """Note that some policies were quickly found to have nothing against a request, one after
        the other: `ends` says by the clock when each was through."""

    def judged(self, policy: str, decisions: Sequence[Decision], *, failed: bool) -> None:
        """Note that a policy has been through with all its bindings. `decisions` are those that it
        came to; `failed`: something could not be evaluated, and that was ignored or is among
        them."""


_Candidate = matching.Candidate[compiled_policy.CompiledPolicy]
_Hooks = matching.Hooks[ValidatingAdmissionPolicy, compiled_policy.CompiledPolicy]

_Planned = tuple[Callable[[JsonObject], Json], _Candidate, tuple[Note, ...] | None]
"""What returns True where a candidate has nothing against a request; the candidate; the notes on
its bindings, where all of these match every request."""


class _Endpoint:
    """Holds what is remembered for an endpoint. `has_quick`: some candidates may be decided by
    their validations alone: for such requests nothing is converted, and the policy asks for nothing
    but the request itself. `objects_only`: those read nothing but objects. `content` is the
    verdict, with notes, of policies that all have nothing against a request, where the notes are
    always the same."""

    __slots__ = (
        "_cold",
        "_plans",
        "_same_notes",
        "candidates",
        "content",
        "has_quick",
        "objects_only",
        "sizes_matter",
    )

    def __init__(self, candidates: tuple[_Candidate, ...]) -> None:
        self.candidates = candidates
        quick = [candidate.compiled for candidate in candidates if _is_quick(candidate)]
        self.has_quick = bool(quick)
        self.objects_only = all(policy.reads_objects_only for policy in quick)
        self.sizes_matter = True
        """Whether something may have to be counted; it takes time to find out that nothing has."""
        self._cold = Program.MAX_COLD + 1
        self._plans: dict[int, tuple[_Planned, ...]] = {}
        self._same_notes = tuple(_same_notes(candidate) for candidate in candidates)
        notes = [notes for notes in self._same_notes if notes is not None]
        is_same = len(quick) == len(notes) == len(candidates)
        self.content = Verdict(notes=tuple(itertools.chain(*notes))) if is_same else None

    def plan(self, size: int) -> tuple[_Planned, ...]:
        """Return how the candidates are asked about a request that comes. Once all programs are hot
        it is the same plan for all sizes with as many binary digits."""
        digits = size.bit_length()
        plan = self._plans.get(digits)
        if plan is None:
            if self._cold:
                self._cold -= 1
            is_hot, largest = not self._cold, (1 << digits) - 1
            asking = (_asking(candidate, largest, hot=is_hot) for candidate in self.candidates)
            plan = tuple(zip(asking, self.candidates, self._same_notes, strict=True))
            if is_hot:
                self._plans[digits] = plan
                policies = [item.compiled for item in self.candidates if _is_quick(item)]
                self.sizes_matter = not all(policy.plain_sizes.are_all for policy in policies)
        return plan


def _is_quick(candidate: _Candidate) -> bool:
    return candidate.matches_own and bool(candidate.compiled.quick)


def _asking(candidate: _Candidate, size: int, *, hot: bool) -> Callable[[JsonObject], Json]:
    """Return what asks a candidate about requests of up to a size."""
    if not _is_quick(candidate):
        return _unasked
    policy = candidate.compiled
    if not policy.plain_sizes.include(size):
        return partial(_is_content, policy)
    programs = tuple(program.hot() if hot else program.evaluate for program in policy.quick)
    return programs[0] if len(programs) == 1 else partial(_are_true, programs)


def _unasked(_activation: JsonObject) -> bool:
    return False


def _are_true(programs: Sequence[Callable[[JsonObject], Json]], activation: JsonObject) -> bool:
    """Return whether all programs return True. May raise EvaluationError."""
    for evaluate in programs:  # noqa: SIM110  a third of the time of `all` with a generator
        if evaluate(activation) is not True:
            return False
    return True


def _same_notes(candidate: _Candidate) -> tuple[Note, ...] | None:
    """Return the notes on bindings that match whatever comes; None if one may not."""
    if any(bound.plan.direct is None for bound in candidate.bindings):
        return None
    name = candidate.compiled.name
    return tuple(
        Note(Outcome.EVALUATED, name, binding.binding.name) for binding in candidate.bindings
    )


class Engine:
    """Holds policies and bindings, compiled. It is immutable but for what it remembers; `replaced`
    and `with_static` share the compiled policies with a changed set."""

    __slots__ = ("_endpoints", "_hooks", "_inert", "_surveys", "version")

    def __init__(
        self,
        policies: Iterable[ValidatingAdmissionPolicy] = (),
        bindings: Iterable[ValidatingAdmissionPolicyBinding] = (),
        version: str | None = None,
        *,
        hooks: _Hooks | None = None,
        memory: ExpressionMemory | None = None,
    ) -> None:
        """Compile the policies. With a `memory`, expressions that are in it are not compiled
        again."""
        self.version = version = version or current_release()
        if hooks is None:
            empty: _Hooks = matching.Hooks(
                lambda policy: compiled_policy.compile_policy(policy, version, memory)
            )
            hooks = empty.with_objects(policies, bindings)
        self._hooks = hooks
        self._inert = tuple(
            Note(Outcome.BINDING_WITHOUT_POLICY, binding.spec.policy_name, binding.name)
            for binding in hooks.orphans
        )
        self._endpoints = matching.PerEndpoint(
            lambda target, catalog: _Endpoint(matching.candidates_for(hooks, target, catalog))
        )
        inert = self._inert
        self._surveys = matching.PerEndpoint(
            lambda target, catalog: _Survey((*inert, *_surveyed(hooks, target, catalog)))
        )

    def replaced(
        self,
        policies: Iterable[ValidatingAdmissionPolicy],
        bindings: Iterable[ValidatingAdmissionPolicyBinding],
    ) -> Engine:
        """Return an engine for another set; policies that are as before are not compiled again.
        Static ones stay."""
        return Engine(version=self.version, hooks=self._hooks.with_objects(policies, bindings))

    def with_static(
        self,
        policies: Iterable[ValidatingAdmissionPolicy],
        bindings: Iterable[ValidatingAdmissionPolicyBinding],
    ) -> Engine:
        """Return an engine with another set of static policies, likewise, and the others as they
        are."""
        return Engine(version=self.version, hooks=self._hooks.with_static(policies, bindings))

    def prepare(self) -> Engine:
        """Leave nothing to be compiled while requests are decided. Worth its time in a server; a
        command that ends soon does without."""
        for hook in self._hooks.all:
            hook.compiled.prepare()
        return self

    @property
    def policies(self) -> Sequence[compiled_policy.CompiledPolicy]:
        """Return the compiled policies, in their order."""
        return tuple(hook.compiled for hook in self._hooks.all)

    def review(self, request: Request, world: World, observer: Observer | None = None) -> Verdict:
        """Return the verdict on a request. Decisions are those that deny, and errors that were
        ignored. The observer is told of each policy that had a say."""
        endpoint = self._endpoints.of(request, world.catalog)
        if not endpoint.candidates:
            return ALLOWED
        return _judged(endpoint, RequestContext(request, world), None, observer) or ALLOWED

    def noted(self, request: Request, world: World) -> Verdict:
        """Return the verdict of `review`, with notes on what came of every policy and binding that
        may concern the request; `unconcerned` has those on all others. What a conversion webhook
        would have to tell that the world does not call is noted as undecided, and decides
        nothing."""
        notes: list[Note] = []
        endpoint = self._endpoints.of(request, world.catalog)
        verdict = _judged(endpoint, RequestContext(request, world), notes)
        return verdict or endpoint.content or Verdict(notes=tuple(notes))

    def candidates(
        self, request: Request, world: World
    ) -> Sequence[matching.Candidate[compiled_policy.CompiledPolicy]]:
        """Return the policies that may have something to say about requests to this endpoint."""
        return self._endpoints.of(request, world.catalog).candidates

    def param_sources(self, request: Request, world: World) -> Iterator[ParamSource]:
        """Yield where these have their params from."""
        candidates = (candidate.source for candidate in self.candidates(request, world))
        return (source for source in candidates if source is not None)

    def may_concern(self, request: Request, world: World) -> bool:
        """Return whether some policy may have something to say about requests to this endpoint."""
        return bool(self.candidates(request, world))

    def unconcerned(self, request: Request, world: World) -> tuple[Note, ...]:
        """Return notes on the policies and bindings that no request to the same endpoint concerns;
        the same tuple for all of them."""
        return self._surveys.of(request, world.catalog).notes

    def hooks_for(
        self, resource: GroupVersionResource
    ) -> tuple[matching.Hook[compiled_policy.CompiledPolicy], ...]:
        """Return the policies that requests for a resource are shown to, in the order in which they
        are asked."""
        return self._hooks.seeing(resource)

    def explain(
        self, request: Request, world: World, context: RequestContext | None = None
    ) -> Verdict:
        """Return the same verdict with every decision, also those that admit, with costs, and with
        notes on everything that had no say. `context` is that of the request, if somebody looks
        on."""
        folder = Folder(request, [])
        context = context or RequestContext(request, world)
        dispatch = _Dispatch(context, compiled_policy.Evaluator(context, trace=True), folder)
        try:
            for entry in self._surveys.of(request, world.catalog).entries:
                if isinstance(entry, Note):
                    folder.note(entry)
                else:
                    dispatch.judge(entry)
        except StatusError as failure:
            return folder.verdict(failure)
        return folder.verdict()


class _Survey:
    """Holds what is remembered of an endpoint for whoever asks why: every policy in its order, as
    a candidate or as a note that no request to the endpoint concerns it, or some binding of it.
    `notes` are the latter."""

    __slots__ = ("entries", "notes")

    def __init__(self, entries: tuple[_Candidate | Note, ...]) -> None:
        self.entries = entries
        self.notes = tuple(entry for entry in entries if isinstance(entry, Note))


def _surveyed(
    hooks: _Hooks, target: matching.Target, catalog: Catalog
) -> Iterator[_Candidate | Note]:
    concerned = hooks.seeing(target.resource)
    if not concerned and matching.is_exempt(target.resource):
        yield Note(Outcome.EXEMPT, detail=str(target.resource.group_resource))
    for hook in concerned:
        name = hook.policy.name
        if not hook.bindings:
            yield Note(Outcome.POLICY_WITHOUT_BINDING, name)
            continue
        candidate = matching.candidate_for(hook, target, catalog)
        if candidate is None:
            yield Note(Outcome.POLICY_UNMATCHED, name)
            continue
        planned = {bound.binding.name for bound in candidate.bindings}
        for binding in hook.bindings:
            if binding.name not in planned:
                yield Note(Outcome.BINDING_UNMATCHED, name, binding.name)
        yield candidate


def _judged(
    endpoint: _Endpoint,
    context: RequestContext,
    notes: list[Note] | None,
    observer: Observer | None = None,
) -> Verdict | None:
    """Return the verdict; None where nobody has anything to say."""
    candidates: Sequence[_Candidate] = endpoint.candidates
    if endpoint.has_quick:
        candidates = _undecided(endpoint, context, notes, observer)
    if not candidates:
        return None
    folder = Folder(context.request, notes)
    dispatch = _Dispatch(context, compiled_policy.Evaluator(context), folder, observer)
    dispatch.leaves_open = notes is not None
    try:
        for candidate in candidates:
            dispatch.judge(candidate)
    except StatusError as failure:
        return folder.verdict(failure)
    return folder.verdict()


def _undecided(
    endpoint: _Endpoint,
    context: RequestContext,
    notes: list[Note] | None,
    observer: Observer | None,
) -> Sequence[_Candidate]:
    """Return the candidates that are not quickly found to have nothing against the request.
    Whatever goes wrong here happens again, and is judged, when they are."""
    try:
        object_activation = (
            context.object_activation if endpoint.objects_only else context.own_activation
        )
        activation = object_activation()
    except StatusError:
        return endpoint.candidates
    clock = None if observer is None else observer.clock
    undecided = []
    ends: dict[str, float] = {}
    size = context.size() if endpoint.sizes_matter else 0
    for holds, candidate, same_notes in endpoint.plan(size):
        try:
            if holds(activation) is True and (
                notes is None or _noted(candidate, same_notes, context, notes)
            ):
                if clock is not None:
                    ends[candidate.compiled.name] = clock()
                continue
        except EvaluationError:
            pass
        undecided.append(candidate)
    if ends and observer is not None:
        observer.content(ends)
    return undecided


def _noted(
    candidate: _Candidate,
    same_notes: tuple[Note, ...] | None,
    context: RequestContext,
    notes: list[Note],
) -> bool:
    """Note the bindings of a policy that has nothing against the request; return False if one of
    them cannot be used, which is for the judge to say."""
    if same_notes is not None:
        notes += same_notes
        return True
    name = candidate.compiled.name
    result = []
    try:
        for bound in candidate.bindings:
            matched = matching.matches(bound.plan, context) is not None
            outcome = Outcome.EVALUATED if matched else Outcome.BINDING_UNMATCHED
            result.append(Note(outcome, name, bound.binding.name))
    except MatchError:
        return False
    notes += result
    return True


def _is_content(policy: compiled_policy.CompiledPolicy, activation: JsonObject) -> bool:
    """Return whether all validations are found to be true, within the budget, by programs that
    count. May raise EvaluationError."""
    if policy.has_messages:  # these cost something, too
        return False
    left = policy_limits.RUNTIME_COST_BUDGET
    for program in policy.quick:
        value, cost = program.evaluate_metered(activation, policy_limits.PER_CALL_COST)
        left -= cost
        if value is not True or left < 0:
            return False
    return True


class _Dispatch:
    """One request on its way through the candidates. With `leaves_open`, what only lacks the answer
    of a conversion webhook is noted, and no error."""

    __slots__ = ("context", "evaluator", "failed", "folder", "leaves_open", "observer")

    def __init__(
        self,
        context: RequestContext,
        evaluator: compiled_policy.Evaluator,
        folder: Folder,
        observer: Observer | None = None,
    ) -> None:
        self.context = context
        self.evaluator = evaluator
        self.folder = folder
        self.observer = observer
        self.failed = False
        self.leaves_open = False

    def judge(self, candidate: _Candidate) -> None:
        """Judge one policy with all its bindings; whoever observes is told."""
        if self.observer is None:
            self._judge(candidate)
            return
        self.failed, before = False, self.folder.count
        if self._judge(candidate):
            decisions = self.folder.decisions_from(before)
            self.observer.judged(candidate.compiled.name, decisions, failed=self.failed)

    def _judge(self, candidate: _Candidate) -> bool:
        """Return whether it matches the request."""
        policy = candidate.compiled
        hit = matching.policy_hit(candidate, self.context)
        if hit is None:
            self.folder.note(Note(Outcome.POLICY_UNMATCHED, policy.name))
            return False
        if isinstance(hit, matching.Misconfigured):
            self._misconfigured(policy, hit)
            return True
        annotations: dict[str, list[str]] = {}
        for invocation in matching.invocations(candidate, self.context):
            if isinstance(invocation, matching.Misconfigured):
                self._misconfigured(policy, invocation)
            elif isinstance(invocation, matching.Passed):
                if invocation.outcome is Outcome.PARAM_NOT_FOUND:
                    self.context.namespace_object()
                self.folder.note(Note(invocation.outcome, policy.name, invocation.binding))
            else:
                try:
                    self._invoke(candidate, invocation, hit, annotations)
                except ConversionError as error:
                    self._misconfigured(
                        policy, matching.unconverted(invocation.bound, error, MATCH_CONSTRAINTS)
                    )
        self.folder.annotate(policy.name, annotations)
        return True

    def _invoke(
        self,
        candidate: _Candidate,
        invocation: matching.Invocation,
        hit: Hit,
        annotations: dict[str, list[str]],
    ) -> None:
        policy, source = candidate.compiled, candidate.source
        binding = invocation.bound.binding
        results = []
        for raw_param in invocation.params:
            name = params.param_name(raw_param)
            self.context.begin(policy.name, binding.name, name, hit)
            evaluation = self.evaluator.evaluate(policy, hit, params.typed(raw_param, source))
            results.append((name, evaluation))
        for param, evaluation in results:
            self._enforce(policy.name, binding, param, evaluation)
            for key, value in evaluation.annotations:
                annotations.setdefault(key, []).append(value)

    def _enforce(
        self,
        policy: str,
        binding: matching.Binding,
        param: str,
        evaluation: compiled_policy.Evaluation,
    ) -> None:
        for finding in (*evaluation.findings, *evaluation.annotation_errors):
            self.folder.add(decision_of(policy, binding, param, finding))
        outcome, detail, source = Outcome.EVALUATED, "", None
        if evaluation.false_condition:
            outcome, detail = Outcome.CONDITION_FALSE, evaluation.false_condition
        elif evaluation.ignored_failure is not None:
            self.failed = True
            outcome = Outcome.CONDITION_ERROR_IGNORED
            detail, source = evaluation.ignored_failure.text, evaluation.ignored_failure.source
        self.folder.note(Note(outcome, policy, binding.name, param, detail, source))

    def _misconfigured(
        self, policy: compiled_policy.CompiledPolicy, misconfigured: matching.Misconfigured
    ) -> None:
        self.failed = True
        is_open = misconfigured.is_open and self.leaves_open
        if is_open or policy.ignores_failures:
            outcome = Outcome.UNDECIDED if is_open else Outcome.CONFIGURATION_ERROR_IGNORED
            self.folder.note(
                Note(
                    outcome,
                    policy.name,
                    misconfigured.binding,
                    detail=misconfigured.text,
                    source=misconfigured.source,
                )
            )
            return
        cause = Cause.CONFIGURATION
        self.folder.add(
            Decision(
                policy.name,
                misconfigured.binding,
                0,
                misconfigured.source,
                Action.DENY,
                misconfigured.text,
                cause=cause,
            )
        )


def decision_of(
    policy: str, binding: matching.Binding, param: str, finding: compiled_policy.Finding
) -> Decision:
    """Return a finding as what a binding makes of it."""
    return Decision(
        policy,
        binding.name,
        finding.index,
        finding.source,
        finding.action,
        finding.message,
        finding.reason,
        finding.cause,
        binding.spec.validation_actions,
        param,
        finding.cost,
    )
