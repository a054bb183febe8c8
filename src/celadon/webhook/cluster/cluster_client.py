"""A client of a cluster's API: requests, lists in pages, watches.

On httpcore and the network that calls of webhooks use, so failures have the words that Go's clients
have. HTTP/1.1 only: each watch has a connection of its own, and there are few. Redirects are not
followed, proxies are not used. As k8s.io/client-go `rest`, where it says how an answer is read.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final
from urllib.parse import urlencode

import httpcore

from celadon import kube
from celadon.apiserver import clientconfig
from celadon.kube.json_types import OBJECT, JsonDict, Needed, Shape, misfit
from celadon.kube.releases import nearest_release
from celadon.kube.resources import Catalog, Resource, Subresource, known_resources
from celadon.kube.well_known_values import MERGE_PATCH
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

REQUEST_SECONDS: Final = 15.0
"""How long an answer may take that is not a watch."""
PAGE: Final = 500
"""Objects in one page of a list, as client-go asks for them."""
USER_AGENT: Final = b"celadon"
MAX_ANSWER_BYTES: Final = 256 * 1024 * 1024
"""Of an answer, and of all pages of a list that is kept."""
MAX_LINE_BYTES: Final = 16 * 1024 * 1024
"""Of one event of a watch; an object has a tenth of it."""
IDLE_PAGES: Final = 100
"""So many pages of a list in a row may bring nothing: a server fills each before it sends it."""
MOST_DIGITS: Final = 9
"""Of the seconds after which to ask again."""

_DIGITS: Final = late_pattern(r"\d{1,4}")
"""Of a version; providers write `31+`."""

UNAUTHORIZED: Final = 401
NOT_FOUND: Final = 404
GONE: Final = 410

Query = Mapping[str, str]

STATUS: Final[Shape] = {
    "code": int,
    "message": str,
    "metadata": {"continue": str},
    "details": {"causes": [Needed({"reason": str})]},
}
LIST: Final[Shape] = {
    "apiVersion": str,
    "kind": str,
    "metadata": {"continue": str, "resourceVersion": str, "remainingItemCount": int},
    "items": [Needed(OBJECT)],
}
EVENT: Final[Shape] = {"type": str, "object": OBJECT}
"""Of a watch."""
ENDLESS_LIST: Final = "the list goes on and on, with nothing new in it"
"""What is said of a list whose pages do not end."""


class ClusterError(Exception):
    """Says why there is no answer that could be used."""


class ClusterUnreachable(ClusterError):
    """Nobody has answered for the cluster."""


class ClusterRefusal(ClusterError):
    """Says that the server refused a request. `status` is the Status object that it sent, `{}` if
    it sent none; `retry_after` the seconds after which to ask again, 0 if it did not say."""

    def __init__(self, code: int, status: kube.JsonObject, retry_after: int = 0) -> None:
        super().__init__(str(status.get("message") or f"the server answered with code {code}"))
        self.code = code
        self.status = status
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class _Answer:
    """Holds a cluster's answer. `retry_after` as in a `ClusterRefusal`."""

    code: int
    body: bytes
    retry_after: int


@dataclass(frozen=True, slots=True)
class _ClusterRequest:
    """A request; `target` is its path with the query."""

    method: str
    target: str
    content: bytes = b""
    form: str = "application/json"
    accept: str = "application/json"

    @property
    def description(self) -> str:
        """Return the request as messages name it, without its query."""
        return f"{self.method} {self.target.partition('?')[0]}"

    def headers(self) -> Iterator[tuple[bytes, bytes]]:
        yield b"Accept", self.accept.encode()
        yield b"User-Agent", USER_AGENT
        if self.content:
            yield b"Content-Type", self.form.encode()
            yield b"Content-Length", str(len(self.content)).encode()


@dataclass(frozen=True, slots=True)
class Page:
    """Holds objects of a list at a revision; `continue_token` is the token for the next page, empty
    on the last one, `remaining` how many are behind this one, if the server says so, and `size` the
    bytes it came in."""

    items: Sequence[JsonDict]
    continue_token: str = ""
    revision: str = ""
    remaining: int = 0
    size: int = 0


class ClusterClient:
    """Belongs to the event loop in which it is first used."""

    def __init__(self, location: clientconfig.ClusterLocation) -> None:
        self.location = location
        self._server = location.cluster.server.rstrip("/")
        self._pool: httpcore.AsyncConnectionPool | None = None

    async def get(self, path: str, query: Query | None = None) -> Any:  # noqa: ANN401 - any JSON
        """Get one object. Raises ClusterError, as all of these."""
        return await self.request("GET", path, query=query)

    async def create(self, path: str, body: kube.JsonObject) -> Any:  # noqa: ANN401 - any JSON
        """Create an object in the collection at the path."""
        return await self.request("POST", path, body)

    async def update(self, path: str, body: kube.JsonObject) -> Any:  # noqa: ANN401 - any JSON
        """Write the whole object. With a `resourceVersion` in its metadata, a conflict (409) if the
        stored one has another."""
        return await self.request("PUT", path, body)

    async def patch(self, path: str, body: object, form: str = MERGE_PATCH) -> Any:  # noqa: ANN401
        """Patch an object; `form` is the content type of the patch."""
        return await self.request("PATCH", path, body, form=form)

    async def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Query | None = None,
        form: str = "application/json",
        accept: str = "application/json",
        seconds: float = REQUEST_SECONDS,
    ) -> Any:  # noqa: ANN401 - any JSON
        """Return the object that the server answers with. Raises ClusterError."""
        request = _ClusterRequest(
            method,
            _target(path, query),
            b"" if body is None else json.dumps(body).encode(),
            form,
            accept,
        )
        return _object(await self._taken(request, seconds), request.description, OBJECT)

    async def page(self, path: str, query: Query) -> Page:
        """Return a list, or a page of it. Raises ClusterError."""
        request = _ClusterRequest("GET", _target(path, query))
        body = await self._taken(request, REQUEST_SECONDS)
        return _page(_object(body, request.description, LIST), len(body))

    async def pages(self, path: str, query: Query) -> AsyncGenerator[Page, None]:
        """Yield a list, page by page, all of one revision. Raises ClusterError; 410 if the rest of
        it is no longer known."""
        more, idle, size = "", 0, 0
        while True:
            page_query = {**query, "limit": str(PAGE)}
            if more:
                page_query["continue"] = more
            page = await self.page(path, page_query)
            yield page
            more, idle = page.continue_token, 0 if page.items else idle + 1
            size += page.size
            if not more:
                return
            if idle > IDLE_PAGES:
                raise ClusterUnreachable(f"GET {path}: {ENDLESS_LIST}")
            if size > MAX_ANSWER_BYTES:
                raise ClusterUnreachable(f"GET {path}: a list of more than {size} bytes")

    async def watch(
        self, path: str, query: Query, seconds: float, opened: Callable[[], None]
    ) -> AsyncGenerator[kube.JsonObject, None]:
        """Its events (`type` and `object`) until it ends, by itself or when nothing has come for
        so many `seconds`; `opened` is called when it begins. Raises ClusterError. Close it."""
        request = _ClusterRequest("GET", _target(path, {**query, "watch": "true"}))
        try:
            async with self._opened(request) as answer:
                if answer.status == UNAUTHORIZED:
                    await self._forget_credentials()
                if answer.status != 200:
                    async with asyncio.timeout(REQUEST_SECONDS):
                        raise _refusal(await _whole(answer))
                opened()
                async with aclosing(_lines(answer, seconds)) as lines:
                    async for line in lines:
                        yield _object(line, f"watch of {path}", EVENT)
        except TimeoutError:
            raise ClusterUnreachable(f"watch of {path}: nothing came in {seconds:g}s") from None

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.aclose()

    async def _taken(self, request: _ClusterRequest, seconds: float) -> bytes:
        """Return the body of the answer, if it is a good one. Raises ClusterError."""
        try:
            async with asyncio.timeout(seconds):
                answer = await self._answered(request)
                if answer.code == UNAUTHORIZED:
                    await self._forget_credentials()
                    answer = await self._answered(request)
        except TimeoutError:
            raise ClusterUnreachable(f"{request.description}: no answer in {seconds:g}s") from None
        if answer.code >= 300:
            raise _refusal(answer)
        return answer.body

    async def _answered(self, request: _ClusterRequest) -> _Answer:
        async with self._opened(request) as answer:
            return await _whole(answer)

    @asynccontextmanager
    async def _opened(self, request: _ClusterRequest) -> AsyncIterator[httpcore.Response]:
        """Open a response. Raises ClusterUnreachable, also for what happens while it is read."""
        url = httpcore.URL(self._server + request.target)
        headers = [
            (b"Host", self._server.partition("://")[2].partition("/")[0].encode()),
            *request.headers(),
        ]
        name = self.location.cluster.tls_server_name
        extensions = {"sni_hostname": name} if name else {}
        try:
            headers += await self.location.credentials.headers()
            pool = await self._connections()
            sending = pool.stream(
                request.method, url, headers=headers, content=request.content, extensions=extensions
            )
            async with sending as answer:
                yield answer
        except (
            clientconfig.NetworkFailure,
            clientconfig.CredentialsError,
            clientconfig.KubeconfigError,
        ) as error:
            raise ClusterUnreachable(f"{request.description}: {error}") from None
        except httpcore.ProtocolError as error:
            reason = str(error) or "the connection broke"
            raise ClusterUnreachable(f"{request.description}: {reason}") from None

    async def _connections(self) -> httpcore.AsyncConnectionPool:
        if self._pool is None:
            secure = self._server.startswith("https://")
            context = await clientconfig.tls_to_cluster(self.location) if secure else None
            if self._pool is None:  # nobody else was quicker
                self._pool = httpcore.AsyncConnectionPool(
                    ssl_context=context,
                    max_connections=None,
                    max_keepalive_connections=10,
                    network_backend=clientconfig.GoNetwork(lambda host, port: (host, port)),
                )
        return self._pool

    async def _forget_credentials(self) -> None:
        """Forget the credentials, which may have ended: the next request asks for new ones."""
        self.location.credentials.refused()
        if not self.location.credentials.in_headers:
            await self.aclose()


def _target(path: str, query: Query | None) -> str:
    return f"{path}?{urlencode(query)}" if query else path


async def _whole(answer: httpcore.Response) -> _Answer:
    headers = next((value for name, value in answer.headers if name.lower() == b"retry-after"), b"")
    is_number = headers.isdigit() and len(headers) <= MOST_DIGITS
    seconds = int(headers) if is_number else 0  # an API server says no dates
    return _Answer(answer.status, await _body(answer), seconds)


async def _body(answer: httpcore.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in answer.aiter_stream():
        size += len(part)
        if size > MAX_ANSWER_BYTES:
            raise ClusterUnreachable(f"an answer of more than {MAX_ANSWER_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


async def _lines(answer: httpcore.Response, seconds: float) -> AsyncGenerator[bytes, None]:
    """Yield the lines of a stream. Raises TimeoutError when no whole line has come for so long."""
    parts: list[bytes] = []
    size = 0
    chunks = answer.aiter_stream().__aiter__()
    loop = asyncio.get_running_loop()
    ends = loop.time() + seconds
    while True:
        try:
            async with asyncio.timeout_at(ends):
                chunk = await anext(chunks)
        except StopAsyncIteration:
            return
        first, *others = chunk.split(b"\n")
        parts.append(first)
        size += len(first)
        if size > MAX_LINE_BYTES:
            raise ClusterUnreachable(f"an event of more than {MAX_LINE_BYTES} bytes")
        if not others:
            continue
        *lines, rest = b"".join(parts), *others
        parts, size = [rest], len(rest)
        for line in lines:
            if line.strip():
                yield line
        ends = loop.time() + seconds


def _json(text: bytes) -> object:
    """Return the value of a text of JSON; None for what cannot be read."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _object(text: bytes, subject: str, shape: Shape) -> JsonDict:
    result = _json(text)
    if not isinstance(result, dict):
        raise ClusterUnreachable(f"{subject}: the answer is no JSON object")
    require(result, shape, subject)
    return result


def require(document: kube.JsonObject, shape: Shape, subject: str) -> None:
    """Check the shape of a document. Raises ClusterUnreachable for a document of another shape,
    which no client of the API could read."""
    wrong = misfit(document, shape)
    if wrong is not None:
        raise ClusterUnreachable(f"{subject}: {wrong}")


def refusal_of(code: int, status: object, retry_after: int = 0) -> ClusterRefusal:
    """Return what says no; `status` counts if it is a Status."""
    body = status if isinstance(status, dict) and misfit(status, STATUS) is None else {}
    return ClusterRefusal(code, body, retry_after)


def _refusal(answer: _Answer) -> ClusterRefusal:
    return refusal_of(answer.code, _json(answer.body), answer.retry_after)


def _page(document: kube.JsonObject, size: int) -> Page:
    """Make a page of objects with the type of the objects, which a list says only once."""
    kind = (document.get("kind") or "").removesuffix("List")
    typed = {"apiVersion": document.get("apiVersion"), "kind": kind}
    about = document.get("metadata") or {}
    return Page(
        [{**typed, **item} for item in document.get("items") or ()],
        about.get("continue") or "",
        about.get("resourceVersion") or "",
        about.get("remainingItemCount") or 0,
        size,
    )


# --- Api discovery -----------------------------------------------------------
#
# What a cluster serves: its resources, by discovery, as a catalogue.
#
# All of it comes in two documents (aggregated discovery, since 1.26); an older cluster is asked
# for each of its versions. What Celadon knows of built-in resources, equivalent versions for
# instance, it knows better than discovery does; only which of them are there is taken from it.

AGGREGATED: Final = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)
LIST_KIND: Final = "APIGroupDiscoveryList"

_GROUP_VERSION_KIND: Final[Shape] = {"group": str, "version": str, "kind": str}
_AGGREGATED: Final[Shape] = {
    "items": [
        Needed(
            {
                "metadata": {"name": str},
                "versions": [
                    Needed(
                        {
                            "version": str,
                            "resources": [
                                Needed(
                                    {
                                        "resource": str,
                                        "responseKind": _GROUP_VERSION_KIND,
                                        "scope": str,
                                        "singularResource": str,
                                        "verbs": [Needed(str)],
                                        "subresources": [
                                            Needed(
                                                {
                                                    "subresource": str,
                                                    "responseKind": _GROUP_VERSION_KIND,
                                                    "verbs": [Needed(str)],
                                                }
                                            )
                                        ],
                                    }
                                )
                            ],
                        }
                    )
                ],
            }
        )
    ]
}
_LISTED_VERSIONS: Final[Shape] = {
    "versions": [Needed(str)],
    "groups": [Needed({"versions": [Needed({"groupVersion": str})]})],
}
_LISTED_RESOURCES: Final[Shape] = {
    "groupVersion": str,
    "resources": [
        Needed(
            {
                **_GROUP_VERSION_KIND,
                "name": str,
                "singularName": str,
                "namespaced": bool,
                "verbs": [Needed(str)],
            }
        )
    ],
}


async def discover(client: ClusterClient) -> tuple[Resource, ...]:
    """Return all resources of the cluster. A group whose server does not answer is left out. Raises
    ClusterError."""
    resources: list[Resource] = []
    for path in ("/api", "/apis"):
        document = await client.request("GET", path, accept=AGGREGATED)
        if document.get("kind") == LIST_KIND:
            require(document, _AGGREGATED, f"GET {path}")
            resources += aggregated_resources(document)
        else:
            require(document, _LISTED_VERSIONS, f"GET {path}")
            for version in listed_versions(document):
                resources += await _version(client, f"{path}/{version}")
    return tuple(resources)


async def served_release(client: ClusterClient) -> str:
    """Return the release that the cluster answers as, `1.36`; of what is not known yet or any more,
    the nearest that is. Raises ClusterError."""
    document = await client.get("/version")
    for name in ("emulation", ""):
        numbers = [
            _DIGITS.match(str(document.get(f"{name}{part}" if name else part.lower()) or ""))
            for part in ("Major", "Minor")
        ]
        major, minor = numbers
        if major is not None and minor is not None:
            return nearest_release(int(major[0]), int(minor[0]))
    raise ClusterError("the server does not say its version")


async def _version(client: ClusterClient, path: str) -> Sequence[Resource]:
    try:
        document = await client.get(path)
        require(document, _LISTED_RESOURCES, f"GET {path}")
    except ClusterError:
        return ()
    return list(listed_resources(document))


def aggregated_resources(document: kube.JsonObject) -> Iterator[Resource]:
    """Yield the resources of an APIGroupDiscoveryList."""
    for group in document.get("items") or ():
        name = (group.get("metadata") or {}).get("name") or ""
        for version in group.get("versions") or ():
            group_version = kube.GroupVersion(name, version.get("version") or "")
            for resource in version.get("resources") or ():
                below = tuple(
                    Subresource(
                        sub.get("subresource") or "",
                        _kind(group_version, sub.get("responseKind") or {}),
                        tuple(sub.get("verbs") or ()),
                    )
                    for sub in resource.get("subresources") or ()
                )
                kind = _kind(group_version, resource.get("responseKind") or {})
                namespaced = resource.get("scope") == "Namespaced"
                yield _resource(
                    group_version, resource.get("resource") or "", kind, below, resource, namespaced
                )


def listed_versions(document: kube.JsonObject) -> Iterator[str]:
    """Yield the versions of APIVersions (`v1`) or an APIGroupList (`apps/v1`)."""
    yield from document.get("versions") or ()
    for group in document.get("groups") or ():
        for version in group.get("versions") or ():
            yield version.get("groupVersion") or ""


def listed_resources(document: kube.JsonObject) -> Iterator[Resource]:
    """Yield the resources of an APIResourceList."""
    group_version = kube.parse_api_version(document.get("groupVersion") or "")
    entries: Sequence[kube.JsonObject] = document.get("resources") or ()
    for entry in entries:
        name = entry.get("name") or ""
        if "/" in name:
            continue
        below = tuple(
            Subresource(
                sub["name"].partition("/")[2],
                _kind(group_version, sub),
                tuple(sub.get("verbs") or ()),
            )
            for sub in entries
            if (sub.get("name") or "").startswith(f"{name}/")
        )
        yield _resource(
            group_version,
            name,
            _kind(group_version, entry),
            below,
            entry,
            entry.get("namespaced") is True,
        )


def _kind(list_version: kube.GroupVersion, value: kube.JsonObject) -> kube.GroupVersionKind:
    """Group and version are only said where they differ from the list's."""
    version = value.get("version") or ""
    group_version = (
        kube.GroupVersion(value.get("group") or "", version) if version else list_version
    )
    return kube.GroupVersionKind(*group_version, value.get("kind") or "")


def _resource(
    group_version: kube.GroupVersion,
    name: str,
    kind: kube.GroupVersionKind,
    below: tuple[Subresource, ...],
    value: kube.JsonObject,
    namespaced: bool,  # noqa: FBT001  as in the document
) -> Resource:
    return Resource(
        gvr=kube.GroupVersionResource(*group_version, name),
        gvk=kind,
        namespaced=namespaced,
        verbs=tuple(value.get("verbs") or ()),
        singular=value.get("singularResource") or value.get("singularName") or "",
        custom=True,
        storage_version=group_version.version,
        subresources=below,
    )


def cluster_catalog(served: Iterable[Resource], definitions: Iterable[kube.JsonObject]) -> Catalog:
    """Return what the cluster serves, with what we know of it: built-in resources as we know them,
    those of definitions with all their versions, others as discovery shows them."""
    discovered = {resource.gvr: resource for resource in served}
    catalog = known_resources(all_versions=True)
    built_in = [resource for resource in catalog if resource.gvr in discovered]
    for resource in built_in:
        del discovered[resource.gvr]
    return Catalog((*built_in, *discovered.values())).with_crds(definitions)
