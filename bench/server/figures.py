"""The goals, and what was measured, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median

from bench.results import Bar
from bench.server import measuring
from bench.server.measuring import Measured

MIB = 1 << 20


def bars(measured: Measured) -> Iterable[Bar]:
    """Everything Celadon promises about its server's speed."""
    rates = measured.rates
    for what, name, goal in (
        ("dry-run create of a Deployment under 20 policies", measuring.SMALL, 1700),
        ("durable create of a ConfigMap, 16 connections", measuring.CREATE, 1500),
        ("get of a ConfigMap", measuring.GET, 5000),
    ):
        yield Bar(what, rates[name].per_second, goal, "a second", at_least=True)
    yield Bar("1,000 watchers have an event", measured.fan_out * 1e3, 100, "ms")
    yield Bar("list of 10,000 ConfigMaps", 1 / rates[measuring.LIST].per_second, 0.3, "s")
    yield Bar("cold start to ready", measured.started.wall, 0.3, "s")
    yield Bar("the same with a file of 10,000 objects", measured.started_full.wall, 1, "s")
    yield Bar("`kube-apiserver` of `celadon envtest` to ready", measured.stand_in.wall, 1, "s")
    yield Bar("its memory, empty", measured.stand_in.memory / MIB, 95, "MiB")
    yield Bar("fixture to ready, of the processor", measured.fixture * 1e3, 50, "ms")
    yield Bar("10,000 policies and bindings", measured.policies_memory / MIB, 1024, "MiB")


def rate_table(measured: Measured) -> Iterator[str]:
    """Load by load, beside the bare handler."""
    yield "| load | a second | bare handler | of that | spread | µs of processor | bare handler |"
    yield "| --- | ---: | ---: | ---: | --- | ---: | ---: |"
    for name, rate in measured.rates.items():
        ratios = rate.ratios
        yield (
            f"| {name} | {rate.per_second:,.0f} | {rate.bare_per_second:,.0f}"
            f" | {median(ratios):.0%} | {min(ratios):.0%} to {max(ratios):.0%}"
            f" | {rate.micros:,.0f} | {rate.bare_micros:,.0f} |"
        )
