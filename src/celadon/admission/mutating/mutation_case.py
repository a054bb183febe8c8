"""One mutating policy with one param on one request: its conditions, then its mutations in order.

`Versions` is the object as it is by now, in each version that policies match it in. A mutation
works on the result of the one before, with variables and a budget of its own; an error in one does
not keep the next from running.
"""

from __future__ import annotations

from typing import Any

from celadon.admission import policy_limits
from celadon.admission.expressions.activation import RequestContext
from celadon.admission.expressions.match_conditions import MATCHED, ConditionResult
from celadon.admission.expressions.metering import Failure, OutOfBudget, attempt
from celadon.admission.mutating.compiled_mutations import CompiledMutation
from celadon.admission.mutating.mutation_records import Change, MutationObserver
from celadon.admission.mutating.mutation_refusals import INVALID, MutationFailure
from celadon.admission.mutating.native_values import DataValues
from celadon.admission.mutating.patchers import apply_configuration, apply_patch
from celadon.admission.mutating.planned_mutations import Planned
from celadon.admission.policy.evaluation_phases import Phases
from celadon.kube import GroupVersionKind, JsonObject, StatusError
from celadon.kube.apply import MutatedKinds, MutationRefused, Patched


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
        """As it is by now; None for a request without an object."""
        found = self._current.get(kind)
        return self._context.objects(kind)[0] if found is None else found

    def put(self, kind: GroupVersionKind, patched: Patched) -> None:
        """What a mutation has made of it."""
        self._current[kind] = patched.made
        self._spoiled[kind] = patched.spoiled
        self._last = kind

    @property
    def is_dirty(self) -> bool:
        """Whether any mutation was applied."""
        return self._last is not None

    def converted_back(self) -> JsonObject | None:
        """What remains. Raises StatusError (500) for an object that has become another one."""
        context, last = self._context, self._last
        if last is None:
            return context.request.object
        spoiled = self._spoiled[last]
        if spoiled is not None:
            raise spoiled
        made, kind = self._current[last], context.request.kind
        return made if last == kind else context.world.convert(made, kind)


class MutationCase:
    """What is to be done for one `Planned`."""

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
        self._kinds = kinds
        context.begin(planned.policy.name, planned.binding, planned.param_name, planned.hit)

    def condition_result(self) -> ConditionResult:
        """What the match conditions say of the object as it is by now."""
        if not self._policy.conditions:
            return MATCHED
        return self._phases(self._versions.current(self._hit.kind)).condition_result()

    def mutate(
        self,
        failures: list[MutationFailure],
        changes: list[Change],
        number: int,
        observer: MutationObserver | None = None,
    ) -> None:
        """The mutations in their order, each on what those before it have made. Raises
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
                failure = Failure(str(error), mutation.expression.source)
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
                    patched.made,
                )
            )
            live = patched.made

    def _patched(self, mutation: CompiledMutation, live: JsonObject) -> Patched:
        """MutationRefused, _Failed, StatusError."""
        kinds, kind, wanted = self._kinds, self._hit.kind, self._context.request.kind
        if mutation.known is not None and not self._context.traces:
            config = mutation.known.fitting(kinds, kind)
            if config is not None:
                return Patched(kinds.merged(live, config, kind, wanted, fits=True))
        expression = mutation.expression
        if expression.program is None:
            raise _Failed(Failure(expression.detail, expression.source))
        phases = self._phases(live)
        activation = phases.activation(authorizer=True)
        run = phases.begin(activation, self._context.meter(policy_limits.RUNTIME_COST_BUDGET))
        try:
            value, failure = attempt(run, expression, activation)
        except OutOfBudget as error:
            raise _Failed(error.failure) from None
        if failure is not None:
            raise _Failed(failure)
        apply = apply_patch if mutation.is_patch else apply_configuration
        data = DataValues(activation[name] for name in _DATA)
        return apply(value, live, data, kinds, kind, wanted)

    def _phases(self, live: JsonObject | None) -> Phases:
        """Whether an object is small enough for an expression need not be asked: to count what the
        expression of a mutation costs is quicker than to find out how large each object is."""
        policy, context = self._policy, self._context
        base: dict[str, Any] = {**context.activation(self._hit), "object": live}
        plain = policy.plain_size >= policy_limits.UNBOUNDED_SIZE and not context.traces
        return Phases(policy, self._hit, self._param, context, base, plain=plain)

    def _failed(
        self, failure: Failure, index: int, observer: MutationObserver | None
    ) -> MutationFailure:
        self._observed(observer, failure.text)
        return self.failure(failure, index)

    def _observed(self, observer: MutationObserver | None, failure: str) -> None:
        if observer is not None:
            observer.mutated(self._policy.name, self._planned.binding, failure)

    def failure(self, failure: Failure, index: int | None = None) -> MutationFailure:
        """What went wrong, in a condition or in a mutation."""
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


_DATA = ("object", "oldObject", "params", "request", "namespaceObject")


class _Failed(Exception):
    """The expression of a mutation gave nothing."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.text)
        self.failure = failure
