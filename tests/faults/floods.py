"""Clients without manners, many of them: what a server must stand.

Each flood ends with the question whether the server still answers, quickly, and how much memory it
has taken.
"""

from __future__ import annotations

import contextlib
import json
import random
import socket
import struct
import time
from dataclasses import dataclass

from tests.apiserver.served_process import CONFIGMAPS, config_map, request_headers
from tests.faults.server_under_test import PATIENCE, Process

MANY_BYTES = 400 << 20
"""More memory than a server may take under any of this."""

AT_ONCE = 400
"""Connections that are open at the same time, within the usual limit of a process."""

BEGINNINGS = (
    b"",
    b"GET / HT",
    b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nbegun",
    b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
    b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03",
    b"GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n",
    b"X" * 5000,
)


@dataclass(frozen=True, slots=True)
class Floods:
    """On one server."""

    server: Process
    chance: random.Random

    def dropped_connections(self, count: int) -> None:
        """Opened, perhaps used a little, and dropped: half of them without a word."""
        for start in range(0, count, AT_ONCE):
            opened = [self._connected() for _ in range(min(AT_ONCE, count - start))]
            for one in opened:
                with contextlib.suppress(OSError):
                    one.sendall(self.chance.choice(BEGINNINGS))
            for one in opened:
                if self.chance.random() < 0.5:
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                one.close()
        self.check()

    def noise(self, count: int) -> None:
        """Bytes that are not, or not quite, a request."""
        for _ in range(count):
            with self._connected() as one, contextlib.suppress(OSError):
                one.sendall(self._nonsense())
                one.shutdown(socket.SHUT_WR)
                one.recv(1 << 16)
        self.check()

    def slow_requests(self, count: int) -> None:
        """Requests that never come to an end; meanwhile others are served."""
        slow = [self._connected() for _ in range(count)]
        for one in slow:
            one.sendall(b"POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n")
        for _ in range(5):
            for one in slow:
                with contextlib.suppress(OSError):
                    one.sendall(b"X-More: x\r\n")
            self.check()
        for one in slow:
            one.close()

    def large_requests(self, count: int) -> None:
        """Heads and bodies beyond all measure, several at once."""
        line = f"POST {CONFIGMAPS} HTTP/1.1\r\n".encode()
        head = line + b"Host: x\r\nContent-Length: 100000000\r\n\r\n"
        for begin in (head, b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: "):
            opened = [self._connected() for _ in range(count)]
            for _ in range(64):
                for one in opened:
                    with contextlib.suppress(OSError):
                        one.sendall(begin + b"x" * (1 << 17))
                begin = b""
            for one in opened:
                one.close()
        self.check()

    def deaf_watchers(self, count: int, writes: int) -> None:
        """Watches that nobody reads, while much happens."""
        deaf = [self._connected() for _ in range(count)]
        head = "".join(f"{k}: {v}\r\n" for k, v in request_headers(self.server.token).items())
        for one in deaf:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.sendall(f"GET {CONFIGMAPS}?watch=1 HTTP/1.1\r\nHost: x\r\n{head}\r\n".encode())
        connection = self.server.connection()
        for number in range(writes):
            name = f"flood-{number % 5}"
            body = {**config_map(name), "data": {"x": str(number) * 20_000}}
            method, path = ("POST", CONFIGMAPS) if number < 5 else ("PUT", f"{CONFIGMAPS}/{name}")
            connection.request(method, path, json.dumps(body), request_headers(self.server.token))
            answer = connection.getresponse()
            assert answer.status in (200, 201, 409), answer.read()
            answer.read()
        connection.close()
        self.check()
        for one in deaf:
            one.close()

    def check(self) -> None:
        """The server answers, soon, and is not too large."""
        began = time.monotonic()
        connection = self.server.connection()
        connection.request("GET", "/readyz", headers=request_headers(self.server.token))
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"ok")
        connection.close()
        assert time.monotonic() - began < PATIENCE / 4
        assert self.server.memory < MANY_BYTES, f"{self.server.memory >> 20} MiB"

    def _connected(self) -> socket.socket:
        host, _, port = self.server.address.rpartition(":")
        return socket.create_connection((host, int(port)), timeout=PATIENCE)

    def _nonsense(self) -> bytes:
        request = bytearray(
            b"POST /api/v1/namespaces/default/configmaps?dryRun=All HTTP/1.1\r\nHost: x\r\n"
            b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        )
        for _ in range(self.chance.randrange(1, 6)):
            at = self.chance.randrange(len(request))
            match self.chance.randrange(3):
                case 0:
                    request[at] = self.chance.randrange(256)
                case 1:
                    del request[at : at + self.chance.randrange(1, 10)]
                case _:
                    request[at:at] = self.chance.randbytes(self.chance.randrange(1, 10))
        return bytes(request)
