"""Storage versions that are migrated. What watchers see was seen at a kube-controller-manager
1.36."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.controllers import storage_migrations
from celadon.apiserver.operation.runtime_config import RuntimeConfig
from tests.apiserver.asking import ask, make, read
from tests.apiserver.in_process import Running
from tests.apiserver.test_conversion_webhooks import (
    DEFINITIONS,
    GROUP,
    Hook,
    conv,
    definition,
    hook,
    path,
    until,
)

__all__ = ["hook"]

MIGRATIONS = "/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations"
NAME = f"convs.{GROUP}"


@pytest.fixture
def server(hook: Hook) -> Iterator[Running]:
    made = Running(
        Settings(
            gates={"StorageVersionMigrator": True},
            runtime_config=RuntimeConfig({"storagemigration.k8s.io/v1beta1": True}),
        )
    )
    make(made, DEFINITIONS, definition())
    for name in ("one", "two"):
        make(made, path("v2"), conv(name, "v2", b="1"))
    stored = f"{DEFINITIONS}/{NAME}"
    found = read(ask(made, "GET", stored))
    found["spec"]["versions"] = definition("v1")["spec"]["versions"]
    assert read(ask(made, "PUT", stored, found))["status"]["storedVersions"] == ["v2", "v1"]
    yield made
    made.close()


def migration(name: str, resource: str = "convs", group: str = GROUP) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"resource": {"resource": resource, "group": group}},
    }


def settled(server: Running, name: str) -> dict[str, Any]:
    """The status, when the controllers have nothing to do."""
    server.wait_for(server.server.controllers.quiet())
    found: dict[str, Any] = read(ask(server, "GET", f"{MIGRATIONS}/{name}"))
    return found


def said(obj: dict[str, Any]) -> list[tuple[Any, ...]]:
    keys = ("type", "status", "reason", "message", "observedGeneration")
    return [tuple(one.get(key) for key in keys) for one in obj["status"]["conditions"]]


def of_definition(server: Running) -> tuple[list[str], list[tuple[Any, ...]]]:
    found = read(ask(server, "GET", f"{DEFINITIONS}/{NAME}"))
    told = [one for one in said(found) if one[0] == "StorageMigrating"]
    return found["status"]["storedVersions"], told


def versions(server: Running) -> list[str]:
    objects = read(ask(server, "GET", path("v1")))["items"]
    return [one["metadata"]["resourceVersion"] for one in objects]


def test_all_objects_are_written_anew(server: Running, hook: Hook) -> None:
    before = versions(server)
    make(server, path("v1"), conv("three", "v1", a="1"))
    hook.asked()
    make(server, MIGRATIONS, migration("m"))
    found = settled(server, "m")
    done = ("Succeeded", "True", "StorageVersionMigrationSucceeded", "", None)
    ended = ("Running", "False", "MigrationCompleted", "Migration completed")
    assert said(found) == [(*ended, found["metadata"].get("generation")), done]
    assert found["status"]["resourceVersion"]
    after = versions(server)
    assert set(before).isdisjoint(after), "those of the old storage version"
    message = "The migration has succeeded and the stored versions have been updated"
    generation = read(ask(server, "GET", f"{DEFINITIONS}/{NAME}"))["metadata"]["generation"]
    told = ("StorageMigrating", "False", "MigrationSucceeded", message, generation)
    assert of_definition(server) == (["v1"], [told])
    hook.is_down = True
    for one in read(ask(server, "GET", path("v1")))["items"]:
        assert ask(server, "GET", path("v1", one["metadata"]["name"])).code == 200
    kept = read(ask(server, "GET", path("v1", "one")))["metadata"]
    assert {one["manager"] for one in kept["managedFields"]} == {"unknown"}


def test_a_webhook_that_is_out_of_reach_is_waited_for(
    server: Running, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage_migrations, "RETRY_SECONDS", 0.02)
    hook.is_down = True
    make(server, MIGRATIONS, migration("m"))
    (running,) = said(settled(server, "m"))
    assert running[:2] == ("Running", "True")
    stored, (told,) = of_definition(server)
    assert stored == ["v2", "v1"]
    assert told[1:4] == ("True", "MigrationRunning", "Migration m is running")
    hook.is_down = False
    until(lambda: len(said(settled(server, "m"))) == 2)
    assert of_definition(server)[0] == ["v1"]


def test_an_object_that_cannot_be_written_ends_it(server: Running) -> None:
    """Since it was written, it has become invalid."""
    found = read(ask(server, "GET", f"{DEFINITIONS}/{NAME}"))
    for version in found["spec"]["versions"]:
        version["schema"]["openAPIV3Schema"]["required"] = ["data"]
    assert ask(server, "PUT", f"{DEFINITIONS}/{NAME}", found).code == 200
    make(server, MIGRATIONS, migration("m"))
    _, failed = said(settled(server, "m"))
    assert failed[:3] == ("Failed", "True", "StorageVersionMigrationFailed")
    assert failed[3].startswith("migration encountered unhandled error: Conv.conv.example.com ")
    stored, (told,) = of_definition(server)
    assert (stored, told[2:4]) == (["v1"], ("MigrationFailed", "The migration has failed"))


def test_one_after_the_other(server: Running) -> None:
    for name in ("b", "a"):
        make(server, MIGRATIONS, migration(name))
    for name in ("a", "b"):
        assert said(settled(server, name))[1][0] == "Succeeded"


def test_what_cannot_be_migrated(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_migrations, "PATIENCE", -1.0)
    make(server, MIGRATIONS, migration("none", "nothing", "example.com"))
    assert said(settled(server, "none"))[1][3] == "resource does not exist in discovery"
    make(server, MIGRATIONS, migration("events", "events", ""))
    assert [one[0] for one in said(settled(server, "events"))] == ["Running"], "for ever"
    make(server, MIGRATIONS, migration("b", "tokenreviews", "authentication.k8s.io"))
    text = (
        'resource "authentication.k8s.io/v1, Resource=tokenreviews" does not support discovery '
        "operations: [update patch list]"
    )
    assert said(settled(server, "b"))[1][3] == text


def test_built_in_objects_that_are_as_they_should_be_stay(server: Running) -> None:
    made = make(server, "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "c"}})
    make(server, MIGRATIONS, migration("m", "configmaps", ""))
    assert said(settled(server, "m"))[1][0] == "Succeeded"
    found = read(ask(server, "GET", "/api/v1/namespaces/default/configmaps/c"))
    assert found == made
