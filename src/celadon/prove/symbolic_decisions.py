"""Decisions of policies and bindings about requests that are not known.

A `Scene` is one request to an endpoint with what is around it: its namespace, the params of
policies. Several sets of policies may look at the same scene; what they have in common (an
expression, a param) is then one and the same formula. `effects` is the whole decision of a set:
match constraints, selectors, match conditions, params, validations, failure policy, actions.

An expression that is not modelled becomes an unknown of its own (a `Gap`), the same wherever it
stands. What is proved with it is proved: it may come to anything. What is found with it is for the
engine to confirm.
"""

from __future__ import annotations

import enum
import functools
import json
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

import z3

from celadon.admission import Engine, ObjectWorld, Operation, Request, Source
from celadon.admission.compiled_expressions import Expression, base_environment
from celadon.admission.policies.compiled_policy import CompiledPolicy
from celadon.admission.policies.matching import BoundCandidate, Candidate, MatchPlan
from celadon.admission.policies.params import ParamError, ParamSource, looked_in, typed
from celadon.kube import FieldPath, GroupVersionKind, JsonObject, metadata, parse_api_version
from celadon.kube.defaulting import always_set
from celadon.kube.releases import answering_as
from celadon.kube.schemas import Schema, resolved, schema_for
from celadon.kube.selectors import LabelSelector, Operator, Requirement, label_selector
from celadon.kube.well_known_values import NAMESPACE_NAME, NAMESPACES
from celadon.prove import symbolic_requests
from celadon.prove.example_search import Claim, free_loops
from celadon.prove.solver_terms import FALSE, TRUE, Formula, both, either, negated, text
from celadon.prove.symbolic_evaluator import Evaluator, optional_member, taken
from celadon.prove.symbolic_functions import equal, literal
from celadon.prove.symbolic_objects import Demand, Inputs, narrowed
from celadon.prove.symbolic_values import (
    FAILS,
    Case,
    NotModelled,
    Null,
    Outcome,
    Text,
    Truth,
    Variables,
    certain,
    is_false,
    is_true,
    mapped,
)
from celadon.prove.uninterpreted_functions import Unmodelled

# --- Matching ----------------------------------------------------------------
#
# Which of the requests that are not known a policy or a binding matches.
#
# Rules have become a plan for the endpoint already (`celadon.admission`): what is left are names,
# selectors, and rules that exclude. As `hit_or_miss` of `celadon.admission.policies.matching`.

_HAS: Final = frozenset({Operator.IN, Operator.EQUALS, Operator.DOUBLE_EQUALS})
_HAS_NOT: Final = frozenset({Operator.NOT_IN, Operator.NOT_EQUALS})


def matched(plan: MatchPlan, request: symbolic_requests.SymbolicRequest) -> Formula:
    """Return where a plan matches. Raises NotModelled."""
    if plan.direct is not None:
        return _as_itself(plan, request)
    selected = TRUE
    for selector, are_selected in (
        (plan.namespace_selector, namespace_selected),
        (plan.object_selector, object_selected),
    ):
        if selector is None:
            continue
        if selector.error is not None or selector.selector is None:
            raise NotModelled("a selector that is not right")
        selected = both(selected, are_selected(selector.selector, request))
    excluded = either(request.named(hit.names) for hit in plan.excludes)
    return both(selected, negated(excluded), _as_itself(plan, request))


def _as_itself(plan: MatchPlan, request: symbolic_requests.SymbolicRequest) -> Formula:
    """Return where one of the rules takes the request; as another version of its kind it would be
    converted."""
    endpoint = request.endpoint
    hits = [
        hit
        for hit in plan.hits
        if hit.kind == endpoint.kind and hit.resource == endpoint.resource.gvr
    ]
    if len(hits) < len(plan.hits):
        raise NotModelled("a rule for another version of the kind")
    return either(request.named(hit.names) for hit in hits)


def namespace_selected(
    selector: LabelSelector, request: symbolic_requests.SymbolicRequest
) -> Formula:
    """Return where a namespace selector takes the request: always if it is in no namespace."""
    endpoint = request.endpoint
    if endpoint.resource.gvr == NAMESPACES:
        is_written = endpoint.operation in (Operation.CREATE, Operation.UPDATE)
        return satisfied(selector, request.object if is_written else request.old_object)
    if not endpoint.resource.namespaced:
        return TRUE
    return satisfied(selector, request.namespace, request.namespace_name)


def object_selected(selector: LabelSelector, request: symbolic_requests.SymbolicRequest) -> Formula:
    """Return where an object selector takes the new object or the old one."""
    outcomes = [item for item in (request.object, request.old_object) if not _is_null(item)]
    return either(satisfied(selector, outcome) for outcome in outcomes)


def _is_null(outcome: Outcome) -> bool:
    return all(isinstance(case.value, Null) for case in outcome.cases)


def satisfied(selector: LabelSelector, labels: Outcome, namespace: Text | None = None) -> Formula:
    """Return where the labels of an object are as a selector demands. A `namespace` is the name of
    what is a namespace, where that is a label, too."""
    if selector.nothing:
        return FALSE
    return both(*(_holds(requirement, labels, namespace) for requirement in selector.requirements))


def _holds(requirement: Requirement, labels: Outcome, namespace: Text | None) -> Formula:
    if namespace is not None and requirement.key == NAMESPACE_NAME:
        has_label, values = TRUE, certain(namespace)
    else:
        has_label, values = _label(labels, requirement.key)
    is_in = _one_of(values, requirement.values)
    operator = requirement.operator
    if operator in _HAS:
        return both(has_label, is_in)
    if operator in _HAS_NOT:
        return either((negated(has_label), negated(is_in)))
    if operator is Operator.EXISTS:
        return has_label
    if operator is Operator.DOES_NOT_EXIST:
        return negated(has_label)
    raise NotModelled("a selector that compares numbers")


def _one_of(outcome: Outcome, texts: Sequence[str]) -> Formula:
    return either(
        both(case.guard, equal(case.value, literal(word)))
        for case in outcome.cases
        for word in texts
    )


def _label(labels: Outcome, key: str) -> tuple[Formula, Outcome]:
    """Return where there is a label, and its value."""
    for name in ("metadata", "labels", key):
        labels = mapped(labels, functools.partial(optional_member, key=Text(text(name))))
    presence, values, _ = taken(labels)
    return presence, values


ACTIONS: Final = ("Deny", "Warn", "Audit")
"""Of bindings, in the order of `Effects`."""

WHOLE: Final = Source()
MATCH_CONSTRAINTS: Final = Source(FieldPath("spec", "matchConstraints"))
MATCH_RESOURCES: Final = Source(FieldPath("spec", "matchResources"), in_binding=True)


class Effects(NamedTuple):
    """Formulas that hold where a request is refused, warned about, recorded."""

    denied: Formula = FALSE
    warned: Formula = FALSE
    audited: Formula = FALSE

    @classmethod
    def of_all(cls, parts: Iterable[Effects]) -> Effects:
        """Return what several policies do together."""
        each = list(parts)
        return cls(*(either(item[number] for item in each) for number in range(3)))

    def where(self, condition: Formula) -> Effects:
        """Return the same under a condition."""
        return Effects(*(both(condition, item) for item in self))


@dataclass(frozen=True, slots=True)
class Gap:
    """Names something of a policy that is not modelled. `offset` is where in its expression that
    is, if it is an expression."""

    reason: str
    policy: str
    source: Source
    offset: int | None = None


class Param(NamedTuple):
    """An object that policies are given. `there` is whether it exists."""

    presence: Formula
    object: Outcome
    is_given: bool = False
    """Whether it is in a file; of others the model says what they are."""


_Key: TypeAlias = tuple[str, tuple[tuple[str, str | None], ...], str, bool, str]
"""All that the outcome of an expression depends on: its text, that of the variables it may read
(None: one that does not compile), the params, whether it is a match condition, and the release."""


class Sought(enum.Enum):
    """The example that is looked for: a request that a set refuses, or one that it admits."""

    REFUSED = "refused"
    ADMITTED = "admitted"


@dataclass(slots=True)
class Scene:
    """A request that is not known, and what policies look up for it."""

    endpoint: symbolic_requests.Endpoint
    inputs: Inputs
    version: str
    kinds: symbolic_requests.KnownKinds = symbolic_requests.BUILT_IN
    request: symbolic_requests.SymbolicRequest = field(init=False)
    unmodelled: Unmodelled = field(init=False)
    params: dict[str, Param] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    outcomes: dict[tuple[_Key, Claim | None], tuple[Outcome, Demand]] = field(default_factory=dict)
    """Outcomes, and what they ask of lists: so does every question that uses them."""
    opaque_ones: dict[_Key, Outcome] = field(default_factory=dict)
    plans: list[tuple[MatchPlan, Formula]] = field(default_factory=list)
    has_several_params: bool = False
    """Whether a binding selects params, of which one is looked at (`Decider`)."""
    _variable: Outcome = field(init=False)

    def __post_init__(self) -> None:
        self.request = symbolic_requests.SymbolicRequest(
            self.endpoint, self.inputs, kinds=self.kinds
        )
        env = base_environment(self.version, has_params=True, authorizer=True)
        self.unmodelled = Unmodelled(env, inputs=self.inputs)
        self._variable = self.request.variable()

    def variables(self, release: str) -> dict[str, Outcome]:
        """Return what every expression may name of the request, as a release sees it. Raises
        NotModelled."""
        request = self.request
        result = {
            "object": request.object,
            "oldObject": request.old_object,
            "request": self._variable,
            "namespaceObject": request.namespace,
        }
        if release != self.version:
            for name, value in result.items():
                kind = (
                    symbolic_requests.NAMESPACE if name == "namespaceObject" else self.endpoint.kind
                )
                if name != "request":
                    result[name] = _as_of(release, kind, value)
        return result

    def opaque(self, gap: Gap) -> Outcome:
        """Return a bool or an error, and nobody knows which."""
        self.gaps.append(gap)
        number = len(self.gaps)
        error, value = z3.Bool(f"gap {number} fails"), z3.Bool(f"gap {number}")
        return Outcome(error, (Case(negated(error), Truth(value)),))

    def example(self, model: z3.ModelRef) -> Sketch:
        """Return the request of a model."""
        request, around = self.request.example(model)
        result = list(around)
        outcomes = [
            param.object
            for param in self.params.values()
            if not param.is_given and z3.is_true(model.eval(param.presence, model_completion=True))
        ]
        completed = (self.request.completed(outcome, model) for outcome in outcomes)
        result += [item for item in completed if item is not None]
        old = request.old_object
        if old is not None and self.endpoint.resource.gvr == NAMESPACES:
            result.append(old)
        written = [
            self.request.written(item, model)
            for item in (
                self.request.object,
                self.request.old_object,
                self.request.namespace,
                *outcomes,
            )
        ]
        facts = (item for item in written[2:] if item is not None and not _is_name_only(item))
        return Sketch(request, tuple(result), written[0], written[1], tuple(facts))


class Sketch(NamedTuple):
    """A request of a model, its objects as the server completes them; `around` are those that it
    needs to be there. `object`, `old_object` and `told` say no more than the model does."""

    request: Request
    around: tuple[JsonObject, ...]
    object: JsonObject | None
    old_object: JsonObject | None
    told: tuple[JsonObject, ...]


def _is_name_only(value: JsonObject) -> bool:
    """Return whether it is a Namespace of which nothing is said but its name."""
    if value.get("kind") != "Namespace" or not {"apiVersion", "kind", "metadata"}.issuperset(value):
        return False
    labels = {NAMESPACE_NAME: metadata.name(value)}
    about = metadata.metadata(value)
    return {"name", "labels"}.issuperset(about) and about.get("labels", labels) == labels


def _as_of(release: str, kind: GroupVersionKind, outcome: Outcome) -> Outcome:
    """Return an object as an older release sees it. Raises NotModelled."""
    newer = frozenset(always_set(kind))
    with answering_as(release):
        schema, older = schema_for(kind), frozenset(always_set(kind))
        if schema is None:
            return outcome
        if older - newer or any(_has_path(schema, word) for word in newer - older):
            raise NotModelled("defaults that differ between the releases")
    return narrowed(outcome, schema, release)


def _has_path(schema: Schema, path: str) -> bool:
    """Return whether there is a field, as rules of defaulting name it:
    `spec.containers[*].image`."""
    inner: Schema | None = schema
    for name in path.split("."):
        if inner is None:
            return False
        inner = resolved(inner).properties.get(name.removesuffix("[*]").removesuffix("{*}"))
        if inner is not None and name.endswith("]"):
            inner = resolved(inner).items
        elif inner is not None and name.endswith("}"):
            inner = resolved(inner).additional_properties
    return inner is not None


def target(endpoint: symbolic_requests.Endpoint) -> Request:
    """Return a request to the endpoint, as far as it is the same for all of them."""
    return Request(
        endpoint.operation,
        endpoint.kind,
        endpoint.resource.gvr,
        endpoint.subresource,
        namespace="default" if endpoint.resource.namespaced else "",
    )


@dataclass(slots=True)
class Decider:
    """One set of policies in a scene. `given` are the params that its files have; `sought` is what
    is looked for, if it is about refusals alone."""

    scene: Scene
    engine: Engine
    object_world: ObjectWorld
    sought: Sought | None = None

    def effects(self, only: frozenset[str] | None = None) -> Effects:
        """Return what the set decides, or those of its policies that are named here."""
        candidates = self.engine.candidates(target(self.scene.endpoint), self.object_world)
        return Effects.of_all(
            self._guarded(candidate)
            for candidate in candidates
            if only is None or candidate.compiled.name in only
        )

    def _guarded(self, candidate: Candidate[CompiledPolicy]) -> Effects:
        try:
            return self._policy(candidate)
        except NotModelled as error:
            gap = Gap(str(error), candidate.compiled.name, WHOLE)
            return Effects(*(is_true(self.scene.opaque(gap)) for _ in ACTIONS))

    def _policy(self, candidate: Candidate[CompiledPolicy]) -> Effects:
        policy = candidate.compiled
        where = self._matched(candidate.plan, policy, MATCH_CONSTRAINTS)
        if candidate.error:
            return self._misconfigured(policy).where(where)
        result = []
        for bound in candidate.bindings:
            look = self._look(candidate.source, bound)
            misconfigured = self._misconfigured(policy) if look.is_missed else Effects()
            # A param that is missing is either no reason to do anything, or one to refuse.
            if look.presence is not FALSE:
                decided = self._decided(policy, look, bound.binding.spec.validation_actions)
                misconfigured = Effects.of_all(
                    [decided.where(look.presence), misconfigured.where(negated(look.presence))]
                )
            result.append(misconfigured.where(self._matched(bound.plan, policy, MATCH_RESOURCES)))
        return Effects.of_all(result).where(where)

    def _misconfigured(self, policy: CompiledPolicy) -> Effects:
        """Return what follows from what cannot be used: a refusal, whatever the actions are."""
        return Effects() if policy.ignores_failures else Effects(TRUE)

    def _matched(self, plan: MatchPlan, policy: CompiledPolicy, source: Source) -> Formula:
        scene = self.scene
        for other, formula in scene.plans:
            if other == plan:
                return formula
        try:
            result = matched(plan, scene.request)
        except NotModelled as error:
            result = is_true(scene.opaque(Gap(str(error), policy.name, source)))
        scene.plans.append((plan, result))
        return result

    # Params.

    def _look(self, source: ParamSource | None, bound: BoundCandidate) -> _ParamLookup:
        """Return what a binding gives its policy. Of the params of a selector one is enough: what
        one of them does is done, and nothing is done where each of them alone does nothing."""
        ref = bound.binding.spec.param_ref
        if source is None or ref is None:
            return _ParamLookup(TRUE, "", certain(Null()))
        is_own = source.namespaced and not ref.namespace
        if is_own and self.scene.endpoint.resource.gvr == NAMESPACES:
            raise NotModelled("params in the namespace that the request is about")
        try:
            place = looked_in(source, ref, "" if self.scene.request.namespace_name is None else "?")
        except ParamError:
            return _ParamLookup(FALSE, "", FAILS, is_missed=True)
        resource = [
            item
            for item in self.object_world.list(source.resource, "" if is_own else place)
            if not ref.name or metadata.name(item) == ref.name
        ]
        where = self.scene.request.namespace_name if is_own else place or None
        key_parts = [
            str(source.resource),
            "" if is_own else place,
            ref.name,
            ref.selector,
            resource,
        ]
        key = json.dumps(key_parts)
        param = self.scene.params.get(key)
        if param is None:
            if ref.name and resource and not is_own:
                document = typed(resource[0], source)
                param = Param(TRUE, certain(literal(document)), is_given=True)
            else:
                param = self._param(source, ref.name, ref.selector, where)
            self.scene.params[key] = param
        is_missed = ref.parameter_not_found_action == ACTIONS[0]
        outcome = param.object
        if not param.is_given and self.engine.version != self.scene.version:
            outcome = _as_of(self.engine.version, _kind_of(source), outcome)
        return _ParamLookup(param.presence, key, outcome, is_missed=is_missed)

    def _param(
        self, source: ParamSource, name: str, selector: JsonObject | None, where: Text | str | None
    ) -> Param:
        """Return any object of its kind that may be there."""
        scene = self.scene
        path = f"params {len(scene.params) + 1}" if scene.params else "params"
        param = scene.request.param(_kind_of(source), path, name, where)
        scene.has_several_params |= not name
        presence = scene.inputs.presence(path)
        if selector is not None:
            selected = satisfied(label_selector(selector), param)
            scene.inputs.assumed.append(either((negated(presence), selected)))
        return Param(presence, param)

    # Expressions.

    def _decided(
        self, policy: CompiledPolicy, look: _ParamLookup, actions: Sequence[str]
    ) -> Effects:
        """One policy with one param, for a binding with these actions. As `_Case` of
        `celadon.admission.policies.compiled_policy`."""
        conditions = [
            self._outcome(policy, condition.expression, look, in_condition=True)
            for condition in policy.conditions
        ]
        # A condition that is false skips the policy, whatever the others fail with; only where none
        # is false does a failing one count.
        skipped = either(map(is_false, conditions))
        failed = both(negated(skipped), either(condition.error for condition in conditions))
        is_evaluated = both(negated(skipped), negated(failed))
        against = [] if policy.ignores_failures else [failed]
        for validation in policy.validations:
            with self._alternative():
                outcome = self._outcome(
                    policy, validation.expression, look, claim=self._claim(policy)
                )
            wrong = negated(is_true(outcome))
            if policy.ignores_failures:
                wrong = both(wrong, negated(outcome.error))
            against.append(both(is_evaluated, wrong))
        violated = either(against)
        # An annotation that fails refuses the request whatever the actions of the binding are.
        annotations = [
            self._outcome(policy, annotation.expression, look) for annotation in policy.annotations
        ]
        refused = (
            FALSE
            if policy.ignores_failures
            else either(annotation.error for annotation in annotations)
        )
        effects = Effects(*(violated if action in actions else FALSE for action in ACTIONS))
        return Effects.of_all([effects, Effects(both(is_evaluated, refused))])

    def _outcome(
        self,
        policy: CompiledPolicy,
        expression: Expression,
        look: _ParamLookup,
        *,
        in_condition: bool = False,
        claim: Claim | None = None,
    ) -> Outcome:
        if expression.program is None:
            return FAILS
        variables = tuple(
            (name, None if variable.program is None else variable.text)
            for name, variable in policy.variables.items()
        )
        key = (
            expression.text,
            variables if "variables" in expression.text else (),
            look.key,
            in_condition,
            self.engine.version,
        )
        outcomes, opaque = self.scene.outcomes, self.scene.opaque_ones
        if key in opaque:
            return opaque[key]
        if (key, claim) in outcomes:
            known_outcome, demand = outcomes[key, claim]
            self.scene.inputs.demand(demand)
            return known_outcome
        outcome, demand = self.scene.inputs.evaluated(
            lambda: self._new_outcome(policy, expression, look, claim, in_condition=in_condition)
        )
        if isinstance(outcome, Gap):
            opaque[key] = self.scene.opaque(outcome)
            return opaque[key]
        outcomes[key, claim] = outcome, demand
        return outcome

    def _alternative(self) -> AbstractContextManager[None]:
        """One validation is enough to refuse a request."""
        if self.sought is not Sought.REFUSED:
            return nullcontext()
        return self.scene.inputs.alternative()

    def _claim(self, policy: CompiledPolicy) -> Claim | None:
        """Return what is claimed of a validation; None if nothing is looked for."""
        if self.sought is None:
            return None
        is_refused = self.sought is Sought.REFUSED
        if policy.ignores_failures:  # then only what is false refuses
            return Claim(value=False, holds=is_refused)
        return Claim(value=True, holds=not is_refused)

    def _new_outcome(
        self,
        policy: CompiledPolicy,
        expression: Expression,
        look: _ParamLookup,
        claim: Claim | None,
        *,
        in_condition: bool,
    ) -> Outcome | Gap:
        scope: dict[str, Outcome] = {}
        values: dict[str, Outcome] = {}
        places: list[tuple[Source, int | None]] = []

        def evaluated(candidate: Expression) -> Outcome:
            if candidate.program is None:
                return FAILS
            checked = candidate.program.checked
            evaluator = Evaluator(checked, self.scene.unmodelled)
            if claim is not None and candidate is expression:
                evaluator.free = free_loops(checked.root, claim)
            try:
                return evaluator.evaluate(scope)
            except NotModelled:
                places.append((candidate.source, checked.ast.positions.get(evaluator.place[0].id)))
                raise

        def variable(name: str) -> Outcome:
            if name not in values:
                values[name] = evaluated(policy.variables[name])
            return values[name]

        scope["variables"] = certain(Variables(variable))
        try:
            scope |= {**self.scene.variables(self.engine.version), "params": look.object}
            if in_condition:
                scope["namespaceObject"] = certain(Null())
            return evaluated(expression)
        except NotModelled as error:
            place = places[0] if places else (expression.source, None)
            return Gap(str(error), policy.name, *place)


def _kind_of(source: ParamSource) -> GroupVersionKind:
    group, version = parse_api_version(source.kind.api_version)
    return GroupVersionKind(group, version, source.kind.kind)


class _ParamLookup(NamedTuple):
    """The params of a binding: `key` says which these are. `is_missed`: without them the binding
    cannot be used."""

    presence: Formula
    key: str
    object: Outcome
    is_missed: bool = False
