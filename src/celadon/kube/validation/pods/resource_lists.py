"""Amounts of resources: names, quantities, requests against limits."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonObject
from celadon.kube.quantity import EXACT, Quantity, QuantityError, parse_amounts, pod_total
from celadon.kube.releases import is_since, wording
from celadon.kube.validation import field_checks
from celadon.kube.well_known_values import HUGE_PAGES, NATIVE_DOMAIN

REQUESTS_PREFIX: Final = "requests."
CONTAINER_RESOURCES: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
COUNTED: Final = frozenset(
    {
        "pods",
        "services",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
"""Resources of which there are only whole ones."""
QUOTA_RESOURCES: Final = COUNTED | frozenset(
    {
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.storage",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
    }
)
STANDARD_RESOURCES: Final = QUOTA_RESOURCES | {"storage"}
POD_RESOURCES: Final = frozenset({"cpu", "memory"})

SUPPORTED_FOR_PODS: Final = ("cpu", HUGE_PAGES, "memory")

ZERO: Final = Quantity(0)
ONE: Final = Quantity(1)

NameRule = Callable[[FieldPath, str], field_checks.Errors]


def is_huge_page(name: str) -> bool:
    """Return whether a resource is one of huge pages: `hugepages-2Mi` and the like."""
    return name.startswith(HUGE_PAGES)


def is_huge_page_of_quota(name: str) -> bool:
    """Return whether a quota's resource is huge pages, or requests for them."""
    return name.removeprefix(REQUESTS_PREFIX).startswith(HUGE_PAGES)


def is_native(name: str) -> bool:
    """Return whether a resource has no domain, or Kubernetes' own."""
    return "/" not in name or NATIVE_DOMAIN in name


def is_extended(name: str) -> bool:
    """Return whether a resource is one of the cluster's own: with a domain, and not one of
    Kubernetes'."""
    if is_native(name) or name.startswith(REQUESTS_PREFIX):
        return False
    return not name_rules.qualified_name(REQUESTS_PREFIX + name)


def may_overcommit(name: str) -> bool:
    """Return whether the limits of a resource may be above its requests."""
    return is_native(name) and not is_huge_page(name)


def resource_name(path: FieldPath, name: str) -> field_checks.Errors:
    """Validate a name of any resource list."""
    # As `validateResourceName` of `pkg/apis/core/validation`.
    messages = name_rules.qualified_name(name)
    if messages:
        yield from field_checks.each(path, GoValue(name, "core.ResourceName"), messages)
    elif "/" not in name and not (name in STANDARD_RESOURCES or is_huge_page_of_quota(name)):
        detail = "must be a standard resource type or fully qualified"
        yield fieldpath.invalid(path, GoValue(name, "core.ResourceName"), detail)


def container_resource_name(path: FieldPath, name: str) -> field_checks.Errors:
    """Yield what is wrong with the name of a request or limit of a container: it is standard, or
    has a domain."""
    # As `validateContainerResourceName` of `pkg/apis/core/validation`.
    yield from resource_name(path, name)
    if "/" not in name:
        if name not in CONTAINER_RESOURCES and not is_huge_page(name):
            detail = "must be a standard resource for containers"
            yield fieldpath.invalid(path, GoValue(name, "core.ResourceName"), detail)
    elif not is_native(name) and not is_extended(name):
        detail = "doesn't follow extended resource name standard"
        yield fieldpath.invalid(path, GoValue(name, "core.ResourceName"), detail)


def pod_resource_name(path: FieldPath, name: str) -> field_checks.Errors:
    """Yield what is wrong with the name of a request or limit of a whole pod: only cpu, memory and
    huge pages are known."""
    # As `validatePodResourceName` of `pkg/apis/core/validation`.
    errors = list(resource_name(path, name))
    yield from errors
    if errors or name in POD_RESOURCES or (is_huge_page(name) and is_since("1.33")):
        return
    supported = SUPPORTED_FOR_PODS if is_since("1.33") else sorted(POD_RESOURCES)
    yield fieldpath.not_supported(path, GoValue(name, "core.ResourceName"), supported)


def is_of_quota(name: str) -> bool:
    """Return whether it is a standard resource that a ResourceQuota can limit."""
    return name in QUOTA_RESOURCES or is_huge_page_of_quota(name)


def quota_resource_name(path: FieldPath, name: str) -> field_checks.Errors:
    """Yield what is wrong with a name in a ResourceQuota, which may also be a count of objects."""
    # As `ValidateResourceQuotaResourceName` of `pkg/apis/core/validation`.
    yield from resource_name(path, name)
    if "/" not in name and not is_of_quota(name):
        detail = "must be a standard resource for quota"
        yield fieldpath.invalid(path, GoValue(name, "core.ResourceName"), detail)


def quantity_value(path: FieldPath, name: str, text: str) -> field_checks.Errors:
    """Yield what is wrong with an amount: it may not be negative, and is whole where there are no
    parts."""
    # As `ValidateResourceQuantityValue` of `pkg/apis/core/validation`.
    amount = parse_amounts(text)
    if amount.sign < 0:
        yield fieldpath.invalid(path, str(amount), field_checks.NEGATIVE)
    if (name in COUNTED or is_extended(name)) and not _is_whole(amount):
        value = GoValue(str(amount), "resource.Quantity")
        yield fieldpath.invalid(path, value, "must be an integer")


def positive_quantity(path: FieldPath, text: str) -> field_checks.Errors:
    """Validate an amount that is more than zero."""
    amount = parse_amounts(text)
    if amount.sign <= 0:
        yield fieldpath.invalid(path, str(amount), field_checks.NOT_POSITIVE)


def _is_whole(amount: Quantity) -> bool:
    """Return whether an amount has no fraction; upstream counts thousandths in an int64, whose
    lowest bits are left of large ones."""
    return amount.int64_value(3) % 1000 == 0


def _divides(name: str, amount: Quantity) -> bool:
    """Return whether an amount of huge pages is a number of pages; none at all is one, too."""
    # As `validateResourceQuantityHugePageValue` of `pkg/apis/core/validation`.
    try:
        size = parse_amounts(name.removeprefix(HUGE_PAGES))
    except QuantityError:
        return False
    if size.sign <= 0 or not _is_whole(size):
        return False
    whole = amount.as_decimal().to_integral_value("ROUND_CEILING", context=EXACT)
    return EXACT.remainder(whole, size.as_decimal()) == 0


def _huge_pages(path: FieldPath, name: str, amount: Quantity) -> field_checks.Errors:
    if is_huge_page(name) and not _divides(name, amount):
        detail = f"{amount} is not positive integer multiple of {name}"
        yield fieldpath.invalid(path, str(amount), detail)


@field_checks.once_sound
def requirements(
    path: FieldPath,
    value: JsonObject,
    claims: Collection[str],
    name_rule: NameRule = container_resource_name,
) -> field_checks.Errors:
    """Validate `resources` of a container or a pod; `claims` are the names of the pod's resource
    claims."""
    # As `ValidateContainerResourceRequirements` of `pkg/apis/core/validation`.
    limits = dict(field_checks.entries(value, "limits"))
    for name, amount in limits.items():
        field_path = path.child("limits").key(name)
        yield from name_rule(field_path, name)
        yield from quantity_value(field_path, name, amount)
        yield from _huge_pages(field_path, name, parse_amounts(amount))
    for name, amount in field_checks.entries(value, "requests"):
        field_path = path.child("requests").key(name)
        yield from name_rule(field_path, name)
        yield from quantity_value(field_path, name, amount)
        yield from _within_limit(path, name, amount, limits.get(name))
        yield from _huge_pages(field_path, name, parse_amounts(amount))
    named = [*limits, *(value.get("requests") or {})]
    if any(map(is_huge_page, named)) and not POD_RESOURCES.intersection(named):
        yield fieldpath.forbidden(path, "HugePages require cpu or memory")
    yield from _claims(path, value, claims)


_NO_CLAIMS: Final = wording(
    "claims may not be set for Resources at pod-level",
    v1_34="claims cannot be set for Resources at pod-level",
)


def pod_requirements(
    path: FieldPath, spec: JsonObject, claims: Collection[str]
) -> field_checks.Errors:
    """Validate `resources` of a pod's spec; `path` is theirs."""
    # As `validatePodResourceRequirements` of `pkg/apis/core/validation`.
    resources: JsonObject | None = spec.get("resources")
    if resources is None:
        return
    if (spec.get("os") or {}).get("name") == "windows" and is_since("1.34"):
        yield fieldpath.forbidden(path, "may not be set for a windows pod")
        return
    if resources.get("claims") is not None:
        yield fieldpath.forbidden(path.child("claims"), _NO_CLAIMS.text)
    yield from requirements(path, resources, claims, pod_resource_name)
    yield from _room_for_containers(path, spec, resources)


def _room_for_containers(
    path: FieldPath, spec: JsonObject, value: JsonObject
) -> field_checks.Errors:
    """Check that there is room for the containers. A pod asks for as much as they do together, and
    none may have more than it. Before 1.34 it asked for nothing of what it did not name."""
    # As `validatePodResourceConsistency` of `pkg/apis/core/validation`.
    requests, limits = value.get("requests") or {}, value.get("limits") or {}
    if not is_since("1.34"):
        requests = {**dict.fromkeys(pod_total(spec, "requests"), "0"), **requests}
    more = "must be greater than or equal to aggregate container"
    for name, total in sorted(pod_total(spec, "requests").items()):
        if name in requests and total.compare(parse_amounts(requests[name])) > 0:
            field_path = path.child("requests").key(name)
            yield fieldpath.invalid(field_path, requests[name], f"{more} requests of {total}")
    for name, total in sorted(pod_total(spec, "limits").items()):
        if not is_huge_page(name) or name not in limits or not is_since("1.34"):
            continue
        if total.compare(parse_amounts(limits[name])) > 0:
            field_path = path.child("limits").key(name)
            yield fieldpath.invalid(field_path, limits[name], f"{more} limits of {total}")
    for field_path, container in field_checks.items(spec, "containers", path):
        for name, amount in field_checks.entries(container.get("resources") or {}, "limits"):
            if name in limits and parse_amounts(amount).compare(parse_amounts(limits[name])) > 0:
                detail = f"must be less than or equal to pod limits of {limits[name]}"
                yield fieldpath.invalid(field_path.key(name).child("limits"), amount, detail)


def _within_limit(path: FieldPath, name: str, text: str, limit: str | None) -> field_checks.Errors:
    request, requests_path = parse_amounts(text), path.child("requests")
    if limit is None:
        if not may_overcommit(name):
            detail = "Limit must be set for non overcommitable resources"
            yield fieldpath.required(path.child("limits"), detail)
        return
    order = request.compare(parse_amounts(limit))
    if order != 0 and not may_overcommit(name):
        yield fieldpath.invalid(
            requests_path, str(request), f"must be equal to {name} limit of {limit}"
        )
    elif order > 0:
        detail = f"must be less than or equal to {name} limit of {limit}"
        yield fieldpath.invalid(requests_path, str(request), detail)


class _NameTree:
    """Names that were used, by what stands between their slashes. `below` counts those that go
    on behind a place."""

    __slots__ = ("below", "parts")

    def __init__(self) -> None:
        self.below = 0
        self.parts: dict[str, _NameTree] = {}

    def add(self, name: str) -> None:
        place = self
        for part in name.split("/"):
            place.below += 1
            place = place.parts.setdefault(part, _NameTree())

    def count_below(self, name: str) -> int:
        """Return how many names begin with that one and a slash."""
        place = self
        for part in name.split("/"):
            below = place.parts.get(part)
            if below is None:
                return 0
            place = below
        return place.below


def _claims(path: FieldPath, value: JsonObject, claims: Collection[str]) -> field_checks.Errors:
    used: set[str] = set()
    tree = _NameTree()
    listed = ""
    for claim_path, claim in field_checks.items(value, "claims", path):
        name, request = claim.get("name") or "", claim.get("request") or ""
        if not name:
            yield fieldpath.required(claim_path)
            continue
        key = f"{name}/{request}" if request else name
        if name in used:
            yield fieldpath.duplicate(claim_path, name)
        else:
            if request:
                yield from field_checks.dns_label(claim_path.child("request"), request)
            if key in used:
                yield fieldpath.duplicate(claim_path, key)
            elif not request:
                # Each request of the claim that was named is one too many.
                for _ in range(tree.count_below(name)):
                    yield fieldpath.duplicate(claim_path, name)
            if key not in used and "/" in key:
                tree.add(key)
            used.add(key)
        if name not in claims:
            if not listed:
                listed = f": {', '.join(sorted(claims))}" if claims else " which is empty"
            detail = f"must be one of the names in pod.spec.resourceClaims{listed}"
            yield fieldpath.FieldError(fieldpath.ErrorType.NOT_FOUND, claim_path, name, detail)
