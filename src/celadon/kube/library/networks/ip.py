"""`kubernetes.net.ip`: `ip(string)`, `isIP`, `ip.isCanonical` and the kinds of address.

Upstream: k8s.io/apiserver `pkg/cel/library/ip.go`. Zones and IPv4 addresses in IPv6 clothes are
refused here, everything else by `netaddr`.
"""

from __future__ import annotations

from typing import Final

from celadon.cel.extend import EvaluationError, Library, Opaque, growth, types
from celadon.cel.libraries import text_forms
from celadon.cel.value_functions import Remembered, netaddr
from celadon.kube.go.go_text import quote
from celadon.kube.library import value_types
from celadon.kube.library.costs import call_costs
from celadon.kube.library.signatures import function, method


class IP(Opaque):
    """A value of type `net.IP`."""

    __slots__ = ("addr",)
    cel_type = value_types.IP
    go_name = "cel.IP"
    go_content = "netip.Addr"

    def __init__(self, addr: netaddr.Addr) -> None:
        self.addr = addr

    def equals(self, other: Opaque) -> bool:
        """The same address."""
        return isinstance(other, IP) and self.addr == other.addr

    @property
    def cost_size(self) -> int:
        """The address in bytes."""
        return self.addr.bits // 8

    def display(self) -> str:
        """As `string(...)` writes it."""
        return str(self.addr)


@Remembered
def parse_ip(text: str) -> IP:
    """Raises EvaluationError for what is no address, and for the two forms not allowed."""
    try:
        addr = netaddr.parse_addr(text)
    except netaddr.AddrError as error:
        raise EvaluationError(
            f"IP Address {quote(text)} parse error during conversion from string: {error}"
        ) from None
    if addr.zone:
        raise EvaluationError(f"IP address {quote(text)} with zone value is not allowed")
    if addr.is_v4_mapped:
        raise EvaluationError(f"IPv4-mapped IPv6 address {quote(text)} is not allowed")
    return IP(addr)


@Remembered
def _is_ip(text: str) -> bool:
    try:
        parse_ip(text)
    except EvaluationError:
        return False
    return True


def _is_canonical(text: str) -> bool:
    return parse_ip(text).display() == text


def _family(ip: IP) -> int:
    return 4 if ip.addr.is_v4 else 6


ADDRESS_GROWTH: Final = growth.fixed(16)
"""Addresses and prefixes count by their bytes, of which IPv6 has most."""

_IP: Final = (value_types.IP,)

_PREDICATES: Final = (
    method(
        "isUnspecified",
        "ip_is_unspecified",
        _IP,
        types.BOOL,
        lambda ip: ip.addr.is_unspecified,
        "Whether all bits of the address are zero.",
        ("ip('0.0.0.0').isUnspecified()", "true"),
    ),
    method(
        "isLoopback",
        "ip_is_loopback",
        _IP,
        types.BOOL,
        lambda ip: ip.addr.is_loopback,
        "Whether the address is in 127.0.0.0/8 or is ::1.",
        ("ip('127.0.0.1').isLoopback()", "true"),
    ),
    method(
        "isLinkLocalMulticast",
        "ip_is_link_local_multicast",
        _IP,
        types.BOOL,
        lambda ip: ip.addr.is_link_local_multicast,
        "Whether the address is a multicast address of the link: 224.0.0.0/24 or ff02::/16.",
        ("ip('ff02::1').isLinkLocalMulticast()", "true"),
    ),
    method(
        "isLinkLocalUnicast",
        "ip_is_link_local_unicast",
        _IP,
        types.BOOL,
        lambda ip: ip.addr.is_link_local_unicast,
        "Whether the address is in 169.254.0.0/16 or fe80::/10.",
        ("ip('fe80::1').isLinkLocalUnicast()", "true"),
    ),
    method(
        "isGlobalUnicast",
        "ip_is_global_unicast",
        _IP,
        types.BOOL,
        lambda ip: ip.addr.is_global_unicast,
        "Whether the address is none of the special ones; private addresses are global.",
        ("ip('192.168.0.1').isGlobalUnicast()", "true"),
    ),
)

LIBRARY: Final = Library(
    "net.ip",
    functions=(
        function(
            "ip",
            "string_to_ip",
            (types.STRING,),
            value_types.IP,
            parse_ip,
            "The address a text stands for; an error if it is none.",
            ("string(ip('2001:DB8::1'))", "'2001:db8::1'"),
            cost=call_costs.FIRST,
            growth=ADDRESS_GROWTH,
        ),
        function(
            "isIP",
            "is_ip",
            (types.STRING,),
            types.BOOL,
            _is_ip,
            "Whether a text is an address that `ip` takes.",
            ("isIP('127.0.0.1')", "true"),
            ("isIP('127.0.0.1/8')", "false"),
            cost=call_costs.FIRST,
        ),
        function(
            "ip.isCanonical",
            "ip_is_canonical",
            (types.STRING,),
            types.BOOL,
            _is_canonical,
            "Whether an address is written in its canonical form; an error if it is none.",
            ("ip.isCanonical('2001:db8::abcd')", "true"),
            ("ip.isCanonical('2001:DB8::ABCD')", "false"),
            cost=call_costs.FIRST_TWICE,
        ),
        method(
            "family", "ip_family", _IP, types.INT, _family, "4 or 6.", ("ip('::1').family()", "6")
        ),
        *_PREDICATES,
        function(
            "string",
            "ip_to_string",
            _IP,
            types.STRING,
            IP.display,
            "The canonical form of an address.",
            ("string(ip('::1'))", "'::1'"),
            growth=growth.short_text,
        ).with_each(inline=text_forms.STRING),
    ),
    types=(value_types.IP,),
)
