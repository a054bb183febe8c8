"""URLs as Go's `net/url` (Go 1.26) parses, prints and complains about them.

`parse_request_uri` and `parse` are the two entry points, with the package's rules for what may be
escaped where. Everything inside is bytes, because escapes may name bytes that are not UTF-8; the
accessors of `URL` give text, with U+FFFD for each such byte.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Final

from celadon.kube.errors import MalformedText
from celadon.kube.go.go_text import quote
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

#: More parameters make the whole query unreadable (GODEBUG `urlmaxqueryparams`).
MAX_QUERY_PARAMETERS: Final = 10_000

_LETTERS_AND_DIGITS: Final = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_UNRESERVED: Final = frozenset(_LETTERS_AND_DIGITS + b"-_.~")
_SCHEME: Final = late_pattern(rb"([a-zA-Z][a-zA-Z0-9+.\-]*):")
_CONTROL: Final = late_pattern(rb"[\x00-\x1f\x7f]")
_ESCAPE: Final = late_pattern(rb"%[0-9a-fA-F]{2}")
_LONE_BYTE: Final = late_pattern("([\udc80-\udcff])")
_USERINFO: Final = frozenset(_LETTERS_AND_DIGITS + b"-._:~!$&'()*+,;=%@")
_PORT: Final = late_pattern(rb":[0-9]*")
#: What may stand in a written path or fragment besides what printing leaves alone.
_VALID_ENCODED: Final = frozenset(b"!$&'()*+,;=:@[]%")


class Part(enum.Enum):
    """Says where text stands in a URL."""

    PATH = "path"
    HOST = "host"
    ZONE = "zone"
    USER = "user"
    QUERY = "query"
    FRAGMENT = "fragment"


_HOST_SAFE: Final = _UNRESERVED | frozenset(b"!$&'()*+,;=:[]<>\"")
#: What is not escaped in each part.
_SAFE: Final = {
    Part.PATH: _UNRESERVED | frozenset(b"$&+,/:;=@"),
    Part.HOST: _HOST_SAFE,
    Part.ZONE: _HOST_SAFE,
    Part.USER: _UNRESERVED | frozenset(b"$&+,;="),
    Part.QUERY: _UNRESERVED,
    Part.FRAGMENT: _UNRESERVED | frozenset(b"$&+,/:;=?@!()*"),
}
_HOST_PARTS: Final = frozenset({Part.HOST, Part.ZONE})


class URLError(MalformedText):
    """Says what is wrong with a URL: `parse "<url>": <reason>`."""


class _ReasonError(ValueError):
    """Says the reason only."""


@dataclass(frozen=True, slots=True)
class Userinfo:
    """User and password before the host; None is no password, which is not an empty one."""

    username: bytes
    password: bytes | None = None

    def written(self) -> bytes:
        """Return the user info escaped, as it stands in a URL."""
        text = _escape(self.username, Part.USER)
        return text if self.password is None else text + b":" + _escape(self.password, Part.USER)


@dataclass(frozen=True, slots=True)
class URL:
    """Holds the fields of Go's `url.URL`; `raw_path` and `raw_fragment` only where they differ."""

    scheme: str = ""
    opaque: bytes = b""
    user: Userinfo | None = None
    host_bytes: bytes = b""
    path: bytes = b""
    raw_path: bytes = b""
    omit_host: bool = False
    force_query: bool = False
    raw_query: bytes = b""
    fragment: bytes = b""
    raw_fragment: bytes = b""

    @property
    def host(self) -> str:
        """Return the host with the port, and with the brackets of an IPv6 address."""
        return _text(self.host_bytes)

    @property
    def hostname(self) -> str:
        """Return the host without port and without the brackets of an IPv6 address."""
        return _text(self._split_host()[0])

    @property
    def port(self) -> str:
        """Return the port as text; empty when there is none."""
        return _text(self._split_host()[1])

    def _split_host(self) -> tuple[bytes, bytes]:
        host, port = self.host_bytes, b""
        colon = host.rfind(b":")
        if colon >= 0 and _is_optional_port(host[colon:]):
            host, port = host[:colon], host[colon + 1 :]
        if host.startswith(b"[") and host.endswith(b"]"):
            host = host[1:-1]
        return host, port

    @property
    def escaped_path(self) -> str:
        """Return the path as it was written, if it may be written so, else escaped anew."""
        return _text(self._escaped_path())

    def _escaped_path(self) -> bytes:
        if self.raw_path and _is_valid_encoded(self.raw_path, Part.PATH):
            return self.raw_path
        return b"*" if self.path == b"*" else _escape(self.path, Part.PATH)

    def _escaped_fragment(self) -> bytes:
        if self.raw_fragment and _is_valid_encoded(self.raw_fragment, Part.FRAGMENT):
            return self.raw_fragment
        return _escape(self.fragment, Part.FRAGMENT)

    def query(self) -> dict[str, list[str]]:
        """Return all values of each key; pairs that cannot be decoded are left out."""
        values: dict[str, list[str]] = {}
        if self.raw_query.count(b"&") >= MAX_QUERY_PARAMETERS:
            return values
        for pair in self.raw_query.split(b"&"):
            if not pair or b";" in pair:
                continue
            key, _, value = pair.partition(b"=")
            try:
                decoded = _unescape(key, Part.QUERY), _unescape(value, Part.QUERY)
            except _ReasonError:
                continue
            values.setdefault(_text(decoded[0]), []).append(_text(decoded[1]))
        return values

    def __str__(self) -> str:
        written = self.scheme.encode() + b":" if self.scheme else b""
        if self.opaque:
            written += self.opaque
        else:
            written += self._authority()
            path = self._escaped_path()
            if not written and b":" in path.partition(b"/")[0]:
                written += b"./"
            written += path
        if self.force_query or self.raw_query:
            written += b"?" + self.raw_query
        if self.fragment:
            written += b"#" + self._escaped_fragment()
        return _text(written)

    def _authority(self) -> bytes:
        """Write the authority: `//user@host`."""
        named = bool(self.host_bytes) or self.user is not None
        if not (self.scheme or named) or (self.omit_host and not named):
            return b""
        written = b"//" if named or self.path else b""
        if self.user is not None:
            written += self.user.written() + b"@"
        return written + _escape(self.host_bytes, Part.HOST)


def parse_request_uri(text: str) -> URL:
    """Return an absolute URI or an absolute path; `#` has no meaning. Raises URLError."""
    raw = text.encode("utf-8", "surrogatepass")
    try:
        return _parse(raw, via_request=True)
    except _ReasonError as reason:
        raise _url_error(raw, reason) from None


def parse(text: str) -> URL:
    """Parse any reference, with a fragment. Raises URLError."""
    raw = text.encode("utf-8", "surrogatepass")
    before, _, fragment = raw.partition(b"#")
    try:
        url = _parse(before, via_request=False)
    except _ReasonError as reason:
        raise _url_error(before, reason) from None
    if not fragment:
        return url
    try:
        decoded = _unescape(fragment, Part.FRAGMENT)
    except _ReasonError as reason:
        raise _url_error(raw, reason) from None
    written = b"" if _escape(decoded, Part.FRAGMENT) == fragment else fragment
    return replace(url, fragment=decoded, raw_fragment=written)


def _url_error(raw: bytes, reason: _ReasonError) -> URLError:
    return URLError(f"parse {_quote(raw)}: {reason}")


def _parse(raw: bytes, *, via_request: bool) -> URL:
    if _CONTROL.search(raw) is not None:
        raise _ReasonError("net/url: invalid control character in URL")
    if not raw and via_request:
        raise _ReasonError("empty url")
    if raw == b"*":
        return URL(path=b"*")
    scheme, rest = _split_scheme(raw)
    force_query = rest.endswith(b"?") and rest.count(b"?") == 1
    rest, _, raw_query = rest.partition(b"?")
    if not rest.startswith(b"/"):
        if scheme:
            return URL(scheme, opaque=rest, force_query=force_query, raw_query=raw_query)
        if via_request:
            raise _ReasonError("invalid URI for request")
        if b":" in rest.partition(b"/")[0]:
            raise _ReasonError("first path segment in URL cannot contain colon")
    user, host, omit_host = None, b"", False
    if rest.startswith(b"//") and (scheme or not (via_request or rest.startswith(b"///"))):
        authority, slash, rest = rest[2:].partition(b"/")
        rest = slash + rest
        user, host = _parse_authority(scheme, authority)
    elif scheme and rest.startswith(b"/"):
        omit_host = True
    path = _unescape(rest, Part.PATH)
    raw_path = b"" if _escape(path, Part.PATH) == rest else rest
    return URL(scheme, b"", user, host, path, raw_path, omit_host, force_query, raw_query)


def _split_scheme(raw: bytes) -> tuple[str, bytes]:
    if raw.startswith(b":"):
        raise _ReasonError("missing protocol scheme")
    match = _SCHEME.match(raw)
    if match is None:
        return "", raw
    return match[1].decode().lower(), raw[match.end() :]


def _parse_authority(scheme: str, authority: bytes) -> tuple[Userinfo | None, bytes]:
    userinfo, separator, host = authority.rpartition(b"@")
    parsed = _parse_host(scheme, host)
    if not separator:
        return None, parsed
    if not _USERINFO.issuperset(userinfo):
        raise _ReasonError("net/url: invalid userinfo")
    name, colon, password = userinfo.partition(b":")
    username = _unescape(name, Part.USER)
    return Userinfo(username, _unescape(password, Part.USER) if colon else None), parsed


def _parse_host(scheme: str, host: bytes) -> bytes:
    bracket = host.rfind(b"[")
    if bracket > 0:
        raise _ReasonError("invalid IP-literal")
    if bracket == 0:
        return _parse_ip_literal(host)
    # several hosts in one are an old habit of databases: only these two schemes are strict
    strict = scheme in ("http", "https")
    colon = host.find(b":") if strict else host.rfind(b":")
    if colon >= 0:
        _check_port(host[colon:])
    return _unescape(host, Part.HOST)


def _parse_ip_literal(host: bytes) -> bytes:
    """`[address%25zone]:port`."""
    inside, bracket, port = host[1:].rpartition(b"]")
    if not bracket:
        raise _ReasonError("missing ']' in host")
    _check_port(port)
    port = _unescape(port, Part.HOST)
    zone = inside.find(b"%25")
    if zone < 0:
        address = _unescape(inside, Part.HOST)
    else:
        address = _unescape(inside[:zone], Part.HOST) + _unescape(inside[zone:], Part.ZONE)
    from celadon.cel.value_functions import netaddr  # late: few hosts are addresses in brackets

    try:
        addr = netaddr.parse_addr(_text(address))
    except netaddr.AddrError as error:
        raise _ReasonError(f"invalid host: {error}") from None
    if addr.is_v4:
        raise _ReasonError("invalid IP-literal")
    return b"[" + address + b"]" + port


def _is_optional_port(text: bytes) -> bool:
    return not text or _PORT.fullmatch(text) is not None


def _check_port(text: bytes) -> None:
    if not _is_optional_port(text):
        raise _ReasonError(f"invalid port {_quote(text)} after host")


def _is_valid_encoded(written: bytes, part: Part) -> bool:
    safe = _SAFE[part] | _VALID_ENCODED
    return safe.issuperset(written)


def _escape(raw: bytes, part: Part) -> bytes:
    safe = _SAFE[part]
    if safe.issuperset(raw):
        return raw
    return b"".join(bytes((byte,)) if byte in safe else b"%%%02X" % byte for byte in raw)


def _unescape(written: bytes, part: Part) -> bytes:
    """Bytes for `%` escapes, and spaces for `+` in a query."""
    _check_escapes(written, part)
    if part is Part.QUERY:
        written = written.replace(b"+", b" ")
    if b"%" not in written:
        return written
    return _ESCAPE.sub(lambda match: bytes((int(match[0][1:], 16),)), written)


def _check_escapes(written: bytes, part: Part) -> None:
    """Check the escapes of a text. Raises for a broken escape, and in a host for what may not stand
    there."""
    is_host = part in _HOST_PARTS
    index = 0
    while index < len(written):
        if not is_host:
            index = written.find(b"%", index)
            if index < 0:
                return
        byte = written[index]
        if byte != ord("%"):
            if byte < 0x80 and byte not in _SAFE[part]:
                raise _ReasonError(f"invalid character {quote(chr(byte))} in host name")
            index += 1
            continue
        escape = written[index : index + 3]
        if _ESCAPE.fullmatch(escape) is None or not _may_escape(escape, part):
            raise _ReasonError(f"invalid URL escape {_quote(escape)}")
        index += 3


def _may_escape(escape: bytes, part: Part) -> bool:
    """Return whether an escape may stand here: in a host only for bytes above ASCII, and `%25`
    before a zone."""
    if part not in _HOST_PARTS or escape == b"%25":
        return True
    byte = int(escape[1:], 16)
    if part is Part.HOST:
        return byte >= 0x80
    return byte == ord(" ") or byte in _SAFE[Part.HOST]


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _LONE_BYTE.sub("\ufffd", raw.decode("utf-8", "surrogateescape"))


def _quote(raw: bytes) -> str:
    """`%q`: bytes that are no UTF-8 as `\\xff`."""
    pieces = _LONE_BYTE.split(raw.decode("utf-8", "surrogateescape"))
    quoted = [
        quote(piece)[1:-1] if i % 2 == 0 else f"\\x{ord(piece) - 0xDC00:02x}"
        for i, piece in enumerate(pieces)
    ]
    return f'"{"".join(quoted)}"'
