"""Addresses in CEL: `ip(string)`, `cidr(string)`, `url(string)`, and what can be asked of them.

Upstream: k8s.io/apiserver `pkg/cel/library/ip.go`, `cidr.go` and `urls.go`. Zones and IPv4
addresses in IPv6 clothes are refused here, everything else by `netaddr`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.cel.extend import (
    Argument,
    CallEstimate,
    CostRule,
    EvaluationError,
    Function,
    Impl,
    Library,
    Opaque,
    Polynomial,
    Range,
    Sized,
    cost_rules,
    growth,
    no_such_overload,
)
from celadon.cel.libraries import text_forms
from celadon.cel.value_functions import Remembered, UnpaidWork, netaddr, shown_size
from celadon.kube.go import go_url as net_url
from celadon.kube.go.go_text import quote
from celadon.kube.library import costs
from celadon.kube.library.costs import declared, overloaded


class IP(Opaque):
    """Is a value of type `net.IP`."""

    __slots__ = ("addr",)
    cel_type = costs.IP
    go_name = "cel.IP"
    go_content = "netip.Addr"

    def __init__(self, addr: netaddr.Addr) -> None:
        self.addr = addr

    def equals(self, other: Opaque) -> bool:
        """Tell whether it is the same address."""
        return isinstance(other, IP) and self.addr == other.addr

    @property
    def cost_size(self) -> int:
        """Return the address in bytes."""
        return self.addr.bits // 8

    def display(self) -> str:
        """Return the address as `string(...)` writes it."""
        return str(self.addr)


@Remembered
def parse_ip(text: str) -> IP:
    """Parse an address. Raises EvaluationError for what is none, and for the two forms that are not
    allowed."""
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

_PREDICATES: Final = (
    declared(
        "IP.isUnspecified() -> bool",
        "ip_is_unspecified",
        lambda ip: ip.addr.is_unspecified,
        "Whether all bits of the address are zero.",
        ("ip('0.0.0.0').isUnspecified()", "true"),
    ),
    declared(
        "IP.isLoopback() -> bool",
        "ip_is_loopback",
        lambda ip: ip.addr.is_loopback,
        "Whether the address is in 127.0.0.0/8 or is ::1.",
        ("ip('127.0.0.1').isLoopback()", "true"),
    ),
    declared(
        "IP.isLinkLocalMulticast() -> bool",
        "ip_is_link_local_multicast",
        lambda ip: ip.addr.is_link_local_multicast,
        "Whether the address is a multicast address of the link: 224.0.0.0/24 or ff02::/16.",
        ("ip('ff02::1').isLinkLocalMulticast()", "true"),
    ),
    declared(
        "IP.isLinkLocalUnicast() -> bool",
        "ip_is_link_local_unicast",
        lambda ip: ip.addr.is_link_local_unicast,
        "Whether the address is in 169.254.0.0/16 or fe80::/10.",
        ("ip('fe80::1').isLinkLocalUnicast()", "true"),
    ),
    declared(
        "IP.isGlobalUnicast() -> bool",
        "ip_is_global_unicast",
        lambda ip: ip.addr.is_global_unicast,
        "Whether the address is none of the special ones; private addresses are global.",
        ("ip('192.168.0.1').isGlobalUnicast()", "true"),
    ),
)

IP_LIBRARY: Final = Library(
    "net.ip",
    functions=(
        declared(
            "ip(string) -> IP",
            "string_to_ip",
            parse_ip,
            "The address a text stands for; an error if it is none.",
            ("string(ip('2001:DB8::1'))", "'2001:db8::1'"),
            cost=costs.FIRST,
            growth=ADDRESS_GROWTH,
        ),
        declared(
            "isIP(string) -> bool",
            "is_ip",
            _is_ip,
            "Whether a text is an address that `ip` takes.",
            ("isIP('127.0.0.1')", "true"),
            ("isIP('127.0.0.1/8')", "false"),
            cost=costs.FIRST,
        ),
        declared(
            "ip.isCanonical(string) -> bool",
            "ip_is_canonical",
            _is_canonical,
            "Whether an address is written in its canonical form; an error if it is none.",
            ("ip.isCanonical('2001:db8::abcd')", "true"),
            ("ip.isCanonical('2001:DB8::ABCD')", "false"),
            cost=costs.FIRST_TWICE,
        ),
        declared(
            "IP.family() -> int", "ip_family", _family, "4 or 6.", ("ip('::1').family()", "6")
        ),
        *_PREDICATES,
        declared(
            "string(IP) -> string",
            "ip_to_string",
            IP.display,
            "The canonical form of an address.",
            ("string(ip('::1'))", "'::1'"),
            growth=growth.short_text,
        ).with_each(inline=text_forms.STRING),
    ),
    types=(costs.IP,),
)


# --- CIDR --------------------------------------------------------------------
#
# `kubernetes.net.cidr`: `cidr(string)`, `isCIDR` and what lies within a prefix.
#
# Upstream: k8s.io/apiserver `pkg/cel/library/cidr.go`. Bits after the prefix may be set;
# `masked()` clears them. Two texts are odd because upstream's are: a bad prefix is announced
# twice, and `containsIP` with a text that is no address says only `no such overload`.

#: IPv4 and IPv6 addresses in bytes: what an estimate takes for the size of a prefix.
_ADDRESS_SIZE: Final = Range(4, 16)

_PARSE_ERROR: Final = "network address parse error during conversion from string: "


class CIDR(Opaque):
    """Is a value of type `net.CIDR`."""

    __slots__ = ("prefix",)
    cel_type = costs.CIDR
    go_name = "cel.CIDR"
    go_content = "netip.Prefix"

    def __init__(self, prefix: netaddr.Prefix) -> None:
        self.prefix = prefix

    def equals(self, other: Opaque) -> bool:
        """Tell whether address and length are the same."""
        return isinstance(other, CIDR) and self.prefix == other.prefix

    @property
    def cost_size(self) -> int:
        """Return the prefix in bytes, rounded up."""
        return (self.prefix.length + 7) // 8

    def display(self) -> str:
        """Return the range as `string(...)` writes it."""
        return str(self.prefix)


@Remembered
def _cidr(text: str) -> CIDR:
    try:
        prefix = netaddr.parse_prefix(text)
    except netaddr.AddrError as error:
        raise EvaluationError(f"{_PARSE_ERROR}{_PARSE_ERROR}{error}") from None
    if prefix.addr.is_v4_mapped:
        raise EvaluationError(
            f"{_PARSE_ERROR}IPv4-mapped IPv6 address {quote(text)} is not allowed"
        )
    return CIDR(prefix)


@Remembered
def _is_cidr(text: str) -> bool:
    try:
        _cidr(text)
    except EvaluationError:
        return False
    return True


def _contains_ip(cidr: CIDR, ip: IP) -> bool:
    return cidr.prefix.contains(ip.addr)


def _contains_ip_text(cidr: CIDR, text: str) -> bool:
    try:
        ip = parse_ip(text)
    except EvaluationError:
        raise no_such_overload() from None
    return cidr.prefix.contains(ip.addr)


def _contains_cidr(cidr: CIDR, other: CIDR) -> bool:
    return cidr.prefix.covers(other.prefix)


def _contains_cidr_text(cidr: CIDR, text: str) -> bool:
    return cidr.prefix.covers(_cidr(text).prefix)


def _older_contains_cidr(cidr: CIDR, other: CIDR) -> bool:
    """Return what servers before 1.31 answer: a range is within another only if its address has no
    bits after the other's prefix."""
    start = netaddr.Prefix(other.prefix.addr, cidr.prefix.length)
    return cidr.prefix.masked() == start and cidr.prefix.length <= other.prefix.length


def _older_contains_cidr_text(cidr: CIDR, text: str) -> bool:
    return _older_contains_cidr(cidr, _cidr(text))


def _address(cidr: CIDR) -> IP:
    return IP(cidr.prefix.addr)


def _masked(cidr: CIDR) -> CIDR:
    return CIDR(cidr.prefix.masked())


def _prefix_length(cidr: CIDR) -> int:
    return cidr.prefix.length


def _track_contains_ip(args: Sequence[Any], result: object) -> int:
    return cost_rules.traversal(2 * shown_size(args[0]))


def _track_contains_cidr(args: Sequence[Any], result: object) -> int:
    size = shown_size(args[0])
    return cost_rules.traversal(2 * size) + cost_rules.traversal(size) + 1


_IP_ESTIMATE: Final = _ADDRESS_SIZE.plus(_ADDRESS_SIZE).divided(cost_rules.TRAVERSAL_DIVISOR)
_CIDR_ESTIMATE: Final = _IP_ESTIMATE.plus(_ADDRESS_SIZE.divided(cost_rules.TRAVERSAL_DIVISOR)).plus(
    cost_rules.ONE
)


def _bound_contains(prefix: Argument, other: Argument) -> Polynomial:
    """Bound the cost for an argument of either type, parsed or not."""
    return prefix.size * 0.3 + other.size * 0.1 + 4


SizeSource = cost_rules.SizeSource


def _write_contains_ip(prefix: SizeSource, *others: SizeSource) -> SizeSource:
    return cost_rules.tenth(2 * prefix if isinstance(prefix, int) else f"2 * {prefix}")


_CONTAINS_IP_COST: Final = CostRule(
    _track_contains_ip,
    lambda args: CallEstimate(_IP_ESTIMATE),
    bound=_bound_contains,
    written=_write_contains_ip,
)
_CONTAINS_CIDR_COST: Final = CostRule(
    _track_contains_cidr,
    lambda args: CallEstimate(_CIDR_ESTIMATE),
    bound=_bound_contains,
    written=lambda prefix, *others: (
        f"{_write_contains_ip(prefix)} + {cost_rules.tenth(prefix)} + 1"
    ),
)


def _and_parse(rule: CostRule) -> CostRule:
    """Return the same rule where the argument is text that is parsed first."""

    def tracked(args: Sequence[Any], result: object) -> int:
        return rule.tracked(args, result) + cost_rules.traversal(shown_size(args[1]))

    def estimated(args: Sequence[Sized]) -> CallEstimate:
        parse = args[1].size.divided(cost_rules.TRAVERSAL_DIVISOR)
        return CallEstimate(rule.estimated(args).cost.plus(parse))

    def written(prefix: SizeSource, other: SizeSource) -> SizeSource:
        assert rule.written is not None, "both rules are written"
        return f"{rule.written(prefix, other)} + {cost_rules.tenth(other)}"

    return CostRule(tracked, estimated, bound=_bound_contains, written=written)


_CONTAINS: Final = (
    overloaded(
        declared(
            "CIDR.containsIP(string) -> bool",
            "cidr_contains_ip_string",
            _contains_ip_text,
            "Whether an address lies within; no address of the other family does.",
            ("cidr('192.168.0.0/24').containsIP('192.168.0.5')", "true"),
        ).with_each(cost=_and_parse(_CONTAINS_IP_COST)),
        declared(
            "CIDR.containsIP(IP) -> bool",
            "cidr_contains_ip_ip",
            _contains_ip,
            "Whether an address lies within; no address of the other family does.",
            ("cidr('::/0').containsIP(ip('1.2.3.4'))", "false"),
        ),
        cost=_CONTAINS_IP_COST,
    ),
    overloaded(
        declared(
            "CIDR.containsCIDR(string) -> bool",
            "cidr_contains_cidr_string",
            _contains_cidr_text,
            "Whether all of another prefix lies within.",
            ("cidr('192.168.0.0/16').containsCIDR('192.168.1.0/24')", "true"),
        ).with_each(cost=_and_parse(_CONTAINS_CIDR_COST)),
        declared(
            "CIDR.containsCIDR(CIDR) -> bool",
            "cidr_contains_cidr",
            _contains_cidr,
            "Whether all of another prefix lies within.",
            ("cidr('10.0.0.0/24').containsCIDR(cidr('10.0.0.0/16'))", "false"),
        ),
        cost=_CONTAINS_CIDR_COST,
    ),
)

CIDR_LIBRARY: Final = Library(
    "net.cidr",
    functions=(
        declared(
            "cidr(string) -> CIDR",
            "string_to_cidr",
            _cidr,
            "The prefix a text stands for; an error if it is none.",
            ("string(cidr('192.168.0.1/24'))", "'192.168.0.1/24'"),
            cost=costs.FIRST,
            growth=ADDRESS_GROWTH,
        ),
        declared(
            "isCIDR(string) -> bool",
            "is_cidr",
            _is_cidr,
            "Whether a text is a prefix that `cidr` takes.",
            ("isCIDR('192.168.0.0/16')", "true"),
            ("isCIDR('192.168.0.0/33')", "false"),
            cost=costs.FIRST,
        ),
        *_CONTAINS,
        declared(
            "CIDR.ip() -> IP",
            "cidr_ip",
            _address,
            "The address before the slash, with all its bits.",
            ("string(cidr('192.168.0.1/24').ip())", "'192.168.0.1'"),
            growth=ADDRESS_GROWTH,
        ).with_each(cost=cost_rules.constant(1)),
        declared(
            "CIDR.prefixLength() -> int",
            "cidr_prefix_length",
            _prefix_length,
            "The number after the slash.",
            ("cidr('192.168.0.0/16').prefixLength()", "16"),
        ),
        declared(
            "CIDR.masked() -> CIDR",
            "cidr_masked",
            _masked,
            "The prefix with the bits after it cleared.",
            ("string(cidr('192.168.0.1/24').masked())", "'192.168.0.0/24'"),
            growth=ADDRESS_GROWTH,
        ),
        declared(
            "string(CIDR) -> string",
            "cidr_to_string",
            CIDR.display,
            "The prefix as text.",
            ("string(cidr('::1/128'))", "'::1/128'"),
            growth=growth.short_text,
        ).with_each(inline=text_forms.STRING),
    ),
    types=(costs.CIDR,),
)

_OLDER_CONTAINING: Final[Mapping[str, Impl]] = {
    "cidr_contains_cidr": _older_contains_cidr,
    "cidr_contains_cidr_string": _older_contains_cidr_text,
}


def _older(function: Function) -> Function:
    overloads = (
        overload._replace(impl=_OLDER_CONTAINING[overload.id], examples=())
        if overload.id in _OLDER_CONTAINING
        else overload
        for overload in function.overloads
    )
    return function._replace(overloads=tuple(overloads))


OLDER_CIDR_LIBRARY: Final = CIDR_LIBRARY._replace(
    functions=tuple(map(_older, CIDR_LIBRARY.functions))
)
"""As before 1.31."""


# --- URLs --------------------------------------------------------------------
#
# `kubernetes.urls`: `url(string)`, `isURL` and the parts of a URL.
#
# Upstream: k8s.io/apiserver `pkg/cel/library/urls.go`. A text is accepted if it is an absolute URI
# or path, and then read a second time by the laxer rules that know fragments and `//host`.

_URL: Final = costs.URL


class URL(Opaque):
    """A value of type `kubernetes.URL`."""

    __slots__ = ("hostname", "url")
    cel_type = _URL
    go_name = "cel.URL"
    go_content = "*url.URL"

    def __init__(self, url: net_url.URL) -> None:
        self.url = url
        self.hostname = url.hostname

    def equals(self, other: Opaque) -> bool:
        """Tell whether it is the same text."""
        return isinstance(other, URL) and str(self.url) == str(other.url)

    def display(self) -> str:
        """Return the URL as Go writes it."""
        return str(self.url)


@Remembered
def _parse(text: str) -> URL:
    try:
        net_url.parse_request_uri(text)
        return URL(net_url.parse(text))
    except net_url.URLError as error:
        raise EvaluationError(f"URL parse error during conversion from string: {error}") from None


@Remembered
def _is_url(text: str) -> bool:
    """Only the first reading decides, though the second may still fail: `//host:port`."""
    try:
        net_url.parse_request_uri(text)
    except net_url.URLError:
        return False
    return True


def _read_again(work: UnpaidWork, impl: Impl, value: Any) -> Any:  # noqa: ANN401 - a value of CEL
    """Ask a URL in a loop for what is read from its text anew, for the charge of a call."""
    if isinstance(value, URL):
        work.pay_for_long(value.display())
    return impl(value)


_EXAMPLE: Final = "url('https://example.com:80/a b?q=1')"

_ACCESSORS: Final = (
    declared(
        "URL.getScheme() -> string",
        "url_get_scheme",
        lambda value: value.url.scheme,
        "The scheme in lower case, empty if there is none.",
        (f"{_EXAMPLE}.getScheme()", "'https'"),
        growth=growth.first,
    ),
    declared(
        "URL.getHost() -> string",
        "url_get_host",
        lambda value: value.url.host,
        "The host with its port and, for IPv6, its brackets.",
        (f"{_EXAMPLE}.getHost()", "'example.com:80'"),
        growth=growth.first,
    ),
    declared(
        "URL.getHostname() -> string",
        "url_get_hostname",
        lambda value: value.hostname,
        "The host without port and brackets.",
        (f"{_EXAMPLE}.getHostname()", "'example.com'"),
        growth=growth.first,
    ),
    declared(
        "URL.getPort() -> string",
        "url_get_port",
        lambda value: value.url.port,
        "The port, empty if there is none.",
        (f"{_EXAMPLE}.getPort()", "'80'"),
        growth=growth.first,
    ),
    declared(
        "URL.getEscapedPath() -> string",
        "url_get_escaped_path",
        lambda value: value.url.escaped_path,
        "The path with its escapes.",
        (f"{_EXAMPLE}.getEscapedPath()", "'/a%20b'"),
        growth=growth.times(12),
    )._replace(unpaid=_read_again),
    declared(
        "URL.getQuery() -> map(string, list(string))",
        "url_get_query",
        lambda value: value.url.query(),
        "The values of each query parameter, unescaped.",
        ("url('https://h/?k=a&k=b').getQuery()", "{'k': ['a', 'b']}"),
        growth=growth.times(4),
    )._replace(unpaid=_read_again),
)

URL_LIBRARY: Final = Library(
    "kubernetes.urls",
    functions=(
        declared(
            "url(string) -> URL",
            "string_to_url",
            _parse,
            "The URL a text stands for: an absolute URI or an absolute path.",
            ("url('/path').getEscapedPath()", "'/path'"),
            cost=costs.FIRST_SAME_SIZE,
            growth=growth.first,
        ),
        declared(
            "isURL(string) -> bool",
            "is_url",
            _is_url,
            "Whether a text is a URL that `url` takes.",
            ("isURL('https://example.com/')", "true"),
            ("isURL('../relative')", "false"),
        ),
        *_ACCESSORS,
    ),
)

OLDER_URL_LIBRARY: Final = URL_LIBRARY._replace(
    functions=tuple(
        item._replace(cost=costs.FIRST) if item.name == "url" else item
        for item in URL_LIBRARY.functions
    )
)
"""As before 1.32: nothing was known of the size of a URL."""
