"""What a server counts and times, and what `/metrics` shows of it.

Names and labels are in `metric_table`. Which requests count as what is as in k8s.io/apiserver
`pkg/endpoints/metrics`; other than there, requests that were not authenticated or not allowed are
counted, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from celadon.kube.catalogue import Resource
from celadon.records import dataclass
from celadon.serve.access.access_decisions import DECISION
from celadon.serve.http_messages import HttpAnswer, HttpRequest
from celadon.serve.operation import metric_table as table
from celadon.serve.operation.health_counts import HealthCounts
from celadon.serve.operation.metric_families import (
    CONTENT_TYPE,
    Counter,
    Family,
    Gauge,
    Histogram,
    Labels,
    Series,
    exposition,
)
from celadon.serve.operation.process_figures import process_families
from celadon.serve.operation.request_limits import InFlight
from celadon.serve.operation.static_reloads import StaticReloads
from celadon.serve.operation.webhook_counts import WebhookCounts
from celadon.serve.requests.request_info import RequestInfo

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
class _Alike:
    """Where requests are counted that differ in nothing that counts."""

    counted: Labels
    seconds: Series
    sizes: Series | None


class ServerMetrics:
    """Those of one server. What is now is read from `in_flight`, and from `objects`, which counts
    the objects of each (group, resource); `clock` is Unix time."""

    def __init__(
        self,
        in_flight: InFlight,
        objects: Callable[[], Mapping[tuple[str, str], int]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._in_flight = in_flight
        self.static_reloads = StaticReloads(clock)
        self._objects = objects
        self.requests = Counter(table.REQUESTS)
        self.request_seconds = Histogram(table.REQUEST_SECONDS, table.REQUEST_BOUNDS)
        self.response_bytes = Histogram(table.RESPONSE_BYTES, table.RESPONSE_BOUNDS)
        self.terminations = Counter(table.TERMINATIONS)
        self._watches: dict[Labels, float] = {}
        self._alike: dict[tuple[object, ...], _Alike] = {}
        self.watch_events = Counter(table.WATCH_EVENTS)
        self.watch_event_bytes = Histogram(table.WATCH_EVENT_BYTES, table.EVENT_BOUNDS)
        self.authentications = Counter(table.AUTHENTICATIONS)
        self.authorizations = Counter(table.AUTHORIZATIONS)
        self.audit_events = Counter(table.AUDIT_EVENTS)
        self.audit_errors = Counter(table.AUDIT_ERRORS)
        self.admission_seconds = Histogram(table.ADMISSION_SECONDS, table.ADMISSION_BOUNDS)
        self.webhooks = WebhookCounts()
        self.health = HealthCounts()
        self.mutation_checks = Counter(table.MUTATION_CHECKS)
        self.mutation_check_seconds = Histogram(table.MUTATION_CHECK_SECONDS, table.CHECK_BOUNDS)
        self.policy_checks = Counter(table.POLICY_CHECKS)
        self.policy_check_seconds = Histogram(table.POLICY_CHECK_SECONDS, table.CHECK_BOUNDS)
        self.compilation_seconds = Histogram(table.COMPILATION_SECONDS, table.COMMON_BOUNDS)
        self.evaluation_seconds = Histogram(table.EVALUATION_SECONDS, table.COMMON_BOUNDS)
        self.policy_seconds = Histogram(table.POLICY_SECONDS, table.POLICY_BOUNDS)

    def families(self) -> tuple[Family, ...]:
        """In the order of their names."""
        return (
            self.admission_seconds,
            *self.webhooks.families(),
            self.audit_errors,
            self.audit_events,
            self.authorizations,
            self.compilation_seconds,
            self.evaluation_seconds,
            Gauge(
                table.IN_FLIGHT,
                lambda: {(kind,): count for kind, count in self._in_flight.counts.items()},
            ),
            Gauge(table.LONG_RUNNING, lambda: self._watches),
            *self.static_reloads.families(),
            self.mutation_check_seconds,
            self.mutation_checks,
            self.request_seconds,
            self.terminations,
            self.requests,
            Gauge(table.RESOURCE_OBJECTS, self._resource_objects),
            self.response_bytes,
            Gauge(table.STORAGE_OBJECTS, self._storage_objects),
            self.policy_check_seconds,
            self.policy_checks,
            self.watch_event_bytes,
            self.watch_events,
            self.authentications,
            self.policy_seconds,
            *process_families(),
        )

    def answer(self) -> HttpAnswer:
        """Of `/metrics`."""
        return HttpAnswer(200, CONTENT_TYPE, exposition(self.families()).encode())

    def answered(
        self,
        request: HttpRequest,
        info: RequestInfo,
        resource: Resource | None,
        answer: HttpAnswer,
        seconds: float,
    ) -> None:
        """One request. `resource` is None where none was found, whoever asked for what."""
        key = (
            *(info.verb, None if resource is None else resource.gvr, answer.code),
            *(info.subresource if info.is_resource else info.path, info.name == ""),
            *(info.namespace == "", "dryRun=All" in request.target),
            "apply" in request.header("content-type"),
        )
        alike = self._alike.get(key)
        if alike is None:
            alike = self._alike_of(request, info, resource, answer.code)
            if len(self._alike) < MOST_ALIKE:
                self._alike[key] = alike
        self.requests.add(alike.counted)
        alike.seconds.observe(seconds)
        if alike.sizes is not None:
            alike.sizes.observe(len(answer.body))
        if answer.code in TERMINATED:
            self.terminations.add((COMPONENT, str(answer.code)))
        self._decided(answer)

    def _alike_of(
        self, request: HttpRequest, info: RequestInfo, resource: Resource | None, code: int
    ) -> _Alike:
        verb, labels = request_labels(request, info, resource)
        counted = (verb, "All" if "dryRun=All" in request.target else "", *labels, COMPONENT)
        sized = verb in ("GET", "LIST")
        return _Alike(
            (*counted, str(code)),
            self.request_seconds.series(counted),
            self.response_bytes.series((verb, *labels, COMPONENT)) if sized else None,
        )

    def _decided(self, answer: HttpAnswer) -> None:
        """Who asked, and whether they may."""
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
        """While a watch is open. Gives what is to be called with the bytes of each event."""
        verb, labels = request_labels(request, info, resource)
        counted = (verb, *labels, COMPONENT)
        kind = labels[:3]
        sizes, events = self.watch_event_bytes.series(kind), self.watch_events

        def sent(size: int) -> None:
            sizes.observe(size)
            events.add(kind)

        self._watches[counted] = self._watches.get(counted, 0) + 1
        try:
            yield sent
        finally:
            self._watches[counted] -= 1

    def _resource_objects(self) -> Mapping[Labels, float]:
        return {labels: float(count) for labels, count in self._objects().items()}

    def _storage_objects(self) -> Mapping[Labels, float]:
        return {
            (f"{resource}.{group}" if group else resource,): count
            for (group, resource), count in self._objects().items()
        }


def request_labels(
    request: HttpRequest, info: RequestInfo, resource: Resource | None
) -> tuple[str, Labels]:
    """The verb, and values for RESOURCE_LABELS. What nobody serves has none: clients could invent
    an endless number of names."""
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
    return next((one for one in PATHS if path == one or path.startswith(f"{one}/")), "")
