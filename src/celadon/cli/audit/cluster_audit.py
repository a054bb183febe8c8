"""A cluster is audited: its lists, page by page, a copy of them, and the API versions in use.

Apart from the audit of dumps, which needs none of the packages that speak to a server
(`celadon[serve]`).
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Final, Protocol, Self, TypeVar

from celadon.apiserver.clientconfig import ClusterLocation
from celadon.cli.audit import audit_inputs, audit_report
from celadon.cli.audit.audit_run import ApiUses, Audit, finished, take
from celadon.cli.audit.object_audit import ObjectAuditor
from celadon.cli.check.check_report import Place
from celadon.cli.check.conversion_calls import converting_cluster
from celadon.cli.check.manifests import validating_engine
from celadon.cli.reading.documents import Problem
from celadon.kube import GroupVersionResource, Json, JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Catalog, Resource
from celadon.records import dataclass
from celadon.webhook import cluster

# --- Cluster objects ---------------------------------------------------------
#
# Objects of a cluster, page by page, by nothing but GETs.
#
# A list is of one revision as long as the server remembers it. Where it does not any more
# (410), the list goes on with the newest objects behind the last one that was seen, so nothing
# is seen twice and nothing that stays is missed. What fails for a moment is asked for again.

PAGE: Final = 500
PAUSES: Final = (1.0, 4.0, 10.0)
"""Seconds before each further attempt."""
PATIENCE: Final = 10
"""How often a server is obeyed that says when to ask again (`Retry-After`): as client-go."""
LONGEST_PAUSE: Final = 60.0
"""Seconds that it is obeyed for; somebody is waiting."""
_GONE: Final = 410
_FOR_NOW: Final = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Mark:
    """Says how far a list has been read: the server's token for what is left, empty at the end,
    and the last object that was seen."""

    continue_token: str = ""
    last: str = ""


START: Final = Mark()


def path_of(resource: Resource) -> str:
    """Return where all objects of a resource are listed."""
    group, version, name = resource.gvr
    return f"/apis/{group}/{version}/{name}" if group else f"/api/{version}/{name}"


def listed_resources(catalog: Catalog) -> Iterator[Resource]:
    """Yield each resource that can be listed, in one version and one group."""
    names: set[tuple[str, str]] = set()
    for resource in catalog:
        group, _, name = resource.gvr
        equivalents = {
            (equivalent.group, equivalent.resource)
            for equivalent, _ in catalog.equivalents(resource.gvr)
        }
        if "list" in resource.verbs and not names.intersection({(group, name), *equivalents}):
            names.add((group, name))
            yield resource


async def counted(client: cluster.ClusterClient, resource: Resource) -> int:
    """Return about how many objects there are; 0 if the server does not say."""
    try:
        page = await client.page(path_of(resource), {"limit": "1"})
    except cluster.ClusterError:
        return 0
    return len(page.items) + page.remaining


async def pages(
    client: cluster.ClusterClient, resource: Resource, mark: Mark = START
) -> AsyncIterator[tuple[Sequence[JsonDict], Mark]]:
    """Yield the objects of a resource that come behind a mark, each page with the next one. Raises
    ClusterError."""
    path = path_of(resource)
    more, last = mark.continue_token, mark.last
    page_count = idle = 0
    most_idle = cluster.IDLE_PAGES
    while True:
        query = {"limit": str(PAGE)}
        if more:
            query["continue"] = more
        try:
            page = await patiently(functools.partial(client.page, path, query))
        except cluster.ClusterRefusal as refusal:
            if refusal.code != _GONE or not more:
                raise
            # From its beginning, if a server does not say.
            more = (refusal.status.get("metadata") or {}).get("continue") or ""
            most_idle = cluster.IDLE_PAGES + page_count
            continue
        fresh = [item for item in page.items if _key(item) > last]
        last = max([last, *map(_key, page.items)])
        more = page.continue_token
        yield fresh, Mark(more, last)
        if not more:
            return
        page_count, idle = page_count + 1, 0 if fresh else idle + 1
        if idle > most_idle:
            raise cluster.ClusterUnreachable(f"GET {path}: {cluster.ENDLESS_LIST}")


def _key(value: JsonObject) -> str:
    """Return the key by which a server sorts the objects of a resource."""
    namespace, name = metadata.namespace(value), metadata.name(value)
    return f"{namespace}/{name}" if namespace else name


_T = TypeVar("_T")


async def patiently(ask: Callable[[], Awaitable[_T]]) -> _T:
    """Return the answer to a request that changes nothing: what fails for a moment is asked for
    again. Raises ClusterError."""
    pauses, asked_to_wait = iter(PAUSES), 0
    while True:
        try:
            return await ask()
        except cluster.ClusterUnreachable:
            pause = next(pauses, None)
            if pause is None:
                raise
        except cluster.ClusterRefusal as refusal:
            if refusal.code not in _FOR_NOW:
                raise
            asked_to_wait += refusal.retry_after > 0
            if refusal.retry_after and asked_to_wait <= PATIENCE:
                pause = min(float(refusal.retry_after), LONGEST_PAUSE)
            elif (pause := next(pauses, None)) is None:
                raise
        await asyncio.sleep(pause)


# --- Cluster copies ----------------------------------------------------------
#
# What several releases judge is listed once.

_Key = tuple[str, ...]


class ClusterCopy:
    """Pages as a cluster has answered them, in a file without a name: it goes with the process, and
    only the process can read it."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed on leaving
        self._places: dict[_Key, tuple[int, int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def found(self, key: _Key) -> cluster.Page | None:
        """Return the page that was kept for a request."""
        if key not in self._places:
            return None
        start, size = self._places[key]
        self._file.seek(start)
        entry = json.loads(self._file.read(size))
        return cluster.Page(
            entry["items"], entry["more"], entry["revision"], entry["remaining"], entry["size"]
        )

    def keep(self, key: _Key, page: cluster.Page) -> None:
        """Keep the page for the next who asks."""
        result = {
            "items": page.items,
            "more": page.continue_token,
            "revision": page.revision,
            "remaining": page.remaining,
            "size": page.size,
        }
        start = self._file.seek(0, 2)
        self._places[key] = start, self._file.write(json.dumps(result).encode())


class CopyingClient(cluster.ClusterClient):
    """Asks the cluster for each page once, and has the others from the copy. What cannot be read is
    asked for again."""

    def __init__(self, location: ClusterLocation, copy: ClusterCopy) -> None:
        super().__init__(location)
        self._copy = copy

    async def page(self, path: str, query: Mapping[str, str]) -> cluster.Page:
        """Return a list, or a page of it, as it was at first. Raises ClusterError."""
        key = path, *(f"{name}={value}" for name, value in sorted(query.items()))
        page = self._copy.found(key)
        if page is None:
            page = await super().page(path, query)
            self._copy.keep(key, page)
        return page


# --- Cluster audit -----------------------------------------------------------
#
# Auditing a cluster: what it serves, what policies look up there, and each kind that one of
# them is about, a page at a time.


@dataclass(frozen=True, slots=True)
class PageResult:
    """Holds what came of a page, and where the next one begins."""

    findings: audit_report.Findings
    mark: Mark


class PageMemory(Protocol):
    """Results of pages that an audit which was stopped has left."""

    def found(self, resource: GroupVersionResource, number: int) -> PageResult | None:
        """Return what came of a page of a resource; pages count from 0."""
        ...

    def keep(self, resource: GroupVersionResource, number: int, result: PageResult) -> None:
        """Keep the result for an audit that goes on here."""
        ...

    def forget(self) -> None:
        """Forget all pages: the audit is finished."""
        ...


class NoMemory:
    """The memory of an audit that starts from the beginning and leaves nothing."""

    def found(self, resource: GroupVersionResource, number: int) -> None:
        """Return None: no page is kept."""

    def keep(self, resource: GroupVersionResource, number: int, result: PageResult) -> None:
        """Keep nothing."""

    def forget(self) -> None:
        """Do nothing: no page is kept."""


async def audit_cluster(
    audit: Audit,
    location: ClusterLocation,
    memory: PageMemory | None = None,
    copy: ClusterCopy | None = None,
) -> audit_report.AuditReport:
    """Audits what is in a cluster, or in the copy as far as that has it. A cluster that cannot be
    asked at all is a problem. Raises OSError where results cannot be kept."""
    client = cluster.ClusterClient(location) if copy is None else CopyingClient(location, copy)
    try:
        return await _audited(audit, client, memory or NoMemory())
    except cluster.ClusterError as error:
        problem = Problem(location.cluster.server, 0, str(error))
        return finished(audit, audit_report.Findings(problems=[problem]), [])
    finally:
        await client.aclose()


async def _audited(
    audit: Audit, client: cluster.ClusterClient, memory: PageMemory
) -> audit_report.AuditReport:
    settings = audit.settings
    survey, problems = await surveyed_cluster(client, audit_inputs.lookups_of(audit.sets))
    engine = validating_engine(audit.sets.validating, settings.version)
    source = audit_inputs.looked_up_in(survey, audit.other_documents, settings)
    findings = audit_report.Findings(
        problems=[*audit.manifests.problems, *problems, *source.problems]
    )
    with converting_cluster(client.location, survey.catalog) as converter:
        world = audit_inputs.source_world(survey, source).with_converter(converter)
        auditor = audit_inputs.source_auditor(world, source, audit.sets, engine, settings)
        resources = concerned_resources(auditor, survey)
        total = sum([await counted(client, resource) for resource in resources])
        for resource in resources:
            async for audited_page in audited_pages(client, resource, auditor, memory):
                take(audit, findings, audited_page)
                audit.step(findings.objects, min(1.0, findings.objects / total) if total else 0.0)
    if not findings.problems:
        memory.forget()
    return finished(audit, findings, source.existing)


async def surveyed_cluster(
    client: cluster.ClusterClient, lookups: audit_inputs.LookupKinds
) -> tuple[audit_inputs.Survey, list[Problem]]:
    """Return what a cluster serves, and what policies may look up there. Raises ClusterError."""
    catalog = cluster.cluster_catalog(await cluster.discover(client), [])
    kinds = lookups.kinds.union(lookups.params)
    result: list[JsonDict] = []
    problems: list[Problem] = []
    for resource in listed_resources(catalog):
        if resource.gvk.group_kind in kinds:
            async for page, _ in _pages(client, resource, problems):
                result += filter(lookups.wants, page)
    definitions = filter(metadata.is_definition, result)
    return audit_inputs.Survey(
        objects=tuple(result), catalog=catalog.with_crds(definitions)
    ), problems


def concerned_resources(auditor: ObjectAuditor, survey: audit_inputs.Survey) -> list[Resource]:
    """Return the resources of a cluster that some policy is about."""
    if survey.catalog is None:
        return []
    return [
        listed_resource
        for listed_resource in listed_resources(survey.catalog)
        if auditor.may_concern(listed_resource)
    ]


async def audited_pages(
    client: cluster.ClusterClient, resource: Resource, auditor: ObjectAuditor, memory: PageMemory
) -> AsyncIterator[audit_report.Findings]:
    """Yield what comes of each page of the objects of a resource."""
    problems: list[Problem] = []
    mark, number = START, 0
    for number in itertools.count():
        stored_page = memory.found(resource.gvr, number)
        if stored_page is None:
            break
        yield stored_page.findings
        mark = stored_page.mark
        if not mark.continue_token:
            return
    async for page, following in _pages(client, resource, problems, mark):
        result = PageResult(auditor.objects(page), following)
        memory.keep(resource.gvr, number, result)
        number += 1
        yield result.findings
    if problems:
        yield audit_report.Findings(problems=problems)


async def _pages(
    client: cluster.ClusterClient, resource: Resource, problems: list[Problem], mark: Mark = START
) -> AsyncIterator[tuple[list[dict[str, Json]], Mark]]:
    """Pages for as long as there are some; what ends them is a problem of this resource."""
    try:
        async for page, following in pages(client, resource, mark):
            yield list(page), following
    except cluster.ClusterError as error:
        problems.append(Problem(path_of(resource), 0, str(error)))


def uses_of_cluster(location: ClusterLocation, copy: ClusterCopy) -> tuple[ApiUses, list[Problem]]:
    """Return the uses of all objects that can be listed in a cluster, and what cannot. The copy has
    them then."""
    return asyncio.run(_uses_of_cluster(CopyingClient(location, copy)))


async def _uses_of_cluster(client: cluster.ClusterClient) -> tuple[ApiUses, list[Problem]]:
    uses, problems = ApiUses(), []
    try:
        for resource in listed_resources(
            cluster.cluster_catalog(await cluster.discover(client), [])
        ):
            try:
                async for page, _ in pages(client, resource):
                    for value in page:
                        uses.note_object(value, Place(), stored=False)
            except cluster.ClusterError as error:
                problems.append(Problem(path_of(resource), 0, str(error)))
    except cluster.ClusterError as error:
        problems.append(Problem(client.location.cluster.server, 0, str(error)))
    finally:
        await client.aclose()
    return uses, problems
