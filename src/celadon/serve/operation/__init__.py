"""What an operator sets and sees: limits, metrics, features.

Read first `request_limits` (how much at once, how long), then `server_metrics` (what `/metrics`
shows). This door shows how metrics are kept and log lines written, for other servers than the API
server.
"""

from celadon.serve.operation.log_lines import LIFE, REQUESTS, is_said, say, warn
from celadon.serve.operation.metric_families import (
    CONTENT_TYPE,
    Counter,
    Description,
    Family,
    Gauge,
    Histogram,
    Labels,
    ReadCounter,
    Series,
    exposition,
)
from celadon.serve.operation.process_figures import process_families

__all__ = [
    "CONTENT_TYPE",
    "LIFE",
    "REQUESTS",
    "Counter",
    "Description",
    "Family",
    "Gauge",
    "Histogram",
    "Labels",
    "ReadCounter",
    "Series",
    "exposition",
    "is_said",
    "process_families",
    "say",
    "warn",
]
