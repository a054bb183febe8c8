"""What an engine knows before a request comes: policies paired with bindings, planned per endpoint.

A `Hook` is a policy with the bindings that name it. For one endpoint and operation (`Target`), a
`Candidate` is a hook that may have something to say, with its rules worked out as far as they can
be without the request, and its `paramKind` resolved.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from celadon.admission.endpoint_memory import PerEndpoint
from celadon.admission.hits import Hit
from celadon.admission.matching import EXEMPT, MatchPlan, Target, plan
from celadon.admission.policy import params
from celadon.admission.policy.params import ParamError, ParamFinder, ParamSource
from celadon.admission.policy.policy_frame import FrameSpec, PolicyFrame
from celadon.admission.registration.registration_types import BindingSpec, MatchResources
from celadon.kube.catalogue import Catalog

Evaluate = Callable[[Mapping[str, Any]], Any]


class MatchingSpec(FrameSpec, Protocol):
    """What a spec says of the requests that a policy is about."""

    @property
    def match_constraints(self) -> MatchResources | None: ...


class Policy(Protocol):
    """A validating or a mutating policy."""

    @property
    def name(self) -> str: ...

    @property
    def spec(self) -> MatchingSpec: ...


class Binding(Protocol):
    """A binding of one of them."""

    @property
    def name(self) -> str: ...

    @property
    def spec(self) -> BindingSpec: ...


C = TypeVar("C", bound=PolicyFrame)
P = TypeVar("P", bound=Policy)


class OnDemand(Generic[C]):
    """A compiled policy, compiled when a request comes that it may have something to say about. Of
    thousands of policies most never meet one."""

    __slots__ = ("_compile", "_compiled")

    def __init__(self, compile_it: Callable[[], C]) -> None:
        self._compile = compile_it
        self._compiled: C | None = None

    @property
    def compiled(self) -> C:
        """The policy, compiled once."""
        if self._compiled is None:
            self._compiled = self._compile()
        return self._compiled


@dataclass(frozen=True, slots=True)
class Hook(Generic[C]):
    """A policy with the bindings that name it."""

    policy: Policy
    program: OnDemand[C]
    bindings: tuple[Binding, ...]

    @property
    def compiled(self) -> C:
        """The policy, compiled now if it was not."""
        return self.program.compiled


def paired(
    policies: Iterable[P],
    bindings: Iterable[Binding],
    compiled: Callable[[P], C],
    known: Iterable[Hook[C]] = (),
) -> tuple[tuple[Hook[C], ...], Sequence[Binding]]:
    """Policies by name, each with its bindings by name; and the bindings that are left over.
    Policies that are the same objects as those of `known` hooks are not compiled again."""
    before = {id(hook.policy): hook.program for hook in known}
    by_policy: dict[str, list[Binding]] = {}
    for binding in sorted(bindings, key=lambda one: one.name):
        by_policy.setdefault(binding.spec.policy_name, []).append(binding)
    hooks = []
    for policy in sorted(policies, key=lambda one: one.name):
        program = before.get(id(policy)) or OnDemand(functools.partial(compiled, policy))
        hooks.append(Hook(policy, program, tuple(by_policy.pop(policy.name, ()))))
    return tuple(hooks), [binding for orphans in by_policy.values() for binding in orphans]


@dataclass(frozen=True, slots=True)
class BoundCandidate:
    """A binding that requests to the endpoint may match."""

    binding: Binding
    plan: MatchPlan
    params: ParamFinder


@dataclass(frozen=True, slots=True)
class Candidate(Generic[C]):
    """A policy that requests to one endpoint may match. `error` is why its params are unknown.
    `matches_own` is whether every request to the endpoint is matched as what it is."""

    compiled: C
    plan: MatchPlan
    bindings: tuple[BoundCandidate, ...]
    source: ParamSource | None
    error: str
    matches_own: bool


def candidate_for(hook: Hook[C], target: Target, catalog: Catalog) -> Candidate[C] | None:
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
            finder = ParamFinder(source, binding.spec.param_ref)
            bound.append(BoundCandidate(binding, binding_plan, finder))
    if not bound and not error:
        return None
    own = _is_own(policy_plan.direct, target)
    return Candidate(hook.compiled, policy_plan, tuple(bound), source, error, own)


def _is_own(hit: Hit | None, target: Target) -> bool:
    """Whether every request to the target is matched as what it is."""
    return hit is not None and hit.kind == target.kind and hit.resource == target.resource


def candidates_for(
    hooks: Iterable[Hook[C]], target: Target, catalog: Catalog
) -> tuple[Candidate[C], ...]:
    """Those of all hooks; none for a resource that no policy ever sees."""
    if target.resource.group_resource in EXEMPT:
        return ()
    found = (candidate_for(hook, target, catalog) for hook in hooks if hook.bindings)
    return tuple(one for one in found if one is not None)


def remembered_candidates(hooks: Sequence[Hook[C]]) -> PerEndpoint[tuple[Candidate[C], ...]]:
    """The candidates of each endpoint, found when first asked for."""
    return PerEndpoint(lambda target, catalog: candidates_for(hooks, target, catalog))
