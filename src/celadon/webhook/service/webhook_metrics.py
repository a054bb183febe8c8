"""The metrics of a webhook for Prometheus: its reviews, and what its policies decided.

docs/webhook.md has the table of names. What policies decided is counted for each of them; how long
each took is measured for one review in `TIMED_EVERY`, since reading the clock between policies
would cost more than many of them do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from celadon.admission import Action
from celadon.admission.policies.mutating import MutationNotes
from celadon.apiserver.operation import (
    Counter,
    Description,
    Family,
    Gauge,
    Histogram,
    Labels,
    ReadCounter,
    Series,
    process_families,
)
from celadon.webhook.review_decisions import Finding, PolicySource

# --- Review metrics ----------------------------------------------------------
#
# What any webhook tells Prometheus about its reviews, whoever decides about them.

_REVIEW_BOUNDS: Final = (
    *(1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
REVIEW_SECONDS: Final = Description(
    "celadon_webhook_review_duration_seconds",
    "From a review's arrival to its answer, time in the queue included.",
    ("path", "operation", "allowed"),
)
HTTP_REQUESTS: Final = Description(
    "celadon_webhook_http_requests_total", "Requests by path and HTTP code.", ("path", "code")
)
REFUSED: Final = Description(
    "celadon_webhook_unanswered_reviews_total",
    "Requests that were answered with an HTTP error in place of a review, so that the failure "
    "policy of the webhook's configuration decides: busy, deadline, malformed, broken.",
    ("path", "reason"),
)


class ReviewMetrics:
    """Counts reviews. `in_flight` and `expires` (of the certificate, if there is one) are asked
    when somebody reads."""

    def __init__(self, in_flight: Callable[[], int], expires: Callable[[], float] | None) -> None:
        self.seconds = Histogram(REVIEW_SECONDS, _REVIEW_BOUNDS)
        self.http_requests = Counter(HTTP_REQUESTS)
        self.refused = Counter(REFUSED)
        self._in_flight = in_flight
        self._expires = expires
        self._alike: dict[tuple[str, str, bool], Series] = {}

    def reviewed(self, path: str, operation: str, *, allowed: bool, seconds: float) -> None:
        """Note that a review was answered."""
        key = (path, operation, allowed)
        series = self._alike.get(key)
        if series is None:
            labels = (path, operation, str(allowed).lower())
            series = self._alike[key] = self.seconds.series(labels)
        series.observe(seconds)
        self.http_requests.add((path, "200"))

    def not_answered(self, path: str, reason: str, code: int) -> None:
        """Note that an HTTP error took the place of a review."""
        self.refused.add((path, reason))
        self.http_requests.add((path, str(code)))

    def families(self) -> Iterable[Family]:
        """Return what every webhook shows."""
        return (
            Gauge(
                Description(
                    "celadon_webhook_certificate_expiry_timestamp_seconds",
                    "When the certificate in use ends, in Unix time.",
                ),
                self._certificate,
            ),
            self.http_requests,
            Gauge(
                Description("celadon_webhook_in_flight_reviews", "Reviews without an answer yet."),
                lambda: {(): self._in_flight()},
            ),
            self.seconds,
            self.refused,
            *process_families(),
        )

    def _certificate(self) -> Mapping[Labels, float]:
        return {} if self._expires is None else {(): self._expires()}


TIMED_EVERY: Final = 64
_POLICY_BOUNDS: Final = (1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 0.001, 0.005, 0.01, 0.1, 1.0)

DECISIONS: Final = Description(
    "celadon_webhook_policy_decisions_total",
    "What policies had against requests: deny, warn, audit.",
    ("policy", "binding", "action"),
)
ERRORS: Final = Description(
    "celadon_webhook_policy_errors_total",
    "Reviews in which something of the policy could not be evaluated, whatever its failure policy "
    "made of that.",
    ("policy",),
)
MUTATIONS: Final = Description(
    "celadon_webhook_policy_mutations_total",
    "Mutations of policies, those of the second round included: applied, failed, ignored (failed, "
    "and the failure policy ignores that).",
    ("policy", "binding", "result"),
)
POLICY_SECONDS: Final = Description(
    "celadon_webhook_policy_duration_seconds",
    f"How long policies took, measured in one of {TIMED_EVERY} reviews.",
    ("policy",),
)
WOULD_DENY: Final = Description(
    "celadon_webhook_audit_only_denials_total",
    "Denials that --audit-only has turned into warnings.",
)


class WebhookMetrics:
    """Counts what a webhook does. `in_flight` and `expires` are as for ReviewMetrics, which count
    in `reviews`."""

    def __init__(
        self,
        source: PolicySource,
        in_flight: Callable[[], int],
        expires: Callable[[], float] | None,
    ) -> None:
        self.reviews = ReviewMetrics(in_flight, expires)
        self.decisions = Counter(DECISIONS)
        self.errors = Counter(ERRORS)
        self.mutations = Counter(MUTATIONS)
        self.policy_seconds = Histogram(POLICY_SECONDS, _POLICY_BOUNDS)
        self.would_deny = Counter(WOULD_DENY)
        self._source = source
        self._until_timed = 0

    def is_timed(self) -> bool:
        """Return whether the policies of this review are to be timed."""
        self._until_timed -= 1
        if self._until_timed > 0:
            return False
        self._until_timed = TIMED_EVERY
        return True

    def found(self, findings: Iterable[Finding]) -> None:
        """Count what policies had against a request."""
        for finding in findings:
            if finding.failed:
                self.errors.add((finding.policy,))
            for decision in finding.decisions:
                if decision.action is Action.ADMIT:
                    continue
                actions: Sequence[str] = decision.actions
                if decision.denies and "Deny" not in actions:
                    actions = ("Deny",)
                for action in actions:
                    self.decisions.add((decision.policy, decision.binding, action.lower()))

    def mutated(self, notes: MutationNotes) -> None:
        """Count what mutating policies did to an object."""
        for change in notes.changes:
            self.mutations.add((change.policy, change.binding, "applied"))
        for failure in notes.failures:
            result = "ignored" if failure.ignored else "failed"
            self.mutations.add((failure.policy, failure.binding, result))
        for policy in dict.fromkeys(failure.policy for failure in notes.failures):
            self.errors.add((policy,))

    def timed(self, times: Iterable[tuple[str, float]]) -> None:
        """Observe how long policies took."""
        for policy, seconds in times:
            self.policy_seconds.observe(seconds, (policy,))

    def families(self) -> Iterable[Family]:
        """Yield the metrics of policies, then those of reviews."""
        return (
            self.would_deny,
            Gauge(
                Description(
                    "celadon_webhook_cache_age_seconds",
                    "Since a cache of the cluster was known to be current.",
                    ("cache",),
                ),
                lambda: {(name,): age for name, age in self._source.state().cache_ages.items()},
            ),
            *self._policy_gauges(),
            self.decisions,
            self.mutations,
            self.policy_seconds,
            self.errors,
            *self.reviews.families(),
        )

    def _policies(self) -> Mapping[Labels, float]:
        rules = self._source.rulebook()
        if rules is None:
            return {("policy",): 0, ("binding",): 0}
        return {("policy",): rules.policies, ("binding",): rules.bindings}

    def _policy_gauges(self) -> Iterable[Family]:
        source = self._source
        return (
            Gauge(
                Description(
                    "celadon_webhook_policies", "Policies and bindings in force.", ("kind",)
                ),
                self._policies,
            ),
            Gauge(
                Description(
                    "celadon_webhook_policies_loaded_timestamp_seconds",
                    "When the policies in force were loaded, in Unix time.",
                ),
                lambda: {(): source.state().loaded_at},
            ),
            Gauge(
                Description(
                    "celadon_webhook_policies_outdated",
                    "1 while a newer version of the policies cannot be used.",
                ),
                lambda: {(): int(bool(source.state().problems))},
            ),
            ReadCounter(
                Description(
                    "celadon_webhook_policy_loads_total",
                    "How often policies were loaded: success, failure.",
                    ("result",),
                ),
                lambda: {
                    ("success",): source.state().loads,
                    ("failure",): source.state().failed_loads,
                },
            ),
        )
