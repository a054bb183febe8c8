"""The resources that are served: built in, and defined by CustomResourceDefinitions in the store.

A custom resource is served from the moment its definition is established (a condition that a
controller sets) until the definition is gone. Requests for custom resources, and for what there is,
wait for that (`settled`). The answer is a value that stays the same object until something changes:
whoever derives something from it may keep that for as long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from celadon.apiserver.caches.store_informers import Mirror
from celadon.apiserver.conversion_webhooks import ConversionWebhook, conversion_webhooks
from celadon.apiserver.loop_offloading import LARGE_BYTES
from celadon.apiserver.object_store import ObjectStore, collection_prefix, object_key
from celadon.apiserver.workers import Lagging, on_loop
from celadon.kube import GroupKind, GroupVersionResource, JsonObject, metadata
from celadon.kube.crd import KindsOnDemand, RememberedKinds
from celadon.kube.resources import Catalog, Resource, custom_resources, is_established
from celadon.records import dataclass

_MANY_VERSIONS: Final = 300
"""Of all definitions, that are taken in on the event loop."""

DEFINITIONS: Final = GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions")


@dataclass(frozen=True, slots=True)
class Served:
    """Holds the resources that are served. `definitions` are the established ones, in the order of
    their names."""

    catalog: Catalog
    groups: frozenset[str]
    """Groups with built-in resources."""
    custom: KindsOnDemand
    definitions: tuple[JsonObject, ...]
    conversions: Mapping[GroupKind, ConversionWebhook]
    """Webhooks of the custom kinds that have one."""
    _keys: Mapping[str, str]

    def definition_of(self, resource: Resource) -> JsonObject | None:
        """Return the definition of a custom resource; None for a built-in one."""
        if not resource.custom:
            return None
        name = str(resource.gvr.group_resource)
        return next(
            (definition for definition in self.definitions if metadata.name(definition) == name),
            None,
        )

    def definition_key(self, resource: Resource) -> str:
        """Return where the definition of a custom resource is stored; empty for a built-in one."""
        if not resource.custom:
            return ""
        return self._keys.get(str(resource.gvr.group_resource), "")


class ServedResources:
    """The view. `builtin` is what the server offers by itself, `version` the release whose rules
    hold for the schemas of custom resources. What large definitions define, or many, is served a
    moment later."""

    def __init__(self, objects: ObjectStore, builtin: Catalog, version: str) -> None:
        resource = builtin.by_gvr(DEFINITIONS)
        assert resource is not None, "a catalogue without CustomResourceDefinitions"
        self._resource = resource
        self._builtin = builtin
        self._groups = frozenset(resource.gvr.group for resource in builtin)
        self._kinds = RememberedKinds(version)
        self._resources: dict[str, tuple[JsonObject, tuple[Resource, ...]]] = {}
        """By the name of the definition that defines them."""
        self._objects = objects
        self._mirror = Mirror(objects, collection_prefix(resource))
        self._lagging = Lagging(self._made(self._definitions()))
        self._revision = -1
        """The revision of the last look."""

    def current(self) -> Served:
        """Return what is served now. A create asks nine times, mostly in the same revision."""
        if self._objects.store.revision() == self._revision:
            return self._lagging.value
        return self._refreshed()

    @on_loop
    def _refreshed(self) -> Served:
        revision = self._objects.store.revision()
        if self._mirror.refresh():
            definitions = self._definitions()
            is_long = self._is_long(definitions)
            self._lagging.change(lambda _: self._made(definitions), is_long=is_long)
        self._revision = revision
        return self._lagging.value

    @property
    def is_settled(self) -> bool:
        """Return whether all that `current` has seen is in force."""
        return self._lagging.is_settled

    async def settled(self) -> None:
        """Wait until `current` shows what is stored."""
        self.current()
        await self._lagging.settled()

    def is_built_in(self, resource: GroupVersionResource) -> bool:
        """Return whether it is served whatever definitions there are."""
        return self._builtin.by_gvr(resource) is not None

    def _definitions(self) -> tuple[JsonObject, ...]:
        """Return the definitions that are established."""
        return tuple(item.object for item in self._mirror if is_established(item.object))

    def _is_long(self, definitions: Sequence[JsonObject]) -> bool:
        """Return whether it takes long to take in what has changed, or what there is."""
        news = self._mirror.news
        if news is None or sum(map(_version_count, definitions)) > _MANY_VERSIONS:
            return True
        return sum(after.size for _, after in news if after is not None) > LARGE_BYTES

    def _made(self, definitions: Sequence[JsonObject]) -> Served:
        """Make the view, one definition after the other, in whatever thread."""
        self._resources = {
            metadata.name(definition): (definition, self._resources_of(definition))
            for definition in definitions
        }
        added = [resource for _, some in self._resources.values() for resource in some]
        return Served(
            self._builtin.with_resources(added) if added else self._builtin,
            self._groups,
            self._kinds.of(definitions),
            tuple(definitions),
            conversion_webhooks(definitions),
            {
                name: object_key(self._resource, "", name)
                for name in map(metadata.name, definitions)
            },
        )

    def _resources_of(self, definition: JsonObject) -> tuple[Resource, ...]:
        resource = self._resources.get(metadata.name(definition))
        if resource is not None and resource[0] is definition:
            return resource[1]
        return custom_resources(definition)


def _version_count(definition: JsonObject) -> int:
    return len(definition["spec"].get("versions") or ())
