"""Addresses and ranges that are not written as they should be."""

from __future__ import annotations

import pytest

from celadon.kube.fieldpath import FieldPath
from celadon.kube.pod_warnings import address_warnings, range_warnings
from celadon.kube.releases import answering_as

PATH = FieldPath("f")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("192.12.2.2", ""),
        ("2001:db8::1", ""),
        ("no address", ""),
        (
            "192.012.2.2",
            'non-standard IP address "192.012.2.2" is invalid: use "192.12.2.2"',
        ),
        (
            "::ffff:1.2.3.4",
            'non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"',
        ),
        (
            "2001:db8:0:0::2",
            'IPv6 address "2001:db8:0:0::2" should be in RFC 5952 canonical format ("2001:db8::2")',
        ),
    ],
)
def test_addresses(text: str, want: str) -> None:
    assert list(address_warnings(PATH, text)) == ([f"f: {want}"] if want else [])


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("192.12.2.0/24", []),
        ("2001:db8::/64", []),
        ("no range", []),
        (
            "192.12.2.8/24",
            [
                'CIDR value "192.12.2.8/24" is ambiguous in this context (should be '
                '"192.12.2.0/24" or "192.12.2.8/32"?)'
            ],
        ),
        (
            "010.0.0.1/8",
            [
                'CIDR value "010.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or '
                '"10.0.0.1/32"?)',
                'non-standard CIDR value "010.0.0.1/8" is invalid: use "10.0.0.0/8"',
            ],
        ),
        (
            "::ffff:10.0.0.0/104",
            ['non-standard CIDR value "::ffff:10.0.0.0/104" is invalid: use "10.0.0.0/8"'],
        ),
        (
            "2001:0db8::/64",
            [
                'IPv6 CIDR value "2001:0db8::/64" should be in RFC 5952 canonical format '
                '("2001:db8::/64")'
            ],
        ),
    ],
)
def test_ranges(text: str, want: list[str]) -> None:
    assert list(range_warnings(PATH, text)) == [f"f: {one}" for one in want]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("none", 'ParseAddr("none"): unable to parse IP'),
        ("1.2.3", 'ParseAddr("1.2.3"): IPv4 address too short'),
        ("1.2.3.04", 'ParseAddr("1.2.3.04"): IPv4 field has octet with leading zero'),
    ],
)
def test_before_1_33_what_is_no_address_of_a_service_is_warned_of(text: str, error: str) -> None:
    with answering_as("1.32"):
        (warning,) = address_warnings(PATH, text, of_service=True)
        assert not list(address_warnings(PATH, text))
    assert warning == (
        f"f: IP address was accepted, but will be invalid in a future Kubernetes release: {error}"
    )


def test_before_1_33_white_space_around_a_range_of_a_service_is_warned_of() -> None:
    with answering_as("1.32"):
        (warning,) = range_warnings(PATH, " 10.0.0.0/8", of_service=True)
    assert warning.endswith('ParseAddr(" 10.0.0.0"): unexpected character (at " 10.0.0.0")')
