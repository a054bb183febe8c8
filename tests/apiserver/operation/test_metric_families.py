"""Numbers as Prometheus reads them."""

from __future__ import annotations

import pytest

from celadon.apiserver.operation.metric_table import (
    Counter,
    Description,
    Gauge,
    Histogram,
    ReadCounter,
    exposition,
    number,
)


def test_a_counter_with_labels_sorted_and_escaped() -> None:
    counter = Counter(Description("c_total", "Counts.", ("who", "what"), "BETA"))
    counter.add(("b", "x"), 2)
    counter.add(("a", 'quo"te\\\n'))
    counter.add(("b", "x"))
    assert exposition([counter]) == (
        "# HELP c_total [BETA] Counts.\n"
        "# TYPE c_total counter\n"
        'c_total{who="a",what="quo\\"te\\\\\\n"} 1\n'
        'c_total{who="b",what="x"} 3\n'
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
