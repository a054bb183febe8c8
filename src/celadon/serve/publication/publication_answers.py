"""Requests that are not for a resource: which of the publications answers them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from celadon.kube import metadata
from celadon.serve.http_messages import HttpAnswer, HttpRequest
from celadon.serve.publication.discovery import discovery_answer
from celadon.serve.publication.health import HealthCheck, health_answer
from celadon.serve.publication.openapi import OpenApi, openapi_answer
from celadon.serve.publication.published_apis import PublishedApis
from celadon.serve.publication.root_paths import root_answer
from celadon.serve.publication.server_version import ServerVersion, version_answer
from celadon.serve.views.served_resources import Served

HEALTH_ROOTS: Final = ("healthz", "livez", "readyz")


class Publications:
    """Those of one server; what is made of a catalogue is kept until there is another one. `checks`
    gives the outcome of the health checks below one of HEALTH_ROOTS, `metrics`
    the answer of `/metrics`, `now` the time in seconds."""

    def __init__(
        self,
        version: ServerVersion,
        address: str,
        checks: Callable[[str], Sequence[HealthCheck]],
        metrics: Callable[[], HttpAnswer],
        now: Callable[[], float],
    ) -> None:
        self._version = version
        self._address = address
        self._checks = checks
        self._metrics = metrics
        self._now = now
        self._served: Served | None = None

    def answer(self, request: HttpRequest, served: Served) -> HttpAnswer | None:
        """None for paths that nobody answers."""
        if served is not self._served:
            self._served = served
            self._apis = PublishedApis(served.catalog)
            definitions = {metadata.name(one): one for one in served.definitions}
            self._openapi = OpenApi(self._apis, definitions, self._version.git_version)
        first, _, rest = request.path.strip("/").partition("/")
        if not first:
            return root_answer(self._apis, {root: self._checks(root) for root in HEALTH_ROOTS})
        if first in HEALTH_ROOTS:
            return health_answer(request, self._checks(first))
        if first == "metrics" and not rest:
            return self._metrics()
        if first == "version":
            return version_answer(request, self._version)
        if first == "openapi":
            return openapi_answer(request, self._openapi, self._now())
        return discovery_answer(request, self._apis, self._address)
