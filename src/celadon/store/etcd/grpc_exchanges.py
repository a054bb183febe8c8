"""Calls of gRPC on libcurl's handles: a message out, messages and a status back.

A message is preceded by a byte that says whether it is compressed, and its length in four bytes;
the status comes in headers behind the last one (https://grpc.io, "gRPC over HTTP2").

INVARIANT (sent once): libcurl sends a request again by itself when a connection that it had used
before turns out to be dead. It cannot do that with a message that it reads piece by piece from us
and has no way to read once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final
from urllib.parse import unquote

import pycurl

from celadon.store.errors import ServiceError, ServiceUnavailable
from celadon.store.etcd.etcd_refusals import NotBegun, refusal

SILENT: Final = "the member of etcd did not answer in time"

_PREFIX: Final = 5
"""Bytes before a message."""

_HEADERS: Final = (
    "content-type: application/grpc",
    "te: trailers",
    "hasleader: true",  # who has lost its leader refuses, and ends streams
    "Expect:",
)

Options = Iterable[tuple[int, Any]]


class Exchange:
    """One call after the other of a method; `options` are those of the connection."""

    def __init__(self, url: str, options: Options) -> None:
        self.handle = handle = pycurl.Curl()
        for option, value in options:
            handle.setopt(option, value)
        handle.setopt(pycurl.URL, url)
        handle.setopt(pycurl.HTTPHEADER, list(_HEADERS))
        handle.setopt(pycurl.POST, 1)
        handle.setopt(pycurl.READFUNCTION, self._read)
        handle.setopt(pycurl.WRITEFUNCTION, self._write)
        handle.setopt(pycurl.HEADERFUNCTION, self._header)
        self._left = b""
        self._is_taken = False
        self._came = bytearray()
        self._status = -1
        self._text = ""
        self._heard: Callable[[], object] | None = None

    def prepare(
        self,
        request: bytes,
        seconds: float | None = None,
        heard: Callable[[], object] | None = None,
    ) -> None:
        """For the next call, which may last so long (None: for ever; none at all: it times out
        before it is sent). `heard` when something came."""
        self._left = bytes(1) + len(request).to_bytes(4, "big") + request
        self._is_taken = False
        self._came = bytearray()
        self._status, self._text = -1, ""
        self._heard = heard
        self.handle.setopt(pycurl.POSTFIELDSIZE_LARGE, len(self._left))
        # To libcurl, 0 is for ever.
        milliseconds = 0 if seconds is None else max(1, int(seconds * 1000))
        self.handle.setopt(pycurl.TIMEOUT_MS, milliseconds)

    def _read(self, most: int) -> bytes:
        self._is_taken = True
        part, self._left = self._left[:most], self._left[most:]
        return part

    def _write(self, part: bytes) -> None:
        self._came += part
        if self._heard is not None:
            self._heard()

    def _header(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"grpc-status":
            self._status = int(value)
        elif name == b"grpc-message":
            self._text = unquote(value.strip().decode("latin-1"))

    def messages(self) -> Iterator[bytes]:
        """What has come completely since the last time."""
        came, start = self._came, 0
        while len(came) - start >= _PREFIX:
            end = start + _PREFIX + int.from_bytes(came[start + 1 : start + _PREFIX], "big")
            if end > len(came):
                break
            yield bytes(came[start + _PREFIX : end])
            start = end
        del came[:start]

    def answer(self) -> bytes:
        """The only message of a call that has ended. Raises ServiceError."""
        self.must_be_well()
        came, self._came = self._came, bytearray()
        return bytes(came[_PREFIX:])

    def must_be_well(self) -> None:
        """Raises ServiceError for a call that has ended badly."""
        if self._status < 0:
            code = self.handle.getinfo(pycurl.RESPONSE_CODE)
            raise ServiceUnavailable(f"the member of etcd answers with {code}, and not as etcd")
        if self._status:
            raise refusal(self._status, self._text)

    def failure(self, error: pycurl.error) -> ServiceError:
        """Of libcurl: whether the member can have taken the request is known."""
        code, text = error.args
        if code == pycurl.E_OPERATION_TIMEDOUT:
            text = SILENT
        return ServiceUnavailable(text) if self._is_taken else NotBegun(text)
