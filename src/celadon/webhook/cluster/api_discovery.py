"""What a cluster serves: its resources, by discovery, as a catalogue.

All of it comes in two documents (aggregated discovery, since 1.26); an older cluster is asked for
each of its versions. What Celadon knows of built-in resources, equivalent versions for instance, it
knows better than discovery does; only which of them are there is taken from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from celadon.kube import (
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    JsonObject,
    parse_api_version,
)
from celadon.kube.catalogue import Catalog, Resource, Subresource, known_resources
from celadon.webhook.cluster.cluster_client import ClusterClient, ClusterError

AGGREGATED: Final = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)
LIST_KIND: Final = "APIGroupDiscoveryList"


async def discover(client: ClusterClient) -> tuple[Resource, ...]:
    """All resources of the cluster. A group whose server does not answer is left out. Raises
    ClusterError."""
    found: list[Resource] = []
    for path in ("/api", "/apis"):
        document = await client.request("GET", path, accept=AGGREGATED)
        if document.get("kind") == LIST_KIND:
            found += aggregated_resources(document)
        else:
            for version in listed_versions(document):
                found += await _version(client, f"{path}/{version}")
    return tuple(found)


async def _version(client: ClusterClient, path: str) -> Sequence[Resource]:
    try:
        return list(listed_resources(await client.get(path)))
    except ClusterError:
        return ()


def aggregated_resources(document: JsonObject) -> Iterator[Resource]:
    """Of an APIGroupDiscoveryList."""
    for group in document.get("items") or ():
        name = (group.get("metadata") or {}).get("name") or ""
        for version in group.get("versions") or ():
            own = GroupVersion(name, version.get("version") or "")
            for one in version.get("resources") or ():
                below = tuple(
                    Subresource(
                        sub.get("subresource") or "",
                        _kind(own, sub.get("responseKind") or {}),
                        tuple(sub.get("verbs") or ()),
                    )
                    for sub in one.get("subresources") or ()
                )
                kind = _kind(own, one.get("responseKind") or {})
                namespaced = one.get("scope") == "Namespaced"
                yield _resource(own, one.get("resource") or "", kind, below, one, namespaced)


def listed_versions(document: JsonObject) -> Iterator[str]:
    """Of APIVersions (`v1`) or an APIGroupList (`apps/v1`)."""
    yield from document.get("versions") or ()
    for group in document.get("groups") or ():
        for version in group.get("versions") or ():
            yield version.get("groupVersion") or ""


def listed_resources(document: JsonObject) -> Iterator[Resource]:
    """Of an APIResourceList."""
    own = parse_api_version(document.get("groupVersion") or "")
    entries: Sequence[JsonObject] = document.get("resources") or ()
    for one in entries:
        name = one.get("name") or ""
        if "/" in name:
            continue
        below = tuple(
            Subresource(
                sub["name"].partition("/")[2], _kind(own, sub), tuple(sub.get("verbs") or ())
            )
            for sub in entries
            if (sub.get("name") or "").startswith(f"{name}/")
        )
        yield _resource(own, name, _kind(own, one), below, one, one.get("namespaced") is True)


def _kind(own: GroupVersion, given: JsonObject) -> GroupVersionKind:
    """Group and version are only said where they differ from the list's."""
    version = given.get("version") or ""
    group_version = GroupVersion(given.get("group") or "", version) if version else own
    return GroupVersionKind(*group_version, given.get("kind") or "")


def _resource(
    own: GroupVersion,
    name: str,
    kind: GroupVersionKind,
    below: tuple[Subresource, ...],
    given: JsonObject,
    namespaced: bool,  # noqa: FBT001  as in the document
) -> Resource:
    return Resource(
        gvr=GroupVersionResource(*own, name),
        gvk=kind,
        namespaced=namespaced,
        verbs=tuple(given.get("verbs") or ()),
        singular=given.get("singularResource") or given.get("singularName") or "",
        custom=True,
        storage_version=own.version,
        subresources=below,
    )


def cluster_catalog(served: Iterable[Resource], definitions: Iterable[JsonObject]) -> Catalog:
    """What the cluster serves, with what we know of it: built-in resources as we know them, those
    of definitions with all their versions, others as discovery shows them."""
    discovered = {resource.gvr: resource for resource in served}
    known = known_resources(all_versions=True)
    built_in = [resource for resource in known if resource.gvr in discovered]
    for resource in built_in:
        del discovered[resource.gvr]
    return Catalog((*built_in, *discovered.values())).with_crds(definitions)
