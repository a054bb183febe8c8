"""The part of docs/performance.md that is about the server; `bench.report` keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.page_parts import SERVER_PART, with_part
from bench.report import bar_rows
from bench.results import machine
from bench.server import figures
from bench.server.measuring import Measured
from bench.undisturbed import remark

_METHOD: Final = """\
`make bench-server` measures this part of the page and writes it.

- **Side by side**: Celadon and a bare handler on the same HTTP server answer the same load in
  turns, over loopback without TLS, from {connections} connections. The client shares the two
  cores. A rate is the best of {rounds} rounds; processor time is the least.
- **Dry runs** create a Deployment of one container (*large*: of four, with all usual fields) under
  twenty policies. **Durable creates** are acknowledged when SQLite has flushed them to disk.
- **Watchers**: the time from a create to the last of them having its event.
- **The machine** took {slowness:.2f} times as long for the functions by hand as the one for which
  the goals are set; "the same here" is the goal scaled by it.
- **Cold starts** are by the clock, from starting Python to `/readyz`. `kube-apiserver` of
  `celadon envtest` speaks TLS with a certificate that it makes first; its memory is what it has
  when it is ready.
"""


def write(measured: Measured, page: Path) -> None:
    """The new part in place of the old one, or at the end."""
    text = with_part(page.read_text(encoding="utf-8"), SERVER_PART, "\n".join(markdown(measured)))
    page.write_text(text, encoding="utf-8")


def markdown(measured: Measured) -> Iterator[str]:
    """The part of the page."""
    yield f"{SERVER_PART}\n"
    yield f"Measured with {machine()}.\n"
    yield from bar_rows(figures.bars(measured), measured.slowness)
    yield ""
    yield _METHOD.format(
        connections=measured.connections,
        rounds=measured.rounds,
        slowness=measured.slowness,
    )
    if said := remark():
        yield said
    yield from figures.rate_table(measured)
