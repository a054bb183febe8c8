"""The network library (cel-go `ext.Network`): addresses and prefixes as abstract types.

Close to what Kubernetes has, but not the same: an IPv6 address that stands for an IPv4 one
(`::ffff:c0a8:1`) is that IPv4 address here; only its dotted form (`::ffff:192.168.0.1`) is refused.
Parsing is Go's, in `values.netaddr`. Not in Kubernetes, which brings its own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from celadon.cel import size_growth
from celadon.cel.codegen import inline_functions
from celadon.cel.declarations import Function, Impl, Library, Overload
from celadon.cel.errors import EvaluationError
from celadon.cel.types import BOOL, INT, STRING, opaque
from celadon.cel.values.netaddr import V4_BITS, Addr, AddrError, Prefix, parse_addr, parse_prefix
from celadon.cel.values.runtime_types import Opaque
from celadon.cel.values.text import go_quote

IP_TYPE = opaque("net.IP")
CIDR_TYPE = opaque("net.CIDR")


class IP(Opaque):
    """A value of type `net.IP`."""

    __slots__ = ("addr",)
    cel_type = IP_TYPE
    go_name = "ext.IP"
    go_content = "netip.Addr"

    def __init__(self, addr: Addr) -> None:
        self.addr = addr

    def equals(self, other: Opaque) -> bool:
        return isinstance(other, IP) and self.addr == other.addr

    def display(self) -> str:
        return str(self.addr)


class CIDR(Opaque):
    """A value of type `net.CIDR`; bits after the prefix may be set."""

    __slots__ = ("prefix",)
    cel_type = CIDR_TYPE
    go_name = "ext.CIDR"
    go_content = "netip.Prefix"

    def __init__(self, prefix: Prefix) -> None:
        self.prefix = prefix

    def equals(self, other: Opaque) -> bool:
        return isinstance(other, CIDR) and self.prefix == other.prefix

    def display(self) -> str:
        return str(self.prefix)


def _mapped(text: str) -> EvaluationError:
    return EvaluationError(f"IPv4-mapped IPv6 address {go_quote(text)} is not allowed")


def parse_ip(text: str) -> IP:
    """Parse an address. Raises EvaluationError for what is no address, zones and dotted IPv4
    addresses in IPv6."""
    try:
        addr = parse_addr(text)
    except AddrError as error:
        raise EvaluationError(
            f"IP Address {go_quote(text)} parse error during conversion from string: {error}"
        ) from None
    if addr.zone:
        raise EvaluationError(f"IP address {go_quote(text)} with zone value is not allowed")
    if addr.is_v4_mapped:
        if "." in text:
            raise _mapped(text)
        addr = replace(addr, value=addr.value & 0xFFFFFFFF, bits=V4_BITS)
    return IP(addr)


def parse_cidr(text: str) -> CIDR:
    """Parse a prefix. Raises EvaluationError for what is no prefix and for any IPv4 address in
    IPv6."""
    try:
        prefix = parse_prefix(text)
    except AddrError as error:
        raise EvaluationError(
            f"CIDR {go_quote(text)} parse error during conversion from string: {error}"
        ) from None
    if prefix.addr.is_v4_mapped:
        raise _mapped(text)
    return CIDR(prefix)


def _is_ip(text: str) -> bool:
    try:
        parse_ip(text)
    except EvaluationError:
        return False
    return True


def _is_cidr(text: str) -> bool:
    try:
        parse_cidr(text)
    except EvaluationError:
        return False
    return True


_function = partial(Function.single, growth=size_growth.single)
"""Addresses and prefixes count for one each, whatever text they were made of."""


def _predicate(name: str, id: str, impl: Impl, doc: str, *examples: tuple[str, str]) -> Function:
    return _function(name, id, (IP_TYPE,), BOOL, impl, doc, *examples, member=True)


_TO_STRING = Function(
    "string",
    (
        Overload(
            "ip_to_string",
            (IP_TYPE,),
            STRING,
            IP.display,
            doc="The canonical form of an address.",
            examples=(("string(ip('2001:DB8::1'))", "'2001:db8::1'"),),
            growth=size_growth.short_text,
            inline=inline_functions.STRING,
        ),
        Overload(
            "cidr_to_string",
            (CIDR_TYPE,),
            STRING,
            CIDR.display,
            doc="The prefix as text.",
            examples=(("string(cidr('192.168.0.1/24'))", "'192.168.0.1/24'"),),
            growth=size_growth.short_text,
            inline=inline_functions.STRING,
        ),
    ),
)

_IP = Function(
    "ip",
    (
        Overload(
            "string_to_ip",
            (STRING,),
            IP_TYPE,
            parse_ip,
            doc="The address a text stands for; an error if it is none.",
            examples=(("ip('::ffff:c0a8:1') == ip('192.168.0.1')", "true"),),
            growth=size_growth.single,
        ),
        Overload(
            "cidr_ip",
            (CIDR_TYPE,),
            IP_TYPE,
            lambda cidr: IP(cidr.prefix.addr),
            member=True,
            doc="The address before the slash, with all its bits.",
            examples=(("cidr('192.168.0.1/24').ip() == ip('192.168.0.1')", "true"),),
            growth=size_growth.single,
        ),
    ),
)

_CONTAINS_IP = Function(
    "containsIP",
    (
        Overload(
            "cidr_contains_ip",
            (CIDR_TYPE, IP_TYPE),
            BOOL,
            lambda cidr, ip: cidr.prefix.contains(ip.addr),
            member=True,
            doc="Whether an address lies within; no address of the other family does.",
            examples=(("cidr('::/0').containsIP(ip('1.2.3.4'))", "false"),),
        ),
        Overload(
            "cidr_contains_ip_string",
            (CIDR_TYPE, STRING),
            BOOL,
            lambda cidr, text: cidr.prefix.contains(parse_ip(text).addr),
            member=True,
            doc="Whether an address lies within; no address of the other family does.",
            examples=(("cidr('192.168.0.0/24').containsIP('192.168.0.5')", "true"),),
        ),
    ),
)

_CONTAINS_CIDR = Function(
    "containsCIDR",
    (
        Overload(
            "cidr_contains_cidr",
            (CIDR_TYPE, CIDR_TYPE),
            BOOL,
            lambda cidr, other: cidr.prefix.covers(other.prefix),
            member=True,
            doc="Whether all of another prefix lies within.",
            examples=(("cidr('10.0.0.0/24').containsCIDR(cidr('10.0.0.0/16'))", "false"),),
        ),
        Overload(
            "cidr_contains_cidr_string",
            (CIDR_TYPE, STRING),
            BOOL,
            lambda cidr, text: cidr.prefix.covers(parse_cidr(text).prefix),
            member=True,
            doc="Whether all of another prefix lies within.",
            examples=(("cidr('192.168.0.0/16').containsCIDR('192.168.1.0/24')", "true"),),
        ),
    ),
)

LIBRARY = Library(
    "network",
    functions=(
        _IP,
        _function(
            "isIP",
            "is_ip",
            (STRING,),
            BOOL,
            _is_ip,
            "Whether a text is an address that `ip` takes.",
            ("isIP('127.0.0.1')", "true"),
            ("isIP('fe80::1%eth0')", "false"),
        ),
        _function(
            "ip.isCanonical",
            "ip_is_canonical",
            (STRING,),
            BOOL,
            lambda text: parse_ip(text).display() == text,
            "Whether an address is written in its canonical form; an error if it is none.",
            ("ip.isCanonical('2001:db8::abcd')", "true"),
            ("ip.isCanonical('2001:DB8::ABCD')", "false"),
        ),
        _function(
            "family",
            "ip_family",
            (IP_TYPE,),
            INT,
            lambda ip: 4 if ip.addr.is_v4 else 6,
            "4 or 6.",
            ("ip('::1').family()", "6"),
            member=True,
        ),
        _predicate(
            "isUnspecified",
            "ip_is_unspecified",
            lambda ip: ip.addr.is_unspecified,
            "Whether all bits of the address are zero.",
            ("ip('0.0.0.0').isUnspecified()", "true"),
        ),
        _predicate(
            "isLoopback",
            "ip_is_loopback",
            lambda ip: ip.addr.is_loopback,
            "Whether the address is in 127.0.0.0/8 or is ::1.",
            ("ip('127.0.0.1').isLoopback()", "true"),
        ),
        _predicate(
            "isGlobalUnicast",
            "ip_is_global_unicast",
            lambda ip: ip.addr.is_global_unicast,
            "Whether the address is none of the special ones; private addresses are global.",
            ("ip('192.168.0.1').isGlobalUnicast()", "true"),
        ),
        _predicate(
            "isLinkLocalMulticast",
            "ip_is_link_local_multicast",
            lambda ip: ip.addr.is_link_local_multicast,
            "Whether the address is a multicast address of the link: 224.0.0.0/24 or ff02::/16.",
            ("ip('ff02::1').isLinkLocalMulticast()", "true"),
        ),
        _predicate(
            "isLinkLocalUnicast",
            "ip_is_link_local_unicast",
            lambda ip: ip.addr.is_link_local_unicast,
            "Whether the address is in 169.254.0.0/16 or fe80::/10.",
            ("ip('fe80::1').isLinkLocalUnicast()", "true"),
        ),
        _function(
            "cidr",
            "string_to_cidr",
            (STRING,),
            CIDR_TYPE,
            parse_cidr,
            "The prefix a text stands for; an error if it is none.",
            ("cidr('10.0.0.0/8') == cidr('10.0.0.1/8')", "false"),
        ),
        _function(
            "isCIDR",
            "is_cidr",
            (STRING,),
            BOOL,
            _is_cidr,
            "Whether a text is a prefix that `cidr` takes.",
            ("isCIDR('192.168.0.0/16')", "true"),
            ("isCIDR('192.168.0.0/33')", "false"),
        ),
        _CONTAINS_IP,
        _CONTAINS_CIDR,
        _function(
            "prefixLength",
            "cidr_prefix_length",
            (CIDR_TYPE,),
            INT,
            lambda cidr: cidr.prefix.length,
            "The number after the slash.",
            ("cidr('192.168.0.0/16').prefixLength()", "16"),
            member=True,
        ),
        _function(
            "masked",
            "cidr_masked",
            (CIDR_TYPE,),
            CIDR_TYPE,
            lambda cidr: CIDR(cidr.prefix.masked()),
            "The prefix with the bits after it cleared.",
            ("cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24')", "true"),
            member=True,
        ),
        _TO_STRING,
    ),
    types=(IP_TYPE, CIDR_TYPE),
)
