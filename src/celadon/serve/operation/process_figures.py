"""What the operating system knows about the process, under the names that Prometheus clients use.

Linux tells it in `/proc`; elsewhere only the time that was used is known.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from celadon.serve.operation.metric_families import (
    Description,
    Family,
    Gauge,
    Labels,
    ReadCounter,
)

_BEGAN: Final = time.time()
_STATUS: Final = Path("/proc/self/statm")
_FILES: Final = Path("/proc/self/fd")

START_TIME: Final = Gauge(
    Description("process_start_time_seconds", "When the process began, in Unix time."),
    lambda: {(): _BEGAN},
)
"""By which a reader of counters notices that they began anew."""


def process_families() -> tuple[Family, ...]:
    """To be read when somebody asks."""
    return (
        ReadCounter(
            Description(
                "process_cpu_seconds_total", "Total user and system CPU time spent in seconds."
            ),
            lambda: {(): time.process_time()},
        ),
        Gauge(Description("process_max_fds", "Maximum number of open file descriptors."), _limit),
        Gauge(Description("process_open_fds", "Number of open file descriptors."), _open_files),
        Gauge(
            Description("process_resident_memory_bytes", "Resident memory size in bytes."),
            lambda: _memory(1),
        ),
        START_TIME,
        Gauge(
            Description("process_virtual_memory_bytes", "Virtual memory size in bytes."),
            lambda: _memory(0),
        ),
    )


def _limit() -> Mapping[Labels, float]:
    return {(): resource.getrlimit(resource.RLIMIT_NOFILE)[0]}


def _open_files() -> Mapping[Labels, float]:
    return {(): len(os.listdir(_FILES))} if _FILES.is_dir() else {}


def _memory(column: int) -> Mapping[Labels, float]:
    if not _STATUS.is_file():
        return {}
    pages = int(_STATUS.read_text(encoding="ascii").split()[column])
    return {(): pages * resource.getpagesize()}
