"""Where writes of these tests go."""

from __future__ import annotations

from celadon.kube.names import GroupVersionResource, parse_api_version
from celadon.kube.registry.decoded_object import Target
from celadon.kube.resources.api_resources import known_resources


def target(resource: str, name: str = "", subresource: str = "", namespace: str = "ns") -> Target:
    """`apps/v1/deployments`; the namespace counts where the resource has one."""
    api_version, _, plural = resource.rpartition("/")
    group, version = parse_api_version(api_version)
    found = known_resources(all_versions=True).by_gvr(GroupVersionResource(group, version, plural))
    assert found is not None, resource
    return Target(found, namespace if found.namespaced else "", name, subresource)
