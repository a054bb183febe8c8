"""What is counted about files of the server that are read again, for `/metrics`.

As k8s.io/apiserver `pkg/admission/plugin/manifest/metrics`: by plugin, and by a hash of the name
that a server has among others.
"""

from __future__ import annotations

import base64
import hashlib
import socket
from collections.abc import Callable, Sequence
from typing import Final

from celadon.serve.operation import metric_table as table
from celadon.serve.operation.metric_families import Counter, Family, Gauge, Labels

SUCCESS: Final = "success"
FAILURE: Final = "failure"
_ID_BYTES: Final = 16
_LENGTH_BYTES: Final = 2


def server_id(host: str) -> str:
    """The name of a server on this host, as k8s.io/apiserver `pkg/server/config.go` makes it."""
    parts = (host.encode(), b"kube-apiserver")
    data = b"".join(len(part).to_bytes(_LENGTH_BYTES, "big") + part for part in parts)
    digest = hashlib.sha256(data).digest()[:_ID_BYTES]
    return f"apiserver-{base64.b32encode(digest).decode().rstrip('=').lower()}"


class StaticReloads:
    """Of one server; `clock` is Unix time."""

    def __init__(self, clock: Callable[[], float], host: str | None = None) -> None:
        name = server_id(socket.gethostname() if host is None else host)
        self._server = f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"
        self._clock = clock
        self._reloads = Counter(table.STATIC_RELOADS)
        self._times: dict[Labels, float] = {}
        self._hashes: dict[str, str] = {}

    def families(self) -> Sequence[Family]:
        """In the order of their names."""
        times = Gauge(table.STATIC_RELOAD_TIMES, lambda: self._times)
        return times, self._reloads, Gauge(table.STATIC_CONFIGURATIONS, self._configurations)

    def loaded(self, plugin: str, hash: str) -> None:
        """A version with this hash is in force."""
        self._ended(SUCCESS, plugin)
        self._hashes[plugin] = hash

    def failed(self, plugin: str) -> None:
        """A version cannot be used."""
        self._ended(FAILURE, plugin)

    def _ended(self, status: str, plugin: str) -> None:
        labels = (status, plugin, self._server)
        self._reloads.add(labels)
        self._times[labels] = self._clock()

    def _configurations(self) -> dict[Labels, float]:
        return {(plugin, self._server, hash): 1.0 for plugin, hash in self._hashes.items()}
