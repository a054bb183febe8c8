"""Values that are numbers behind their texts: they are compared as the engine compares them."""

from __future__ import annotations

import itertools

import pytest

pytest.importorskip("z3")

import z3

from celadon.cel import types
from celadon.kube.library import environment
from celadon.prove.symbolic_values import measure_read_by


@pytest.mark.parametrize(
    ("function", "texts"),
    [
        ("quantity", ["-1Gi", "-1", "0", "1n", "100m", "0.5", "1", "1e3", "1Ki", "1M", "1Mi"]),
        ("timestamp", ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999999999Z",
                       "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000001Z",
                       "9999-12-31T23:59:59Z"]),
        ("duration", ["-1h", "-1ns", "0s", "1ns", "1us", "1ms", "1s", "1m", "1h"]),
        # Addresses of the other family lie behind all of the first.
        ("ip", ["0.0.0.0", "10.0.0.1", "255.255.255.255", "::", "::1", "1::",
                "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"]),
    ],
)  # fmt: skip
def test_numbers_rise_with_the_values(function: str, texts: list[str]) -> None:
    measure = measure_read_by(function)
    assert measure is not None
    scope = environment().extend({"text": types.STRING})
    read = scope.program(scope.compile(f"{function}(text)").checked())
    numbers = [measure.measured(read.evaluate({"text": text})) for text in texts]
    for a, b in itertools.pairwise(numbers):
        assert z3.is_true(z3.simplify(a < b)), (a, b)


@pytest.mark.parametrize("function", ["url", "semver", "cidr", "string"])
def test_what_is_no_number(function: str) -> None:
    assert measure_read_by(function) is None
