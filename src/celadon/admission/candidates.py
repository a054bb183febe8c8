"""What an engine knows before a request comes: policies paired with bindings, planned per endpoint.

A `Hook` is a policy with the bindings that name it. For one endpoint and operation (`Target`), a
`Candidate` is a hook that may have something to say, with its rules worked out as far as they can
be without the request, and its `paramKind` resolved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celadon.admission.endpoint_memory import PerEndpoint
from celadon.admission.hits import Hit
from celadon.admission.matching import EXEMPT, MatchPlan, Target, plan
from celadon.admission.policy import params
from celadon.admission.policy.compiled_policy import CompiledPolicy
from celadon.admission.policy.params import ParamError, ParamSource
from celadon.admission.registration.registration_types import (
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)
from celadon.kube.catalogue import Catalog

Evaluate = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Hook:
    """A policy with the bindings that name it."""

    policy: ValidatingAdmissionPolicy
    compiled: CompiledPolicy
    bindings: tuple[ValidatingAdmissionPolicyBinding, ...]


@dataclass(frozen=True, slots=True)
class BoundCandidate:
    """A binding that requests to the endpoint may match."""

    binding: ValidatingAdmissionPolicyBinding
    plan: MatchPlan


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy that requests to one endpoint may match. `error` is why its params are unknown.
    `quick` are its validations, where they are true the whole answer: for such requests nothing
    is converted, and the policy asks for nothing but the request itself."""

    compiled: CompiledPolicy
    plan: MatchPlan
    bindings: tuple[BoundCandidate, ...]
    source: ParamSource | None
    error: str
    quick: tuple[Evaluate, ...]


@dataclass(frozen=True, slots=True)
class EndpointCandidates:
    """What an engine remembers for an endpoint. `quick_size` is the size of a request that no
    quick candidate needs to count the cost of; negative when there are no quick ones."""

    candidates: tuple[Candidate, ...]
    quick_size: int


def candidate_for(hook: Hook, target: Target, catalog: Catalog) -> Candidate | None:
    """None when no request to the target can concern the policy, or any of its bindings."""
    spec = hook.policy.spec
    if spec.match_constraints is None:
        return None
    policy_plan = plan(spec.match_constraints, target, catalog)
    if policy_plan is None:
        return None
    source, error = None, ""
    if spec.param_kind is not None:
        try:
            source = params.resolve(spec.param_kind, catalog)
        except ParamError as problem:
            error = str(problem)
        else:
            if source is None:
                return None
    bound = []
    for binding in hook.bindings:
        binding_plan = plan(binding.spec.match_resources, target, catalog)
        if binding_plan is not None:
            bound.append(BoundCandidate(binding, binding_plan))
    if not bound and not error:
        return None
    quick = hook.compiled.quick if _is_own(policy_plan.direct, target) else ()
    return Candidate(hook.compiled, policy_plan, tuple(bound), source, error, quick)


def _is_own(hit: Hit | None, target: Target) -> bool:
    """Whether every request to the target is matched as what it is."""
    return hit is not None and hit.kind == target.kind and hit.resource == target.resource


def remembered_candidates(hooks: Sequence[Hook]) -> PerEndpoint[EndpointCandidates]:
    """The candidates of each endpoint, found when first asked for."""
    bound = tuple(hook for hook in hooks if hook.bindings)

    def find(target: Target, catalog: Catalog) -> EndpointCandidates:
        if target.resource.group_resource in EXEMPT:
            return _endpoint_candidates(())
        found = (candidate_for(hook, target, catalog) for hook in bound)
        return _endpoint_candidates(tuple(one for one in found if one is not None))

    return PerEndpoint(find)


def _endpoint_candidates(candidates: tuple[Candidate, ...]) -> EndpointCandidates:
    sizes = [candidate.compiled.plain_size for candidate in candidates if candidate.quick]
    return EndpointCandidates(candidates, min(sizes, default=-1))
