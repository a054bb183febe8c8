"""The engine: all policies and bindings at once, one request at a time.

`Engine(policies, bindings)` compiles and pairs them; `review` judges a request. Per endpoint and
operation the engine keeps the short list of policies that can match (`Candidate`), so a request
touches only those. Policies are looked at in the order of their names, bindings of one policy
likewise, params by namespace and name; upstream's orders are random (decision 0003).

Dispatch follows k8s.io/apiserver `pkg/admission/plugin/policy/{generic/policy_dispatcher,
validating/dispatcher}.go`: nothing is cut short, a denial does not keep later policies from
warning and annotating.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from celadon.admission import policy_limits
from celadon.admission.candidates import (
    BoundCandidate,
    Candidate,
    EndpointCandidates,
    Hook,
    candidate_for,
    remembered_candidates,
)
from celadon.admission.conversion import ConversionError
from celadon.admission.decision_source import (
    MATCH_CONSTRAINTS,
    MATCH_RESOURCES,
    PARAM_KIND,
    PARAM_REF,
    Source,
)
from celadon.admission.endpoint_memory import target_of
from celadon.admission.expressions.activation import RequestContext
from celadon.admission.hits import Hit, MatchError
from celadon.admission.matching import EXEMPT, Target, matches
from celadon.admission.policy import params
from celadon.admission.policy.compiled_policy import CompiledPolicy, compile_policy
from celadon.admission.policy.evaluation import Evaluation, Evaluator, Finding
from celadon.admission.policy.params import ParamError
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
from celadon.admission.world import World
from celadon.cel import EvaluationError
from celadon.kube import StatusError
from celadon.kube.catalogue import Catalog
from celadon.kube.library import DEFAULT_VERSION


class Observer(Protocol):
    """Is told what policies did, one after the other: for measuring."""

    def judged(self, policy: str, decisions: Sequence[Decision], *, failed: bool) -> None:
        """A policy has been through with all its bindings. `decisions` are those that it came to;
        `failed`: something could not be evaluated, and that was ignored or is among them."""


class Engine:
    """Policies and bindings, compiled. Immutable but for what it remembers; `replaced` shares the
    compiled policies with a changed set."""

    __slots__ = ("_candidates", "_hooks", "_inert", "version")

    def __init__(
        self,
        policies: Iterable[ValidatingAdmissionPolicy] = (),
        bindings: Iterable[ValidatingAdmissionPolicyBinding] = (),
        version: str = DEFAULT_VERSION,
        *,
        compiled: Iterable[Hook] = (),
    ) -> None:
        self.version = version
        known = {id(hook.policy): hook.compiled for hook in compiled}
        by_policy: dict[str, list[ValidatingAdmissionPolicyBinding]] = {}
        for binding in sorted(bindings, key=lambda one: one.name):
            by_policy.setdefault(binding.spec.policy_name, []).append(binding)
        hooks = []
        for policy in sorted(policies, key=lambda one: one.name):
            program = known.get(id(policy)) or compile_policy(policy, version)
            hooks.append(Hook(policy, program, tuple(by_policy.pop(policy.name, ()))))
        self._hooks = tuple(hooks)
        self._inert = tuple(
            Note(Outcome.BINDING_WITHOUT_POLICY, name, binding.name)
            for name, orphans in by_policy.items()
            for binding in orphans
        )
        self._candidates = remembered_candidates(self._hooks)

    def replaced(
        self,
        policies: Iterable[ValidatingAdmissionPolicy],
        bindings: Iterable[ValidatingAdmissionPolicyBinding],
    ) -> Engine:
        """An engine for another set; policies that are the same objects are not compiled again."""
        return Engine(policies, bindings, self.version, compiled=self._hooks)

    def prepare(self) -> Engine:
        """Leave nothing to be compiled while requests are decided. Worth its time in a server; a
        command that ends soon does without."""
        for hook in self._hooks:
            hook.compiled.prepare()
        return self

    @property
    def policies(self) -> Sequence[CompiledPolicy]:
        """The compiled policies, by name."""
        return tuple(hook.compiled for hook in self._hooks)

    def review(self, request: Request, world: World, observer: Observer | None = None) -> Verdict:
        """The verdict on a request. Decisions are those that deny, and errors that were ignored.
        The observer is told of each policy that had a say."""
        endpoint = self._candidates.of(request, world.catalog)
        candidates: Sequence[Candidate] = endpoint.candidates
        if not candidates:
            return ALLOWED
        context = RequestContext(request, world)
        if endpoint.quick_size >= 0:
            candidates = _undecided(endpoint, context, observer)
            if not candidates:
                return ALLOWED
        dispatch = _Dispatch(context, Evaluator(context), Folder(request), observer)
        try:
            for candidate in candidates:
                dispatch.judge(candidate)
        except StatusError as failure:
            return dispatch.folder.verdict(failure)
        return dispatch.folder.verdict()

    def explain(self, request: Request, world: World) -> Verdict:
        """The same verdict with every decision, also those that admit, with costs, and with notes
        on everything that had no say."""
        folder = Folder(request, list(self._inert))
        if request.resource.group_resource in EXEMPT:
            folder.note(Note(Outcome.EXEMPT, detail=str(request.resource.group_resource)))
            return folder.verdict()
        context = RequestContext(request, world)
        dispatch = _Dispatch(context, Evaluator(context, trace=True), folder)
        target = target_of(request)
        try:
            for hook in self._hooks:
                self._explain_hook(hook, target, world.catalog, dispatch)
        except StatusError as failure:
            return folder.verdict(failure)
        return folder.verdict()

    def _explain_hook(
        self, hook: Hook, target: Target, catalog: Catalog, dispatch: _Dispatch
    ) -> None:
        name = hook.compiled.name
        if not hook.bindings:
            dispatch.folder.note(Note(Outcome.POLICY_WITHOUT_BINDING, name))
            return
        candidate = candidate_for(hook, target, catalog)
        if candidate is None:
            dispatch.folder.note(Note(Outcome.POLICY_UNMATCHED, name))
            return
        planned = {bound.binding.name for bound in candidate.bindings}
        for binding in hook.bindings:
            if binding.name not in planned:
                dispatch.folder.note(Note(Outcome.BINDING_UNMATCHED, name, binding.name))
        dispatch.judge(candidate)


def _undecided(
    endpoint: EndpointCandidates, context: RequestContext, observer: Observer | None
) -> Sequence[Candidate]:
    """The candidates that are not quickly found to have nothing against the request. Whatever goes
    wrong here happens again, and is judged, when they are."""
    try:
        activation = context.own_activation()
    except StatusError:
        return endpoint.candidates
    limit = endpoint.quick_size
    fits_all = limit >= policy_limits.UNBOUNDED_SIZE or context.fits(limit)
    undecided = []
    for candidate in endpoint.candidates:
        if candidate.quick and (fits_all or context.fits(candidate.compiled.plain_size)):
            try:
                for evaluate in candidate.quick:
                    if evaluate(activation) is not True:
                        break
                else:
                    if observer is not None:
                        observer.judged(candidate.compiled.name, (), failed=False)
                    continue
            except EvaluationError:
                pass
        undecided.append(candidate)
    return undecided


class _Dispatch:
    """One request on its way through the candidates."""

    __slots__ = ("context", "evaluator", "failed", "folder", "observer")

    def __init__(
        self,
        context: RequestContext,
        evaluator: Evaluator,
        folder: Folder,
        observer: Observer | None = None,
    ) -> None:
        self.context = context
        self.evaluator = evaluator
        self.folder = folder
        self.observer = observer
        self.failed = False

    def judge(self, candidate: Candidate) -> None:
        """One policy with all its bindings; whoever observes is told."""
        if self.observer is None:
            self._judge(candidate)
            return
        self.failed, before = False, self.folder.count
        if self._judge(candidate):
            decisions = self.folder.decisions_from(before)
            self.observer.judged(candidate.compiled.name, decisions, failed=self.failed)

    def _judge(self, candidate: Candidate) -> bool:
        """Whether it matches the request."""
        name = candidate.compiled.name
        try:
            hit = matches(candidate.plan, self.context)
        except MatchError as error:
            self._misconfigured_policy(
                candidate.compiled, MATCH_CONSTRAINTS.below(error.path), str(error)
            )
            return True
        if hit is None:
            self.folder.note(Note(Outcome.POLICY_UNMATCHED, name))
            return False
        if candidate.error:
            self._misconfigured_policy(candidate.compiled, PARAM_KIND, candidate.error)
            return True
        annotations: dict[str, list[str]] = {}
        for bound in candidate.bindings:
            try:
                self._judge_binding(candidate, bound, hit, annotations)
            except MatchError as error:
                source = MATCH_RESOURCES.below(error.path)
                self._misconfigured_binding(candidate.compiled, bound, source, str(error))
            except ParamError as error:
                self._misconfigured_binding(candidate.compiled, bound, PARAM_REF, str(error))
            except ConversionError as error:
                self._misconfigured_binding(
                    candidate.compiled, bound, MATCH_CONSTRAINTS, str(error)
                )
        self.folder.annotate(name, annotations)
        return True

    def _judge_binding(
        self,
        candidate: Candidate,
        bound: BoundCandidate,
        hit: Hit,
        annotations: dict[str, list[str]],
    ) -> None:
        policy, binding = candidate.compiled, bound.binding
        if matches(bound.plan, self.context) is None:
            self.folder.note(Note(Outcome.BINDING_UNMATCHED, policy.name, binding.name))
            return
        request, world = self.context.request, self.context.world
        found = params.collect(candidate.source, binding.spec.param_ref, request.namespace, world)
        if not found:
            self.context.namespace_object()
            self.folder.note(Note(Outcome.PARAM_NOT_FOUND, policy.name, binding.name))
            return
        results = [
            (params.param_name(param), self.evaluator.evaluate(policy, hit, param))
            for param in found
        ]
        for param, evaluation in results:
            self._enforce(policy.name, binding, param, evaluation)
            for key, value in evaluation.annotations:
                annotations.setdefault(key, []).append(value)

    def _enforce(
        self,
        policy: str,
        binding: ValidatingAdmissionPolicyBinding,
        param: str,
        evaluation: Evaluation,
    ) -> None:
        for finding in (*evaluation.findings, *evaluation.annotation_errors):
            self.folder.add(_decision(policy, binding, param, finding))
        outcome, detail, source = Outcome.EVALUATED, "", None
        if evaluation.false_condition:
            outcome, detail = Outcome.CONDITION_FALSE, evaluation.false_condition
        elif evaluation.ignored_failure is not None:
            self.failed = True
            outcome = Outcome.CONDITION_ERROR_IGNORED
            detail, source = evaluation.ignored_failure.text, evaluation.ignored_failure.source
        self.folder.note(Note(outcome, policy, binding.name, param, detail, source))

    def _misconfigured_policy(self, policy: CompiledPolicy, source: Source, why: str) -> None:
        self._misconfigured(policy, "", source, f"failed to configure policy: {why}")

    def _misconfigured_binding(
        self, policy: CompiledPolicy, bound: BoundCandidate, source: Source, why: str
    ) -> None:
        text = f"failed to configure binding: {why}"
        self._misconfigured(policy, bound.binding.name, source, text)

    def _misconfigured(
        self, policy: CompiledPolicy, binding: str, source: Source, text: str
    ) -> None:
        self.failed = True
        if policy.ignores_failures:
            outcome = Outcome.CONFIGURATION_ERROR_IGNORED
            self.folder.note(Note(outcome, policy.name, binding, detail=text, source=source))
            return
        cause = Cause.CONFIGURATION
        self.folder.add(Decision(policy.name, binding, 0, source, Action.DENY, text, cause=cause))


def _decision(
    policy: str, binding: ValidatingAdmissionPolicyBinding, param: str, finding: Finding
) -> Decision:
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
