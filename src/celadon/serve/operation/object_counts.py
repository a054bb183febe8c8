"""How many objects of each kind a store holds."""

from __future__ import annotations

from collections.abc import Mapping

from celadon.kube.catalogue import Catalog
from celadon.serve.objects.object_keys import collection_prefix
from celadon.serve.objects.object_store import ObjectStore


def object_counts(objects: ObjectStore, catalog: Catalog) -> Mapping[tuple[str, str], int]:
    """By group and resource; kinds that are not stored have none, and are not there."""
    found = {}
    for resource in catalog:
        if "create" in resource.verbs and "list" in resource.verbs:
            page = objects.store.range(collection_prefix(resource), limit=1)
            found[resource.gvr.group, resource.gvr.resource] = len(page.entries) + page.remaining
    return found
