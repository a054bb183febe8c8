"""URLs: Go's rules for what is one, its parts, how it prints, and what is said about the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.go.go_url import MAX_QUERY_PARAMETERS, URLError, parse, parse_request_uri


@pytest.mark.parametrize(
    "text",
    ["/foo", "*", "http://", "http://user@:80", "mailto:a@b", "http:opaque", "a:b", "//host"],
)
def test_request_uris(text: str) -> None:
    parse_request_uri(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty url"),
        ("foo", "invalid URI for request"),
        ("../x", "invalid URI for request"),
        ("?b", "invalid URI for request"),
        (":x", "missing protocol scheme"),
        ("1a:b", "invalid URI for request"),
        ("https://a:b:c/", 'invalid port ":b:c" after host'),
        ("http://h:1x/", 'invalid port ":1x" after host'),
        ("x://a:1,b:x/", 'invalid port ":x" after host'),
        ("https://exa mple.com", 'invalid character " " in host name'),
        ("http://a|b/", 'invalid character "|" in host name'),
        ("http://a%41/", 'invalid URL escape "%41"'),
        ("/%zz", 'invalid URL escape "%zz"'),
        ("/%", 'invalid URL escape "%"'),
        ("/%a", 'invalid URL escape "%a"'),
        ("/%aé", 'invalid URL escape "%a\\xc3"'),
        ("http://[::1", "missing ']' in host"),
        ("http://[::1]x/", 'invalid port "x" after host'),
        ("http://x[::1]/", "invalid IP-literal"),
        ("http://[1.2.3.4]/", "invalid IP-literal"),
        ("http://[zz]/", 'invalid host: ParseAddr("zz"): unable to parse IP'),
        ("http://[fe80::1%25%00]/", 'invalid URL escape "%00"'),
        ("http://a<b>@h/", "net/url: invalid userinfo"),
    ],
)
def test_no_request_uris(text: str, reason: str) -> None:
    with pytest.raises(URLError) as caught:
        parse_request_uri(text)
    assert str(caught.value) == f'parse "{text}": {reason}'


def test_control_characters() -> None:
    with pytest.raises(URLError) as caught:
        parse_request_uri("/\x7f")
    assert str(caught.value) == ('parse "/\\x7f": net/url: invalid control character in URL')


def test_relative_references_have_no_colon_in_their_first_part() -> None:
    with pytest.raises(URLError) as caught:
        parse("1a:b")
    assert str(caught.value) == ('parse "1a:b": first path segment in URL cannot contain colon')


@pytest.mark.parametrize(
    ("text", "scheme", "host", "hostname", "port", "path", "query"),
    [
        (
            "HTTPS://Example.com:8080/a%20b?q=1&q=2&r=x%26y#frag",
            "https",
            "Example.com:8080",
            "Example.com",
            "8080",
            "/a%20b",
            {"q": ["1", "2"], "r": ["x&y"]},
        ),
        ("http://[::1]:80/x", "http", "[::1]:80", "::1", "80", "/x", {}),
        ("http://[fe80::1%25en0]/", "http", "[fe80::1%en0]", "fe80::1%en0", "", "/", {}),
        ("//host", "", "host", "host", "", "", {}),
        ("/path with spaces/", "", "", "", "", "/path%20with%20spaces/", {}),
        ("/%41%2F", "", "", "", "", "/%41%2F", {}),
        ("mailto:a@b", "mailto", "", "", "", "", {}),
        ("/?b", "", "", "", "", "/", {"b": [""]}),
        ("/?%zz&a=%zz&b=1;2&c=3&&d=a+b", "", "", "", "", "/", {"c": ["3"], "d": ["a b"]}),
        ("http://u:p@h:/", "http", "h:", "h", "", "/", {}),
        ("x://a:1,b:2/", "x", "a:1,b:2", "a:1,b", "2", "/", {}),
        ("http://%ff/?%fe%41=%ff", "http", "\ufffd", "\ufffd", "", "/", {"\ufffdA": ["\ufffd"]}),
        ("*", "", "", "", "", "*", {}),
    ],
)
def test_parts(
    text: str,
    scheme: str,
    host: str,
    hostname: str,
    port: str,
    path: str,
    query: dict[str, list[str]],
) -> None:
    url = parse(text)
    assert (url.scheme, url.host, url.hostname, url.port) == (scheme, host, hostname, port)
    assert url.escaped_path == path
    assert url.query() == query


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("HTTP://UP.com/P", "http://UP.com/P"),
        ("http://", "http:"),
        ("http:///x", "http:///x"),
        ("http:/x", "http:/x"),
        ("mailto:a@b?x#y", "mailto:a@b?x#y"),
        ("https://a.com?x=%zz", "https://a.com?x=%zz"),
        ("http://user:pa%40ss@h:1/", "http://user:pa%40ss@h:1/"),
        ("http://[fe80::1%25en0]/", "http://[fe80::1%25en0]/"),
        ("/x?", "/x?"),
        ("/a b#c d", "/a%20b#c%20d"),
        ("/a%2fb#%2f", "/a%2fb#%2f"),
        ("//host", "//host"),
        ("http://é/é", "http://%C3%A9/%C3%A9"),
        ("a/b:c", "a/b:c"),
        ("./a:b", "./a:b"),
        ("%3Ab c", "./:b%20c"),
    ],
)
def test_prints(text: str, printed: str) -> None:
    assert str(parse(text)) == printed


def test_a_query_with_too_many_parameters_is_empty() -> None:
    assert parse("/?" + "a&" * (MAX_QUERY_PARAMETERS - 1)).query() != {}
    assert parse("/?" + "a&" * MAX_QUERY_PARAMETERS).query() == {}


@given(st.text(alphabet="ab:/?#[]@%2f. \u00e9&=", max_size=16))
def test_any_text_gives_a_url_or_an_error(text: str) -> None:
    try:
        printed = str(parse(text))
    except URLError:
        return
    assert str(parse(printed)) == printed
