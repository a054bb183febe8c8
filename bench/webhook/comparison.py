"""Celadon, FastAPI and kopf in turns, each under the same load; what came out as tables."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from bench.page_parts import WEBHOOK_PART
from bench.results import machine
from bench.webhook import reviews, webhook_processes
from bench.webhook.review_loads import Flood, Steady, flood, steady
from bench.webhook.webhook_processes import Served

COUNT: Final = 3000
WARM_UP: Final = 500
CONNECTIONS: Final = 16
STEADY_SECONDS: Final = 5.0
CELADON: Final = "celadon webhook, 20 policies"
FASTAPI: Final = "FastAPI on uvicorn, one check by hand"
KOPF: Final = "kopf, one check by hand"
_ALLOWED: Final = b'"allowed"'


@dataclass(frozen=True, slots=True)
class Compared:
    """By name: floods in rounds. `half` is Celadon at half of what it can."""

    floods: Mapping[str, Sequence[Flood]]
    half: Steady
    review_bytes: int

    def per_second(self, name: str) -> float:
        return max(one.per_second for one in self.floods[name])

    def micros(self, name: str) -> float:
        return min(one.server_micros for one in self.floods[name])

    def ratio(self, name: str) -> float:
        """How many times as many reviews Celadon decides in the same time of the processor."""
        pairs = zip(self.floods[CELADON], self.floods[name], strict=True)
        return median(other.server_micros / own.server_micros for own, other in pairs)


def compare(folder: Path, rounds: int, say: Callable[[str], None]) -> Compared:
    """In rounds, after one that warms up."""
    tls = webhook_processes.new_certificate(folder)
    with contextlib.ExitStack() as stack:
        served: dict[str, Served] = {}
        for name, begin in (
            (CELADON, lambda: webhook_processes.celadon(folder, tls)),
            (FASTAPI, lambda: webhook_processes.fastapi(tls)),
            (KOPF, lambda: webhook_processes.kopf(folder, tls)),
        ):
            say(f"{name} ...")
            served[name] = stack.enter_context(begin())
            answer = flood(served[name], reviews.call(served[name].path), WARM_UP, CONNECTIONS)
            if b"true" not in answer.last.partition(_ALLOWED)[2][:8]:
                raise ValueError(f"{name}: {answer.last!r}")
        floods: dict[str, list[Flood]] = {name: [] for name in served}
        for number in range(rounds):
            say(f"round {number + 1} ...")
            for name, one in served.items():
                floods[name].append(flood(one, reviews.call(one.path), COUNT, CONNECTIONS))
        say("half of the load ...")
        own = served[CELADON]
        rate = max(one.per_second for one in floods[CELADON]) / 2
        half = steady(own, reviews.call(own.path), rate, STEADY_SECONDS, CONNECTIONS)
    return Compared(floods, half, len(reviews.body()))


def table(compared: Compared) -> Iterator[str]:
    """Rates, the processor's time, ratios, latencies."""
    yield "| webhook | a second | µs of processor | a second of one core | celadon is faster by |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name in compared.floods:
        micros = compared.micros(name)
        ratio = "" if name == CELADON else f"{compared.ratio(name):.1f}×"
        yield (
            f"| {name} | {compared.per_second(name):,.0f} | {micros:,.0f} | {1e6 / micros:,.0f}"
            f" | {ratio} |"
        )
    half = compared.half
    yield ""
    shown = ", ".join(f"{label} {half.quantile(part) * 1e3:.2f} ms" for label, part in _QUANTILES)
    yield f"At {half.wanted:,.0f} a second, half of the most: {shown}."


_QUANTILES: Final = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999))

_METHOD: Final = """\
`make bench-webhook` measures this part of the page and writes it. All three answer the same review
of {size:,} bytes over TLS, from {connections} connections that are kept alive, in turns. Celadon
decides by twenty policies of one expression each; the others look whether the images come from one
registry. Each is one process. The client shares the machine's two cores with them, so the rate is
lower than what one core can do: *a second of one core* is what the server's own use of the
processor comes to. Ratios are those of the processor's time, taken within each round; the median
counts.
"""


def markdown(compared: Compared) -> str:
    """The part of the page."""
    method = _METHOD.format(size=compared.review_bytes, connections=CONNECTIONS)
    load = f"{os.getloadavg()[0]:.0f}"
    measured = f"Measured with {machine()}, two cores, and a load average of {load}.\n"
    lines = [f"{WEBHOOK_PART}\n", measured, *table(compared), "", method]
    return "\n".join(lines)
