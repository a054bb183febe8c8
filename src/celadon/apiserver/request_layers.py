"""The layers that a request goes through, in upstream's order.

What the request is about, whether there is room for it, who asks, may they, the resource, or what
the server publishes of itself. Each layer is one method, which calls the next.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import (
    AsyncGenerator,
    Callable,
    Collection,
    Coroutine,
    Hashable,
    Mapping,
    Sequence,
)
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

from celadon.apiserver import forks, loop_offloading, negotiation
from celadon.apiserver.aggregation.api_services import RemoteApiService
from celadon.apiserver.authn.authentication import Authenticator, Credentials
from celadon.apiserver.authz import impersonation
from celadon.apiserver.authz.authorizer_chain import NO_HTML, check_access, request_attributes
from celadon.apiserver.caches.served_resources import DEFINITIONS, Served
from celadon.apiserver.controllers.controller_loops import Controllers
from celadon.apiserver.discovery import discovery_documents, health_and_version
from celadon.apiserver.flowcontrol.flow_control import waiting_seconds
from celadon.apiserver.handlers import resource_endpoints
from celadon.apiserver.handlers.request_context import Call, Notes, time_left, wanted_seconds
from celadon.apiserver.handlers.resource_handler import (
    BODY_VERBS,
    Verbs,
    forget_deprecation,
    note_deprecation,
)
from celadon.apiserver.handlers.write_admission import Denied
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest, compressed, plain_text
from celadon.apiserver.object_store import Undecodable, collection_prefix
from celadon.apiserver.operation import log_lines, request_limits
from celadon.apiserver.operation.metric_table import add_counts, counted_since, counts_of
from celadon.apiserver.request_info import (
    RequestInfo,
    UnreadablePath,
    check_timeout,
    plainly_asked,
    request_info,
)
from celadon.apiserver.server_core import ServerCore
from celadon.apiserver.workers import REQUEST_SECONDS, TooMuchWork
from celadon.kube import GroupVersionResource, StatusError, User, metadata, status
from celadon.kube.go import TOO_DEEP, quote
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since
from celadon.kube.resources import Catalog
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, RBAC_GROUP
from celadon.memoization import LONGEST
from celadon.storage import FileError, ServiceError, StoreClosed

if TYPE_CHECKING:
    from celadon.apiserver.discovery.openapi_answers import OpenApi
    from celadon.apiserver.discovery.openapi_descriptions import Descriptions


# --- Requests without a resource ---------------------------------------------
#
# Requests that are not for a resource: which of the publications answers them.

HEALTH_ROOTS: Final = ("healthz", "livez", "readyz")


class Publications:
    """Answers the requests of one server that are not for a resource; what is made of a catalogue
    is kept until there is another one. `checks` gives the outcome of the health checks below one of
    HEALTH_ROOTS, and `observe` is told of it; `metrics` takes what `/metrics` and the pages below
    it show, `pages` names those debugging pages that are there, `dumps` answers those that no list
    names, `descriptions` has texts of built-in types; without, those of an installed client are
    taken."""

    def __init__(
        self,
        address: str,
        checks: Callable[[str], Sequence[health_and_version.HealthCheck]],
        observe: health_and_version.Observe,
        metrics: Mapping[str, Callable[[], Callable[[], HttpAnswer]]],
        openid: health_and_version.OpenId,
        portrait: health_and_version.SelfPortrait,
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
        self._apis = discovery_documents.PublishedApis(Catalog(()))
        self._openapi: OpenApi | None = None

    def counted(self, path: str) -> Callable[[], HttpAnswer] | None:
        """Return a page of metrics, to be written by what is returned; None for other paths."""
        metrics = self._metrics.get(path)
        return None if metrics is None else metrics()

    def answer(
        self,
        request: HttpRequest,
        served: Served,
        offered: Sequence[discovery_documents.RemoteVersion] = (),
    ) -> HttpAnswer | None:
        """Answer a request; return None for paths that nobody answers. `offered` are the versions
        of other servers. Raises StatusError."""
        if served is not self._served or offered is not self._apis.remote:
            self._served = served
            self._apis = discovery_documents.PublishedApis(served.catalog, offered)
        first = request.path.strip("/").partition("/")[0]
        if not first or request.path == "/index.html":
            return discovery_documents.root_answer(self._paths())
        if first in HEALTH_ROOTS:
            return health_and_version.health_answer(request, self._checks(first), self._observe)
        if first == "version":
            return health_and_version.version_answer(request, self._version)
        if first == "openapi":
            return self._openapi_answer(request, served)
        if first in self._pages and request.path == f"/{first}":
            return health_and_version.page_answer(first, request, self._portrait, self._paths())
        if first == "debug" and self._dumps is not None:
            return self._dumps(request)
        if first in (".well-known", "openid"):
            return self._openid.answer(request)
        if first == "logs" and health_and_version.serves_logs():
            return health_and_version.logs_answer(request)
        return discovery_documents.discovery_answer(request, self._apis, self._address)

    def _paths(self) -> list[str]:
        """Return the paths of the list at `/`."""
        checks = {root: self._checks(root) for root in HEALTH_ROOTS}
        pages = [f"/{page}" for page in self._pages]
        if health_and_version.serves_logs():
            pages.append("/logs")
        return discovery_documents.root_paths(self._apis, checks, (*self._openid.paths, *pages))

    def _openapi_answer(self, request: HttpRequest, served: Served) -> HttpAnswer | None:
        # late: not every client asks for it
        from celadon.apiserver.discovery.openapi_answers import OpenApi, openapi_answer
        from celadon.apiserver.discovery.openapi_descriptions import installed_descriptions

        definitions = {metadata.name(definition): definition for definition in served.definitions}
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


# --- Layers ------------------------------------------------------------------

EXPRESSIVE: Final = frozenset(
    {ADMISSION_REGISTRATION, "apiextensions.k8s.io", "resource.k8s.io", RBAC_GROUP}
)
"""Groups whose objects have expressions, schemas, or rights, which are a product of lists: a
kilobyte may take long."""

OPENAPI: Final = "/openapi/"
"""Documents that take long to make, once."""

FORKED_VERBS: Final = BODY_VERBS | {"get", "list"}
ELSEWHERE_SECONDS: Final = 10.0
"""So long no request of a kind is given a fork again that could not do it."""

_MOST_KINDS: Final = 1_000


class RequestLayers:
    """Leads the requests of one server through its layers."""

    def __init__(
        self,
        core: ServerCore,
        authenticator: Authenticator,
        controllers: Controllers,
        publications: Publications,
        verbs: Verbs,
    ) -> None:
        self._core = core
        self._authenticator = authenticator
        self._controllers = controllers
        self._impersonation = impersonation.Impersonation(
            core.authorizer, constrained=core.settings.has_gate(impersonation.GATE)
        )
        self._publications = publications
        self._verbs = verbs
        self._pace = loop_offloading.Pace()
        self._dear: dict[Hashable, float] = {}
        """Seconds that requests of a user, a verb and a resource took last, if they were many."""
        self._not_forked: dict[Hashable, float] = {}
        """Until when requests for a verb and a resource have no fork."""
        self._found_in: Served | None = None
        self._endpoints: dict[tuple[str, str], resource_endpoints.Endpoint] = {}
        """Those that methods and short targets lead to, of what was served last."""

    async def answered(self, request: HttpRequest, notes: Notes) -> HttpAnswer:
        """Answer a request. Whatever is wrong with it is an answer, too; what is known of it is
        noted."""
        workers = self._core.workers
        # Even the first look at a head of a megabyte takes long, so that a fork does all of it.
        if (
            workers.forks
            and not workers.is_fork
            and request.head_size > loop_offloading.FORKED_HEAD
        ):
            forked = await self._forked_whole(request, notes)
            if forked is not None:
                return forked
        try:
            if request.has_long_head:
                work = self._stranger(request)
                info, seconds = await work.step(self._read_head, request, aside=True)
            else:
                info, seconds = self._read_head(request)
            notes.info = info
        except UnreadablePath as error:
            return _internal_error(request, f"failed to create RequestInfo: {error}")
        except TooMuchWork:
            return request_limits.TOO_MANY
        # Nothing is known of the request yet, so that the form of the answer cannot be negotiated.
        except StatusError as error:  # so much of this client was read already
            return negotiation.status_answer(error, negotiation.Accepted())
        try:
            admitted = self._admitted(request, info, notes, seconds)
            answer = self._or_error(admitted, request, notes)
            return await request_limits.within(seconds, answer, request.departure)
        except TimeoutError:
            return request_limits.TIMED_OUT
        except request_limits.TooManyRequests as error:
            return request_limits.too_many(error.retry_after)
        except TooMuchWork:
            return request_limits.TOO_MANY

    # In the order of `DefaultBuildHandlerChain` (k8s.io/apiserver `pkg/server/config.go`):
    # deadline, authentication, impersonation, priority and fairness, authorization. Who may not do
    # something at all has waited for its turn as well, since asking the authorizer is work, too.
    async def _admitted(
        self, request: HttpRequest, info: RequestInfo, notes: Notes, seconds: float | None
    ) -> HttpAnswer:
        """Answer a request when there is room for it. Raises TooManyRequests, StatusError."""
        if request.has_long_head:
            await self._stranger(request).step(check_timeout, request, info, aside=True)
        else:
            check_timeout(request, info)
        if _must_be_current(info, request):
            await self._core.objects.synced()
        user = await self._user(request, info, notes)
        flows = self._core.flows
        turn, began, present, kind = None, None, None, ""
        flow = None if flows is None else flows.classify(user, info)
        if flows is not None and flow is not None:
            notes.flow_headers = flow.headers
            # A fork sees the state of the moment in which it was made, and has no controllers that
            # could catch up.
            if not self._core.workers.is_fork:  # which has its turn among the workers
                turn = flows.arrive(flow, flows.estimate(flow, request, info))
                present = flows.appear(turn, user, info)
        try:
            if flows is not None and turn is not None and not turn.is_executing:
                usual = self._core.settings.limits.seconds
                await flows.seated(turn, waiting_seconds(seconds, usual))
                if present is not None:
                    present.began = time.time()
            began = None if flows is None else flows.now()
            kind = self._core.in_flight.enter(info, user)
            # A connection through the front proxy may last for days; its seat is given back as soon
            # as it is there, as upstream does with watches.
            if flows is not None and turn is not None and self._lasts_elsewhere(info):
                flows.leave(turn, began, info)
                turn = None
            return await self._authorized(request, info, user, notes)
        finally:
            self._core.in_flight.leave(kind)
            if flows is not None and turn is not None:
                flows.leave(turn, began, info)
            if flows is not None and present is not None:
                flows.disappear(present)

    async def _authorized(
        self, request: HttpRequest, info: RequestInfo, user: User, notes: Notes
    ) -> HttpAnswer:
        if request.has_long_head:
            work = self._stranger(request)
            attributes = await work.step(request_attributes, user, info, request, aside=True)
        else:
            attributes = request_attributes(user, info, request)
        check_access(attributes, self._core.authorizer, notes.annotate)
        if not self._core.workers.is_fork:
            with_definitions = self._needs_definitions(info)
            await self._controllers.caught_up(with_definitions=with_definitions)
            if with_definitions:
                await self._core.served.settled()
        return await self._routed(request, info, user, notes)

    # Upstream tells clients to wait for `Established`. Here a request that comes after a write of a
    # definition sees it, which costs nothing where no definition is being written.
    def _needs_definitions(self, info: RequestInfo) -> bool:
        """Return whether the answer may depend on a CustomResourceDefinition that was written a
        moment ago."""
        if not info.is_resource:
            return info.path.startswith(("/api", OPENAPI))
        group_version_resource = GroupVersionResource(info.group, info.version, info.resource)
        return group_version_resource == DEFINITIONS or not self._core.served.is_built_in(
            group_version_resource
        )

    async def perform(self, request: HttpRequest, user: User) -> HttpAnswer:
        """Return a request of the server's own, by a user who may do it. Raises UnreadablePath."""
        info = request_info(request)
        notes = Notes()
        return await self._or_error(self._routed(request, info, user, notes), request, notes)

    def _read_head(self, request: HttpRequest) -> tuple[RequestInfo, float | None]:
        """Return what the request is about, and the seconds it may take; both are remembered.
        Raises UnreadablePath."""
        info = request_info(request)
        return info, self._core.settings.limits.deadline(request, info)

    async def _or_error(
        self, answer: Coroutine[Any, None, HttpAnswer], request: HttpRequest, notes: Notes
    ) -> HttpAnswer:
        try:
            return await answer
        except impersonation.UserNotNamed as error:
            if not is_since("1.35"):
                return _internal_error(request, str(error))
            refusal = await self._refused(error, request, notes)
            return replace(refusal, headers=(*refusal.headers, negotiation.NO_SNIFF))
        except StatusError as error:
            return await self._refused(error, request, notes)
        # The Status is made by the chain already, in the words of the policy or webhook.
        except Denied as denied:
            return negotiation.object_answer(
                denied.code, denied.body, await self._form_of_errors(request)
            )
        except resource_endpoints.NoSuchPath:
            return negotiation.NOT_FOUND
        except FileError as error:
            log_lines.warn("the data cannot be written", {"path": error.path, "err": error.message})
            return negotiation.status_answer(
                status.plain_error(error.message), await self._form_of_errors(request)
            )
        except ServiceError as error:
            log_lines.warn("the data cannot be reached", {"err": str(error)})
            return negotiation.status_answer(
                status.plain_error(str(error)), await self._form_of_errors(request)
            )
        except Undecodable as error:
            log_lines.warn("an object cannot be decoded", {"key": error.key, "err": str(error)})
            return negotiation.status_answer(
                status.plain_error(str(error)), await self._form_of_errors(request)
            )
        except RecursionError:  # where no more stack was to be had (docs/decisions/0041-depth.md)
            log_lines.warn("an object is nested too deeply", {"path": request.path})
            return negotiation.status_answer(
                status.bad_request(TOO_DEEP), await self._form_of_errors(request)
            )
        except StoreClosed:
            return negotiation.status_answer(
                status.service_unavailable("the server is shutting down"),
                await self._form_of_errors(request),
            )

    # A refusal may repeat what was sent, a megabyte of it: then it is written aside.
    async def _refused(self, error: StatusError, request: HttpRequest, notes: Notes) -> HttpAnswer:
        """Return a refusal as an answer. Raises TooMuchWork."""
        form = await self._form_of_errors(request)
        if not loop_offloading.is_large_refusal(error):
            return negotiation.status_answer(error, form)
        work = self._stranger(request)
        if notes.user is not None:
            work.owner = notes.user.name
        try:
            return await work.step(_written_and_let_go, error, form, aside=True)
        except StatusError as late:
            return negotiation.status_answer(late, form)

    async def _user(self, request: HttpRequest, info: RequestInfo, notes: Notes) -> User:
        """Return who asks, or as whom they ask."""
        credentials = Credentials.of(request)
        authentication = self._authenticator.authenticate(credentials, self._core.sources.now())
        notes.warnings += authentication.warnings
        notes.annotate(dict(authentication.annotations))
        if authentication.user is None:
            raise status.unauthorized()
        notes.user = authentication.user
        if request.has_long_head:
            work = loop_offloading.RequestWork(
                self._core.workers, authentication.user.name, size=request.size
            )
            impersonated = await work.step(
                self._shown_user, request, info, authentication.user, aside=True
            )
        else:
            impersonated = self._shown_user(request, info, authentication.user)
        if impersonated is None:
            return authentication.user
        notes.impersonated_user, notes.constraint = impersonated.user, impersonated.constraint
        return impersonated.user

    def _shown_user(
        self, request: HttpRequest, info: RequestInfo, user: User
    ) -> impersonation.Impersonated | None:
        """Return as whom a user asks, if not as themselves. Raises StatusError."""
        wanted_user = impersonation.wanted_user(
            request, constrained=self._impersonation.constrained
        )
        if wanted_user is None:
            return None
        return self._impersonation.impersonate(wanted_user, request_attributes(user, info, request))

    async def _routed(
        self, request: HttpRequest, info: RequestInfo, user: User, notes: Notes
    ) -> HttpAnswer:
        # Go's mux would send a redirect to the cleaned path; kube-apiserver has no route for it.
        if info.path.startswith("//"):
            raise resource_endpoints.NoSuchPath(info.path)
        remote = self._core.aggregator.serving(info.path)
        if remote is not None:
            return await self._passed_on(remote, request, info, user, notes)
        served = self._core.served.current()
        if not info.is_resource:
            request = plainly_asked(request, info)
            publish, work = self._publications.answer, self._work(request, user)
            offered = self._core.aggregator.offered()
            counted = self._publications.counted(request.path)
            if counted is not None:
                return await work.step(counted, aside=True)
            if info.path.startswith(("/api", OPENAPI)):
                # whoever has the document already is answered without it being made
                kind = info.path, request.header("accept"), request.header("if-none-match")
                published = await self._pace.step(
                    work, kind, served, publish, request, served, offered
                )
            else:
                published = await work.step(publish, request, served, offered)
            if published is None:
                raise resource_endpoints.NoSuchPath(info.path)
            return published
        notes.endpoint = endpoint = self._endpoint(request, info, served, notes)
        work, gvk = self._work(request, user), endpoint.resource.gvk
        if work.workers.is_fork:
            self._begin_forked(endpoint)
        elif self._is_for_a_fork(request, info, user):
            forked = await self._forked_rest(request, info, user, notes)
            if forked is not None:
                return forked
        is_compiled = served.custom.is_compiled(gvk)
        custom = await work.step(served.custom.get, gvk, aside=not is_compiled)
        work.is_expressive = info.group in EXPRESSIVE and bool(request.body)
        if request.has_long_head:
            seconds = await work.step(wanted_seconds, request)
        else:
            seconds = wanted_seconds(request)
        remaining = time_left(seconds)
        call = Call(request, info, user, endpoint, custom, notes, remaining, work)
        definition = served.definition_of(endpoint.resource)
        note_deprecation(notes, gvk, definition)
        resource_endpoints.require_lasting(endpoint, definition)
        try:
            answer = await self._verbs.answer(call, served)
            if len(answer.body) > loop_offloading.LARGE_ANSWER:
                return await work.step(compressed, answer, request, aside=True)
            return compressed(answer, request)
        except status.Unroutable:
            forget_deprecation(notes)
            raise
        finally:
            # Whether the next request like this one gets a fork is decided by what this one took.
            self._note_seconds((user.name, info.verb, info.group, info.resource), work.spent)

    def _endpoint(
        self, request: HttpRequest, info: RequestInfo, served: Served, notes: Notes
    ) -> resource_endpoints.Endpoint:
        """Return what `find_endpoint` does. Whoever comes as far as a custom resource is told that
        its version is deprecated, though it has no such subresource or verb."""
        # To find it takes a fifteenth of the instructions of a get.
        if served is not self._found_in or len(self._endpoints) >= _MOST_KINDS:
            self._found_in, self._endpoints = served, {}
        route = request.method, request.target
        endpoint = self._endpoints.get(route)
        if endpoint is not None:
            return endpoint
        try:
            endpoint = resource_endpoints.find_endpoint(info, served.catalog, served.groups)
        except StatusError:
            gvr = GroupVersionResource(info.group, info.version, info.resource)
            resource = served.catalog.by_gvr(gvr)
            if resource is not None and resource.custom:
                note_deprecation(notes, resource.gvk, served.definition_of(resource))
            raise
        if len(request.target) <= LONGEST:
            self._endpoints[route] = endpoint
        return endpoint

    # --- other servers ---

    def _lasts_elsewhere(self, info: RequestInfo) -> bool:
        """Return whether another server answers for as long as it likes: nobody waits for that."""
        return (
            request_limits.is_long_running(info)
            and self._core.aggregator.serving(info.path) is not None
        )

    async def _passed_on(
        self,
        remote: RemoteApiService,
        request: HttpRequest,
        info: RequestInfo,
        user: User,
        notes: Notes,
    ) -> HttpAnswer:
        seconds = self._core.settings.limits.deadline(request, info)
        answer = await self._core.aggregator.answer(remote, request, user, notes.audit_id, seconds)
        if answer.stream is not None and request_limits.is_long_running(info):
            answer.stream = self._counted(answer.stream, info)
        return answer

    async def _counted(
        self, stream: AsyncGenerator[bytes, None], info: RequestInfo
    ) -> AsyncGenerator[bytes, None]:
        """Yield the parts of a stream, which counts among the watches that are open."""
        try:
            with self._core.in_flight.watching(info):
                async for part in stream:
                    yield part
        finally:
            await stream.aclose()

    # --- forks ---

    def _is_for_a_fork(self, request: HttpRequest, info: RequestInfo, user: User) -> bool:
        """Return whether what is left of the request is worth a process, and one could do it."""
        if not self._core.workers.forks or info.verb not in FORKED_VERBS:
            return False
        kind = info.verb, info.group, info.resource
        is_dear = (user.name, *kind) in self._dear
        if not is_dear and not (
            info.verb in BODY_VERBS and loop_offloading.is_worth_a_fork(request)
        ):
            return False
        until = self._not_forked.get(kind)
        return until is None or asyncio.get_running_loop().time() > until

    def _note_seconds(self, kind: Hashable, seconds: float) -> None:
        """Note what a request has taken of workers or of its fork: one like it begins in a fork as
        long as that is much."""
        if seconds > loop_offloading.FORKED_SECONDS:
            if len(self._dear) >= _MOST_KINDS:
                self._dear.clear()
            self._dear[kind] = seconds
        elif seconds < loop_offloading.FORKED_SECONDS / 2:
            self._dear.pop(kind, None)

    async def _forked_whole(self, request: HttpRequest, notes: Notes) -> HttpAnswer | None:
        """Answer a request of which the head alone takes long in a fork. Return None if it has to
        be done here."""
        try:
            await self._controllers.caught_up()
            await self._core.objects.synced()
            await self._core.served.settled()
            owner = f"from {request.remote_address}"
            answer = self._forked(request, notes, owner, lambda: self.answered(request, notes))
            seconds = self._core.settings.limits.seconds or None
            return (await request_limits.within(seconds, answer, request.departure))[0]
        except TimeoutError:
            return request_limits.TIMED_OUT
        except TooMuchWork:
            return request_limits.TOO_MANY
        except StatusError as error:  # it was ended
            return negotiation.status_answer(error, negotiation.Accepted())
        except (FileError, ServiceError, StoreClosed):
            return None

    async def _forked_rest(
        self, request: HttpRequest, info: RequestInfo, user: User, notes: Notes
    ) -> HttpAnswer | None:
        """Do in a fork what is left when it is known who asks for what, and that they may. Returns
        None if it has to be done here. Raises StatusError, TooMuchWork, and as the store."""
        answer, spent = await self._forked(
            request,
            notes,
            user.name,
            lambda: self._or_error(self._routed(request, info, user, notes), request, notes),
        )
        if answer is not None:
            self._note_seconds((user.name, info.verb, info.group, info.resource), spent)
        return answer

    async def _forked(
        self,
        request: HttpRequest,
        notes: Notes,
        owner: str,
        answering: Callable[[], Coroutine[Any, None, HttpAnswer]],
    ) -> tuple[HttpAnswer | None, float]:
        core = self._core

        def life(parent: forks.Parent) -> forks.ForkMessage:
            core.objects.store = forks.ForkedStore(core.objects.store, parent)
            families = core.metrics.families()
            before = counts_of(families)
            answer = asyncio.SelectorEventLoop().run_until_complete(answering())
            if answer.stream is not None:
                raise forks.Elsewhere
            counts = counted_since(families, before)
            return forks.ForkMessage({**_told(answer, notes), "counts": counts}, answer.body)

        async def stored(request_message: forks.ForkMessage) -> forks.ForkMessage:
            return await forks.stored_for_fork(core.objects.submit, request_message)

        try:
            message, spent = await core.workers.run_forked(
                owner, life, stored, REQUEST_SECONDS, request.size
            )
        except forks.ForkFailed as error:
            log_lines.warn("no process for a request", {"err": str(error)})
            return None, 0.0
        if "elsewhere" in message.head:
            if message.head["elsewhere"] and notes.info is not None:
                kind = notes.info.verb, notes.info.group, notes.info.resource
                if len(self._not_forked) >= _MOST_KINDS:
                    self._not_forked.clear()
                self._not_forked[kind] = asyncio.get_running_loop().time() + ELSEWHERE_SECONDS
            return None, spent
        add_counts(core.metrics.families(), message.head["counts"])
        answer = _heard(message, notes)
        if message.head["has_endpoint"] and notes.endpoint is None and notes.info is not None:
            served = core.served.current()
            notes.endpoint = resource_endpoints.find_endpoint(
                notes.info, served.catalog, served.groups
            )
        return answer, spent

    def _begin_forked(self, endpoint: resource_endpoints.Endpoint) -> None:
        """Set, in a fork, what it may write. Raises Elsewhere for what is no business of forks."""
        if endpoint.verb not in FORKED_VERBS or endpoint.connects:
            raise forks.Elsewhere
        store = self._core.objects.store
        if isinstance(store, forks.ForkedStore) and endpoint.verb in BODY_VERBS:
            store.forwarded_prefixes = (collection_prefix(endpoint.resource),)

    # --- what all need ---

    def _work(self, request: HttpRequest, user: User) -> loop_offloading.RequestWork:
        return loop_offloading.RequestWork(
            self._core.workers, user.name, loop_offloading.is_large(request), size=request.size
        )

    def _stranger(self, request: HttpRequest) -> loop_offloading.RequestWork:
        """Work for somebody who may be nobody: in turn by where it comes from."""
        owner = f"from {request.remote_address}"
        return loop_offloading.RequestWork(self._core.workers, owner, size=request.size)

    async def _form_of_errors(self, request: HttpRequest) -> negotiation.Accepted:
        """Errors are written in the form that was asked for, as far as there is one."""
        aside = request.has_long_head
        try:
            return await self._stranger(request).step(
                negotiation.accepted_of_error, request, aside=aside
            )
        except (StatusError, TooMuchWork):
            return negotiation.Accepted()


def _written_and_let_go(error: StatusError, form: negotiation.Accepted) -> HttpAnswer:
    """Return a refusal as an answer. What was wrong is let go here: to free a million causes takes
    long, and would be done on the event loop."""
    answer = negotiation.status_answer(error, form)
    error.status, error.errors = replace(error.status, details=None), ()
    error.__traceback__ = error.__context__ = None
    return answer


def _internal_error(request: HttpRequest, text: str) -> HttpAnswer:
    """Answer as upstream's `responsewriters.InternalError`."""
    message = f"Internal Server Error: {quote(request.target)}: {text}\n"
    return plain_text(500, message.translate(NO_HTML), negotiation.NO_SNIFF)


def _must_be_current(info: RequestInfo, request: HttpRequest) -> bool:
    """Return whether the answer must show what was written elsewhere a moment ago. Who reads at a
    version says how old the answer may be; what is no resource is the server's own."""
    if not info.is_resource:
        return False
    return info.verb not in request_limits.READING_VERBS or not any(
        request.query.get("resourceVersion", ())
    )


# --- Answers of forks --------------------------------------------------------
#
# An answer and the notes beside it, as a fork tells them.


def _told(answer: HttpAnswer, notes: Notes) -> JsonDict:
    return {
        "code": answer.code,
        "content_type": answer.content_type,
        "headers": answer.headers,
        "warnings": notes.warnings,
        "audit": notes.audit,
        "request_audit": notes.request_audit,
        "sent": notes.sent,
        "user": None if notes.user is None else _told_user(notes.user),
        "as": None if notes.impersonated_user is None else _told_user(notes.impersonated_user),
        "constraint": notes.constraint,
        "info": None if notes.info is None else asdict(notes.info),
        "has_endpoint": notes.endpoint is not None,
        "flow_headers": notes.flow_headers,
    }


def _heard(message: forks.ForkMessage, notes: Notes) -> HttpAnswer:
    """Return the answer; the notes are taken over."""
    head = message.head
    notes.warnings, notes.audit = head["warnings"], head["audit"]
    notes.request_audit, notes.constraint = head["request_audit"], head["constraint"]
    notes.sent = head["sent"]
    notes.user, notes.impersonated_user = _heard_user(head["user"]), _heard_user(head["as"])
    if notes.info is None and head["info"] is not None:
        notes.info = RequestInfo(**head["info"])
    notes.flow_headers = tuple((name, value) for name, value in head["flow_headers"])
    headers = tuple((name, value) for name, value in head["headers"])
    return HttpAnswer(head["code"], head["content_type"], message.body, headers)


def _told_user(user: User) -> JsonDict:
    extra = {key: list(values) for key, values in user.extra.items()}
    return {"name": user.name, "groups": user.groups, "uid": user.uid, "extra": extra}


def _heard_user(fields: JsonDict | None) -> User | None:
    return None if fields is None else User(**{**fields, "groups": tuple(fields["groups"])})
