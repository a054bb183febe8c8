"""What a worker does, wherever it runs: survey a source, audit a part of one.

Policies are compiled once in each worker, and what a source has to be looked up is indexed once for
all of its parts that the worker gets.
"""

from __future__ import annotations

import asyncio
import functools
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from celadon.admission import Engine
from celadon.cli.auditing.audit_findings import Findings
from celadon.cli.auditing.audit_inputs import Input, Inputs, given_inputs
from celadon.cli.auditing.audit_lookups import lookups_of
from celadon.cli.auditing.etcd_snapshots.snapshot_blocks import SnapshotObjects
from celadon.cli.auditing.object_audit import AuditSettings, ObjectAuditor
from celadon.cli.auditing.source_survey import Survey, looked_up_in, source_auditor
from celadon.cli.checking.check_report import Notice
from celadon.cli.checking.manifests import Manifests
from celadon.cli.checking.policy_set import PolicySets, policy_sets, validating_engine
from celadon.cli.fleets.fleet_file import Source
from celadon.cli.fleets.fleet_parts import Part, ResourcePart, part_blocks, surveyed_inputs
from celadon.cli.reading.problems import Problem
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.webhook.cluster import ClusterClient

T = TypeVar("T")
_Given = Input | SnapshotObjects | Problem


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """By which policies sources are audited, and how; one object in each worker."""

    manifests: Manifests
    settings: AuditSettings


@dataclass(frozen=True, slots=True, eq=False)
class SurveyedSource:
    """A source, what policies may look up in it, and its parts. `inputs` are its dumps."""

    source: Source
    inputs: Inputs = Inputs(())
    survey: Survey = Survey()
    parts: tuple[Part, ...] = ()
    problems: tuple[Problem, ...] = ()
    notices: tuple[Notice, ...] = ()


def surveyed(job: Job, source: Source) -> SurveyedSource:
    """What there is to be audited."""
    wanted = lookups_of(_sets(job))
    if source.dumps or source.snapshot:
        inputs = _snapshot(source) if source.snapshot else _steady(given_inputs(source.dumps))
        survey, parts = surveyed_inputs(inputs, wanted)
        shipped = Inputs(()) if source.snapshot else inputs
        problems = () if parts else tuple(one for one in inputs.inputs if isinstance(one, Problem))
        return SurveyedSource(source, shipped, survey, tuple(parts), problems, inputs.notices)
    from celadon.cli.auditing.cluster_audit import concerned_resources, surveyed_cluster
    from celadon.serve.outgoing import KubeconfigError
    from celadon.webhook.cluster import ClusterError

    try:
        survey, found = _asked(source, lambda client: surveyed_cluster(client, wanted))
    except (ClusterError, KubeconfigError) as error:
        return SurveyedSource(source, problems=(Problem("", 0, str(error)),))
    whole = SurveyedSource(source, survey=survey, problems=tuple(found))
    resources = concerned_resources(_auditor(job, whole), survey)
    return replace(whole, parts=tuple(ResourcePart(one.gvr) for one in resources))


@functools.lru_cache(maxsize=2)
def _snapshot(source: Source) -> Inputs:
    """Each worker opens it for itself."""
    return given_inputs((), (source.snapshot,), source.prefix)


def _steady(inputs: Inputs) -> Inputs:
    """Those that every worker can read."""
    return Inputs(tuple(_readable(one) for one in inputs.inputs))


def _readable(one: _Given) -> _Given:
    if isinstance(one, Input) and one.copied is not None:
        return Problem(one.name, 0, "can be read only once", "a fleet needs files")
    return one


def audited(job: Job, source: SurveyedSource, part: Part, most: int) -> Findings:
    """What comes of the objects of a part, with no more than so many violations."""
    auditor = _auditor(job, source).anew(most)
    findings = Findings()
    if not isinstance(part, ResourcePart):
        inputs = _snapshot(source.source) if source.source.snapshot else source.inputs
        for block in part_blocks(inputs, part):
            findings.add(auditor.block(block), most)
        return findings
    from celadon.cli.auditing.cluster_audit import NoMemory, audited_pages

    catalog = source.survey.catalog
    resource = None if catalog is None else catalog.by_gvr(part.resource)
    if resource is None:
        raise LookupError(part.resource)

    async def pages(client: ClusterClient) -> None:
        async for one in audited_pages(client, resource, auditor, NoMemory()):
            findings.add(one, most)

    _asked(source.source, pages)
    return findings


def _asked(source: Source, ask: Callable[[ClusterClient], Awaitable[T]]) -> T:
    """The answer of a cluster. Raises ClusterError, KubeconfigError."""
    from celadon.serve.outgoing import given_cluster
    from celadon.webhook.cluster import ClusterClient

    path = Path(source.kubeconfig) if source.kubeconfig else None
    location = given_cluster(path, source.context, os.environ, time.time)

    async def answered() -> T:
        client = ClusterClient(location)
        try:
            return await ask(client)
        finally:
            await client.aclose()

    return asyncio.run(answered())


@functools.lru_cache(maxsize=1)
def _sets(job: Job) -> PolicySets:
    return policy_sets(job.manifests, job.settings.version)


@functools.lru_cache(maxsize=1)
def _engine(job: Job) -> Engine:
    return validating_engine(_sets(job).validating, job.settings.version)


@functools.lru_cache(maxsize=2)
def _auditor(job: Job, source: SurveyedSource) -> ObjectAuditor:
    survey = source.survey
    found = looked_up_in(survey, job.manifests.beside, job.settings)
    return source_auditor(survey, found, _sets(job), _engine(job), job.settings)
