"""The resources that are served: built in, and defined by CustomResourceDefinitions in the store.

A custom resource is served from the moment its definition is established (a condition that a
controller sets) until the definition is gone. The answer is a value that stays the same object
until something changes: whoever derives something from it may keep that for as long.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.apiserver.caches.mirror import Mirror
from celadon.apiserver.conversion_webhooks import ConversionWebhook, conversion_webhooks
from celadon.apiserver.object_store import ObjectStore, collection_prefix, object_key
from celadon.apiserver.workers import on_loop
from celadon.kube import GroupKind, GroupVersionKind, GroupVersionResource, JsonObject, metadata
from celadon.kube.crd import CustomKind, RememberedKinds
from celadon.kube.resources import Catalog, Resource, is_established
from celadon.records import dataclass

DEFINITIONS: Final = GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions")


@dataclass(frozen=True, slots=True)
class Served:
    """`definitions` are the established ones, in the order of their names."""

    catalog: Catalog
    groups: frozenset[str]
    """Groups with built-in resources."""
    custom: Mapping[GroupVersionKind, CustomKind]
    definitions: tuple[JsonObject, ...]
    conversions: Mapping[GroupKind, ConversionWebhook]
    """Webhooks of the custom kinds that have one."""
    _keys: Mapping[str, str]

    def definition_of(self, resource: Resource) -> JsonObject | None:
        """The definition of a custom resource; None for a built-in one."""
        if not resource.custom:
            return None
        name = str(resource.gvr.group_resource)
        return next((one for one in self.definitions if metadata.name(one) == name), None)

    def definition_key(self, resource: Resource) -> str:
        """Where the definition of a custom resource is stored; empty for a built-in one."""
        if not resource.custom:
            return ""
        return self._keys.get(str(resource.gvr.group_resource), "")


class ServedResources:
    """The view. `builtin` is what the server offers by itself, `version` the release whose rules
    hold for the schemas of custom resources."""

    def __init__(self, objects: ObjectStore, builtin: Catalog, version: str) -> None:
        resource = builtin.by_gvr(DEFINITIONS)
        assert resource is not None, "a catalogue without CustomResourceDefinitions"
        self._resource = resource
        self._builtin = builtin
        self._kinds = RememberedKinds(version)
        self._mirror = Mirror(objects, collection_prefix(resource))
        self._served = self._made()

    @on_loop
    def current(self) -> Served:
        """What is served now."""
        if self._mirror.refresh():
            self._served = self._made()
        return self._served

    def _made(self) -> Served:
        definitions = tuple(one.object for one in self._mirror if is_established(one.object))
        return Served(
            self._builtin.with_crds(definitions) if definitions else self._builtin,
            frozenset(resource.gvr.group for resource in self._builtin),
            self._kinds.of(definitions),
            definitions,
            conversion_webhooks(definitions),
            {
                name: object_key(self._resource, "", name)
                for name in map(metadata.name, definitions)
            },
        )
