"""Which requests a policy, a binding or a webhook is about.

Two steps. `plan` looks at what is fixed for all requests to one endpoint and operation (`Target`):
it resolves rules, scopes and equivalent versions into a short list of `Hit`s, or says that nothing
can match. `matches` then looks at what differs from request to request: resource names and
selectors. Engines remember plans, so a request pays for selectors only where there are some.

As k8s.io/apiserver `pkg/admission/plugin/policy/matching` and `plugin/webhook/predicates`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from celadon.admission.hits import NAMESPACES, Hit, MatchError
from celadon.admission.registration.registration_types import EQUIVALENT, MatchResources, Rule
from celadon.kube import (
    FieldPath,
    GroupResource,
    GroupVersionKind,
    GroupVersionResource,
    StatusError,
    status,
)
from celadon.kube.catalogue import Catalog
from celadon.kube.selection import LabelSelector, SelectorError, label_selector
from celadon.records import dataclass

ALL: Final = "*"
NAMESPACE_SELECTOR: Final = FieldPath("namespaceSelector")
OBJECT_SELECTOR: Final = FieldPath("objectSelector")

_REVIEWS: Final = frozenset(
    [
        GroupResource("authentication.k8s.io", "selfsubjectreviews"),
        GroupResource("authentication.k8s.io", "tokenreviews"),
        GroupResource("authorization.k8s.io", "localsubjectaccessreviews"),
        GroupResource("authorization.k8s.io", "selfsubjectaccessreviews"),
        GroupResource("authorization.k8s.io", "selfsubjectrulesreviews"),
        GroupResource("authorization.k8s.io", "subjectaccessreviews"),
    ]
)
"""Resources no policy ever sees, whatever the version and subresource."""

_POLICIES: Final = frozenset(
    GroupResource("admissionregistration.k8s.io", resource)
    for resource in (
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
    )
)
"""Resources that only static policies see: those from files of the server."""


def is_exempt(resource: GroupVersionResource, *, static: bool = False) -> bool:
    """Whether no policy ever sees it; `static` policies are from files, all others are objects."""
    found = resource.group_resource
    return found in _REVIEWS or (not static and found in _POLICIES)


@dataclass(frozen=True, slots=True)
class Target:
    """What rules look at, short of the name: an endpoint, an operation, whether in a namespace."""

    resource: GroupVersionResource
    kind: GroupVersionKind
    subresource: str
    operation: str
    in_namespace: bool


@dataclass(frozen=True, slots=True)
class Selector:
    """A compiled label selector, or why it is none. Everything is no selector."""

    selector: LabelSelector | None = None
    error: StatusError | None = None


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """What is left to decide per request. `direct` is the answer when nothing is."""

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
        """None when a namespace selector does not apply; may raise MatchError."""
        ...

    def object_labels(self) -> Sequence[Mapping[str, str]]:
        """Of the object and the old object, those that exist."""
        ...


def plan(match: MatchResources | None, target: Target, catalog: Catalog) -> MatchPlan | None:
    """None when no request to this target can match. No match resources match everything."""
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


def _compiled(selector: Mapping[str, Any] | None, which: str) -> Selector | None:
    if selector is None:
        text = (
            f"a nil {which} selector was passed, please ensure selectors are initialized properly"
        )
        return Selector(error=status.plain_error(text))
    try:
        compiled = label_selector(selector)
    except SelectorError as error:
        return Selector(error=status.internal_error(str(error)))
    return None if compiled.is_everything else Selector(compiled)


def _hits(
    rules: Sequence[Rule], match: MatchResources, target: Target, catalog: Catalog
) -> tuple[Hit, ...]:
    """In the order in which upstream tries them; nothing after the first that takes all names."""
    found: list[Hit] = []
    for hit in _all_hits(rules, match, target, catalog):
        found.append(hit)
        if hit.names is None:
            break
    return tuple(found)


def _all_hits(
    rules: Sequence[Rule], match: MatchResources, target: Target, catalog: Catalog
) -> Iterator[Hit]:
    for rule in rules:
        if not uncovered(rule, target, target.resource):
            yield Hit(target.resource, target.kind, _names(rule))
    if match.match_policy != EQUIVALENT or not rules:
        return
    equivalents = catalog.equivalents(target.resource, target.subresource)
    for rule in rules:
        for resource, kind in equivalents:
            if not uncovered(rule, target, resource):
                yield Hit(resource, kind, _names(rule))


def _names(rule: Rule) -> frozenset[str] | None:
    return frozenset(rule.resource_names) if rule.resource_names else None


def uncovered(rule: Rule, target: Target, resource: GroupVersionResource) -> str:
    """The first field of a rule by which it does not cover the resource, the target's or one
    equivalent to it; empty if it does. Names are not looked at."""
    if not _in_scope(rule.scope, target):
        return "scope"
    if not _contains(rule.operations, target.operation):
        return "operations"
    if not _contains(rule.api_groups, resource.group):
        return "apiGroups"
    if not _contains(rule.api_versions, resource.version):
        return "apiVersions"
    for entry in rule.resources:
        if _names_resource(entry, resource.resource, target.subresource):
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


def _names_resource(entry: str, resource: str, subresource: str) -> bool:
    wanted, _, wanted_sub = entry.partition("/")
    return wanted in {ALL, resource} and wanted_sub in {ALL, subresource}


class Miss(enum.Enum):
    """Why a plan does not match a request."""

    NAMESPACE = "namespaceSelector"
    OBJECT = "objectSelector"
    EXCLUDED = "excludeResourceRules"
    NAMES = "resourceNames"


def matches(match: MatchPlan, labels: Labels) -> Hit | None:
    """The hit that applies to the request; None for a `Miss`. A selector that cannot be used is an
    error only for requests the rules cover: MatchError."""
    if match.direct is not None:
        return match.direct
    found = hit_or_miss(match, labels)
    return None if isinstance(found, Miss) else found


def hit_or_miss(match: MatchPlan, labels: Labels) -> Hit | Miss:
    """As `matches`, with the reason if it does not."""
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


def _namespace_selected(selector: Selector, labels: Labels) -> bool | StatusError:
    try:
        found = labels.namespace_labels()
    except MatchError as error:
        return selector.error or error.failure
    if found is None:
        return True
    return _selected(selector, [found])


def _object_selected(selector: Selector, labels: Labels) -> bool | StatusError:
    return _selected(selector, labels.object_labels())


def _selected(selector: Selector, candidates: Sequence[Mapping[str, str]]) -> bool | StatusError:
    """Whether one of the candidates is selected, or why that cannot be said."""
    if selector.error is not None:
        return selector.error
    compiled = selector.selector
    return compiled is None or any(map(compiled.matches, candidates))
