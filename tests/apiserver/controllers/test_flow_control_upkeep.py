"""What becomes of FlowSchemas and priority levels, by what clients see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from celadon.apiserver.controllers import server_controllers
from celadon.apiserver.controllers.controller_loops import Change, ServerRequests, StatusWrites
from celadon.apiserver.controllers.system_objects import UPKEEP_SECONDS, FlowControlUpkeep, is_kept
from celadon.kube import GroupVersionResource
from tests.apiserver.asking import ask, make, read
from tests.apiserver.in_process import Running

GROUP = "/apis/flowcontrol.apiserver.k8s.io/v1"
SCHEMAS = f"{GROUP}/flowschemas"
LEVELS = f"{GROUP}/prioritylevelconfigurations"


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    found = Running()
    yield found
    found.close()


def keep(running: Running) -> None:
    """Look at all specs now, as the controller does once a minute."""
    core = running.server.core

    def writes(gvr: GroupVersionResource) -> StatusWrites:
        return StatusWrites(core.objects, server_controllers.built_in(gvr))

    upkeep = FlowControlUpkeep(
        writes(server_controllers.FLOW_SCHEMAS),
        writes(server_controllers.PRIORITY_LEVELS),
        ServerRequests(running.server.perform, "flow-control"),
        core.sources.timestamp,
    )
    first, *_ = upkeep.concerned(Change("", None, None))
    assert first not in list(upkeep.concerned(Change("", None, None))), "later by its timer alone"
    assert running.wait_for(upkeep.reconcile(first)) == UPKEEP_SECONDS
    running.settle()


def schema(name: str, level: str = "exempt", **meta: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, **meta},
        "spec": {"priorityLevelConfiguration": {"name": level}},
    }


def dangling(running: Running, name: str) -> tuple[str, str, str]:
    running.settle()
    (found,) = read(ask(running, "GET", f"{SCHEMAS}/{name}"))["status"]["conditions"]
    assert found["type"] == "Dangling"
    return found["status"], found["reason"], found["message"]


def test_a_schema_says_whether_its_level_exists(running: Running) -> None:
    make(running, SCHEMAS, schema("mine", "later"))
    names = 'This FlowSchema references the PriorityLevelConfiguration object named "later"'
    missing = ("True", "NotFound", f"{names} but there is no such object")
    assert dangling(running, "mine") == missing
    level = {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}
    make(running, LEVELS, {"metadata": {"name": "later"}, "spec": level})
    assert dangling(running, "mine") == ("False", "Found", f"{names} and it exists")
    assert ask(running, "DELETE", f"{LEVELS}/later").code == 200
    assert dangling(running, "mine") == missing


def test_those_of_every_cluster_are_there_and_say_so(running: Running) -> None:
    assert dangling(running, "catch-all")[:2] == ("False", "Found")
    assert read(ask(running, "GET", f"{SCHEMAS}/probes"))["metadata"]["generation"] == 1


def test_what_is_deleted_comes_back(running: Running) -> None:
    for path in (f"{SCHEMAS}/probes", f"{LEVELS}/system"):
        assert ask(running, "DELETE", path).code == 200
        assert ask(running, "GET", path).code == 404, "not at once"
        keep(running)
        assert ask(running, "GET", path).code == 200


def change(running: Running, auto: str) -> int:
    """The precedence of a schema after somebody has changed it and the server has looked."""
    path = f"{SCHEMAS}/global-default"
    live = read(ask(running, "GET", path))
    live["metadata"]["annotations"] = {"apf.kubernetes.io/autoupdate-spec": auto} if auto else {}
    live["spec"]["matchingPrecedence"] = 5000
    assert ask(running, "PUT", path, live).code == 200
    keep(running)
    return int(read(ask(running, "GET", path))["spec"]["matchingPrecedence"])


@pytest.mark.parametrize(("auto", "precedence"), [("true", 9900), ("false", 5000), ("", 5000)])
def test_what_is_changed_is_set_right_unless_it_says_otherwise(
    running: Running, auto: str, precedence: int
) -> None:
    assert change(running, auto) == precedence


def test_unknown_ones_that_the_server_should_keep_go(running: Running) -> None:
    told = {"apf.kubernetes.io/autoupdate-spec": "true"}
    make(running, SCHEMAS, schema("unknown", annotations=told))
    make(running, SCHEMAS, schema("own"))
    keep(running)
    assert ask(running, "GET", f"{SCHEMAS}/unknown").code == 404
    assert ask(running, "GET", f"{SCHEMAS}/own").code == 200


@pytest.mark.parametrize(
    ("kind", "name", "meta", "kept"),
    [
        (
            "FlowSchema",
            "exempt",
            {"annotations": {"apf.kubernetes.io/autoupdate-spec": "false"}},
            True,
        ),
        (
            "FlowSchema",
            "probes",
            {"annotations": {"apf.kubernetes.io/autoupdate-spec": "false"}},
            False,
        ),
        (
            "FlowSchema",
            "probes",
            {"annotations": {"apf.kubernetes.io/autoupdate-spec": "x"}},
            False,
        ),
        ("FlowSchema", "probes", {"generation": 1}, True),
        ("FlowSchema", "probes", {"generation": 2}, False),
    ],
)
def test_whose_specs_are_kept(kind: str, name: str, meta: dict[str, Any], kept: bool) -> None:
    assert is_kept({"kind": kind, "metadata": {"name": name, **meta}}) is kept
