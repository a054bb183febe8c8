"""`kubernetes.net.cidr`: `cidr(string)`, `isCIDR` and what lies within a prefix.

Upstream: k8s.io/apiserver `pkg/cel/library/cidr.go`. Bits after the prefix may be set; `masked()`
clears them. Two texts are odd because upstream's are: a bad prefix is announced twice, and
`containsIP` with a text that is no address says only `no such overload`.
"""

from __future__ import annotations

from typing import Final

from celadon.cel.extend import (
    EvaluationError,
    Function,
    Library,
    Opaque,
    Overload,
    no_such_overload,
    types,
)
from celadon.cel.value_functions import netaddr
from celadon.kube.go.go_text import quote
from celadon.kube.library import value_types
from celadon.kube.library.networks.ip import IP, parse_ip
from celadon.kube.library.recall import remembered
from celadon.kube.library.signatures import function, method

_PARSE_ERROR: Final = "network address parse error during conversion from string: "


class CIDR(Opaque):
    """A value of type `net.CIDR`."""

    __slots__ = ("prefix",)
    cel_type = value_types.CIDR
    go_name = "cel.CIDR"

    def __init__(self, prefix: netaddr.Prefix) -> None:
        self.prefix = prefix

    def equals(self, other: Opaque) -> bool:
        return isinstance(other, CIDR) and self.prefix == other.prefix

    @property
    def cost_size(self) -> int:
        """The prefix in bytes, rounded up."""
        return (self.prefix.length + 7) // 8

    def display(self) -> str:
        return str(self.prefix)


@remembered
def _parse(text: str) -> netaddr.Prefix:
    try:
        prefix = netaddr.parse_prefix(text)
    except netaddr.AddrError as error:
        raise EvaluationError(f"{_PARSE_ERROR}{_PARSE_ERROR}{error}") from None
    if prefix.addr.is_v4_mapped:
        raise EvaluationError(
            f"{_PARSE_ERROR}IPv4-mapped IPv6 address {quote(text)} is not allowed"
        )
    return prefix


def _cidr(text: str) -> CIDR:
    return CIDR(_parse(text))


@remembered
def _is_cidr(text: str) -> bool:
    try:
        _parse(text)
    except EvaluationError:
        return False
    return True


def _contains_ip(cidr: CIDR, ip: IP) -> bool:
    return cidr.prefix.contains(ip.addr)


def _contains_ip_text(cidr: CIDR, text: str) -> bool:
    try:
        addr = parse_ip(text)
    except EvaluationError:
        raise no_such_overload() from None
    return cidr.prefix.contains(addr)


def _contains_cidr(cidr: CIDR, other: CIDR) -> bool:
    return cidr.prefix.covers(other.prefix)


def _contains_cidr_text(cidr: CIDR, text: str) -> bool:
    return cidr.prefix.covers(_parse(text))


def _address(cidr: CIDR) -> IP:
    return IP(cidr.prefix.addr)


def _masked(cidr: CIDR) -> CIDR:
    return CIDR(cidr.prefix.masked())


def _prefix_length(cidr: CIDR) -> int:
    return cidr.prefix.length


_CIDR: Final = (value_types.CIDR,)

_CONTAINS: Final = (
    Function(
        "containsIP",
        (
            Overload(
                "cidr_contains_ip_string",
                (value_types.CIDR, types.STRING),
                types.BOOL,
                _contains_ip_text,
                member=True,
                doc="Whether an address lies within; no address of the other family does.",
                examples=(("cidr('192.168.0.0/24').containsIP('192.168.0.5')", "true"),),
            ),
            Overload(
                "cidr_contains_ip_ip",
                (value_types.CIDR, value_types.IP),
                types.BOOL,
                _contains_ip,
                member=True,
                doc="Whether an address lies within; no address of the other family does.",
                examples=(("cidr('::/0').containsIP(ip('1.2.3.4'))", "false"),),
            ),
        ),
    ),
    Function(
        "containsCIDR",
        (
            Overload(
                "cidr_contains_cidr_string",
                (value_types.CIDR, types.STRING),
                types.BOOL,
                _contains_cidr_text,
                member=True,
                doc="Whether all of another prefix lies within.",
                examples=(("cidr('192.168.0.0/16').containsCIDR('192.168.1.0/24')", "true"),),
            ),
            Overload(
                "cidr_contains_cidr",
                (value_types.CIDR, value_types.CIDR),
                types.BOOL,
                _contains_cidr,
                member=True,
                doc="Whether all of another prefix lies within.",
                examples=(("cidr('10.0.0.0/24').containsCIDR(cidr('10.0.0.0/16'))", "false"),),
            ),
        ),
    ),
)

LIBRARY: Final = Library(
    "net.cidr",
    functions=(
        function(
            "cidr",
            "string_to_cidr",
            (types.STRING,),
            value_types.CIDR,
            _cidr,
            "The prefix a text stands for; an error if it is none.",
            ("string(cidr('192.168.0.1/24'))", "'192.168.0.1/24'"),
        ),
        function(
            "isCIDR",
            "is_cidr",
            (types.STRING,),
            types.BOOL,
            _is_cidr,
            "Whether a text is a prefix that `cidr` takes.",
            ("isCIDR('192.168.0.0/16')", "true"),
            ("isCIDR('192.168.0.0/33')", "false"),
        ),
        *_CONTAINS,
        method(
            "ip",
            "cidr_ip",
            _CIDR,
            value_types.IP,
            _address,
            "The address before the slash, with all its bits.",
            ("string(cidr('192.168.0.1/24').ip())", "'192.168.0.1'"),
        ),
        method(
            "prefixLength",
            "cidr_prefix_length",
            _CIDR,
            types.INT,
            _prefix_length,
            "The number after the slash.",
            ("cidr('192.168.0.0/16').prefixLength()", "16"),
        ),
        method(
            "masked",
            "cidr_masked",
            _CIDR,
            value_types.CIDR,
            _masked,
            "The prefix with the bits after it cleared.",
            ("string(cidr('192.168.0.1/24').masked())", "'192.168.0.0/24'"),
        ),
        function(
            "string",
            "cidr_to_string",
            _CIDR,
            types.STRING,
            CIDR.display,
            "The prefix as text.",
            ("string(cidr('::1/128'))", "'::1/128'"),
        ),
    ),
    types=(value_types.CIDR,),
)
