"""The main job: policies and inputs to an `AuditReport`.

In order: policies as the API server would take them, what they look up in the source
(`audit_lookups`), every block of objects (`object_audit`, in several processes), and what went by
without a word.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Protocol, TypeVar

from celadon.admission import Outcome
from celadon.apiserver.clientconfig import ClusterLocation
from celadon.cli.audit.audit_blocks import Block
from celadon.cli.audit.audit_inputs import (
    Inputs,
    Survey,
    looked_up_in,
    source_auditor,
    source_world,
)
from celadon.cli.audit.audit_lookups import (
    START,
    Lookups,
    Mark,
    counted,
    listed_resources,
    looked_up,
    lookups_of,
    pages,
    path_of,
)
from celadon.cli.audit.audit_report import (
    AuditedPolicy,
    AuditReport,
    FailOn,
    Findings,
    Tally,
    Violation,
    report_of,
)
from celadon.cli.audit.object_audit import AuditSettings, ObjectAuditor
from celadon.cli.check.check_report import Notice, Place, Silence
from celadon.cli.check.conversion_calls import converting, converting_cluster
from celadon.cli.check.manifests import Manifests
from celadon.cli.check.notices import assumed_namespaces, not_applied, policy_notices
from celadon.cli.check.policy_set import PolicySet, PolicySets, validating_engine
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.cli.worker_pipes import possible_workers, received, started
from celadon.kube import GroupVersionResource, Json, JsonObject
from celadon.kube.resources import PLUGIN_ORDER, Resource
from celadon.records import dataclass
from celadon.webhook.cluster import ClusterClient, ClusterError, cluster_catalog, discover

# --- Audit workers -----------------------------------------------------------
#
# Auditing in several processes at once, with the findings of one.
#
# Each worker goes through all blocks and takes every so many; going past a block costs next to
# nothing. What they find is put together in the order of the blocks. What a worker owes that
# has ended before its time (somebody has killed it) is audited here.


Blocks = Callable[[], Iterator[Block]]
W = TypeVar("W")


def audited_in_order(blocks: Blocks, audit: Callable[[Block], W], workers: int) -> Iterator[W]:
    """Yield what comes of each block."""
    if workers == 1:
        yield from map(audit, blocks())
        return
    with ExitStack() as stack:
        pipes = [
            started(functools.partial(_every, blocks, audit, first, workers), stack)
            for first in range(workers)
        ]
        for number in itertools.count():
            found: W | str | None = received(pipes[number % workers])
            if found is None:
                yield from map(audit, itertools.islice(blocks(), number, None))
                return
            if isinstance(found, str):
                return
            yield found


def _every(blocks: Blocks, audit: Callable[[Block], W], first: int, step: int) -> Iterator[W | str]:
    """Yield what comes of a worker's blocks; a text says that there are no more."""
    for block in itertools.islice(blocks(), first, None, step):
        yield audit(block)
    yield "done"


Step = Callable[[int, float], None]
"""Is told how many objects are done, and which share of the inputs."""


@dataclass(frozen=True, slots=True)
class Audit:
    """This is what is to be done: by which policies, how, and what is told while it happens."""

    manifests: Manifests
    sets: PolicySets
    settings: AuditSettings
    strict: bool
    fail_on: FailOn
    step: Step
    emit: Callable[[Violation], None] | None = None
    """Is given every violation at once, instead of the report."""

    @property
    def given(self) -> tuple[Document, ...]:
        """Return what was given with the policies and is none."""
        return self.manifests.beside


def audit_inputs(audit: Audit, inputs: Inputs) -> AuditReport:
    """Audits what is in files."""
    settings, sets = audit.settings, audit.sets
    found = looked_up(inputs.blocks(), lookups_of(sets))
    documents = tuple(one for one in found if isinstance(one, Document))
    engine = validating_engine(sets.validating, settings.version)
    survey = Survey(documents)
    source = looked_up_in(survey, audit.given, settings)
    findings = Findings(problems=[*audit.manifests.problems, *source.problems])
    findings.ignored.update((one.message, one) for one in inputs.notices)
    workers = possible_workers(settings.jobs)
    total = inputs.total
    with converting(source_world(survey, source), settings.conversions, settings.version) as world:
        auditor = source_auditor(world, source, sets, engine, settings)
        for one in audited_in_order(inputs.blocks, auditor.block, workers):
            take(audit, findings, one)
            audit.step(findings.objects, one.read_bytes / total if total else 1.0)
    return finished(audit, findings, source.existing)


def take(audit: Audit, findings: Findings, one: Findings) -> None:
    """Puts what was found behind what was found before."""
    if audit.emit is None:
        findings.add(one, audit.settings.limit)
        return
    for violation in one.violations:
        audit.emit(violation)
    findings.add(one, 0)


def finished(audit: Audit, findings: Findings, existing: Sequence[JsonObject]) -> AuditReport:
    """The report; `existing` is what policies could look up."""
    policies = audit.sets.validating
    notices = (
        *_notices(audit, findings, existing),
        *_guessed(findings),
        *assumed_namespaces(findings.namespaces, existing, ", or in the source"),
        *findings.ignored.values(),
    )
    return report_of(
        findings,
        tuple(_policies(policies, findings)),
        tuple(error for one in audit.sets.all for error in one.errors),
        notices,
        operation=audit.settings.operation.value,
        summary_by=audit.settings.summary_by,
        strict=audit.strict,
        fail_on=audit.fail_on,
        choice=audit.settings.choice,
    )


def _policies(policies: PolicySet, findings: Findings) -> Iterator[AuditedPolicy]:
    for name in sorted(policies.policies):
        bindings = [
            one.value for one in policies.bindings.values() if one.value.spec.policy_name == name
        ]
        actions = dict.fromkeys(
            action for one in bindings for action in one.spec.validation_actions
        )
        yield AuditedPolicy(
            name,
            policies.policies[name].place(),
            tuple(sorted(one.name for one in bindings)),
            tuple(actions),
            findings.policies.get(name, Tally()),
        )
    for name, tally in sorted(findings.policies.items()):
        if name in PLUGIN_ORDER:
            yield AuditedPolicy(name, Place(), (), (), tally)


def _notices(audit: Audit, findings: Findings, existing: Sequence[JsonObject]) -> Iterator[Notice]:
    policies = audit.sets.validating
    if not findings.objects and not findings.problems:
        yield Notice(Silence.NOTHING_TO_CHECK, Place(), "there is no object to audit")
    if not policies.policies and not policies.broken:
        yield Notice(
            Silence.NO_POLICY,
            Place(),
            "there is no ValidatingAdmissionPolicy",
            "give policies and bindings with `-f`",
        )
    yield from not_applied(audit.sets.mutating, "objects are audited as they are")
    for name in policies.policies if findings.objects else ():
        findings.coverage.outcomes.setdefault(name, {Outcome.POLICY_UNMATCHED})
    yield from policy_notices(
        policies,
        audit.settings.operation,
        findings.coverage,
        existing,
        objects=bool(findings.objects),
    )


def _guessed(findings: Findings) -> Iterator[Notice]:
    for (api_version, kind), (resource, place) in findings.guessed.items():
        yield Notice(
            Silence.UNKNOWN_KIND,
            place,
            f"kind `{kind}` of {api_version} is not known, taken for the namespaced "
            f"resource `{resource}`",
            "give its CustomResourceDefinition with `-f`, or in the source",
        )


# --- Cluster audit -----------------------------------------------------------
#
# Auditing a cluster: what it serves, what policies look up there, and each kind that one of
# them is about, a page at a time.


@dataclass(frozen=True, slots=True)
class PageResult:
    """This is what came of a page, and where the next one begins."""

    findings: Findings
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
        """All of it: the audit is finished."""
        ...


class NoMemory:
    """The memory of an audit that starts from the beginning and leaves nothing."""

    def found(self, resource: GroupVersionResource, number: int) -> None:
        """Nothing."""

    def keep(self, resource: GroupVersionResource, number: int, result: PageResult) -> None:
        """Keep nothing."""

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
    findings = Findings(problems=[*audit.manifests.problems, *problems, *source.problems])
    with converting_cluster(client.location, survey.catalog) as converter:
        world = source_world(survey, source).with_converter(converter)
        auditor = source_auditor(world, source, audit.sets, engine, settings)
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
    """Return what a cluster serves, and what policies may look up there. Raises ClusterError."""
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
    """Return those of a cluster that some policy is about."""
    if survey.catalog is None:
        return []
    return [one for one in listed_resources(survey.catalog) if auditor.may_concern(one)]


async def audited_pages(
    client: ClusterClient, resource: Resource, auditor: ObjectAuditor, memory: PageMemory
) -> AsyncIterator[Findings]:
    """Yield what comes of each page of the objects of a resource."""
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
) -> AsyncIterator[tuple[list[dict[str, Json]], Mark]]:
    """Pages for as long as there are some; what ends them is a problem of this resource."""
    try:
        async for page, following in pages(client, resource, mark):
            yield list(page), following
    except ClusterError as error:
        problems.append(Problem(path_of(resource), 0, str(error)))
