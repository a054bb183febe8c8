"""Numbers as Prometheus reads them."""

from __future__ import annotations

import json

import pytest

from celadon.apiserver.operation import metric_table
from celadon.apiserver.operation.metric_table import (
    Counter,
    Description,
    Gauge,
    Histogram,
    ReadCounter,
    add_counts,
    counted_since,
    counts_of,
    exposition,
    number,
)
from tests.paths import ROOT


def test_a_counter_with_labels_sorted_and_escaped() -> None:
    counter = Counter(Description("c_total", "Counts.", ("who", "what"), "BETA"))
    counter.add(("b", "x"), 2)
    counter.add(("a", 'quo"te\\\n'))
    counter.add(("b", "x"))
    assert exposition([counter]) == (
        "# HELP c_total [BETA] Counts.\n"
        "# TYPE c_total counter\n"
        'c_total{what="quo\\"te\\\\\\n",who="a"} 1\n'
        'c_total{what="x",who="b"} 3\n'
    )


def test_a_histogram_counts_what_is_at_most_its_bounds() -> None:
    histogram = Histogram(Description("h", "Times."), (0.1, 1))
    for value in (0.05, 0.1, 0.5, 7):
        histogram.observe(value)
    assert exposition([histogram]).splitlines()[2:] == [
        'h_bucket{le="0.1"} 2',
        'h_bucket{le="1"} 3',
        'h_bucket{le="+Inf"} 4',
        "h_sum 7.65",
        "h_count 4",
    ]


def test_what_is_read_is_read_each_time() -> None:
    values = iter([1.0, 2.0])
    gauge = Gauge(Description("g", "Now."), lambda: {(): next(values)})
    assert exposition([gauge]).endswith("# TYPE g gauge\ng 1\n")
    assert exposition([gauge]).endswith("g 2\n")
    read = ReadCounter(Description("r", "Ever."), lambda: {(): 0.5})
    assert exposition([read]).endswith("# TYPE r counter\nr 0.5\n")


def test_what_never_happened_is_not_there() -> None:
    about = Description("n", "Nothing.", ("x",))
    assert exposition([Counter(about), Histogram(about, (1,)), Gauge(about, dict)]) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (5e-7, "5e-07"), (0.25, "0.25"), (1e9, "1000000000"), (float("inf"), "+Inf")],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text
    assert float(text.replace("+Inf", "inf")) == value


# As the Go files that register each histogram say; where one names none, Prometheus' own.
BOUNDS = {
    "REQUEST_BOUNDS": "0.005 0.025 0.05 0.1 0.2 0.4 0.6 0.8 1 1.25 1.5 2 3 4 5 6 8 10 15 \
20 30 45 60",
    "RESPONSE_BOUNDS": "1e3 1e4 1e5 1e6 1e7 1e8 1e9",
    "EVENT_BOUNDS": "1024 2048 4096 8192 16384 32768 65536 131072",
    "ADMISSION_BOUNDS": "0.005 0.025 0.1 0.5 1 2.5",
    "WEBHOOK_BOUNDS": "0.005 0.025 0.1 0.5 1 2.5 10 25",
    "CONVERSION_BOUNDS": "0.005 0.01 0.02 0.05 0.1 0.2 0.5 1 2 5 10 20 30 45 60",
    "DEFINITION_CONVERSION_BOUNDS": "0.001 0.002 0.004 0.008 0.016 0.032 0.064 0.128 0.256 0.512 \
1.024 2.048 4.096 8.192 16.384",
    "CHECK_BOUNDS": "5e-7 0.001 0.01 0.1 1",
    "POLICY_BOUNDS": "1e-6 1e-5 5e-5 1e-4 5e-4 0.001 0.005 0.01 0.05 0.1 0.5 1",
    "COMMON_BOUNDS": "0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10",
    "FLOW_BOUNDS": "0 0.005 0.02 0.05 0.1 0.2 0.5 1 2 5 10 15 30",
    "FLOW_WIDTH_BOUNDS": "1 2 4 8 16 32 64 100",
    "FLOW_WATCH_BOUNDS": "0 1 10 100 1000 10000",
    "FLOW_LENGTH_BOUNDS": "0 10 25 50 100 250 500 1000",
    "FLOW_DEMAND_BOUNDS": "0.2 0.4 0.6 0.8 1 1.2 1.4 1.7 2 2.8 4 6",
    "FLOW_SEAT_USE_BOUNDS": "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 0.95 0.99 1",
    "FLOW_REQUEST_USE_BOUNDS": "0 0.001 0.003 0.01 0.03 0.1 0.25 0.5 0.75 1",
}
"""Where the buckets of histograms end: dashboards name them. `POLICY_BOUNDS` are ours."""


def test_what_is_said_of_each_metric(request: pytest.FixtureRequest) -> None:
    """`tests/cases/apiserver_metrics.txt`, rewritten by `pytest --update-golden`."""
    found = "".join(
        f"{about.name}{{{','.join(about.labels)}}} {about.stability or '-'} {about.help}\n"
        for about in vars(metric_table).values()
        if isinstance(about, Description)
    )
    path = ROOT / "tests" / "cases" / "apiserver_metrics.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


def test_where_buckets_end() -> None:
    told = {key: value for key, value in vars(metric_table).items() if key.endswith("_BOUNDS")}
    assert told == {
        key: pytest.approx(tuple(map(float, text.split())), rel=1e-9)
        for key, text in BOUNDS.items()
    }


def test_what_another_process_counts_is_added() -> None:
    about = Description("c", "Things.", ("kind",))

    def families() -> tuple[Counter, Gauge, Histogram]:
        return Counter(about), Gauge(about, dict), Histogram(about, (1, 2))

    ours, theirs = families(), families()
    for counter, _, histogram in (ours, theirs):
        counter.add(("a",), 2)
        histogram.observe(1.5, ("a",))
    before = counts_of(theirs)
    theirs[0].add(("b",))
    theirs[2].observe(0.5, ("a",))
    theirs[2].observe(9, ("b",))
    add_counts(ours, json.loads(json.dumps(counted_since(theirs, before))))
    assert ours[0].values == {("a",): 2, ("b",): 1}
    series = {key: (found.counts, found.total) for key, found in ours[2].values.items()}
    assert series == {("a",): ([1, 1, 0], 2.0), ("b",): ([0, 0, 1], 9.0)}
