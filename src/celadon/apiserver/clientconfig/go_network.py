"""TCP and TLS for `httpcore`, over asyncio, whose failures have the words of Go's net packages.

A client of the API server reads these words when a webhook cannot be called, so a failure is told
where it happens: `NetworkFailure`, whose text is what follows `Post "https://...": `. As Go's
`net`, `crypto/tls` and `net/http` word them.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address
from typing import Any, Final

import httpcore

from celadon.apiserver.clientconfig.certificate_failures import RootedContext, handshake_failure
from celadon.apiserver.http_messages import NetworkFailure
from celadon.kube.go import quote
from celadon.patterns import late_pattern

# --- Go response head --------------------------------------------------------
#
# What Go says of an answer in HTTP/1.1 whose beginning it cannot read.
#
# As `net/http` (`ReadResponse`, `readTransfer`) and `net/textproto` (`ReadMIMEHeader`). Only
# what has arrived is looked at: an answer whose first lines are in order is read by the HTTP
# client, which words what else is wrong with it in its own way.


LINE_BYTES: Final = 1024
"""So much of the first line is looked at, and quoted."""
_VERSION: Final = late_pattern(r"HTTP/[0-9]\.[0-9]")
_CODE: Final = late_pattern(r"[0-9]{3}|\+[0-9]{2}")
_HEADER: Final = late_pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\x00-\x08\x0a-\x1f\x7f]*")
_LENGTH: Final = late_pattern(r"[0-9]{1,18}")


def head_complaint(data: bytes) -> str | None:
    """Of the first bytes of an answer; None where nothing is wrong with them."""
    first, end, rest = data.partition(b"\n")
    if not end and data.startswith(b"HTTP/"[: len(data)]):
        return None
    found = _status_line(_text(first[:LINE_BYTES]))
    if found is not None:
        return found
    lines = rest.split(b"\n")[:-1]
    return _headers([_text(line) for line in lines])


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")


def _status_line(line: str) -> str | None:
    protocol, space, status = line.partition(" ")
    if not space:
        return f"malformed HTTP response {quote(line)}"
    code = status.lstrip(" ").partition(" ")[0]
    if not _CODE.fullmatch(code):
        return f"malformed HTTP status code {quote(code)}"
    if not _VERSION.fullmatch(protocol):
        return f"malformed HTTP version {quote(protocol)}"
    return None


def _headers(lines: Sequence[str]) -> str | None:
    if lines and lines[0].startswith((" ", "\t")):
        return f"malformed MIME header initial line: {lines[0]}"
    for line in lines:
        if not line:
            break
        if line.startswith((" ", "\t")):
            continue
        if not _HEADER.fullmatch(line):
            return f"malformed MIME header line: {line}"
        name, _, value = line.partition(":")
        length = value.strip(" \t")
        if name.lower() == "content-length" and not _LENGTH.fullmatch(length):
            what = "bad Content-Length" if length else "invalid empty Content-Length"
            return f"{what} {quote(length)}"
    return None


READ_BYTES: Final = 8192
"""At a time: so much may be a thousand pieces, which take the event loop some ten milliseconds."""
MAX_HEAD_BYTES: Final = 1 << 20
"""Of informational answers before the final one; Go has a limit of 10 MiB."""
_CODE_END: Final = len(b"HTTP/1.1 200")
_ERROR_NAMES: Final = {
    errno.ECONNREFUSED: "connection refused",
    errno.ECONNRESET: "connection reset by peer",
    errno.EHOSTUNREACH: "no route to host",
    errno.ENETUNREACH: "network is unreachable",
    errno.EPIPE: "broken pipe",
    errno.ETIMEDOUT: "connection timed out",
}
"""Go has its own words for these, in lower case."""

Route = Callable[[str, int], tuple[str, int]]
"""Where a host of a URL is dialed; may raise NetworkFailure."""


class ProtocolsSwitched(Exception):
    """The answer is 101, after which no HTTP comes."""


class GoNetwork(httpcore.AsyncNetworkBackend):
    """The network as `httpcore` wants it."""

    def __init__(self, route: Route) -> None:
        self._route = route

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to wherever the host is. Raises NetworkFailure."""
        host, port = self._route(host, port)
        address, family = await _looked_up(host, port)
        try:
            reader, writer = await asyncio.open_connection(address, port, family=family)
        except socket.gaierror:
            raise _unknown_host(host) from None
        except OSError as error:
            shown = f"[{address}]" if ":" in address else address
            text = f"dial tcp {shown}:{port}: connect: {_words(error)}"
            raise NetworkFailure(text) from None
        return GoStream(reader, writer)

    async def sleep(self, seconds: float) -> None:
        """Part of the interface."""
        await asyncio.sleep(seconds)


async def _looked_up(host: str, port: int) -> tuple[str, int]:
    """The first address of a host, and its family."""
    try:
        ip_address(host)
    except ValueError:
        pass
    else:
        return host, 0
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=1)
    except (OSError, UnicodeError):  # the latter for labels that no name has
        raise _unknown_host(host) from None
    # Loopback names have an address of each family; servers listen on that of version 4.
    family, _, _, _, address = min(found, key=lambda one: one[0])
    return str(address[0]), family


def _unknown_host(host: str) -> NetworkFailure:
    return NetworkFailure(f"dial tcp: lookup {host}: no such host")


def _words(error: OSError) -> str:
    number = error.errno or 0
    return _ERROR_NAMES.get(number) or os.strerror(number).lower()


def _shown(address: tuple[Any, ...]) -> str:
    host, port = address[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _is_informational(line: bytes) -> bool:
    """Return whether that begins, or may begin, what is no answer yet; 101 is one."""
    is_whole = len(line) == _CODE_END
    version, code = line[:8], line[8:]
    matches = version.startswith(b"HTTP/1.") or b"HTTP/1.".startswith(version)
    return matches and code.startswith(b" 1"[: len(code)]) and not (is_whole and code == b" 101")


class GoStream(httpcore.AsyncNetworkStream):
    """One connection. It knows whether the first bytes of an answer are still to come, for that is
    what tells a closed connection from a broken answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ends = [_shown(writer.get_extra_info(one)) for one in ("sockname", "peername")]
        self._waiting = False
        self._has_read = False

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Raises NetworkFailure."""
        data = await self._piece(max_bytes)
        if self._waiting:
            self._waiting = False
            if not data:
                raise NetworkFailure("EOF")
            if self._selected_protocol() != "h2":
                data = await self._final(data)
                self._require_http(data)
        return data

    async def _piece(self, max_bytes: int) -> bytes:
        """Return what has come. Who sends without end gives others their turn, too: reading what is
        there already does not wait."""
        if self._has_read:
            await asyncio.sleep(0)
        self._has_read = True
        try:
            return await self._reader.read(min(max_bytes, READ_BYTES))
        except OSError as error:
            raise self._broken("read", error) from None

    async def _final(self, data: bytes) -> bytes:
        """From the beginning of the answer that counts: informational ones are read over. Raises
        NetworkFailure if they have no end."""
        start = size = 0
        while True:
            line = data[start : start + _CODE_END]
            if not _is_informational(line):
                return data[start:]
            end = data.find(b"\r\n\r\n", start)
            if end >= 0 and len(line) == _CODE_END:
                start = end + 4
                continue
            size += start
            data, start = data[start:], 0
            if size + len(data) > MAX_HEAD_BYTES:
                raise NetworkFailure(
                    f"net/http: server response headers exceeded {MAX_HEAD_BYTES} bytes; aborted"
                )
            piece = await self._piece(READ_BYTES)
            if not piece:
                return data
            data += piece

    def _require_http(self, data: bytes) -> None:
        if data[8:12] == b" 101":
            raise ProtocolsSwitched
        complaint = head_complaint(data)
        if complaint is not None:
            text = f"net/http: HTTP/1.x transport connection broken: {complaint}"
            raise NetworkFailure(text)

    def _selected_protocol(self) -> str | None:
        tls = self._writer.get_extra_info("ssl_object")
        return None if tls is None else tls.selected_alpn_protocol()

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Raises NetworkFailure."""
        self._waiting, self._has_read = True, False
        try:
            self._writer.write(buffer)
            await self._writer.drain()
        except OSError as error:
            raise self._broken("write", error) from None

    def _broken(self, operation: str, error: OSError) -> NetworkFailure:
        here, there = self._ends
        return NetworkFailure(f"{operation} tcp {here}->{there}: {operation}: {_words(error)}")

    async def aclose(self) -> None:
        """Without a farewell, for which TLS would wait."""
        self._writer.transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """The same connection, encrypted. Raises NetworkFailure."""
        host, port = self._writer.get_extra_info("peername")[:2]
        pool = ssl_context.pool if isinstance(ssl_context, RootedContext) else ()
        try:
            await self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        except ssl.SSLError as error:
            self._writer.transport.abort()
            raise NetworkFailure(
                await handshake_failure(error, (host, port), server_hostname or "", pool)
            ) from None
        except ConnectionResetError as error:
            raise self._broken("read", error) from None
        except OSError:
            raise NetworkFailure("EOF") from None
        return self

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - httpcore's signature
        """Return what `httpcore` asks for: the TLS session, and whether the connection is done
        for."""
        if info == "ssl_object":
            return self._writer.get_extra_info("ssl_object")
        if info == "is_readable":
            return self._reader.at_eof() or self._writer.is_closing()
        return None
