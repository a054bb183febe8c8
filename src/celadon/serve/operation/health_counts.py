"""What came of the health checks, for `/metrics/slis`.

As k8s.io/component-base `metrics/prometheus/slis`: each check that is made for one of the paths of
health as a whole is counted, and its last outcome is kept.
"""

from __future__ import annotations

from typing import Final

from celadon.serve.http_messages import HttpAnswer
from celadon.serve.operation.metric_families import (
    CONTENT_TYPE,
    Counter,
    Description,
    Gauge,
    Labels,
    exposition,
)
from celadon.serve.operation.process_figures import START_TIME

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
    """Those of one server."""

    def __init__(self) -> None:
        self._total = Counter(TOTAL)
        self._last: dict[Labels, float] = {}

    def observe(self, name: str, root: str, *, is_well: bool) -> None:
        """A check was made for the path of health `root`."""
        self._last[name, root] = float(is_well)
        self._total.add((name, root, "success" if is_well else "error"))

    def answer(self) -> HttpAnswer:
        """Of `/metrics/slis`."""
        families = (Gauge(LAST, lambda: self._last), self._total, START_TIME)
        return HttpAnswer(200, CONTENT_TYPE, exposition(families).encode())
