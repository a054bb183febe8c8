"""How long policies take, and what comes of them, for `/metrics`.

One clock reading for each policy: what passes between two of them is what the later policy cost,
finding out whether it matches included. Upstream records only refusals and errors; the times of
requests that pass, and errors whatever the failure policy does with them, are what
kubernetes/kubernetes#124064 asks for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Final

from celadon.admission import Action, Cause, Decision, Verdict
from celadon.apiserver.operation.server_metrics import ServerMetrics

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

    at: float = 0.0


class PolicyTimer:
    """An observer of engines, in each thread for one request after the other."""

    __slots__ = ("_allowed", "_clock", "_last", "_metrics")

    def __init__(self, metrics: ServerMetrics, clock: Callable[[], float] = perf_counter) -> None:
        self._metrics = metrics
        self._clock = clock
        self._last = _Mark()
        self._allowed: dict[str, Callable[[float], None]] = {}

    def begin(self) -> float:
        """Before a review; when it was."""
        self._last.at = now = self._clock()
        return now

    @property
    def hears_all(self) -> bool:
        """Each policy has its time."""
        return True

    def judged(self, policy: str, decisions: Sequence[Decision], *, failed: bool) -> None:
        """Called by the engine."""
        now = self._clock()
        seconds = now - self._last.at
        self._last.at = now
        if not decisions and not failed:
            try:
                observe = self._allowed[policy]
            except KeyError:
                series = self._metrics.policy_seconds.series((policy, ALLOWED))
                observe = self._allowed[policy] = series.observe
            observe(seconds)
            return
        errors = failed or any(one.cause is not Cause.VALIDATION for one in decisions)
        denied = any(one.action is Action.DENY for one in decisions)
        result = ERROR if errors else DENIED if denied else ALLOWED
        self._metrics.policy_seconds.observe(seconds, (policy, result))
        for decision in decisions:
            self._check(decision, seconds)

    def ended(self, began: float, operation: str, verdict: Verdict) -> None:
        """After a review."""
        seconds = self._clock() - began
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
        """Before something is measured; when it was."""
        self._last.at = now = self._clock()
        return now

    def mutated(self, policy: str, binding: str, failure: str) -> None:
        """Called by the engine."""
        now = self._clock()
        seconds, self._last.at = now - self._last.at, now
        labels = (policy, binding, _error_type(failure) if failure else NO_ERROR)
        self._metrics.mutation_checks.add(labels)
        self._metrics.mutation_check_seconds.observe(seconds, labels)

    def ended(self, began: float, operation: str, *, rejected: bool) -> None:
        """After a round."""
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
    found = (name for prefix, name in ERROR_TYPES if message.startswith(prefix))
    return next(found, "invalid_error")
