"""Addresses and prefixes: what is accepted, how it prints, and Go's words about the rest."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.values.netaddr import Addr, AddrError, parse_addr, parse_prefix


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("1.2.3.4", "1.2.3.4"),
        ("0.0.0.0", "0.0.0.0"),
        ("255.255.255.255", "255.255.255.255"),
        ("::", "::"),
        ("::1", "::1"),
        ("1::", "1::"),
        ("2001:DB8::ABCD", "2001:db8::abcd"),
        ("2001:db8:0:0:0:0:0:abcd", "2001:db8::abcd"),
        ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
        ("1:0:0:2:0:0:3:4", "1::2:0:0:3:4"),
        ("1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"),
        ("64:ff9b::1.2.3.4", "64:ff9b::102:304"),
        ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"),
        ("::ffff:1.2.3.4", "::ffff:1.2.3.4"),
        ("fe80::1%eth0", "fe80::1%eth0"),
    ],
)
def test_addresses(text: str, printed: str) -> None:
    assert str(parse_addr(text)) == printed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "unable to parse IP"),
        ("localhost", "unable to parse IP"),
        ("%eth0", "missing IPv6 address"),
        ("1.2.3", "IPv4 address too short"),
        ("1.2.3.4.5", "IPv4 address too long"),
        ("256.1.1.1", "IPv4 field has value >255"),
        ("01.2.3.4", "IPv4 field has octet with leading zero"),
        ("1..2.3", 'IPv4 field must have at least one digit (at ".2.3")'),
        (".1.2.3", 'IPv4 field must have at least one digit (at ".1.2.3")'),
        ("1.2.3.", 'IPv4 field must have at least one digit (at ".")'),
        ("1.2.3.x", 'unexpected character (at "x")'),
        ("1.2.3.4é", 'unexpected character (at "é")'),
        ("::1%", "zone must be a non-empty string"),
        (":1", 'each colon-separated field must have at least one digit (at ":1")'),
        ("1::2::3", 'multiple :: in address (at ":3")'),
        ("12345::", 'each group must have 4 or less digits (at "12345::")'),
        ("1:2", "address string too short"),
        ("1:2:3:4:5:6:7:8:9", 'trailing garbage after address (at "9")'),
        ("1:2:3:4:5:6:7::8", "the :: must expand to at least one field of zeros"),
        ("1:2:", 'colon must be followed by more characters (at ":")'),
        ("1:2x", 'unexpected character, want colon (at "x")'),
        (
            "1:2:3:1.2.3.4",
            'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")',
        ),
        (
            "::1:2:3:4:5:6:7:1.2.3.4",
            'too many hex fields to fit an embedded IPv4 at the end of the address (at "1.2.3.4")',
        ),
        ("::1.2.3", "IPv4 address too short"),
    ],
)
def test_no_addresses(text: str, reason: str) -> None:
    with pytest.raises(AddrError) as caught:
        parse_addr(text)
    assert str(caught.value) == f'ParseAddr("{text}"): {reason}'


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("0.0.0.0", "unspecified"),
        ("::", "unspecified"),
        ("127.9.9.9", "loopback"),
        ("::1", "loopback"),
        ("169.254.1.1", "link-local"),
        ("fe80::1", "link-local"),
        ("febf::1", "link-local"),
        ("fec0::1", "global"),
        ("224.0.0.1", "multicast link-local-multicast"),
        ("224.0.1.1", "multicast"),
        ("ff02::1", "multicast link-local-multicast"),
        ("ff12::1", "multicast link-local-multicast"),
        ("ff01::1", "multicast"),
        ("255.255.255.255", ""),
        ("10.0.0.1", "global"),
        ("fd00::1", "global"),
        ("8.8.8.8", "global"),
    ],
)
def test_kinds(text: str, kinds: str) -> None:
    addr = parse_addr(text)
    found = {
        "unspecified": addr.is_unspecified,
        "loopback": addr.is_loopback,
        "link-local": addr.is_link_local_unicast,
        "multicast": addr.is_multicast,
        "link-local-multicast": addr.is_link_local_multicast,
        "global": addr.is_global_unicast,
    }
    assert {name for name, is_kind in found.items() if is_kind} == set(kinds.split())


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("192.168.0.1/24", "192.168.0.0/24"),
        ("1.2.3.4/0", "0.0.0.0/0"),
        ("1.2.3.4/32", "1.2.3.4/32"),
        ("2001:db8::1/32", "2001:db8::/32"),
        ("::1/128", "::1/128"),
    ],
)
def test_prefixes(text: str, masked: str) -> None:
    assert str(parse_prefix(text)) == text
    assert str(parse_prefix(text).masked()) == masked


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("10.0.0.0", "no '/'"),
        ("10.0.0.0/33", "prefix length out of range"),
        ("::/129", "prefix length out of range"),
        ("10.0.0.0/08", 'bad bits after slash: "08"'),
        ("10.0.0.0/+8", 'bad bits after slash: "+8"'),
        ("10.0.0.0/", 'bad bits after slash: ""'),
        ("10.0.0.0/x", 'bad bits after slash: "x"'),
        ("10.0.0.0/٣", 'bad bits after slash: "٣"'),
        ("10.0.0.0/99999999999999999999", 'bad bits after slash: "99999999999999999999"'),
        ("10.0.0.0/9999999999", "prefix length out of range"),
        ("fe80::1%en0/64", "IPv6 zones cannot be present in a prefix"),
        ("10.0.0/8", 'ParseAddr("10.0.0"): IPv4 address too short'),
    ],
)
def test_no_prefixes(text: str, reason: str) -> None:
    with pytest.raises(AddrError) as caught:
        parse_prefix(text)
    assert str(caught.value) == f'netip.ParsePrefix("{text}"): {reason}'


@pytest.mark.parametrize(
    ("outer", "inner", "covers"),
    [
        ("192.168.0.0/16", "192.168.1.0/24", True),
        ("192.168.0.0/24", "192.168.0.0/16", False),
        ("10.0.0.0/8", "10.1.2.3/8", True),
        ("::/0", "0.0.0.0/0", False),
        ("0.0.0.0/0", "1.2.3.4/32", True),
    ],
)
def test_cover(outer: str, inner: str, covers: bool) -> None:
    assert parse_prefix(outer).covers(parse_prefix(inner)) is covers


def test_contains_only_its_own_family() -> None:
    assert parse_prefix("10.0.0.0/8").contains(parse_addr("10.255.0.1"))
    assert not parse_prefix("10.0.0.0/8").contains(parse_addr("11.0.0.1"))
    assert not parse_prefix("::/0").contains(parse_addr("1.2.3.4"))


@given(st.integers(0, (1 << 128) - 1), st.integers(0, 127))
def test_prints_and_reads_as_the_standard_library(value: int, shift: int) -> None:
    addr = Addr(value >> shift, 128)
    theirs = ipaddress.IPv6Address(addr.value)
    if theirs.ipv4_mapped is None:
        assert str(addr) == str(theirs)
    assert parse_addr(str(addr)) == addr


@given(st.text(alphabet="0123456789abcdef:.%/", max_size=24))
def test_agrees_with_the_standard_library_on_what_is_an_address(text: str) -> None:
    if "%" in text or "/" in text:
        return
    try:
        theirs: str | None = str(int(ipaddress.ip_address(text)))
    except ValueError:
        theirs = None
    try:
        mine: str | None = str(parse_addr(text).value)
    except AddrError:
        mine = None
    assert mine == theirs
