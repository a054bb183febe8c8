"""Matching: which requests a policy, a binding or a webhook is about, and which of them can be
ruled out by the endpoint alone.

Two steps. `plan` looks at what is fixed for all requests to one endpoint and operation (`Target`):
it resolves rules, scopes and equivalent versions into a short list of `Hit`s, or says that nothing
can match. `matches` then looks at what differs from request to request: resource names and
selectors. Engines remember plans, so a request pays for selectors only where there are some.

As k8s.io/apiserver `pkg/admission/plugin/policy/matching` and `plugin/webhook/predicates`.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, Protocol, Self, TypeVar

from celadon import kube
from celadon.admission import decision_source, policy_limits
from celadon.admission.activation import NAMESPACES, Hit, MatchError, RequestContext
from celadon.admission.conversion import ConversionError, WebhookNotCalled
from celadon.admission.policies import params
from celadon.admission.policies.compiled_policy import FrameSpec, PolicyFrame
from celadon.admission.policies.params import ParamError, ParamFinder, ParamSource
from celadon.admission.registration import registration_types
from celadon.admission.request import Request
from celadon.admission.verdict import Outcome
from celadon.kube.resources import Catalog
from celadon.kube.selectors import LabelSelector, SelectorError, label_selector
from celadon.memoization import OnDemand
from celadon.records import dataclass, replace

ALL: Final = "*"
NAMESPACE_SELECTOR: Final = kube.FieldPath("namespaceSelector")
OBJECT_SELECTOR: Final = kube.FieldPath("objectSelector")

_REVIEWS: Final = frozenset(
    [
        kube.GroupResource("authentication.k8s.io", "selfsubjectreviews"),
        kube.GroupResource("authentication.k8s.io", "tokenreviews"),
        kube.GroupResource("authorization.k8s.io", "localsubjectaccessreviews"),
        kube.GroupResource("authorization.k8s.io", "selfsubjectaccessreviews"),
        kube.GroupResource("authorization.k8s.io", "selfsubjectrulesreviews"),
        kube.GroupResource("authorization.k8s.io", "subjectaccessreviews"),
    ]
)
"""Resources no policy ever sees, whatever the version and subresource."""

_POLICIES: Final = frozenset(
    kube.GroupResource("admissionregistration.k8s.io", resource)
    for resource in (
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
    )
)
"""Resources that only static policies see: those from files of the server."""


def is_exempt(resource: kube.GroupVersionResource, *, static: bool = False) -> bool:
    """Return whether no policy ever sees it; `static` policies are from files, all others are
    objects."""
    group_resource = resource.group_resource
    return group_resource in _REVIEWS or (not static and group_resource in _POLICIES)


@dataclass(frozen=True, slots=True)
class Target:
    """Holds what rules look at, short of the name: an endpoint, an operation, whether in a
    namespace."""

    resource: kube.GroupVersionResource
    kind: kube.GroupVersionKind
    subresource: str
    operation: str
    in_namespace: bool


@dataclass(frozen=True, slots=True)
class Selector:
    """A compiled label selector, or why it is none. Everything is no selector."""

    selector: LabelSelector | None = None
    error: kube.StatusError | None = None


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """Holds what is left to decide per request. `direct` is the answer when nothing is."""

    hits: tuple[Hit, ...]
    excludes: tuple[Hit, ...]
    namespace_selector: Selector | None
    object_selector: Selector | None
    direct: Hit | None


class Labels(Protocol):
    """The labels of a request that selectors look at."""

    @property
    def name(self) -> str: ...

    def namespace_labels(self) -> Mapping[str, str] | None:
        """Return the labels of the namespace; None when a namespace selector does not apply. May
        raise MatchError."""
        ...

    def object_labels(self) -> Sequence[Mapping[str, str]]:
        """Return the labels of the object and of the old object, those that exist."""
        ...


def plan(
    match: registration_types.MatchResources | None, target: Target, catalog: Catalog
) -> MatchPlan | None:
    """Return what is left to ask of a request; None when no request to this target can match. No
    match resources match everything."""
    original = Hit(target.resource, target.kind)
    if match is None:
        return MatchPlan((original,), (), None, None, original)
    hits: tuple[Hit, ...] = (original,)
    if match.resource_rules:
        hits = _hits(match.resource_rules, match, target, catalog)
    excludes = _hits(match.exclude_resource_rules, match, target, catalog)
    if not hits or (excludes and excludes[0].names is None):
        return None
    namespace_selector = _compiled(match.namespace_selector, "namespace")
    object_selector = _compiled(match.object_selector, "object")
    fixed = hits[0].names is None and not excludes
    unselective = namespace_selector is None and object_selector is None
    direct = hits[0] if fixed and unselective else None
    return MatchPlan(hits, excludes, namespace_selector, object_selector, direct)


def _compiled(selector: kube.JsonObject | None, selector_name: str) -> Selector | None:
    if selector is None:
        text = (
            f"a nil {selector_name} selector was passed, please ensure selectors are initialized "
            "properly"
        )
        return Selector(error=kube.status.plain_error(text))
    try:
        compiled = label_selector(selector)
    except SelectorError as error:
        return Selector(error=kube.status.internal_error(str(error)))
    return None if compiled.is_everything else Selector(compiled)


def _hits(
    rules: Sequence[registration_types.Rule],
    match: registration_types.MatchResources,
    target: Target,
    catalog: Catalog,
) -> tuple[Hit, ...]:
    """Return what matches in the order in which upstream tries it; nothing after the first that
    takes all names."""
    hits: list[Hit] = []
    for hit in _all_hits(rules, match, target, catalog):
        hits.append(hit)
        if hit.names is None:
            break
    return tuple(hits)


def _all_hits(
    rules: Sequence[registration_types.Rule],
    match: registration_types.MatchResources,
    target: Target,
    catalog: Catalog,
) -> Iterator[Hit]:
    for rule in rules:
        if not uncovered(rule, target, target.resource):
            yield Hit(target.resource, target.kind, _names(rule))
    if match.match_policy != registration_types.EQUIVALENT or not rules:
        return
    equivalents = catalog.equivalents(target.resource, target.subresource)
    for rule in rules:
        for resource, kind in equivalents:
            if not uncovered(rule, target, resource):
                yield Hit(resource, kind, _names(rule))


def _names(rule: registration_types.Rule) -> frozenset[str] | None:
    return frozenset(rule.resource_names) if rule.resource_names else None


def uncovered(
    rule: registration_types.Rule, target: Target, resource: kube.GroupVersionResource
) -> str:
    """Return the first field of a rule by which it does not cover the resource, the target's or one
    equivalent to it; empty if it does. Names are not looked at."""
    if not _in_scope(rule.scope, target):
        return "scope"
    if not _contains(rule.operations, target.operation):
        return "operations"
    if not _contains(rule.api_groups, resource.group):
        return "apiGroups"
    if not _contains(rule.api_versions, resource.version):
        return "apiVersions"
    for pattern in rule.resources:
        if _names_resource(pattern, resource.resource, target.subresource):
            return ""
    return "resources"


def _in_scope(scope: str | None, target: Target) -> bool:
    if scope is None or scope == ALL:
        return True
    core_namespaces = target.resource.group == "" and target.resource.resource == NAMESPACES
    namespaced = target.in_namespace and not core_namespaces
    return (scope == "Namespaced" and namespaced) or (scope == "Cluster" and not namespaced)


def _contains(values: Sequence[str], value: str) -> bool:
    return ALL in values or value in values


def _names_resource(pattern: str, resource: str, subresource: str) -> bool:
    expected, _, wanted_sub = pattern.partition("/")
    return expected in {ALL, resource} and wanted_sub in {ALL, subresource}


class Miss(enum.Enum):
    """Says why a plan does not match a request."""

    NAMESPACE = "namespaceSelector"
    OBJECT = "objectSelector"
    EXCLUDED = "excludeResourceRules"
    NAMES = "resourceNames"


def matches(match: MatchPlan, labels: Labels) -> Hit | None:
    """Return the hit that applies to the request; None for a `Miss`. A selector that cannot be used
    is an error only for requests the rules cover: MatchError."""
    if match.direct is not None:
        return match.direct
    outcome = hit_or_miss(match, labels)
    return None if isinstance(outcome, Miss) else outcome


def hit_or_miss(match: MatchPlan, labels: Labels) -> Hit | Miss:
    """Match as `matches` does, with the reason if it does not."""
    error: MatchError | None = None
    if match.namespace_selector is not None:
        selected = _namespace_selected(match.namespace_selector, labels)
        if not isinstance(selected, bool):
            error = MatchError(selected, NAMESPACE_SELECTOR)
        elif not selected:
            return Miss.NAMESPACE
    if match.object_selector is not None:
        selected = _object_selected(match.object_selector, labels)
        if not isinstance(selected, bool):
            error = error or MatchError(selected, OBJECT_SELECTOR)
        elif not selected:
            return Miss.OBJECT
    if _first(match.excludes, labels.name) is not None:
        return Miss.EXCLUDED
    hit = _first(match.hits, labels.name)
    if hit is None:
        return Miss.NAMES
    if error is not None:
        raise error
    return hit


def _first(hits: Sequence[Hit], name: str) -> Hit | None:
    for hit in hits:
        if hit.names is None or name in hit.names:
            return hit
    return None


def _namespace_selected(selector: Selector, labels: Labels) -> bool | kube.StatusError:
    try:
        namespace_labels = labels.namespace_labels()
    except MatchError as error:
        return selector.error or error.failure
    if namespace_labels is None:
        return True
    return _selected(selector, [namespace_labels])


def _object_selected(selector: Selector, labels: Labels) -> bool | kube.StatusError:
    return _selected(selector, labels.object_labels())


def _selected(
    selector: Selector, candidates: Sequence[Mapping[str, str]]
) -> bool | kube.StatusError:
    """Return whether one of the candidates is selected, or why that cannot be said."""
    if selector.error is not None:
        return selector.error
    compiled = selector.selector
    return compiled is None or any(map(compiled.matches, candidates))


# --- Candidates --------------------------------------------------------------
#
# What an engine knows before a request comes: policies paired with bindings, planned per
# endpoint.
#
# A `Hook` is a policy with the bindings that name it. For one endpoint and operation
# (`Target`), a `Candidate` is a hook that may have something to say, with its rules worked out
# as far as they can be without the request, and its `paramKind` resolved.


class MatchingSpec(FrameSpec, Protocol):
    """Holds what a spec says of the requests that a policy is about, and of failures."""

    @property
    def match_constraints(self) -> registration_types.MatchResources | None: ...

    @property
    def failure_policy(self) -> str | None: ...


class Policy(Protocol):
    """A validating or a mutating policy."""

    @property
    def name(self) -> str: ...

    @property
    def spec(self) -> MatchingSpec: ...


class Binding(Protocol):
    """Describes a binding of either type of policies."""

    @property
    def name(self) -> str: ...

    @property
    def spec(self) -> registration_types.BindingSpec: ...


class PolicyEngine(Protocol):
    """Judges by the policies of one type; policies and bindings are what was decoded from documents
    of its kinds."""

    def replaced(self, policies: Iterable[Any], bindings: Iterable[Any]) -> Self:
        """Return an engine with others in place of those that are objects; what stays is not
        compiled again."""

    def with_static(self, policies: Iterable[Any], bindings: Iterable[Any]) -> Self:
        """Return an engine with others in place of those from files of the server."""

    def prepare(self) -> Self:
        """Return the policy with nothing left to be compiled while requests are decided."""


C = TypeVar("C", bound=PolicyFrame)
P = TypeVar("P", bound=Policy)


@dataclass(frozen=True, slots=True)
class Hook(Generic[C]):
    """A policy with the bindings that name it."""

    policy: Policy
    program: OnDemand[C]
    """Of thousands of policies most never meet a request that they could have a say about."""
    bindings: tuple[Binding, ...]
    static: bool = False
    """Whether it is from files of the server, not an object."""

    @property
    def compiled(self) -> C:
        """Return the policy, compiled now if it was not."""
        return self.program.value


@dataclass(frozen=True, slots=True)
class Hooks(Generic[P, C]):
    """Holds all policies of one type, by name, each with its bindings by name: first those from
    files of the server, then those that are objects. Bindings belong to policies of their own
    origin; `orphans` are those whose policy does not exist."""

    compile: Callable[[P], C]
    static: tuple[Hook[C], ...] = ()
    objects: tuple[Hook[C], ...] = ()
    static_orphans: tuple[Binding, ...] = ()
    object_orphans: tuple[Binding, ...] = ()

    @property
    def all(self) -> tuple[Hook[C], ...]:
        """Return the hooks in the order in which they are asked."""
        return self.static + self.objects

    @property
    def orphans(self) -> tuple[Binding, ...]:
        """Return the bindings whose policy is not there."""
        return self.static_orphans + self.object_orphans

    def with_objects(self, policies: Iterable[P], bindings: Iterable[Binding]) -> Hooks[P, C]:
        """Return hooks with others in place of those that are objects. Policies that are as before
        are not compiled again."""
        hooks, orphans = self._paired(policies, bindings, self.objects, static=False)
        return replace(self, objects=hooks, object_orphans=orphans)

    def with_static(self, policies: Iterable[P], bindings: Iterable[Binding]) -> Hooks[P, C]:
        """Return hooks with others in place of those from files, likewise."""
        hooks, orphans = self._paired(policies, bindings, self.static, static=True)
        return replace(self, static=hooks, static_orphans=orphans)

    def seeing(self, resource: kube.GroupVersionResource) -> tuple[Hook[C], ...]:
        """Return the hooks that requests for a resource are shown to, whatever their rules."""
        static = () if is_exempt(resource, static=True) else self.static
        return static if is_exempt(resource) else static + self.objects

    def _paired(
        self,
        policies: Iterable[P],
        bindings: Iterable[Binding],
        earlier: Iterable[Hook[C]],
        *,
        static: bool,
    ) -> tuple[tuple[Hook[C], ...], tuple[Binding, ...]]:
        before = {hook.policy.name: hook for hook in earlier}
        by_policy: dict[str, list[Binding]] = {}
        for binding in sorted(bindings, key=lambda binding: binding.name):
            by_policy.setdefault(binding.spec.policy_name, []).append(binding)
        hooks = []
        for policy in sorted(policies, key=lambda policy: policy.name):
            bound = tuple(by_policy.pop(policy.name, ()))
            hook = before.get(policy.name)
            if hook is not None and (hook.policy is policy or hook.policy == policy):
                hooks.append(replace(hook, bindings=bound))
            else:
                program = OnDemand(functools.partial(self.compile, policy))
                hooks.append(Hook(policy, program, bound, static))
        return tuple(hooks), tuple(orphan for orphans in by_policy.values() for orphan in orphans)


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
    """Return what may concern requests to the target; None when none can concern the policy, or any
    of its bindings."""
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
    is_own = _is_own(policy_plan.direct, target)
    return Candidate(hook.compiled, policy_plan, tuple(bound), source, error, is_own)


def _is_own(hit: Hit | None, target: Target) -> bool:
    """Return whether every request to the target is matched as what it is."""
    return hit is not None and hit.kind == target.kind and hit.resource == target.resource


def candidates_for(
    hooks: Hooks[P, C], target: Target, catalog: Catalog
) -> tuple[Candidate[C], ...]:
    """Return the candidates of all hooks; none for a resource that no policy ever sees."""
    seeing = (hook for hook in hooks.seeing(target.resource) if hook.bindings)
    possible = (candidate_for(hook, target, catalog) for hook in seeing)
    return tuple(candidate for candidate in possible if candidate is not None)


# --- Invocations -------------------------------------------------------------
#
# From the policies that may match a request to what they are evaluated with.
#
# One walk for validating and mutating policies: match constraints, bindings, params, in
# upstream's order; what is wrong on the way is an error of the policy's or the binding's
# configuration. As k8s.io/apiserver `pkg/admission/plugin/policy/generic/policy_dispatcher.go`.


class Invocation(NamedTuple):
    """A binding that matches, with its params, one after the other; null stands for none."""

    bound: BoundCandidate
    params: Sequence[kube.JsonObject | None]


@dataclass(frozen=True, slots=True)
class Misconfigured:
    """Says why a policy (`binding` is empty) or a binding cannot be used."""

    text: str
    source: decision_source.Source
    binding: str = ""
    is_open: bool = False
    """Whether a server that calls conversion webhooks could use it."""


@dataclass(frozen=True, slots=True)
class Passed:
    """Describes a binding that has no say."""

    binding: str
    outcome: Outcome


def policy_hit(candidate: Candidate[C], context: RequestContext) -> Hit | Misconfigured | None:
    """Return as what the policy sees the request; None if it does not match."""
    try:
        hit = matches(candidate.plan, context)
    except MatchError as error:
        source = decision_source.MATCH_CONSTRAINTS.below(error.path)
        return Misconfigured(f"failed to configure policy: {error}", source)
    if hit is not None and candidate.error:
        return Misconfigured(
            f"failed to configure policy: {candidate.error}", decision_source.PARAM_KIND
        )
    return hit


def invocations(
    candidate: Candidate[C], context: RequestContext
) -> Iterator[Invocation | Misconfigured | Passed]:
    """Yield what comes of the bindings of a policy that matches, in their order."""
    request, world = context.request, context.world
    for bound in candidate.bindings:
        binding = bound.binding
        try:
            if matches(bound.plan, context) is None:
                yield Passed(binding.name, Outcome.BINDING_UNMATCHED)
                continue
            collect = bound.params.collect(request.namespace, world)
        except MatchError as error:
            yield misconfigured_binding(
                bound, str(error), decision_source.MATCH_RESOURCES.below(error.path)
            )
        except ParamError as error:
            yield misconfigured_binding(bound, str(error), decision_source.PARAM_REF)
        except ConversionError as error:
            yield unconverted(bound, error, decision_source.PARAM_REF)
        else:
            if collect:
                yield Invocation(bound, collect)
            else:
                yield Passed(binding.name, Outcome.PARAM_NOT_FOUND)


def misconfigured_binding(
    bound: BoundCandidate, reason: str, source: decision_source.Source
) -> Misconfigured:
    """Return a binding that cannot be used, in a client's words."""
    text = f"failed to configure binding: {reason}"
    return Misconfigured(text, source, bound.binding.name)


def unconverted(
    bound: BoundCandidate, error: ConversionError, source: decision_source.Source
) -> Misconfigured:
    """Return a binding whose policy needs an object in a version in which it cannot be had."""
    misconfigured = misconfigured_binding(bound, str(error), source)
    return replace(misconfigured, is_open=isinstance(error, WebhookNotCalled))


# --- What follows from an endpoint -------------------------------------------
#
# What follows from an endpoint and an operation alone, worked out once for all requests to it.

T = TypeVar("T")
_Endpoint = tuple[kube.GroupVersionResource, kube.GroupVersionKind, str, str, bool]


def target_of(request: Request) -> Target:
    """Return what all requests to the same endpoint have in common."""
    return Target(*_endpoint_of(request))


def _endpoint_of(request: Request) -> _Endpoint:
    return (
        request.resource,
        request.kind,
        request.subresource,
        request.operation.value,
        request.namespace != "",
    )


class PerEndpoint(Generic[T]):
    """Remembers what `find` says of each endpoint, asked when a request to it comes first.

    INVARIANT (bounded): what is remembered holds for one catalog, and no more endpoints are
    remembered than `policy_limits.CANDIDATE_CACHE_ENTRIES`: requests can name any subresource.
    """

    __slots__ = ("_catalog", "_find", "_values")

    def __init__(self, find: Callable[[Target, Catalog], T]) -> None:
        self._find = find
        self._catalog: Catalog | None = None
        self._values: dict[_Endpoint, T] = {}

    def __len__(self) -> int:
        """Return how many endpoints are remembered."""
        return len(self._values)

    def of(self, request: Request, catalog: Catalog) -> T:
        """Return what `find` says of the request's endpoint."""
        if catalog is not self._catalog:
            self._catalog, self._values = catalog, {}
        endpoint = _endpoint_of(request)
        cached = self._values.get(endpoint)
        if cached is None:
            cached = self._find(Target(*endpoint), catalog)
            if len(self._values) >= policy_limits.CANDIDATE_CACHE_ENTRIES:
                self._values = {}
            self._values[endpoint] = cached
        return cached
