"""Where the pods of a Service can be reached."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.simulation.planning.endpoint_slices import (
    LAST_CHANGE,
    MAX_ADDRESSES,
    MAX_ENDPOINTS,
    Reachable,
    TriggerTimes,
    endpoints_plan,
    is_own_slice,
    slices_plan,
)
from celadon.apiserver.simulation.planning.plans import Verb
from celadon.kube import JsonObject
from tests.apiserver.simulation.planning.sample_objects import going, made, pod, shown, stored

PORTS = [{"name": "http", "port": 80, "targetPort": "web", "protocol": "TCP"}]
CONTAINERS = [{"name": "c", "image": "i", "ports": [{"name": "web", "containerPort": 8080}]}]


def service(**spec: object) -> dict[str, Any]:
    given = {"selector": {"app": "web"}, "clusterIP": "10.0.0.1", "ports": PORTS, **spec}
    return stored("Service", "web", given, "v1", labels={"team": "a"})


def backend(name: str, address: str = "10.1.0.1", **given: Any) -> dict[str, Any]:
    spec = {"containers": CONTAINERS, **given.pop("spec", {})}
    status = {"podIPs": [{"ip": address}], **given.pop("status", {})}
    return pod(name, spec=spec, status=status, labels={"app": "web"}, **given)


def seen(*pods: JsonObject) -> Reachable:
    return Reachable(pods, {"node-1": {"topology.kubernetes.io/zone": "z"}})


def slice_of(given: JsonObject, *pods: JsonObject, name: str = "web-a") -> dict[str, Any]:
    """The first slice that is made for pods, as it is stored."""
    (first, *_) = made(slices_plan(given, seen(*pods), ()), "EndpointSlice")
    return {**first, "metadata": {**first["metadata"], "name": name}}


def test_a_slice_is_made_of_the_pods() -> None:
    given = service()
    plan = slices_plan(given, seen(backend("web-1"), backend("web-0", "10.1.0.2")), ())
    (found,) = made(plan, "EndpointSlice")
    assert found["metadata"]["generateName"] == "web-"
    assert found["metadata"]["labels"] == {
        "team": "a",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    assert found["metadata"]["ownerReferences"][0]["kind"] == "Service"
    assert found["addressType"] == "IPv4"
    assert found["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    assert found["endpoints"][0] == {
        "addresses": ["10.1.0.2"],
        "conditions": {"ready": True, "serving": True, "terminating": False},
        "targetRef": {
            "kind": "Pod", "namespace": "default", "name": "web-0", "uid": "uid-web-0",
        },
        "nodeName": "node-1",
        "zone": "z",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("distribution", "ready", "hints"),
    [
        (None, True, None),
        ("PreferClose", True, {"forZones": [{"name": "z"}]}),
        ("PreferSameZone", True, {"forZones": [{"name": "z"}]}),
        (
            "PreferSameNode", True,
            {"forZones": [{"name": "z"}], "forNodes": [{"name": "node-1"}]},
        ),
        ("PreferSameNode", False, None),
    ],
)  # fmt: skip
def test_hints_say_who_had_better_be_sent_here(
    distribution: str | None, ready: bool, hints: object
) -> None:
    given = service(trafficDistribution=distribution)
    found = slice_of(given, backend("web-0", ready=ready))
    (endpoint,) = found["endpoints"]
    assert endpoint.get("hints") == hints
    assert slices_plan(given, seen(backend("web-0", ready=ready)), [found]).steps == ()
    other = service()
    changed = slices_plan(other, seen(backend("web-0", ready=ready)), [found]).steps
    assert bool(changed) == bool(hints)


def test_without_a_selector_nothing_is_done() -> None:
    for given in (service(selector=None), service(type="ExternalName")):
        assert slices_plan(given, seen(), ()).steps == ()
        assert endpoints_plan(given, (), None).steps == ()


@pytest.mark.parametrize(
    ("one", "spec", "wanted"),
    [
        (backend("a", ready=False), {}, (False, False, False)),
        (backend("a"), {}, (True, True, False)),
        (going(backend("a")), {}, (False, True, True)),
        (going(backend("a", ready=False)), {}, (False, False, True)),
        (backend("a", ready=False), {"publishNotReadyAddresses": True}, (True, False, False)),
        (going(backend("a")), {"publishNotReadyAddresses": True}, (True, True, True)),
    ],
)
def test_conditions(one: JsonObject, spec: dict[str, Any], wanted: tuple[bool, bool, bool]) -> None:
    (found,) = made(slices_plan(service(**spec), seen(one), ()), "EndpointSlice")
    conditions = found["endpoints"][0]["conditions"]
    assert (conditions["ready"], conditions["serving"], conditions["terminating"]) == wanted


@pytest.mark.parametrize(
    "one",
    [
        backend("a", phase="Succeeded"),
        backend("a", phase="Failed"),
        backend("a", status={"podIPs": []}),
        backend("a", spec={"nodeName": "gone"}),
        backend("a", "fd00::1"),
    ],
)
def test_pods_that_are_no_endpoints(one: JsonObject) -> None:
    (found,) = made(slices_plan(service(), seen(one), ()), "EndpointSlice")
    assert found["endpoints"] is None


def test_a_service_of_two_families_has_a_slice_of_each() -> None:
    both = backend("a", status={"podIPs": [{"ip": "10.1.0.1"}, {"ip": "fd00:0::1"}]})
    plan = slices_plan(service(ipFamilies=["IPv4", "IPv6"]), seen(both), ())
    found = {one["addressType"]: one["endpoints"] for one in made(plan, "EndpointSlice")}
    assert {key: ends[0]["addresses"] for key, ends in found.items()} == {
        "IPv4": ["10.1.0.1"],
        "IPv6": ["fd00::1"],
    }


def test_host_names_and_the_label_of_headless_services() -> None:
    one = backend("web-0", spec={"hostname": "web-0", "subdomain": "web"})
    found = slice_of(service(clusterIP="None"), one)
    assert found["endpoints"][0]["hostname"] == "web-0"
    assert found["metadata"]["labels"]["service.kubernetes.io/headless"] == ""


def test_what_is_as_it_should_be_stays() -> None:
    given, one = service(), backend("a")
    assert slices_plan(given, seen(one), [slice_of(given, one)]).steps == ()
    assert slices_plan(given, seen(), [slice_of(given)]).steps == ()


def test_changes_stay_in_their_slice() -> None:
    given = service()
    present = slice_of(given, backend("a"), backend("b", "10.1.0.2"))
    now = seen(backend("b", "10.1.0.2", ready=False), backend("c", "10.1.0.3"))
    plan = slices_plan(given, now, [present])
    assert shown(plan) == ["update EndpointSlice web-a"]
    ends = plan.steps[0].object["endpoints"]
    assert [one["targetRef"]["name"] for one in ends] == ["b", "c"]
    assert ends[0]["conditions"]["ready"] is False


def test_the_last_pod_leaves_an_empty_slice() -> None:
    given = service()
    plan = slices_plan(given, seen(), [slice_of(given, backend("a"))])
    assert shown(plan) == ["update EndpointSlice web-a"]
    assert plan.steps[0].object["endpoints"] is None
    assert plan.steps[0].object["ports"] is None


def test_labels_follow_the_service() -> None:
    given, one = service(), backend("a")
    present = slice_of(given, one)
    renamed = {**given, "metadata": {**given["metadata"], "labels": {"team": "b"}}}
    plan = slices_plan(renamed, seen(one), [present])
    assert plan.steps[0].object["metadata"]["labels"]["team"] == "b"


def test_slices_are_filled_one_after_the_other() -> None:
    pods = [backend(f"p{number:03}", f"10.1.1.{number}") for number in range(MAX_ENDPOINTS + 1)]
    given = service()
    sizes = [
        len(one["endpoints"]) for one in made(slices_plan(given, seen(*pods), ()), "EndpointSlice")
    ]
    assert sizes == [MAX_ENDPOINTS, 1]
    present = [slice_of(given, *pods[:-1]), slice_of(given, pods[-1], name="web-b")]
    more = backend("q", "10.1.2.1")
    plan = slices_plan(given, seen(*pods, more), present)
    assert shown(plan) == ["update EndpointSlice web-b"]


def test_pods_with_other_ports_have_another_slice() -> None:
    other = [{"name": "c", "image": "i", "ports": [{"name": "web", "containerPort": 81}]}]
    plan = slices_plan(
        service(), seen(backend("a"), backend("b", "10.1.0.2", spec={"containers": other})), ()
    )
    ports = [one["ports"][0]["port"] for one in made(plan, "EndpointSlice")]
    assert sorted(ports) == [81, 8080]


def test_slices_of_others_are_left_alone() -> None:
    given = service()
    present = slice_of(given, backend("a"))
    labels = {**present["metadata"]["labels"], "endpointslice.kubernetes.io/managed-by": "me"}
    foreign = {**present, "metadata": {**present["metadata"], "labels": labels}}
    assert all(step.object is not foreign for step in slices_plan(given, seen(), [foreign]).steps)


def test_a_failure_is_told_in_upstreams_words() -> None:
    (step,) = slices_plan(service(), seen(backend("a")), ()).steps
    assert step.failed is not None
    assert (step.failed.reason, step.failed.message) == (
        "FailedToUpdateEndpointSlices",
        "Error updating Endpoint Slices for Service default/web: ",
    )


# --- Endpoints ---------------------------------------------------------------


def test_endpoints_say_who_is_ready() -> None:
    pods = [backend("a"), backend("b", "10.1.0.2", ready=False)]
    (step,) = endpoints_plan(service(), pods, None).steps
    assert step.verb is Verb.CREATE
    assert step.object["metadata"]["labels"] == {
        "team": "a",
        "endpoints.kubernetes.io/managed-by": "endpoint-controller",
    }
    (subset,) = step.object["subsets"]
    assert [one["ip"] for one in subset["addresses"]] == ["10.1.0.1"]
    assert [one["ip"] for one in subset["notReadyAddresses"]] == ["10.1.0.2"]
    assert subset["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    assert endpoints_plan(service(), pods, step.object).steps == ()


def test_endpoints_leave_out_pods_that_are_being_deleted() -> None:
    (step,) = endpoints_plan(service(), [going(backend("a"))], None).steps
    assert step.object["subsets"] == []
    published = service(publishNotReadyAddresses=True)
    (step,) = endpoints_plan(published, [going(backend("a"))], None).steps
    assert len(step.object["subsets"]) == 1


def test_ports_of_the_same_addresses_stand_together() -> None:
    ports = [*PORTS, {"name": "other", "port": 9, "targetPort": 9, "protocol": "UDP"}]
    (step,) = endpoints_plan(service(ports=ports), [backend("a")], None).steps
    (subset,) = step.object["subsets"]
    assert [one["name"] for one in subset["ports"]] == ["http", "other"]


def test_too_many_addresses_are_cut() -> None:
    pods = [
        backend(f"p{number}", f"10.{number // 250}.1.{number % 250}", ready=number % 2 == 0)
        for number in range(MAX_ADDRESSES + 100)
    ]
    (step,) = endpoints_plan(service(), pods, None).steps
    annotations = step.object["metadata"]["annotations"]
    assert annotations == {"endpoints.kubernetes.io/over-capacity": "truncated"}
    (subset,) = step.object["subsets"]
    assert len(subset["addresses"]) == (MAX_ADDRESSES + 100) // 2
    assert len(subset["addresses"]) + len(subset["notReadyAddresses"]) == MAX_ADDRESSES


def test_the_time_of_the_first_change_is_told_once() -> None:
    times, given = TriggerTimes(), service()
    began = "2026-01-01T00:00:00Z"
    given["metadata"]["creationTimestamp"] = began

    def since(name: str, moment: str) -> JsonObject:
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": moment}
        return {"metadata": {"name": name}, "status": {"conditions": [ready]}}

    later, latest = "2026-01-01T00:00:05Z", "2026-01-01T00:00:09Z"
    assert times.changed_at("a", given, [since("p", later)]) == began
    assert times.changed_at("a", given, [since("p", later)]) == ""
    pods = [since("p", latest), since("q", later)]
    assert times.changed_at("a", given, pods) == later
    times.forget("a")
    assert times.changed_at("a", given, ()) == began


def test_what_changes_tells_the_time_it_follows_from() -> None:
    at = "2026-01-01T00:00:05Z"
    (step,) = slices_plan(service(), Reachable([backend("a")], {"node-1": {}}, at), ()).steps
    assert step.object["metadata"]["annotations"] == {LAST_CHANGE: at}
    (step,) = endpoints_plan(service(), [backend("a")], None, at).steps
    assert step.object["metadata"]["annotations"] == {LAST_CHANGE: at}
    (step,) = endpoints_plan(service(), [], step.object, "").steps
    assert "annotations" not in step.object["metadata"]


@pytest.mark.parametrize(
    ("manager", "service", "is_own"),
    [
        ("endpointslice-controller.k8s.io", "web", True),
        ("endpointslice-controller.k8s.io", "other", False),
        ("somebody", "web", False),
        ("somebody", "other", False),
    ],
)
def test_which_slices_are_looked_after(manager: str, service: str, is_own: bool) -> None:
    labels = {
        "endpointslice.kubernetes.io/managed-by": manager,
        "kubernetes.io/service-name": service,
    }
    assert is_own_slice({"metadata": {"labels": labels}}, {"metadata": {"name": "web"}}) is is_own
