"""The metrics of a server: names, help, labels, stability and buckets.

The names are upstream's where upstream has them, ours begin with `celadon_`. As k8s.io/apiserver
`pkg/endpoints/metrics`, `pkg/admission/metrics`, `pkg/cel/metrics`, `pkg/audit/metrics.go`,
`pkg/admission/plugin/policy/{validating,mutating}/metrics`,
`pkg/admission/plugin/manifest/metrics`, `pkg/storage/etcd3/metrics`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, repeat
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from celadon.records import dataclass, field

# --- Metric families ---------------------------------------------------------
#
# Counters, gauges and histograms, and how Prometheus reads them.
#
# A series is found by the values of its family's labels, in their order, and costs well under a
# microsecond to add to: one thread writes, so there are no locks.
# docs/decisions/0017-metrics.md says why this is not prometheus-client.

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
"""Of an exposition."""

T = TypeVar("T")
Labels: TypeAlias = tuple[str, ...]
"""The values of a family's labels, in their order."""

_ESCAPED: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@dataclass(frozen=True, slots=True)
class Description:
    """Describes a metric. `stability` is upstream's (STABLE, BETA, ALPHA), empty for what upstream
    does not have; `deprecated` is the version since which it should not be used."""

    name: str
    help: str
    labels: Labels = ()
    stability: str = ""
    deprecated: str = ""

    def head(self, kind: str) -> str:
        """Return the two lines above the series."""
        help = f"(Deprecated since {self.deprecated}) {self.help}" if self.deprecated else self.help
        if self.stability:
            help = f"[{self.stability}] {help}"
        return f"# HELP {self.name} {help}\n# TYPE {self.name} {kind}\n"

    def rows(self, values: Mapping[Labels, T]) -> Iterator[tuple[str, T]]:
        """Yield the labels of each series with their values, and what it counts. Labels stand by
        their names and series by the values of these, as Prometheus' clients write them."""
        places = sorted(range(len(self.labels)), key=self.labels.__getitem__)
        names = [self.labels[place] for place in places]
        ordered = (([labels[place] for place in places], labels) for labels in values)
        for texts, labels in sorted(ordered):
            pairs = zip(names, texts, strict=True)
            joined = ",".join(f'{name}="{text.translate(_ESCAPED)}"' for name, text in pairs)
            yield joined, values[labels]


class Family(Protocol):
    """Is a family of metrics: what `/metrics` shows."""

    def lines(self) -> Iterator[str]:
        """Yield the lines of what is now. Another thread may write them, whatever is counted
        meanwhile."""


@dataclass(slots=True)
class Counter:
    """Counts how often something happened."""

    description: Description
    values: dict[Labels, float] = field(default_factory=dict)

    def add(self, labels: Labels = (), amount: float = 1) -> None:
        self.values[labels] = self.values.get(labels, 0) + amount

    def lines(self) -> Iterator[str]:
        return _plain(self.description, "counter", dict(self.values))


@dataclass(frozen=True, slots=True)
class Gauge:
    """Shows what is now: `read` is asked when somebody wants to know."""

    description: Description
    read: Callable[[], Mapping[Labels, float]]

    def lines(self) -> Iterator[str]:
        return _plain(self.description, "gauge", dict(self.read()))


@dataclass(frozen=True, slots=True)
class ReadCounter:
    """Shows a counter that somebody else keeps."""

    description: Description
    read: Callable[[], Mapping[Labels, float]]

    def lines(self) -> Iterator[str]:
        return _plain(self.description, "counter", dict(self.read()))


class Series:
    """Holds the counts of a histogram: how many values fell below each bound but not below the one
    before."""

    __slots__ = ("_bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    def observe_for(self, nanoseconds: int, value: float) -> None:
        """Observe a value once at the end of each nanosecond, as upstream's timing histograms."""
        self.counts[bisect_left(self._bounds, value)] += nanoseconds
        self.total += value * nanoseconds


@dataclass(slots=True)
class Histogram:
    """Counts how values are distributed; `bounds` are the upper ends of the buckets."""

    description: Description
    bounds: Sequence[float]
    values: dict[Labels, Series] = field(default_factory=dict)

    def series(self, labels: Labels = ()) -> Series:
        """Return a series, to be kept by callers that observe often."""
        series = self.values.get(labels)
        if series is None:
            series = self.values[labels] = Series(self.bounds)
        return series

    def observe(self, value: float, labels: Labels = ()) -> None:
        # As `series(labels).observe(value)`, without the two calls: a write observes six values.
        series = self.values.get(labels)
        if series is None:
            series = self.series(labels)
        series.counts[bisect_left(self.bounds, value)] += 1
        series.total += value

    def observe_each(self, all_series: Sequence[Series], values: Sequence[float]) -> None:
        """Observe one value for each of some series."""
        buckets = map(bisect_left, repeat(self.bounds), values)
        for series, bucket, value in zip(all_series, buckets, values, strict=True):
            series.counts[bucket] += 1
            series.total += value

    def lines(self) -> Iterator[str]:
        counted = {key: (series.counts.copy(), series.total) for key, series in self.values.items()}
        return _distributed(self.description, self.bounds, counted)


# What a fork counts, its parent adds: each family by its place among them all.

Counts: TypeAlias = dict[int, list[list[Any]]]


def counts_of(families: Iterable[Family]) -> Counts:
    """Return the values of counters and histograms, as JSON has them: labels, then numbers."""
    return {
        place: [[list(labels), *_numbers(value)] for labels, value in family.values.items()]
        for place, family in enumerate(families)
        if isinstance(family, Counter | Histogram)
    }


def counted_since(families: Iterable[Family], before: Counts) -> Counts:
    """Return what has been counted more than it was before."""
    more: Counts = {}
    for place, rows in counts_of(families).items():
        counts = {tuple(labels): numbers for labels, *numbers in before.get(place, [])}
        changed = [
            [labels, *(now - was for now, was in zip(numbers, counts[key], strict=True))]
            if (key := tuple(labels)) in counts
            else [labels, *numbers]
            for labels, *numbers in rows
            if counts.get(tuple(labels)) != numbers
        ]
        if changed:
            more[place] = changed
    return more


def add_counts(families: Sequence[Family], more: Mapping[str, list[list[Any]]]) -> None:
    """Add the counts of another process to those here. `more` has been through JSON, where keys are
    texts."""
    for place, rows in more.items():
        family = families[int(place)]
        for labels, *numbers in rows:
            if isinstance(family, Counter):
                family.add(tuple(labels), numbers[0])
            elif isinstance(family, Histogram):
                series = family.series(tuple(labels))
                series.total += numbers[0]
                for bucket, count in enumerate(numbers[1:]):
                    series.counts[bucket] += count


def _numbers(value: float | Series) -> list[float]:
    return [value.total, *value.counts] if isinstance(value, Series) else [value]


def exposed(families: Iterable[Family]) -> Callable[[], str]:
    """Return all families as Prometheus reads them; one without series is left out. What they show
    is taken at once, and written by what is returned."""
    lines = [family.lines() for family in families]
    return lambda: "".join(chain.from_iterable(lines))


def exposition(families: Iterable[Family]) -> str:
    """Return all metrics, written at once."""
    return exposed(families)()


def number(value: float) -> str:
    """Shortest, without a fraction that is none."""
    if value == float("inf"):
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(float(value))


def _plain(about: Description, kind: str, values: Mapping[Labels, float]) -> Iterator[str]:
    if values:
        yield about.head(kind)
    for pairs, value in about.rows(values):
        of_series = f"{{{pairs}}}" if pairs else ""
        yield f"{about.name}{of_series} {number(value)}\n"


def _distributed(
    about: Description,
    bounds: Sequence[float],
    counted: Mapping[Labels, tuple[Sequence[float], float]],
) -> Iterator[str]:
    """Yield the lines of a distribution: `counted` are the counts of the buckets, and the sum of
    the values."""
    if counted:
        yield about.head("histogram")
    ends = [f'le="{number(bound)}"}}' for bound in (*bounds, float("inf"))]
    for pairs, (counts, total) in about.rows(counted):
        start = f"{about.name}_bucket{{{pairs}{',' if pairs else ''}"
        sums = list(accumulate(counts))
        for end, count in zip(ends, sums, strict=True):
            yield f"{start}{end} {number(count)}\n"
        of_series = f"{{{pairs}}}" if pairs else ""
        yield f"{about.name}_sum{of_series} {number(total)}\n"
        yield f"{about.name}_count{of_series} {number(sums[-1])}\n"


_alpha = partial(Description, stability="ALPHA")
_beta = partial(Description, stability="BETA")
_stable = partial(Description, stability="STABLE")

RESOURCE_LABELS: Final = ("group", "version", "resource", "subresource", "scope")

REQUEST_BOUNDS: Final = (
    *(0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20),
    *(30, 45, 60),
)
RESPONSE_BOUNDS: Final = tuple(10.0**power for power in range(3, 10))
EVENT_BOUNDS: Final = tuple(float(1024 << power) for power in range(8))
ADMISSION_BOUNDS: Final = (0.005, 0.025, 0.1, 0.5, 1, 2.5)
WEBHOOK_BOUNDS: Final = (0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25)
CONVERSION_BOUNDS: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60)
DEFINITION_CONVERSION_BOUNDS: Final = tuple(0.001 * 2**power for power in range(15))
CHECK_BOUNDS: Final = (5e-7, 0.001, 0.01, 0.1, 1.0)
POLICY_BOUNDS: Final = (1e-6, 1e-5, 5e-5, 1e-4, 5e-4, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0)
COMMON_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Upper ends of buckets. Those of requests, answers, events, admission and checks are upstream's,
the common ones are those of Prometheus' libraries."""

UNAVAILABLE: Final = _alpha(
    "aggregator_unavailable_apiservice",
    "Gauge of APIServices which are marked as unavailable broken down by APIService name.",
    ("name",),
)
UNAVAILABLE_TOTAL: Final = _alpha(
    "aggregator_unavailable_apiservice_total",
    "Counter of APIServices which are marked as unavailable broken down by APIService name and "
    "reason.",
    ("name", "reason"),
)
CONVERSION_SECONDS: Final = _alpha(
    "apiserver_conversion_webhook_duration_seconds",
    "Conversion webhook request latency",
    ("result", "failure_type"),
)
CONVERSION_REQUESTS: Final = _alpha(
    "apiserver_conversion_webhook_request_total",
    "Counter for conversion webhook requests with success/failure and failure error type",
    ("result", "failure_type"),
)
DEFINITION_CONVERSION_SECONDS: Final = _alpha(
    "apiserver_crd_conversion_webhook_duration_seconds",
    "CRD webhook conversion duration in seconds",
    ("crd_name", "from_version", "to_version", "succeeded"),
)
REQUESTS: Final = _stable(
    "apiserver_request_total",
    "Counter of apiserver requests broken out for each verb, dry run value, group, "
    "version, resource, scope, component, and HTTP response code.",
    ("verb", "dry_run", *RESOURCE_LABELS, "component", "code"),
)
REQUEST_SECONDS: Final = _stable(
    "apiserver_request_duration_seconds",
    "Response latency distribution in seconds for each verb, dry run value, group, "
    "version, resource, subresource, scope and component.",
    ("verb", "dry_run", *RESOURCE_LABELS, "component"),
)
RESPONSE_BYTES: Final = _stable(
    "apiserver_response_sizes",
    "Response size distribution in bytes for each group, version, verb, resource, "
    "subresource, scope and component.",
    ("verb", *RESOURCE_LABELS, "component"),
)
TERMINATIONS: Final = _alpha(
    "apiserver_request_terminations_total",
    "Number of requests which apiserver terminated in self-defense.",
    ("verb", *RESOURCE_LABELS, "component", "code"),
)
LONG_RUNNING: Final = _stable(
    "apiserver_longrunning_requests",
    "Gauge of all active long-running apiserver requests broken out by verb, group, "
    "version, resource, scope and component. Not all requests are tracked this way.",
    ("verb", *RESOURCE_LABELS, "component"),
)
WATCH_EVENTS: Final = _alpha(
    "apiserver_watch_events_total",
    "Number of events sent in watch clients",
    ("group", "version", "resource"),
)
WATCH_EVENT_BYTES: Final = _alpha(
    "apiserver_watch_events_sizes",
    "Watch event size distribution in bytes",
    ("group", "version", "resource"),
)
AUTHENTICATIONS: Final = _alpha(
    "authentication_attempts",
    "Counter of authenticated attempts.",
    ("result",),
)
AUTHORIZATIONS: Final = _alpha(
    "apiserver_authorization_decisions_total",
    "Total number of terminal decisions made by an authorizer split by authorizer "
    "type, name, and decision.",
    ("type", "name", "decision"),
)
AUDIT_EVENTS: Final = _alpha(
    "apiserver_audit_event_total",
    "Counter of audit events generated and sent to the audit backend.",
    (),
)
AUDIT_ERRORS: Final = _alpha(
    "apiserver_audit_error_total",
    "Counter of audit events that failed to be audited properly. Plugin identifies the "
    "plugin affected by the error.",
    ("plugin",),
)
ADMISSION_SECONDS: Final = _stable(
    "apiserver_admission_controller_admission_duration_seconds",
    "Admission controller latency histogram in seconds, identified by name and broken "
    "out for each operation and API resource and type (validate or admit).",
    ("name", "type", "operation", "rejected"),
)
WEBHOOK_SECONDS: Final = _stable(
    "apiserver_admission_webhook_admission_duration_seconds",
    "Admission webhook latency histogram in seconds, identified by name and broken out "
    "for each operation and API resource and type (validate or admit).",
    ("name", "type", "operation", "rejected"),
)
WEBHOOK_REJECTIONS: Final = _alpha(
    "apiserver_admission_webhook_rejection_count",
    "Admission webhook rejection count, identified by name and broken out for each "
    "admission type (validating or admit) and operation. Additional labels specify an error "
    "type (calling_webhook_error or apiserver_internal_error if an error occurred; no_error "
    "otherwise) and optionally a non-zero rejection code if the webhook rejects the request "
    "with an HTTP status code (honored by the apiserver when the code is greater or equal to "
    "400). Codes greater than 600 are truncated to 600, to keep the metrics cardinality "
    "bounded.",
    ("name", "type", "operation", "error_type", "rejection_code"),
)
WEBHOOK_FAIL_OPENS: Final = _alpha(
    "apiserver_admission_webhook_fail_open_count",
    "Admission webhook fail open count, identified by name and broken out for each "
    "admission type (validating or admit).",
    ("name", "type"),
)
WEBHOOK_REQUESTS: Final = _alpha(
    "apiserver_admission_webhook_request_total",
    "Admission webhook request total, identified by name and broken out for each "
    "admission type (validating or admit) and operation. Additional labels specify "
    "whether the request was rejected or not and an HTTP status code. Codes greater than 600 "
    "are truncated to 600, to keep the metrics cardinality bounded.",
    ("name", "type", "operation", "code", "rejected"),
)
CONDITION_EXCLUSIONS: Final = _alpha(
    "apiserver_admission_match_condition_exclusions_total",
    "Admission match condition evaluation exclusions count, identified by name of resource "
    "containing the match condition and broken out for each kind containing matchConditions "
    "(webhook or policy), operation and admission type (validate or admit).",
    ("name", "kind", "type", "operation"),
)
POLICY_CHECKS: Final = _beta(
    "apiserver_validating_admission_policy_check_total",
    "Validation admission policy check total, labeled by policy and further identified "
    "by binding and enforcement action taken.",
    ("policy", "policy_binding", "error_type", "enforcement_action"),
)
POLICY_CHECK_SECONDS: Final = _beta(
    "apiserver_validating_admission_policy_check_duration_seconds",
    "Validation admission latency for individual validation expressions in seconds, "
    "labeled by policy and further including binding and enforcement action taken.",
    ("policy", "policy_binding", "error_type", "enforcement_action"),
)
MUTATION_CHECKS: Final = _alpha(
    "apiserver_mutating_admission_policy_check_total",
    "Mutation admission policy check total, labeled by policy and further identified by binding.",
    ("policy", "policy_binding", "error_type"),
)
MUTATION_CHECK_SECONDS: Final = _alpha(
    "apiserver_mutating_admission_policy_check_duration_seconds",
    "Mutation admission latency for individual mutation expressions in seconds, labeled by "
    "policy and binding.",
    ("policy", "policy_binding", "error_type"),
)
STATIC_RELOADS: Final = _alpha(
    "apiserver_manifest_admission_config_controller_automatic_reloads_total",
    "Total number of automatic reloads of admission manifest configuration split by status, "
    "plugin, and apiserver identity.",
    ("status", "plugin", "apiserver_id_hash"),
)
STATIC_RELOAD_TIMES: Final = _alpha(
    "apiserver_manifest_admission_config_controller_automatic_reload_last_timestamp_seconds",
    "Timestamp of the last automatic reload of admission manifest configuration split by "
    "status, plugin, and apiserver identity.",
    ("status", "plugin", "apiserver_id_hash"),
)
STATIC_CONFIGURATIONS: Final = _alpha(
    "apiserver_manifest_admission_config_controller_last_config_info",
    "Information about the last applied admission manifest configuration with hash as label, "
    "split by plugin and apiserver identity.",
    ("plugin", "apiserver_id_hash", "hash"),
)
COMPILATION_SECONDS: Final = _beta(
    "apiserver_cel_compilation_duration_seconds",
    "CEL compilation time in seconds.",
    (),
)
EVALUATION_SECONDS: Final = _beta(
    "apiserver_cel_evaluation_duration_seconds", "CEL evaluation time in seconds."
)
POLICY_SECONDS: Final = Description(
    "celadon_validating_admission_policy_duration_seconds",
    "Time that a policy with its bindings took for a request, by what came out: "
    "allowed, denied (also by warning or audit alone) or error.",
    ("policy", "result"),
)
IN_FLIGHT: Final = _stable(
    "apiserver_current_inflight_requests",
    "Maximal number of currently used inflight request limit of this apiserver per "
    "request kind in last second.",
    ("request_kind",),
)
_FLOW: Final = ("priority_level", "flow_schema")
FLOW_WAITING: Final = _beta(
    "apiserver_flowcontrol_current_inqueue_requests",
    "Number of requests currently pending in queues of the API Priority and Fairness subsystem",
    _FLOW,
)
FLOW_EXECUTING: Final = _beta(
    "apiserver_flowcontrol_current_executing_requests",
    "Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in the "
    "API Priority and Fairness subsystem",
    _FLOW,
)
FLOW_DISPATCHED: Final = _beta(
    "apiserver_flowcontrol_dispatched_requests_total",
    "Number of requests executed by API Priority and Fairness subsystem",
    _FLOW,
)
FLOW_REJECTED: Final = _beta(
    "apiserver_flowcontrol_rejected_requests_total",
    "Number of requests rejected by API Priority and Fairness subsystem",
    (*_FLOW, "reason"),
)
FLOW_BOUNDS: Final = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0)
FLOW_EXECUTION_SECONDS: Final = _alpha(
    "apiserver_flowcontrol_request_execution_seconds",
    "Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution "
    "in the API Priority and Fairness subsystem",
    (*_FLOW, "type"),
)
FLOW_WAIT_SECONDS: Final = _beta(
    "apiserver_flowcontrol_request_wait_duration_seconds",
    "Length of time a request spent waiting in its queue",
    (*_FLOW, "execute"),
)
FLOW_SEATS: Final = _beta(
    "apiserver_flowcontrol_nominal_limit_seats",
    "Nominal number of execution seats configured for each priority level",
    ("priority_level",),
)
FLOW_LEAST_SEATS: Final = _alpha(
    "apiserver_flowcontrol_lower_limit_seats",
    "Configured lower bound on number of execution seats available to each priority level",
    ("priority_level",),
)
FLOW_MOST_SEATS: Final = _alpha(
    "apiserver_flowcontrol_upper_limit_seats",
    "Configured upper bound on number of execution seats available to each priority level",
    ("priority_level",),
)
FLOW_CURRENT_SEATS: Final = _alpha(
    "apiserver_flowcontrol_current_limit_seats",
    "current derived number of execution seats available to each priority level",
    ("priority_level",),
)
FLOW_HIGHEST_DEMAND: Final = _alpha(
    "apiserver_flowcontrol_demand_seats_high_watermark",
    "High watermark, over last adjustment period, of demand_seats",
    ("priority_level",),
)
FLOW_AVERAGE_DEMAND: Final = _alpha(
    "apiserver_flowcontrol_demand_seats_average",
    "Time-weighted average, over last adjustment period, of demand_seats",
    ("priority_level",),
)
FLOW_DEMAND_DEVIATION: Final = _alpha(
    "apiserver_flowcontrol_demand_seats_stdev",
    "Time-weighted standard deviation, over last adjustment period, of demand_seats",
    ("priority_level",),
)
FLOW_SMOOTHED_DEMAND: Final = _alpha(
    "apiserver_flowcontrol_demand_seats_smoothed",
    "Smoothed seat demands",
    ("priority_level",),
)
FLOW_TARGET_SEATS: Final = _alpha(
    "apiserver_flowcontrol_target_seats",
    "Seat allocation targets",
    ("priority_level",),
)
FLOW_EXECUTING_SEATS: Final = _beta(
    "apiserver_flowcontrol_current_executing_seats",
    "Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, "
    "any stage otherwise) requests in the API Priority and Fairness subsystem",
    _FLOW,
)
FLOW_WAITING_SEATS: Final = _alpha(
    "apiserver_flowcontrol_current_inqueue_seats",
    "Number of seats currently pending in queues of the API Priority and Fairness subsystem",
    _FLOW,
)
FLOW_WIDTHS: Final = _alpha(
    "apiserver_flowcontrol_work_estimated_seats",
    "Number of estimated seats (maximum of initial and final seats) associated with requests in "
    "API Priority and Fairness",
    _FLOW,
)
FLOW_WIDTH_BOUNDS: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0)
FLOW_FRACTION: Final = _alpha(
    "apiserver_flowcontrol_seat_fair_frac",
    "Fair fraction of server's concurrency to allocate to each priority level that can use it",
    (),
)
FLOW_WATCHES: Final = _alpha(
    "apiserver_flowcontrol_watch_count_samples",
    "count of watchers for mutating requests in API Priority and Fairness",
    _FLOW,
)
FLOW_WATCH_BOUNDS: Final = (0.0, 1.0, 10.0, 100.0, 1_000.0, 10_000.0)
FLOW_QUEUE_LENGTHS: Final = _alpha(
    "apiserver_flowcontrol_request_queue_length_after_enqueue",
    "Length of queue in the API Priority and Fairness subsystem, as seen by each request after it "
    "is enqueued",
    _FLOW,
)
FLOW_LENGTH_BOUNDS: Final = (0.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0)
FLOW_FORMER_SEATS: Final = _alpha(
    "apiserver_flowcontrol_request_concurrency_limit",
    "Nominal number of execution seats configured for each priority level",
    ("priority_level",),
)
FLOW_FORMER_EXECUTING: Final = _alpha(
    "apiserver_flowcontrol_request_concurrency_in_use",
    "Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, "
    "any stage otherwise) requests in the API Priority and Fairness subsystem",
    _FLOW,
)
FLOW_DEMAND: Final = Description(
    "apiserver_flowcontrol_demand_seats",
    "EXPERIMENTAL: [ALPHA] Observations, at the end of every nanosecond, of (the number of seats "
    "each priority level could use) / (nominal number of seats for that level)",
    ("priority_level",),
)
FLOW_DEMAND_BOUNDS: Final = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0, 2.8, 4.0, 6.0)
FLOW_SEAT_USE: Final = Description(
    "apiserver_flowcontrol_priority_level_seat_utilization",
    "EXPERIMENTAL: [ALPHA] Observations, at the end of every nanosecond, of utilization of seats "
    "for any stage of execution (but only initial stage for WATCHes)",
    ("phase", "priority_level"),
)
FLOW_SEAT_USE_BOUNDS: Final = (
    0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0,
)  # fmt: skip
FLOW_REQUEST_USE: Final = Description(
    "apiserver_flowcontrol_priority_level_request_utilization",
    "EXPERIMENTAL: [ALPHA] Observations, at the end of every nanosecond, of number of requests (as "
    "a fraction of the relevant limit) waiting or in any stage of execution (but only initial "
    "stage for WATCHes)",
    ("phase", "priority_level"),
)
FLOW_REQUEST_USE_BOUNDS: Final = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1.0)
RESOURCE_OBJECTS: Final = _alpha(
    "apiserver_resource_objects",
    "Number of stored objects at the time of last check split by kind. "
    "In case of a fetching error, the value will be -1.",
    ("group", "resource"),
)
STORAGE_OBJECTS: Final = _stable(
    "apiserver_storage_objects",
    "[DEPRECATED, consider using apiserver_resource_objects instead] Number of "
    "stored objects at the time of last check split by kind. "
    "In case of a fetching error, the value will be -1.",
    ("resource",),
)
