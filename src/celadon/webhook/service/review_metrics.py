"""What any webhook tells Prometheus about its reviews, whoever decides about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from celadon.serve.operation import (
    Counter,
    Description,
    Family,
    Gauge,
    Histogram,
    Labels,
    Series,
    process_families,
)

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
    """`in_flight` and `expires` (of the certificate, if there is one) are asked when somebody
    reads."""

    def __init__(self, in_flight: Callable[[], int], expires: Callable[[], float] | None) -> None:
        self.seconds = Histogram(REVIEW_SECONDS, _REVIEW_BOUNDS)
        self.http_requests = Counter(HTTP_REQUESTS)
        self.refused = Counter(REFUSED)
        self._in_flight = in_flight
        self._expires = expires
        self._alike: dict[tuple[str, str, bool], Series] = {}

    def reviewed(self, path: str, operation: str, *, allowed: bool, seconds: float) -> None:
        """A review was answered."""
        key = (path, operation, allowed)
        series = self._alike.get(key)
        if series is None:
            labels = (path, operation, str(allowed).lower())
            series = self._alike[key] = self.seconds.series(labels)
        series.observe(seconds)
        self.http_requests.add((path, "200"))

    def not_answered(self, path: str, reason: str, code: int) -> None:
        """An HTTP error took the place of a review."""
        self.refused.add((path, reason))
        self.http_requests.add((path, str(code)))

    def families(self) -> Iterable[Family]:
        """What every webhook shows."""
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
