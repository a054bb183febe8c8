"""The roles and bindings in the store, as an authorizer that is ready to answer."""

from __future__ import annotations

from typing import Final

from celadon.kube import Answer, Attributes, GroupVersionResource
from celadon.kube.catalogue import known_resources
from celadon.kube.roles import RbacAuthorizer, RoleIndex
from celadon.kube.well_known_values import RBAC_GROUP
from celadon.serve.objects.object_keys import collection_prefix
from celadon.serve.objects.object_store import ObjectStore
from celadon.serve.views.mirror import Mirror
from celadon.serve.workers.loop_doors import on_loop

RESOURCES: Final = ("roles", "rolebindings", "clusterroles", "clusterrolebindings")


class RoleView:
    """Aggregated roles have the rules that a controller would give them, at once."""

    def __init__(self, objects: ObjectStore) -> None:
        catalog = known_resources()
        self._mirrors = []
        for name in RESOURCES:
            resource = catalog.by_gvr(GroupVersionResource(RBAC_GROUP, "v1", name))
            assert resource is not None, f"no {name}"
            self._mirrors.append(Mirror(objects, collection_prefix(resource)))
        self._authorizer = self._made()

    @on_loop
    def current(self) -> RbacAuthorizer:
        """By what is stored now."""
        changed = [mirror.refresh() for mirror in self._mirrors]
        if any(changed):
            self._authorizer = self._made()
        return self._authorizer

    @on_loop
    def authorize(self, attributes: Attributes) -> Answer:
        """As `RbacAuthorizer.authorize`."""
        return self.current().authorize(attributes)

    def _made(self) -> RbacAuthorizer:
        stored = (one.object for mirror in self._mirrors for one in mirror)
        return RbacAuthorizer(RoleIndex(stored, aggregating=True))
