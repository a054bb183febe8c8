"""What is served, definitions included."""

from __future__ import annotations

import asyncio
from typing import Any

from celadon.apiserver.caches.served_resources import DEFINITIONS, ServedResources
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.kube.resources import known_resources
from tests.apiserver.serving import Shelf, resource

GADGETS = GroupVersionResource("ex.io", "v1", "gadgets")


def definition(*, established: bool) -> dict[str, Any]:
    conditions = [{"type": "Established", "status": "True" if established else "False"}]
    schema = {"openAPIV3Schema": {"type": "object"}}
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
