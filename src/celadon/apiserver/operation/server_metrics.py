"""Counts and times what a server does, and shows it as `/metrics`.

Names and labels are in `metric_table`. Which requests count as what is as in k8s.io/apiserver
`pkg/endpoints/metrics`; other than there, requests that were not authenticated or not allowed are
counted, too.
"""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import sub
from pathlib import Path
from time import perf_counter
from typing import Final

from celadon.admission import Action, Cause, Decision, Verdict
from celadon.apiserver.authz.authorizer_chain import DECISION
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.apiserver.operation import metric_table as table
from celadon.apiserver.operation.metric_table import (
    CONTENT_TYPE,
    Counter,
    Description,
    Family,
    Gauge,
    Histogram,
    Labels,
    ReadCounter,
    Series,
    exposed,
)
from celadon.apiserver.operation.request_limits import InFlight
from celadon.apiserver.operation.webhook_counts import (
    ConversionCounts,
    StaticReloads,
    WebhookCounts,
)
from celadon.apiserver.request_info import RequestInfo
from celadon.kube.releases import is_since, wording
from celadon.kube.resources import Resource
from celadon.records import dataclass, replace

# --- Process figures ---------------------------------------------------------
#
# What the operating system knows about the process, under the names that Prometheus clients
# use.
#
# Linux tells it in `/proc`; elsewhere only the time that was used is known.

_BEGAN: Final = time.time()
_STATUS: Final = Path("/proc/self/statm")
_FILES: Final = Path("/proc/self/fd")
_HEADERS: Final = (("Process-Start-Time-Unix", str(int(_BEGAN))),)
_MEDIA_TYPE: Final = wording(
    f"{CONTENT_TYPE}; escaping=underscores",
    v1_31=CONTENT_TYPE,
    v1_33=f"{CONTENT_TYPE}; escaping=values",
)
"""What the client library of each release calls the text; no name here needs an escape."""
_OBJECTS_DEPRECATED: Final = wording("1.34.0", v1_35="")
"""Since when each release says that the objects of a resource have another metric."""
_OBJECTS_HELP: Final = wording(table.STORAGE_OBJECTS.help, v1_34=table.RESOURCE_OBJECTS.help)

START_TIME: Final = Gauge(
    Description(
        "process_start_time_seconds", "Start time of the process since unix epoch in seconds."
    ),
    lambda: {(): _BEGAN},
)
"""By which a reader of counters notices that they began anew."""


def process_families() -> tuple[Family, ...]:
    """Return the families of the process, read when somebody asks."""
    return (
        ReadCounter(
            Description(
                "process_cpu_seconds_total", "Total user and system CPU time spent in seconds."
            ),
            lambda: {(): time.process_time()},
        ),
        Gauge(Description("process_max_fds", "Maximum number of open file descriptors."), _limit),
        Gauge(Description("process_open_fds", "Number of open file descriptors."), _open_files),
        Gauge(
            Description("process_resident_memory_bytes", "Resident memory size in bytes."),
            lambda: _memory(1),
        ),
        START_TIME,
        Gauge(
            Description("process_virtual_memory_bytes", "Virtual memory size in bytes."),
            lambda: _memory(0),
        ),
    )


def _limit() -> Mapping[Labels, float]:
    return {(): resource.getrlimit(resource.RLIMIT_NOFILE)[0]}


def _open_files() -> Mapping[Labels, float]:
    return {(): len(os.listdir(_FILES))} if _FILES.is_dir() else {}


def _memory(column: int) -> Mapping[Labels, float]:
    if not _STATUS.is_file():
        return {}
    pages = int(_STATUS.read_text(encoding="ascii").split()[column])
    return {(): pages * resource.getpagesize()}


# --- Health counts -----------------------------------------------------------
#
# What came of the health checks, for `/metrics/slis`.
#
# As k8s.io/component-base `metrics/prometheus/slis`: each check that is made for one of the
# paths of health as a whole is counted, and its last outcome is kept.

_LABELS: Final = ("name", "type")
LAST: Final = Description(
    "kubernetes_healthcheck",
    "This metric records the result of a single healthcheck.",
    _LABELS,
    "STABLE",
)
TOTAL: Final = Description(
    "kubernetes_healthchecks_total",
    "This metric records the results of all healthcheck.",
    (*_LABELS, "status"),
    "STABLE",
)


class HealthCounts:
    """Counts what the health checks of one server came to."""

    def __init__(self) -> None:
        self._total = Counter(TOTAL)
        self._last: dict[Labels, float] = {}

    def observe(self, name: str, root: str, *, is_well: bool) -> None:
        """Note that a check was made for the path of health `root`."""
        self._last[name, root] = float(is_well)
        self._total.add((name, root, "success" if is_well else "error"))

    def page(self) -> Callable[[], HttpAnswer]:
        """`/metrics/slis`, as `ServerMetrics.page`."""
        return _page((Gauge(LAST, lambda: self._last), self._total, START_TIME))


# --- Flow control counts -----------------------------------------------------


@dataclass(slots=True)
class FlowCount:
    """Requests that wait and that are being answered now, and all that ever were."""

    waiting: int = 0
    executing: int = 0
    dispatched: int = 0
    waiting_seats: int = 0
    seats: int = 0


@dataclass(slots=True)
class SeatCounts:
    """The seats of a level: how many it should have, at least, at most and now, and what was asked
    of it in the last period."""

    nominal: int = 0
    least: int = 0
    most: int = 0
    current: int = 0
    target: float = 0.0
    highest: int = 0
    average: float = 0.0
    deviation: float = 0.0
    smoothed: float = 0.0


_MOST_STATES: Final = 1_000
"""Of a level, that are noted until somebody looks."""

_SEATS: Final = (
    (table.FLOW_AVERAGE_DEMAND, "average"),
    (table.FLOW_HIGHEST_DEMAND, "highest"),
    (table.FLOW_SMOOTHED_DEMAND, "smoothed"),
    (table.FLOW_DEMAND_DEVIATION, "deviation"),
    (table.FLOW_LEAST_SEATS, "least"),
    (table.FLOW_SEATS, "nominal"),
    (table.FLOW_FORMER_SEATS, "nominal"),
    (table.FLOW_TARGET_SEATS, "target"),
    (table.FLOW_MOST_SEATS, "most"),
    (table.FLOW_CURRENT_SEATS, "current"),
)


class LevelUse:
    """Measures how much of a priority level is in use, nanosecond by nanosecond. How long each
    state has lasted is noted, and told the histograms before somebody looks at them."""

    __slots__ = ("_changed", "_demand", "_executing", "_lasted", "_limit", "_most_waiting",
                 "_seats", "_state", "_waiting")  # fmt: skip

    def __init__(self, counts: FlowCounts, level: str, now: float) -> None:
        self._changed = now
        self._limit = self._most_waiting = 1
        self._state = 0, 0, 0, 0
        self._lasted: dict[tuple[int, int, int, int], float] = {}
        self._demand = counts.demand.series((level,))
        self._seats = counts.seat_use.series(("executing", level))
        self._executing = counts.request_use.series(("executing", level))
        self._waiting = counts.request_use.series(("waiting", level))

    def become(self, now: float, state: tuple[int, int, int, int]) -> None:
        """Seats that are asked for, and used; requests that execute, and wait: from now on."""
        lasted = self._lasted
        lasted[self._state] = lasted.get(self._state, 0.0) + now - self._changed
        self._changed, self._state = now, state
        if len(lasted) > _MOST_STATES:
            self.tell()

    def limit(self, seats: int, waiting: int) -> None:
        """Set what is the whole: seats, and requests that may wait."""
        self.tell()
        self._limit, self._most_waiting = seats, waiting

    def tell(self) -> None:
        """Tell the histograms of all states that are over."""
        for (demand, seats, executing, waiting), seconds in self._lasted.items():
            nanoseconds = round(seconds * 1e9)
            self._demand.observe_for(nanoseconds, demand / self._limit)
            self._seats.observe_for(nanoseconds, seats / self._limit)
            self._executing.observe_for(nanoseconds, executing / self._limit)
            self._waiting.observe_for(nanoseconds, waiting / self._most_waiting)
        self._lasted.clear()


class FlowCounts:
    """Counts the requests of the priority levels of one server. `seats` are those of each level,
    `fraction` is what all of them have of what they should have; `refresh` brings both up to
    now."""

    def __init__(self) -> None:
        self.rejected = Counter(table.FLOW_REJECTED)
        self.execution_seconds = Histogram(table.FLOW_EXECUTION_SECONDS, table.FLOW_BOUNDS)
        self.widths = Histogram(table.FLOW_WIDTHS, table.FLOW_WIDTH_BOUNDS)
        self.wait_seconds = Histogram(table.FLOW_WAIT_SECONDS, table.FLOW_BOUNDS)
        self.watches = Histogram(table.FLOW_WATCHES, table.FLOW_WATCH_BOUNDS)
        self.queue_lengths = Histogram(table.FLOW_QUEUE_LENGTHS, table.FLOW_LENGTH_BOUNDS)
        self.demand = Histogram(table.FLOW_DEMAND, table.FLOW_DEMAND_BOUNDS)
        self.seat_use = Histogram(table.FLOW_SEAT_USE, table.FLOW_SEAT_USE_BOUNDS)
        self.request_use = Histogram(table.FLOW_REQUEST_USE, table.FLOW_REQUEST_USE_BOUNDS)
        self.seats: dict[str, SeatCounts] = {}
        self.fraction = 0.0
        self.refresh: Callable[[], None] = lambda: None
        self._counts: dict[Labels, FlowCount] = {}

    def of(self, labels: Labels) -> FlowCount:
        """Return the counts of a level and a schema, the same object each time."""
        return self._counts.setdefault(labels, FlowCount())

    def dispatched(self) -> dict[str, int]:
        """Return how many requests have begun to execute, by level."""
        result: dict[str, int] = {}
        for (level, _), count in self._counts.items():
            result[level] = result.get(level, 0) + count.dispatched
        return result

    def families(self) -> tuple[Family, ...]:
        """Return the families in the order of their names."""
        counts = self._counts
        return (
            Gauge(
                table.FLOW_EXECUTING,
                lambda: {labels: count.executing for labels, count in counts.items()},
            ),
            Gauge(
                table.FLOW_WAITING,
                lambda: {labels: count.waiting for labels, count in counts.items()},
            ),
            ReadCounter(
                table.FLOW_DISPATCHED,
                lambda: {labels: count.dispatched for labels, count in counts.items()},
            ),
            *(self._seat_gauge(*seat) for seat in _SEATS),
            Gauge(table.FLOW_FRACTION, lambda: {(): self.fraction} if self.seats else {}),
            self.rejected,
            self.execution_seconds,
            self.wait_seconds,
            Gauge(
                table.FLOW_EXECUTING_SEATS,
                lambda: {labels: count.seats for labels, count in counts.items()},
            ),
            Gauge(
                table.FLOW_WAITING_SEATS,
                lambda: {labels: count.waiting_seats for labels, count in counts.items()},
            ),
            Gauge(
                table.FLOW_FORMER_EXECUTING,
                lambda: {labels: count.seats for labels, count in counts.items()},
            ),
            self.widths,
            self.watches,
            self.queue_lengths,
            self.demand,
            self.seat_use,
            self.request_use,
        )

    def _seat_gauge(self, about: Description, member: str) -> Gauge:
        def read() -> dict[Labels, float]:
            self.refresh()
            return {(level,): getattr(seat, member) for level, seat in self.seats.items()}

        return Gauge(about, read)


VERBS: Final = {
    "get": "GET",
    "list": "LIST",
    "watch": "WATCH",
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETECOLLECTION",
    "proxy": "CONNECT",
    "post": "POST",
    "put": "PUT",
    "head": "HEAD",
    "options": "OPTIONS",
}
CONNECTING: Final = frozenset({"attach", "exec", "portforward", "proxy"})
PATHS: Final = (
    *("/healthz", "/livez", "/readyz", "/metrics", "/version", "/openapi/v2", "/openapi/v3"),
    *("/api", "/apis"),
)
"""Paths that are told apart, with all below them; an endless number of others is not."""

COMPONENT: Final = "apiserver"
DECISIONS: Final = {"allow": "allowed", "forbid": "denied"}
UNAUTHORIZED: Final = 401
TERMINATED: Final = frozenset({429, 504})
MOST_ALIKE: Final = 4096
"""Sorts of requests whose labels are remembered."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Holds the places where requests are counted that differ in nothing that counts."""

    counted: Labels
    seconds: Series
    sizes: Series | None


class ServerMetrics:
    """Holds the metrics of one server. What is now is read from `in_flight`, and from `objects`,
    which counts the objects of each (group, resource); `clock` is Unix time, `aggregated` is
    counted by whom the server stands before other servers with."""

    def __init__(
        self,
        in_flight: InFlight,
        objects: Callable[[], Mapping[tuple[str, str], int]],
        clock: Callable[[], float] = time.time,
        aggregated: Sequence[Family] = (),
    ) -> None:
        self._in_flight = in_flight
        self._aggregated = aggregated
        self.static_reloads = StaticReloads(clock)
        self._objects = objects
        self.requests = Counter(table.REQUESTS)
        self.request_seconds = Histogram(table.REQUEST_SECONDS, table.REQUEST_BOUNDS)
        self.response_bytes = Histogram(table.RESPONSE_BYTES, table.RESPONSE_BOUNDS)
        self.terminations = Counter(table.TERMINATIONS)
        self._watches: dict[Labels, float] = {}
        self._alike: dict[tuple[object, ...], Alike] = {}
        self.watch_event_bytes = Histogram(table.WATCH_EVENT_BYTES, table.EVENT_BOUNDS)
        self.authentications = Counter(table.AUTHENTICATIONS)
        self.authorizations = Counter(table.AUTHORIZATIONS)
        self.audit_events = Counter(table.AUDIT_EVENTS)
        self.audit_errors = Counter(table.AUDIT_ERRORS)
        self.admission_seconds = Histogram(table.ADMISSION_SECONDS, table.ADMISSION_BOUNDS)
        self.webhooks = WebhookCounts()
        self.conversions = ConversionCounts()
        self.health = HealthCounts()
        self.flows = FlowCounts()
        self.mutation_checks = Counter(table.MUTATION_CHECKS)
        self.mutation_check_seconds = Histogram(table.MUTATION_CHECK_SECONDS, table.CHECK_BOUNDS)
        self.policy_checks = Counter(table.POLICY_CHECKS)
        self.policy_check_seconds = Histogram(table.POLICY_CHECK_SECONDS, table.CHECK_BOUNDS)
        self.compilation_seconds = Histogram(table.COMPILATION_SECONDS, table.COMMON_BOUNDS)
        self.evaluation_seconds = Histogram(table.EVALUATION_SECONDS, table.COMMON_BOUNDS)
        self.policy_seconds = Histogram(table.POLICY_SECONDS, table.POLICY_BOUNDS)

    def families(self) -> tuple[Family, ...]:
        """Return the families in the order of their names."""
        return (
            *self._aggregated,
            self.admission_seconds,
            *self.webhooks.families(),
            self.audit_errors,
            self.audit_events,
            self.authorizations,
            self.compilation_seconds,
            self.evaluation_seconds,
            *self.conversions.families(),
            Gauge(
                table.IN_FLIGHT,
                lambda: {(kind,): count for kind, count in self._in_flight.counts.items()},
            ),
            *self.flows.families(),
            Gauge(table.LONG_RUNNING, lambda: self._watches),
            *self.static_reloads.families(),
            self.mutation_check_seconds,
            self.mutation_checks,
            self.request_seconds,
            self.terminations,
            self.requests,
            *self._objects_by_group(),
            self.response_bytes,
            Gauge(
                replace(
                    table.STORAGE_OBJECTS,
                    help=_OBJECTS_HELP.text,
                    deprecated=_OBJECTS_DEPRECATED.text,
                ),
                self._storage_objects,
            ),
            self.policy_check_seconds,
            self.policy_checks,
            self.watch_event_bytes,
            ReadCounter(table.WATCH_EVENTS, self._watch_events),
            self.authentications,
            self.policy_seconds,
            *process_families(),
        )

    def _objects_by_group(self) -> tuple[Family, ...]:
        is_there = is_since("1.34")
        return (Gauge(table.RESOURCE_OBJECTS, self._resource_objects),) if is_there else ()

    def page(self) -> Callable[[], HttpAnswer]:
        """`/metrics`: what is counted is taken at once, and written by what is returned. Of a
        thousand definitions that is megabytes."""
        return _page(self.families())

    def answered(
        self,
        request: HttpRequest,
        info: RequestInfo,
        resource: Resource | None,
        answer: HttpAnswer,
        seconds: float,
    ) -> None:
        """Count one request. `resource` is None where none was found, whoever asked for what."""
        self.count(self.alike(request, info, resource, answer.code), answer, seconds)

    def alike(
        self, request: HttpRequest, info: RequestInfo, resource: Resource | None, code: int
    ) -> Alike:
        """Return where a request is counted that has an answer of this code."""
        key = (
            *(info.verb, None if resource is None else resource.gvr, code),
            *(info.subresource if info.is_resource else info.path, info.name == ""),
            *(info.namespace == "", "dryRun=All" in request.target),
            "apply" in request.header("content-type"),
        )
        alike = self._alike.get(key)
        if alike is None:
            alike = self._alike_of(request, info, resource, code)
            if len(self._alike) < MOST_ALIKE:
                self._alike[key] = alike
        return alike

    def count(self, alike: Alike, answer: HttpAnswer, seconds: float) -> None:
        """Count a request where those are counted that are alike."""
        self.requests.add(alike.counted)
        alike.seconds.observe(seconds)
        if alike.sizes is not None:
            alike.sizes.observe(len(answer.body))
        if answer.code in TERMINATED:
            self.terminations.add((alike.counted[0], *alike.counted[2:]))
        self._decided(answer)

    def _alike_of(
        self, request: HttpRequest, info: RequestInfo, resource: Resource | None, code: int
    ) -> Alike:
        verb, labels = request_labels(request, info, resource)
        counted = (verb, "All" if "dryRun=All" in request.target else "", *labels, COMPONENT)
        sized = verb in ("GET", "LIST")
        return Alike(
            (*counted, str(code)),
            self.request_seconds.series(counted),
            self.response_bytes.series((verb, *labels, COMPONENT)) if sized else None,
        )

    def _decided(self, answer: HttpAnswer) -> None:
        """Count who asked, and whether they may."""
        if answer.user is None and answer.code == UNAUTHORIZED:
            self.authentications.add(("failure",))
        elif answer.user is not None:
            self.authentications.add(("success",))
        decision = DECISIONS.get(answer.audit.get(DECISION, ""))
        if decision is not None:
            self.authorizations.add(("RBAC", "rbac", decision))

    @contextmanager
    def watching(
        self, request: HttpRequest, info: RequestInfo, resource: Resource
    ) -> Iterator[Callable[[int], None]]:
        """Count a watch while it is open. Gives what is to be called with the bytes of each
        event."""
        verb, labels = request_labels(request, info, resource)
        counted = (verb, *labels, COMPONENT)
        self._watches[counted] = self._watches.get(counted, 0) + 1
        try:
            yield self.watch_event_bytes.series(labels[:3]).observe
        finally:
            self._watches[counted] -= 1

    def _watch_events(self) -> Mapping[Labels, float]:
        """Return how many there were, as their sizes tell."""
        return {
            kind: float(sum(series.counts))
            for kind, series in self.watch_event_bytes.values.copy().items()
        }

    def _resource_objects(self) -> Mapping[Labels, float]:
        return {labels: float(count) for labels, count in self._objects().items()}

    def _storage_objects(self) -> Mapping[Labels, float]:
        return {
            (f"{resource}.{group}" if group else resource,): count
            for (group, resource), count in self._objects().items()
        }


def _page(families: Iterable[Family]) -> Callable[[], HttpAnswer]:
    write, media_type = exposed(families), _MEDIA_TYPE.text
    return lambda: HttpAnswer(200, media_type, write().encode(), _HEADERS)


def request_labels(
    request: HttpRequest, info: RequestInfo, resource: Resource | None
) -> tuple[str, Labels]:
    """Return the verb, and values for RESOURCE_LABELS. What nobody serves has none: clients could
    invent an endless number of names."""
    if not info.is_resource:
        return VERBS.get(info.verb, "other"), ("", "", "", _known_path(info.path), "")
    verb = "CONNECT" if info.subresource in CONNECTING else VERBS.get(info.verb, "other")
    if verb == "PATCH" and "apply" in request.header("content-type"):
        verb = "APPLY"
    if resource is None:
        return verb, ("", "", "", "", _scope(info))
    gvr = resource.gvr
    return verb, (gvr.group, gvr.version, gvr.resource, info.subresource, _scope(info))


def _scope(info: RequestInfo) -> str:
    if info.name or info.verb == "create":
        return "resource"
    return "namespace" if info.namespace else "cluster"


def _known_path(path: str) -> str:
    return next((item for item in PATHS if path == item or path.startswith(f"{item}/")), "")


# --- Policies ----------------------------------------------------------------
#
# How long policies take, and what comes of them, for `/metrics`.
#
# One clock reading for each policy: what passes between two of them is what the later policy
# cost, finding out whether it matches included. Upstream records only refusals and errors; the
# times of requests that pass, and errors whatever the failure policy does with them, are what
# kubernetes/kubernetes#124064 asks for.

VALIDATING_POLICIES: Final = "ValidatingAdmissionPolicy"
MUTATING_POLICIES: Final = "MutatingAdmissionPolicy"
ALLOWED: Final = "allowed"
DENIED: Final = "denied"
ERROR: Final = "error"
NO_ERROR: Final = "no_error"
ERROR_TYPES: Final = (
    ("compilation", "compile_error"),
    ("validation failed due to running out of cost budget", "out_of_budget"),
)
"""By the beginning of the message, whoever wrote it; all else is `invalid_error`."""


class _Mark(threading.local):
    """When the policy before this one was done, in this thread."""

    time: float = 0.0


class PolicyTimer:
    """An observer of engines, in each thread for one request after the other."""

    __slots__ = ("_allowed", "_last", "_metrics", "clock")

    def __init__(self, metrics: ServerMetrics, clock: Callable[[], float] = perf_counter) -> None:
        self._metrics = metrics
        self.clock = clock
        self._last = _Mark()
        self._allowed: dict[str, Series] = {}

    def begin(self) -> float:
        """Note the begin of a review; return when it was."""
        self._last.time = now = self.clock()
        return now

    def content(self, ends: Mapping[str, float]) -> None:
        """Note when policies were through that had nothing against a request; called by the
        engine."""
        times = tuple(ends.values())
        seconds = [*map(sub, times, (self._last.time, *times))]
        self._last.time = times[-1]
        try:
            series = [*map(self._allowed.__getitem__, ends)]
        except KeyError:
            family = self._metrics.policy_seconds
            self._allowed.update((policy, family.series((policy, ALLOWED))) for policy in ends)
            series = [*map(self._allowed.__getitem__, ends)]
        self._metrics.policy_seconds.observe_each(series, seconds)

    def judged(self, policy: str, decisions: Sequence[Decision], *, failed: bool) -> None:
        """Note that a policy was evaluated; called by the engine."""
        now = self.clock()
        seconds = now - self._last.time
        self._last.time = now
        errors = failed or any(decision.cause is not Cause.VALIDATION for decision in decisions)
        denied = any(decision.action is Action.DENY for decision in decisions)
        result = ERROR if errors else DENIED if denied else ALLOWED
        self._metrics.policy_seconds.observe(seconds, (policy, result))
        for decision in decisions:
            self._check(decision, seconds)

    def ended(self, began: float, operation: str, verdict: Verdict) -> None:
        """Note the end of a review."""
        seconds = self.clock() - began
        labels = (VALIDATING_POLICIES, "validate", operation, str(not verdict.allowed).lower())
        self._metrics.admission_seconds.observe(seconds, labels)
        self._metrics.evaluation_seconds.observe(seconds)

    def _check(self, decision: Decision, seconds: float) -> None:
        for action in _enforced(decision):
            labels = (decision.policy, decision.binding, _error_type(decision.message), action)
            self._metrics.policy_checks.add(labels)
            self._metrics.policy_check_seconds.observe(seconds, labels)


class MutationTimer:
    """An observer of engines of mutating policies: one for each mutation that was tried, whatever
    the failure policy makes of an error."""

    __slots__ = ("_clock", "_last", "_metrics")

    def __init__(self, metrics: ServerMetrics, clock: Callable[[], float] = perf_counter) -> None:
        self._metrics = metrics
        self._clock = clock
        self._last = _Mark()

    def begin(self) -> float:
        """Begin to measure; return the time."""
        self._last.time = now = self._clock()
        return now

    def mutated(self, policy: str, binding: str, failure: str) -> None:
        """Note that a policy has mutated; called by the engine."""
        now = self._clock()
        seconds, self._last.time = now - self._last.time, now
        labels = (policy, binding, _error_type(failure) if failure else NO_ERROR)
        self._metrics.mutation_checks.add(labels)
        self._metrics.mutation_check_seconds.observe(seconds, labels)

    def ended(self, began: float, operation: str, *, rejected: bool) -> None:
        """Note that a round has ended."""
        labels = (MUTATING_POLICIES, "admit", operation, str(rejected).lower())
        self._metrics.admission_seconds.observe(self._clock() - began, labels)


def _enforced(decision: Decision) -> Iterable[str]:
    """Return what upstream records: one for each action; nothing for errors of configuration."""
    if decision.cause is Cause.CONFIGURATION:
        return ()
    if decision.action is Action.ADMIT:
        return ("allow",) if decision.cause is not Cause.VALIDATION else ()
    if decision.cause is Cause.ANNOTATION:
        return ("deny",)
    return tuple(action.lower() for action in decision.actions)


def _error_type(message: str) -> str:
    error_types = (name for prefix, name in ERROR_TYPES if message.startswith(prefix))
    return next(error_types, "invalid_error")
