"""Validation of the status that a kubelet writes for a pod.

As k8s.io/kubernetes `pkg/apis/core/validation`, `ValidatePodStatusUpdate`. Conditions are called by
the name that their type has inside.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import is_since, wording
from celadon.kube.validation import field_checks, format_checks
from celadon.kube.validation.format_checks import older_address
from celadon.kube.validation.pods.pod_specs import annotation_changes
from celadon.kube.validation.pods.security_contexts import NOT_ON_WINDOWS

SYSTEM_CONDITIONS: Final = frozenset({"PodScheduled", "Ready", "Initialized"})
_STATUS: Final = FieldPath("status")
CONTAINER_STATUSES: Final = (
    "containerStatuses",
    "initContainerStatuses",
    "ephemeralContainerStatuses",
)
_ALLOCATING: Final = {"containerStatuses": "containers", "initContainerStatuses": "initContainers"}
"""The containers that resources are allocated to, by where the status tells of them."""
_HEALTH: Final = ("Healthy", "Unhealthy", "Unknown")
_MAX_HEALTH_MESSAGE: Final = 1024
_MAPPING: Final = ("containerName", "resourceName", "requestName")
_CLAIM: Final = "claim:"
_ADDRESSES: Final = {"podIPs": "[]core.PodIP", "hostIPs": "[]core.HostIP"}
"""The types of addresses inside, by their field."""
ONE_PER_FAMILY: Final = "may specify no more than one IP for each IP family"


def pod_status(obj: JsonObject, old: JsonObject) -> field_checks.Errors:
    """Yield what is wrong with the status of a pod."""
    # As `ValidatePodStatusUpdate` of `pkg/apis/core/validation`.
    status, before = obj.get("status") or {}, old.get("status") or {}
    spec = old.get("spec") or {}
    yield from annotation_changes(obj, old)
    yield from _conditions(status)
    yield from _nominated_node(status, before, spec)
    yield from _generation(_STATUS, status)
    quality = status.get("qosClass") or ""
    if quality != (before.get("qosClass") or "") and is_since("1.32"):
        yield fieldpath.invalid(
            _STATUS.child("qosClass"), NamedText(quality), field_checks.IMMUTABLE
        )
    policy = spec.get("restartPolicy") or ""
    sidecars = {
        init_container.get("name")
        for init_container in spec.get("initContainers") or ()
        if init_container.get("restartPolicy") == "Always"
    }
    ended = [
        ("containerStatuses", "containers", (), is_since("1.34")),
        ("initContainerStatuses", "initContainers", sidecars, is_since("1.35")),
    ]
    for statuses, containers, restarted, has_rules in ended:
        plain = _terminated(status, before, statuses, policy, restarted)
        if not has_rules:
            yield from plain
            continue
        declared = spec.get(containers) or ()
        by_rules = _ended_for_good(status, before, statuses, declared, policy)
        if _has_all_restarted(spec):
            all_off = _ended_for_good(status, before, statuses, declared, policy, all_too=False)
            by_rules = field_checks.by_gate(field_checks.RESTART_ALL, (), all_off)
        yield from field_checks.by_gate(field_checks.RESTART_RULES, by_rules, plain)
    yield from _terminated(status, before, "ephemeralContainerStatuses", "Never")
    pod_spec = obj.get("spec") or {}
    yield from _pod_statuses_claims(status, pod_spec)
    if status.get("extendedResourceClaimStatus") is not None:
        yield from _extended_claim(status["extendedResourceClaimStatus"], pod_spec)
    for field in ("podIPs", "hostIPs"):
        yield from _addresses(status, before, field)
    system = (pod_spec.get("os") or {}).get("name", "linux")
    for field in CONTAINER_STATUSES:
        yield from _users(status, field, system)
    for field, containers in _ALLOCATING.items():
        yield from _allocated(status, field, pod_spec.get(containers) or ())
    for path, container_status in field_checks.items(status, "ephemeralContainerStatuses", _STATUS):
        if container_status.get("allocatedResourcesStatus"):
            detail = "must not be specified in container status"
            yield fieldpath.forbidden(path.child("allocatedResourcesStatus"), detail)


def _conditions(status: JsonObject) -> field_checks.Errors:
    """Validate conditions; before 1.33 they are said to be metadata."""
    # As `validatePodConditions` of `pkg/apis/core/validation`.
    for path, condition in field_checks.items(
        status, "conditions", _STATUS if is_since("1.33") else field_checks.METADATA
    ):
        yield from _generation(path, condition)
        kind = condition.get("type") or ""
        if kind not in SYSTEM_CONDITIONS:
            yield from field_checks.qualified_name(path.child("Type"), kind)


def _generation(path: FieldPath, observed: JsonObject) -> field_checks.Errors:
    generation = observed.get("observedGeneration") or 0
    if generation < 0:
        detail = "must be a non-negative integer"
        yield fieldpath.invalid(path.child("observedGeneration"), generation, detail)


def _nominated_node(
    status: JsonObject, before: JsonObject, spec: JsonObject
) -> field_checks.Errors:
    nominated, path = status.get("nominatedNodeName"), _STATUS.child("nominatedNodeName")
    if not nominated or nominated == before.get("nominatedNodeName"):
        return
    yield from field_checks.dns_subdomain(path, nominated)
    if spec.get("nodeName"):
        detail = "may not be set on pods that are already bound to a node"
        yield from field_checks.only_with(
            field_checks.NODES_STAY_NOMINATED, [fieldpath.forbidden(path, detail)]
        )


def _terminated(
    status: JsonObject,
    before: JsonObject,
    field: str,
    policy: str,
    restarted: Collection[str | None] = (),
) -> field_checks.Errors:
    """Yield an error for each container that has ended for good and runs again."""
    # As `ValidateContainerStateTransition` of `pkg/apis/core/validation`.
    if policy == "Always":
        return
    for index, old in enumerate(before.get(field) or ()):
        ended = (old.get("state") or {}).get("terminated")
        if ended is None or old.get("name") in restarted:
            continue
        if ended.get("exitCode") and policy == "OnFailure":
            continue
        for container_status in status.get(field) or ():
            state = container_status.get("state") or {}
            if container_status.get("name") == old.get("name") and state.get("terminated") is None:
                path = _STATUS.child(field).index(index).child("state")
                yield fieldpath.forbidden(path, "may not be transitioned to non-terminated state")


_RESTARTS: Final = {"In": True, "NotIn": False}


def _ended_for_good(
    status: JsonObject,
    before: JsonObject,
    field: str,
    containers: Iterable[JsonObject],
    policy: str,
    *,
    all_too: bool = True,
) -> field_checks.Errors:
    """Return whether a container has ended for good, by the rules that containers have for
    restarts."""
    declared = {container.get("name"): container for container in reversed([*containers])}
    for index, old in enumerate(before.get(field) or ()):
        ended, name = (old.get("state") or {}).get("terminated"), old.get("name")
        now = next(
            (
                container_status
                for container_status in status.get(field) or ()
                if container_status.get("name") == name
            ),
            None,
        )
        if ended is None or now is None or (now.get("state") or {}).get("terminated") is not None:
            continue
        container = declared.get(name)
        code = ended.get("exitCode") or 0
        if container is None or not _starts_again(container, policy, code, all_too=all_too):
            path = _STATUS.child(field).index(index).child("state")
            yield fieldpath.forbidden(path, "may not be transitioned to non-terminated state")


def _starts_again(container: JsonObject, policy: str, code: int, *, all_too: bool) -> bool:
    """Return whether a container that ended so is started again. Without `all_too`, a rule that
    restarts all containers says nothing."""
    if container.get("restartPolicy") is not None:
        action = _restart_action(container, code)
        if action == "Restart" or (action == _RESTART_ALL_ACTION and all_too):
            return True
        policy = container["restartPolicy"]
    return policy not in ("Never", "OnFailure") or (policy == "OnFailure" and code != 0)


_RESTART_ALL_ACTION: Final = "RestartAllContainers"


def _restart_action(container: JsonObject, code: int) -> str:
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes")
        if codes and (code in (codes.get("values") or ())) is _RESTARTS.get(codes.get("operator")):
            return rule.get("action") or ""
    return ""


def _has_all_restarted(spec: JsonObject) -> bool:
    """Return whether a container of the pod may have all others started again."""
    containers = (*(spec.get("initContainers") or ()), *(spec.get("containers") or ()))
    rules = (rule for container in containers for rule in container.get("restartPolicyRules") or ())
    return is_since("1.35") and any(rule.get("action") == _RESTART_ALL_ACTION for rule in rules)


def _pod_statuses_claims(status: JsonObject, spec: JsonObject) -> field_checks.Errors:
    resource_claims = {
        resource_claim.get("name") for resource_claim in spec.get("resourceClaims") or ()
    }
    seen: set[str] = set()
    for path, resource_claim_status in field_checks.items(status, "resourceClaimStatuses", _STATUS):
        name = resource_claim_status.get("name") or ""
        if name not in resource_claims:
            detail = "must match the name of an entry in `spec.resourceClaims`"
            yield fieldpath.invalid(path.child("name"), name, detail)
        if name in seen:
            yield fieldpath.duplicate(path.child("name"), name)
        seen.add(name)
        if resource_claim_status.get("resourceClaimName") is not None:
            named = path.child("resourceClaimName" if is_since("1.36") else "name")
            yield from field_checks.dns_subdomain(named, resource_claim_status["resourceClaimName"])


def _extended_claim(claim: JsonObject, spec: JsonObject) -> field_checks.Errors:
    """Check the claim that was made for extended resources of the pod's containers."""
    # As `validatePodExtendedResourceClaimStatus` of `pkg/apis/core/validation`.
    path = _STATUS.child("extendedResourceClaimStatus")
    containers = {
        container.get("name") or "": container
        for field in ("initContainers", "containers")
        for container in spec.get(field) or ()
    }
    mappings = path.child("requestMappings")
    if not claim.get("requestMappings"):
        yield fieldpath.required(mappings, "at least one request mapping is required")
    seen: set[tuple[str, ...]] = set()
    for place, request_mapping in field_checks.items(claim, "requestMappings", path):
        named = {field: request_mapping.get(field) or "" for field in _MAPPING}
        name, resource, request = named.values()
        container = containers.get(name)
        if container is None:
            detail = (
                "must match the name of an entry in spec.initContainers.name or "
                "spec.containers.name"
            )
            yield fieldpath.invalid(place.child("containerName"), name, detail)
        elif resource not in _requests(container):
            detail = (
                "must match the extended resource name of an entry in "
                "spec.initContainers.resources.requests or spec.containers.resources.requests"
            )
            yield fieldpath.invalid(place.child("resourceName"), resource, detail)
        yield from field_checks.dns_label(path.child("requestName"), request)
        if (name, resource, request) in seen:
            for field, value in named.items():
                yield fieldpath.duplicate(place.child(field), value)
        seen.add((name, resource, request))
    resource_claim_name = claim.get("resourceClaimName") or ""
    if resource_claim_name:
        yield from field_checks.dns_subdomain(path.child("resourceClaimName"), resource_claim_name)
    else:
        yield fieldpath.required(path.child("resourceClaimName"))


def _requests(container: JsonObject) -> Collection[str]:
    requests: Collection[str] = (container.get("resources") or {}).get("requests") or ()
    return requests


def _users(status: JsonObject, field: str, system: str) -> field_checks.Errors:
    """Validate whom the processes of a container run as."""
    # As `validateContainerStatusUsers` of `pkg/apis/core/validation`.
    for path, container_status in field_checks.items(status, field, _STATUS):
        user = (container_status.get("user") or {}).get("linux")
        if user is None:
            continue
        place = path.child("user", "linux") if is_since("1.33") else path.child("linux")
        if system == "windows":
            yield fieldpath.forbidden(place, NOT_ON_WINDOWS)
        if system != "linux":
            continue
        for member in ("uid", "gid"):
            number = user.get(member) or 0
            yield from field_checks.each(
                place.child(member), number, format_checks.user_or_group_id(number)
            )
        for group_at, group in field_checks.items(user, "supplementalGroups", place):
            yield from field_checks.each(group_at, group, format_checks.user_or_group_id(group))


def _allocated(
    status: JsonObject, field: str, containers: Iterable[JsonObject]
) -> field_checks.Errors:
    """Yield what is wrong with the health of the devices of containers. The spec need not know a
    container."""
    # As `validateContainerStatusAllocatedResourcesStatus` of `pkg/apis/core/validation`.
    declared = {container.get("name") or "": container for container in reversed([*containers])}
    for path, container_status in field_checks.items(status, field, _STATUS):
        container = declared.get(container_status.get("name") or "")
        for place, resource in field_checks.items(
            container_status, "allocatedResourcesStatus", path
        ):
            if container is not None:
                yield from _allocated_name(place.child("name"), resource, container)
            yield from _health(place, resource)


_NO_REQUEST: Final = wording(
    "must match one of the container's resource requests",
    v1_32="must match one of the container's resource requirements",
)


def _allocated_name(
    path: FieldPath, resource: JsonObject, container: JsonObject
) -> field_checks.Errors:
    name: str = resource.get("name") or ""
    if name.startswith(_CLAIM) and is_since("1.32"):
        claims = (container.get("resources") or {}).get("claims") or ()
        allowed: Collection[str] = {_claim_name(claim) for claim in claims}
        detail = (
            "must match one of the container's resource claims in a format "
            "'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
        )
    else:
        allowed = _requests(container)
        detail = _NO_REQUEST.text
    if name not in allowed:
        yield fieldpath.invalid(path, GoValue(name, "core.ResourceName"), detail)


def _claim_name(claim: JsonObject) -> str:
    request = claim.get("request")
    return f"{_CLAIM}{claim.get('name') or ''}{f'/{request}' if request else ''}"


def _health(path: FieldPath, resource: JsonObject) -> field_checks.Errors:
    seen: set[str] = set()
    for place, item in field_checks.items(resource, "resources", path):
        health = item.get("health") or ""
        if health not in _HEALTH:
            yield fieldpath.not_supported(place.child("health"), NamedText(health), _HEALTH)
        message: Any = item.get("message")
        if message == "":
            yield fieldpath.required(place.child("message"), "must be non-empty if specified")
        elif message is not None and len(message.encode()) > _MAX_HEALTH_MESSAGE:
            yield fieldpath.too_long(place.child("message"), _MAX_HEALTH_MESSAGE)
        device = item.get("resourceID") or ""
        if device in seen:
            yield fieldpath.duplicate(place.child("resourceID"), NamedText(device))
        seen.add(device)


def _addresses(status: JsonObject, before: JsonObject, field: str) -> field_checks.Errors:
    # As `validatePodIPs` of `pkg/apis/core/validation`.
    old_addresses = [address.get("ip") or "" for address in before.get(field) or ()]
    addresses = [address.get("ip") or "" for address in status.get(field) or ()]
    path, first = _STATUS.child(field), status.get("hostIP") or ""
    if field == "hostIPs" and addresses and addresses[0] != first:
        yield fieldpath.invalid(
            path.index(0).child("ip"), addresses[0], "must be equal to `hostIP`"
        )
    for index, address in enumerate(addresses):
        yield from older_address(path.index(index), address, old_addresses)
    if len(addresses) < 2:
        return
    addrs = [format_checks.address(address) for address in addresses]
    families = {addr.is_v4 for addr in addrs if addr is not None}
    if None in addrs:
        cause = f"invalid IP[{addrs.index(None)}]: {addresses[addrs.index(None)]}"
        yield fieldpath.internal(path, f"failed to check for dual stack with error:{cause}")
    if None in addrs or len(families) < 2 or len(addresses) > 2:
        go_value = GoValue([{"IP": address} for address in addresses], _ADDRESSES[field])
        yield fieldpath.invalid(path, go_value, ONE_PER_FAMILY)
    if is_since("1.33"):
        return
    for index, address in enumerate(addresses):
        if address in addresses[:index]:
            repeated = GoValue({"IP": address}, _ADDRESSES[field].removeprefix("[]"))
            yield fieldpath.duplicate(path.index(index), repeated)
