"""The URL library: what is accepted, and equality by the normalized text."""

from __future__ import annotations

import pytest

from tests.kube.library.evaluation import evaluate, failure


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("isURL('*')", True),
        ("isURL('')", False),
        ("isURL('//host:port')", True),
        ("isURL('/?x#%zz')", True),
        ("isURL('https://a:b:c/')", False),
        ("url('HTTP://a/') == url('http://a/')", True),
        ("url('http://a/') == url('http://a/#x')", False),
        ("url('/x#frag').getEscapedPath()", "/x"),
        ("url('//host').getHost()", "host"),
        ("url('http://[fe80::1%25en0]/').getHostname()", "fe80::1%en0"),
        ("url('/?b&b=2').getQuery()", {"b": ["", "2"]}),
        ("'http://a/' == string('http://a/')", True),
        ("object == url('http://a/')", False),
    ],
)
def test_values(expression: str, value: object) -> None:
    assert evaluate(expression, object="http://a/") == value


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        (
            "url('../x').getHost()",
            'URL parse error during conversion from string: parse "../x": invalid URI for request',
        ),
        ("url('http://a/') == object", "no such overload"),
        (
            "url('//host:port')",
            'URL parse error during conversion from string: parse "//host:port": '
            'invalid port ":port" after host',
        ),
        (
            "url('/?x#%zz')",
            'URL parse error during conversion from string: parse "/?x#%zz": '
            'invalid URL escape "%zz"',
        ),
        ("url(object)", "no such overload: url(int)"),
    ],
)
def test_errors(expression: str, error: str) -> None:
    assert failure(expression, object=1) == error


def test_display() -> None:
    assert evaluate("url('HTTP://a/b c')").display() == "http://a/b%20c"
