"""Where a write goes: a resource or what is below it, a namespace, a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celadon.kube.catalogue.resources import Resource
from celadon.kube.names import GroupKind, GroupResource, GroupVersionKind
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.kube.custom.custom_kinds import CustomKind


# House rule 9: nobody assigns to its fields, but it is not frozen: each request makes one, and a
# frozen one takes four times as long.
@dataclass(slots=True)
class Target:
    """`namespace` and `name` are those of the URL: the name is empty for a create in a collection,
    the namespace for cluster-scoped resources. `custom` is what the resource's
    CustomResourceDefinition says about its kind, if there is one."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    custom: CustomKind | None = None

    @property
    def kind(self) -> GroupVersionKind:
        """What the endpoint reads and shows."""
        if not self.subresource:
            return self.resource.gvk
        found = self.resource.kind_of(self.subresource)
        assert found is not None, f"{self.resource.gvr} has no {self.subresource}"
        return found

    @property
    def group_kind(self) -> GroupKind:
        return self.kind.group_kind

    @property
    def group_resource(self) -> GroupResource:
        return self.resource.gvr.group_resource

    @property
    def schema(self) -> CustomKind | None:
        """The custom kind whose schema holds for what the endpoint reads: not for its scale."""
        return None if self.subresource == "scale" else self.custom

    @property
    def is_namespaced(self) -> bool:
        return self.resource.namespaced
