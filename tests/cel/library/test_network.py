"""The network library: what it accepts beyond the examples, and what it says about the rest."""

from __future__ import annotations

import pytest

from celadon import cel
from celadon.cel.library import network

ENVIRONMENT = cel.Environment({"x": cel.types.DYN}, libraries=(network.LIBRARY,))


def evaluate(expression: str, **variables: object) -> object:
    return ENVIRONMENT.program(ENVIRONMENT.compile(expression).checked()).evaluate(variables)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("type(ip('1.2.3.4')) == net.IP", True),
        ("type(cidr('::/0')) == net.CIDR", True),
        ("ip('::ffff:c0a8:1').family()", 4),
        ("string(ip('::ffff:c0a8:1'))", "192.168.0.1"),
        ("ip.isCanonical('::ffff:c0a8:1')", False),
        ("isIP('::ffff:192.168.0.1')", False),
        ("isIP('')", False),
        ("isCIDR('::ffff:c0a8:1/112')", False),
        ("isCIDR('fe80::1%en0/24')", False),
        ("cidr('10.0.0.0/8').containsCIDR('10.1.2.3/8')", True),
        ("cidr('10.0.0.0/8').containsIP(x)", True),
        ("[cidr('10.0.0.0/8')].exists(c, c.containsIP(ip(x)))", True),
    ],
)
def test_values(expression: str, value: object) -> None:
    assert evaluate(expression, x="10.2.3.4") == value


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
        ("cidr('::ffff:1:2/112')", 'IPv4-mapped IPv6 address "::ffff:1:2/112" is not allowed'),
        (
            "cidr('10.0.0.0/33')",
            'CIDR "10.0.0.0/33" parse error during conversion from string: '
            'netip.ParsePrefix("10.0.0.0/33"): prefix length out of range',
        ),
        (
            "cidr('10.0.0.0/8').containsIP('garbage')",
            'IP Address "garbage" parse error during conversion from string: '
            'ParseAddr("garbage"): unable to parse IP',
        ),
        ("cidr('10.0.0.0/8').containsIP(x)", "no such overload: containsIP(net.CIDR, int)"),
        ("ip('1.2.3.4') == x", "no such overload"),
    ],
)
def test_errors(expression: str, error: str) -> None:
    with pytest.raises(cel.EvaluationError) as caught:
        evaluate(expression, x=1)
    assert caught.value.message == error
