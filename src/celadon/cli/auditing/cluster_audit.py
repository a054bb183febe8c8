"""Auditing a cluster: what it serves, what policies look up there, and each kind that one of them
is about, a page at a time."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from typing import Any, Protocol

from celadon.cli.auditing.audit_findings import Findings
from celadon.cli.auditing.audit_lookups import Lookups, lookups_of
from celadon.cli.auditing.audit_report import AuditReport
from celadon.cli.auditing.audit_run import Audit, finished, take
from celadon.cli.auditing.cluster_objects import (
    START,
    Mark,
    counted,
    listed_resources,
    pages,
    path_of,
)
from celadon.cli.auditing.object_audit import ObjectAuditor
from celadon.cli.auditing.source_survey import Survey, looked_up_in, source_auditor
from celadon.cli.checking.policy_set import validating_engine
from celadon.cli.reading.problems import Problem
from celadon.kube import GroupVersionResource
from celadon.kube.catalogue import Resource
from celadon.records import dataclass
from celadon.serve.outgoing import ClusterLocation
from celadon.webhook.cluster import ClusterClient, ClusterError, cluster_catalog, discover


@dataclass(frozen=True, slots=True)
class PageResult:
    """What came of a page, and where the next one begins."""

    findings: Findings
    mark: Mark


class PageMemory(Protocol):
    """Results of pages that an audit which was stopped has left."""

    def found(self, resource: GroupVersionResource, number: int) -> PageResult | None:
        """What came of a page of a resource; pages count from 0."""
        ...

    def keep(self, resource: GroupVersionResource, number: int, result: PageResult) -> None:
        """For an audit that goes on here."""
        ...

    def forget(self) -> None:
        """All of it: the audit is finished."""
        ...


class NoMemory:
    """For an audit that starts from the beginning and leaves nothing."""

    def found(self, resource: GroupVersionResource, number: int) -> None:
        """Nothing."""

    def keep(self, resource: GroupVersionResource, number: int, result: PageResult) -> None:
        """Not at all."""

    def forget(self) -> None:
        """Nothing to forget."""


async def audit_cluster(
    audit: Audit, location: ClusterLocation, memory: PageMemory | None = None
) -> AuditReport:
    """Audits what is in a cluster. A cluster that cannot be asked at all is a problem. Raises
    OSError where results cannot be kept."""
    client = ClusterClient(location)
    try:
        return await _audited(audit, client, memory or NoMemory())
    except ClusterError as error:
        problem = Problem(location.cluster.server, 0, str(error))
        return finished(audit, Findings(problems=[problem]), [])
    finally:
        await client.aclose()


async def _audited(audit: Audit, client: ClusterClient, memory: PageMemory) -> AuditReport:
    settings = audit.settings
    survey, problems = await surveyed_cluster(client, lookups_of(audit.sets))
    engine = validating_engine(audit.sets.validating, settings.version)
    source = looked_up_in(survey, audit.given, settings)
    auditor = source_auditor(survey, source, audit.sets, engine, settings)
    findings = Findings(problems=[*audit.manifests.problems, *problems, *source.problems])
    resources = concerned_resources(auditor, survey)
    total = sum([await counted(client, resource) for resource in resources])
    for resource in resources:
        async for one in audited_pages(client, resource, auditor, memory):
            take(audit, findings, one)
            audit.step(findings.objects, min(1.0, findings.objects / total) if total else 0.0)
    if not findings.problems:
        memory.forget()
    return finished(audit, findings, source.existing)


async def surveyed_cluster(client: ClusterClient, wanted: Lookups) -> tuple[Survey, list[Problem]]:
    """What a cluster serves, and what policies may look up there. Raises ClusterError."""
    catalog = cluster_catalog(await discover(client), [])
    kinds = wanted.kinds.union(wanted.params)
    found: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for resource in listed_resources(catalog):
        if resource.gvk.group_kind in kinds:
            async for page, _ in _pages(client, resource, problems):
                found += filter(wanted.wants, page)
    definitions = (one for one in found if one["kind"] == "CustomResourceDefinition")
    return Survey(objects=tuple(found), catalog=catalog.with_crds(definitions)), problems


def concerned_resources(auditor: ObjectAuditor, survey: Survey) -> list[Resource]:
    """Those of a cluster that some policy is about."""
    if survey.catalog is None:
        return []
    return [one for one in listed_resources(survey.catalog) if auditor.may_concern(one)]


async def audited_pages(
    client: ClusterClient, resource: Resource, auditor: ObjectAuditor, memory: PageMemory
) -> AsyncIterator[Findings]:
    """What comes of each page of the objects of a resource."""
    problems: list[Problem] = []
    mark, number = START, 0
    for number in itertools.count():
        kept = memory.found(resource.gvr, number)
        if kept is None:
            break
        yield kept.findings
        mark = kept.mark
        if not mark.more:
            return
    async for page, following in _pages(client, resource, problems, mark):
        result = PageResult(auditor.objects(page), following)
        memory.keep(resource.gvr, number, result)
        number += 1
        yield result.findings
    if problems:
        yield Findings(problems=problems)


async def _pages(
    client: ClusterClient, resource: Resource, problems: list[Problem], mark: Mark = START
) -> AsyncIterator[tuple[list[dict[str, Any]], Mark]]:
    """Pages for as long as there are some; what ends them is a problem of this resource."""
    try:
        async for page, following in pages(client, resource, mark):
            yield list(page), following
    except ClusterError as error:
        problems.append(Problem(path_of(resource), 0, str(error)))
