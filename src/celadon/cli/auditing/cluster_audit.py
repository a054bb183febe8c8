"""Auditing a cluster: what it serves, what policies look up there, and each kind that one of them
is about, a page at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

from celadon.admission import ObjectWorld
from celadon.cli.auditing.audit_findings import Findings
from celadon.cli.auditing.audit_lookups import Lookups, given_objects, lookups_of, preparation
from celadon.cli.auditing.audit_report import AuditReport
from celadon.cli.auditing.audit_run import Audit, finished, take
from celadon.cli.auditing.cluster_objects import listed_resources, pages, path_of
from celadon.cli.auditing.object_audit import ObjectAuditor
from celadon.cli.checking.policy_set import validating_engine
from celadon.cli.reading.problems import Problem
from celadon.kube.catalogue import Catalog, Resource
from celadon.serve.outgoing import ClusterLocation
from celadon.webhook.cluster import ClusterClient, ClusterError, cluster_catalog, discover


async def audit_cluster(audit: Audit, location: ClusterLocation) -> AuditReport:
    """Audits what is in a cluster. A cluster that cannot be asked at all is a problem."""
    client = ClusterClient(location)
    try:
        return await _audited(audit, client)
    except ClusterError as error:
        problem = Problem(location.cluster.server, 0, str(error))
        return finished(audit, Findings(problems=[problem]), [])
    finally:
        await client.aclose()


async def _audited(audit: Audit, client: ClusterClient) -> AuditReport:
    settings, policies = audit.settings, audit.sets.validating
    findings = Findings(problems=list(audit.manifests.problems))
    wanted = lookups_of(audit.sets)
    catalog = cluster_catalog(await discover(client), [])
    catalog, found = await _looked_up(client, catalog, wanted, findings)
    prepare = preparation(
        audit.given, settings.user, settings.now, settings.version, defaulting=settings.defaulting
    )
    given, problems = given_objects(audit.given, prepare)
    findings.problems += problems
    world = ObjectWorld([*found, *given], implicit_namespaces=True, catalog=catalog)
    engine = validating_engine(policies, settings.version)
    auditor = ObjectAuditor(
        engine, world, prepare, policies, settings, wants_namespaces=wanted.namespaces
    )
    resources = [one for one in listed_resources(catalog) if auditor.may_concern(one)]
    for number, resource in enumerate(resources, 1):
        async for page in _pages(client, resource, findings):
            take(audit, findings, auditor.objects(page))
            audit.step(findings.objects, number / len(resources))
    return finished(audit, findings, [*found, *given])


async def _looked_up(
    client: ClusterClient, catalog: Catalog, wanted: Lookups, findings: Findings
) -> tuple[Catalog, list[dict[str, Any]]]:
    """What policies may look up, and the catalogue with all that definitions say."""
    kinds = wanted.kinds.union(wanted.params)
    found: list[dict[str, Any]] = []
    for resource in listed_resources(catalog):
        if resource.gvk.group_kind in kinds:
            async for page in _pages(client, resource, findings):
                found += filter(wanted.wants, page)
    return catalog.with_crds(_definitions(found)), found


def _definitions(found: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    return (one for one in found if one["kind"] == "CustomResourceDefinition")


async def _pages(
    client: ClusterClient, resource: Resource, findings: Findings
) -> AsyncIterator[list[dict[str, Any]]]:
    """Pages for as long as there are some; what ends them is a problem of this resource."""
    try:
        async for page in pages(client, resource):
            yield list(page)
    except ClusterError as error:
        findings.problems.append(Problem(path_of(resource), 0, str(error)))
