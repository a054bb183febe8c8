"""Objects of a cluster, page by page, by nothing but GETs.

A list is of one revision as long as the server remembers it. Where it does not any more (410), the
list goes on with the newest objects behind the last one that was seen, so nothing is seen twice and
nothing that stays is missed. What fails for a moment is asked for again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.kube import metadata
from celadon.kube.catalogue import Catalog, Resource
from celadon.records import dataclass
from celadon.webhook.cluster import (
    ClusterClient,
    ClusterError,
    ClusterRefusal,
    ClusterUnreachable,
    items,
)

PAGE: Final = 500
PAUSES: Final = (1.0, 4.0, 10.0)
"""Seconds before each further attempt."""
PATIENCE: Final = 10
"""How often a server is obeyed that says when to ask again (`Retry-After`): as client-go."""
_GONE: Final = 410
_FOR_NOW: Final = frozenset({429, 500, 502, 503, 504})

Page = Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a list has been read: the server's token for what is left, empty at the end, and the
    last object that was seen."""

    more: str = ""
    last: str = ""


START: Final = Mark()


def path_of(resource: Resource) -> str:
    """Where all objects of a resource are listed."""
    group, version, name = resource.gvr
    return f"/apis/{group}/{version}/{name}" if group else f"/api/{version}/{name}"


def listed_resources(catalog: Catalog) -> Iterator[Resource]:
    """Each that can be listed, in one version and one group."""
    taken: set[tuple[str, str]] = set()
    for resource in catalog:
        group, _, name = resource.gvr
        others = {(one.group, one.resource) for one, _ in catalog.equivalents(resource.gvr)}
        if "list" in resource.verbs and not taken.intersection({(group, name), *others}):
            taken.add((group, name))
            yield resource


async def counted(client: ClusterClient, resource: Resource) -> int:
    """About how many objects there are; 0 if the server does not say."""
    try:
        page = await client.get(path_of(resource), {"limit": "1"})
    except ClusterError:
        return 0
    about = page.get("metadata") or {}
    return len(items(page)) + int(about.get("remainingItemCount") or 0)


async def pages(
    client: ClusterClient, resource: Resource, mark: Mark = START
) -> AsyncIterator[tuple[Page, Mark]]:
    """The objects of a resource that come behind a mark, each page with the next one. Raises
    ClusterError."""
    path = path_of(resource)
    more, last = mark.more, mark.last
    while True:
        query = {"limit": str(PAGE)}
        if more:
            query["continue"] = more
        try:
            page = await _asked(client, path, query)
        except ClusterRefusal as refusal:
            if refusal.code != _GONE or not more:
                raise
            more = _continued(refusal.status)
            continue
        found = items(page)
        fresh = [one for one in found if _key(one) > last]
        last = max([last, *map(_key, found)])
        more = _continued(page)
        yield fresh, Mark(more, last)
        if not more:
            return


def _continued(answer: Mapping[str, Any]) -> str:
    """How a list goes on; from its beginning, if a server does not say."""
    return str((answer.get("metadata") or {}).get("continue") or "")


def _key(value: Mapping[str, Any]) -> str:
    """By which a server sorts the objects of a resource."""
    namespace, name = metadata.namespace(value), metadata.name(value)
    return f"{namespace}/{name}" if namespace else name


async def _asked(client: ClusterClient, path: str, query: Mapping[str, str]) -> Any:  # noqa: ANN401 - JSON
    pauses, asked_to_wait = iter(PAUSES), 0
    while True:
        try:
            return await client.get(path, query)
        except ClusterUnreachable:
            pause = next(pauses, None)
            if pause is None:
                raise
        except ClusterRefusal as refusal:
            if refusal.code not in _FOR_NOW:
                raise
            asked_to_wait += refusal.retry_after > 0
            if refusal.retry_after and asked_to_wait <= PATIENCE:
                pause = float(refusal.retry_after)
            elif (pause := next(pauses, None)) is None:
                raise
        await asyncio.sleep(pause)
