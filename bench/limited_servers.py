"""API servers that take their time and let only so many requests through, for audits of fleets.

Lists of Pods and Deployments are made up; all else is asked of a `celadon serve` behind them. Who
comes too often is answered 429 with `Retry-After: 1`, as by kube-apiserver.
"""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from bench.audit import mixed_objects
from bench.fleet_model import PAGE

_KINDS: Final = {
    "/api/v1/pods": ("v1", "Pod"),
    "/apis/apps/v1/deployments": ("apps/v1", "Deployment"),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """`wait`: seconds for a page; `rate`: pages a second, None for any number."""

    wait: float
    rate: float | None = None


def page_texts(sizes: Mapping[str, int]) -> dict[str, Sequence[bytes]]:
    """By path, the pages of a list of so many objects."""
    return {path: _pages(*_KINDS[path], size) for path, size in sizes.items()}


def _pages(api_version: str, kind: str, size: int) -> list[bytes]:
    found = [one for one in mixed_objects(4 * size + 100) if one["kind"] == kind]
    some = [found[number % len(found)] for number in range(size)]
    starts = range(0, size, PAGE)
    return [
        json.dumps(
            {
                "apiVersion": api_version,
                "kind": f"{kind}List",
                "metadata": {"continue": str(start // PAGE + 1) if start + PAGE < size else ""},
                "items": [_named(one, number) for number, one in enumerate(some)][
                    start : start + PAGE
                ],
            }
        ).encode()
        for start in starts
    ]


def _named(one: Mapping[str, Any], number: int) -> dict[str, Any]:
    """In the order in which a server lists."""
    return {**one, "metadata": {**one["metadata"], "name": f"n{number:08}", "namespace": "ns-0"}}


@dataclass
class Gate:
    """Of one server: counts requests, and says which come too early."""

    limits: Limits
    asked: int = 0
    refused: int = 0
    _next: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def opens(self) -> bool:
        with self._lock:
            self.asked += 1
            now = time.monotonic()
            if self.limits.rate is None:
                return True
            if now < self._next:
                self.refused += 1
                return False
            self._next = max(self._next, now - 1.0) + 1.0 / self.limits.rate
            return True


@contextmanager
def limited_servers(
    number: int, limits: Limits, pages: Mapping[str, Sequence[bytes]], behind: str, token: str
) -> Iterator[tuple[Sequence[str], Sequence[Gate]]]:
    """Their URLs, and what they have counted. `behind` is the URL of a server for everything
    else."""
    gates = [Gate(limits) for _ in range(number)]
    known: dict[tuple[str, str], bytes] = {}
    with ExitStack() as stack:
        urls = []
        for gate in gates:
            handler = _handler(gate, pages, behind, token, known)
            server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
            stack.callback(server.server_close)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
            urls.append(f"http://127.0.0.1:{server.server_address[1]}")
        yield urls, gates


def _handler(
    gate: Gate,
    pages: Mapping[str, Sequence[bytes]],
    behind: str,
    token: str,
    known: dict[tuple[str, str], bytes],
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path not in pages:
                self._send(200, self._asked_behind())
            elif gate.opens():
                time.sleep(gate.limits.wait)
                number = int(parse_qs(parts.query).get("continue", ["0"])[0])
                self._send(200, pages[parts.path][number])
            else:
                self._send(429, b"Too many requests, please try again later.\n")

        def _asked_behind(self) -> bytes:
            key = (self.path, self.headers.get("Accept", ""))
            if key not in known:
                headers = {"Authorization": f"Bearer {token}", "Accept": key[1]}
                asked = urllib.request.Request(behind + self.path, headers=headers)
                with urllib.request.urlopen(asked) as answer:
                    known[key] = answer.read()
            return known[key]

        def _send(self, code: int, body: bytes) -> None:
            self.send_response(code)
            if code != 200:
                self.send_header("Retry-After", "1")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Says nothing."""

    return Handler
