"""What a running cluster has of other engines, listed by nothing but GETs.

Apart from dumps, which need none of the packages that speak to a server (`celadon[serve]`).
"""

from __future__ import annotations

import asyncio
import json

from celadon.apiserver.clientconfig import ClusterLocation
from celadon.cli.audit.audit_blocks import Piece
from celadon.cli.audit.cluster_audit import listed_resources, pages, path_of
from celadon.cli.migration.plan_sources import is_wanted
from celadon.cli.reading.documents import Document, DocumentReader, Problem
from celadon.kube import metadata
from celadon.kube.resources import Catalog, Resource, known_resources
from celadon.webhook.cluster import ClusterClient, ClusterError, cluster_catalog, discover


def wanted_of_cluster(location: ClusterLocation) -> tuple[list[Document | Problem], Catalog]:
    """Return the policies, reports and definitions of a cluster, and the resources it serves."""
    return asyncio.run(_wanted(location))


async def _wanted(location: ClusterLocation) -> tuple[list[Document | Problem], Catalog]:
    client = ClusterClient(location)
    found: list[Document | Problem] = []
    catalog = known_resources()
    try:
        catalog = cluster_catalog(await discover(client), [])
        for resource in listed_resources(catalog):
            if is_wanted(resource.gvk.group, resource.gvk.kind):
                found += await _listed(client, resource)
    except ClusterError as error:
        found.append(Problem(location.cluster.server, 0, str(error)))
    finally:
        await client.aclose()
    return found, catalog


async def _listed(client: ClusterClient, resource: Resource) -> list[Document | Problem]:
    """Return the objects of a resource as documents, each as if it stood in a file of its own."""
    found: list[Document | Problem] = []
    reader = DocumentReader()
    try:
        async for page, _ in pages(client, resource):
            for one in page:
                place = f"{path_of(resource)}/{metadata.name(one)}"
                found += Piece(place, 1, json.dumps(one).encode()).documents(reader)
    except ClusterError as error:
        found.append(Problem(path_of(resource), 0, str(error)))
    return found
