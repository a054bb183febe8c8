"""What is served, definitions included."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from celadon.apiserver.caches import served_resources
from celadon.apiserver.caches.served_resources import DEFINITIONS, ServedResources
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.kube.resources import custom_resources as known_custom_resources
from celadon.kube.resources import known_resources
from tests.apiserver.serving import Shelf, resource

GADGETS = GroupVersionResource("ex.io", "v1", "gadgets")


def definition(*, established: bool, **properties: Any) -> dict[str, Any]:
    conditions = [{"type": "Established", "status": "True" if established else "False"}]
    schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.ex.io"},
        "spec": {
            "group": "ex.io",
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
        "status": {"conditions": conditions},
    }


def test_a_resource_is_served_while_its_definition_is_established() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        crds = resource(DEFINITIONS)
        view = ServedResources(shelf.objects, known_resources(), "1.36")
        before = view.current()
        made = await shelf.objects.create(crds, "", "gadgets.ex.io", definition(established=False))
        assert made is not None
        assert view.current().catalog.by_gvr(GADGETS) is None
        changed = definition(established=True)
        made = await shelf.objects.update(crds, "", "gadgets.ex.io", changed, made.revision)
        assert made is not None
        served = view.current()
        found = served.catalog.by_gvr(GADGETS)
        assert found is not None
        assert GroupVersionKind("ex.io", "v1", "Gadget") in served.custom
        assert served.definition_key(found).endswith("/customresourcedefinitions/gadgets.ex.io")
        assert "ex.io" not in served.groups
        assert view.current() is served
        await shelf.objects.delete(crds, "", "gadgets.ex.io", made.revision)
        assert view.current().catalog.by_gvr(GADGETS) is None
        assert before.catalog.by_gvr(GADGETS) is None

    asyncio.run(scenario())


def test_what_a_large_definition_defines_is_taken_in_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop does not wait, and those do that ask for it. Smaller ones do not overtake it."""
    threads: list[bool] = []

    def custom_resources(obj: Any) -> Any:
        threads.append(threading.current_thread() is threading.main_thread())
        return known_custom_resources(obj)

    monkeypatch.setattr(served_resources, "custom_resources", custom_resources)

    async def scenario() -> None:
        shelf, crds = Shelf(), resource(DEFINITIONS)
        view = ServedResources(shelf.objects, known_resources(), "1.36")
        many = {f"p{number}": {"type": "string"} for number in range(2_000)}
        large = definition(established=True, **many)
        made = await shelf.objects.create(crds, "", "gadgets.ex.io", large)
        assert made is not None
        assert view.current().catalog.by_gvr(GADGETS) is None
        small = definition(established=True)
        await shelf.objects.update(crds, "", "gadgets.ex.io", small, made.revision)
        assert view.current().catalog.by_gvr(GADGETS) is None
        await view.settled()
        assert view.current().catalog.by_gvr(GADGETS) is not None
        (found,) = view.current().definitions
        assert found["spec"] == small["spec"]
        other = {**small, "metadata": {"name": "others.ex.io"}}
        await shelf.objects.create(crds, "", "others.ex.io", other)
        assert len(view.current().definitions) == 2

    asyncio.run(scenario())
    assert threads == [False, False, True]  # what has not changed is not looked at again
