"""The APIServices of other servers, kept current."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from celadon.apiserver.aggregation import api_services
from celadon.apiserver.aggregation.api_services import (
    API_SERVICES,
    ApiServiceView,
    RemoteApiService,
    remote_api_service,
)
from celadon.kube import metadata
from celadon.kube.resources import known_resources
from tests.apiserver.serving import Shelf


def api_service(group: str) -> dict[str, Any]:
    spec = {"group": group, "version": "v1", "service": {"namespace": "a", "name": "b"}}
    about = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService"}
    return {**about, "metadata": {"name": f"v1.{group}"}, "spec": spec}


def test_what_has_not_changed_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def reading(obj: Any) -> RemoteApiService | None:
        read.append(metadata.name(obj))
        return remote_api_service(obj)

    monkeypatch.setattr(api_services, "remote_api_service", reading)
    resource = known_resources(all_versions=True).by_gvr(API_SERVICES)
    assert resource is not None

    async def scenario() -> None:
        objects = Shelf().objects
        view = ApiServiceView(objects)
        for group in ("a.io", "b.io", "c.io"):
            obj = api_service(group)
            assert await objects.create(resource, "", f"v1.{group}", obj) is not None
            assert view.current().named(f"v1.{group}") is not None
        stored = objects.get(resource, "", "v1.b.io")
        assert stored is not None
        await objects.delete(resource, "", "v1.b.io", stored.revision)
        assert view.current().named("v1.b.io") is None
        assert view.current().named("v1.a.io") is not None

    asyncio.run(scenario())
    assert read == ["v1.a.io", "v1.b.io", "v1.c.io"]
