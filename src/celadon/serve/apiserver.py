"""The API server: one handler from a request to an answer, and the layers it goes through.

The layers stand in `handle` in their order, which is upstream's: audit id and headers, what the
request is about, who asks, may they, the resource. Nothing here knows of sockets or threads; time,
uids and random text come from `Sources`.
"""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from time import perf_counter
from typing import Any, Final

from celadon.admission import RecordedWarning, recorded_warnings
from celadon.admission.plugins import PluginChain
from celadon.kube import GroupVersionResource, StatusError, User, status
from celadon.kube.catalogue import DEFAULT_PLUGINS, Catalog, known_resources
from celadon.kube.defaulting import DefaultingContext
from celadon.serve.access.access_decisions import (
    AuthorizerChain,
    check_access,
    request_attributes,
)
from celadon.serve.access.authentication import Authenticator, Credentials
from celadon.serve.access.credentials.service_account_tokens import ServiceAccountTokens
from celadon.serve.access.credentials.signing_keys import Signer
from celadon.serve.access.credentials.token_file import TokenFile
from celadon.serve.access.impersonation import Impersonation, wanted_user
from celadon.serve.access.token_requests import TokenIssuer
from celadon.serve.answers import NO_SNIFF, NOT_FOUND, object_answer, status_answer
from celadon.serve.calling.caller_on_demand import CallerOnDemand
from celadon.serve.calling.service_routes import ServiceRoutes
from celadon.serve.calling.webhook_phases import Webhooks
from celadon.serve.charging.open_charges import OpenCharges
from celadon.serve.charging.quota_charging import RESOURCE_QUOTA, QuotaCharging
from celadon.serve.compressed_answers import compressed
from celadon.serve.controllers.controller_loops import Controllers
from celadon.serve.controllers.controller_names import ON_BY_DEFAULT
from celadon.serve.controllers.garbage_collection import LAG_SECONDS
from celadon.serve.controllers.namespace_lifecycle.namespace_deletion import GRACE_SECONDS
from celadon.serve.controllers.server_controllers import (
    ControllerSurroundings,
    server_controllers,
)
from celadon.serve.controllers.server_requests import ServerRequests
from celadon.serve.http_messages import HttpAnswer, HttpRequest, plain_text
from celadon.serve.initial_state import create_initial_objects
from celadon.serve.objects.object_store import ObjectStore
from celadon.serve.operation import log_lines
from celadon.serve.operation.object_counts import object_counts
from celadon.serve.operation.policy_timer import PolicyTimer
from celadon.serve.operation.request_limits import (
    TIMED_OUT,
    TOO_MANY,
    InFlight,
    RequestLimits,
    TooManyRequests,
)
from celadon.serve.operation.runtime_config import RuntimeConfig
from celadon.serve.operation.server_metrics import ServerMetrics
from celadon.serve.publication.health import HealthCheck
from celadon.serve.publication.publication_answers import Publications
from celadon.serve.publication.server_version import ServerVersion
from celadon.serve.requests.negotiation import BUILT_IN_TYPES, Accepted, accepted
from celadon.serve.requests.request_info import (
    RequestInfo,
    UnreadablePath,
    check_timeout,
    request_info,
)
from celadon.serve.rest.admitting.admission_chain import Admission, Denied
from celadon.serve.rest.admitting.mutation_rounds import Mutation
from celadon.serve.rest.admitting.namespace_provision import AUTO_PROVISION, NamespaceProvision
from celadon.serve.rest.calls import Call, Notes, time_left
from celadon.serve.rest.connections.connecting import Connector
from celadon.serve.rest.deleting import Deleter
from celadon.serve.rest.deprecations import note_deprecation
from celadon.serve.rest.endpoints import NoSuchPath, find_endpoint, require_lasting
from celadon.serve.rest.field_managers import FieldManagers
from celadon.serve.rest.object_writes import Writer
from celadon.serve.rest.pod_operations import PodOperations
from celadon.serve.rest.reading import Reader
from celadon.serve.rest.reviewing import Reviewer
from celadon.serve.rest.verbs import Verbs
from celadon.serve.rest.watching import Watching
from celadon.serve.views.policy_view import PolicyView
from celadon.serve.views.role_view import RoleView
from celadon.serve.views.served_resources import ServedResources
from celadon.serve.views.service_network_view import ServiceNetworkView
from celadon.serve.views.store_world import StoreWorld
from celadon.serve.views.webhook_view import WebhookView
from celadon.store import FileError, Store, StoreClosed

MUTATING_WEBHOOKS: Final = "MutatingAdmissionWebhook"
VALIDATING_WEBHOOKS: Final = "ValidatingAdmissionWebhook"
SUFFIX_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""What the random end of generated names consists of."""


NOBODY: Final = User("")
SERVICES: Final = GroupVersionResource("", "v1", "services")


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a server gets what cannot be computed."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    uid: Callable[[], str] = lambda: str(uuid.uuid4())
    randomness: random.Random = field(default_factory=random.Random)
    """For names and times, not for secrets; the system's own costs ten times as much."""

    def timestamp(self) -> str:
        """The time as objects have it."""
        return self.now().isoformat(timespec="seconds")[:19] + "Z"

    def suffix(self) -> str:
        """Five random characters."""
        return "".join(self.randomness.choices(SUFFIX_LETTERS, k=5))


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """Whom the server knows. `issuer` is what its own tokens say that they are from."""

    signer: Signer
    tokens: TokenFile = field(default_factory=TokenFile)
    issuer: str = "https://kubernetes.default.svc"
    client_certificates: bool = False
    anonymous: bool = True


@dataclass(frozen=True, slots=True)
class Settings:
    """`version` is the release whose behaviour is served. Without `controllers`, whoever runs them
    elsewhere must do what they do."""

    version: str = "1.36"
    all_versions: bool = False
    address: str = "127.0.0.1:6443"
    """Host and port at which clients find the server."""
    extra_token_sources: tuple[dict[str, Any], ...] = ()
    controllers: bool = True
    plugins: frozenset[str] = DEFAULT_PLUGINS
    """Names of the admission plugins that are asked."""
    webhook_services: Mapping[tuple[str, str, int], tuple[str, int]] = field(default_factory=dict)
    """Where services of webhooks are dialed: by namespace, name and port (0 for all of them)."""
    namespace_grace: float = GRACE_SECONDS
    """Seconds between the deletion of a namespace and that of its content."""
    limits: RequestLimits = field(default_factory=RequestLimits)
    controller_names: frozenset[str] = ON_BY_DEFAULT
    """Which of the controllers run, if any do."""
    collection_lag: float = LAG_SECONDS
    """Seconds that deleted owners keep their finalizer at least."""
    root_certificates: str = ""
    """PEM: what clients inside should trust."""
    gates: Mapping[str, bool] = field(default_factory=dict)
    """Feature gates that are not as they are by default."""
    runtime_config: RuntimeConfig = field(default_factory=RuntimeConfig)
    """More about what is served than `all_versions`."""

    def catalog(self) -> Catalog:
        """The built-in resources that are served."""
        if self.all_versions and not self.runtime_config.switches:
            return known_resources(all_versions=True)
        return self.runtime_config.catalog()


class ApiServer:
    """All there is to a server but its network."""

    def __init__(
        self,
        store: Store,
        access: AccessSettings,
        settings: Settings | None = None,
        sources: Sources | None = None,
    ) -> None:
        self.settings = settings = Settings() if settings is None else settings
        self.sources = sources = Sources() if sources is None else sources
        self.is_ending = False
        self.objects = ObjectStore(store)
        builtin = settings.catalog()
        self.served = ServedResources(self.objects, builtin, settings.version)
        roles = RoleView(self.objects)
        self.authorizer = AuthorizerChain((roles,))
        self.world = StoreWorld(self.objects, self.served, self.authorizer)
        self.authenticator = self._authenticator(access)
        self._impersonation = Impersonation(self.authorizer)
        self.in_flight = InFlight(settings.limits)
        self.metrics = ServerMetrics(
            self.in_flight, lambda: object_counts(self.objects, self.served.current().catalog)
        )
        self._publications = Publications(
            ServerVersion(settings.version),
            settings.address,
            self._health_checks,
            self.metrics.answer,
            self._seconds,
        )
        routes = ServiceRoutes(self.world, settings.webhook_services)
        self._webhook_caller = CallerOnDemand(routes)
        self._charges = OpenCharges()
        self.controllers = self._controllers()
        self._verbs = self._made_verbs(access, roles)

    def _authenticator(self, access: AccessSettings) -> Authenticator:
        audiences = (access.issuer,)
        keys = (access.signer.public_key,)
        accounts = ServiceAccountTokens((access.issuer,), audiences, keys, self.world)
        return Authenticator(
            audiences, access.tokens, accounts, access.client_certificates, access.anonymous
        )

    def _admission(self, roles: RoleView) -> Admission:
        sources = self.sources
        plugins = PluginChain(self.settings.plugins, self.settings.version)
        policies = PolicyView(
            self.objects, self.settings.version, self.metrics.compilation_seconds.observe
        )
        webhooks = self._webhooks(plugins.names)
        create = self._provide_namespace if AUTO_PROVISION in plugins.names else None
        provision = NamespaceProvision(self.world, create)
        quotas = QuotaCharging(
            self.objects, sources.timestamp, self._charges, enabled=RESOURCE_QUOTA in plugins.names
        )
        return Admission(
            policies=policies,
            world=self.world,
            authorizer=self.authorizer,
            roles=roles,
            plugins=plugins,
            mutation=Mutation(plugins, provision, webhooks, self.served, self.world),
            webhooks=webhooks,
            timer=PolicyTimer(self.metrics),
            quotas=quotas,
        )

    def _made_verbs(self, access: AccessSettings, roles: RoleView) -> Verbs:
        sources, version = self.sources, self.settings.version
        reader = Reader(self.objects, self.world)
        admission = self._admission(roles)
        managers = FieldManagers(self.served, self.world, sources.timestamp)
        deleter = Deleter(self.objects, reader, self.world, admission, sources.timestamp)
        issuer = TokenIssuer(access.issuer, (access.issuer,), access.signer, self.world)
        return Verbs(
            reader,
            Watching(self.objects, reader),
            Writer(
                self.objects,
                reader,
                self.world,
                admission,
                managers,
                self._new_context,
                self._service_network(),
                version,
            ),
            deleter,
            Reviewer(
                self.authenticator,
                self.authorizer,
                roles,
                issuer,
                sources.now,
                sources.uid,
                self._new_context,
                admission,
                managers,
            ),
            PodOperations(
                self.objects,
                self.world,
                admission,
                deleter,
                sources.timestamp,
                self._new_context,
                managers,
            ),
            Connector(self.world, admission),
            self._seconds,
            sources.randomness.random,
            self.in_flight,
            self.metrics,
            self.settings.limits.watch_seconds,
        )

    async def _provide_namespace(self, name: str) -> str:
        """Why there can be no such namespace; empty when there is one now."""
        requests = ServerRequests(self.perform, "namespace-controller")
        body = {"metadata": {"name": name}}
        reply = await requests.call("POST", "/api/v1/namespaces", body)
        return "" if reply.code in (201, 409) else reply.message

    def _webhooks(self, plugins: frozenset[str]) -> Webhooks:
        mutating, validating = (
            WebhookView(self.objects, self.settings.version, mutating=one is MUTATING_WEBHOOKS)
            if one in plugins
            else None
            for one in (MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS)
        )
        return Webhooks(
            mutating, validating, self.world, self._webhook_caller.call, self.sources.uid
        )

    def _service_network(self) -> ServiceNetworkView:
        services = self.served.current().catalog.by_gvr(SERVICES)
        assert services is not None, "a catalogue without Services"
        return ServiceNetworkView(self.objects, services, self.sources.randomness)

    def _seconds(self) -> float:
        return self.sources.now().timestamp()

    def _health_checks(self, root: str) -> Sequence[HealthCheck]:
        """Upstream's names; a server that is about to end is alive, but no longer ready."""
        checks = (HealthCheck("ping"), HealthCheck("log"), HealthCheck("etcd"))
        if root != "readyz":
            return checks
        return (*checks, HealthCheck("shutdown", "process is shutting down" * self.is_ending))

    def prepare_to_stop(self) -> None:
        """Say on `/readyz` that no more requests should come."""
        self.is_ending = True

    async def start(self) -> None:
        """Make what a new server has. Requests may come when this is done."""
        catalog = self.served.current().catalog
        await create_initial_objects(self.objects, catalog, self._new_context)
        if self.settings.controllers:
            self.controllers.start()

    async def stop(self) -> None:
        """End all watches; what was acknowledged is kept."""
        await self.controllers.stop()
        await self._webhook_caller.aclose()
        self.objects.store.close()

    def _controllers(self) -> Controllers:
        sources = self.sources
        surroundings = ControllerSurroundings(
            self.objects,
            self.served,
            self.settings.version,
            sources.now,
            self.perform,
            self._new_context,
            self.settings.controller_names,
            self._charges,
            self.settings.root_certificates,
            self.settings.namespace_grace,
            self.settings.collection_lag,
        )
        return Controllers(self.objects, server_controllers(surroundings))

    def _new_context(self, user: User = NOBODY) -> DefaultingContext:
        return DefaultingContext(
            now=self.sources.timestamp(),
            uid=self.sources.uid(),
            suffix=self.sources.suffix(),
            user=user,
            cluster=self.world,
            extra_token_sources=self.settings.extra_token_sources,
            gates=self.settings.gates,
        )

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """One request. Whatever is wrong with it is an answer, too."""
        notes, began = Notes(), perf_counter()
        audit_id = request.header("audit-id") or self.sources.uid()
        answer = await self._answered(request, notes)
        said = (RecordedWarning(text) for text in dict.fromkeys(notes.warnings))
        warnings = (("Warning", f'299 - "{_escaped(one.text)}"') for one in recorded_warnings(said))
        cache = () if _has(answer, "cache-control") else (("Cache-Control", "no-cache, private"),)
        is_kept_out = answer.code == HTTPStatus.FORBIDDEN and notes.endpoint is None
        sniff = (NO_SNIFF,) if is_kept_out else ()
        headers = (("Audit-Id", audit_id), *cache, *sniff, *answer.headers, *warnings)
        given = HttpAnswer(
            answer.code,
            answer.content_type,
            b"" if request.method == "HEAD" else answer.body,
            headers,
            answer.stream,
            notes.audit,
            notes.request_audit,
            notes.user,
            notes.impersonated_user,
            notes.constraint,
        )
        if notes.info is not None:
            resource = None if notes.endpoint is None else notes.endpoint.resource
            self.metrics.answered(request, notes.info, resource, given, perf_counter() - began)
        return given

    async def _answered(self, request: HttpRequest, notes: Notes) -> HttpAnswer:
        try:
            info = notes.info = request_info(request)
        except UnreadablePath as error:
            where = f'Internal Server Error: "{request.target}"'
            return plain_text(500, f"{where}: failed to create RequestInfo: {error}\n")
        try:
            async with asyncio.timeout(self.settings.limits.deadline(request, info)):
                return await self._or_error(self._admitted(request, info, notes), request)
        except TimeoutError:
            return TIMED_OUT
        except TooManyRequests:
            return TOO_MANY

    async def _admitted(self, request: HttpRequest, info: RequestInfo, notes: Notes) -> HttpAnswer:
        """If there is room. Raises TooManyRequests, StatusError."""
        check_timeout(request, info)
        user = self._user(request, info, notes)
        kind = self.in_flight.enter(info, user)
        try:
            return await self._authorized(request, info, user, notes)
        finally:
            self.in_flight.leave(kind)

    async def _authorized(
        self, request: HttpRequest, info: RequestInfo, user: User, notes: Notes
    ) -> HttpAnswer:
        asked = request_attributes(user, info, request)
        check_access(asked, self.authorizer, notes.annotate)
        await self.controllers.caught_up()
        return await self._routed(request, info, user, notes)

    async def perform(self, request: HttpRequest, user: User) -> HttpAnswer:
        """A request of the server's own, by a user who may do it. Raises UnreadablePath."""
        info = request_info(request)
        return await self._or_error(self._routed(request, info, user, Notes()), request)

    async def _or_error(self, answer: Awaitable[HttpAnswer], request: HttpRequest) -> HttpAnswer:
        try:
            return await answer
        except StatusError as error:
            return status_answer(error, _form_of_errors(request))
        except Denied as denied:
            return object_answer(denied.code, denied.body, _form_of_errors(request))
        except NoSuchPath:
            return NOT_FOUND
        except FileError as error:
            log_lines.warn("the data cannot be written", {"path": error.path, "err": error.message})
            return status_answer(status.plain_error(error.message), _form_of_errors(request))
        except StoreClosed:
            return status_answer(
                status.service_unavailable("the server is shutting down"), _form_of_errors(request)
            )

    def _user(self, request: HttpRequest, info: RequestInfo, notes: Notes) -> User:
        """Who asks, or as whom they ask."""
        credentials = Credentials(request.header("authorization"), request.client_certificate)
        found = self.authenticator.authenticate(credentials, self.sources.now())
        notes.warnings += found.warnings
        notes.annotate(dict(found.annotations))
        if found.user is None:
            raise status.unauthorized()
        notes.user = found.user
        wanted = wanted_user(request)
        if wanted is None:
            return found.user
        asked = request_attributes(found.user, info, request)
        shown = self._impersonation.impersonate(wanted, asked)
        notes.impersonated_user, notes.constraint = shown.user, shown.constraint
        return shown.user

    async def _routed(
        self, request: HttpRequest, info: RequestInfo, user: User, notes: Notes
    ) -> HttpAnswer:
        served = self.served.current()
        if not info.is_resource:
            published = self._publications.answer(request, served)
            if published is None:
                raise NoSuchPath(info.path)
            return published
        notes.endpoint = endpoint = find_endpoint(info, served.catalog, served.groups)
        custom = served.custom.get(endpoint.resource.gvk)
        remaining = time_left(request)
        call = Call(request, info, user, endpoint, custom, notes, remaining)
        definition = served.definition_of(endpoint.resource)
        note_deprecation(call, definition)
        require_lasting(endpoint, definition)
        return compressed(await self._verbs.answer(call, served), request)


def _form_of_errors(request: HttpRequest) -> Accepted:
    """Errors are written in the form that was asked for, as far as there is one."""
    try:
        wanted = accepted(request, BUILT_IN_TYPES)
    except StatusError:
        return Accepted()
    return Accepted(wanted.media_type, pretty=wanted.pretty)


def _has(answer: HttpAnswer, header: str) -> bool:
    return any(name.lower() == header for name, _ in answer.headers)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
