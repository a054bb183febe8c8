"""`celadon audit --fleet`: policies and a fleet to a `FleetReport`, and the engines that do the
work.

Sources are surveyed a few ahead of those that are being audited. Findings are put together in the
order of the fleet, however many workers there are, so the report is that of a single process.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import logging
import multiprocessing
import os
import pickle
import tempfile
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar
from uuid import uuid4
from weakref import WeakSet

from celadon.admission import Engine as AdmissionEngine
from celadon.cli.audit import audit_inputs, fleet_parts
from celadon.cli.audit.audit_report import AuditReport, Findings, FleetReport, Violation
from celadon.cli.audit.audit_run import Audit, finished
from celadon.cli.audit.etcd_snapshots import SnapshotObjects
from celadon.cli.audit.object_audit import AuditSettings, ObjectAuditor
from celadon.cli.check.check_report import Notice
from celadon.cli.check.manifests import Manifests, PolicySets, policy_sets, validating_engine
from celadon.cli.exit_codes import WrongUseError
from celadon.cli.processes import possible_workers
from celadon.cli.reading.documents import Problem
from celadon.kube import GroupVersionResource
from celadon.kube.releases import answering_as
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.audit.cluster_audit import PageResult
    from celadon.webhook.cluster import ClusterClient


# --- What is remembered of clusters ------------------------------------------
#
# Pages of a cluster that have been audited, in a folder, so that an audit that was stopped goes
# on where it was.
#
# A page is found by the policies, the settings, the cluster, its resource and its number. When
# the audit is finished it is forgotten: the next one asks the cluster again.


def audit_identity(manifests: Manifests, settings: AuditSettings) -> Sequence[object]:
    """Return what tells an audit from others; not the time at which it was begun."""
    documents = (
        *(document for group in manifests.given for document in group),
        *manifests.admitted,
    )
    contents = [(document.file, document.path, document.value) for document in documents]
    return contents, replace(settings, now="", jobs=0)


class KeptPages:
    """Keeps the pages of one audit of one cluster."""

    __slots__ = ("_identity", "_keys", "_results")

    def __init__(self, results: fleet_parts.KeptResults, *identity: object) -> None:
        self._results, self._identity = results, fleet_parts.key_of(identity)
        self._keys: list[str] = []

    def found(self, resource: GroupVersionResource, number: int) -> PageResult | None:
        """Return a page that an earlier run has audited. Raises DamagedResultError, OSError."""
        from celadon.cli.audit.cluster_audit import PageResult  # only with `celadon[serve]`

        return self._results.found(PageResult, self._key(resource, number))

    def keep(self, resource: GroupVersionResource, number: int, result: PageResult) -> None:
        """Keep the result for a run that goes on here. Raises OSError."""
        self._results.keep(self._key(resource, number), result)

    def forget(self) -> None:
        """Forget all pages of this audit. Raises OSError."""
        for key in self._keys:
            self._results.forget(key)

    def _key(self, resource: GroupVersionResource, number: int) -> str:
        key = fleet_parts.key_of(self._identity, resource, number)
        self._keys.append(key)
        return key


# --- Fleet work --------------------------------------------------------------
#
# What a worker does, wherever it runs: survey a source, audit a part of one.
#
# Policies are compiled once in each worker, and what a source has to be looked up is indexed
# once for all of its parts that the worker gets.

T = TypeVar("T")
_Given = audit_inputs.Input | SnapshotObjects | Problem


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """Says by which policies sources are audited, and how; each worker has one object of it."""

    manifests: Manifests
    settings: AuditSettings


@dataclass(frozen=True, slots=True, eq=False)
class SurveyedSource:
    """A source, what policies may look up in it, and its parts. `inputs` are its dumps."""

    source: fleet_parts.Source
    inputs: audit_inputs.Inputs = audit_inputs.Inputs(())
    survey: audit_inputs.Survey = audit_inputs.Survey()
    parts: tuple[fleet_parts.Part, ...] = ()
    problems: tuple[Problem, ...] = ()
    notices: tuple[Notice, ...] = ()


def surveyed(job: Job, source: fleet_parts.Source) -> SurveyedSource:
    """Return what there is to be audited."""
    with answering_as(job.settings.version):
        return _surveyed(job, source)


def _surveyed(job: Job, source: fleet_parts.Source) -> SurveyedSource:
    lookups = audit_inputs.lookups_of(_sets(job))
    if source.dumps or source.snapshot:
        inputs = (
            _snapshot(source)
            if source.snapshot
            else _steady(audit_inputs.given_inputs(source.dumps))
        )
        survey, parts = fleet_parts.surveyed_inputs(inputs, lookups)
        shipped = audit_inputs.Inputs(()) if source.snapshot else inputs
        problems = (
            ()
            if parts
            else tuple(source for source in inputs.inputs if isinstance(source, Problem))
        )
        return SurveyedSource(source, shipped, survey, tuple(parts), problems, inputs.notices)
    from celadon.apiserver.clientconfig import KubeconfigError
    from celadon.cli.audit.cluster_audit import concerned_resources, surveyed_cluster
    from celadon.webhook.cluster import ClusterError

    try:
        survey, result = _asked(source, lambda client: surveyed_cluster(client, lookups))
    except (ClusterError, KubeconfigError) as error:
        return SurveyedSource(source, problems=(Problem("", 0, str(error)),))
    whole = SurveyedSource(source, survey=survey, problems=tuple(result))
    resources = concerned_resources(_auditor(job, whole), survey)
    return replace(
        whole, parts=tuple(fleet_parts.ResourcePart(resource.gvr) for resource in resources)
    )


@functools.lru_cache(maxsize=2)
def _snapshot(source: fleet_parts.Source) -> audit_inputs.Inputs:
    """Return the inputs of a snapshot, which each worker opens for itself."""
    return audit_inputs.given_inputs((), (source.snapshot,), source.prefix)


def _steady(inputs: audit_inputs.Inputs) -> audit_inputs.Inputs:
    """Return the inputs that every worker can read."""
    return audit_inputs.Inputs(tuple(_readable(source) for source in inputs.inputs))


def _readable(source: _Given) -> _Given:
    if isinstance(source, audit_inputs.Input) and source.copied is not None:
        return Problem(source.name, 0, "can be read only once", "a fleet needs files")
    return source


def audited(job: Job, source: SurveyedSource, part: fleet_parts.Part, most: int) -> Findings:
    """Return what comes of the objects of a part, with no more than so many violations."""
    with answering_as(job.settings.version):
        return _audited(job, source, part, most)


def _audited(job: Job, source: SurveyedSource, part: fleet_parts.Part, most: int) -> Findings:
    auditor = _auditor(job, source).anew(most)
    findings = Findings()
    if not isinstance(part, fleet_parts.ResourcePart):
        inputs = _snapshot(source.source) if source.source.snapshot else source.inputs
        for block in fleet_parts.part_blocks(inputs, part):
            findings.add(auditor.block(block), most)
        return findings
    from celadon.cli.audit.cluster_audit import NoMemory, audited_pages

    catalog = source.survey.catalog
    resource = None if catalog is None else catalog.by_gvr(part.resource)
    if resource is None:
        raise LookupError(part.resource)

    async def pages(client: ClusterClient) -> None:
        async for audited_page in audited_pages(client, resource, auditor, NoMemory()):
            findings.add(audited_page, most)

    _asked(source.source, pages)
    return findings


def _asked(source: fleet_parts.Source, ask: Callable[[ClusterClient], Awaitable[T]]) -> T:
    """Return the answer of a cluster. Raises ClusterError, KubeconfigError."""
    from celadon.apiserver.clientconfig import given_cluster
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
def _engine(job: Job) -> AdmissionEngine:
    return validating_engine(_sets(job).validating, job.settings.version)


@functools.lru_cache(maxsize=2)
def _auditor(job: Job, source: SurveyedSource) -> ObjectAuditor:
    survey = source.survey
    up = audit_inputs.looked_up_in(survey, job.manifests.beside, job.settings)
    world = audit_inputs.source_world(survey, up)
    return audit_inputs.source_auditor(world, up, _sets(job), _engine(job), job.settings)


# --- Ordered work ------------------------------------------------------------
#
# Work that others do, and its results in the order in which it was given.
#
# Some more is always under way than has been put together, but no more than a few times as much
# as there are workers, so results do not pile up. Work that fails, because its worker has died
# or for whatever reason, is given out again, by itself; what fails again and again is a
# failure, which says so.

ATTEMPTS: Final = 3
"""How often work is given out."""


class Engine(Protocol):
    """Somebody who works."""

    @property
    def workers(self) -> int:
        """Return how many at once."""
        ...

    def share(self, value: object) -> object:
        """Return what stands for a value among the arguments of work; each worker is given it
        once."""
        ...

    def submit(self, work: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Have some work done at some time. Raises whatever a broken engine raises."""
        ...

    def renew(self) -> None:
        """Make anew whatever has broken."""
        ...

    def close(self) -> None:
        """End the workers: nothing more will be asked for."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work, which makes a `result` of this type. `payload` is whatever its giver wants
    to know when it is done; `key` tells it from all others."""

    work: Callable[..., Any]
    result: type[object]
    arguments: tuple[object, ...]
    payload: Any
    key: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Holds what became of work that could not be done."""

    reason: str


class Memory(Protocol):
    """Results of an earlier run."""

    def found(self, kind: type[T], key: str) -> T | None:
        """Return a result of this type, if there is one."""
        ...

    def keep(self, key: str, result: object) -> None:
        """Keep the result for a later run."""
        ...


def in_order(
    engine: Engine, tasks: Iterable[Task], memory: Memory, ahead: int
) -> Iterator[tuple[Task, Any]]:
    """Yield each task in order with its result, or with a `Failure`."""
    coming = iter(tasks)
    waiting: deque[tuple[Task, Future[object] | None]] = deque()
    while True:
        while len(waiting) < ahead and (task := next(coming, None)) is not None:
            waiting.append((task, _begun(engine, task, memory)))
        if not waiting:
            return
        task, future = waiting.popleft()
        yield task, _result(engine, task, future, memory)


def _begun(engine: Engine, task: Task, memory: Memory) -> Future[Any] | None:
    """Return the work that was begun; None for what the engine cannot take now."""
    stored_result = memory.found(task.result, task.key)
    if stored_result is not None:
        done: Future[object] = Future()
        done.set_result(stored_result)
        return done
    try:
        return engine.submit(task.work, *task.arguments)
    except Exception:  # noqa: BLE001 - each engine breaks in its own way
        return None


def _result(engine: Engine, task: Task, future: Future[Any] | None, memory: Memory) -> object:
    reason = ""
    for attempt in range(ATTEMPTS):
        try:
            if attempt or future is None:
                engine.renew()
                future = engine.submit(task.work, *task.arguments)
            result = future.result()
        except Exception as error:  # noqa: BLE001 - of workers, and of whatever they do
            reason = f"{type(error).__name__}: {error}"
        else:
            memory.keep(task.key, result)
            return result
    return Failure(f"given up after {ATTEMPTS} attempts: {reason}")


_AHEAD: Final = 3
"""Tasks under way for each worker."""

Emit = Callable[[str, Violation], None]
"""Is given every violation at once, with the name of its source."""


@dataclass(frozen=True, slots=True)
class FleetAudit:
    """Holds what is to be done, by whom. Results of an earlier run are in `memory`."""

    audit: Audit
    fleet: tuple[fleet_parts.Source, ...]
    engine: Engine
    memory: Memory
    emit: Emit | None = None


def audit_fleet(fleet_audit: FleetAudit) -> FleetReport:
    """Audits all sources."""
    running = _Running(fleet_audit)
    for task, result in running.results():
        source, part = task.payload
        running.take(source, part, result)
    problems = fleet_audit.audit.manifests.problems
    return FleetReport(tuple(running.finished()), tuple(problems), fleet_audit.audit.strict)


class _Source:
    """A source while its parts come in."""

    def __init__(self, name: str, surveyed: SurveyedSource) -> None:
        self.name, self.surveyed = name, surveyed
        self.findings = Findings(problems=list(surveyed.problems))
        self.findings.ignored.update((notice.message, notice) for notice in surveyed.notices)
        self.left = len(surveyed.parts)


class _Running:
    """An audit while it goes on."""

    def __init__(self, audit: FleetAudit) -> None:
        self._fleet_audit = audit
        self._audit = replace(audit.audit, manifests=replace(audit.audit.manifests, problems=[]))
        job = Job(self._audit.manifests, audit.audit.settings)
        self._key = fleet_parts.key_of(audit_identity(job.manifests, job.settings))
        self._job = audit.engine.share(job)
        self._reports: dict[str, AuditReport] = {}
        self._objects = self._kept = 0

    def results(self) -> Iterator[tuple[Task, Findings | Failure]]:
        """Yield what comes of each part, in order."""
        engine = self._fleet_audit.engine
        return in_order(engine, self._parts(), self._fleet_audit.memory, _AHEAD * engine.workers)

    def finished(self) -> Iterator[tuple[str, AuditReport]]:
        """Yield the reports, in the order of the fleet."""
        for source in self._fleet_audit.fleet:
            yield source.name, self._reports[source.name]

    def _parts(self) -> Iterator[Task]:
        audit = self._fleet_audit
        keys = (
            (source, fleet_parts.key_of(self._key, source, *_state(source)))
            for source in audit.fleet
        )
        tasks = (
            Task(surveyed, SurveyedSource, (self._job, source), source, key) for source, key in keys
        )
        for task, answer in in_order(audit.engine, tasks, audit.memory, audit.engine.workers):
            if isinstance(answer, Failure):
                answer = SurveyedSource(task.payload, problems=(Problem("", 0, answer.reason),))
            source = _Source(task.payload.name, answer)
            if not answer.parts:
                self._finish(source)
                continue
            shared = audit.engine.share(answer)
            for part in answer.parts:
                about = (source, part)
                # What is kept by now can only become more: no part is asked for too little.
                most = self._audit.settings.limit - self._kept
                arguments = (self._job, shared, part, most)
                yield Task(audited, Findings, arguments, about, fleet_parts.key_of(task.key, part))

    def take(self, source: _Source, part: fleet_parts.Part, result: Findings | Failure) -> None:
        """Put what was found behind what was found before."""
        findings = source.findings
        if isinstance(result, Failure):
            findings.problems.append(Problem(str(part), 0, result.reason))
        else:
            self._add(source, result)
        source.left -= 1
        self._audit.step(self._objects, len(self._reports) / len(self._fleet_audit.fleet))
        if not source.left:
            self._finish(source)

    def _add(self, source: _Source, result: Findings) -> None:
        emit = self._fleet_audit.emit
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
        ready = audit_inputs.looked_up_in(
            source.surveyed.survey, audit.manifests.beside, audit.settings
        )
        source.findings.problems += ready.problems
        report = finished(replace(audit, strict=False), source.findings, ready.existing)
        self._reports[source.name] = report


def _state(source: fleet_parts.Source) -> Iterator[object]:
    """Yield what changes when dumps and snapshots do."""
    dumps = audit_inputs.given_inputs(source.dumps).inputs
    yield from dumps
    files = [dump.name for dump in dumps if isinstance(dump, audit_inputs.Input) and dump.is_file]
    for file in (*files, source.snapshot):
        if os.path.exists(file):
            about = os.stat(file)
            yield about.st_size, about.st_mtime_ns


# --- Engines -----------------------------------------------------------------

# Those who work: this process, several on this machine, or a cluster of Dask that exists.

DASK: Final = "dask://"


class EngineError(WrongUseError):
    """An engine that cannot be had; the text says why."""


def engine_for(address: str, jobs: int) -> Engine:
    """Return the engine that the command line names; `jobs` are the processes here, 0 for one a
    processor. Raises EngineError."""
    if address.startswith(DASK):
        return _DaskCluster(address.removeprefix(DASK))
    if address:
        raise EngineError(
            f"`{address}`: expected `{DASK}HOST:PORT`, the scheduler of a Dask cluster"
        )
    workers = possible_workers(jobs)
    return _ThisProcess() if workers == 1 else _Processes(workers)


class _ThisProcess:
    """Does everything at once."""

    workers = 1

    def share(self, value: object) -> object:
        return value

    def submit(self, work: Callable[..., object], *arguments: object) -> Future[object]:
        done: Future[Any] = Future()
        done.set_result(work(*arguments))
        return done

    def renew(self) -> None:
        """Do nothing: an engine of this process does not break."""

    def close(self) -> None:
        """Do nothing: nothing is open."""


@dataclass(frozen=True, slots=True)
class _Spooled:
    """A value that lies in a file. The digest comes by the pipe to the worker: what anybody else
    has put into the file is not unpickled."""

    path: str
    digest: bytes


@functools.lru_cache(maxsize=4)
def _read(spooled: _Spooled) -> object:
    with open(spooled.path, "rb") as stream:
        data = stream.read()
    if hashlib.sha256(data).digest() != spooled.digest:
        raise OSError(f"`{spooled.path}` has been changed")
    return pickle.loads(data)


def _with_values(work: Callable[..., object], *arguments: object) -> object:
    return work(
        *(_read(argument) if isinstance(argument, _Spooled) else argument for argument in arguments)
    )


class _Processes:
    """Several processes on this machine."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._folder = tempfile.TemporaryDirectory(prefix="celadon-fleet-")
        self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, multiprocessing.get_context("fork"))

    def share(self, value: object) -> object:
        path = os.path.join(self._folder.name, uuid4().hex)
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        with open(path, "wb") as stream:
            stream.write(data)
        return _Spooled(path, hashlib.sha256(data).digest())

    def submit(self, work: Callable[..., object], *arguments: object) -> Future[Any]:
        return self._pool.submit(_with_values, work, *arguments)

    def renew(self) -> None:
        """Replace the pool: one whose process has died takes nothing more."""
        try:
            self._pool.submit(os.getpid).result()
        except Exception:  # noqa: BLE001 - it is thrown away whatever it says
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = self._new_pool()

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._folder.cleanup()


class _DaskCluster:
    """The workers of a scheduler, which gives the work of those that die to others."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client  # late: an extra
        except ImportError:
            raise EngineError("a package is missing: pip install 'celadon[fleet]'") from None
        # Dask tells stderr of each connection that ends early and of each result that it asks for
        # again. What comes of it is in the report.
        for handler in logging.getLogger("distributed").handlers:
            handler.setLevel(logging.ERROR)
        try:
            self._client = Client(f"tcp://{address}", set_as_default=False)
            self.workers = max(1, sum(self._client.nthreads().values()))
        except (OSError, ValueError) as error:
            raise EngineError(f"no scheduler of Dask at {address}: {error}") from None
        self._executor = self._client.get_executor(pure=False)
        self._shared: WeakSet[_Scattered] = WeakSet()

    def share(self, value: object) -> object:
        scattered = _Scattered(value, self._scattered(value))
        self._shared.add(scattered)
        return scattered

    def _scattered(self, value: object) -> Any:  # noqa: ANN401 - a future of Dask
        return self._client.scatter(value, broadcast=True, hash=False)

    def submit(self, work: Callable[..., Any], *arguments: object) -> Future[Any]:
        bound_arguments = (
            argument.future if isinstance(argument, _Scattered) else argument
            for argument in arguments
        )
        return self._executor.submit(work, *bound_arguments)  # type: ignore[no-any-return]

    def renew(self) -> None:
        """Send to others what was only in the memory of workers that are gone."""
        for scattered in self._shared:
            if scattered.future.status != "finished":
                scattered.future = self._scattered(scattered.value)

    def close(self) -> None:
        self._executor.shutdown(wait=False)
        self._client.close()


class _Scattered:
    """A value in the memory of workers, for as long as somebody here may give out work with it."""

    def __init__(self, value: object, future: Any) -> None:  # noqa: ANN401 - a future of Dask
        self.value, self.future = value, future
