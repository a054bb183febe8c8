"""Policies that change objects: MutatingAdmissionPolicies, what they evaluate to, what follows.

    engine = MutatingEngine(policies, bindings)
    rounds = engine.rounds(world, kinds)
    made = rounds.run(request, 0)             the object as the policies have left it
    if rounds.wants_another: …                all mutating plugins once more, then run(request, 1)

Matching, params, variables, match conditions and budgets are those of validating policies. Read
the engine below, then `compiled_mutations` and `patchers` (one mutation: a configuration that is
merged, or a JSON patch, and what values of the language become outside of it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from celadon.admission import compiled_expressions, policy_limits
from celadon.admission.activation import Hit, RequestContext
from celadon.admission.cluster_lookups import World
from celadon.admission.conversion import ConversionError
from celadon.admission.decision_source import MATCH_CONSTRAINTS
from celadon.admission.policies import matching
from celadon.admission.policies.compiled_mutations import (
    FORBIDDEN,
    INVALID,
    Change,
    CompiledMutatingPolicy,
    CompiledMutation,
    MutationFailure,
    MutationNotes,
    MutationObserver,
    Planned,
    Standing,
    compile_mutating_policy,
    planned,
    planned_changes,
    refusal,
    standing,
)
from celadon.admission.policies.compiled_policy import Phases
from celadon.admission.policies.params import ParamSource
from celadon.admission.policies.patchers import DataValues, apply_configuration, apply_patch
from celadon.admission.registration.registration_types import (
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
)
from celadon.admission.request import Operation, Reinvocation, Request
from celadon.admission.verdict import Note, Outcome
from celadon.kube import GroupVersionKind, JsonObject, StatusError
from celadon.kube.fieldmanager import (
    CustomScaleKinds,
    MergePlanner,
    MutatedKinds,
    MutationRefused,
    Patched,
)
from celadon.kube.releases import current_release
from celadon.records import replace

__all__ = ["Change", "MutatingEngine", "MutationFailure", "MutationNotes", "PolicyRounds"]


# --- Mutation case -----------------------------------------------------------
#
# One mutating policy with one param on one request: its conditions, then its mutations in
# order.
#
# `Versions` is the object as it is by now, in each version that policies match it in. A
# mutation works on the result of the one before, with variables and a budget of its own; an
# error in one does not keep the next from running.


class Versions:
    """The object of a request by version. Versions know nothing of each other's changes; the one
    that was changed last is what remains, in the version of the request."""

    __slots__ = ("_context", "_current", "_last", "_spoiled")

    def __init__(self, context: RequestContext) -> None:
        self._context = context
        self._current: dict[GroupVersionKind, JsonObject] = {}
        self._spoiled: dict[GroupVersionKind, StatusError | None] = {}
        self._last: GroupVersionKind | None = None

    def current(self, kind: GroupVersionKind) -> JsonObject | None:
        """Return the object as it is by now; None for a request without an object."""
        current = self._current.get(kind)
        return self._context.objects(kind)[0] if current is None else current

    def put(self, kind: GroupVersionKind, patched: Patched) -> None:
        """Take what a mutation has made of the object."""
        self._current[kind] = patched.object
        self._spoiled[kind] = patched.spoiled
        self._last = kind

    @property
    def is_dirty(self) -> bool:
        """Return whether any mutation was applied."""
        return self._last is not None

    def converted_back(self) -> JsonObject | None:
        """Return what remains: another object once mutations were applied, even if it looks the
        same, since upstream writes and reads it. Raises StatusError (500) for an object that has
        become another kind's."""
        context, last = self._context, self._last
        if last is None:
            return context.request.object
        spoiled = self._spoiled[last]
        if spoiled is not None:
            raise spoiled
        current, kind = self._current[last], context.request.kind
        if last != kind:
            return context.world.convert(current, kind)
        return {**current} if current is context.request.object else current


class MutationCase:
    """Holds what is to be done for one `Planned`."""

    __slots__ = ("_context", "_hit", "_kinds", "_param", "_planned", "_policy", "_versions")

    def __init__(
        self, planned: Planned, context: RequestContext, versions: Versions, kinds: MutatedKinds
    ) -> None:
        self._planned = planned
        self._policy = planned.policy
        self._hit = planned.hit
        self._param = planned.param
        self._context = context
        self._versions = versions
        self._kinds = _kinds_for(context, kinds)
        context.begin(planned.policy.name, planned.binding, planned.param_name, planned.hit)

    def condition_result(self) -> compiled_expressions.ConditionResult:
        """Return what the match conditions say of the object as it is by now."""
        if not self._policy.conditions:
            return compiled_expressions.MATCHED
        return self._phases(self._versions.current(self._hit.kind)).condition_result()

    def mutate(
        self,
        failures: list[MutationFailure],
        changes: list[Change],
        number: int,
        observer: MutationObserver | None = None,
    ) -> None:
        """Apply the mutations in their order, each to what those before it have made. Raises
        StatusError."""
        kind = self._hit.kind
        live = self._versions.current(kind)
        if live is None:
            return
        if observer is not None:
            observer.begin()
        for index, mutation in enumerate(self._policy.mutations):
            try:
                patched = self._patched(mutation, live)
            except MutationRefused as error:
                failure = compiled_expressions.Failure(str(error), mutation.expression.source)
                failures.append(self._failed(failure, index, observer))
                continue
            except _Failed as error:
                failures.append(self._failed(error.failure, index, observer))
                continue
            except StatusError as error:
                self._observed(observer, str(error))
                raise
            self._observed(observer, "")
            self._versions.put(kind, patched)
            changes.append(
                Change(
                    self._policy.name,
                    self._planned.binding,
                    self._planned.param_name,
                    index,
                    mutation.expression.source,
                    number,
                    live,
                    patched.object,
                )
            )
            live = patched.object

    def _patched(self, mutation: CompiledMutation, live: JsonObject) -> Patched:
        """MutationRefused, _Failed, StatusError."""
        kinds, kind, expected = self._kinds, self._hit.kind, self._context.request.kind
        if mutation.known_configuration is not None and not self._context.traces:
            config = mutation.known_configuration.fitting(kinds, kind)
            if config is not None:
                return Patched(kinds.merged(live, config, kind, expected, fits=True))
        expression = mutation.expression
        if expression.program is None:
            raise _Failed(compiled_expressions.Failure(expression.detail, expression.source))
        phases = self._phases(live)
        activation = phases.activation(authorizer=True)
        run = phases.begin(activation, self._context.meter(policy_limits.RUNTIME_COST_BUDGET))
        try:
            value, failure = compiled_expressions.attempt(run, expression, activation)
        except compiled_expressions.OutOfBudget as error:
            raise _Failed(error.failure) from None
        if failure is not None:
            raise _Failed(failure)
        apply = apply_patch if mutation.is_patch else apply_configuration
        data = DataValues((activation[name] for name in _DATA), mutation.text_lists)
        return apply(value, live, data, kinds, kind, expected)

    def _phases(self, live: JsonObject | None) -> Phases:
        """Return whether an object is small enough for an expression need not be asked: to count
        what the expression of a mutation costs is quicker than to find out how large each object
        is."""
        policy, context = self._policy, self._context
        base: dict[str, object] = {**context.activation(self._hit), "object": live}
        plain = policy.plain_sizes.are_all and not context.traces
        return Phases(policy, self._hit, self._param, context, base, plain=plain)

    def _failed(
        self, failure: compiled_expressions.Failure, index: int, observer: MutationObserver | None
    ) -> MutationFailure:
        self._observed(observer, failure.text)
        return self.failure(failure, index)

    def _observed(self, observer: MutationObserver | None, failure: str) -> None:
        if observer is not None:
            observer.mutated(self._policy.name, self._planned.binding, failure)

    def failure(
        self, failure: compiled_expressions.Failure, index: int | None = None
    ) -> MutationFailure:
        """Return what went wrong, in a condition or in a mutation."""
        policy = self._policy
        return MutationFailure(
            policy.name,
            self._planned.binding,
            self._planned.param_name,
            failure.text,
            INVALID,
            failure.source,
            policy.ignores_failures,
            index,
        )


def _kinds_for(context: RequestContext, kinds: MutatedKinds) -> MutatedKinds:
    """Return the kinds as objects of the request are read."""
    if context.request.subresource != "scale":
        return kinds
    resource = context.world.catalog.by_gvr(context.request.resource)
    is_custom = resource is not None and resource.custom
    return CustomScaleKinds(kinds.context, kinds.custom) if is_custom else kinds


_DATA = ("object", "oldObject", "params", "request", "namespaceObject")


class _Failed(Exception):
    """The expression of a mutation gave nothing."""

    def __init__(self, failure: compiled_expressions.Failure) -> None:
        super().__init__(failure.text)
        self.failure = failure


# --- Mutating engine ---------------------------------------------------------
#
# All mutating policies and bindings at once, one request at a time, in up to two rounds.
#
# Policies are asked in the order of their names, bindings and params as in the validating
# engine (upstream's orders are random), static ones before all that are objects. Which policies
# match is found out with the object as it comes into the round; conditions and mutations see
# what those before have made of it. A failure stops nothing; those that are not ignored refuse
# the request in the end. As k8s.io/apiserver
# `pkg/admission/plugin/policy/mutating/dispatcher.go`.

_Candidate = matching.Candidate[CompiledMutatingPolicy]
_Candidates = tuple[Standing, ...]
_Hooks = matching.Hooks[MutatingAdmissionPolicy, CompiledMutatingPolicy]
Contexts = Callable[[Request, World], RequestContext]
"""What makes the context of a request in a round."""
_Find = Callable[[Request, World], _Candidates]


class MutatingEngine:
    """Holds policies and bindings, compiled. It is immutable but for what it remembers; `replaced`
    and `with_static` share the compiled policies with a changed set."""

    __slots__ = ("_endpoints", "_hooks", "version")

    def __init__(
        self,
        policies: Iterable[MutatingAdmissionPolicy] = (),
        bindings: Iterable[MutatingAdmissionPolicyBinding] = (),
        version: str | None = None,
        *,
        hooks: _Hooks | None = None,
        memory: compiled_expressions.ExpressionMemory | None = None,
    ) -> None:
        """Compile the policies. With a `memory`, expressions that are in it are not compiled
        again."""
        self.version = version = version or current_release()
        if hooks is None:
            empty: _Hooks = matching.Hooks(
                lambda policy: compile_mutating_policy(policy, version, memory)
            )
            hooks = empty.with_objects(policies, bindings)
        self._hooks = hooks
        self._endpoints = matching.PerEndpoint(
            lambda target, catalog: tuple(
                map(standing, matching.candidates_for(hooks, target, catalog))
            )
        )

    def replaced(
        self,
        policies: Iterable[MutatingAdmissionPolicy],
        bindings: Iterable[MutatingAdmissionPolicyBinding],
    ) -> MutatingEngine:
        """Return an engine for another set; policies that are as before are not compiled again.
        Static ones stay."""
        hooks = self._hooks.with_objects(policies, bindings)
        return MutatingEngine(version=self.version, hooks=hooks)

    def with_static(
        self,
        policies: Iterable[MutatingAdmissionPolicy],
        bindings: Iterable[MutatingAdmissionPolicyBinding],
    ) -> MutatingEngine:
        """Return an engine with another set of static policies, likewise, and the others as they
        are."""
        hooks = self._hooks.with_static(policies, bindings)
        return MutatingEngine(version=self.version, hooks=hooks)

    def prepare(self) -> MutatingEngine:
        """Leave nothing to be compiled while requests are decided."""
        for hook in self._hooks.all:
            hook.compiled.prepare()
        return self

    @property
    def policies(self) -> Sequence[CompiledMutatingPolicy]:
        """Return the compiled policies, in their order."""
        return tuple(hook.compiled for hook in self._hooks.all)

    def concerns(self, request: Request, world: World) -> bool:
        """Return whether any policy could have a say in requests like this one. Cheap."""
        return bool(self._candidates(request, world))

    def param_sources(self, request: Request, world: World) -> Iterator[ParamSource]:
        """Yield where those policies have their params from."""
        candidates = (item.candidate.source for item in self._candidates(request, world))
        return (source for source in candidates if source is not None)

    def rounds(
        self,
        world: World,
        kinds: MutatedKinds,
        observer: MutationObserver | None = None,
        contexts: Contexts = RequestContext,
    ) -> PolicyRounds:
        """Return the rounds for one request. The observer is told of each mutation; `contexts` are
        of those who look on."""
        return PolicyRounds(self._candidates, world, kinds, observer, contexts)

    def hooks_for(self, request: Request) -> tuple[matching.Hook[CompiledMutatingPolicy], ...]:
        """Return the policies that requests for a resource are shown to, in the order in which they
        are asked."""
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
        """Return the object as round 0 leaves it, or round 1 with the object as the other plugins
        have left it. Raises StatusError where the request is refused."""
        state = self._reinvocation
        if number and request.object != state.last:
            state.changed()
        context = self._contexts(request, self._world)
        failures: list[MutationFailure] = []
        planned = list(self._planned(context, failures))
        result = request.object
        if planned:
            context.namespace_object()
            result = self._invoked(planned, context, failures, number)
        state.last = result
        self.notes.failures += failures
        # Whoever asked for a generated name is refused under what the object is called by now.
        refused = (
            refusal(replace(request, object=result, size=None), failures) if failures else None
        )
        if refused is not None:
            raise refused
        return result

    def _planned(
        self, context: RequestContext, failures: list[MutationFailure]
    ) -> Iterator[Planned]:
        for candidate, always in self._candidates(context.request, self._world):
            if always is not None:
                yield from always
                continue
            hit = matching.policy_hit(candidate, context)
            if isinstance(hit, matching.Misconfigured):
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
        for invocation in matching.invocations(candidate, context):
            if isinstance(invocation, matching.Misconfigured):
                failures.append(_misconfigured(candidate, invocation))
            elif isinstance(invocation, matching.Passed):
                self._note(candidate, invocation.outcome, invocation.binding)
            else:
                try:
                    context.objects(hit.kind)
                except ConversionError as error:
                    text = f"failed to configure policy: {error}"
                    misconfigured = matching.Misconfigured(text, MATCH_CONSTRAINTS)
                    failures.append(_misconfigured(candidate, misconfigured))
                    continue
                for param in invocation.params:
                    yield planned(candidate, invocation.bound.binding.name, hit, param)

    def _note(self, candidate: _Candidate, outcome: Outcome, binding: str = "") -> None:
        self.notes.notes.append(Note(outcome, candidate.compiled.name, binding))

    def _invoked(
        self,
        planned: Sequence[Planned],
        context: RequestContext,
        failures: list[MutationFailure],
        number: int,
    ) -> JsonObject | None:
        state, kind = self._reinvocation, context.request.kind
        versions = Versions(context)
        planner = None
        if not context.traces and any(mutation.policy.known_configurations for mutation in planned):
            planner = self._kinds.planner(kind)
        for mutation in planned:
            due = not number or mutation.key in state.reinvoked_keys
            if not (
                due and planner is not None and self._merged(mutation, planner, versions, number)
            ):
                case = MutationCase(mutation, context, versions, self._kinds)
                due = self._evaluated(mutation, case, failures, number, due=due)
            if due and mutation.policy.reinvokes:
                state.called_keys |= {mutation.key}
        if versions.is_dirty:
            state.changed()
            self.wants_another = True
        return versions.converted_back()

    def _merged(
        self, planned: Planned, planner: MergePlanner, versions: Versions, number: int
    ) -> bool:
        """Apply the known configurations of a policy; return whether that was all there is to
        it."""
        kind, observer = planned.hit.kind, self._observer
        live = versions.current(kind)
        if not planned.policy.known_configurations or live is None or kind != planner.kind:
            return False
        if observer is not None:
            observer.begin()
        changes = planned_changes(planned, live, planner, number)
        if changes is None:
            return False
        self.notes.notes.append(planned.note)
        self.notes.changes += changes
        versions.put(kind, Patched(changes[-1].after))
        if observer is not None:
            for _ in changes:
                observer.mutated(planned.policy.name, planned.binding, "")
        return True

    def _evaluated(
        self,
        planned: Planned,
        case: MutationCase,
        failures: list[MutationFailure],
        number: int,
        *,
        due: bool,
    ) -> bool:
        """Evaluate any policy; return whether its mutations were `due`, and are tried."""
        result = case.condition_result()
        if result.failure is not None:
            failures.append(case.failure(result.failure))
            return False
        if result.false_condition:
            outcome, false_condition = Outcome.CONDITION_FALSE, result.false_condition
            note = Note(
                outcome, planned.policy.name, planned.binding, planned.param_name, false_condition
            )
            self.notes.notes.append(note)
            return False
        self.notes.notes.append(planned.note)
        if due:
            case.mutate(failures, self.notes.changes, number, self._observer)
        return due


def _misconfigured(candidate: _Candidate, misconfigured: matching.Misconfigured) -> MutationFailure:
    policy = candidate.compiled
    return MutationFailure(
        policy.name,
        misconfigured.binding,
        "",
        misconfigured.text,
        FORBIDDEN,
        misconfigured.source,
        policy.ignores_failures,
    )
