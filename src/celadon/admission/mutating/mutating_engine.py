"""All mutating policies and bindings at once, one request at a time, in up to two rounds.

Policies are asked in the order of their names, bindings and params as in the validating engine
(upstream's orders are random), static ones before all that are objects. Which policies match is
found out with the object as it comes into the round; conditions and mutations see what those before
have made of it. A failure stops nothing; those that are not ignored refuse the request in the end.
As k8s.io/apiserver `pkg/admission/plugin/policy/mutating/dispatcher.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from celadon.admission.candidates import Candidate, Hook, Hooks, candidates_for
from celadon.admission.conversion import ConversionError
from celadon.admission.decision_source import MATCH_CONSTRAINTS
from celadon.admission.endpoint_memory import PerEndpoint
from celadon.admission.expressions.activation import RequestContext
from celadon.admission.expressions.compiled_expressions import ExpressionMemory
from celadon.admission.hits import Hit
from celadon.admission.invocations import (
    Misconfigured,
    Passed,
    invocations,
    policy_hit,
)
from celadon.admission.mutating.compiled_mutations import (
    CompiledMutatingPolicy,
    compile_mutating_policy,
)
from celadon.admission.mutating.mutation_case import MutationCase, Versions
from celadon.admission.mutating.mutation_records import MutationNotes, MutationObserver
from celadon.admission.mutating.mutation_refusals import FORBIDDEN, MutationFailure, refusal
from celadon.admission.mutating.planned_mutations import (
    Planned,
    Standing,
    planned,
    planned_changes,
    standing,
)
from celadon.admission.registration.registration_types import (
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
)
from celadon.admission.reinvocation import Reinvocation
from celadon.admission.request import Operation, Request
from celadon.admission.verdict import Note, Outcome
from celadon.admission.world import World
from celadon.kube import JsonObject
from celadon.kube.apply import MergePlanner, MutatedKinds, Patched
from celadon.kube.library import DEFAULT_VERSION

_Candidate = Candidate[CompiledMutatingPolicy]
_Candidates = tuple[Standing, ...]
_Hooks = Hooks[MutatingAdmissionPolicy, CompiledMutatingPolicy]
Contexts = Callable[[Request, World], RequestContext]
"""What makes the context of a request in a round."""
_Find = Callable[[Request, World], _Candidates]


class MutatingEngine:
    """Policies and bindings, compiled. Immutable but for what it remembers; `replaced` and
    `with_static` share the compiled policies with a changed set."""

    __slots__ = ("_endpoints", "_hooks", "version")

    def __init__(
        self,
        policies: Iterable[MutatingAdmissionPolicy] = (),
        bindings: Iterable[MutatingAdmissionPolicyBinding] = (),
        version: str = DEFAULT_VERSION,
        *,
        hooks: _Hooks | None = None,
        memory: ExpressionMemory | None = None,
    ) -> None:
        """With a `memory`, expressions that are in it are not compiled again."""
        self.version = version
        if hooks is None:
            empty: _Hooks = Hooks(lambda policy: compile_mutating_policy(policy, version, memory))
            hooks = empty.with_objects(policies, bindings)
        self._hooks = hooks
        self._endpoints = PerEndpoint(
            lambda target, catalog: tuple(map(standing, candidates_for(hooks, target, catalog)))
        )

    def replaced(
        self,
        policies: Iterable[MutatingAdmissionPolicy],
        bindings: Iterable[MutatingAdmissionPolicyBinding],
    ) -> MutatingEngine:
        """An engine for another set; policies that are as before are not compiled again.
        Static ones stay."""
        hooks = self._hooks.with_objects(policies, bindings)
        return MutatingEngine(version=self.version, hooks=hooks)

    def with_static(
        self,
        policies: Iterable[MutatingAdmissionPolicy],
        bindings: Iterable[MutatingAdmissionPolicyBinding],
    ) -> MutatingEngine:
        """An engine with another set of static policies, likewise, and the others as they are."""
        hooks = self._hooks.with_static(policies, bindings)
        return MutatingEngine(version=self.version, hooks=hooks)

    def prepare(self) -> MutatingEngine:
        """Leave nothing to be compiled while requests are decided."""
        for hook in self._hooks.all:
            hook.compiled.prepare()
        return self

    @property
    def policies(self) -> Sequence[CompiledMutatingPolicy]:
        """The compiled policies, in their order."""
        return tuple(hook.compiled for hook in self._hooks.all)

    def concerns(self, request: Request, world: World) -> bool:
        """Whether any policy could have a say in requests like this one. Cheap."""
        return bool(self._candidates(request, world))

    def rounds(
        self,
        world: World,
        kinds: MutatedKinds,
        observer: MutationObserver | None = None,
        contexts: Contexts = RequestContext,
    ) -> PolicyRounds:
        """For one request. The observer is told of each mutation; `contexts` are of those who look
        on."""
        return PolicyRounds(self._candidates, world, kinds, observer, contexts)

    def hooks_for(self, request: Request) -> tuple[Hook[CompiledMutatingPolicy], ...]:
        """The policies that requests for a resource are shown to, in the order in which they are
        asked."""
        deletes = request.operation is Operation.DELETE
        return () if deletes else self._hooks.seeing(request.resource)

    def _candidates(self, request: Request, world: World) -> _Candidates:
        if request.operation is Operation.DELETE:
            return ()
        return self._endpoints.of(request, world.catalog)


class PolicyRounds:
    """The mutating policies of one request. `wants_another` says after the first round whether all
    mutating plugins have to be asked once more."""

    def __init__(
        self,
        candidates: _Find,
        world: World,
        kinds: MutatedKinds,
        observer: MutationObserver | None = None,
        contexts: Contexts = RequestContext,
    ) -> None:
        self.notes = MutationNotes()
        self.wants_another = False
        self._candidates = candidates
        self._world = world
        self._kinds = kinds
        self._observer = observer
        self._contexts = contexts
        self._reinvocation = Reinvocation()

    def run(self, request: Request, number: int) -> JsonObject | None:
        """The object as round 0 leaves it, or round 1 with the object as the other plugins have
        left it. Raises StatusError where the request is refused."""
        state = self._reinvocation
        if number and request.object != state.last:
            state.changed()
        context = self._contexts(request, self._world)
        failures: list[MutationFailure] = []
        planned = list(self._planned(context, failures))
        made = request.object
        if planned:
            context.namespace_object()
            made = self._invoked(planned, context, failures, number)
        state.last = made
        self.notes.failures += failures
        refused = refusal(request, failures)
        if refused is not None:
            raise refused
        return made

    def _planned(
        self, context: RequestContext, failures: list[MutationFailure]
    ) -> Iterator[Planned]:
        for candidate, always in self._candidates(context.request, self._world):
            if always is not None:
                yield from always
                continue
            hit = policy_hit(candidate, context)
            if isinstance(hit, Misconfigured):
                failures.append(_misconfigured(candidate, hit))
            elif hit is None:
                self._note(candidate, Outcome.POLICY_UNMATCHED)
            else:
                yield from self._bound(candidate, hit, context, failures)

    def _bound(
        self,
        candidate: _Candidate,
        hit: Hit,
        context: RequestContext,
        failures: list[MutationFailure],
    ) -> Iterator[Planned]:
        for found in invocations(candidate, context):
            if isinstance(found, Misconfigured):
                failures.append(_misconfigured(candidate, found))
            elif isinstance(found, Passed):
                self._note(candidate, found.outcome, found.binding)
            else:
                try:
                    context.objects(hit.kind)
                except ConversionError as error:
                    text = f"failed to configure policy: {error}"
                    why = Misconfigured(text, MATCH_CONSTRAINTS)
                    failures.append(_misconfigured(candidate, why))
                    continue
                for param in found.params:
                    yield planned(candidate, found.bound.binding.name, hit, param)

    def _note(self, candidate: _Candidate, outcome: Outcome, binding: str = "") -> None:
        self.notes.notes.append(Note(outcome, candidate.compiled.name, binding))

    def _invoked(
        self,
        asked: Sequence[Planned],
        context: RequestContext,
        failures: list[MutationFailure],
        number: int,
    ) -> JsonObject | None:
        state, kind = self._reinvocation, context.request.kind
        versions = Versions(context)
        planner = None
        if not context.traces and any(one.policy.known for one in asked):
            planner = self._kinds.planner(kind)
        for one in asked:
            due = not number or one.key in state.again
            if not (due and planner is not None and self._merged(one, planner, versions, number)):
                case = MutationCase(one, context, versions, self._kinds)
                due = self._evaluated(one, case, failures, number, due=due)
            if due and one.policy.reinvokes:
                state.asked |= {one.key}
        if versions.is_dirty:
            state.changed()
            self.wants_another = True
        return versions.converted_back()

    def _merged(self, one: Planned, planner: MergePlanner, versions: Versions, number: int) -> bool:
        """A policy whose configurations are known; whether that was all there is to it."""
        kind, observer = one.hit.kind, self._observer
        live = versions.current(kind)
        if not one.policy.known or live is None or kind != planner.kind:
            return False
        if observer is not None:
            observer.begin()
        changes = planned_changes(one, live, planner, number)
        if changes is None:
            return False
        self.notes.notes.append(one.note)
        self.notes.changes += changes
        versions.put(kind, Patched(changes[-1].after))
        if observer is not None:
            for _ in changes:
                observer.mutated(one.policy.name, one.binding, "")
        return True

    def _evaluated(
        self,
        one: Planned,
        case: MutationCase,
        failures: list[MutationFailure],
        number: int,
        *,
        due: bool,
    ) -> bool:
        """Any policy; whether its mutations were `due`, and are tried."""
        result = case.condition_result()
        if result.failure is not None:
            failures.append(case.failure(result.failure))
            return False
        if result.false_condition:
            outcome, which = Outcome.CONDITION_FALSE, result.false_condition
            note = Note(outcome, one.policy.name, one.binding, one.param_name, which)
            self.notes.notes.append(note)
            return False
        self.notes.notes.append(one.note)
        if due:
            case.mutate(failures, self.notes.changes, number, self._observer)
        return due


def _misconfigured(candidate: _Candidate, why: Misconfigured) -> MutationFailure:
    policy = candidate.compiled
    return MutationFailure(
        policy.name, why.binding, "", why.text, FORBIDDEN, why.source, policy.ignores_failures
    )
