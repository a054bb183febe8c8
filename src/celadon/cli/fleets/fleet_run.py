"""The main job: policies and a fleet to a `FleetReport`.

Sources are surveyed a few ahead of those that are being audited. Findings are put together in the
order of the fleet, however many workers there are, so the report is that of a single process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from celadon.cli.auditing.audit_findings import Findings, Violation
from celadon.cli.auditing.audit_inputs import Input, given_inputs
from celadon.cli.auditing.audit_report import AuditReport
from celadon.cli.auditing.audit_run import Audit, finished
from celadon.cli.auditing.source_survey import looked_up_in
from celadon.cli.fleets.cluster_memory import audit_identity
from celadon.cli.fleets.finished_work import key_of
from celadon.cli.fleets.fleet_file import Source
from celadon.cli.fleets.fleet_parts import Part
from celadon.cli.fleets.fleet_report import FleetReport
from celadon.cli.fleets.fleet_work import Job, SurveyedSource, audited, surveyed
from celadon.cli.fleets.ordered_work import Engine, Failure, Memory, Task, in_order
from celadon.cli.reading.problems import Problem
from celadon.records import dataclass

_AHEAD: Final = 3
"""Tasks under way for each worker."""

Emit = Callable[[str, Violation], None]
"""Is given every violation at once, with the name of its source."""


@dataclass(frozen=True, slots=True)
class FleetAudit:
    """What is to be done, by whom. Results of an earlier run are in `memory`."""

    audit: Audit
    fleet: tuple[Source, ...]
    engine: Engine
    memory: Memory
    emit: Emit | None = None


def audit_fleet(fleet_audit: FleetAudit) -> FleetReport:
    """Audits all sources."""
    running = _Running(fleet_audit)
    for task, result in running.results():
        source, part = task.about
        running.take(source, part, result)
    problems = fleet_audit.audit.manifests.problems
    return FleetReport(tuple(running.finished()), tuple(problems), fleet_audit.audit.strict)


class _Source:
    """A source while its parts come in."""

    def __init__(self, name: str, surveyed: SurveyedSource) -> None:
        self.name, self.surveyed = name, surveyed
        self.findings = Findings(problems=list(surveyed.problems))
        self.findings.ignored.update((one.message, one) for one in surveyed.notices)
        self.left = len(surveyed.parts)


class _Running:
    """An audit while it goes on."""

    def __init__(self, given: FleetAudit) -> None:
        self._given = given
        self._audit = replace(given.audit, manifests=replace(given.audit.manifests, problems=[]))
        job = Job(self._audit.manifests, given.audit.settings)
        self._key = key_of(audit_identity(job.manifests, job.settings))
        self._job = given.engine.share(job)
        self._reports: dict[str, AuditReport] = {}
        self._objects = self._kept = 0

    def results(self) -> Iterator[tuple[Task, Findings | Failure]]:
        """What comes of each part, in order."""
        engine = self._given.engine
        return in_order(engine, self._parts(), self._given.memory, _AHEAD * engine.workers)

    def finished(self) -> Iterator[tuple[str, AuditReport]]:
        """The reports, in the order of the fleet."""
        for source in self._given.fleet:
            yield source.name, self._reports[source.name]

    def _parts(self) -> Iterator[Task]:
        given = self._given
        keys = ((one, key_of(self._key, one, *_state(one))) for one in given.fleet)
        tasks = (Task(surveyed, SurveyedSource, (self._job, one), one, key) for one, key in keys)
        for task, found in in_order(given.engine, tasks, given.memory, given.engine.workers):
            if isinstance(found, Failure):
                found = SurveyedSource(task.about, problems=(Problem("", 0, found.why),))
            source = _Source(task.about.name, found)
            if not found.parts:
                self._finish(source)
                continue
            shared = given.engine.share(found)
            for part in found.parts:
                about = (source, part)
                # What is kept by now can only become more: no part is asked for too little.
                most = self._audit.settings.limit - self._kept
                arguments = (self._job, shared, part, most)
                yield Task(audited, Findings, arguments, about, key_of(task.key, part))

    def take(self, source: _Source, part: Part, result: Findings | Failure) -> None:
        """Puts what was found behind what was found before."""
        findings = source.findings
        if isinstance(result, Failure):
            findings.problems.append(Problem(str(part), 0, result.why))
        else:
            self._add(source, result)
        source.left -= 1
        self._audit.step(self._objects, len(self._reports) / len(self._given.fleet))
        if not source.left:
            self._finish(source)

    def _add(self, source: _Source, result: Findings) -> None:
        emit = self._given.emit
        limit = self._audit.settings.limit - self._kept
        if emit is not None:
            limit = 0
            for violation in result.violations:
                emit(source.name, violation)
        before = len(source.findings.violations)
        source.findings.add(result, before + limit)
        self._kept += len(source.findings.violations) - before
        self._objects += result.objects

    def _finish(self, source: _Source) -> None:
        audit = self._audit
        ready = looked_up_in(source.surveyed.survey, audit.manifests.beside, audit.settings)
        source.findings.problems += ready.problems
        report = finished(replace(audit, strict=False), source.findings, ready.existing)
        self._reports[source.name] = report


def _state(source: Source) -> Iterator[object]:
    """Of dumps and snapshots, what changes when they do."""
    dumps = given_inputs(source.dumps).inputs
    yield from dumps
    files = [one.name for one in dumps if isinstance(one, Input) and one.is_file]
    for file in (*files, source.snapshot):
        if os.path.exists(file):
            about = os.stat(file)
            yield about.st_size, about.st_mtime_ns
