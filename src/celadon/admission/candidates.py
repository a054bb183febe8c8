"""What an engine knows before a request comes: policies paired with bindings, planned per endpoint.

A `Hook` is a policy with the bindings that name it. For one endpoint and operation (`Target`), a
`Candidate` is a hook that may have something to say, with its rules worked out as far as they can
be without the request, and its `paramKind` resolved.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Generic, Protocol, Self, TypeVar

from celadon.admission.hits import Hit
from celadon.admission.matching import MatchPlan, Target, is_exempt, plan
from celadon.admission.policy import params
from celadon.admission.policy.params import ParamError, ParamFinder, ParamSource
from celadon.admission.policy.policy_frame import FrameSpec, PolicyFrame
from celadon.admission.registration.registration_types import BindingSpec, MatchResources
from celadon.kube import GroupVersionResource
from celadon.kube.catalogue import Catalog
from celadon.records import dataclass


class MatchingSpec(FrameSpec, Protocol):
    """What a spec says of the requests that a policy is about, and of failures."""

    @property
    def match_constraints(self) -> MatchResources | None: ...

    @property
    def failure_policy(self) -> str | None: ...


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


class PolicyEngine(Protocol):
    """An engine of policies of one type; those, and their bindings, are what was decoded from
    documents of its kinds."""

    def replaced(self, policies: Iterable[Any], bindings: Iterable[Any]) -> Self:
        """With others in place of those that are objects; what stays is not compiled again."""

    def with_static(self, policies: Iterable[Any], bindings: Iterable[Any]) -> Self:
        """With others in place of those from files of the server."""

    def prepare(self) -> Self:
        """The same, with nothing left to be compiled while requests are decided."""


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
    static: bool = False
    """Whether it is from files of the server, not an object."""

    @property
    def compiled(self) -> C:
        """The policy, compiled now if it was not."""
        return self.program.compiled


@dataclass(frozen=True, slots=True)
class Hooks(Generic[P, C]):
    """All policies of one type, by name, each with its bindings by name: first those from files of
    the server, then those that are objects. Bindings belong to policies of their own origin;
    `orphans` are those whose policy does not exist."""

    compile: Callable[[P], C]
    static: tuple[Hook[C], ...] = ()
    objects: tuple[Hook[C], ...] = ()
    static_orphans: tuple[Binding, ...] = ()
    object_orphans: tuple[Binding, ...] = ()

    @property
    def all(self) -> tuple[Hook[C], ...]:
        """In the order in which they are asked."""
        return self.static + self.objects

    @property
    def orphans(self) -> tuple[Binding, ...]:
        """Bindings that are left over."""
        return self.static_orphans + self.object_orphans

    def with_objects(self, policies: Iterable[P], bindings: Iterable[Binding]) -> Hooks[P, C]:
        """Others in place of those that are objects. Policies that are as before are not compiled
        again."""
        found, orphans = self._paired(policies, bindings, self.objects, static=False)
        return replace(self, objects=found, object_orphans=orphans)

    def with_static(self, policies: Iterable[P], bindings: Iterable[Binding]) -> Hooks[P, C]:
        """Others in place of those from files, likewise."""
        found, orphans = self._paired(policies, bindings, self.static, static=True)
        return replace(self, static=found, static_orphans=orphans)

    def seeing(self, resource: GroupVersionResource) -> tuple[Hook[C], ...]:
        """Those that requests for a resource are shown to, whatever their rules."""
        static = () if is_exempt(resource, static=True) else self.static
        return static if is_exempt(resource) else static + self.objects

    def _paired(
        self,
        policies: Iterable[P],
        bindings: Iterable[Binding],
        known: Iterable[Hook[C]],
        *,
        static: bool,
    ) -> tuple[tuple[Hook[C], ...], tuple[Binding, ...]]:
        before = {hook.policy.name: hook for hook in known}
        by_policy: dict[str, list[Binding]] = {}
        for binding in sorted(bindings, key=lambda one: one.name):
            by_policy.setdefault(binding.spec.policy_name, []).append(binding)
        hooks = []
        for policy in sorted(policies, key=lambda one: one.name):
            bound = tuple(by_policy.pop(policy.name, ()))
            hook = before.get(policy.name)
            if hook is not None and (hook.policy is policy or hook.policy == policy):
                hooks.append(replace(hook, bindings=bound))
            else:
                program = OnDemand(functools.partial(self.compile, policy))
                hooks.append(Hook(policy, program, bound, static))
        return tuple(hooks), tuple(one for orphans in by_policy.values() for one in orphans)


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
    hooks: Hooks[P, C], target: Target, catalog: Catalog
) -> tuple[Candidate[C], ...]:
    """Those of all hooks; none for a resource that no policy ever sees."""
    seeing = (hook for hook in hooks.seeing(target.resource) if hook.bindings)
    found = (candidate_for(hook, target, catalog) for hook in seeing)
    return tuple(one for one in found if one is not None)
