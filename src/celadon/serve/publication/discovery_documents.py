"""The documents of discovery: lists of groups and resources, and the aggregated one.

As k8s.io/apiserver `pkg/endpoints/discovery`, with members in the order in which Go writes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from celadon.kube import GroupVersion, GroupVersionKind
from celadon.kube.catalogue import Resource, Subresource
from celadon.serve.publication.published_apis import (
    PublishedApis,
    PublishedGroup,
    PublishedVersion,
    storage_version_hash,
)

AGGREGATED_API: Final = "apidiscovery.k8s.io/v2"


def api_versions(server_address: str) -> dict[str, Any]:
    """`/api`. It has no `apiVersion`."""
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": server_address}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}


def api_group_list(apis: PublishedApis) -> dict[str, Any]:
    """`/apis`."""
    groups = [_group_entry(group) for group in apis.groups]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def api_group(group: PublishedGroup) -> dict[str, Any]:
    """`/apis/GROUP`."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group_entry(group)}


def _group_entry(group: PublishedGroup) -> dict[str, Any]:
    versions = [
        {"groupVersion": str(one.group_version), "version": one.group_version.version}
        for one in group.versions
    ]
    return {"name": group.name, "versions": versions, "preferredVersion": versions[0]}


def api_resource_list(version: PublishedVersion) -> dict[str, Any]:
    """`/api/v1`, `/apis/GROUP/VERSION`. That of the core group has no `apiVersion`."""
    named = {"apiVersion": "v1"} if version.group_version.group else {}
    entries = [entry for one in version.resources for entry in _resource_entries(one)]
    return {
        "kind": "APIResourceList",
        **named,
        "groupVersion": str(version.group_version),
        "resources": entries,
    }


def _resource_entries(resource: Resource) -> Iterable[dict[str, Any]]:
    """Of a resource and of what is below it."""
    own = resource.gvr.group_version
    stored = storage_version_hash(resource)
    yield {
        "name": resource.gvr.resource,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.gvk.kind,
        "verbs": list(resource.verbs),
        **({"shortNames": list(resource.short_names)} if resource.short_names else {}),
        **({"categories": list(resource.categories)} if resource.categories else {}),
        **({"storageVersionHash": stored} if stored else {}),
    }
    for subresource in resource.subresources:
        yield {
            "name": f"{resource.gvr.resource}/{subresource.name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            **_foreign(subresource.gvk, own),
            "kind": subresource.gvk.kind,
            "verbs": list(subresource.verbs),
        }


def _foreign(kind: GroupVersionKind, own: GroupVersion) -> dict[str, Any]:
    """Group and version of a kind that has others than the list it is in."""
    if kind.group_version == own:
        return {}
    return {"group": kind.group, "version": kind.version}


def aggregated(groups: Iterable[PublishedGroup]) -> dict[str, Any]:
    """All groups with all their resources in one document."""
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": AGGREGATED_API,
        "metadata": {},
        "items": [_aggregated_group(group) for group in groups],
    }


def _aggregated_group(group: PublishedGroup) -> dict[str, Any]:
    return {
        "metadata": {"name": group.name} if group.name else {},
        "versions": [
            {
                "version": one.group_version.version,
                "resources": [_aggregated_resource(resource) for resource in one.resources],
                "freshness": "Current",
            }
            for one in group.versions
        ],
    }


def _aggregated_resource(resource: Resource) -> dict[str, Any]:
    below = [_aggregated_subresource(one, resource) for one in resource.subresources]
    return {
        "resource": resource.gvr.resource,
        "responseKind": _response_kind(resource.gvk, resource),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
        **({"shortNames": list(resource.short_names)} if resource.short_names else {}),
        **({"categories": list(resource.categories)} if resource.categories else {}),
        **({"subresources": below} if below else {}),
    }


def _aggregated_subresource(subresource: Subresource, parent: Resource) -> dict[str, Any]:
    return {
        "subresource": subresource.name,
        "responseKind": _response_kind(subresource.gvk, parent),
        "verbs": list(subresource.verbs),
    }


def _response_kind(kind: GroupVersionKind, resource: Resource) -> dict[str, Any]:
    """Of built-in resources, group and version are only said where they differ."""
    same = kind.group_version == resource.gvr.group_version and not resource.custom
    group, version = ("", "") if same else kind.group_version
    return {"group": group, "version": version, "kind": kind.kind}
