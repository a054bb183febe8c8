"""The parts of a server that all others share: the object store, views of it, the world of
policies, the clock; and gets that need no more than these."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import is_
from time import perf_counter
from typing import Final, Protocol

from celadon.admission import ConversionError, convert
from celadon.apiserver.aggregation.aggregator import Aggregator
from celadon.apiserver.api_settings import Settings
from celadon.apiserver.authn.authentication import Authentication, Authenticator, Credentials
from celadon.apiserver.authz.authorizer_chain import (
    ACCOUNT_GATES,
    NODE_ROLE,
    SELECTORS_GATE,
    AlwaysAllow,
    AuthorizerChain,
    NodeAuthorizer,
)
from celadon.apiserver.caches.served_resources import ServedResources
from celadon.apiserver.caches.store_informers import ChangeCount, NodeView, RoleView
from celadon.apiserver.controllers.controller_loops import ROLE_AGGREGATION, Controllers
from celadon.apiserver.conversion_webhooks import ConversionFailed, Conversions
from celadon.apiserver.flowcontrol.flow_control import FlowControl
from celadon.apiserver.handlers.read import Reader
from celadon.apiserver.handlers.request_context import Notes
from celadon.apiserver.handlers.resource_endpoints import Endpoint
from celadon.apiserver.http_messages import JSON, Headers, HttpAnswer, HttpRequest
from celadon.apiserver.loop_offloading import RequestWork
from celadon.apiserver.negotiation import NOT_KEPT
from celadon.apiserver.object_store import ROOT, ObjectStore, ObjectTexts, StoredObject, Undecodable
from celadon.apiserver.operation.request_limits import InFlight, WatchCounts
from celadon.apiserver.operation.server_metrics import Alike, ServerMetrics
from celadon.apiserver.quota_charging import OpenCharges
from celadon.apiserver.request_info import RequestInfo
from celadon.apiserver.static_admission import StaticFiles
from celadon.apiserver.webhook_routes import CallerOnDemand, ServiceRoutes
from celadon.apiserver.workers import Workers, on_loop
from celadon.kube import (
    Attributes,
    AuthorizerBackend,
    GroupVersionKind,
    GroupVersionResource,
    JsonObject,
    Ruling,
    User,
)
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.rbac import RoleIndex, RoleRef, bootstrap_roles
from celadon.kube.resources import Catalog, Resource
from celadon.kube.well_known_values import NAMESPACES, SUFFIX_LETTERS
from celadon.records import dataclass, field
from celadon.storage import Store, StoreError

# --- World -------------------------------------------------------------------
#
# What policies, plugins and validation may look up: the objects in the store, as they are now.

_REMEMBERED: Final = 1024
"""Namespaces."""


class AuthorizerView(Protocol):
    """Decides who may do what, by the roles and bindings that are stored now."""

    def authorize(self, attributes: Attributes) -> tuple[Ruling, str, str | None]:
        """Return the ruling, its reason, and the text of an error if there was one."""


class StoreWorld:
    """A `World` over the store. Reads see what has been acknowledged."""

    conversions: Conversions
    """Set when there is who calls webhooks, who asks the world where services are."""

    def __init__(
        self, objects: ObjectStore, served: ServedResources, authorizer: AuthorizerView
    ) -> None:
        self._objects = objects
        self._served = served
        self._authorizer = authorizer
        self._changes = ChangeCount(objects, f"{ROOT}/core/namespaces/")
        self._namespace_changes = self._changes.number()
        self._namespaces: dict[str, JsonObject | None] = {}
        """Those that were asked for since the last change of any."""

    @property
    def catalog(self) -> Catalog:
        return self._served.current().catalog

    @on_loop
    def namespace(self, name: str) -> JsonObject | None:
        """Asked three times by most writes; what was found is good until a namespace is written."""
        number = self._changes.number()
        namespaces = self._namespaces
        if number != self._namespace_changes or len(namespaces) >= _REMEMBERED:
            self._namespace_changes, self._namespaces = number, (namespaces := {})
        try:
            return namespaces[name]
        except KeyError:
            result = namespaces[name] = self.get(NAMESPACES, "", name)
            return result

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        served = self.catalog.by_gvr(resource)
        stored = None if served is None else self._objects.get(served, namespace, name)
        if served is None or stored is None:
            return None
        (converted,) = self._shown([stored.object], served)
        return converted

    def list(self, resource: GroupVersionResource, namespace: str) -> Sequence[JsonObject]:
        served = self.catalog.by_gvr(resource)
        if served is None:
            return ()
        page = self._objects.page(served, namespace)
        return self._shown([stored.object for stored in page.objects], served)

    def _shown(self, objects: Sequence[JsonObject], resource: Resource) -> Sequence[JsonObject]:
        """Return stored objects in the version of a resource. Raises ConversionError."""
        kind = resource.gvk
        if resource.custom and self.conversions.concern(kind.group_kind):
            custom = self._served.current().custom[kind]
            try:
                return self.conversions.all_shown(objects, custom)
            except ConversionFailed as error:
                raise ConversionError(str(error)) from None
        return [convert(obj, kind) for obj in objects]

    def authorize(self, attributes: Attributes) -> tuple[Ruling, str, str | None]:
        return self._authorizer.authorize(attributes)

    def convert(self, obj: JsonObject, kind: GroupVersionKind) -> JsonObject:
        """Return an object in another version. Raises ConversionError."""
        if obj.get("kind") == kind.kind and obj.get("apiVersion") == kind.api_version:
            return obj  # a worker that asked the loop waited 50 µs for each object of a list
        if not self.conversions.concern(kind.group_kind):
            return convert(obj, kind)
        try:
            return self.conversions.converted(obj, kind)
        except ConversionFailed as error:
            raise ConversionError(str(error)) from None


# --- Time and chance ---------------------------------------------------------
#
# What cannot be computed: the time, uids, the random end of generated names.

_PAIRS: Final = tuple(low + high for high in SUFFIX_LETTERS for low in SUFFIX_LETTERS)


def new_uid() -> str:
    """Return a random UUID (version 4), in a fifth of the time that `uuid` takes."""
    text = os.urandom(16).hex()
    variant = "89ab"[int(text[16], 16) & 3]
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}"


@dataclass(frozen=True, slots=True)
class Sources:
    """Gives a server what cannot be computed: the time, uids, random numbers."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    uid: Callable[[], str] = new_uid
    randomness: random.Random = field(default_factory=random.Random)
    """For names and times, not for secrets; the system's own costs ten times as much."""

    def timestamp(self) -> str:
        """Return the time as objects have it."""
        return self.now().isoformat(timespec="seconds")[:19] + "Z"

    def suffix(self) -> str:
        """Return five random characters, the end of a generated name."""
        # The digits of a number to the base of the letters, two at once: each write has one.
        pairs, number = _PAIRS, self.randomness.getrandbits(64)
        number, first = divmod(number, len(pairs))
        number, second = divmod(number, len(pairs))
        return pairs[first] + pairs[second] + SUFFIX_LETTERS[number % len(SUFFIX_LETTERS)]

    def seconds(self) -> float:
        """Return the time since 1970."""
        return self.now().timestamp()


NOBODY: Final = User("")


@dataclass(frozen=True, slots=True)
class ServerCore:
    """Holds what the parts of one server share. `caller` calls webhooks, `aggregator` asks other
    servers, `charges` are what quotas are being charged with at the moment, `static` the policies
    and webhooks from files, `flows` who waits when much is asked (None is no order), `workers` take
    what takes long."""

    settings: Settings
    sources: Sources
    objects: ObjectStore
    served: ServedResources
    roles: RoleView
    authorizer: AuthorizerChain
    world: StoreWorld
    caller: CallerOnDemand
    aggregator: Aggregator
    in_flight: InFlight
    metrics: ServerMetrics
    charges: OpenCharges
    static: StaticFiles
    flows: FlowControl | None = None
    workers: Workers = field(default_factory=Workers)

    def new_context(self, user: User = NOBODY) -> DefaultingContext:
        """Return the context of one write: with a time, a uid and a random suffix of its own."""
        return DefaultingContext(
            now=self.sources.timestamp(),
            uid=self.sources.uid(),
            suffix=self.sources.suffix(),
            user=user,
            cluster=self.world,
            extra_token_sources=self.settings.extra_token_sources,
            gates=self.settings.gates,
        )


def _authorizers(
    settings: Settings, objects: ObjectStore, roles: RoleView
) -> Iterator[AuthorizerBackend]:
    if settings.allows_everything:
        yield AlwaysAllow()
        return
    if settings.authorizes_nodes:
        gates = (SELECTORS_GATE, *ACCOUNT_GATES)
        turned_on = [name for name, is_on in settings.gates.items() if is_on]
        rules = RoleIndex(bootstrap_roles(turned_on)).rules_of(
            RoleRef("ClusterRole", NODE_ROLE), ""
        )
        assert rules is not None, "a role of each release"
        on = frozenset(filter(settings.has_gate, gates))
        yield NodeAuthorizer(NodeView(objects), rules, on)
    yield roles


def core_on(store: Store, settings: Settings, sources: Sources) -> ServerCore:
    """Return the core of a server whose objects are in that store."""
    objects = ObjectStore(store, settings.event_seconds)
    served = ServedResources(objects, settings.catalog(), settings.version)
    roles = RoleView(objects, aggregating=ROLE_AGGREGATION in settings.controller_names)
    authorizer = AuthorizerChain(tuple(_authorizers(settings, objects, roles)))
    world = StoreWorld(objects, served, authorizer)
    routes, workers = ServiceRoutes(world, settings.webhook_services), Workers()
    caller = CallerOnDemand(routes, settings.plugin_settings.kubeconfigs)
    aggregator = Aggregator(
        objects,
        world,
        routes,
        settings.webhook_services,
        settings.front_proxy,
        RequestWork(workers, "the documents of extension servers").aside,
    )
    in_flight = InFlight(settings.limits)
    metrics = ServerMetrics(
        in_flight,
        lambda: objects.counts(served.current().catalog),
        sources.seconds,
        aggregator.families(),
    )
    world.conversions = Conversions(served.current, caller.call, sources.uid, metrics.conversions)
    return ServerCore(
        settings,
        sources,
        objects,
        served,
        roles,
        authorizer,
        world,
        caller,
        aggregator,
        in_flight,
        metrics,
        OpenCharges(),
        StaticFiles(settings, metrics.static_reloads),
        _flows(objects, settings, metrics, in_flight.watched) if settings.limits.fairness else None,
        workers,
    )


def _flows(
    objects: ObjectStore, settings: Settings, metrics: ServerMetrics, watches: WatchCounts
) -> FlowControl:
    seats = settings.limits.reading + settings.limits.mutating
    return FlowControl(objects, seats, time.monotonic, metrics.flows, watches)


# --- Gets that are known -----------------------------------------------------
#
# A get that is asked again is answered without a way through all layers. What they found out
# follows from the head of the request and from rules; so it holds as long as these are the same
# objects. Found out anew each time is what may change by itself: who asks (tokens end), whether
# there is a seat, and the object.

_MOST_KNOWN: Final = 1024
"""Gets that are remembered, each with a head of at most KNOWN_BYTES."""

KNOWN_BYTES: Final = 2048

_LONGEST_KNOWN: Final = 16 << 10
"""Bytes of a stored object: whatever is escaped in its text, that is too short to be compressed."""

_Rules = tuple[object, object, object]
"""Who may do what, what is served here, and what elsewhere."""


@dataclass(frozen=True, slots=True)
class _KnownGet:
    """Holds what the layers found out about a get that was allowed."""

    rules: _Rules
    authentication: Authentication
    info: RequestInfo
    endpoint: Endpoint
    audit: Mapping[str, str]
    alike: Alike


class KnownGets:
    """Answers gets of one server that were answered before."""

    def __init__(
        self,
        core: ServerCore,
        authenticator: Authenticator,
        controllers: Controllers,
        reader: Reader,
        texts: ObjectTexts,
    ) -> None:
        self._core = core
        self._authenticator = authenticator
        self._controllers = controllers
        self._reader = reader
        self._texts = texts
        self._known: dict[tuple[object, ...], _KnownGet | None] = {}
        """None of what was asked once."""
        self._revision = -1
        """At which the rules were looked at."""
        self._rules: _Rules = (None, None, None)

    def __len__(self) -> int:
        return len(self._known)

    def rules(self, request: HttpRequest) -> _Rules | None:
        """Return what the answer to a get depends on beside its head and the object: the same
        object as before where that has not changed. None for requests that are never known."""
        if request.method != "GET" or "?" in request.target:
            return None
        core = self._core
        revision = core.objects.store.revision()
        if revision == self._revision:
            return self._rules
        try:
            rules = core.roles.current(), core.served.current(), core.aggregator.services.current()
        except (Undecodable, StoreError):  # the layers have words for that
            return None
        if not all(map(is_, rules, self._rules)):
            self._rules = rules
        # What lags comes into force without a write.
        self._revision = revision if core.roles.is_settled and core.served.is_settled else -1
        return self._rules

    def answer(self, request: HttpRequest) -> HttpAnswer | None:
        """Return what all layers would answer; None if they have to be asked."""
        known = self._known.get(_head(request)) if request.method == "GET" else None
        if known is None or request.body:
            return None
        began, flows, info = perf_counter(), self._core.flows, known.info
        rules, stored = self.rules(request), self._stored(known.endpoint)
        if stored is None or rules is not known.rules:
            return None
        authentication = self._authenticated(request)
        user = authentication.user
        if user is None or authentication != known.authentication or flows is None:
            return None
        flow = flows.classify(user, info)
        if flow is None or not flow.level.has_seat:
            return None
        turn = flows.arrive(flow, flows.estimate(flow, request, info))
        executes = flows.now()
        body = self._body(stored, known.endpoint)
        flows.leave(turn, executes, info)
        headers = (("Audit-Id", self._core.sources.uid()), NOT_KEPT, *flow.headers)
        answer = HttpAnswer(200, JSON, body, headers, audit=known.audit, user=user)
        self._core.metrics.count(known.alike, answer, perf_counter() - began)
        return answer

    def learn(
        self, request: HttpRequest, rules: _Rules | None, notes: Notes, answer: HttpAnswer
    ) -> None:
        """Take notice of an answer of the layers, which began by these rules."""
        endpoint, info = notes.endpoint, notes.info
        if rules is None or endpoint is None or info is None or not _is_plain(notes, answer):
            return
        head = _head(request)
        if request.header("audit-id") or request.head_size > KNOWN_BYTES:
            return
        if head not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[head] = None
            return
        stored, authentication = self._stored(endpoint), self._authenticated(request)
        # Whatever form was negotiated: it is the plain one if that is what was answered.
        is_text = stored is not None and answer.body == self._body(stored, endpoint)
        is_lasting = authentication.user == notes.user and rules is self.rules(request)
        if is_text and is_lasting:
            alike = self._core.metrics.alike(request, info, endpoint.resource, answer.code)
            self._known[head] = _KnownGet(rules, authentication, info, endpoint, notes.audit, alike)

    def _stored(self, endpoint: Endpoint) -> StoredObject | None:
        """Return an object that can be shown at once."""
        core = self._core
        try:
            if not (core.objects.store.synced().done() and self._controllers.is_caught_up()):
                return None
            stored = core.objects.get(endpoint.resource, endpoint.namespace, endpoint.name)
        except (Undecodable, StoreError):
            return None
        return stored if stored is not None and stored.size <= _LONGEST_KNOWN else None

    def _authenticated(self, request: HttpRequest) -> Authentication:
        credentials = Credentials.of(request)
        return self._authenticator.authenticate(credentials, self._core.sources.now())

    def _body(self, stored: StoredObject, endpoint: Endpoint) -> bytes:
        resource = endpoint.resource
        return self._texts.whole(self._reader.shown(stored.object, resource), resource) + b"\n"


def _head(request: HttpRequest) -> tuple[object, ...]:
    """Return all that answers to gets depend on of a request."""
    headers = request.headers
    shared = headers if isinstance(headers, Headers) else Headers(headers)
    return request.target, shared, request.client_certificate, request.signed_for


def _is_plain(notes: Notes, answer: HttpAnswer) -> bool:
    """Return whether an object was answered, of a built-in resource, to who asked as themselves,
    and nothing was said about it."""
    endpoint = notes.endpoint
    if endpoint is None or endpoint.verb != "get" or endpoint.resource.custom:
        return False
    is_whole = endpoint.subresource is None and answer.code == 200 and not answer.headers
    return is_whole and not (notes.warnings or notes.request_audit or notes.impersonated_user)
