"""A mutating policy to a `CompiledMutatingPolicy`: its programs, and what is known beforehand.

As with validating policies, an expression that does not compile stays, with its error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from celadon.admission import decision_source, policy_limits
from celadon.admission.decision_source import Source
from celadon.admission.expressions.compiled_expressions import (
    Expression,
    ExpressionMemory,
    PolicyScope,
)
from celadon.admission.mutating.known_configurations import (
    KnownConfiguration,
    constant_configuration,
    itemwise_configuration,
)
from celadon.admission.policy.plain_sizes import Phase, condition_phase, plain_size
from celadon.admission.policy.policy_frame import PolicyFrame, compile_frame, uses_authorizer
from celadon.admission.registration.registration_types import (
    IGNORE,
    JSON_PATCH,
    MutatingAdmissionPolicy,
    Mutation,
)
from celadon.cel import types
from celadon.kube.library import DEFAULT_VERSION
from celadon.records import dataclass

IF_NEEDED: Final = "IfNeeded"

CONFIGURATION_RESULT: Final = (types.object_type("Object"),)
PATCH_RESULT: Final = (types.list_of(types.object_type("JSONPatch")),)


@dataclass(frozen=True, slots=True)
class CompiledMutation:
    """`is_patch`: a JSON patch, else a configuration, which may be known before a request comes."""

    expression: Expression
    is_patch: bool
    known: KnownConfiguration | None = None


@dataclass(frozen=True, slots=True)
class CompiledMutatingPolicy(PolicyFrame):
    """`reinvokes`: whether it wants to see what others have changed after it. `known` are the
    configurations of its mutations, and the fields that these are from, if all of them are known
    and there are no conditions; else there are none."""

    mutations: tuple[CompiledMutation, ...]
    reinvokes: bool
    known: tuple[tuple[KnownConfiguration, Source], ...]

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """And those of its own."""
        return (*self.frame_expressions, *(one.expression for one in self.mutations))


def compile_mutating_policy(
    policy: MutatingAdmissionPolicy,
    version: str = DEFAULT_VERSION,
    memory: ExpressionMemory | None = None,
) -> CompiledMutatingPolicy:
    """As a stored policy: everything this version of Kubernetes knows may be used. Expressions in
    the `memory` are not compiled again."""
    spec = policy.spec
    scope, variables, conditions = compile_frame(policy.name, spec, version, memory)
    mutations = tuple(_mutation(i, one, scope) for i, one in enumerate(spec.mutations))
    phases = (condition_phase(conditions), *(Phase((one.expression,)) for one in mutations))
    size = plain_size(variables, phases)
    if size >= policy_limits.UNBOUNDED_SIZE:
        mutations = tuple(_known(one, constant_configuration) for one in mutations)
    elif not variables:
        mutations = tuple(_known(one, itemwise_configuration) for one in mutations)
    return CompiledMutatingPolicy(
        name=policy.name,
        param_kind=spec.param_kind,
        ignores_failures=spec.failure_policy == IGNORE,
        conditions=conditions,
        variables=variables,
        uses_authorizer=uses_authorizer(variables, phases),
        plain_size=size,
        mutations=mutations,
        reinvokes=spec.reinvocation_policy == IF_NEEDED,
        known=() if conditions else _all_known(mutations),
    )


def _all_known(
    mutations: tuple[CompiledMutation, ...],
) -> tuple[tuple[KnownConfiguration, Source], ...]:
    found = [(one.known, one.expression.source) for one in mutations if one.known is not None]
    return tuple(found) if len(found) == len(mutations) else ()


def _mutation(index: int, mutation: Mutation, scope: PolicyScope) -> CompiledMutation:
    is_patch = mutation.patch_type == JSON_PATCH
    text = mutation.json_patch if is_patch else mutation.apply_configuration
    compiled = scope.mutation(
        text or "",
        PATCH_RESULT if is_patch else CONFIGURATION_RESULT,
        stored=True,
        source=decision_source.mutation(index, is_patch=is_patch),
    )
    return CompiledMutation(compiled, is_patch)


def _known(
    mutation: CompiledMutation, find: Callable[[Expression], KnownConfiguration | None]
) -> CompiledMutation:
    """What costs nothing worth counting, or nothing that could be too much, and is known needs no
    evaluation for each request."""
    if mutation.is_patch:
        return mutation
    return replace(mutation, known=find(mutation.expression))
