"""GET: one object, or a list of them, at the revision that was asked for.

As k8s.io/apiserver `pkg/endpoints/handlers/get.go` and `pkg/storage/etcd3/store.go`. What a list
means by its options is the table in `_revision`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from operator import eq, itemgetter
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from celadon.admission import World
from celadon.apiserver import object_store, request_info
from celadon.apiserver.conversion_webhooks import ConversionFailed, Conversions
from celadon.apiserver.handlers.resource_endpoints import Endpoint
from celadon.apiserver.http_messages import HttpRequest, NetworkFailure
from celadon.apiserver.loop_offloading import MANY_BYTES, MANY_OBJECTS, RequestWork
from celadon.apiserver.request_info import EXACT, ListOptions, is_true, revision_of
from celadon.kube import (
    GroupResource,
    GroupVersionKind,
    JsonObject,
    StatusError,
    metadata,
    name_rules,
    status,
)
from celadon.kube.crd import CustomKind
from celadon.kube.go import quote
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import current_release, is_since
from celadon.kube.resources import Resource
from celadon.kube.schemas import round_trip
from celadon.kube.status import Status, StatusCause, StatusDetails
from celadon.kube.well_known_values import FUTURE_REVISION
from celadon.records import dataclass
from celadon.storage import Compacted, FutureRevision

if TYPE_CHECKING:
    import httpcore

P = ParamSpec("P")
T = TypeVar("T")

WAIT_SECONDS: Final = 3.0
"""How long a read waits for a revision that is yet to come."""

RETRY_SECONDS: Final = 1
"""After which it may be tried again."""

_POLL_SECONDS: Final = 0.05
_KIND_AND_VERSION: Final = itemgetter("kind", "apiVersion")
_PAGE: Final = 500
"""Entries read at once where a selector may leave out most of them."""

TOO_OLD: Final = "The resourceVersion for the provided list is too old."
CONTINUE_TOO_OLD: Final = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)


# --- Components --------------------------------------------------------------
#
# How the components of a control plane are, which is stored nowhere: who reads a ComponentStatus
# has the component asked. The store of this server stands for etcd. As k8s.io/kubernetes
# `pkg/registry/core/componentstatus` and `pkg/probe/http`.

COMPONENTS: Final[Mapping[str, str]] = {
    "scheduler": "https://127.0.0.1:10259/healthz",
    "controller-manager": "https://127.0.0.1:10257/healthz",
    "etcd-0": "",
}
"""Where each is asked; empty for what needs no question."""

_COMPONENT_STATUS: Final = GroupVersionKind("", "v1", "ComponentStatus")
_PROBE_SECONDS: Final = 20.0
_PROBE_BYTES: Final = 10 * 1024
"""So much of an answer is read and shown."""


def _is_of_components(resource: Resource) -> bool:
    return resource.gvk == _COMPONENT_STATUS


async def component_status(name: str) -> JsonObject:
    """Return the ComponentStatus of a component."""
    url = COMPONENTS[name]
    state, message = await probed(url) if url else ("True", "ok")
    condition = {"type": "Healthy", "status": state, **({"message": message} if message else {})}
    obj: JsonDict = {
        "kind": _COMPONENT_STATUS.kind,
        "apiVersion": _COMPONENT_STATUS.api_version,
        "metadata": {"name": name},
        "conditions": [condition],
    }
    return round_trip(obj, _COMPONENT_STATUS) or obj


async def probed(url: str) -> tuple[str, str]:
    """Return whether who is asked there is well, as a condition says it, and the answer."""
    pool = await asyncio.to_thread(_probe_pool)
    try:
        async with asyncio.timeout(_PROBE_SECONDS), pool:
            code, text = await _answered(pool, url)
    except TimeoutError:
        reason = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
        return "False", f"Get {quote(url)}: {reason}"
    except NetworkFailure as error:
        return "False", f"Get {quote(url)}: {error}"
    if not 200 <= code < 400:
        return "False", f"HTTP probe failed with statuscode: {code}"
    if code >= 300:
        return "Unknown", f"Probe terminated redirects, Response body: {text}"
    return "True", text


async def _answered(pool: httpcore.AsyncConnectionPool, url: str) -> tuple[int, str]:
    """Return the code of an answer and the beginning of its body. Raises NetworkFailure."""
    import httpcore  # late: see `_probe_pool`

    from celadon.apiserver.go_network import ProtocolsSwitched  # late: the same

    headers = [("User-Agent", f"kube-probe/{current_release()}"), ("Accept", "*/*")]
    body = bytearray()
    try:
        async with pool.stream("GET", url, headers=headers) as answer:
            async for part in answer.aiter_stream():
                body += part
                if len(body) >= _PROBE_BYTES:
                    break
            return answer.status, body[:_PROBE_BYTES].decode("utf-8", "replace")
    except ProtocolsSwitched:
        return 101, ""
    except httpcore.ProtocolError as error:
        text = f"net/http: HTTP/1.x transport connection broken: {error}"
        raise NetworkFailure(text) from None


def _probe_pool() -> httpcore.AsyncConnectionPool:
    """Return connections to whoever answers, made in a thread: what speaks HTTP takes long to
    import."""
    import ssl  # late: few ask for components

    import httpcore  # late: the same

    from celadon.apiserver.go_network import GoNetwork  # late: the same

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    network = GoNetwork(lambda host, port: (host, port))
    return httpcore.AsyncConnectionPool(ssl_context=context, network_backend=network)


@dataclass(frozen=True, slots=True)
class ObjectList:
    """Objects in the version of the endpoint. `remaining` is None where it is not told."""

    objects: tuple[JsonObject, ...]
    revision: int
    continue_token: str = ""
    remaining: int | None = None

    def meta(self) -> JsonDict:
        """Return the list's `metadata`; of what is not stored there is no revision (0)."""
        meta: JsonDict = {"resourceVersion": str(self.revision)} if self.revision else {}
        if self.continue_token:
            meta["continue"] = self.continue_token
        if self.remaining:
            meta["remainingItemCount"] = self.remaining
        return meta


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """Reads of one server. `world` converts objects between versions; those of a custom kind, which
    `custom` knows, are read as that says, or as `conversions` do for a webhook."""

    objects: object_store.ObjectStore
    world: World
    custom: Callable[[GroupVersionKind], CustomKind | None]
    conversions: Conversions

    async def get(self, endpoint: Endpoint, request: HttpRequest) -> object_store.StoredObject:
        """Return the object of a GET, as it is stored. Raises StatusError."""
        if _is_of_components(endpoint.resource):
            if endpoint.name not in COMPONENTS:
                raise _not_found(endpoint)
            return object_store.StoredObject(await component_status(endpoint.name), 0, 0)
        if is_true(request, "export"):
            message = "the export parameter, deprecated since v1.14, is no longer supported"
            raise status.bad_request(message)
        straight = object_store.is_event(endpoint.resource)
        try:
            revision = revision_of(request.first("resourceVersion"))
        except ValueError as error:
            raise _unreadable(error) if straight else status.plain_error(str(error)) from None
        await self.reach(revision, straight=straight)
        return self.existing(endpoint)

    def existing(self, endpoint: Endpoint) -> object_store.StoredObject:
        """Return the stored object of an endpoint with a name. Raises StatusError: 404, or 400 for
        what is no name of an object."""
        resource = endpoint.resource
        status.require_name(endpoint.name)
        if resource.namespaced and not endpoint.namespace:
            raise status.namespace_required()
        stored = self.objects.get(resource, endpoint.namespace, endpoint.name)
        if stored is None:
            raise _not_found(endpoint)
        return stored

    def shown(self, obj: JsonObject, resource: Resource) -> JsonObject:
        """Return a stored object in the version of a resource. Raises StatusError 500 where a
        webhook converts and cannot. That belongs to a worker (`may_wait`)."""
        custom = self.custom(resource.gvk) if resource.custom else None
        if custom is None:
            return self.world.convert(obj, resource.gvk)
        return (
            _converted(self.conversions.shown, obj, custom)
            if custom.converts
            else custom.shown(obj)
        )

    def all_shown(self, objects: Sequence[JsonObject], resource: Resource) -> Sequence[JsonObject]:
        """Return the same of many, as lists show them."""
        if not resource.custom:
            return self._all_of_kind(objects, resource.gvk)
        custom = self.custom(resource.gvk)
        if custom is None or not custom.converts:
            return [self.shown(obj, resource) for obj in objects]
        return _converted(self.conversions.all_shown, objects, custom)

    def _all_of_kind(
        self, objects: Sequence[JsonObject], gvk: GroupVersionKind
    ) -> Sequence[JsonObject]:
        """Return objects of a built-in kind. Those that have it already stay as they are, which is
        3 µs an object less than to convert each."""
        kind, version, convert = gvk.kind, gvk.api_version, self.world.convert
        if all(map(eq, map(_KIND_AND_VERSION, objects), repeat((kind, version)))):
            return objects  # nothing is called for each, as a rule
        return [
            obj if obj["kind"] == kind and obj["apiVersion"] == version else convert(obj, gvk)
            for obj in objects
        ]

    def cached(self, obj: JsonObject, resource: Resource) -> JsonObject:
        """Return the same of one that is going to be written, which upstream takes from its
        cache."""
        (result,) = self.all_shown([obj], resource)
        return result

    def may_wait(self, resource: Resource) -> bool:
        """Return whether a webhook may be asked for objects of the resource, which takes as long as
        it takes."""
        return resource.custom and self.conversions.concern(resource.gvk.group_kind)

    def takes_long(self, resource: Resource) -> bool:
        """Return whether even a small object of the resource may take long: a webhook is asked, or
        a definition has long defaults."""
        custom = self.custom(resource.gvk) if resource.custom else None
        return (custom is not None and custom.has_long_defaults) or self.may_wait(resource)

    def stored(self, obj: JsonObject, resource: Resource) -> JsonObject:
        """Return what is stored of an object in the version of a resource: custom resources have
        the storage version. Raises StatusError 500."""
        if self.may_wait(resource):
            return _converted(self.conversions.stored, obj)
        custom = self.custom(resource.gvk) if resource.custom else None
        if custom is None or resource.gvk.version == resource.storage_version:
            return obj
        api_version = f"{resource.gvk.group}/{resource.storage_version}"
        return custom.stored({**obj, "apiVersion": api_version})

    def written(self, obj: JsonObject, resource: Resource) -> None:
        """Note that an object has been stored."""
        if self.may_wait(resource):
            self.conversions.written(obj)

    async def prepared(
        self, objects: Sequence[JsonObject], resource: Resource
    ) -> Sequence[JsonObject]:
        """Return objects as `all_shown` does, for who is on the event loop."""
        custom = self.custom(resource.gvk) if resource.custom else None
        if custom is None or not custom.converts:
            return [self.shown(obj, resource) for obj in objects]
        try:
            return await self.conversions.prepared(objects, custom)
        except ConversionFailed as error:
            raise status.plain_error(str(error)) from None

    async def reach(self, revision: int, *, straight: bool = False) -> None:
        """Wait until the store has come to a revision. `straight` says that upstream reads the
        objects from etcd itself, which waits for nothing. Raises StatusError 504."""
        waited = 0.0
        while self.objects.store.revision() < revision:
            if straight or waited >= WAIT_SECONDS:
                retry = 0 if straight else RETRY_SECONDS
                raise too_large(revision, self.objects.store.revision(), retry)
            await asyncio.sleep(_POLL_SECONDS)
            waited += _POLL_SECONDS

    async def collection(
        self, endpoint: Endpoint, options: ListOptions, work: RequestWork | None = None
    ) -> ObjectList:
        """Return the list of a collection. `work` takes long lists aside, and all that follows with
        them. Raises StatusError."""
        if _is_of_components(endpoint.resource):
            found = await asyncio.gather(*map(component_status, COMPONENTS))
            selection = object_store.ObjectSelection.of(options)
            return ObjectList(tuple(filter(selection.matches, found)), 0)
        if work is not None and (
            self.may_wait(endpoint.resource) or self._is_long(endpoint, options)
        ):
            work.is_large = True
        token = None
        if options.continue_token:
            token = _token(options) if work is None else await work.step(_token, options)
        limit = options.limit
        if token is not None:
            revision = await self._token_revision(token, endpoint.resource)
        else:
            revision, limit = await self._revision(options, endpoint.resource)
        start = "" if token is None else token.start
        try:
            if work is None or not work.is_large:
                return self._page(endpoint, options, start, limit, revision)
            return await work.step(self._page, endpoint, options, start, limit, revision, _PAGE)
        except Compacted:
            raise _expired(token) from None
        except FutureRevision:  # of a token that we never wrote
            raise status.plain_error(FUTURE_REVISION) from None

    async def _revision(self, options: ListOptions, resource: Resource) -> tuple[int | None, int]:
        """Return the revision to read at (None: the latest) and the limit that counts.

        limit  resourceVersion  match             read at
        any    ""                                 the latest
        any    "0"              not Exact         the latest, without the limit
        set    N                ""                N
        unset  N                ""                the latest, which must not be older
        any    N                NotOlderThan      the latest, which must not be older
        any    N                Exact             N
        """
        try:
            revision = revision_of(options.resource_version)
        except ValueError as error:
            raise self._bad_version(error, options, resource) from None
        if not revision:
            return None, 0 if options.resource_version else options.limit
        exact = options.match == EXACT or (options.limit and not options.match)
        if exact and not is_since("1.34") and self.objects.store.revision() < revision:
            raise status.plain_error(FUTURE_REVISION)
        paged = options.limit and not is_since("1.31")  # which the cache of 1.30 has none of
        await self.reach(revision, straight=bool(paged or object_store.is_event(resource)))
        return revision if exact else None, options.limit

    async def _token_revision(
        self, token: request_info.ContinueToken, resource: Resource
    ) -> int | None:
        """Return the revision that a token is about, for which the caches wait since 1.34, as for
        any that is given exactly. None for the latest."""
        if token.revision < 0:
            return None
        if is_since("1.34"):
            await self.reach(token.revision, straight=object_store.is_event(resource))
        return token.revision

    def _bad_version(
        self, error: ValueError, options: ListOptions, resource: Resource
    ) -> StatusError:
        """Before 1.33 the cache of a resource says in its own way that a version is no number. It
        is not asked for what only the store can answer."""
        from_store = options.limit or options.match == EXACT or object_store.is_event(resource)
        if from_store or is_since("1.33"):
            return _unreadable(error)
        return status.plain_error(str(error))

    def _page(
        self,
        endpoint: Endpoint,
        options: ListOptions,
        start: str,
        limit: int,
        revision: int | None,
        most: int | None = None,
    ) -> ObjectList:
        """Up to `limit` objects that are selected, however many entries have to be read for it:
        `most` at once. Where only one name can be selected, only that is read, and no page ends
        behind it."""
        resource = endpoint.resource
        selection = object_store.ObjectSelection.of(options)
        name, namespace = ("", "") if start else _only_place(endpoint, options)
        if name:
            page = self.objects.page(resource, namespace, start=name, limit=1, revision=revision)
            found = self.all_shown([stored.object for stored in page.objects], resource)
            return ObjectList(tuple(filter(selection.matches, found)), page.revision)
        at_once = max(limit, _PAGE) if limit and options.has_selector else limit or None
        if most is not None:
            at_once = min(at_once or most, most)
        chosen: list[JsonObject] = []
        while True:
            page = self.objects.page(
                resource, endpoint.namespace, start=start, limit=at_once, revision=revision
            )
            revision = page.revision
            documents = self.all_shown([stored.object for stored in page.objects], resource)
            if not limit and not options.has_selector:
                chosen += documents
                if not page.remaining:
                    return ObjectList(tuple(chosen), revision)
                start = f"{page.last}\0"
                continue
            for index, (stored, obj) in enumerate(zip(page.objects, documents, strict=True)):
                if selection.matches(obj):
                    chosen.append(obj)
                if limit and len(chosen) == limit:
                    rest = len(page.objects) - index - 1 + page.remaining
                    return self._cut(chosen, stored, endpoint, options, revision, rest)
            if not page.remaining:
                return ObjectList(tuple(chosen), revision)
            start = f"{page.last}\0"

    def _is_long(self, endpoint: Endpoint, options: ListOptions) -> bool:
        """Return whether so many objects have to be looked at, or such large ones, that it takes
        long."""
        resource, namespace = endpoint.resource, endpoint.namespace
        most = options.limit if options.limit and not options.has_selector else MANY_OBJECTS + 1
        if most > MANY_OBJECTS and self.objects.count(resource, namespace) > MANY_OBJECTS:
            return True
        return self.objects.weighs(resource, namespace, min(most, MANY_OBJECTS)) > MANY_BYTES

    def _cut(
        self,
        chosen: list[JsonObject],
        last: object_store.StoredObject,
        endpoint: Endpoint,
        options: ListOptions,
        revision: int,
        rest: int,
    ) -> ObjectList:
        if not rest:
            return ObjectList(tuple(chosen), revision)
        key = metadata.name(last.object)
        if endpoint.resource.namespaced and not endpoint.namespace:
            key = f"{metadata.namespace(last.object)}/{key}"
        token = request_info.ContinueToken(revision, f"{key}\0").text()
        remaining = None if options.has_selector else rest
        return ObjectList(tuple(chosen), revision, token, remaining)


def _only_place(endpoint: Endpoint, options: ListOptions) -> tuple[str, str]:
    """Return name and namespace of the one object that fields can select; empty where several may
    be, or where the name would be no part of a key."""
    # As `ListPredicate` of k8s.io/apiserver `pkg/registry/generic/registry`.
    name = options.fields.exact("metadata.name") or ""
    if not name or name_rules.path_segment_name(name):
        return "", ""
    if not endpoint.resource.namespaced:
        return name, ""
    namespace = endpoint.namespace or options.fields.exact("metadata.namespace") or ""
    return ("", "") if name_rules.dns1123_label(namespace) else (name, namespace)


def _not_found(endpoint: Endpoint) -> StatusError:
    if not _is_of_components(endpoint.resource):
        return status.not_found(_missing(endpoint), endpoint.name)
    if not is_since("1.33"):
        return status.plain_error(f"Component not found: {endpoint.name}")
    return status.not_found(GroupResource("", "componentstatus"), endpoint.name)


def _missing(endpoint: Endpoint) -> GroupResource:
    """Return the resource that is said not to be found: before 1.33 a scale that was asked for has
    a resource of its own, with the group of the objects, or of the scales."""
    group_resource, below = endpoint.resource.gvr.group_resource, endpoint.subresource
    is_scale = endpoint.verb == "get" and below is not None and below.name == "scale"
    if not is_scale or group_resource not in _GROUPS_OF_SCALES or is_since("1.33"):
        return group_resource
    return GroupResource(_GROUPS_OF_SCALES[group_resource], f"{group_resource.resource}/scale")


_GROUPS_OF_SCALES: Final = {
    GroupResource("", "replicationcontrollers"): "autoscaling",
    GroupResource("apps", "deployments"): "apps",
    GroupResource("apps", "replicasets"): "apps",
}


def _converted(convert: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Convert. Raises StatusError 500 where it fails."""
    try:
        return convert(*args, **kwargs)
    except ConversionFailed as error:
        raise status.plain_error(str(error)) from None


def _token(options: ListOptions) -> request_info.ContinueToken:
    """Return the continue token. Raises StatusError 400."""
    try:
        token = request_info.read_continue_token(options.continue_token)
    except request_info.ContinueTokenError as error:
        raise status.bad_request(f"invalid continue token: {error}") from None
    if options.resource_version not in ("", "0"):
        message = "specifying resource version is not allowed when using continue"
        raise status.bad_request(message)
    return token


def _expired(token: request_info.ContinueToken | None) -> StatusError:
    if token is None:
        return status.expired(TOO_OLD)
    refusal = status.expired(CONTINUE_TOO_OLD).status
    following = request_info.ContinueToken(request_info.LATEST, token.start).text()
    return StatusError(
        Status(
            message=refusal.message,
            reason=refusal.reason,
            code=refusal.code,
            metadata={"continue": following},
        )
    )


def _unreadable(error: ValueError) -> StatusError:
    return status.bad_request(f"invalid resource version: {error}")


def too_large(revision: int, current: int, retry_seconds: int = RETRY_SECONDS) -> StatusError:
    """Return a revision that is still to come, and has not come in time."""
    message = f"Timeout: Too large resource version: {revision}, current: {current}"
    cause = StatusCause("Too large resource version", "ResourceVersionTooLarge")
    details = StatusDetails(causes=(cause,), retry_after_seconds=retry_seconds)
    return StatusError(Status(message=message, reason="Timeout", details=details, code=504))
