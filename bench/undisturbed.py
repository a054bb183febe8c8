"""What a machine did besides: how long processes waited for a processor that others had, how much
a hypervisor took away; and how processes of a measurement come first. Of Linux only."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_STOLEN: Final = 8
"""The column of `/proc/stat`."""
_PRIORITY: Final = 10
_REMARK: Final = """\

The servers and the client had real-time priority (`--real-time`), since the machine did other
things, too.
"""


def add_real_time(parser: argparse.ArgumentParser) -> None:
    """Declare the option for `come_first`."""
    parser.add_argument(
        "--real-time",
        action="store_true",
        help="servers and client come before all else on this machine (needs root)",
    )


def come_first() -> None:
    """Real-time priority for this process and those that it will start: whatever else the machine
    does has to wait. Raises PermissionError."""
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(_PRIORITY))


def remark() -> str:
    """What a page has to say of a measurement that came first; empty if it did not."""
    return _REMARK if os.sched_getscheduler(0) == os.SCHED_RR else ""


@dataclass(frozen=True, slots=True)
class Disturbance:
    """In seconds. `waited` is how long threads could have run and did not, since others had the
    processor; `stolen` is what a hypervisor gave to other machines, of all processors."""

    waited: float
    stolen: float

    @classmethod
    def until_now(cls, pids: Iterable[int]) -> Self:
        """Since the processes, and the machine, were started."""
        waited = sum(_waited(thread) for pid in pids for thread in _threads(pid))
        total = Path("/proc/stat").read_text().partition("\n")[0].split()
        return cls(waited / 1e9, int(total[_STOLEN]) / _TICKS)

    def since(self, before: Disturbance) -> Disturbance:
        """What has come since then."""
        return Disturbance(self.waited - before.waited, self.stolen - before.stolen)


def _threads(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/task").iterdir())


def _waited(thread: Path) -> int:
    """In nanoseconds."""
    return int((thread / "schedstat").read_text().split()[1])
