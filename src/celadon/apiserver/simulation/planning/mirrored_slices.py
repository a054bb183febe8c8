"""EndpointSlices of Endpoints that somebody else writes: whoever reads slices alone sees them, too.

As k8s.io/kubernetes `pkg/controller/endpointslicemirroring`. Each set of ports, in each family of
addresses, has one slice; upstream has endpoints in it in any order.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.apiserver.simulation.planning import endpoint_slices, plans
from celadon.apiserver.simulation.planning import pod_facts as facts
from celadon.kube import JsonObject, metadata
from celadon.kube.fieldmanager import LAST_APPLIED
from celadon.kube.json_types import JsonDict
from celadon.kube.well_known_values import SERVICE_LABEL
from celadon.kube.workload_controllers import owner_reference

MAX_ADDRESSES: Final = 1000
"""In one slice (`--mirroring-max-endpoints-per-subset`)."""
MIRRORING_CONTROLLER: Final = "endpointslicemirroring-controller.k8s.io"
_SKIP: Final = "endpointslice.kubernetes.io/skip-mirror"
_LEADER: Final = "control-plane.alpha.kubernetes.io/leader"
"""The annotation of Endpoints that are a lock, and no way to anything."""
_NOT_MIRRORED: Final = frozenset({endpoint_slices.LAST_CHANGE, LAST_APPLIED})

_Group = tuple[str, tuple[str, ...]]
"""A family of addresses, and ports as JSON."""


def is_mirror(slice_: JsonObject) -> bool:
    """Tell whether the slice is one of this controller."""
    return metadata.labels(slice_).get(endpoint_slices.SLICE_MANAGED_BY) == MIRRORING_CONTROLLER


def mirror_plan(
    endpoints: JsonObject, service: JsonObject | None, slices: Iterable[JsonObject]
) -> plans.Plan:
    """The slices that mirror Endpoints. Those of a Service with a selector have slices of their
    own, those of nobody need none."""
    name = metadata.name(endpoints)
    present = [
        one for one in slices if is_mirror(one) and metadata.labels(one).get(SERVICE_LABEL) == name
    ]
    if service is None or not _is_mirrored(endpoints, service):
        return plans.Plan(tuple(plans.Step(plans.Verb.DELETE, one) for one in present))
    wanted, left_out = _wanted(endpoints)
    steps: list[plans.Step] = []
    if left_out:
        text = (
            f"A max of {MAX_ADDRESSES} addresses can be mirrored to EndpointSlices per Endpoints "
            f"subset. {left_out} addresses were skipped"
        )
        steps.append(plans.told(text, endpoints, "TooManyAddressesToMirror", plans.WARNING))
    return plans.Plan((*steps, *_written(endpoints, wanted, present)))


def _is_mirrored(endpoints: JsonObject, service: JsonObject) -> bool:
    return (
        facts.spec_of(service).get("selector") is None
        and metadata.labels(endpoints).get(_SKIP) != "true"
        and _LEADER not in metadata.annotations(endpoints)
        and not facts.is_going(endpoints)
    )


# As `RepackSubsets` of `pkg/api/endpoints`: an address that stands in two subsets has the ports of
# both.
def _wanted(endpoints: JsonObject) -> tuple[Mapping[_Group, list[Any]], int]:
    """Return the endpoints of each slice, and how many there was no room for."""
    addresses: dict[str, tuple[JsonObject, bool]] = {}
    ports_of: dict[str, dict[str, None]] = {}
    for subset in endpoints.get("subsets") or ():
        ports = [json.dumps(_port(one)) for one in subset.get("ports") or ()]
        for ready, field in ((True, "addresses"), (False, "notReadyAddresses")):
            for address in subset.get(field) or ():
                key = json.dumps([address, ready], sort_keys=True)
                addresses[key] = address, ready
                ports_of.setdefault(key, {}).update(dict.fromkeys(ports))
    groups: dict[_Group, list[Any]] = {}
    for key, (address, ready) in addresses.items():
        ip = ipaddress.ip_address(address["ip"])
        group = f"IPv{ip.version}", tuple(ports_of[key])
        groups.setdefault(_known(groups, group), []).append(
            _endpoint(address, str(ip), ready=ready)
        )
    left_out = sum(max(0, len(found) - MAX_ADDRESSES) for found in groups.values())
    return {group: found[:MAX_ADDRESSES] for group, found in groups.items()}, left_out


# The order of ports means nothing.
def _known(groups: Iterable[_Group], group: _Group) -> _Group:
    return next((one for one in groups if _is_same(one, group)), group)


def _is_same(one: _Group, other: _Group) -> bool:
    return one[0] == other[0] and sorted(one[1]) == sorted(other[1])


def _port(port: JsonObject) -> JsonDict:
    made = {"name": port.get("name") or "", "port": port["port"]}
    made["protocol"] = port.get("protocol") or "TCP"
    if port.get("appProtocol") is not None:
        made["appProtocol"] = port["appProtocol"]
    return made


def _endpoint(address: JsonObject, ip: str, *, ready: bool) -> JsonDict:
    told = ("hostname", "nodeName", "targetRef")
    return {
        "addresses": [ip],
        "conditions": {"ready": ready},
        **{field: address[field] for field in told if address.get(field)},
    }


# As `reconcileByPortMapping` and `finalize`: of several slices for the same ports one stays; what
# would go takes the place of what would come.
def _written(
    endpoints: JsonObject, wanted: Mapping[_Group, list[Any]], present: Sequence[JsonObject]
) -> Iterator[plans.Step]:
    gone = list(present)
    created = []
    for group, found in wanted.items():
        own = next((one for one in gone if _is_same(_group_of(one), group)), None)
        made = _slice(endpoints, group, found)
        if own is None:
            created.append(made)
            continue
        gone.remove(own)
        if not _is_like(own, made):
            yield plans.Step(plans.Verb.UPDATE, _in_place_of(own, made))
    for made in created:
        place = next((one for one in gone if one["addressType"] == made["addressType"]), None)
        if place is None:
            yield plans.Step(plans.Verb.CREATE, made)
        else:
            gone.remove(place)
            yield plans.Step(plans.Verb.UPDATE, _in_place_of(place, made))
    yield from (plans.Step(plans.Verb.DELETE, one) for one in gone)


def _group_of(slice_: JsonObject) -> _Group:
    ports = slice_.get("ports") or ()
    return slice_["addressType"], tuple(json.dumps(_port(one)) for one in ports)


def _slice(endpoints: JsonObject, group: _Group, found: list[Any]) -> JsonDict:
    family, ports = group
    labels = {
        **metadata.labels(endpoints),
        SERVICE_LABEL: metadata.name(endpoints),
        endpoint_slices.SLICE_MANAGED_BY: MIRRORING_CONTROLLER,
    }
    meta: JsonDict = {
        "generateName": endpoint_slices.name_prefix(metadata.name(endpoints)),
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
        "endpoints": found,
        "ports": [json.loads(one) for one in ports] or None,
    }


def _notes(endpoints: JsonObject) -> dict[str, str]:
    annotations = metadata.annotations(endpoints)
    return {key: value for key, value in annotations.items() if key not in _NOT_MIRRORED}


def _is_like(own: JsonObject, made: JsonObject) -> bool:
    return (
        _sorted(own.get("endpoints") or ()) == _sorted(made["endpoints"])
        and metadata.labels(own) == metadata.labels(made)
        and metadata.annotations(own) == metadata.annotations(made)
        and facts.controller_of(own).get("uid") == facts.controller_of(made).get("uid")
    )


def _sorted(found: Iterable[Any]) -> list[str]:
    return sorted(json.dumps(one, sort_keys=True) for one in found)


def _in_place_of(own: JsonObject, made: JsonObject) -> JsonDict:
    meta = {key: value for key, value in metadata.metadata(own).items() if key != "annotations"}
    told = ("labels", "annotations", "ownerReferences")
    meta |= {key: made["metadata"][key] for key in told if key in made["metadata"]}
    return {**made, "metadata": meta}
