"""Bytes to requests, as Go's servers read them: pure, without sockets.

First come targets (what a head asks for), then heads, then readers that find the end of a body.
"""

from __future__ import annotations

import functools
import ipaddress
import re
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Final, Protocol, TypeAlias

from celadon.apiserver.http_messages import LONG_HEAD, Header, Headers
from celadon.late_patterns import late_pattern
from celadon.memoization import LONGEST
from celadon.records import dataclass

# --- Request targets ---------------------------------------------------------
#
# What a request line asks for: a path with its query, out of any form of target.
#
# As Go's `net/url`, ParseRequestURI: what it takes is taken, also where an HTTP server has no
# use for it, and what it refuses is refused.

_ORDINARY: Final = late_pattern(rb"/[!-$&-~\x80-\xff]*")
"""Nothing in it needs a second look."""

_CONTROL: Final = late_pattern(rb"[\x00-\x1f\x7f]")
_SCHEME: Final = late_pattern(rb"([A-Za-z][A-Za-z0-9+.-]*):(.*)")
_BROKEN_ESCAPE: Final = late_pattern(rb"%(?![0-9A-Fa-f]{2})")
_USER: Final = late_pattern(rb"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_HOST: Final = late_pattern(
    rb"(?:[A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>\"\x80-\xff]++|%25|%[89A-Fa-f][0-9A-Fa-f])*+"
)
_PORT: Final = late_pattern(rb"(?::[0-9]*)?")


class UnreadableTarget(ValueError):
    """Says that a text is no target of a request."""


def request_target(method: bytes, raw: bytes) -> bytes:
    """Return the path and the query, as they were sent. Raises UnreadableTarget."""
    if _ORDINARY.fullmatch(raw) is not None:
        return raw
    if method == b"CONNECT" and not raw.startswith(b"/"):
        raw = b"http://" + raw
    if not raw or raw.startswith(b":") or _CONTROL.search(raw) is not None:
        raise UnreadableTarget
    if raw == b"*":
        return raw
    match = _SCHEME.fullmatch(raw)
    scheme, rest = (b"", raw) if match is None else (match[1].lower(), match[2])
    rest, mark, query = rest.partition(b"?")
    if not rest.startswith(b"/"):
        if not scheme:
            raise UnreadableTarget
        return b"/" + mark + query  # nothing but a name: it has no path
    if scheme and rest.startswith(b"//"):
        authority, slash, path = rest[2:].partition(b"/")
        _check_authority(scheme, authority)
        rest = slash + path
    if _BROKEN_ESCAPE.search(rest) is not None:
        raise UnreadableTarget
    return (rest or b"/") + mark + query


def _check_authority(scheme: bytes, authority: bytes) -> None:
    user, _, host = authority.rpartition(b"@")
    if _USER.fullmatch(user) is None or _BROKEN_ESCAPE.search(user) is not None:
        raise UnreadableTarget
    if b"[" in host:
        _check_literal(host)
        return
    colon = host.find(b":") if scheme in (b"http", b"https") else host.rfind(b":")
    if colon >= 0 and _PORT.fullmatch(host[colon:]) is None:
        raise UnreadableTarget
    if _HOST.fullmatch(host) is None:
        raise UnreadableTarget


def _check_literal(host: bytes) -> None:
    """Check an address of IPv6 in brackets."""
    address, bracket, port = host[1:].rpartition(b"]")
    if _BROKEN_ESCAPE.search(address) is not None:
        raise UnreadableTarget
    if not host.startswith(b"[") or not bracket or _PORT.fullmatch(port) is None:
        raise UnreadableTarget
    try:
        ipaddress.IPv6Address(urllib.parse.unquote_to_bytes(address).decode())
    except ValueError:
        raise UnreadableTarget from None


# --- Request heads -----------------------------------------------------------
#
# The head of a request: its first line and its headers, read as strictly as Go's servers read.
#
# Whatever is wrong is said in Go's words and in its order, since clients and scanners know
# them; so is what Go lets pass: a line that ends without a carriage return, a value that goes
# on in the next line. One thing is refused that Go takes: a length beside `Transfer-Encoding`,
# where a proxy before us may have believed the other of the two. As Go's `net/http`
# (readRequest, readTransfer), `net/textproto` (readMIMEHeader) and
# `golang.org/x/net/http/httpguts`.

_HEADERS: Final = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
_METHOD: Final = late_pattern(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VERSION: Final = late_pattern(rb"HTTP/([0-9])\.([0-9])")
_REQUEST_HEADS_ORDINARY: Final = late_pattern(
    rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n(?![ \t]))*\r\n"
)
"""Headers, one in each line, and the empty line."""

_NAME_OR_SPACES: Final = late_pattern(rb"[ !#$%&'*+.^_`|~0-9A-Za-z-]+")
"""Spaces are taken while a head is read, and refused when it has been."""

_VALUE: Final = late_pattern(rb"[\t -~\x80-\xff]*")
_REQUEST_HEADS_HOST: Final = late_pattern(r"[!$%&'()*+,\-.0-9:;=A-Z\[\]_a-z~]*")
_LENGTH: Final = late_pattern(r"[0-9]+")
_LONGEST: Final = (1 << 63) - 1

MOST_HEADERS: Final = 5_000
"""More are refused, as Go does from 1.27 on (there 500): a megabyte of them takes a tenth of a
second to read, before it is known who sends them."""

KNOWN_BYTES: Final = 2048
"""Of headers that are kept to know them again."""

_CONTINUES: Final = late_pattern(r"(?:\A|[ ,\t])100-continue(?:[ ,\t]|\Z)")

_FRAMING: Final = frozenset(
    {"host", "transfer-encoding", "content-length", "connection", "expect", "trailer"}
)
_NOT_TRAILERS: Final = late_pattern(
    r"(?ai:(?:\A|,)[ \t]*(transfer-encoding|trailer|content-length)[ \t]*(?=,|\Z))"
)
_KEEPING: Final = late_pattern(r"(?ai:(?:\A|,)[ \t]*(close|keep-alive)[ \t]*(?=,|\Z))")

_Framing: TypeAlias = Mapping[str, Sequence[str]]
"""The values of the headers that say where a request begins and ends."""


class RequestRefused(Exception):
    """Says that something is no request, or none that is served. `answer` is all that is said,
    before the connection ends."""

    def __init__(self, status: HTTPStatus, reason: str = "", text: str = "") -> None:
        message = f"{status.value} {status.phrase}" + (f": {reason}" if reason else "")
        self.answer = f"HTTP/1.1 {message}{_HEADERS}{text or message}".encode()
        super().__init__(message)


@dataclass(slots=True)
class RequestHead:
    """Holds the head of a request. `headers` have their names in lower case; `length` is that of
    the body unless it comes in chunks."""

    method: str
    target: str
    headers: Headers
    is_old: bool
    """Of HTTP/1.0: no chunks."""
    keep_alive: bool
    length: int
    chunked: bool
    continues: bool
    """Whether the client waits for `100 Continue`."""
    is_expected: bool
    """Whether nothing else is expected of us."""


def head_end(unread: bytearray, scanned: int) -> int:
    """Return how long the head is, with its empty line; -1 if that has not come. In the first
    `scanned` bytes there was none."""
    start = max(scanned - 3, 0)
    end = unread.find(b"\n\r\n", start)
    shorter = unread.find(b"\n\n", start, end + 1 if end >= 0 else len(unread))
    if shorter >= 0:
        return shorter + 2
    return end + 3 if end >= 0 else -1


def check_first_line(unread: bytearray) -> None:
    """Refuse what is no request, which its first line shows. Raises RequestRefused."""
    end = unread.find(b"\n")
    if end >= 0:
        _first_line(bytes(unread[:end]))


def read_head(head: bytes) -> RequestHead:
    """Read a head, which ends with its empty line. Raises RequestRefused."""
    first, _, block = head.partition(b"\n")
    method, target, version = _first_line(first)
    if version != (1, 1) or method == "CONNECT" or len(block) > KNOWN_BYTES:
        return _read_fields(method, target, version, block)
    known = _short_block(block)
    return RequestHead(
        method,
        target,
        known.headers,
        known.is_old,
        known.keep_alive,
        known.length,
        known.chunked,
        known.continues,
        known.is_expected,
    )


def _read_fields(method: str, target: str, version: tuple[int, int], block: bytes) -> RequestHead:
    """Read the headers, and whether a body follows. With HTTP/1.1 it does not depend on the method,
    but for CONNECT. Raises RequestRefused."""
    headers = Headers(read_headers(block))
    framing = _framing(headers)
    is_old = version == (1, 0)
    if len(framing.get("host", ())) > 1:
        raise RequestRefused(HTTPStatus.BAD_REQUEST)
    chunked = version >= (1, 1) and _is_chunked(framing)
    length = _length(framing, chunked=chunked)
    is_preface = (method, target, version, headers) == ("PRI", "*", (2, 0), ())
    if not is_preface:
        _check_served(version, framing, headers, method)
    tokens = _tokens(framing["connection"], _KEEPING) if "connection" in framing else ()
    expected = framing["expect"][0] if "expect" in framing else ""
    continues = bool(expected) and _CONTINUES.search(expected.lower()) is not None
    lasts = not is_preface and method != "CONNECT" and "close" not in tokens
    return RequestHead(
        method,
        target,
        headers,
        is_old,
        lasts and (not is_old or "keep-alive" in tokens),
        length,
        chunked,
        continues and not is_old and (chunked or length > 0),
        continues or not expected,
    )


# Clients say the same few headers in all of their requests and connections; those of writes differ
# in the length of the body.
@functools.lru_cache(maxsize=1024)
def _short_block(block: bytes) -> RequestHead:
    """Return what the headers of a request say, whatever its first line asks for."""
    return _read_fields("", "", (1, 1), block)


_FirstLine: TypeAlias = tuple[str, str, tuple[int, int]]
"""Method, target and version."""


def _first_line(line: bytes) -> _FirstLine:
    """Read the line that says what is asked for. Raises RequestRefused."""
    return _short_line(line) if len(line) <= LONGEST else _read_first_line(line)


def _read_first_line(line: bytes) -> _FirstLine:
    method, _, rest = line.removesuffix(b"\r").partition(b" ")
    target, _, version = rest.partition(b" ")
    number = _VERSION.fullmatch(version)
    if number is None or _METHOD.fullmatch(method) is None:
        raise RequestRefused(HTTPStatus.BAD_REQUEST)
    try:
        path = request_target(method, target)
    except UnreadableTarget:
        raise RequestRefused(HTTPStatus.BAD_REQUEST) from None
    return method.decode(), path.decode("latin-1"), (int(number[1]), int(number[2]))


_short_line: Final = functools.lru_cache(maxsize=1024)(_read_first_line)
"""Clients ask for the same again and again."""


def read_headers(block: bytes) -> list[Header]:
    """Return all headers, up to and with the empty line. Raises RequestRefused."""
    if block.count(b"\n") > MOST_HEADERS + 1:
        raise RequestRefused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
    if _REQUEST_HEADS_ORDINARY.fullmatch(block) is None:
        return list(_careful_headers(block))
    try:
        text = block.decode()
    except UnicodeDecodeError:
        return list(_careful_headers(block))
    result = []
    for line in text.split("\r\n")[:-2]:
        name, _, value = line.partition(":")
        result.append((name.lower(), value.strip(" \t")))
    return result


def _careful_headers(block: bytes) -> Iterator[Header]:
    """Yield headers that do not stand one in each line, and refuse what is no header."""
    for line in _joined_lines(block):
        name, colon, value = line.partition(b":")
        good = colon and _NAME_OR_SPACES.fullmatch(name) and _VALUE.fullmatch(value)
        if not good:
            raise RequestRefused(HTTPStatus.BAD_REQUEST)
        yield name.decode().lower(), header_text(value.lstrip(b" \t"))


def _joined_lines(block: bytes) -> Iterator[bytes]:
    """Yield each line with those that go on with it, which begin with a space."""
    pieces: list[bytes] = []
    for line in block.split(b"\n"):
        text = line.removesuffix(b"\r")
        if text.startswith((b" ", b"\t")):
            if not pieces:
                raise RequestRefused(HTTPStatus.BAD_REQUEST)
            pieces.append(text.strip(b" \t"))
            continue
        if pieces:
            yield b" ".join(pieces)
        if not text:
            return
        if b":" not in text:
            raise RequestRefused(HTTPStatus.BAD_REQUEST)
        pieces = [text.strip(b" \t")]


def header_text(value: bytes) -> str:
    """Return a header's value as text. It is UTF-8, and what is not has U+FFFD in it: if it were
    read as Latin-1, two values would be the same, and a right to be the one would be a right to be
    the other."""
    return value.decode("utf-8", "replace")


def _framing(headers: Iterable[Header]) -> _Framing:
    result: dict[str, list[str]] = {}
    for name, value in headers:
        if name in _FRAMING:
            result.setdefault(name, []).append(value)
    return result


def _is_chunked(framing: _Framing) -> bool:
    """Return whether the body comes in chunks. Raises RequestRefused for whatever else a body may
    come in."""
    codings = framing.get("transfer-encoding")
    if codings is None:
        return False
    if len(codings) != 1 or codings[0].lower() != "chunked" or not codings[0].isascii():
        raise RequestRefused(HTTPStatus.NOT_IMPLEMENTED, text="Unsupported transfer encoding")
    if _tokens(framing.get("trailer", ()), _NOT_TRAILERS):
        raise RequestRefused(HTTPStatus.BAD_REQUEST)
    return True


def _length(framing: _Framing, *, chunked: bool) -> int:
    lengths = framing.get("content-length")
    if lengths is None:
        return 0
    different = {length.strip(" \t") for length in lengths}
    digits = lengths[0].strip(" \t")
    is_one = len(different) == 1 and _LENGTH.fullmatch(digits) is not None
    digits = digits.lstrip("0") or "0"  # Python reads no texts of thousands of digits
    if chunked or not is_one or len(digits) > 19 or int(digits) > _LONGEST:
        raise RequestRefused(HTTPStatus.BAD_REQUEST)
    return int(digits)


def _check_served(
    version: tuple[int, int], framing: _Framing, headers: Iterable[Header], method: str
) -> None:
    if version[0] != 1:
        reason = "unsupported protocol version"
        raise RequestRefused(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, reason)
    hosts = framing.get("host", ())
    if not hosts and version >= (1, 1) and method != "CONNECT":
        raise RequestRefused(HTTPStatus.BAD_REQUEST, "missing required Host header")
    if hosts and _REQUEST_HEADS_HOST.fullmatch(hosts[0]) is None:
        raise RequestRefused(HTTPStatus.BAD_REQUEST, "malformed Host header")
    if any(" " in name for name, _ in headers):
        raise RequestRefused(HTTPStatus.BAD_REQUEST, "invalid header name")


def _tokens(values: Iterable[str], pattern: re.Pattern[str]) -> frozenset[str]:
    """Return which of the wanted words are parts of the lists, in lower case. Of a list with half a
    million parts only the first ones are looked at."""
    return frozenset(
        part.lower() for value in values for part in pattern.findall(value[:LONG_HEAD])
    )


# --- Body readers ------------------------------------------------------------
#
# Where a body ends, by its length or by its chunks.
#
# Both readers take what is theirs off the front of what has not been read. Chunks are read as
# strictly as Go reads them (`net/http/internal`, NewChunkedReader): their lines end with both
# characters, and what is not content may not be much more than the content. Chunks of a few
# bytes each cost far more than what they bring, so that there may not be any number of them.

_LONGEST_LINE: Final = 4096
_MOST_TRAILER: Final = 4096
_MOST_OVERHEAD: Final = 16 << 10
_FREE_OVERHEAD: Final = 16
"""Bytes beside the content that each chunk may have, and twice as many as it has content."""

MOST_CHUNKS: Final = 1 << 16
CHUNKS_AT_ONCE: Final = 1 << 12
"""Those of one byte take some milliseconds of the event loop."""
_SIZE: Final = late_pattern(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;.*)?", flags=16)  # `.` is any byte


class BodyReader(Protocol):
    """Reads the body of a request, piece by piece. `is_whole` when the body has ended; `is_behind`
    if more has come than was taken at once."""

    is_whole: bool
    is_behind: bool

    def take(self, unread: bytearray) -> bytearray:
        """Take the content out of what has come, and return it. Raises RequestRefused."""
        ...


class SizedBody:
    """A body of so many bytes."""

    is_behind = False

    def __init__(self, length: int) -> None:
        self._remaining = length
        self.is_whole = not length

    def take(self, unread: bytearray) -> bytearray:
        result = unread[: self._remaining]
        del unread[: self._remaining]
        self._remaining -= len(result)
        self.is_whole = not self._remaining
        return result


class ChunkedBody:
    """A body whose end says itself."""

    def __init__(self) -> None:
        self.is_whole = False
        self.is_behind = False
        self._remaining = 0
        """Bytes of the chunk that have not come."""
        self._ends = False
        """Whether the line end after a chunk is next."""
        self._is_over = False
        """Whether only the trailer is missing."""
        self._overhead = 0
        self._chunks = 0

    def take(self, unread: bytearray) -> bytearray:
        result = bytearray()
        index, last = 0, self._chunks + CHUNKS_AT_ONCE
        self.is_behind = False
        while not self._is_over:
            if self._remaining:
                piece = unread[index : index + self._remaining]
                result += piece
                index += len(piece)
                self._remaining -= len(piece)
                if self._remaining:
                    break
                self._ends = True
            if self._ends:
                if len(unread) < index + 2:
                    break
                if unread[index : index + 2] != b"\r\n":
                    raise _refused("malformed chunked encoding")
                index += 2
                self._ends = False
            if self._chunks == last:
                self.is_behind = True
                break
            after = unread.find(b"\n", index, index + _LONGEST_LINE + 2) + 1
            if not after:
                if len(unread) - index >= _LONGEST_LINE:
                    raise _refused("header line too long")
                break
            self._begin(bytes(unread[index : after - 1]))
            index = after
        del unread[:index]
        if self._is_over:
            self._take_trailer(unread)
        return result

    def _begin(self, line: bytes) -> None:
        """Begin a chunk, by its first line."""
        if line.find(b"\r") != len(line) - 1:
            bare = b"\r" not in line
            text = "chunked line ends with bare LF" if bare else "invalid CR in chunked line"
            raise _refused(text)
        size = _SIZE.fullmatch(line[:-1])
        if size is None:
            raise _refused("invalid byte in chunk length")
        self._remaining = int(size[1], 16)
        self._chunks += 1
        over = self._overhead + len(line) + 1 - _FREE_OVERHEAD - 2 * self._remaining
        self._overhead = max(over, 0)
        if self._overhead > _MOST_OVERHEAD or self._chunks > MOST_CHUNKS:
            raise _refused("chunked encoding contains too much non-data")
        self._is_over = not self._remaining

    def _take_trailer(self, unread: bytearray) -> None:
        """Take a line of the trailer: nobody reads it, but it has to be well formed."""
        if unread.startswith(b"\r\n"):
            del unread[:2]
            self.is_whole = True
            return
        end = unread.find(b"\r\n\r\n", 0, _MOST_TRAILER)
        if end >= 0:
            read_headers(bytes(unread[: end + 4]))
            del unread[: end + 4]
            self.is_whole = True
        elif len(unread) >= _MOST_TRAILER:
            raise _refused("http: suspiciously long trailer after chunked body")


def _refused(reason: str) -> RequestRefused:
    return RequestRefused(HTTPStatus.BAD_REQUEST, reason)
