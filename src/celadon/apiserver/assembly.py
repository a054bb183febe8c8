"""Assembles a server: each part is made here, and given the parts that it needs. Nothing else
happens here.

`perform` answers a request as if that user had made it and were allowed to (`request_layers`).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import ipaddress
import time
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from http import HTTPStatus
from time import perf_counter
from typing import TYPE_CHECKING, Final

from celadon.admission import RecordedWarning, recorded_warnings
from celadon.admission.plugins import (
    EVENT_RATE_LIMIT,
    IMAGE_POLICY,
    RESOURCE_QUOTA,
    ImagePolicySettings,
    PluginChain,
)
from celadon.admission.static_manifests import StaticObjects
from celadon.apiserver import bootstrap_objects
from celadon.apiserver.aggregation.api_services import ProxySettings
from celadon.apiserver.api_settings import AccessSettings, ServedRelease, Settings
from celadon.apiserver.authn.authentication import Authenticator
from celadon.apiserver.authn.identities import FrontProxies
from celadon.apiserver.authn.service_account_tokens import ServiceAccountTokens
from celadon.apiserver.authz.authorizer_chain import Standings
from celadon.apiserver.caches import policy_cache
from celadon.apiserver.caches.service_allocators import (
    CLUSTER_ADDRESSES,
    ServiceNetworkView,
    first_address,
)
from celadon.apiserver.caches.store_informers import ChangeCount
from celadon.apiserver.controllers.controller_loops import (
    Controllers,
    ServerRequests,
    with_applied_status,
)
from celadon.apiserver.controllers.server_controllers import (
    FLOW_SCHEMAS,
    ControllerSurroundings,
    led_controllers,
    server_controllers,
)
from celadon.apiserver.discovery import health_and_version
from celadon.apiserver.handlers import write_admission
from celadon.apiserver.handlers.bindings_and_evictions import PodOperations
from celadon.apiserver.handlers.chain_driver import ServerAdmitters
from celadon.apiserver.handlers.connect import Connector
from celadon.apiserver.handlers.delete import Deleter
from celadon.apiserver.handlers.read import Reader
from celadon.apiserver.handlers.request_context import Notes
from celadon.apiserver.handlers.resource_handler import Reviewer, Verbs
from celadon.apiserver.handlers.reviews import TokenIssuer
from celadon.apiserver.handlers.watch import Watching
from celadon.apiserver.handlers.write import FieldManagers, Writer
from celadon.apiserver.http_messages import Header, HttpAnswer, HttpRequest, plain_text
from celadon.apiserver.leaderelection import LeaderElection, ServedLeases, leases_path
from celadon.apiserver.loop_offloading import MANY_OBJECTS, RequestWork
from celadon.apiserver.negotiation import NO_SNIFF, NOT_KEPT
from celadon.apiserver.object_store import ROOT, ObjectStore, object_key
from celadon.apiserver.operation.log_lines import FAILURES
from celadon.apiserver.operation.runtime_config import effective_version
from celadon.apiserver.operation.server_metrics import MutationTimer, PolicyTimer
from celadon.apiserver.quota_charging import QuotaCharging
from celadon.apiserver.request_layers import Publications, RequestLayers
from celadon.apiserver.server_core import KnownGets, ServerCore, Sources, core_on
from celadon.apiserver.webhook_dispatch import Webhooks, WebhookView
from celadon.apiserver.workers import TooMuchWork
from celadon.kube import JsonObject, StatusError, User, metadata, releases
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.fieldmanager import FieldWriter, track_create
from celadon.kube.json_types import JsonDict
from celadon.kube.library import parse_version
from celadon.kube.protobuf import in_message_order
from celadon.kube.rbac import bootstrap_roles
from celadon.kube.registry import Target, create, draft_of
from celadon.kube.resources import Catalog
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, SERVICES
from celadon.storage import Store

if TYPE_CHECKING:
    from celadon.apiserver.handlers.image_policy import ImagePolicy

MUTATING_WEBHOOKS: Final = "MutatingAdmissionWebhook"
VALIDATING_WEBHOOKS: Final = "ValidatingAdmissionWebhook"
CONTROLLERS_LEASE: Final = "celadon-controllers"
"""In `kube-system`: which of several servers runs the controllers of which one is enough."""

Perform = Callable[[HttpRequest, User], Awaitable[HttpAnswer]]


def authenticator_of(core: ServerCore, access: AccessSettings) -> Authenticator:
    """Return who knows who asks: by tokens of the file and of service accounts, and by
    certificates."""
    audiences = access.issuers
    accounts = ServiceAccountTokens(access.issuers, audiences, access.signer, core.world)
    return Authenticator(
        audiences,
        access.tokens,
        accounts,
        access.client_certificates,
        access.anonymous,
        core.settings.has_gate("AllowParsingUserUIDFromCertAuth"),
        front_proxies(core.settings.front_proxy),
    )


def front_proxies(settings: ProxySettings) -> FrontProxies | None:
    """Return by what front proxies are known; None where none is."""
    if settings.authorities is None:
        return None
    return FrontProxies(
        settings.allowed_names,
        settings.user_headers,
        settings.uid_headers,
        settings.group_headers,
        settings.extra_prefixes,
    )


def publications_of(
    core: ServerCore,
    access: AccessSettings,
    checks: Callable[[str], Sequence[health_and_version.HealthCheck]],
) -> Publications:
    """Return what is answered beside the resources."""
    settings, seconds = core.settings, core.sources.seconds
    effective = settings.effective or effective_version(settings.version)
    version = health_and_version.ServerVersion(
        effective.binary,
        releases.PATCHES.get(effective.binary, 0),
        emulated=effective.emulation,
        compatible=effective.min_compatibility,
    )
    return Publications(
        settings.address,
        checks,
        core.metrics.health.observe,
        {"/metrics": core.metrics.page, "/metrics/slis": core.metrics.health.page},
        health_and_version.OpenId(access.issuer, settings.address, access.signer),
        health_and_version.SelfPortrait(
            version, seconds(), seconds, settings.as_flags(access.issuer)
        ),
        health_and_version.KINDS
        if parse_version(settings.version) >= health_and_version.SINCE
        else (),
        None if core.flows is None else core.flows.page,
        settings.descriptions,
    )


def controllers_of(core: ServerCore, perform: Perform) -> Controllers:
    """Return what happens without a request."""
    settings = core.settings
    surroundings = ControllerSurroundings(
        core.objects,
        core.served,
        settings.version,
        core.sources.now,
        perform,
        core.new_context,
        settings.has_gate,
        settings.controller_names,
        core.charges,
        core.workers,
        settings.root_certificates,
        settings.namespace_grace,
        settings.collection_lag,
        first_address(settings.service_addresses),
        core.aggregator,
    )
    leading = None
    if settings.is_one_of_several:
        leases = ServedLeases(surroundings.requests("leader-election"))
        identity = f"{settings.address}_{core.sources.uid()}"
        namespace = leases_path("kube-system")
        leading = LeaderElection(leases, namespace, CONTROLLERS_LEASE, identity).run
    always, led = server_controllers(surroundings), led_controllers(surroundings)
    if settings.simulation is None:
        return Controllers(core.objects, always, led, leading)
    # late: few servers have workloads that run
    from celadon.apiserver.simulation.simulated_controllers import simulated_controllers

    simulated = simulated_controllers(surroundings, settings.simulation)
    return Controllers(core.objects, always, led, leading, simulated, settings.simulation.clock)


def admission_of(core: ServerCore, perform: Perform) -> write_admission.Admission:
    """Return whether a write may happen."""
    settings = core.settings
    plugin_settings = settings.plugin_settings
    plugins = PluginChain(settings.plugins, settings.version, plugin_settings, settings.gates)
    limits = plugin_settings.event_limits if EVENT_RATE_LIMIT in plugins.names else ()
    backend = plugin_settings.image_policy if IMAGE_POLICY in plugins.names else None
    create = _namespace_maker(perform) if write_admission.AUTO_PROVISION in plugins.names else None
    return write_admission.Admission(
        admitters=_admitters(core, plugins),
        authorizer=core.authorizer,
        roles=core.roles,
        provision=write_admission.NamespaceProvision(core.world, create),
        quotas=QuotaCharging(
            core.objects,
            core.sources.timestamp,
            core.charges,
            plugin_settings.limited_resources,
            enabled=RESOURCE_QUOTA in plugins.names,
        ),
        event_rates=write_admission.EventRates(limits, time.monotonic),
        images=None if backend is None else _image_policy(backend),
    )


def _image_policy(settings: ImagePolicySettings) -> ImagePolicy:
    # late: few servers ask a backend, and its HTTP client takes as long to import as a room
    from celadon.apiserver.handlers.image_policy import ImagePolicy

    return ImagePolicy(settings, time.monotonic, time.time)


def _admitters(core: ServerCore, plugins: PluginChain) -> ServerAdmitters:
    compiled = core.metrics.compilation_seconds.observe
    version = core.settings.version
    mutating = validating = None
    name = policy_cache.MUTATING.policy
    if (
        name in plugins.names
        and core.settings.has_gate(name)
        and policy_cache.has_kinds(policy_cache.MUTATING)
    ):
        mutating = policy_cache.mutating_view(core.objects, version, _static(core, name), compiled)
    if policy_cache.VALIDATING.policy in plugins.names:
        static = _static(core, policy_cache.VALIDATING.policy)
        validating = policy_cache.validating_view(core.objects, version, static, compiled)
    changes = ChangeCount(core.objects, f"{ROOT}/{ADMISSION_REGISTRATION}/")
    return ServerAdmitters(
        plugins=plugins,
        mutating=mutating,
        validating=validating,
        webhooks=_webhooks(core, plugins.names),
        served=core.served,
        world=core.world,
        state=lambda: (changes.number(), core.static.objects()),
        mutation_timer=MutationTimer(core.metrics),
        timer=PolicyTimer(core.metrics),
    )


def _static(core: ServerCore, plugin: str) -> Callable[[], StaticObjects]:
    return functools.partial(core.static.of, plugin)


def _webhooks(core: ServerCore, plugins: frozenset[str]) -> Webhooks:
    mutating, validating = (
        WebhookView(
            core.objects,
            core.settings.version,
            mutating=item is MUTATING_WEBHOOKS,
            static=_static(core, item),
        )
        if item in plugins
        else None
        for item in (MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS)
    )
    counts = core.metrics.webhooks
    return Webhooks(mutating, validating, core.world, core.caller.call, core.sources.uid, counts)


def _namespace_maker(perform: Perform) -> Callable[[str], Awaitable[str]]:
    async def make(name: str) -> str:
        requests = ServerRequests(perform, "namespace-controller")
        body = {"metadata": {"name": name}}
        reply = await requests.call("POST", "/api/v1/namespaces", body)
        return "" if reply.code in (201, 409) else reply.message

    return make


def verbs_of(
    core: ServerCore,
    access: AccessSettings,
    authenticator: Authenticator,
    admission: write_admission.Admission,
) -> Verbs:
    """Return what can be done with resources."""
    sources, settings, world = core.sources, core.settings, core.world
    reader = Reader(
        core.objects, world, lambda kind: core.served.current().custom.get(kind), world.conversions
    )
    managers = FieldManagers(core.served, world, world.conversions)
    deleter = Deleter(core.objects, reader, world, admission, sources.timestamp)
    return Verbs(
        reader,
        Watching(core.objects, reader, core.served),
        Standings(authenticator, sources.now, time.monotonic),
        Writer(
            core.objects,
            reader,
            world,
            admission,
            managers,
            core.new_context,
            _service_network(core),
            settings.version,
            settings.gates,
        ),
        deleter,
        Reviewer(
            authenticator,
            core.authorizer,
            core.roles,
            TokenIssuer(access.issuer, access.issuers, access.signer, world, settings.has_gate),
            sources.now,
            sources.uid,
            core.new_context,
            admission,
            managers,
        ),
        PodOperations(
            core.objects,
            world,
            admission,
            deleter,
            sources.timestamp,
            core.new_context,
            managers,
            settings.has_gate,
        ),
        Connector(world, admission, settings.has_gate),
        sources.seconds,
        sources.randomness.random,
        core.in_flight,
        core.metrics,
        settings.limits.watch_seconds,
    )


def _service_network(core: ServerCore) -> ServiceNetworkView:
    services = core.served.current().catalog.by_gvr(SERVICES)
    assert services is not None, "a catalogue without Services"
    return ServiceNetworkView(
        core.objects, services, core.sources.randomness, core.settings.service_addresses
    )


# --- Initial state -----------------------------------------------------------
#
# What a new server has before the first request: namespaces, roles, flow control, what there is
# of its network.
#
# Objects that are there already stay as they are: after a restart nothing is done.


@releases.per_release()
def initial_objects(service_address: str, gates: frozenset[str]) -> Sequence[JsonObject]:
    """Return the objects that are the same everywhere, each behind what it needs.
    `service_address` is that of the server's own Service; `gates` are feature gates that somebody
    switched on."""
    namespaces = list(bootstrap_objects.initial_namespaces())
    accounts = (
        bootstrap_objects.default_service_account(metadata.name(namespace))
        for namespace in namespaces
    )
    service = bootstrap_objects.kubernetes_service(service_address)
    flow_control = (*bootstrap_objects.priority_levels(), *bootstrap_objects.flow_schemas())
    more = (
        *bootstrap_objects.initial_priority_classes(),
        *bootstrap_roles(gates),
        *flow_control,
        service,
    )
    return (*namespaces, *accounts, *more)


def objects_of_server(
    address: str,
    client_ca: str,
    now: str,
    service_addresses: str = CLUSTER_ADDRESSES,
    front_proxy: Mapping[str, str] = {},
) -> Iterator[JsonObject]:
    """Yield those that depend on it: `address` is its host and port, `client_ca` PEM or empty,
    `now` the time as objects have it, `service_addresses` the range that Services get theirs from,
    `front_proxy` by what extension servers know this one."""
    yield bootstrap_objects.service_range(service_addresses, now)
    yield bootstrap_objects.authentication_config_map(client_ca, front_proxy)
    host, _, port = address.rpartition(":")
    with contextlib.suppress(ValueError):  # the name of a host
        listened = ipaddress.ip_address(host.strip("[]"))
        if not (listened.is_loopback or listened.is_unspecified):
            yield from bootstrap_objects.kubernetes_endpoints(str(listened), int(port))


async def create_initial_objects(
    objects: ObjectStore,
    catalog: Catalog,
    new_context: Callable[[], DefaultingContext],
    of_server: Iterable[JsonObject] = (),
    service_address: str = bootstrap_objects.FIRST_ADDRESS,
) -> None:
    """`new_context` gives a new uid each time, `of_server` are those of this one, `service_address`
    is that of its own Service. All are written at once: with one flush to disk."""
    writes = []
    gates = frozenset(gate for gate, is_on in new_context().gates.items() if is_on)
    for obj in (
        *initial_objects(service_address, gates),
        *bootstrap_objects.api_services(catalog),
        *of_server,
    ):
        resource = catalog.by_gvk(metadata.gvk(obj))
        if resource is None:  # a version that is not to be served
            continue
        namespace, name = metadata.namespace(obj), metadata.name(obj)
        if objects.store.get(object_key(resource, namespace, name)) is None:
            first_object = _first_object(obj, Target(resource, namespace), new_context())
            writes.append(objects.create(resource, namespace, name, first_object))
    await asyncio.gather(*writes)


def _first_object(obj: JsonObject, target: Target, context: DefaultingContext) -> JsonDict:
    """Return an object as it is stored, with the managers that it has upstream."""
    draft = create.begin_create(draft_of(obj, target, context), target)
    maker = bootstrap_objects.MAKERS.get(target.kind.kind, bootstrap_objects.SERVER)
    if maker:
        track_create(draft, target, FieldWriter(maker, context.now))
    created = create.finish_create(draft)
    new, document = create.stored_new(draft, created, target), _status(obj, context.now)
    if target.resource.gvr == FLOW_SCHEMAS:
        consumer = FieldWriter(bootstrap_objects.FLOW_CONSUMER, context.now)
        document = with_applied_status(new, document["status"], target.resource, consumer)
    return in_message_order({**new, **document})


def _status(obj: JsonObject, now: str) -> JsonObject:
    """Return the object with a status, which no client could have given it; conditions without a
    time are from now."""
    if "status" not in obj:
        return {}
    conditions = [
        {"lastTransitionTime": now, **condition} for condition in obj["status"]["conditions"]
    ]
    return {"status": {**obj["status"], "conditions": conditions}}


# --- Apiserver ---------------------------------------------------------------
#
# The API server: one handler from a request to an answer, and the life of what is behind it.
#
# What a request goes through is in `request_layers`, which part is made of which others in
# `assembly`. Nothing here knows of sockets or threads; time, uids and random text come from
# `Sources`.

PANICKED: Final = plain_text(
    500, "This request caused apiserver to panic. Look in the logs for details.\n", NO_SNIFF
)
"""What upstream says when a handler fails in a way that nobody expected
(k8s.io/apiserver `pkg/server/filters/wrap.go`)."""


class ApiServer:
    """Holds all there is to a server but its network."""

    def __init__(
        self,
        store: Store,
        access: AccessSettings,
        settings: Settings | None = None,
        sources: Sources | None = None,
    ) -> None:
        settings = Settings() if settings is None else settings
        self._release = settings.release()
        sources = Sources() if sources is None else sources
        with releases.answering_as(settings.version, settings.compatible, settings.emulated):
            self._assemble(store, access, settings, sources)

    def _assemble(
        self, store: Store, access: AccessSettings, settings: Settings, sources: Sources
    ) -> None:
        self.core = core = core_on(store, settings, sources)
        self.is_ending = False
        self.objects = core.objects
        self.served = core.served
        self.controllers = controllers_of(core, self.perform)
        authenticator = authenticator_of(core, access)
        self._admission = admission = admission_of(core, self.perform)
        verbs = verbs_of(core, access, authenticator, admission)
        self._layers = RequestLayers(
            core,
            authenticator,
            self.controllers,
            publications_of(core, access, self._health_checks),
            verbs,
        )
        self.gets = KnownGets(core, authenticator, self.controllers, verbs.reader, verbs.texts)

    def _health_checks(self, root: str) -> Sequence[health_and_version.HealthCheck]:
        ending = "process is shutting down" if self.is_ending else ""
        store = self.objects.store
        trouble, unwritable = store.trouble(), store.writing_trouble()
        has_gate = self.core.settings.has_gate
        return health_and_version.checks_of(root, trouble, unwritable, ending, has_gate)

    def prepare_to_stop(self) -> None:
        """Say on `/readyz` that no more requests should come."""
        self.is_ending = True

    async def start(self) -> None:
        """Make what a new server has. Requests may come when this is done. Raises ManifestError
        for files of static policies and webhooks that cannot be used."""
        settings, now = self.core.settings, self.core.sources.timestamp()
        with releases.answering_as(settings.version, settings.compatible, settings.emulated):
            self.core.static.load()
            catalog = self.served.current().catalog
            services = settings.service_addresses
            initial = objects_of_server(
                settings.address, settings.client_ca, now, services, settings.front_proxy.data()
            )
            await create_initial_objects(
                self.objects, catalog, self.core.new_context, initial, first_address(services)
            )
            if self.core.settings.controllers:
                self.controllers.start()

    async def stop(self) -> None:
        """End all watches; what was acknowledged is kept."""
        await self.controllers.stop()
        await self.core.aggregator.aclose()
        self.core.workers.stop()
        await self.core.caller.aclose()
        if self._admission.images is not None:
            await self._admission.images.aclose()
        self.objects.store.close()

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """Answer one request. Whatever is wrong with it becomes an answer, too."""
        before = self._release.enter()
        try:
            return self.gets.answer(request) or await self._handled(request)
        finally:
            releases.leave_release(before)

    async def _handled(self, request: HttpRequest) -> HttpAnswer:
        began = perf_counter()
        audit_id = request.header("audit-id") or self.core.sources.uid()
        notes, rules = Notes(audit_id=audit_id), self.gets.rules(request)
        panic = ""
        try:
            answer = await self._layers.answered(request, notes)
            self.gets.learn(request, rules, notes, answer)
        except Exception as error:  # noqa: BLE001  whatever was raised, there is an answer
            FAILURES.tell(f"{request.method} {request.path}: the request failed", error)
            answer, panic = PANICKED, f"APIServer panic'd: {error}"
        warnings = await self._warned(notes) if notes.warnings else ()
        # Of a request whose path says nothing, upstream has come to no filter yet.
        is_unread = notes.info is None and answer.code == _FAILED
        is_cached = _has(answer, "cache-control") or (is_unread and not panic)
        cache = () if is_cached else (NOT_KEPT,)
        is_kept_out = answer.code == _FORBIDDEN and notes.endpoint is None
        sniff = (NO_SNIFF,) if is_kept_out else ()
        headers = (
            ("Audit-Id", audit_id),
            *cache,
            *sniff,
            *answer.headers,
            *notes.flow_headers,
            *warnings,
        )
        http_answer = HttpAnswer(
            answer.code,
            answer.content_type,
            answer.body,
            headers,
            self._in_release(answer.stream),
            notes.audit,
            notes.request_audit,
            notes.user,
            notes.impersonated_user,
            notes.constraint,
            panic,
            answer.tunnel,
            answer.outlet,
            answer.is_passed_on,
            notes.sent,
        )
        if notes.info is not None:
            resource = None if notes.endpoint is None else notes.endpoint.resource
            seconds = perf_counter() - began
            self.core.metrics.answered(request, notes.info, resource, http_answer, seconds)
        return http_answer

    def _in_release(
        self, stream: AsyncGenerator[bytes, None] | None
    ) -> AsyncGenerator[bytes, None] | None:
        """Make a stream whose parts are of the same release as the answer, whoever reads them
        later."""
        settings = self.core.settings
        if stream is None or (settings.version == releases.DEFAULT and settings.effective is None):
            return stream
        return _read_as(self._release, stream)

    async def _warned(self, notes: Notes) -> tuple[Header, ...]:
        owner = "" if notes.user is None else notes.user.name
        work = RequestWork(self.core.workers, owner, len(notes.warnings) > MANY_OBJECTS)
        try:
            return await work.step(_warning_headers, notes.warnings)
        except (StatusError, TooMuchWork):  # nobody has time for them
            return ()

    async def perform(self, request: HttpRequest, user: User) -> HttpAnswer:
        """Return a request of the server's own, by a user who may do it. Raises UnreadablePath."""
        return await self._layers.perform(request, user)


async def _read_as(
    release: ServedRelease, stream: AsyncGenerator[bytes, None]
) -> AsyncGenerator[bytes, None]:
    try:
        while True:
            before = release.enter()
            try:
                part = await anext(stream)
            except StopAsyncIteration:
                return
            finally:
                releases.leave_release(before)
            yield part
    finally:
        await stream.aclose()


_FORBIDDEN: Final = int(HTTPStatus.FORBIDDEN)
_FAILED: Final = int(HTTPStatus.INTERNAL_SERVER_ERROR)


def _warning_headers(texts: Iterable[str]) -> tuple[Header, ...]:
    warnings = (RecordedWarning(text) for text in dict.fromkeys(texts))
    return tuple(
        ("Warning", f'299 - "{_escaped(warning.text)}"') for warning in recorded_warnings(warnings)
    )


def _has(answer: HttpAnswer, header: str) -> bool:
    return any(name.lower() == header for name, _ in answer.headers)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
