"""The groups, versions and resources that a server offers, in the order in which it lists them.

The order matters: of two kinds with one short name, clients take the first. Built-in groups have
theirs from the catalogue; those of custom resources come after them, by name. Versions of a group
are listed with the preferred one first.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cached_property
from typing import Final

from celadon.kube import GroupVersion
from celadon.kube.catalogue import Catalog, Resource, api_groups
from celadon.patterns import late_pattern
from celadon.records import dataclass

_VERSION: Final = late_pattern(r"v([0-9]+)(?:(alpha|beta)([0-9]+))?")
_STAGES: Final = {"": 2, "beta": 1, "alpha": 0}


@dataclass(frozen=True, slots=True)
class PublishedVersion:
    """A version of a group, with its resources by name."""

    group_version: GroupVersion
    resources: tuple[Resource, ...]

    @property
    def path(self) -> str:
        """`api/v1`, `apis/apps/v1`."""
        return f"apis/{self.group_version}" if self.group_version.group else "api/v1"


@dataclass(frozen=True, slots=True)
class PublishedGroup:
    """A group with its versions, the preferred one first. `custom`: only CRDs define its kinds."""

    name: str
    versions: tuple[PublishedVersion, ...]
    custom: bool

    def version(self, name: str) -> PublishedVersion | None:
        """The version of that name, if it is offered."""
        return next((one for one in self.versions if one.group_version.version == name), None)


# House rule 9: without slots, because `cached_property` needs the instance dictionary.
@dataclass(frozen=True, eq=False)
class PublishedApis:
    """What a catalogue offers. One object for each state of the catalogue; what is made of it is
    kept with the object."""

    catalog: Catalog

    @cached_property
    def groups(self) -> tuple[PublishedGroup, ...]:
        """The named groups, in the order of discovery."""
        by_group: dict[str, list[Resource]] = {}
        for resource in self.catalog:
            if resource.served and resource.gvr.group:
                by_group.setdefault(resource.gvr.group, []).append(resource)
        order = {group.name: group.versions for group in api_groups()}
        built_in = [name for name in order if name in by_group]
        custom = sorted(by_group.keys() - order.keys())
        return (
            *(_group(name, order[name], by_group[name]) for name in built_in),
            *(_group(name, (), by_group[name]) for name in custom),
        )

    @cached_property
    def core(self) -> PublishedGroup:
        """The group without a name."""
        return _group("", ("v1",), [one for one in self.catalog if not one.gvr.group])

    @cached_property
    def versions(self) -> tuple[PublishedVersion, ...]:
        """Of all groups, the core first."""
        return tuple(one for group in (self.core, *self.groups) for one in group.versions)

    def group(self, name: str) -> PublishedGroup | None:
        """The group of that name, if it is offered."""
        return next((one for one in (self.core, *self.groups) if one.name == name), None)


def _group(name: str, order: tuple[str, ...], resources: list[Resource]) -> PublishedGroup:
    """Versions of custom resources that `order` does not know come after the others."""
    offered = {resource.gvr.version for resource in resources}
    known = [version for version in order if version in offered]
    versions = [*known, *sorted(offered.difference(known), key=version_rank)]
    custom = all(resource.custom for resource in resources)
    return PublishedGroup(name, tuple(_version(name, one, resources) for one in versions), custom)


def _version(group: str, version: str, resources: Iterable[Resource]) -> PublishedVersion:
    own = [one for one in resources if one.gvr.version == version]
    by_name = sorted(own, key=lambda one: one.gvr.resource)
    return PublishedVersion(GroupVersion(group, version), tuple(by_name))


def version_rank(version: str) -> tuple[int, int, int, str]:
    """Sorts `v2, v1, v1beta1, v1alpha1, other`: as k8s.io/apimachinery `pkg/version`."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return 1, 0, 0, version
    stage = _STAGES[found[2] or ""]
    return 0, -stage, -int(found[1]) * 10**6 - int(found[3] or 0), ""


def storage_version_hash(resource: Resource) -> str:
    """By it clients notice when objects begin to be stored in another version; empty for what is
    not stored."""
    if not resource.custom:
        return resource.storage_version_hash
    kind = f"{resource.gvr.group}/{resource.storage_version}/{resource.gvk.kind}"
    return base64.b64encode(hashlib.sha256(kind.encode()).digest()[:8]).decode()
