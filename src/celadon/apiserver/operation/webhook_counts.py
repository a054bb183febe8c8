"""Counts calls of webhooks: how often they happened, how long they took, and how they ended.

As k8s.io/apiserver `pkg/admission/metrics`, whose words for the type of a webhook are not all the
same: mutating ones `admit`, validating ones are `validating` where calls are counted and `validate`
where conditions are.
"""

from __future__ import annotations

import base64
import hashlib
import socket
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from celadon.admission.webhooks import CallRecord, Excluded, WebhookNotes
from celadon.apiserver.operation import metric_table as table
from celadon.apiserver.operation.metric_table import Counter, Family, Gauge, Histogram, Labels
from celadon.records import dataclass, field

MOST_CODE: Final = 600
"""Codes above are counted as this one."""
CALL_TYPES: Final = {True: "admit", False: "validating"}
CONDITION_TYPES: Final = {True: "admit", False: "validate"}
"""By whether webhooks are mutating."""


class ConversionCounts:
    """Counts the calls of the conversion webhooks of one server, as k8s.io/apiextensions-apiserver
    `pkg/apiserver/conversion/metrics.go`."""

    def __init__(self) -> None:
        self._seconds = Histogram(table.CONVERSION_SECONDS, table.CONVERSION_BOUNDS)
        self._requests = Counter(table.CONVERSION_REQUESTS)
        self._of_definitions = Histogram(
            table.DEFINITION_CONVERSION_SECONDS, table.DEFINITION_CONVERSION_BOUNDS
        )

    def families(self) -> Sequence[Family]:
        """Return the families in the order of their names."""
        return self._seconds, self._requests, self._of_definitions

    def converted(self, versions: tuple[str, str, str], seconds: float, stage: str) -> None:
        """Note that a webhook was asked: that of a definition, `versions` says also from which
        version to which. `stage` is where it failed, empty if it did not."""
        result = "failure" if stage else "success", stage
        self._requests.add(result)
        self._seconds.observe(seconds, result)
        self._of_definitions.observe(seconds, (*versions, "false" if stage else "true"))


class WebhookCounts:
    """Counts the calls of the admission webhooks of one server."""

    def __init__(self) -> None:
        self.seconds = Histogram(table.WEBHOOK_SECONDS, table.WEBHOOK_BOUNDS)
        self.rejections = Counter(table.WEBHOOK_REJECTIONS)
        self.fail_opens = Counter(table.WEBHOOK_FAIL_OPENS)
        self.requests = Counter(table.WEBHOOK_REQUESTS)
        self.exclusions = Counter(table.CONDITION_EXCLUSIONS)

    def families(self) -> Sequence[Family]:
        """Return the families in the order of their names."""
        return self.exclusions, self.seconds, self.fail_opens, self.rejections, self.requests

    def mutating_round(self, notes: WebhookNotes, operation: str) -> CountedCalls:
        """Count the calls of a round, one of perhaps two: what the notes have already has been
        counted."""
        before = len(notes.calls), len(notes.excluded)
        return CountedCalls(self, notes, operation, *before, mutating=True)

    def validating_round(self, notes: WebhookNotes, operation: str) -> CountedCalls:
        """Begin the only round, with what was found out before it."""
        return CountedCalls(self, notes, operation, mutating=False)

    def called(
        self,
        record: CallRecord,
        operation: str,
        seconds: float | None,
        mutating: bool,  # noqa: FBT001  a key of tables
    ) -> None:
        """Note a webhook that was asked, or would have been; `seconds` None if no call was made."""
        name, type_ = record.hook.name, CALL_TYPES[mutating]
        rejected = str(record.rejected).lower()
        code = str(min(record.code, MOST_CODE))
        self.requests.add((name, type_, operation, code, rejected))
        if seconds is not None:
            self.seconds.observe(seconds, (name, type_, operation, rejected))
        if record.failed_open:
            self.fail_opens.add((name, type_))
        if record.rejected:
            self.rejections.add((name, type_, operation, record.error_type, code))

    def excluded(
        self,
        excluded: Excluded,
        operation: str,
        mutating: bool,  # noqa: FBT001  a key of tables
    ) -> None:
        """Note a webhook whose match conditions did not hold."""
        labels = (excluded.hook.name, "webhook", CONDITION_TYPES[mutating], operation)
        self.exclusions.add(labels)


@dataclass(frozen=True, slots=True)
class CountedCalls:
    """A round of calls; of the notes what is new since it began."""

    counts: WebhookCounts
    notes: WebhookNotes
    operation: str
    first_call: int = 0
    first_excluded: int = 0
    mutating: bool = False
    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def took(self, hook: str, seconds: float) -> None:
        """Note that a call of the hook with this uid took so many seconds."""
        self.seconds[hook].append(seconds)

    def end(self) -> None:
        """Count, whatever came of it."""
        for record in self.notes.calls[self.first_call :]:
            durations = self.seconds.get(record.hook.uid)
            seconds = durations.pop(0) if durations else None
            self.counts.called(record, self.operation, seconds, self.mutating)
        for excluded in self.notes.excluded[self.first_excluded :]:
            self.counts.excluded(excluded, self.operation, self.mutating)


# --- Static reloads ----------------------------------------------------------
#
# What is counted about files of the server that are read again, for `/metrics`.
#
# As k8s.io/apiserver `pkg/admission/plugin/manifest/metrics`: by plugin, and by a hash of the
# name that a server has among others.

SUCCESS: Final = "success"
FAILURE: Final = "failure"
_ID_BYTES: Final = 16
_LENGTH_BYTES: Final = 2


def server_id(host: str) -> str:
    """Return the name of a server on this host, as k8s.io/apiserver `pkg/server/config.go` makes
    it."""
    parts = (host.encode(), b"kube-apiserver")
    data = b"".join(len(part).to_bytes(_LENGTH_BYTES, "big") + part for part in parts)
    digest = hashlib.sha256(data).digest()[:_ID_BYTES]
    return f"apiserver-{base64.b32encode(digest).decode().rstrip('=').lower()}"


class StaticReloads:
    """Counts how often static files of one server were loaded again; `clock` is Unix time."""

    def __init__(self, clock: Callable[[], float], host: str | None = None) -> None:
        name = server_id(socket.gethostname() if host is None else host)
        self._server = f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"
        self._clock = clock
        self._reloads = Counter(table.STATIC_RELOADS)
        self._times: dict[Labels, float] = {}
        self._hashes: dict[str, str] = {}

    def families(self) -> Sequence[Family]:
        """Return the families in the order of their names."""
        times = Gauge(table.STATIC_RELOAD_TIMES, lambda: self._times)
        return times, self._reloads, Gauge(table.STATIC_CONFIGURATIONS, self._configurations)

    def loaded(self, plugin: str, hash: str) -> None:
        """Note that a version with this hash is in force."""
        self._ended(SUCCESS, plugin)
        self._hashes[plugin] = hash

    def failed(self, plugin: str) -> None:
        """Note that a version cannot be used."""
        self._ended(FAILURE, plugin)

    def _ended(self, status: str, plugin: str) -> None:
        labels = (status, plugin, self._server)
        self._reloads.add(labels)
        self._times[labels] = self._clock()

    def _configurations(self) -> dict[Labels, float]:
        return {(plugin, self._server, hash): 1.0 for plugin, hash in self._hashes.items()}
