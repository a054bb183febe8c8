"""EndpointSlices of Endpoints that somebody else writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from celadon.apiserver.simulation.planning import endpoint_slices
from celadon.apiserver.simulation.planning.endpoint_slices import mirror_plan
from celadon.apiserver.simulation.planning.plans import Plan, Verb
from celadon.kube import JsonObject
from tests.apiserver.simulation.planning.sample_objects import stored, told
from tests.growth.counted_steps import LINEAR, growth

SERVICE = stored("Service", "db", {"ports": [{"port": 80}]}, "v1")
PORT = {"port": 8080, "protocol": "TCP"}


def written(*subsets: JsonObject, **meta: Any) -> dict[str, Any]:
    """Endpoints of a user's."""
    meta = {"labels": {"a": "b"}, **meta}
    return {**stored("Endpoints", "db", {}, "v1", **meta), "subsets": list(subsets)}


def subset(*addresses: str, late: tuple[str, ...] = (), ports: Any = (PORT,)) -> dict[str, Any]:
    return {
        "addresses": [{"ip": one} for one in addresses],
        "notReadyAddresses": [{"ip": one} for one in late],
        "ports": list(ports),
    }


def objects(plan: Plan, verb: Verb = Verb.CREATE) -> list[Any]:
    return [step.object for step in plan.steps if step.verb is verb]


def mirrored(endpoints: JsonObject) -> list[Any]:
    """Its slices, as they are stored."""
    made = objects(mirror_plan(endpoints, SERVICE, ()))
    return [
        {**one, "metadata": {**one["metadata"], "name": f"db-{number}"}}
        for number, one in enumerate(made)
    ]


def test_a_slice_says_what_the_endpoints_say() -> None:
    notes = {
        "note": "x",
        "endpoints.kubernetes.io/last-change-trigger-time": "t",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
    }
    given = written(subset("192.0.2.1", late=("192.0.2.2",)), annotations=notes)
    given["subsets"][0]["notReadyAddresses"][0] |= {"hostname": "h", "nodeName": "n"}
    (made,) = objects(mirror_plan(given, SERVICE, ()))
    meta = made["metadata"]
    assert meta["labels"] == {
        "a": "b",
        "kubernetes.io/service-name": "db",
        "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
    }
    assert (meta["generateName"], meta["annotations"]) == ("db-", {"note": "x"})
    assert [one["kind"] for one in meta["ownerReferences"]] == ["Endpoints"]
    assert made["addressType"] == "IPv4"
    assert made["ports"] == [{"name": "", "port": 8080, "protocol": "TCP"}]
    assert made["endpoints"] == [
        {"addresses": ["192.0.2.1"], "conditions": {"ready": True}},
        {
            "addresses": ["192.0.2.2"],
            "conditions": {"ready": False},
            "hostname": "h",
            "nodeName": "n",
        },
    ]


@pytest.mark.parametrize(
    ("service", "meta"),
    [
        (None, {}),
        ({**SERVICE, "spec": {"selector": {"app": "db"}}}, {}),
        (SERVICE, {"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}),
        (SERVICE, {"annotations": {"control-plane.alpha.kubernetes.io/leader": "{}"}}),
    ],
)
def test_what_is_not_mirrored_has_no_slices(
    service: JsonObject | None, meta: dict[str, Any]
) -> None:
    before = mirrored(written(subset("192.0.2.1")))
    other = stored("EndpointSlice", "other", {}, "discovery.k8s.io/v1")
    plan = mirror_plan(written(subset("192.0.2.1"), **meta), service, [*before, other])
    assert [step.object for step in plan.steps] == objects(plan, Verb.DELETE) == before


def test_each_family_and_each_set_of_ports_has_a_slice() -> None:
    other = {"name": "other", "port": 9}
    given = written(
        subset("192.0.2.1", "2001:db8::1", ports=[PORT, other]),
        subset("192.0.2.2", ports=[other, PORT]),
        subset("192.0.2.3"),
        subset("192.0.2.4"),
        subset("192.0.2.4", ports=[other]),
    )
    found = {
        (one["addressType"], len(one["ports"])): [
            address for endpoint in one["endpoints"] for address in endpoint["addresses"]
        ]
        for one in mirrored(given)
    }
    assert found == {
        ("IPv4", 2): ["192.0.2.1", "192.0.2.2", "192.0.2.4"],
        ("IPv6", 2): ["2001:db8::1"],
        ("IPv4", 1): ["192.0.2.3"],
    }


def test_a_change_is_an_update_and_the_same_again_is_nothing() -> None:
    before = mirrored(written(subset("192.0.2.1", "192.0.2.2")))
    assert mirror_plan(written(subset("192.0.2.2", "192.0.2.1")), SERVICE, before).steps == ()
    for changed in (
        written(subset("192.0.2.1")),
        written(subset("192.0.2.1", "192.0.2.2"), labels={"c": "d"}),
        written(subset("192.0.2.1", "192.0.2.2"), annotations={"e": "f"}),
        written(subset("192.0.2.1", "192.0.2.2", ports=[{"port": 1}])),
    ):
        plan = mirror_plan(changed, SERVICE, before)
        (after,) = objects(plan, Verb.UPDATE)
        assert len(plan.steps) == 1
        assert after["metadata"]["name"] == "db-0"
        assert mirror_plan(changed, SERVICE, [after]).steps == ()


def test_endpoints_without_addresses_lose_their_slices() -> None:
    before = mirrored(written(subset("192.0.2.1")))
    assert objects(mirror_plan(written(), SERVICE, before), Verb.DELETE) == before


def test_what_is_too_much_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_slices, "MIRRORED_ADDRESSES", 2)
    plan = mirror_plan(written(subset("192.0.2.1", "192.0.2.2", "192.0.2.3")), SERVICE, ())
    told, made = plan.steps
    assert told.done is not None
    assert told.done.message == (
        "A max of 2 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses "
        "were skipped"
    )
    assert len(made.object["endpoints"]) == 2


@pytest.mark.parametrize("is_mirrored", [False, True])
def test_thousands_of_ports_are_mirrored_in_proportion(is_mirrored: bool) -> None:
    """Each set of ports has a slice, which was looked for among all others."""

    def work(size: int) -> Callable[[], object]:
        subsets = [
            subset(f"10.0.{n // 250}.{n % 250}", ports=[{"port": n + 1}]) for n in range(size)
        ]
        endpoints = written(*subsets)
        steps = endpoint_slices.mirror_plan(endpoints, SERVICE, ()).steps
        present = [step.object for step in steps] if is_mirrored else []
        return lambda: endpoint_slices.mirror_plan(endpoints, SERVICE, present)

    assert growth(work, 50) < LINEAR


def test_addresses_and_ports_are_not_multiplied() -> None:
    """Of two lists of a subset none is gone through for each item of the other."""

    def work(size: int) -> Callable[[], object]:
        addresses = [f"10.0.{n // 250}.{n % 250}" for n in range(size)]
        endpoints = written(subset(*addresses, ports=[{"port": n + 1} for n in range(size)]))
        return lambda: endpoint_slices.mirror_plan(endpoints, SERVICE, ())

    assert growth(work, 50) < LINEAR


def test_no_more_ports_are_written_than_a_server_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address of two subsets has the ports of both, so that few of them make many."""
    monkeypatch.setattr(endpoint_slices, "MOST_PORTS", 8)
    wide = subset(*(f"10.0.0.{n}" for n in range(5)), ports=[{"port": n} for n in (1, 2, 3)])
    others = [subset(f"10.0.0.{n}", ports=[{"port": n + 10}]) for n in range(5)]
    plan = mirror_plan(written(wide, *others), SERVICE, ())
    assert [len(one["ports"]) for one in objects(plan)] == [4, 4]
    assert told(plan)[0].endswith("3 addresses were skipped")
