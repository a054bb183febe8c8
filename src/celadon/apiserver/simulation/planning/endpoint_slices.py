"""The EndpointSlices and Endpoints of a Service: where its pods can be reached; and the slices that
mirror Endpoints of others.

As k8s.io/endpointslice `reconciler.go` and `utils.go`, and k8s.io/kubernetes
`pkg/controller/endpoint`. Hints of `topology-mode` are left out. Upstream orders what it groups by
hashes of Go's memory; here ports stand as in the Service, and endpoints come in the order of the
pods' names.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.apiserver.simulation.planning import plans
from celadon.apiserver.simulation.planning import pod_predicates as facts
from celadon.kube import JsonObject, metadata
from celadon.kube.fieldmanager import LAST_APPLIED
from celadon.kube.json_types import JsonDict
from celadon.kube.well_known_values import HEADLESS, SERVICE_LABEL
from celadon.kube.workload_controllers import owner_reference
from celadon.records import dataclass

MAX_ENDPOINTS: Final = 100
"""In one slice (`--max-endpoints-per-slice`)."""
MAX_ADDRESSES: Final = 1000
"""In one Endpoints."""

SLICE_MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
SLICE_CONTROLLER: Final = "endpointslice-controller.k8s.io"
HEADLESS_LABEL: Final = "service.kubernetes.io/headless"
ENDPOINTS_MANAGED_BY: Final = "endpoints.kubernetes.io/managed-by"
ENDPOINTS_CONTROLLER: Final = "endpoint-controller"
OVER_CAPACITY: Final = "endpoints.kubernetes.io/over-capacity"
LAST_CHANGE: Final = "endpoints.kubernetes.io/last-change-trigger-time"
_ZONE: Final = "topology.kubernetes.io/zone"
_RESERVED: Final = frozenset({SERVICE_LABEL, SLICE_MANAGED_BY, HEADLESS_LABEL})
_SAME_NODE: Final = "PreferSameNode"
_CLOSE: Final = frozenset({"PreferClose", "PreferSameZone", _SAME_NODE})
_LONGEST_NAME: Final = 253


def has_endpoints(service: JsonObject) -> bool:
    """Tell whether the pods of a Service are looked for: it has a selector, and is no name of
    something outside of the cluster."""
    spec = facts.spec_of(service)
    return spec.get("selector") is not None and spec.get("type") != "ExternalName"


def selects(service: JsonObject, pod: JsonObject) -> bool:
    """Tell whether the Service selects the pod."""
    selector = facts.spec_of(service).get("selector") or {}
    return selector.items() <= metadata.labels(pod).items()


def name_prefix(name: str) -> str:
    """Return how the names of slices begin."""
    return f"{name}-" if len(name) < _LONGEST_NAME else name


def is_own_slice(slice_: JsonObject, service: JsonObject) -> bool:
    """Tell whether this controller looks after the slice: users may add slices of their own to a
    Service."""
    labels = metadata.labels(slice_)
    return labels.get(SLICE_MANAGED_BY) == SLICE_CONTROLLER and labels.get(
        SERVICE_LABEL
    ) == metadata.name(service)


@dataclass(frozen=True, slots=True)
class Reachable:
    """Holds what the plan is made from: the pods that the Service selects, the labels of all nodes
    by name, and the time of the first change that no slice tells of yet; empty where there is
    none."""

    pods: Sequence[JsonObject]
    nodes: Mapping[str, Mapping[str, str]]
    changed_at: str = ""


class TriggerTimes:
    """Remembers when the pods of Services, and these, were changed, as far as it is known; as
    k8s.io/endpointslice `util/trigger_time_tracker.go`. Items are Services."""

    def __init__(self) -> None:
        self._times: dict[str, dict[str, str]] = {}

    def changed_at(self, item: str, service: JsonObject, pods: Iterable[JsonObject]) -> str:
        """Return the first time since the last look; empty if nothing has changed."""
        former = self._times.get(item, {})
        times = {"": metadata.creation_timestamp(service)}
        for pod in pods:
            since = (facts.condition_of(pod, "Ready") or {}).get("lastTransitionTime")
            if since:
                times[metadata.name(pod)] = since
        self._times[item] = times
        return min((time for key, time in times.items() if time > former.get(key, "")), default="")

    def forget(self, item: str) -> None:
        """Forget a Service that is gone."""
        self._times.pop(item, None)


# As `Reconcile` of k8s.io/endpointslice `reconciler.go`. Each family of addresses has slices of its
# own: a slice has one `addressType`, which cannot be changed.
def slices_plan(
    service: JsonObject, reachable: Reachable, slices: Iterable[JsonObject]
) -> plans.Plan:
    """Return the slices of a Service, brought to what its pods are now."""
    if not has_endpoints(service):
        return plans.NOTHING_TO_DO
    name, namespace = metadata.name(service), metadata.namespace(service)
    failed = plans.ObjectEvent(
        plans.WARNING,
        "FailedToUpdateEndpointSlices",
        f"Error updating Endpoint Slices for Service {namespace}/{name}: ",
    )
    present = [slice_ for slice_ in slices if is_own_slice(slice_, service)]
    families = _address_types(service)
    steps: list[plans.Step] = []
    for family in families:
        work = _SliceWork(service, family, reachable.changed_at)
        work.sort_out([item for item in present if item["addressType"] == family], reachable)
        steps += work.steps(failed)
    steps += (
        plans.Step(plans.Verb.DELETE, item, failed=failed)
        for item in present
        if item["addressType"] not in families
    )
    return plans.Plan(tuple(steps))


def _address_types(service: JsonObject) -> tuple[str, ...]:
    return tuple(facts.spec_of(service).get("ipFamilies") or ("IPv4",))


class _SliceWork:
    """The slices of one family of addresses: which are made, changed and deleted."""

    def __init__(self, service: JsonObject, family: str, changed_at: str) -> None:
        self._service = service
        self._family = family
        self._changed_at = changed_at
        self._created: list[JsonDict] = []
        self._updated: list[JsonDict] = []
        self._deleted: list[JsonObject] = []

    # As `reconcileByAddressType`.
    def sort_out(self, present: Sequence[JsonObject], reachable: Reachable) -> None:
        """Group endpoints by their ports, since a slice has the same for all, and fill the slices
        of each group."""
        groups: dict[str, list[JsonObject]] = {}
        for item in present:
            if _is_owned(item, self._service):
                groups.setdefault(_ports_key(item.get("ports") or ()), []).append(item)
            else:
                self._deleted.append(item)
        by_ports: dict[str, tuple[list[Any], JsonDict]] = {}
        for pod in sorted(reachable.pods, key=metadata.name):
            if not _belongs(pod):
                continue
            ports = _ports(self._service, pod)
            _, endpoints = by_ports.setdefault(_ports_key(ports), (ports, {}))
            endpoint = self._endpoint(pod, reachable)
            if endpoint is not None:
                endpoints[_endpoint_key(endpoint)] = endpoint
        for key, (ports, endpoints) in by_ports.items():
            self._fill(groups.get(key, []), ports, endpoints)
        for key, found_slices in groups.items():
            if key not in by_ports:
                self._deleted += found_slices
        if len(present) == len(self._deleted) and not self._created:
            self._hold_place()

    # As `podToEndpoint` of k8s.io/endpointslice `utils.go`.
    def _endpoint(self, pod: JsonObject, reachable: Reachable) -> JsonDict | None:
        """Return the endpoint of a pod, or None if the pod has no address of the family or is on a
        node that does not exist."""
        node = facts.node_of(pod)
        if node not in reachable.nodes and not facts.spec_of(self._service).get(
            "publishNotReadyAddresses"
        ):
            return None
        addresses = [address for address in _pod_addresses(pod) if _family(address) == self._family]
        if not addresses:
            return None
        serving, ending = facts.is_ready(pod), facts.is_going(pod)
        published = bool(facts.spec_of(self._service).get("publishNotReadyAddresses"))
        result: JsonDict = {
            "addresses": addresses,
            "conditions": {
                # `ready` is never true of a pod that ends, so that proxies which know nothing but
                # `ready` stop sending to it; who can drain connections looks at `serving` and
                # `terminating`.
                "ready": published or (serving and not ending),
                "serving": serving,
                "terminating": ending,
            },
        }
        if _has_host_name(pod, self._service):
            result["hostname"] = facts.spec_of(pod)["hostname"]
        result["targetRef"] = _target(pod)
        if node:
            result["nodeName"] = node
        zone = reachable.nodes.get(node, {}).get(_ZONE)
        if zone:
            result["zone"] = zone
        hints = _hints(result, facts.spec_of(self._service).get("trafficDistribution") or "")
        if hints:
            result["hints"] = hints
        return result

    # As `reconcileByPortMapping`. A change of a slice is sent to every node, so that as few slices
    # as possible are touched, even if some stay half empty.
    def _fill(self, slices: Sequence[JsonObject], ports: list[Any], by_key: JsonDict) -> None:
        """Fill the slices of a group. Endpoints stay where they are; new ones go first into slices
        that change anyway, then into one that has room for all, then into new ones."""
        unchanged: list[JsonObject] = []
        changed: list[JsonDict] = []
        for slice_ in slices:
            result = [
                by_key.pop(key, None) for key in map(_endpoint_key, slice_.get("endpoints") or ())
            ]
            endpoints = [endpoint for endpoint in result if endpoint is not None]
            labels = self._labels()
            if endpoints == (slice_.get("endpoints") or []) and metadata.labels(slice_) == labels:
                unchanged.append(slice_)
            elif endpoints or metadata.labels(slice_) != labels:
                changed.append(_with_endpoints(slice_, endpoints, labels))
            else:
                self._deleted.append(slice_)
        left = list(by_key.values())
        for item in sorted(changed, key=lambda value: -len(value["endpoints"])):
            room = MAX_ENDPOINTS - len(item["endpoints"])
            item["endpoints"] += left[:room]
            left = left[room:]
        self._deleted += (slice_ for slice_ in changed if not slice_["endpoints"])
        self._updated += (slice_ for slice_ in changed if slice_["endpoints"])
        while left:
            roomy = _roomiest(unchanged, len(left))
            if roomy is None:
                item = self._new(ports, left[:MAX_ENDPOINTS])
                self._created.append(item)
                left = left[MAX_ENDPOINTS:]
            else:
                unchanged.remove(roomy)
                endpoints = [*(roomy.get("endpoints") or ()), *left]
                self._updated.append(_with_endpoints(roomy, endpoints, self._labels()))
                left = []

    # As the placeholder of `reconcileByAddressType`: by it, a Service without endpoints differs
    # from one that nobody has looked at yet.
    def _hold_place(self) -> None:
        """Hold the place with one empty slice, which a Service without endpoints has."""
        new = self._new([], [])
        deleted = self._deleted[0] if len(self._deleted) == 1 else None
        if deleted is not None and _is_like(deleted, new):
            self._deleted.clear()
        else:
            self._created.append(new)

    # As `setEndpointSliceLabels`: labels of the Service are mirrored, but those that say whose a
    # slice is are the controller's own.
    def _labels(self) -> dict[str, str]:
        labels = metadata.labels(self._service)
        result = {key: value for key, value in labels.items() if key not in _RESERVED}
        if _is_headless(self._service):
            result[HEADLESS_LABEL] = ""
        result[SERVICE_LABEL] = metadata.name(self._service)
        result[SLICE_MANAGED_BY] = SLICE_CONTROLLER
        return result

    def _new(self, ports: list[Any], endpoints: list[Any]) -> JsonDict:
        return {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "generateName": name_prefix(metadata.name(self._service)),
                "namespace": metadata.namespace(self._service),
                "labels": self._labels(),
                "ownerReferences": [
                    owner_reference({"apiVersion": "v1", "kind": "Service", **self._service})
                ],
            },
            "addressType": self._family,
            "endpoints": endpoints or None,
            "ports": ports or None,
        }

    # As `finalize`: an update is cheaper for all who watch than a deletion and a creation. A
    # Service that is being deleted gets no new slices; those that it has go with it.
    def steps(self, failed: plans.ObjectEvent) -> Iterable[plans.Step]:
        """Return the steps. A slice that would go takes the place of one that would come."""
        reused = []
        for item in list(self._deleted):
            if self._created and _is_owned(item, self._service):
                created = self._created.pop()
                meta = {**metadata.metadata(item), "labels": created["metadata"]["labels"]}
                reused.append({**created, "metadata": meta})
                self._deleted.remove(item)
        if not facts.is_going(self._service):
            for slice_ in self._created:
                yield plans.Step(
                    plans.Verb.CREATE, _stamped(slice_, self._changed_at), failed=failed
                )
        for slice_ in (*self._updated, *reused):
            yield plans.Step(plans.Verb.UPDATE, _stamped(slice_, self._changed_at), failed=failed)
        yield from (plans.Step(plans.Verb.DELETE, entry, failed=failed) for entry in self._deleted)


def _stamped(obj: JsonObject, changed_at: str) -> JsonDict:
    """Return the object with the time of the change that it follows from, if that is known."""
    annotations = {**metadata.annotations(obj)}
    annotations.pop(LAST_CHANGE, None)
    if changed_at:
        annotations[LAST_CHANGE] = changed_at
    meta = {key: value for key, value in metadata.metadata(obj).items() if key != "annotations"}
    if annotations:
        meta["annotations"] = annotations
    return {**obj, "metadata": meta}


def _is_like(obj: JsonObject, value: JsonObject) -> bool:
    same_labels = metadata.labels(obj) == metadata.labels(value)
    return same_labels and not obj.get("endpoints") and not obj.get("ports")


# As `trafficdist` of k8s.io/endpointslice. `PreferClose` is the older name of `PreferSameZone`.
def _hints(endpoint: JsonObject, distribution: str) -> JsonDict:
    """Return which clients had better be sent to an endpoint: those of its zone, or of its node."""
    if not (distribution in _CLOSE and endpoint["conditions"]["ready"]):
        return {}
    hints: JsonDict = {}
    if endpoint.get("zone"):
        hints["forZones"] = [{"name": endpoint["zone"]}]
    if endpoint.get("nodeName") and distribution == _SAME_NODE:
        hints["forNodes"] = [{"name": endpoint["nodeName"]}]
    return hints


def _with_endpoints(slice_: JsonObject, endpoints: list[Any], labels: dict[str, str]) -> JsonDict:
    meta = {**metadata.metadata(slice_), "labels": labels}
    return {**slice_, "metadata": meta, "endpoints": endpoints}


# As `getSliceToFill`.
def _roomiest(slices: Sequence[JsonObject], count: int) -> JsonObject | None:
    """Return the slice that would be fullest with so many more, if they have room in any."""
    if count >= MAX_ENDPOINTS:
        return None
    left = {
        number: MAX_ENDPOINTS - count - len(item.get("endpoints") or ())
        for number, item in enumerate(slices)
    }
    fitting = [(room, number) for number, room in left.items() if 0 <= room < MAX_ENDPOINTS]
    return slices[min(fitting)[1]] if fitting else None


def _is_owned(slice_: JsonObject, service: JsonObject) -> bool:
    owners = metadata.metadata(slice_).get("ownerReferences") or ()
    return any(owner.get("uid") == metadata.uid(service) for owner in owners)


def _is_headless(service: JsonObject) -> bool:
    return facts.spec_of(service).get("clusterIP") in (None, "", HEADLESS)


def _belongs(pod: JsonObject) -> bool:
    return not facts.has_ended(pod) and bool(_pod_addresses(pod))


def _pod_addresses(pod: JsonObject) -> list[str]:
    state = facts.status_of(pod)
    pod_ips = [pod_ip.get("ip") for pod_ip in state.get("podIPs") or ()] or [state.get("podIP")]
    return [str(ipaddress.ip_address(pod_ip)) for pod_ip in pod_ips if pod_ip]


def _family(address: str) -> str:
    return "IPv6" if ipaddress.ip_address(address).version == 6 else "IPv4"


def _has_host_name(pod: JsonObject, service: JsonObject) -> bool:
    spec = facts.spec_of(pod)
    return bool(spec.get("hostname")) and spec.get("subdomain") == metadata.name(service)


def _target(pod: JsonObject) -> dict[str, str]:
    return {
        "kind": "Pod",
        "namespace": metadata.namespace(pod),
        "name": metadata.name(pod),
        "uid": metadata.uid(pod),
    }


def _ports(service: JsonObject, pod: JsonObject) -> list[JsonDict]:
    """Return the ports of the Service that the pod has, with the pod's numbers."""
    result = []
    numbers = _port_numbers(pod)
    for port in facts.spec_of(service).get("ports") or ():
        protocol = port.get("protocol") or "TCP"
        target = port.get("targetPort", port.get("port"))
        number = target if isinstance(target, int) else numbers.get((target, protocol))
        if number is None:
            continue
        value = {"name": port.get("name") or "", "port": number, "protocol": protocol}
        if port.get("appProtocol") is not None:
            value["appProtocol"] = port["appProtocol"]
        result.append(value)
    return result


# As `FindPort` of k8s.io/endpointslice. A sidecar has ports that others may use; an init container
# that ends has none any more.
def _port_numbers(pod: JsonObject) -> Mapping[tuple[str, str], int]:
    """Return the numbers of the ports of a pod by name and protocol: those of its containers before
    those of what runs beside them."""
    spec = facts.spec_of(pod)
    beside = (
        init_container
        for init_container in spec.get("initContainers") or ()
        if init_container.get("restartPolicy")
    )
    result: dict[tuple[str, str], int] = {}
    for container in (*(spec.get("containers") or ()), *beside):
        for item in container.get("ports") or ():
            key = item.get("name") or "", item.get("protocol") or "TCP"
            result.setdefault(key, item["containerPort"])
    return result


# The order of ports means nothing, so it must not make two groups of one.
def _ports_key(ports: Iterable[JsonObject]) -> str:
    return json.dumps(sorted(json.dumps(dict(port), sort_keys=True) for port in ports))


def _endpoint_key(endpoint: JsonObject) -> str:
    """Return what identifies an endpoint while its conditions change: addresses, target and host
    name."""
    target = endpoint.get("targetRef") or {}
    parts = (target.get("namespace"), target.get("name"), endpoint.get("hostname"))
    return json.dumps([sorted(endpoint.get("addresses") or ()), *parts])


# --- Endpoints ---------------------------------------------------------------
#
# The older kind: one object with the name of the Service.


def endpoints_plan(
    service: JsonObject,
    pods: Iterable[JsonObject],
    present: JsonObject | None,
    changed_at: str = "",
) -> plans.Plan:
    """Return the Endpoints of a Service, brought to what its pods are now; see `Reachable`."""
    if not has_endpoints(service):
        return plans.NOTHING_TO_DO
    name, namespace = metadata.name(service), metadata.namespace(service)
    subsets, is_cut = _within_capacity(_subsets(service, pods))
    labels = {**metadata.labels(service), ENDPOINTS_MANAGED_BY: ENDPOINTS_CONTROLLER}
    if _is_headless(service):
        labels[HEADLESS_LABEL] = ""
    else:
        labels.pop(HEADLESS_LABEL, None)
    meta: JsonDict = dict(metadata.metadata(present or {}))
    annotations = {**metadata.annotations(present or {})}
    annotations.pop(OVER_CAPACITY, None)
    if is_cut:
        annotations[OVER_CAPACITY] = "truncated"
    if (
        present is not None
        and (present.get("subsets") or []) == subsets
        and metadata.labels(present) == labels
        and metadata.annotations(present) == annotations
    ):
        return plans.NOTHING_TO_DO
    meta |= {"name": name, "namespace": namespace, "labels": labels}
    if annotations or meta.get("annotations"):
        meta["annotations"] = annotations
    result: JsonObject = {"apiVersion": "v1", "kind": "Endpoints", "metadata": meta}
    result = _stamped({**result, "subsets": subsets}, changed_at)
    if present is None:
        text = f"Failed to create endpoint for service {namespace}/{name}: "
        return plans.Plan((plans.Step(plans.Verb.CREATE, result, failed=_failure("Create", text)),))
    text = f"Failed to update endpoint {namespace}/{name}: "
    return plans.Plan((plans.Step(plans.Verb.UPDATE, result, failed=_failure("Update", text)),))


def _failure(verb: str, text: str) -> plans.ObjectEvent:
    return plans.ObjectEvent(plans.WARNING, f"FailedTo{verb}Endpoint", text)


# As `syncService` of `endpoints_controller.go`, and `RepackSubsets` of `pkg/api/endpoints`: every
# pair of address and port is taken apart and put together again, so that equal pods give equal
# subsets in whatever order they come.
def _subsets(service: JsonObject, pods: Iterable[JsonObject]) -> list[JsonDict]:
    """Ports that the same addresses have stand together."""
    published = bool(facts.spec_of(service).get("publishNotReadyAddresses"))
    family = _address_types(service)[0]
    by_port: dict[str, dict[str, tuple[bool, Any]]] = {}
    for pod in sorted(pods, key=metadata.name):
        pod_addresses = [
            pod_address for pod_address in _pod_addresses(pod) if _family(pod_address) == family
        ]
        if facts.has_ended(pod) or not pod_addresses or (facts.is_going(pod) and not published):
            continue
        address = _address(service, pod, pod_addresses[0])
        ready = published or facts.is_ready(pod)
        ports: list[JsonDict | None] = [*_ports(service, pod)]
        if not facts.spec_of(service).get("ports") and _is_headless(service):
            ports = [None]
        for port in ports:
            key = json.dumps(port, sort_keys=True)
            by_port.setdefault(key, {})[address["ip"]] = (ready, address)
    groups: dict[str, tuple[list[Any], dict[str, tuple[bool, Any]]]] = {}
    for port_key, addresses in by_port.items():
        group = json.dumps(sorted((ip, ready) for ip, (ready, _) in addresses.items()))
        groups.setdefault(group, ([], addresses))[0].append(json.loads(port_key))
    return [_subset(ports, addresses) for ports, addresses in groups.values()]


def _subset(ports: list[Any], addresses: Mapping[str, tuple[bool, Any]]) -> JsonDict:
    result: JsonDict = {}
    ordered = [addresses[ip] for ip in sorted(addresses)]
    ready = [address for is_up, address in ordered if is_up]
    unready = [address for is_up, address in ordered if not is_up]
    if ready:
        result["addresses"] = ready
    if unready:
        result["notReadyAddresses"] = unready
    named_ports = [_named(port) for port in ports if port is not None]
    if named_ports:
        result["ports"] = named_ports
    return result


def _named(port: JsonDict) -> JsonDict:
    """Return a port as Endpoints have it: they leave an empty name out."""
    return {key: value for key, value in port.items() if key != "name" or value}


def _address(service: JsonObject, pod: JsonObject, ip: str) -> JsonDict:
    result: JsonDict = {"ip": ip}
    if _has_host_name(pod, service):
        result["hostname"] = facts.spec_of(pod)["hostname"]
    if facts.node_of(pod):
        result["nodeName"] = facts.node_of(pod)
    result["targetRef"] = _target(pod)
    return result


# As `truncateEndpoints`: one object holds all addresses, which has to end somewhere; slices have no
# such end.
def _within_capacity(subsets: list[JsonDict]) -> tuple[list[JsonDict], bool]:
    """Cut what is too much, and return whether anything was. Ready addresses stay before others;
    upstream shares what is left out among the subsets."""
    total = sum(len(subset.get(key, ())) for subset in subsets for key in _ADDRESS_LISTS)
    if total <= MAX_ADDRESSES:
        return subsets, False
    room, result = MAX_ADDRESSES, [dict(subset) for subset in subsets]
    for key in _ADDRESS_LISTS:
        for item in result:
            moved = item.pop(key, [])[:room]
            room -= len(moved)
            if moved:
                item[key] = moved
    return result, True


_ADDRESS_LISTS: Final = ("addresses", "notReadyAddresses")


# --- Mirrored slices ---------------------------------------------------------
#
# EndpointSlices of Endpoints that somebody else writes: whoever reads slices alone sees them,
# too.
#
# As k8s.io/kubernetes `pkg/controller/endpointslicemirroring`. Each set of ports, in each
# family of addresses, has one slice; upstream has endpoints in it in any order.

MIRRORED_ADDRESSES: Final = 1000
"""In one slice (`--mirroring-max-endpoints-per-subset`)."""
MIRRORING_CONTROLLER: Final = "endpointslicemirroring-controller.k8s.io"
_SKIP: Final = "endpointslice.kubernetes.io/skip-mirror"
_LEADER: Final = "control-plane.alpha.kubernetes.io/leader"
"""The annotation of Endpoints that are a lock, and no way to anything."""
_NOT_MIRRORED: Final = frozenset({LAST_CHANGE, LAST_APPLIED})

MOST_PORTS: Final = 200_000
"""In all slices of one object together: two addresses more can double what their slices hold."""

_Group = tuple[str, tuple[str, ...]]
"""A family of addresses, and ports as JSON, sorted: their order means nothing."""


class _Mirrored:
    """What a slice is going to hold: endpoints, and ports as JSON in their order."""

    __slots__ = ("endpoints", "ports")

    def __init__(self, ports: Sequence[str]) -> None:
        self.ports = ports
        self.endpoints: list[Any] = []


def is_mirror(slice_: JsonObject) -> bool:
    """Tell whether the slice is one of this controller."""
    return metadata.labels(slice_).get(SLICE_MANAGED_BY) == MIRRORING_CONTROLLER


def mirror_plan(
    endpoints: JsonObject, service: JsonObject | None, slices: Iterable[JsonObject]
) -> plans.Plan:
    """Return the slices that mirror Endpoints. Those of a Service with a selector have slices of
    their own, those of nobody need none."""
    name = metadata.name(endpoints)
    present = [
        slice_
        for slice_ in slices
        if is_mirror(slice_) and metadata.labels(slice_).get(SERVICE_LABEL) == name
    ]
    if service is None or not _is_mirrored(endpoints, service):
        return plans.Plan(tuple(plans.Step(plans.Verb.DELETE, item) for item in present))
    groups, left_out = _wanted(endpoints)
    steps: list[plans.Step] = []
    if left_out:
        text = (
            f"A max of {MIRRORED_ADDRESSES} addresses can be mirrored to EndpointSlices per "
            f"Endpoints subset. {left_out} addresses were skipped"
        )
        steps.append(plans.told(text, endpoints, "TooManyAddressesToMirror", plans.WARNING))
    return plans.Plan((*steps, *_written(endpoints, groups, present)))


def _is_mirrored(endpoints: JsonObject, service: JsonObject) -> bool:
    return (
        facts.spec_of(service).get("selector") is None
        and metadata.labels(endpoints).get(_SKIP) != "true"
        and _LEADER not in metadata.annotations(endpoints)
        and not facts.is_going(endpoints)
    )


# As `RepackSubsets` of `pkg/api/endpoints`: an address that stands in two subsets has the ports of
# both.
def _wanted(endpoints: JsonObject) -> tuple[Mapping[_Group, _Mirrored], int]:
    """Return what each slice holds, and how many addresses there was no room for."""
    groups: dict[_Group, _Mirrored] = {}
    left_out, room = 0, MOST_PORTS
    known: dict[tuple[int, ...], tuple[tuple[str, ...], tuple[str, ...]]] = {}
    ports_of = [
        tuple(json.dumps(_port(port)) for port in subset.get("ports") or ())
        for subset in endpoints.get("subsets") or ()
    ]
    for address, ready, numbers in _addresses(endpoints):
        if numbers not in known:
            if room < 0:
                left_out += 1
                continue
            ports = tuple(dict.fromkeys(port for number in numbers for port in ports_of[number]))
            known[numbers] = ports, tuple(sorted(ports))
            room -= len(ports) + 1
        ports, ordered = known[numbers]
        ip = ipaddress.ip_address(address["ip"])
        group = groups.setdefault((f"IPv{ip.version}", ordered), _Mirrored(ports))
        if len(group.endpoints) < MIRRORED_ADDRESSES:
            group.endpoints.append(_endpoint(address, str(ip), ready=ready))
        else:
            left_out += 1
    return groups, left_out


def _addresses(endpoints: JsonObject) -> Iterator[tuple[JsonObject, bool, tuple[int, ...]]]:
    """Yield each address, whether it is ready, and the numbers of the subsets that have it."""
    found: dict[str, tuple[JsonObject, bool, dict[int, None]]] = {}
    for number, subset in enumerate(endpoints.get("subsets") or ()):
        for ready, field in ((True, "addresses"), (False, "notReadyAddresses")):
            for address in subset.get(field) or ():
                key = json.dumps([address, ready], sort_keys=True)
                found.setdefault(key, (address, ready, {}))[2][number] = None
    for address, ready, numbers in found.values():
        yield address, ready, tuple(numbers)


def _port(port: JsonObject) -> JsonDict:
    result = {"name": port.get("name") or "", "port": port["port"]}
    result["protocol"] = port.get("protocol") or "TCP"
    if port.get("appProtocol") is not None:
        result["appProtocol"] = port["appProtocol"]
    return result


def _endpoint(address: JsonObject, ip: str, *, ready: bool) -> JsonDict:
    fields = ("hostname", "nodeName", "targetRef")
    return {
        "addresses": [ip],
        "conditions": {"ready": ready},
        **{field: address[field] for field in fields if address.get(field)},
    }


# As `reconcileByPortMapping` and `finalize`: of several slices for the same ports one stays; what
# would go takes the place of what would come.
def _written(
    endpoints: JsonObject, groups: Mapping[_Group, _Mirrored], present: Sequence[JsonObject]
) -> Iterator[plans.Step]:
    unused = dict(enumerate(present))
    by_group: dict[_Group, list[int]] = {}
    for number in reversed(unused):
        by_group.setdefault(_group_of(unused[number]), []).append(number)
    created = []
    for group, value in groups.items():
        result = _slice(endpoints, group[0], value)
        if not by_group.get(group):
            created.append(result)
            continue
        mirror = unused.pop(by_group[group].pop())
        if not _is_same_mirror(mirror, result):
            yield plans.Step(plans.Verb.UPDATE, _in_place_of(mirror, result))
    by_family: dict[str, list[int]] = {}
    for number in reversed(unused):
        by_family.setdefault(unused[number]["addressType"], []).append(number)
    for result in created:
        places = by_family.get(result["addressType"])
        if not places:
            yield plans.Step(plans.Verb.CREATE, result)
        else:
            place = unused.pop(places.pop())
            yield plans.Step(plans.Verb.UPDATE, _in_place_of(place, result))
    yield from (plans.Step(plans.Verb.DELETE, item) for item in unused.values())


def _group_of(slice_: JsonObject) -> _Group:
    ports = slice_.get("ports") or ()
    return slice_["addressType"], tuple(sorted(json.dumps(_port(port)) for port in ports))


def _slice(endpoints: JsonObject, family: str, mirrored: _Mirrored) -> JsonDict:
    labels = {
        **metadata.labels(endpoints),
        SERVICE_LABEL: metadata.name(endpoints),
        SLICE_MANAGED_BY: MIRRORING_CONTROLLER,
    }
    meta: JsonDict = {
        "generateName": name_prefix(metadata.name(endpoints)),
        "namespace": metadata.namespace(endpoints),
        "labels": labels,
        "ownerReferences": [
            owner_reference({"apiVersion": "v1", "kind": "Endpoints", **endpoints})
        ],
    }
    notes = _notes(endpoints)
    if notes:
        meta["annotations"] = notes
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": meta,
        "addressType": family,
        "endpoints": mirrored.endpoints,
        "ports": [json.loads(port) for port in mirrored.ports] or None,
    }


def _notes(endpoints: JsonObject) -> dict[str, str]:
    annotations = metadata.annotations(endpoints)
    return {key: value for key, value in annotations.items() if key not in _NOT_MIRRORED}


def _is_same_mirror(mirror: JsonObject, obj: JsonObject) -> bool:
    return (
        _sorted(mirror.get("endpoints") or ()) == _sorted(obj["endpoints"])
        and metadata.labels(mirror) == metadata.labels(obj)
        and metadata.annotations(mirror) == metadata.annotations(obj)
        and facts.controller_of(mirror).get("uid") == facts.controller_of(obj).get("uid")
    )


def _sorted(items: Iterable[Any]) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in items)


def _in_place_of(mirror: JsonObject, obj: JsonObject) -> JsonDict:
    meta = {key: value for key, value in metadata.metadata(mirror).items() if key != "annotations"}
    fields = ("labels", "annotations", "ownerReferences")
    meta |= {key: obj["metadata"][key] for key in fields if key in obj["metadata"]}
    return {**obj, "metadata": meta}
