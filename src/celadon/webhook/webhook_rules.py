"""The rules and selectors by which an API server sends a webhook all that its policies match, and
what an operator decides about it.

Policies with the same `failurePolicy` and `matchPolicy` share a webhook: its rules are theirs, its
selectors take whatever any of theirs takes. What only the policies can say (excluded resources,
names, match conditions, the rules of bindings but for their operations) is left to them: they get
more than they match, never less.

Two selectors for objects are not put together into one: each may be satisfied by another of the old
and the new object.
"""

from __future__ import annotations

import base64
import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, Final

from celadon import __version__
from celadon.admission import (
    Operation,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    registration,
)
from celadon.kube import well_known_values
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.records import dataclass

# --- Settings ----------------------------------------------------------------
#
# What an operator decides about an installation of `celadon webhook`.

PORT: Final = 8443
"""Where the webhook listens, in its container."""
CONFIGURATION_DOMAIN: Final = "policies.celadon.dev"
"""What follows the first part of the names of webhooks."""


class Certificates(enum.Enum):
    """The certificate comes from a Secret of type `kubernetes.io/tls` that somebody keeps
    (`SECRET`) or cert-manager does, or from the webhook itself, with an authority of its own."""

    SECRET = "secret"
    CERT_MANAGER = "cert-manager"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class InstallationSettings:
    """Holds the settings of an installation. `from_cluster` says that policies are those in the
    cluster, not in a ConfigMap of the installation. `failure_policy` is for all webhooks, empty for
    that of their policies; with `audit_only`, failures deny nothing either. `excluded_namespaces`
    are sent nothing, beside the webhook's own namespace; `ca_bundle` is PEM. `params` are resources
    (`configmaps`, `limits.example.com`) that policies of the cluster look up."""

    name: str = "celadon-webhook"
    namespace: str = "celadon"
    image: str = f"celadon:{__version__}"
    replicas: int = 2
    from_cluster: bool = False
    certificates: Certificates = Certificates.OWN
    ca_bundle: str = ""
    failure_policy: str = ""
    timeout_seconds: int = 5
    excluded_namespaces: tuple[str, ...] = ("kube-system",)
    excludes_own_namespace: bool = True
    params: tuple[str, ...] = ()
    events: bool = False
    audit_only: bool = False
    service_monitor: bool = False

    @property
    def can_be_asked(self) -> bool:
        """Return whether an API server will know the certificate's authority, sooner or later."""
        return self.certificates is not Certificates.SECRET or bool(self.ca_bundle)

    @property
    def secret(self) -> str:
        """Return the Secret with the certificate, its key and `ca.crt`."""
        return f"{self.name}-tls"

    @property
    def asks_cluster(self) -> bool:
        """Return whether the webhook needs an API server at all."""
        return self.from_cluster or self.certificates is Certificates.OWN

    def failure_policy_of(self, policies: str) -> str:
        """Return the failure policy of a webhook for policies with this one."""
        return "Ignore" if self.audit_only else self.failure_policy or policies

    @property
    def exclusions(self) -> tuple[str, ...]:
        """Return the namespaces that are sent nothing."""
        own_namespaces = (self.namespace,) if self.excludes_own_namespace else ()
        return tuple(dict.fromkeys((*own_namespaces, *self.excluded_namespaces)))

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels that every object of the installation has."""
        return {**self.selector, "app.kubernetes.io/component": "admission-webhook"}

    @property
    def selector(self) -> dict[str, str]:
        """Return the labels by which the Pods are found."""
        return {"app.kubernetes.io/name": "celadon", "app.kubernetes.io/instance": self.name}


# --- Rule unions -------------------------------------------------------------
#
# Rules put together: each resource of a group and version stands once, with all its operations.
#
# A rule is taken apart into one for each group, version and resource; those that another one
# covers go, and what is left is put together by operations. A star stays in a rule of its own,
# since the API does not let it stand beside others.

ANY: Final = "*"
OPERATIONS: Final = tuple(operation.value for operation in Operation)


@dataclass(frozen=True, slots=True)
class _Place:
    """A rule takes this: one resource, or many by stars."""

    group: str
    version: str
    resource: str
    scope: str

    def covers(self, other: _Place) -> bool:
        """Return whether all that the other one takes is taken here, too."""
        return (
            self.group in {ANY, other.group}
            and self.version in {ANY, other.version}
            and self.scope in {ANY, other.scope}
            and _covers(self.resource, other.resource)
        )


def _covers(resource: str, other: str) -> bool:
    name, _, below = resource.partition("/")
    other_name, _, other_below = other.partition("/")
    return name in {ANY, other_name} and below in {ANY, other_below}


def union_of_rules(rules: Iterable[registration.Rule]) -> tuple[registration.Rule, ...]:
    """Return rules that take the same requests, in the order in which their resources first
    came."""
    places: dict[_Place, frozenset[str]] = {}
    for rule in rules:
        for place in _places(rule):
            places[place] = places.get(place, frozenset()) | frozenset(rule.operations)
    left = {
        place: operations
        for place, operations in places.items()
        if not _is_covered(place, operations, places)
    }
    return tuple(_together(left))


def _places(rule: registration.Rule) -> Iterator[_Place]:
    for group in rule.api_groups:
        for version in rule.api_versions:
            for resource in rule.resources:
                yield _Place(group, version, resource, rule.scope or ANY)


def _is_covered(
    place: _Place, operations: frozenset[str], places: dict[_Place, frozenset[str]]
) -> bool:
    return any(
        other != place and other.covers(place) and (ANY in more or operations <= more)
        for other, more in places.items()
    )


def _together(left: dict[_Place, frozenset[str]]) -> Iterator[registration.Rule]:
    result: dict[tuple[object, ...], list[_Place]] = {}
    for place, operations in left.items():
        alone = place.resource if ANY in place.resource else ""
        key = (place.group, place.version, place.scope, ordered(operations), alone)
        result.setdefault(key, []).append(place)
    for places in result.values():
        first = places[0]
        yield registration.Rule(
            ordered(left[first]),
            (first.group,),
            (first.version,),
            tuple(place.resource for place in places),
            first.scope,
        )


def ordered(operations: Iterable[str]) -> tuple[str, ...]:
    """Return operations in the order of the API; a star stands for all of them."""
    names = frozenset(operations)
    return (
        (ANY,)
        if ANY in names
        else tuple(operation for operation in OPERATIONS if operation in names)
    )


# --- Selector unions ---------------------------------------------------------
#
# Label selectors put together: one that matches whatever any of several does.
#
# What labels a selector takes is looked at key by key: which values, and whether the key may be
# absent. The union of several selectors takes at each key what any of them takes there. That
# may be more than they take together, never less. What no selector can say (absent, or one of
# these) is not asked for.

Selector = JsonObject
"""A LabelSelector as in the API."""


@dataclass(frozen=True, slots=True)
class _Values:
    """A selector takes this at one key: the values, or all but the values; and absence."""

    values: frozenset[str] = frozenset()
    _: KW_ONLY
    is_complement: bool = True
    absent: bool = True

    @property
    def is_nothing(self) -> bool:
        return not (self.values or self.is_complement or self.absent)

    def __and__(self, other: _Values) -> _Values:
        absent = self.absent and other.absent
        if self.is_complement and other.is_complement:
            return _Values(self.values | other.values, is_complement=True, absent=absent)
        if self.is_complement:
            return _Values(other.values - self.values, is_complement=False, absent=absent)
        if other.is_complement:
            return _Values(self.values - other.values, is_complement=False, absent=absent)
        return _Values(self.values & other.values, is_complement=False, absent=absent)

    def __or__(self, other: _Values) -> _Values:
        absent = self.absent or other.absent
        if self.is_complement and other.is_complement:
            return _Values(self.values & other.values, is_complement=True, absent=absent)
        if self.is_complement:
            return _Values(self.values - other.values, is_complement=True, absent=absent)
        if other.is_complement:
            return _Values(other.values - self.values, is_complement=True, absent=absent)
        return _Values(self.values | other.values, is_complement=False, absent=absent)

    def requirements(self, key: str) -> list[JsonDict]:
        """Return expressions of a selector that take this; none where everything is taken, or more
        can be said than a selector can."""
        values = sorted(self.values)
        if not self.is_complement:
            if not self.absent:
                return [{"key": key, "operator": "In", "values": values}]
            return [] if values else [{"key": key, "operator": "DoesNotExist"}]
        result: list[JsonDict] = [] if self.absent else [{"key": key, "operator": "Exists"}]
        if values:
            result.append({"key": key, "operator": "NotIn", "values": values})
        return result


_EVERYTHING: Final = _Values()
_Keys = Mapping[str, _Values]


def conjunction(selectors: Iterable[Selector]) -> Selector:
    """Return a selector of what all of them match: of one and the same object."""
    labels: dict[str, str] = {}
    expressions: list[Any] = []
    for selector in selectors:
        for key, value in (selector.get("matchLabels") or {}).items():
            if labels.setdefault(key, value) != value:
                expressions.append({"key": key, "operator": "In", "values": [value]})
        for expression in selector.get("matchExpressions") or ():
            if expression not in expressions:
                expressions.append(expression)
    result: JsonDict = {}
    if labels:
        result["matchLabels"] = labels
    if expressions:
        result["matchExpressions"] = expressions
    return result


def union(selectors: Sequence[Selector]) -> Selector:
    """Return a selector of at least what any of them matches; one that matches nothing adds
    nothing. Of a single selector, or of equal ones, it is that selector."""
    if all(selector == selectors[0] for selector in selectors[1:]):
        return selectors[0] if selectors else {}
    requirements = [keys for keys in map(_keys, selectors) if not _is_nothing(keys)]
    if not requirements:
        return selectors[0]
    both = set(requirements[0]).intersection(*requirements[1:])
    expressions: list[JsonDict] = []
    for key in sorted(both):
        values = requirements[0][key]
        for keys in requirements[1:]:
            values |= keys[key]
        expressions += values.requirements(key)
    return {"matchExpressions": expressions} if expressions else {}


def _keys(selector: Selector) -> _Keys:
    result: dict[str, _Values] = {}
    for key, value in (selector.get("matchLabels") or {}).items():
        result[key] = result.get(key, _EVERYTHING) & _Values(
            frozenset([value]), is_complement=False, absent=False
        )
    for expression in selector.get("matchExpressions") or ():
        key = expression["key"]
        result[key] = result.get(key, _EVERYTHING) & _expression(expression)
    return result


def _expression(expression: JsonObject) -> _Values:
    values = frozenset(expression.get("values") or ())
    operator = expression["operator"]
    if operator == "In":
        return _Values(values, is_complement=False, absent=False)
    if operator == "NotIn":
        return _Values(values)
    return _Values(absent=False) if operator == "Exists" else _Values(is_complement=False)


def _is_nothing(keys: _Keys) -> bool:
    return any(values.is_nothing for values in keys.values())


NEVER: Final = "Never"
IF_NEEDED: Final = "IfNeeded"
REVIEW_GROUPS: Final = (
    well_known_values.AUTHENTICATION_GROUP,
    well_known_values.AUTHORIZATION_GROUP,
)
"""Groups of which no policy sees anything: reviews that API servers ask for all the time, and that
the webhook itself asks for."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The requests of one webhook. `reinvocation_policy` is for mutating ones."""

    failure_policy: str
    match_policy: str
    rules: tuple[registration.Rule, ...]
    namespace_selector: Selector
    object_selector: Selector
    reinvocation_policy: str = NEVER

    @property
    def takes_reviews(self) -> bool:
        """Return whether the rules cover groups of which no policy sees anything."""
        rules = {group for rule in self.rules for group in rule.api_groups}
        return bool(rules & {ANY, *REVIEW_GROUPS})


def coverages(
    policies: Iterable[ValidatingAdmissionPolicy | registration.MutatingAdmissionPolicy],
    bindings: Iterable[
        ValidatingAdmissionPolicyBinding | registration.MutatingAdmissionPolicyBinding
    ],
) -> list[Coverage]:
    """Return what webhooks must be sent for the policies that have a binding, all of them
    validating or all of them mutating; those that fail closed come first."""
    bound: dict[str, list[registration.MatchResources]] = {}
    for binding in bindings:
        narrowed = binding.spec.match_resources or registration.MatchResources({}, {})
        bound.setdefault(binding.spec.policy_name, []).append(narrowed)
    groups: dict[tuple[str, str], list[_Part]] = {}
    for policy in sorted(policies, key=lambda policy: policy.name):
        match = policy.spec.match_constraints
        if match is None or policy.name not in bound:
            continue
        kind = (policy.spec.failure_policy or "Fail", match.match_policy or "Equivalent")
        part = _part(match, bound[policy.name], again=_wants_again(policy))
        groups.setdefault(kind, []).append(part)
    return [
        Coverage(
            failure_policy,
            match_policy,
            union_of_rules([rule for part in parts for rule in part.rules]),
            union([selector for part in parts for selector in part.namespaces]),
            union([selector for part in parts for selector in part.objects]),
            IF_NEEDED if any(part.reinvokes for part in parts) else NEVER,
        )
        for (failure_policy, match_policy), parts in sorted(groups.items())
        if any(part.rules for part in parts)
    ]


@dataclass(frozen=True, slots=True)
class _Part:
    """One policy takes this: of each list of selectors, any. `reinvokes` says that it wants to see
    what others have changed after it."""

    rules: tuple[registration.Rule, ...]
    namespaces: tuple[Selector, ...]
    objects: tuple[Selector, ...]
    reinvokes: bool


def _wants_again(policy: ValidatingAdmissionPolicy | registration.MutatingAdmissionPolicy) -> bool:
    if isinstance(policy, ValidatingAdmissionPolicy):
        return False
    return policy.spec.reinvocation_policy == IF_NEEDED


def _part(
    match: registration.MatchResources,
    bindings: Sequence[registration.MatchResources],
    *,
    again: bool,
) -> _Part:
    operations = _operations(bindings)
    rules = (_narrowed(rule, operations) for rule in match.resource_rules)
    objects = match.object_selector or {}
    return _Part(
        tuple(rule for rule in rules if rule.operations),
        tuple(
            conjunction([match.namespace_selector or {}, binding.namespace_selector or {}])
            for binding in bindings
        ),
        (objects,) if objects else tuple(binding.object_selector or {} for binding in bindings),
        again,
    )


def _operations(bindings: Sequence[registration.MatchResources]) -> frozenset[str]:
    """Return the operations that any binding takes."""
    if not all(binding.resource_rules for binding in bindings):
        return frozenset([ANY])
    return frozenset(
        operation
        for binding in bindings
        for rule in binding.resource_rules
        for operation in rule.operations
    )


def _narrowed(rule: registration.Rule, covered: frozenset[str]) -> registration.Rule:
    if ANY in covered:
        operations = rule.operations
    elif ANY in rule.operations:
        operations = tuple(operation for operation in OPERATIONS if operation in covered)
    else:
        operations = tuple(operation for operation in rule.operations if operation in covered)
    return replace(rule, operations=operations, resource_names=())


def rule_document(rule: registration.Rule) -> JsonObject:
    """Return a rule as a configuration has it."""
    return {
        "apiGroups": list(rule.api_groups),
        "apiVersions": list(rule.api_versions),
        "operations": list(rule.operations),
        "resources": list(rule.resources),
        "scope": rule.scope or ANY,
    }


# --- Policy configuration ----------------------------------------------------
#
# The Validating- and the MutatingWebhookConfiguration that send a webhook what policies match.

EVERYTHING: Final = Coverage(
    "Fail", "Equivalent", (registration.Rule((ANY,), (ANY,), (ANY,), ("*/*",), ANY),), {}, {}
)
"""For policies that are not known beforehand."""
PATHS: Final = {False: "/validate", True: "/mutate"}
"""Where the webhook is asked, by whether it is to change objects."""
INJECT: Final = "cert-manager.io/inject-ca-from"


def policy_configuration(
    coverages: Sequence[Coverage], settings: InstallationSettings, *, mutating: bool = False
) -> JsonDict:
    """Return a webhook for each of the coverages; requests that no policy ever sees are left
    out."""
    meta: JsonDict = {"name": settings.name, "labels": settings.labels}
    if settings.certificates is Certificates.CERT_MANAGER:
        meta["annotations"] = {INJECT: f"{settings.namespace}/{settings.name}"}
    return {
        "apiVersion": f"{well_known_values.ADMISSION_REGISTRATION}/v1",
        "kind": f"{'Mutating' if mutating else 'Validating'}WebhookConfiguration",
        "metadata": meta,
        "webhooks": [_webhook(coverage, settings, mutating=mutating) for coverage in coverages],
    }


def _webhook(coverage: Coverage, settings: InstallationSettings, *, mutating: bool) -> JsonDict:
    exact = "-exact" if coverage.match_policy == "Exact" else ""
    result: JsonDict = {
        "name": f"{coverage.failure_policy.lower()}{exact}.{CONFIGURATION_DOMAIN}",
        "clientConfig": _client(settings, PATHS[mutating]),
        "rules": [rule_document(rule) for rule in coverage.rules],
        "failurePolicy": settings.failure_policy_of(coverage.failure_policy),
        "matchPolicy": coverage.match_policy,
        "namespaceSelector": _without(coverage.namespace_selector, settings.exclusions),
        "objectSelector": dict(coverage.object_selector),
        "sideEffects": "None",
        "timeoutSeconds": settings.timeout_seconds,
        "admissionReviewVersions": ["v1", "v1beta1"],
    }
    if mutating:
        result["reinvocationPolicy"] = coverage.reinvocation_policy
    if coverage.takes_reviews:
        groups = ", ".join(f'"{group}"' for group in REVIEW_GROUPS)
        expression = f"!(request.resource.group in [{groups}])"
        result["matchConditions"] = [{"name": "no-reviews", "expression": expression}]
    return result


def _client(settings: InstallationSettings, path: str) -> JsonDict:
    service = {"namespace": settings.namespace, "name": settings.name, "path": path, "port": 443}
    result: JsonDict = {"service": service}
    if settings.ca_bundle:
        result["caBundle"] = base64.b64encode(settings.ca_bundle.encode()).decode()
    return result


def _without(selector: Selector, namespaces: Sequence[str]) -> JsonObject:
    if not namespaces:
        return dict(selector)
    outside = {
        "key": well_known_values.NAMESPACE_NAME,
        "operator": "NotIn",
        "values": list(namespaces),
    }
    return conjunction([selector, {"matchExpressions": [outside]}])
