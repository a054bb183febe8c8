"""Certificates looked at for what is wrong with them."""

from __future__ import annotations

import pytest

from celadon.serve.outgoing.certificate_failures import certificate_failure
from tests.serve.calling.loopback import DAY, NOW, certificate

UNKNOWN = "certificate signed by unknown authority"


@pytest.mark.parametrize(
    ("names", "wanted", "why"),
    [
        (("a.example.com",), "a.example.com", UNKNOWN),
        (("*.example.com",), "a.example.com", UNKNOWN),
        (
            ("*.example.com",),
            "a.b.example.com",
            "certificate is valid for *.example.com, not a.b.example.com",
        ),
        (
            ("a.example.com", "b.example.com"),
            "c",
            "certificate is valid for a.example.com, b.example.com, not c",
        ),
        (("127.0.0.2",), "127.0.0.1", "certificate is valid for 127.0.0.2, not 127.0.0.1"),
        (("127.0.0.1",), "127.0.0.1", UNKNOWN),
        (
            ("127.0.0.1",),
            "a",
            "certificate is not valid for any names, but wanted to match a",
        ),
    ],
)
def test_names(names: tuple[str, ...], wanted: str, why: str) -> None:
    assert certificate_failure(certificate(*names), wanted, NOW) == why


def test_dates_come_first() -> None:
    made = certificate("a")
    late, early = NOW + 2 * DAY, NOW - 3 * DAY
    told = certificate_failure(made, "b", late)
    assert told.endswith(
        f"current time {late:%Y-%m-%dT%H:%M:%SZ} is after {NOW + DAY:%Y-%m-%dT%H:%M:%SZ}"
    )
    told = certificate_failure(made, "b", early)
    assert f" is before {NOW - 2 * DAY:%Y-%m-%dT%H:%M:%SZ}" in told
