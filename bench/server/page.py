"""What docs/performance.md is told of the server."""

from __future__ import annotations

from pathlib import Path

from bench.page import FIGURES, record
from bench.report import bar_rows
from bench.results import machine
from bench.server import figures
from bench.server.measuring import Measured
from bench.undisturbed import remark


def write(measured: Measured, into: Path = FIGURES) -> None:
    """Record what was measured."""
    starts = (measured.started, measured.started_full, measured.stand_in)
    record(
        {
            "server": bar_rows(figures.bars(measured), measured.slowness),
            "server-rates": figures.rate_table(measured),
        },
        {
            "server-machine": machine(),
            "server-connections": str(measured.connections),
            "server-rounds": str(measured.rounds),
            "server-slowness": f"{measured.slowness:.2f}",
            "server-remark": remark(),
            "server-starts": ", ".join(f"{one.cpu:.2f} s" for one in starts),
        },
        into=into,
    )
