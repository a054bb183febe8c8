"""What policies, plugins and validation may look up: the objects in the store, as they are now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from celadon.admission import ConversionError, convert
from celadon.apiserver.caches.served_resources import ServedResources
from celadon.apiserver.conversion_webhooks import ConversionFailed, Conversions
from celadon.apiserver.object_store import ObjectStore
from celadon.apiserver.workers import on_loop
from celadon.kube import Attributes, GroupVersionKind, GroupVersionResource, JsonObject, Ruling
from celadon.kube.resources import Catalog, Resource
from celadon.kube.well_known_values import NAMESPACES

_REMEMBERED: Final = 1024
"""Namespaces."""


class AuthorizerView(Protocol):
    """Decides who may do what, by the roles and bindings that are stored now."""

    def authorize(self, attributes: Attributes) -> tuple[Ruling, str, str | None]:
        """The ruling, its reason, and the text of an error if there was one."""


class StoreWorld:
    """A `World` over the store. Reads see what has been acknowledged."""

    conversions: Conversions
    """Set when there is who calls webhooks, who asks the world where services are."""

    def __init__(
        self, objects: ObjectStore, served: ServedResources, authorizer: AuthorizerView
    ) -> None:
        self._objects = objects
        self._served = served
        self._authorizer = authorizer
        self._namespaces: dict[str, JsonObject | None] = {}
        self._seen = -1
        """The revision at which the namespaces were read."""

    @property
    def catalog(self) -> Catalog:
        return self._served.current().catalog

    @on_loop
    def namespace(self, name: str) -> JsonObject | None:
        """Asked three times by most writes; what was found is good until something is written."""
        revision = self._objects.store.revision()
        known = self._namespaces
        if revision != self._seen or len(known) >= _REMEMBERED:
            self._seen, self._namespaces = revision, (known := {})
        try:
            return known[name]
        except KeyError:
            found = known[name] = self.get(NAMESPACES, "", name)
            return found

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        found = self.catalog.by_gvr(resource)
        stored = None if found is None else self._objects.get(found, namespace, name)
        if found is None or stored is None:
            return None
        (shown,) = self._shown([stored.object], found)
        return shown

    def list(self, resource: GroupVersionResource, namespace: str) -> Sequence[JsonObject]:
        found = self.catalog.by_gvr(resource)
        if found is None:
            return ()
        page = self._objects.page(found, namespace)
        return self._shown([stored.object for stored in page.objects], found)

    def _shown(self, objects: Sequence[JsonObject], resource: Resource) -> Sequence[JsonObject]:
        """Stored objects in the version of a resource. Raises ConversionError."""
        kind = resource.gvk
        if resource.custom and self.conversions.concern(kind.group_kind):
            custom = self._served.current().custom[kind]
            try:
                return self.conversions.all_shown(objects, custom)
            except ConversionFailed as error:
                raise ConversionError(str(error)) from None
        return [convert(obj, kind) for obj in objects]

    def authorize(self, attributes: Attributes) -> tuple[Ruling, str, str | None]:
        return self._authorizer.authorize(attributes)

    def convert(self, obj: JsonObject, kind: GroupVersionKind) -> JsonObject:
        """Raises ConversionError."""
        if obj.get("kind") == kind.kind and obj.get("apiVersion") == kind.api_version:
            return obj  # a worker that asked the loop waited 50 µs for each object of a list
        if not self.conversions.concern(kind.group_kind):
            return convert(obj, kind)
        try:
            return self.conversions.converted(obj, kind)
        except ConversionFailed as error:
            raise ConversionError(str(error)) from None
