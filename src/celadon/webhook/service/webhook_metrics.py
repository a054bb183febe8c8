"""What a webhook tells Prometheus about its policies, besides its reviews.

docs/webhook.md has the table of names. What policies decided is counted for each of them; how long
each took is measured for one review in `TIMED_EVERY`, since reading the clock between policies
would cost more than many of them do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from celadon.admission import Action
from celadon.admission.mutating import MutationNotes
from celadon.serve.operation import (
    Counter,
    Description,
    Family,
    Gauge,
    Histogram,
    Labels,
    ReadCounter,
)
from celadon.webhook.deciding.decider import Finding
from celadon.webhook.deciding.rulebook import PolicySource
from celadon.webhook.service.review_metrics import ReviewMetrics

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
    """`in_flight` and `expires` are as for ReviewMetrics, which count in `reviews`."""

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
        """Whether the policies of this review are to be timed."""
        self._until_timed -= 1
        if self._until_timed > 0:
            return False
        self._until_timed = TIMED_EVERY
        return True

    def found(self, findings: Iterable[Finding]) -> None:
        """What policies had against a request."""
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
        """What mutating policies did to an object."""
        for change in notes.changes:
            self.mutations.add((change.policy, change.binding, "applied"))
        for failure in notes.failures:
            result = "ignored" if failure.ignored else "failed"
            self.mutations.add((failure.policy, failure.binding, result))
        for policy in dict.fromkeys(failure.policy for failure in notes.failures):
            self.errors.add((policy,))

    def timed(self, times: Iterable[tuple[str, float]]) -> None:
        """How long policies took."""
        for policy, seconds in times:
            self.policy_seconds.observe(seconds, (policy,))

    def families(self) -> Iterable[Family]:
        """Of policies, then of reviews."""
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
