"""`kubernetes.urls`: `url(string)`, `isURL` and the parts of a URL.

Upstream: k8s.io/apiserver `pkg/cel/library/urls.go`. A text is accepted if it is an absolute URI or
path, and then read a second time by the laxer rules that know fragments and `//host`.
"""

from __future__ import annotations

from typing import Final

from celadon.cel.extend import EvaluationError, Library, Opaque, growth, types
from celadon.cel.value_functions import Remembered
from celadon.kube.go import go_url as net_url
from celadon.kube.library import costs
from celadon.kube.library.costs import function, method

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
        """The same text."""
        return isinstance(other, URL) and str(self.url) == str(other.url)

    def display(self) -> str:
        """As Go writes it."""
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


_EXAMPLE: Final = "url('https://example.com:80/a b?q=1')"

_ACCESSORS: Final = (
    method(
        "getScheme",
        "url_get_scheme",
        (_URL,),
        types.STRING,
        lambda value: value.url.scheme,
        "The scheme in lower case, empty if there is none.",
        (f"{_EXAMPLE}.getScheme()", "'https'"),
        growth=growth.first,
    ),
    method(
        "getHost",
        "url_get_host",
        (_URL,),
        types.STRING,
        lambda value: value.url.host,
        "The host with its port and, for IPv6, its brackets.",
        (f"{_EXAMPLE}.getHost()", "'example.com:80'"),
        growth=growth.first,
    ),
    method(
        "getHostname",
        "url_get_hostname",
        (_URL,),
        types.STRING,
        lambda value: value.hostname,
        "The host without port and brackets.",
        (f"{_EXAMPLE}.getHostname()", "'example.com'"),
        growth=growth.first,
    ),
    method(
        "getPort",
        "url_get_port",
        (_URL,),
        types.STRING,
        lambda value: value.url.port,
        "The port, empty if there is none.",
        (f"{_EXAMPLE}.getPort()", "'80'"),
        growth=growth.first,
    ),
    method(
        "getEscapedPath",
        "url_get_escaped_path",
        (_URL,),
        types.STRING,
        lambda value: value.url.escaped_path,
        "The path with its escapes.",
        (f"{_EXAMPLE}.getEscapedPath()", "'/a%20b'"),
        growth=growth.times(12),
    ),
    method(
        "getQuery",
        "url_get_query",
        (_URL,),
        types.map_of(types.STRING, types.list_of(types.STRING)),
        lambda value: value.url.query(),
        "The values of each query parameter, unescaped.",
        ("url('https://h/?k=a&k=b').getQuery()", "{'k': ['a', 'b']}"),
        growth=growth.times(4),
    ),
)

LIBRARY: Final = Library(
    "kubernetes.urls",
    functions=(
        function(
            "url",
            "string_to_url",
            (types.STRING,),
            _URL,
            _parse,
            "The URL a text stands for: an absolute URI or an absolute path.",
            ("url('/path').getEscapedPath()", "'/path'"),
            cost=costs.FIRST_SAME_SIZE,
            growth=growth.first,
        ),
        function(
            "isURL",
            "is_url",
            (types.STRING,),
            types.BOOL,
            _is_url,
            "Whether a text is a URL that `url` takes.",
            ("isURL('https://example.com/')", "true"),
            ("isURL('../relative')", "false"),
        ),
        *_ACCESSORS,
    ),
)


OLDER_LIBRARY: Final = LIBRARY._replace(
    functions=tuple(
        one._replace(cost=costs.FIRST) if one.name == "url" else one for one in LIBRARY.functions
    )
)
"""As before 1.32: nothing was known of the size of a URL."""
