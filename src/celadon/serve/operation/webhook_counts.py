"""What is counted about webhooks that were called: how often, how long, and what came of it.

As k8s.io/apiserver `pkg/admission/metrics`, whose words for the type of a webhook are not all the
same: mutating ones `admit`, validating ones are `validating` where calls are counted and `validate`
where conditions are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import field
from typing import Final

from celadon.admission.webhooks import CallRecord, Excluded, WebhookNotes
from celadon.records import dataclass
from celadon.serve.operation import metric_table as table
from celadon.serve.operation.metric_families import Counter, Family, Histogram

MOST_CODE: Final = 600
"""Codes above are counted as this one."""
CALL_TYPES: Final = {True: "admit", False: "validating"}
CONDITION_TYPES: Final = {True: "admit", False: "validate"}
"""By whether webhooks are mutating."""


class WebhookCounts:
    """Of one server."""

    def __init__(self) -> None:
        self.seconds = Histogram(table.WEBHOOK_SECONDS, table.WEBHOOK_BOUNDS)
        self.rejections = Counter(table.WEBHOOK_REJECTIONS)
        self.fail_opens = Counter(table.WEBHOOK_FAIL_OPENS)
        self.requests = Counter(table.WEBHOOK_REQUESTS)
        self.exclusions = Counter(table.CONDITION_EXCLUSIONS)

    def families(self) -> Sequence[Family]:
        """In the order of their names."""
        return self.exclusions, self.seconds, self.fail_opens, self.rejections, self.requests

    def mutating_round(self, notes: WebhookNotes, operation: str) -> CountedCalls:
        """One of perhaps two: what the notes have already has been counted."""
        before = len(notes.calls), len(notes.excluded)
        return CountedCalls(self, notes, operation, *before, mutating=True)

    def validating_round(self, notes: WebhookNotes, operation: str) -> CountedCalls:
        """The only one, with what was found out before it began."""
        return CountedCalls(self, notes, operation, mutating=False)

    def called(
        self,
        record: CallRecord,
        operation: str,
        seconds: float | None,
        mutating: bool,  # noqa: FBT001  a key of tables
    ) -> None:
        """A webhook that was asked, or would have been; `seconds` None if no call was made."""
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
        """A webhook whose match conditions did not hold."""
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
        """A call of the hook with this uid."""
        self.seconds[hook].append(seconds)

    def end(self) -> None:
        """Count, whatever came of it."""
        for record in self.notes.calls[self.first_call :]:
            taken = self.seconds.get(record.hook.uid)
            seconds = taken.pop(0) if taken else None
            self.counts.called(record, self.operation, seconds, self.mutating)
        for one in self.notes.excluded[self.first_excluded :]:
            self.counts.excluded(one, self.operation, self.mutating)
