"""APIServices of custom resources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from celadon.apiserver.controllers import custom_resource_definitions
from celadon.apiserver.http_messages import HttpAnswer
from tests.apiserver.asking import ask, read
from tests.apiserver.in_process import Running

SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture
def running() -> Iterator[Running]:
    """A server of the test's own, whose definitions no other test meets."""
    made = Running()
    yield made
    made.close()


def definition(plural: str, **served: bool) -> dict[str, Any]:
    """Of resources in `demo.io`; the versions and whether each is served."""
    schema = {"openAPIV3Schema": {"type": "object"}}
    versions = [
        {"name": name, "served": one, "storage": number == 0, "schema": schema}
        for number, (name, one) in enumerate(served.items())
    ]
    names = {"plural": plural, "singular": plural[:-1], "kind": plural[:-1].title()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.demo.io"},
        "spec": {"group": "demo.io", "scope": "Cluster", "names": names, "versions": versions},
    }


def services(running: Running) -> dict[str, dict[str, Any]]:
    running.settle()
    every = read(ask(running, "GET", SERVICES))["items"]
    return {one["metadata"]["name"]: one for one in every if one["spec"].get("group") == "demo.io"}


def patch(running: Running, path: str, body: Any) -> HttpAnswer:
    return ask(running, "PATCH", path, body, content_type="application/merge-patch+json")


def test_there_is_one_for_each_version_that_is_served(running: Running) -> None:
    assert ask(running, "POST", DEFINITIONS, definition("cogs", v1=True, v2=False)).code == 201
    assert ask(running, "POST", DEFINITIONS, definition("nuts", v1=True)).code == 201
    found = services(running)
    assert set(found) == {"v1.demo.io"}
    service = found["v1.demo.io"]
    assert service["spec"] == {
        "group": "demo.io",
        "version": "v1",
        "groupPriorityMinimum": 1000,
        "versionPriority": 100,
    }
    label = {"kube-aggregator.kubernetes.io/automanaged": "true"}
    assert service["metadata"]["labels"] == label
    assert [one["reason"] for one in service["status"]["conditions"]] == ["Local"]

    served = {"spec": {"versions": definition("cogs", v1=True, v2=True)["spec"]["versions"]}}
    assert patch(running, f"{DEFINITIONS}/cogs.demo.io", served).code == 200
    assert set(services(running)) == {"v1.demo.io", "v2.demo.io"}

    ask(running, "DELETE", f"{DEFINITIONS}/cogs.demo.io")
    running.settle()
    assert set(services(running)) == {"v1.demo.io"}
    ask(running, "DELETE", f"{DEFINITIONS}/nuts.demo.io")
    running.settle()
    assert not services(running)


def test_it_is_kept_as_it_is_unless_somebody_takes_it_over(running: Running) -> None:
    ask(running, "POST", DEFINITIONS, definition("cogs", v1=True))
    path = f"{SERVICES}/v1.demo.io"
    services(running)
    patch(running, path, {"spec": {"versionPriority": 7}})
    assert services(running)["v1.demo.io"]["spec"]["versionPriority"] == 100
    ask(running, "DELETE", path)
    assert "v1.demo.io" in services(running)
    given = {"metadata": {"labels": None}, "spec": {"versionPriority": 7}}
    patch(running, path, given)
    assert services(running)["v1.demo.io"]["spec"]["versionPriority"] == 7


def test_versions_of_a_definition_are_collected_once(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not once for each version, which took minutes on the event loop for 5,000 of them."""
    collected = 0
    real = custom_resource_definitions._services_of

    def counted(definition: dict[str, Any] | None) -> set[str]:
        nonlocal collected
        collected += 1
        return real(definition)

    monkeypatch.setattr(custom_resource_definitions, "_services_of", counted)
    versions = {f"v{number}": True for number in range(1, 60)}
    assert ask(running, "POST", DEFINITIONS, definition("bolts", **versions)).code == 201
    assert len(services(running)) >= 59
    assert collected < 59
