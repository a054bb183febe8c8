"""Numbers without a type."""

from __future__ import annotations

import pytest

from celadon.kube.go.go_json import as_read, as_written, read_json


@pytest.mark.parametrize(
    ("text", "read", "written"),
    [
        ("1", 1, 1),
        ("2.0", 2.0, 2),
        ("2.50", 2.5, 2.5),
        ("1e3", 1000.0, 1000),
        ("9223372036854775807", 9223372036854775807, 9223372036854775807),
        ("9223372036854775808", 9223372036854775808.0, 9223372036854775808.0),
        ("-9223372036854775808", -9223372036854775808, -9223372036854775808),
        ("1e21", 1e21, 1e21),
        ("true", True, True),
    ],
)
def test_numbers(text: str, read: object, written: object) -> None:
    found = as_read(read_json(f'{{"a": [{text}]}}').value)["a"][0]
    assert (found.__class__, found) == (read.__class__, read)
    again = as_written([found])[0]
    assert (again.__class__, again) == (written.__class__, written)


def test_an_integer_that_is_too_large_is_read_as_a_double() -> None:
    (again,) = as_written([10**19])
    assert (again.__class__, again) == (float, 1e19)
