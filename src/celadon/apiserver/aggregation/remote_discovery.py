"""What extension servers offer, asked of them from time to time: their part of the discovery.

As k8s.io/kube-aggregator `pkg/apiserver/handler_discovery.go`: the aggregated document if the other
server has one, else the list of resources of each version; what cannot be had is stale.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import msgspec

from celadon.apiserver.aggregation.api_services import (
    AGGREGATOR,
    ApiServiceView,
    RemoteApiService,
)
from celadon.apiserver.aggregation.lookouts import Lookouts
from celadon.apiserver.discovery.discovery_documents import DISCOVERY, RemoteVersion
from celadon.apiserver.http_messages import Header, HeldBytes, NetworkFailure
from celadon.apiserver.workers import LARGE_BYTES, TooMuchWork
from celadon.kube import GroupVersion, StatusError, User
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.apiserver.aggregation.front_proxy import ExtensionServers

REFRESH_SECONDS: Final = 60.0
SECONDS: Final = 5.0
"""For an answer."""
MOST_BYTES: Final = 4 << 20
"""Of a document. Ours: upstream reads without end."""
ACCEPTED: Final = ",".join(
    f"application/json;g={DISCOVERY};v={version};as=APIGroupDiscoveryList"
    for version in ("v2", "v2beta1")
)
OPENAPI: Final = "/openapi/v3"
_OPENAPI_READER: Final = User("system:aggregator")
_NOBODY_IN_PARTICULAR: Final = User("system:kube-aggregator")


T = TypeVar("T")


class Aside(Protocol):
    """Does in a worker what may take long. Raises StatusError when that is too long, and what the
    function raises."""

    def __call__(self, function: Callable[..., T], *args: object) -> Awaitable[T]: ...


class DiscoveryFailed(Exception):
    """What there is to say is not known now."""


# --- Documents ---------------------------------------------------------------
#
# Only what is known of them is read, in the types that it must have.


class _Kind(msgspec.Struct):
    group: str = ""
    version: str = ""
    kind: str = ""


class _Below(msgspec.Struct, omit_defaults=True, rename="camel"):
    subresource: str
    response_kind: _Kind | None = None
    accepted_types: list[_Kind] | None = None
    verbs: list[str] | None = None


class _Resource(msgspec.Struct, omit_defaults=True, rename="camel"):
    resource: str
    response_kind: _Kind | None = None
    scope: str | None = None
    singular_resource: str | None = None
    verbs: list[str] | None = None
    short_names: list[str] | None = None
    categories: list[str] | None = None
    subresources: list[_Below] | None = None


class _Version(msgspec.Struct, omit_defaults=True):
    version: str
    resources: list[_Resource] | None = None


class _Metadata(msgspec.Struct):
    name: str = ""


class _Group(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    versions: list[_Version] = []


class _Groups(msgspec.Struct):
    items: list[_Group] = []


class _Listed(msgspec.Struct, rename="camel"):
    name: str
    singular_name: str = ""
    namespaced: bool = False
    group: str = ""
    version: str = ""
    kind: str = ""
    verbs: list[str] | None = None
    short_names: list[str] | None = None
    categories: list[str] | None = None


class _List(msgspec.Struct):
    resources: list[_Listed] = []


class _Url(msgspec.Struct, rename={"url": "serverRelativeURL"}):
    url: str = ""


class _Index(msgspec.Struct):
    paths: dict[str, _Url] = {}


def read_index(body: bytes) -> Mapping[str, str]:
    """Where documents in OpenAPI v3 are, by their paths. Raises DiscoveryFailed."""
    try:
        paths = msgspec.json.decode(body, type=_Index).paths
    except (msgspec.DecodeError, ValueError) as error:
        raise DiscoveryFailed(str(error)) from None
    return {path: one.url for path, one in paths.items()}


def read_aggregated(body: bytes) -> Mapping[GroupVersion, dict[str, Any]]:
    """The versions of an aggregated document. Raises DiscoveryFailed."""
    try:
        groups = msgspec.json.decode(body, type=_Groups).items
    except (msgspec.DecodeError, ValueError) as error:
        raise DiscoveryFailed(str(error)) from None
    return {
        GroupVersion(group.metadata.name, one.version): _shown(one)
        for group in groups
        for one in group.versions
    }


def read_list(body: bytes, version: str) -> dict[str, Any]:
    """A list of resources as a version of an aggregated document. Raises DiscoveryFailed."""
    try:
        listed = msgspec.json.decode(body, type=_List).resources
    except (msgspec.DecodeError, ValueError) as error:
        raise DiscoveryFailed(str(error)) from None
    made: dict[str, _Resource] = {}
    for one in listed:
        name, slash, below = one.name.partition("/")
        kind = _Kind(one.group, one.version, one.kind)
        scope = "Namespaced" if one.namespaced else "Cluster"
        if not slash:
            before = made.get(name)
            made[name] = _Resource(
                *(name, kind, scope, one.singular_name, one.verbs),
                *(one.short_names, one.categories, None if before is None else before.subresources),
            )
            continue
        parent = made.setdefault(name, _Resource(name, _Kind(), scope))
        parent.subresources = [*(parent.subresources or ()), _Below(below, kind, verbs=one.verbs)]
    return _shown(_Version(version, list(made.values())))


def _shown(version: _Version) -> dict[str, Any]:
    for one in version.resources or ():
        one.response_kind = one.response_kind or _Kind()
        one.scope, one.singular_resource = one.scope or "", one.singular_resource or ""
        for below in one.subresources or ():
            below.response_kind = below.response_kind or _Kind()
    made: dict[str, Any] = msgspec.to_builtins(version)
    for resource in made.get("resources", ()):
        resource.setdefault("verbs", None)
    return made


# --- The part of each server -------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Known:
    """What was found last."""

    document: Mapping[str, Any]
    is_fresh: bool
    openapi: str = ""


class RemoteDiscovery:
    """Of one server. `servers` makes what asks extension servers."""

    def __init__(
        self, view: ApiServiceView, servers: Callable[[], ExtensionServers], aside: Aside
    ) -> None:
        """`aside` reads what is long."""
        self._view = view
        self._servers = servers
        self._aside = aside
        self._known: dict[str, _Known] = {}
        self._offered: tuple[object, tuple[RemoteVersion, ...]] = (None, ())
        self._lookouts = Lookouts(self._looked, REFRESH_SECONDS)

    def refresh(self, name: str) -> None:
        """Ask again what the server of an APIService offers."""
        self._lookouts.wake(name)

    def forget(self, name: str) -> None:
        """It is not there any more."""
        self._lookouts.forget(name)
        if self._known.pop(name, None) is not None:
            self._offered = (None, ())

    async def aclose(self) -> None:
        """Ask nobody any more."""
        await self._lookouts.aclose()

    def offered(self) -> tuple[RemoteVersion, ...]:
        """The versions of other servers: the same value until something changes."""
        services = self._view.current()
        if self._offered[0] is not services:
            made = tuple(self._version(one) for one in services.by_version.values())
            self._offered = services, made
        return self._offered[1]

    def _version(self, one: RemoteApiService) -> RemoteVersion:
        known = self._known.get(one.name)
        document = None
        if known is not None:
            freshness = "Current" if known.is_fresh else "Stale"
            document = {**known.document, "freshness": freshness}
        return RemoteVersion(
            one.group_version,
            one.group_priority,
            one.version_priority,
            document,
            "" if known is None else known.openapi,
        )

    def describes(self, name: str) -> bool:
        """Whether the server of an APIService has a document of it in OpenAPI v3."""
        known = self._known.get(name)
        return known is not None and bool(known.openapi)

    async def _looked(self, name: str) -> bool:
        service = self._view.current().named(name)
        if service is None:
            return True
        try:
            document = await self._found(service)
            found = _Known(document, is_fresh=True, openapi=await self._described(service))
        except DiscoveryFailed:
            found = _Known({"version": service.group_version.version}, is_fresh=False)
        if self._known.get(name) != found:
            self._known[name] = found
            self._offered = (None, ())
        return found.is_fresh

    async def _found(self, service: RemoteApiService) -> Mapping[str, Any]:
        """Raises DiscoveryFailed."""
        version = service.group_version
        code, kind, body = await self._asked(service, "/apis", AGGREGATOR, ACCEPTED)
        if code == 200 and _is_aggregated(kind):
            versions = await self._read(read_aggregated, body)
            return versions.get(version, {"version": version.version})
        if code == 503:
            raise DiscoveryFailed("it is not available")
        path = service.path if version.group else f"/api/{version.version}"
        user = _NOBODY_IN_PARTICULAR
        code, _, body = await self._asked(service, path, user, "application/json")
        if code != 200:
            raise DiscoveryFailed(f"{path}: {code}")
        return await self._read(lambda text: read_list(text, version.version), body)

    async def _described(self, service: RemoteApiService) -> str:
        """Where the document of its version in OpenAPI v3 is; empty if it is not known."""
        try:
            code, _, body = await self._asked(service, OPENAPI, _OPENAPI_READER, "application/json")
            index = await self._read(read_index, body) if code == 200 else {}
        except DiscoveryFailed:
            return ""
        return index.get(f"apis/{service.group_version}", "")

    async def _read(self, read: Callable[[bytes], T], body: bytes) -> T:
        """Raises DiscoveryFailed."""
        if len(body) <= LARGE_BYTES:
            return read(body)
        try:
            return await self._aside(read, body)
        except (StatusError, TooMuchWork) as error:
            raise DiscoveryFailed(str(error)) from None

    async def _asked(
        self, service: RemoteApiService, path: str, user: User, accept: str
    ) -> tuple[int, str, bytes]:
        """The code, the media type and the body. Raises DiscoveryFailed."""
        # late: most servers have nobody behind them
        from celadon.apiserver.aggregation.front_proxy import asking_headers, read_answer
        from celadon.apiserver.clientconfig.certificate_failures import UnusableRoots

        servers = self._servers()
        held = HeldBytes(servers.room)
        try:
            headers: tuple[Header, ...] = (
                *(("Host", servers.host(service)), ("Accept", accept)),
                *asking_headers(user),
            )
            async with asyncio.timeout(SECONDS):
                response = await servers.ask(service, "GET", path, headers)
                return await read_answer(response, MOST_BYTES, held)
        except (NetworkFailure, UnusableRoots, TimeoutError) as error:
            raise DiscoveryFailed(str(error)) from None
        finally:
            held.give_back()


def _is_aggregated(media_type: str) -> bool:
    parameters = {one.strip() for one in media_type.split(";")}
    return {f"g={DISCOVERY}", "as=APIGroupDiscoveryList"} <= parameters
