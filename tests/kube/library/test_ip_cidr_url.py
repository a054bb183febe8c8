"""The libraries for IP addresses and prefixes: what Kubernetes refuses, and odd error texts."""

from __future__ import annotations

import pytest

from tests.kube.library.evaluation import evaluate, failure

PARSE = "network address parse error during conversion from string: "


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("type(ip('1.2.3.4')) == net.IP", True),
        ("type(cidr('::/0')) == net.CIDR", True),
        ("type(ip('1.2.3.4')) == net.CIDR", False),
        ("ip('2001:DB8::1') == ip('2001:db8::1')", True),
        ("isIP('::ffff:1.2.3.4')", False),
        ("isIP('fe80::1%eth0')", False),
        ("isIP('')", False),
        ("ip.isCanonical('2001:db8::0:0:0:abcd')", False),
        ("ip.isCanonical('127.0.0.1')", True),
        ("ip('::1').family()", 6),
        ("ip('255.255.255.255').isGlobalUnicast()", False),
        ("isCIDR('::ffff:1.2.3.4/112')", False),
        ("cidr('192.168.0.0/24') == cidr('192.168.0.1/24')", False),
        ("cidr('192.168.0.0/24') == cidr('192.168.0.1/24').masked()", True),
        ("cidr('10.0.0.0/8').containsCIDR('10.1.2.3/8')", True),
        ("cidr('10.0.0.0/8').containsIP(object.ip)", True),
        ("cidr('10.0.0.0/8').containsCIDR(object.cidr)", True),
        ("'1.2.3.4' in [string(ip('1.2.3.4'))]", True),
    ],
)
def test_values(expression: str, value: object) -> None:
    assert evaluate(expression, object={"ip": "10.2.3.4", "cidr": "10.0.0.0/9"}) == value


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        (
            "ip('1.2.3')",
            'IP Address "1.2.3" parse error during conversion from string: '
            'ParseAddr("1.2.3"): IPv4 address too short',
        ),
        ("ip('fe80::1%eth0')", 'IP address "fe80::1%eth0" with zone value is not allowed'),
        ("ip('::ffff:1.2.3.4')", 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'),
        (
            "ip.isCanonical('')",
            'IP Address "" parse error during conversion from string: '
            'ParseAddr(""): unable to parse IP',
        ),
        (
            "cidr('10.0.0.0/33')",
            f'{PARSE}{PARSE}netip.ParsePrefix("10.0.0.0/33"): prefix length out of range',
        ),
        (
            "cidr('::ffff:1.2.3.4/112')",
            f'{PARSE}IPv4-mapped IPv6 address "::ffff:1.2.3.4/112" is not allowed',
        ),
        ("cidr('10.0.0.0/8').containsIP('garbage')", "no such overload"),
        (
            "cidr('10.0.0.0/8').containsCIDR('garbage')",
            f"{PARSE}{PARSE}netip.ParsePrefix(\"garbage\"): no '/'",
        ),
        ("cidr('10.0.0.0/8').containsIP(object)", "no such overload: containsIP(net.CIDR, int)"),
        ("ip('1.2.3.4') == object", "no such overload"),
    ],
)
def test_errors(expression: str, error: str) -> None:
    assert failure(expression, object=1) == error
