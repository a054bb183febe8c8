"""Requests that are not for a resource: which of the publications answers them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from celadon.apiserver.caches.served_resources import Served
from celadon.apiserver.discovery.discovery_documents import (
    PublishedApis,
    RemoteVersion,
    discovery_answer,
    root_answer,
    root_paths,
)
from celadon.apiserver.discovery.server_pages import (
    HealthCheck,
    Observe,
    OpenId,
    SelfPortrait,
    health_answer,
    page_answer,
    version_answer,
)
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.kube import metadata
from celadon.kube.resources import Catalog

if TYPE_CHECKING:
    from celadon.apiserver.discovery.descriptions import Descriptions
    from celadon.apiserver.discovery.openapi_answers import OpenApi

HEALTH_ROOTS: Final = ("healthz", "livez", "readyz")


class Publications:
    """Those of one server; what is made of a catalogue is kept until there is another one. `checks`
    gives the outcome of the health checks below one of HEALTH_ROOTS, and `observe` is told of it;
    `metrics` takes what `/metrics` and the pages below it show, `pages` names those debugging pages
    that are there, `dumps` answers those that no list names, `descriptions` has texts of built-in
    types; without, those of an installed client are taken."""

    def __init__(
        self,
        address: str,
        checks: Callable[[str], Sequence[HealthCheck]],
        observe: Observe,
        metrics: Mapping[str, Callable[[], Callable[[], HttpAnswer]]],
        openid: OpenId,
        portrait: SelfPortrait,
        pages: Collection[str],
        dumps: Callable[[HttpRequest], HttpAnswer | None] | None = None,
        descriptions: Descriptions | None = None,
    ) -> None:
        self._version = portrait.version
        self._address = address
        self._checks = checks
        self._observe = observe
        self._metrics = metrics
        self._openid = openid
        self._portrait = portrait
        self._pages = pages
        self._dumps = dumps
        self._descriptions = descriptions
        self._served: Served | None = None
        self._apis = PublishedApis(Catalog(()))
        self._openapi: OpenApi | None = None

    def counted(self, path: str) -> Callable[[], HttpAnswer] | None:
        """A page of metrics, to be written by what is returned; None for other paths."""
        take = self._metrics.get(path)
        return None if take is None else take()

    def answer(
        self, request: HttpRequest, served: Served, offered: Sequence[RemoteVersion] = ()
    ) -> HttpAnswer | None:
        """None for paths that nobody answers. `offered` are the versions of other servers. Raises
        StatusError."""
        if served is not self._served or offered is not self._apis.remote:
            self._served = served
            self._apis = PublishedApis(served.catalog, offered)
        first = request.path.strip("/").partition("/")[0]
        if not first or request.path == "/index.html":
            return root_answer(self._paths())
        if first in HEALTH_ROOTS:
            return health_answer(request, self._checks(first), self._observe)
        if first == "version":
            return version_answer(request, self._version)
        if first == "openapi":
            return self._openapi_answer(request, served)
        if first in self._pages and request.path == f"/{first}":
            return page_answer(first, request, self._portrait, self._paths())
        if first == "debug" and self._dumps is not None:
            return self._dumps(request)
        if first in (".well-known", "openid"):
            return self._openid.answer(request)
        return discovery_answer(request, self._apis, self._address)

    def _paths(self) -> list[str]:
        """Return the paths of the list at `/`."""
        checks = {root: self._checks(root) for root in HEALTH_ROOTS}
        pages = [f"/{page}" for page in self._pages]
        return root_paths(self._apis, checks, (*self._openid.paths, *pages))

    def _openapi_answer(self, request: HttpRequest, served: Served) -> HttpAnswer | None:
        # late: not every client asks for it
        from celadon.apiserver.discovery.descriptions import installed_descriptions
        from celadon.apiserver.discovery.openapi_answers import OpenApi, openapi_answer

        definitions = {metadata.name(one): one for one in served.definitions}
        if self._openapi is None:
            self._openapi = OpenApi(
                self._apis,
                definitions,
                self._version.of_documents,
                self._openid.paths,
                self._descriptions or installed_descriptions(),
            )
        elif self._openapi.apis is not self._apis:
            self._openapi = self._openapi.renewed(self._apis, definitions)
        return openapi_answer(request, self._openapi, self._portrait.now())
