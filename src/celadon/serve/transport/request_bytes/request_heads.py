"""The head of a request: its first line and its headers, read as strictly as Go's servers read.

Whatever is wrong is said in Go's words and in its order, since clients and scanners know them; so
is what Go lets pass: a line that ends without a carriage return, a value that goes on in the next
line. One thing is refused that Go takes: a length beside `Transfer-Encoding`, where a proxy before
us may have believed the other of the two. As Go's `net/http` (readRequest, readTransfer),
`net/textproto` (readMIMEHeader) and `golang.org/x/net/http/httpguts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Final, TypeAlias

from celadon.patterns import late_pattern
from celadon.records import dataclass
from celadon.serve.http_messages import LONG_HEAD, Header
from celadon.serve.transport.request_bytes.request_targets import UnreadableTarget, request_target

_HEADERS: Final = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
_METHOD: Final = late_pattern(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VERSION: Final = late_pattern(rb"HTTP/([0-9])\.([0-9])")
_ORDINARY: Final = late_pattern(
    rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n(?![ \t]))*\r\n"
)
"""Headers, one in each line, and the empty line."""

_NAME_OR_SPACES: Final = late_pattern(rb"[ !#$%&'*+.^_`|~0-9A-Za-z-]+")
"""Spaces are taken while a head is read, and refused when it has been."""

_VALUE: Final = late_pattern(rb"[\t -~\x80-\xff]*")
_HOST: Final = late_pattern(r"[!$%&'()*+,\-.0-9:;=A-Z\[\]_a-z~]*")
_LENGTH: Final = late_pattern(r"[0-9]+")
_LONGEST: Final = (1 << 63) - 1

MOST_HEADERS: Final = 5_000
"""More are refused, as Go does from 1.27 on (there 500): a megabyte of them takes a tenth of a
second to read, before it is known who sends them."""

KNOWN_BYTES: Final = 2048
"""Of headers that a connection keeps to know them again."""

_CONTINUES: Final = late_pattern(r"(?:.*[ ,\t])?100-continue(?:[ ,\t].*)?")

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
    """What is no request, or none that is served. `answer` is all that is said, before the
    connection ends."""

    def __init__(self, status: HTTPStatus, why: str = "", text: str = "") -> None:
        said = f"{status.value} {status.phrase}" + (f": {why}" if why else "")
        self.answer = f"HTTP/1.1 {said}{_HEADERS}{text or said}".encode()
        super().__init__(said)


@dataclass(slots=True)
class RequestHead:
    """`headers` have their names in lower case; `length` is that of the body unless it comes in
    chunks."""

    method: str
    target: str
    headers: Sequence[Header]
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
    """How long the head is, with its empty line; -1 if that has not come. In the first `scanned`
    bytes there was none."""
    start = max(scanned - 3, 0)
    end = unread.find(b"\n\r\n", start)
    shorter = unread.find(b"\n\n", start, end if end >= 0 else len(unread))
    if shorter >= 0:
        return shorter + 2
    return end + 3 if end >= 0 else -1


def check_first_line(unread: bytearray) -> None:
    """What is no request is known by its first line. Raises RequestRefused."""
    end = unread.find(b"\n")
    if end >= 0:
        _first_line(bytes(unread[:end]))


class HeadReader:
    """Reads the heads of one connection. Clients say the same headers in each of their requests:
    those of the last one are known, if they are short."""

    __slots__ = ("_block", "_last")

    def __init__(self) -> None:
        self._block = b""
        self._last: RequestHead | None = None

    def read(self, head: bytes) -> RequestHead:
        """`head` ends with its empty line. Raises RequestRefused."""
        first, _, block = head.partition(b"\n")
        method, target, version = _first_line(first)
        if version != (1, 1) or method == "CONNECT":
            return _read_fields(method, target, version, block)
        last = self._last
        if last is None or block != self._block:
            found = _read_fields(method, target, version, block)
            if len(block) <= KNOWN_BYTES:
                self._block, self._last = block, found
            return found
        return RequestHead(
            method,
            target,
            last.headers,
            last.is_old,
            last.keep_alive,
            last.length,
            last.chunked,
            last.continues,
            last.is_expected,
        )


def _read_fields(method: str, target: str, version: tuple[int, int], block: bytes) -> RequestHead:
    """With HTTP/1.1 it does not depend on the method, but for CONNECT. Raises RequestRefused."""
    headers = read_headers(block)
    framing = _framing(headers)
    is_old = version == (1, 0)
    if len(framing.get("host", ())) > 1:
        raise RequestRefused(HTTPStatus.BAD_REQUEST)
    chunked = version >= (1, 1) and _is_chunked(framing)
    length = _length(framing, chunked=chunked)
    is_preface = (method, target, version, headers) == ("PRI", "*", (2, 0), [])
    if not is_preface:
        _check_served(version, framing, headers, method)
    said = _tokens(framing["connection"], _KEEPING) if "connection" in framing else ()
    expected = framing["expect"][0] if "expect" in framing else ""
    continues = bool(expected) and _CONTINUES.fullmatch(expected.lower()) is not None
    return RequestHead(
        method,
        target,
        headers,
        is_old,
        not is_preface and "close" not in said and (not is_old or "keep-alive" in said),
        length,
        chunked,
        continues and not is_old and (chunked or length > 0),
        continues or not expected,
    )


def _first_line(line: bytes) -> tuple[str, str, tuple[int, int]]:
    """Method, target and version. Raises RequestRefused."""
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


def read_headers(block: bytes) -> list[Header]:
    """All of them, up to and with the empty line. Raises RequestRefused."""
    if block.count(b"\n") > MOST_HEADERS + 1:
        raise RequestRefused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
    if _ORDINARY.fullmatch(block) is None:
        return list(_careful_headers(block))
    try:
        text = block.decode()
    except UnicodeDecodeError:
        return list(_careful_headers(block))
    found = []
    for line in text.split("\r\n")[:-2]:
        name, _, value = line.partition(":")
        found.append((name.lower(), value.strip(" \t")))
    return found


def _careful_headers(block: bytes) -> Iterator[Header]:
    """Those that do not stand one in each line, or are no headers."""
    for line in _joined_lines(block):
        name, colon, value = line.partition(b":")
        good = colon and _NAME_OR_SPACES.fullmatch(name) and _VALUE.fullmatch(value)
        if not good:
            raise RequestRefused(HTTPStatus.BAD_REQUEST)
        yield name.decode().lower(), header_text(value.lstrip(b" \t"))


def _joined_lines(block: bytes) -> Iterator[bytes]:
    """Each with the lines that go on with it, which begin with a space."""
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
    """A header's value is UTF-8 to Go's clients; what is not is taken byte by byte."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _framing(headers: Iterable[Header]) -> _Framing:
    found: dict[str, list[str]] = {}
    for name, value in headers:
        if name in _FRAMING:
            found.setdefault(name, []).append(value)
    return found


def _is_chunked(framing: _Framing) -> bool:
    """Raises RequestRefused for whatever else a body may come in."""
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
    different = {one.strip(" \t") for one in lengths}
    digits = lengths[0].strip(" \t")
    is_one = len(different) == 1 and _LENGTH.fullmatch(digits) is not None
    if chunked or not is_one or len(digits.lstrip("0")) > 19 or int(digits) > _LONGEST:
        raise RequestRefused(HTTPStatus.BAD_REQUEST)
    return int(digits)


def _check_served(
    version: tuple[int, int], framing: _Framing, headers: Iterable[Header], method: str
) -> None:
    if version[0] != 1:
        why = "unsupported protocol version"
        raise RequestRefused(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, why)
    hosts = framing.get("host", ())
    if not hosts and version >= (1, 1) and method != "CONNECT":
        raise RequestRefused(HTTPStatus.BAD_REQUEST, "missing required Host header")
    if hosts and _HOST.fullmatch(hosts[0]) is None:
        raise RequestRefused(HTTPStatus.BAD_REQUEST, "malformed Host header")
    if any(" " in name for name, _ in headers):
        raise RequestRefused(HTTPStatus.BAD_REQUEST, "invalid header name")


def _tokens(values: Iterable[str], wanted: re.Pattern[str]) -> frozenset[str]:
    """Which of the wanted words are parts of the lists, in lower case. Of a list with half a
    million parts only the first ones are looked at."""
    return frozenset(part.lower() for one in values for part in wanted.findall(one[:LONG_HEAD]))
