"""APIServices of the server itself."""

from __future__ import annotations

from celadon.apiserver.bootstrap_objects import api_services
from celadon.kube.resources import known_resources
from tests.apiserver.asking import ask, read
from tests.apiserver.in_process import Running


def test_there_is_one_for_each_version_that_is_served() -> None:
    found = {one["metadata"]["name"]: one for one in api_services(known_resources())}
    assert found["v1."]["spec"] == {
        "version": "v1",
        "groupPriorityMinimum": 18000,
        "versionPriority": 1,
    }
    assert found["v1.apps"]["spec"] == {
        "group": "apps",
        "version": "v1",
        "groupPriorityMinimum": 17800,
        "versionPriority": 15,
    }
    assert "v1.apiregistration.k8s.io" not in found
    assert "v1beta1.resource.k8s.io" not in found
    every = {one["metadata"]["name"] for one in api_services(known_resources(all_versions=True))}
    assert "v1beta1.resource.k8s.io" in every


def test_a_server_has_them(running: Running) -> None:
    path = "/apis/apiregistration.k8s.io/v1/apiservices/v2.autoscaling"
    found = read(ask(running, "GET", path))
    assert found["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": "onstart"}
    (condition,) = found["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("Available", "Local")
