"""A mutating policy to a `CompiledMutatingPolicy`: its programs, and what is known beforehand.

As with validating policies, an expression that does not compile stays, with its error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from celadon import kube
from celadon.admission import decision_source, policy_limits
from celadon.admission.activation import Hit
from celadon.admission.compiled_expressions import Expression, ExpressionMemory, PolicyScope
from celadon.admission.decision_source import Source
from celadon.admission.policies import compiled_policy, params
from celadon.admission.policies.matching import Candidate
from celadon.admission.registration import registration_types
from celadon.admission.request import Request, error_name
from celadon.admission.verdict import Note, Outcome
from celadon.cel import EvaluationError, Program, mapped_element, types
from celadon.cel.syntax import CONDITIONAL, Call, Comprehension, Expr, Ident, Select, Struct, walk
from celadon.kube.fieldmanager import EveryItem, MergePlanner, MutatedKinds, Plan, Unplanned
from celadon.kube.go import quote
from celadon.kube.json_types import JsonDict
from celadon.kube.library import PatchObject
from celadon.kube.releases import current_release
from celadon.records import dataclass, field, replace

# --- What is noted of mutations ----------------------------------------------
#
# What mutating policies have done to an object, for those who tell others.

# --- Mutation refusals -------------------------------------------------------
#
# Failures of mutating policies, and the Status that refuses a request because of them.
#
# As k8s.io/apiserver `pkg/admission/plugin/policy/generic/policy_dispatcher.go`.

INVALID: Final = "Invalid"
FORBIDDEN: Final = "Forbidden"


@dataclass(frozen=True, slots=True)
class MutationFailure:
    """Tells that a mutation failed. `binding` is empty for an error of the policy itself. `reason`
    is Invalid for what went wrong in an evaluation, Forbidden for a wrong configuration. `index` is
    that of the mutation; None for all else."""

    policy: str
    binding: str
    param: str
    text: str
    reason: str
    source: Source
    ignored: bool
    index: int | None = None

    @property
    def message(self) -> str:
        """Return the text that a client is told."""
        if self.binding:
            subject = f"policy '{self.policy}' with binding '{self.binding}'"
        else:
            subject = f"policy {quote(self.policy)}"
        return f"{subject} denied request: {self.text}"


def refusal(request: Request, failures: Sequence[MutationFailure]) -> kube.StatusError | None:
    """Return a refusal (403) with a cause for every failure that is not ignored; the first is the
    message. Returns None if there is none."""
    result = [failure for failure in failures if not failure.ignored]
    if not result:
        return None
    resource = request.resource.group_resource
    return kube.StatusError(
        kube.Status(
            message=result[0].message,
            reason=result[0].reason,
            details=kube.StatusDetails(
                name=error_name(request),
                group=resource.group,
                kind=resource.resource,
                causes=tuple(kube.StatusCause(message=failure.message) for failure in result),
            ),
            code=403,
        )
    )


# House rule 9: nobody assigns to its fields, but it is not frozen: each mutation makes one, and a
# frozen one takes several times as long.
@dataclass(slots=True)
class Change:
    """One mutation that was applied, whether or not it made a difference. `round` is 0 or 1."""

    policy: str
    binding: str
    param: str
    index: int
    source: Source
    round: int
    before: kube.JsonObject
    after: kube.JsonObject


class MutationObserver(Protocol):
    """Takes notice of what mutations came to, one after the other: for measuring."""

    def begin(self) -> object:
        """Begin before the mutations of a policy with one param; what it returns is nobody's
        business."""

    def mutated(self, policy: str, binding: str, failure: str) -> None:
        """Note that a mutation was tried; `failure` is empty if it was applied."""


@dataclass(slots=True)
class MutationNotes:
    """Holds what happened to one request: the mutations in their order, failures, also those that
    were ignored, and what had no say."""

    changes: list[Change] = field(default_factory=list)
    failures: list[MutationFailure] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


# --- Known configurations ----------------------------------------------------
#
# Configurations that are known before a request comes, and what is prepared for them.
#
# Most policies that set a label or a field or add a sidecar do it without looking at the
# object. Most of the others set something in each item of a list:
#
#     Object{spec: Object.spec{containers: object.spec.containers.map(c,
#         Object.spec.containers{name: c.name, imagePullPolicy: 'Always'})}}
#
# Of these only the names are not known. Such a configuration is constructed once, with one item
# that stands for all; each kind has a plan for merging it (`MergePlanner`). Where an object
# does not let itself be merged by the plan, the expression is evaluated.

_Path = tuple[str, ...]
_OBJECT: Final = "object"
_ANY_KEY: Final = "any"
"""The key of the item that stands for all."""


class KnownConfiguration:
    """The value of one expression, and of which lists it has `every` item. What it is as a
    configuration, and the plans for it, are remembered for built-in kinds: those of definitions may
    change."""

    __slots__ = ("_bases", "_every", "_plans", "_value")

    def __init__(self, value: PatchObject, every: Mapping[_Path, EveryItem]) -> None:
        self._value = value
        self._every = every
        self._bases: dict[kube.GroupVersionKind, kube.JsonObject | None] = {}
        self._plans: dict[MergePlanner, Plan | None] = {}

    def plan(self, planner: MergePlanner) -> Plan | None:
        """Return how it is merged (see `MergePlanner`); None if that has to be found out each
        time."""
        try:
            return self._plans[planner]
        except KeyError:
            plan = self._plans[planner] = planner.plan(self._value, self._every)
            return plan

    def fitting(self, kinds: MutatedKinds, kind: kube.GroupVersionKind) -> kube.JsonObject | None:
        """Work as `MutatedKinds.fitting`. None if it is not the same for all objects."""
        if self._every:
            return None
        if kinds.custom(kind) is not None:
            return kinds.fitting(self._value, kind)
        if kind not in self._bases:
            self._bases[kind] = kinds.fitting(self._value, kind)
        return self._bases[kind]


def constant_configuration(expression: Expression) -> KnownConfiguration | None:
    """Return what an expression that names no variable gives. None for any other, and for one that
    fails."""
    program = expression.program
    if program is None or not program.is_constant:
        return None
    value = _value(program, {})
    return None if value is None else KnownConfiguration(value, {})


def itemwise_configuration(expression: Expression) -> KnownConfiguration | None:
    """Return what an expression gives that names nothing but the items of lists, at the places of
    these lists. None for any other, and for one that fails."""
    program = expression.program
    copied = None if program is None else _copied(program.checked.root, ())
    if program is None or not copied:
        return None
    value = _value(program, _with_items(copied, 1))
    if value is None:
        return None
    most = _most(program, copied)
    return KnownConfiguration(
        value, {path: EveryItem(value, most) for path, value in copied.items()}
    )


def _value(program: Program, activation: kube.JsonObject) -> PatchObject | None:
    try:
        value = program.evaluate(activation)
    except EvaluationError:
        return None
    return value if isinstance(value, PatchObject) else None


def _copied(node: Expr, path: _Path) -> dict[_Path, frozenset[str]] | None:
    """Return by the paths of lists with every item the fields that are copied from it. None for
    anything that is not known."""
    if not any(isinstance(part, Ident) for part in walk(node)):
        return {}
    match node:
        case Struct():
            result: dict[_Path, frozenset[str]] = {}
            for field in node.fields:
                copied = _copied(field.value, (*path, field.name))
                if copied is None or field.optional:
                    return None
                result |= copied
            return result
        case Comprehension():
            fields = _copied_fields(node, path)
            return None if fields is None else {path: fields}
    return None


def _copied_fields(node: Comprehension, path: _Path) -> frozenset[str] | None:
    """Return the fields like `name` of `object.<path>.map(c, Object.<path>{name: c.name, ...})`, if
    all others are known."""
    item = mapped_element(node)
    if not isinstance(item, Struct) or _selected(node.iter_range) != (_OBJECT, *path):
        return None
    copied = set()
    for member in item.fields:
        if _selected(member.value) == (node.iter_var, member.name):
            copied.add(member.name)
        elif any(isinstance(part, Ident) for part in walk(member.value)):
            return None
        if member.optional:
            return None
    return frozenset(copied)


def _selected(node: Expr) -> _Path:
    """`a.b.c` as its names; empty for anything else."""
    names: list[str] = []
    while isinstance(node, Select) and not node.test_only:
        names.append(node.field)
        node = node.operand
    return (node.name, *reversed(names)) if isinstance(node, Ident) else ()


def _with_items(copied: Mapping[_Path, frozenset[str]], times: int) -> dict[str, object]:
    """Return an object with so many items in each of the lists."""
    result: JsonDict = {}
    for path, fields in copied.items():
        node = result
        for name in path[:-1]:
            node = node.setdefault(name, {})
        node[path[-1]] = [dict.fromkeys(fields, _ANY_KEY)] * times
    return {_OBJECT: result}


def _most(program: Program, copied: Mapping[_Path, frozenset[str]]) -> int:
    """Return how many items each list may have, so that no limit on costs is reached. An item costs
    the same as another."""
    cost_once, cost_twice = (
        program.evaluate_metered(_with_items(copied, times))[1] for times in (1, 2)
    )
    limit = min(policy_limits.PER_CALL_COST, policy_limits.RUNTIME_COST_BUDGET)
    return max(0, (limit - cost_once) // max(1, cost_twice - cost_once))


# Upstream takes lists of cel-go apart, but for those that hold texts of Go, which are none to it.
_MAKES_TEXTS: Final = frozenset({"findAll", "split"})


def text_lists(expression: Expression, made: Mapping[str, Expr]) -> frozenset[tuple[str, str]]:
    """Return in which fields of which types an expression puts lists that Go holds as texts; `made`
    are the expressions of variables."""
    program = expression.program
    if program is None:
        return frozenset()
    return frozenset(
        (node.type_name, field.name)
        for node in walk(program.checked.root)
        if isinstance(node, Struct)
        for field in node.fields
        if _is_text_list(field.value, made)
    )


def _is_text_list(node: Expr | None, made: Mapping[str, Expr]) -> bool:
    if node is None:
        return False
    if isinstance(node, Call):
        if node.function == CONDITIONAL:
            return all(_is_text_list(branch, made) for branch in node.args[1:])
        return node.function in _MAKES_TEXTS
    names = _selected(node)
    return len(names) == 2 and names[0] == "variables" and _is_text_list(made.get(names[1]), made)


IF_NEEDED: Final = "IfNeeded"

CONFIGURATION_RESULT: Final = (types.object_type("Object"),)
PATCH_RESULT: Final = (types.list_of(types.object_type("JSONPatch")),)


@dataclass(frozen=True, slots=True)
class CompiledMutation:
    """Holds one mutation, ready to be applied. `is_patch`: a JSON patch, else a configuration,
    which may be known before a request comes. `text_lists` as `text_lists` finds them."""

    expression: Expression
    is_patch: bool
    known_configuration: KnownConfiguration | None = None
    text_lists: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class CompiledMutatingPolicy(compiled_policy.PolicyFrame):
    """Holds a mutating policy, ready to be applied. `reinvokes`: whether it wants to see what
    others have changed after it. `known_configurations` are the configurations of its mutations,
    and the fields that these are from, if all of them are known and there are no conditions; else
    there are none."""

    mutations: tuple[CompiledMutation, ...]
    reinvokes: bool
    known_configurations: tuple[tuple[KnownConfiguration, Source], ...]

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Return the expressions that all policies have, and those of the mutations."""
        return (*self.frame_expressions, *(mutation.expression for mutation in self.mutations))


def compile_mutating_policy(
    policy: registration_types.MutatingAdmissionPolicy,
    version: str | None = None,
    memory: ExpressionMemory | None = None,
) -> CompiledMutatingPolicy:
    """Compile it as a stored policy: everything this version of Kubernetes knows may be used.
    Expressions in the `memory` are not compiled again."""
    spec = policy.spec
    scope, variables, conditions = compiled_policy.compile_frame(
        policy.name, spec, version or current_release(), memory
    )
    made = {
        name: variable.program.checked.root
        for name, variable in variables.items()
        if variable.program is not None
    }
    mutations = tuple(
        _mutation(i, mutation, scope, made) for i, mutation in enumerate(spec.mutations)
    )
    phases = (
        compiled_policy.condition_phase(conditions),
        *(compiled_policy.Phase((mutation.expression,)) for mutation in mutations),
    )
    sizes = compiled_policy.PlainSizes(variables, phases)
    if sizes.are_all:
        mutations = tuple(_known(mutation, constant_configuration) for mutation in mutations)
    elif not variables:
        mutations = tuple(_known(mutation, itemwise_configuration) for mutation in mutations)
    return CompiledMutatingPolicy(
        name=policy.name,
        param_kind=spec.param_kind,
        ignores_failures=spec.failure_policy == registration_types.IGNORE,
        conditions=conditions,
        variables=variables,
        uses_authorizer=compiled_policy.uses_authorizer(variables, phases),
        plain_sizes=sizes,
        mutations=mutations,
        reinvokes=spec.reinvocation_policy == IF_NEEDED,
        known_configurations=() if conditions else _all_known(mutations),
    )


def _all_known(
    mutations: tuple[CompiledMutation, ...],
) -> tuple[tuple[KnownConfiguration, Source], ...]:
    result = [
        (mutation.known_configuration, mutation.expression.source)
        for mutation in mutations
        if mutation.known_configuration is not None
    ]
    return tuple(result) if len(result) == len(mutations) else ()


def _mutation(
    index: int,
    mutation: registration_types.Mutation,
    scope: PolicyScope,
    made: Mapping[str, Expr],
) -> CompiledMutation:
    is_patch = mutation.patch_type == registration_types.JSON_PATCH
    text = mutation.json_patch if is_patch else mutation.apply_configuration
    compiled = scope.mutation(
        text or "",
        PATCH_RESULT if is_patch else CONFIGURATION_RESULT,
        stored=True,
        source=decision_source.mutation(index, is_patch=is_patch),
    )
    return CompiledMutation(compiled, is_patch, text_lists=text_lists(compiled, made))


def _known(
    mutation: CompiledMutation, find: Callable[[Expression], KnownConfiguration | None]
) -> CompiledMutation:
    """Return what costs nothing worth counting, or nothing that could be too much, and is known
    needs no evaluation for each request."""
    if mutation.is_patch or mutation.text_lists:
        return mutation
    return replace(mutation, known_configuration=find(mutation.expression))


# --- Planned mutations -------------------------------------------------------
#
# What of a round is known before it begins: who is asked about what, and what comes of it.
#
# For most policies it depends on the endpoint alone whether they are asked: they have no
# selectors and no params (`Standing`). If their configurations are known too, and have plans
# for the kind, nothing of a policy has to be evaluated for a request (`planned_changes`).


class Planned(NamedTuple):
    """A policy that is asked for one of its bindings with one param. `note` says that it was; `key`
    identifies it among all that are asked."""

    policy: CompiledMutatingPolicy
    binding: str
    hit: Hit
    param: kube.JsonObject | None
    param_name: str
    note: Note
    key: tuple[str, str, str]


def planned(
    candidate: Candidate[CompiledMutatingPolicy],
    binding: str,
    hit: Hit,
    param: kube.JsonObject | None,
) -> Planned:
    """Plan the mutations of a policy with a param as it was found."""
    policy, name = candidate.compiled, params.param_name(param)
    note = Note(Outcome.EVALUATED, policy.name, binding, name)
    untyped = params.untyped(param, candidate.source)
    return Planned(policy, binding, hit, untyped, name, note, (policy.name, binding, name))


class Standing(NamedTuple):
    """A candidate; `always` is how every request is shown to it, None if that depends on the
    request."""

    candidate: Candidate[CompiledMutatingPolicy]
    always: tuple[Planned, ...] | None


def standing(candidate: Candidate[CompiledMutatingPolicy]) -> Standing:
    """Return the configuration that is known of a mutation."""
    hit = candidate.plan.direct
    bound = candidate.bindings
    if hit is None or candidate.error or not candidate.matches_own:
        return Standing(candidate, None)
    if any(candidate.plan.direct is None or candidate.params.looks_up for candidate in bound):
        return Standing(candidate, None)
    return Standing(
        candidate, tuple(planned(candidate, item.binding.name, hit, None) for item in bound)
    )


def planned_changes(
    planned: Planned, live: kube.JsonObject, planner: MergePlanner, number: int
) -> list[Change] | None:
    """Return what a policy whose configurations are known does to an object. None if it has to be
    evaluated."""
    policy = planned.policy
    changes = []
    try:
        for index, (configuration, source) in enumerate(policy.known_configurations):
            plan = configuration.plan(planner)
            if plan is None:
                return None
            result = plan(live)
            changes.append(
                Change(
                    policy.name,
                    planned.binding,
                    planned.param_name,
                    index,
                    source,
                    number,
                    live,
                    result,
                )
            )
            live = result
    except Unplanned:
        return None
    return changes
