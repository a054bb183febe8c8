"""Operation of a server: limits that operators set, metrics that they read, features that they
switch.

Read first `request_limits` (how much at once, how long), then `server_metrics` (what `/metrics`
shows). This door shows how metrics are kept and log lines written, for other servers than the API
server.
"""

from celadon.apiserver.operation.log_lines import LIFE, REQUESTS, is_said, say, warn
from celadon.apiserver.operation.metric_table import (
    CONTENT_TYPE,
    Counter,
    Description,
    Family,
    Gauge,
    Histogram,
    Labels,
    ReadCounter,
    Series,
    add_counts,
    counted_since,
    counts_of,
    exposition,
)
from celadon.apiserver.operation.runtime_config import EffectiveVersion, effective_version
from celadon.apiserver.operation.server_metrics import process_families

__all__ = [
    "CONTENT_TYPE",
    "LIFE",
    "REQUESTS",
    "Counter",
    "Description",
    "EffectiveVersion",
    "Family",
    "Gauge",
    "Histogram",
    "Labels",
    "ReadCounter",
    "Series",
    "add_counts",
    "counted_since",
    "counts_of",
    "effective_version",
    "exposition",
    "is_said",
    "process_families",
    "say",
    "warn",
]
