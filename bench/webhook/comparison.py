"""Celadon, FastAPI and kopf in turns, each under the same load; what came out as tables.

How long an answer takes depends on whatever else a machine does more than on the server. So at half
of the load Celadon takes turns with a bare handler on the same HTTP server, for which the same
client asks at the same rate: what that one takes is none of Celadon's.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from bench.page import MISSED, record
from bench.results import machine
from bench.server.loads import body_of
from bench.undisturbed import remark
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
BARE: Final = "a bare handler, the same answer"
FLOORS: Final = {FASTAPI: 1.5, KOPF: 5.0}
"""How many times as many reviews Celadon is to decide in the same time of the processor."""
_ALLOWED: Final = b'"allowed"'


@dataclass(frozen=True, slots=True)
class Compared:
    """By name: floods in rounds, and rounds at half of what Celadon can."""

    floods: Mapping[str, Sequence[Flood]]
    half: Mapping[str, Sequence[Steady]]
    review_bytes: int

    def per_second(self, name: str) -> float:
        return max(one.per_second for one in self.floods[name])

    def micros(self, name: str) -> float:
        return min(one.server_micros for one in self.floods[name])

    def ratios(self, name: str) -> list[float]:
        """How many times as many reviews Celadon decides in the same time of the processor, by
        round."""
        pairs = zip(self.floods[CELADON], self.floods[name], strict=True)
        return [other.server_micros / own.server_micros for own, other in pairs]


def compare(folder: Path, rounds: int, say: Callable[[str], None]) -> Compared:
    """In rounds, after one that warms up."""
    tls = webhook_processes.new_certificate(folder)
    with contextlib.ExitStack() as stack:
        served: dict[str, Served] = {}
        answers: dict[str, bytes] = {}
        for name, begun in (
            (CELADON, webhook_processes.celadon(folder, tls)),
            (FASTAPI, webhook_processes.fastapi(tls)),
            (KOPF, webhook_processes.kopf(folder, tls)),
        ):
            say(f"{name} ...")
            served[name] = stack.enter_context(begun)
            answer = flood(served[name], reviews.call(served[name].path), WARM_UP, CONNECTIONS)
            if b"true" not in answer.last.partition(_ALLOWED)[2][:8]:
                raise ValueError(f"{name}: {answer.last!r}")
            answers[name] = answer.last
        bare = webhook_processes.bare(folder, tls, body_of(answers[CELADON]))
        quiet = {CELADON: served[CELADON], BARE: stack.enter_context(bare)}
        floods: dict[str, list[Flood]] = {name: [] for name in served}
        for number in range(rounds):
            say(f"round {number + 1} ...")
            for name, one in served.items():
                floods[name].append(flood(one, reviews.call(one.path), COUNT, CONNECTIONS))
        say("half of the load ...")
        rate = max(one.per_second for one in floods[CELADON]) / 2
        half = _half(quiet, rate, rounds)
    return Compared(floods, half, len(reviews.body()))


def _half(served: Mapping[str, Served], rate: float, rounds: int) -> dict[str, list[Steady]]:
    half: dict[str, list[Steady]] = {name: [] for name in served}
    for _ in range(rounds):
        for name, one in served.items():
            call = reviews.call(one.path)
            half[name].append(steady(one, call, rate, STEADY_SECONDS, CONNECTIONS))
    return half


def table(compared: Compared) -> Iterator[str]:
    """Rates, the processor's time, ratios, latencies."""
    head = "webhook | a second | µs of processor | a second of one core | celadon is faster by"
    yield f"| {head} | spread | floor | |"
    yield "| --- | ---: | ---: | ---: | ---: | --- | ---: | --- |"
    for name in compared.floods:
        micros = compared.micros(name)
        rates = f"{compared.per_second(name):,.0f} | {micros:,.0f} | {1e6 / micros:,.0f}"
        yield f"| {name} | {rates} | {_held(compared, name)} |"
    yield ""
    labels = " | ".join(label for label, _ in _QUANTILES)
    yield f"| ms at half of the load | {labels} | waited for a processor | stolen |"
    yield f"| --- |{' ---: |' * (len(_QUANTILES) + 2)}"
    for name, found in compared.half.items():
        shown = " | ".join(f"{_middle(found, part) * 1e3:.2f}" for _, part in _QUANTILES)
        waited, stolen = (sum(each) for each in zip(*map(_kept, found), strict=True))
        yield f"| {name} | {shown} | {waited:.2f} s | {stolen:.2f} s |"


def _held(compared: Compared, name: str) -> str:
    """The cells of a ratio, its spread and its floor; empty for ours."""
    if name == CELADON:
        return " | | | "
    ratios = compared.ratios(name)
    ratio, spread = median(ratios), f"{min(ratios):.1f} to {max(ratios):.1f}"
    judged = "held" if ratio >= FLOORS[name] else MISSED
    return f"{ratio:.1f}× | {spread} | ≥ {FLOORS[name]:g}× | {judged}"


def _middle(rounds: Sequence[Steady], part: float) -> float:
    return median(one.quantile(part) for one in rounds)


def _kept(one: Steady) -> tuple[float, float]:
    return one.kept.waited, one.kept.stolen


_QUANTILES: Final = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999))


def write(compared: Compared) -> None:
    """Record what was measured."""
    rates, half = "\n".join(table(compared)).split("\n\n")
    found = compared.half[CELADON]
    values = {
        "webhook-machine": machine(),
        "webhook-load": f"{os.getloadavg()[0]:.0f}",
        "webhook-bytes": f"{compared.review_bytes:,}",
        "webhook-connections": str(CONNECTIONS),
        "webhook-rate": f"{found[0].wanted:,.0f}",
        "webhook-seconds": f"{STEADY_SECONDS:.0f}",
        "webhook-rounds": str(len(found)),
        "webhook-remark": remark(),
    }
    record({"webhook": rates.splitlines(), "webhook-half": half.splitlines()}, values)
