"""The layers that a request goes through, in upstream's order.

What the request is about, whether there is room for it, who asks, may they, the resource. Each
layer is one method, which calls the next.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Final

from celadon.apiserver.answers import NOT_FOUND, object_answer, status_answer
from celadon.apiserver.authn.authentication import Authenticator, Credentials
from celadon.apiserver.authz.access_decisions import check_access, request_attributes
from celadon.apiserver.authz.impersonation import (
    Impersonated,
    Impersonation,
    NobodyNamed,
    wanted_user,
)
from celadon.apiserver.caches.served_resources import DEFINITIONS
from celadon.apiserver.controllers.controller_loops import Controllers
from celadon.apiserver.discovery.publication_answers import Publications
from celadon.apiserver.flowcontrol.flow_control import waiting_seconds
from celadon.apiserver.handlers.admission.admission_chain import Denied
from celadon.apiserver.handlers.calls import Call, Notes, time_left, wanted_seconds
from celadon.apiserver.handlers.endpoints import NoSuchPath, find_endpoint, require_lasting
from celadon.apiserver.handlers.verbs import Verbs, note_deprecation
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest, compressed, plain_text
from celadon.apiserver.negotiation import BUILT_IN_TYPES, Accepted, accepted
from celadon.apiserver.object_store import Undecodable
from celadon.apiserver.operation import log_lines
from celadon.apiserver.operation.request_limits import (
    READING_VERBS,
    TIMED_OUT,
    TOO_MANY,
    TooManyRequests,
    too_many,
    within,
)
from celadon.apiserver.request_info import RequestInfo, UnreadablePath, check_timeout, request_info
from celadon.apiserver.server_core import ServerCore
from celadon.apiserver.workers import (
    LARGE_ANSWER,
    Pace,
    RequestWork,
    TooMuchWork,
    is_large,
    is_large_refusal,
)
from celadon.kube import GroupVersionResource, StatusError, User, status
from celadon.kube.go import TOO_DEEP
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.storage import FileError, ServiceError, StoreClosed

EXPRESSIVE: Final = frozenset({ADMISSION_REGISTRATION, "apiextensions.k8s.io", "resource.k8s.io"})
"""Groups whose objects have expressions and schemas: a kilobyte may take long."""

OPENAPI: Final = "/openapi/"
"""Documents that take long to make, once."""


class RequestLayers:
    """Of one server."""

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
        self._impersonation = Impersonation(core.authorizer)
        self._publications = publications
        self._verbs = verbs
        self._pace = Pace()

    async def answered(self, request: HttpRequest, notes: Notes) -> HttpAnswer:
        """Whatever is wrong with the request is an answer, too; what is known of it is noted."""
        try:
            info, seconds = await self._stranger(request).step(
                self._read_head, request, aside=request.has_long_head
            )
            notes.info = info
        except UnreadablePath as error:
            where = f'Internal Server Error: "{request.target}"'
            return plain_text(500, f"{where}: failed to create RequestInfo: {error}\n")
        except TooMuchWork:
            return TOO_MANY
        except StatusError as error:  # so much of this client was read already
            return status_answer(error, Accepted())
        try:
            admitted = self._admitted(request, info, notes, seconds)
            answer = self._or_error(admitted, request, notes)
            return await within(seconds, answer, request.departure)
        except TimeoutError:
            return TIMED_OUT
        except TooManyRequests as error:
            return too_many(error.retry_after)
        except TooMuchWork:
            return TOO_MANY

    async def _admitted(
        self, request: HttpRequest, info: RequestInfo, notes: Notes, seconds: float | None
    ) -> HttpAnswer:
        """When there is room. Raises TooManyRequests, StatusError."""
        if request.has_long_head:
            await self._stranger(request).step(check_timeout, request, info, aside=True)
        else:
            check_timeout(request, info)
        if _must_be_current(info, request):
            await self._core.objects.synced()
        user = await self._user(request, info, notes)
        flows = self._core.flows
        turn, kind = None, ""
        flow = None if flows is None else flows.classify(user, info)
        if flows is not None and flow is not None:
            notes.flow_headers = flow.headers
            turn = flows.arrive(flow)
        try:
            if flows is not None and turn is not None and not turn.is_executing:
                usual = self._core.settings.limits.seconds
                await flows.seated(turn, waiting_seconds(seconds, usual))
            kind = self._core.in_flight.enter(info, user)
            return await self._authorized(request, info, user, notes)
        finally:
            self._core.in_flight.leave(kind)
            if turn is not None:
                turn.flow.level.leave(turn)

    async def _authorized(
        self, request: HttpRequest, info: RequestInfo, user: User, notes: Notes
    ) -> HttpAnswer:
        if request.has_long_head:
            work = self._stranger(request)
            asked = await work.step(request_attributes, user, info, request, aside=True)
        else:
            asked = request_attributes(user, info, request)
        check_access(asked, self._core.authorizer, notes.annotate)
        await self._controllers.caught_up(with_definitions=self._needs_definitions(info))
        return await self._routed(request, info, user, notes)

    def _needs_definitions(self, info: RequestInfo) -> bool:
        """Whether the answer may depend on a CustomResourceDefinition that was written a moment
        ago."""
        if not info.is_resource:
            return info.path.startswith(("/api", OPENAPI))
        asked = GroupVersionResource(info.group, info.version, info.resource)
        return asked == DEFINITIONS or not self._core.served.is_built_in(asked)

    async def perform(self, request: HttpRequest, user: User) -> HttpAnswer:
        """A request of the server's own, by a user who may do it. Raises UnreadablePath."""
        info = request_info(request)
        notes = Notes()
        return await self._or_error(self._routed(request, info, user, notes), request, notes)

    def _read_head(self, request: HttpRequest) -> tuple[RequestInfo, float | None]:
        """What the request is about, and the seconds it may take. What is read of it is
        remembered. Raises UnreadablePath."""
        info = request_info(request)
        return info, self._core.settings.limits.deadline(request, info)

    async def _or_error(
        self, answer: Coroutine[Any, None, HttpAnswer], request: HttpRequest, notes: Notes
    ) -> HttpAnswer:
        try:
            return await answer
        except StatusError as error:
            return await self._refused(error, request, notes)
        except NobodyNamed as error:
            where = f'Internal Server Error: "{request.target}"'
            return plain_text(500, f"{where}: {error}\n")
        except Denied as denied:
            return object_answer(denied.code, denied.body, await self._form_of_errors(request))
        except NoSuchPath:
            return NOT_FOUND
        except FileError as error:
            log_lines.warn("the data cannot be written", {"path": error.path, "err": error.message})
            return status_answer(
                status.plain_error(error.message), await self._form_of_errors(request)
            )
        except ServiceError as error:
            log_lines.warn("the data cannot be reached", {"err": str(error)})
            return status_answer(
                status.plain_error(str(error)), await self._form_of_errors(request)
            )
        except Undecodable as error:
            log_lines.warn("an object cannot be decoded", {"key": error.key, "err": str(error)})
            return status_answer(
                status.plain_error(str(error)), await self._form_of_errors(request)
            )
        except RecursionError:  # where no more stack was to be had (docs/decisions/0041-depth.md)
            log_lines.warn("an object is nested too deeply", {"path": request.path})
            return status_answer(status.bad_request(TOO_DEEP), await self._form_of_errors(request))
        except StoreClosed:
            return status_answer(
                status.service_unavailable("the server is shutting down"),
                await self._form_of_errors(request),
            )

    async def _refused(self, error: StatusError, request: HttpRequest, notes: Notes) -> HttpAnswer:
        """Raises TooMuchWork."""
        form = await self._form_of_errors(request)
        if not is_large_refusal(error):
            return status_answer(error, form)
        work = self._stranger(request)
        if notes.user is not None:
            work.owner = notes.user.name
        try:
            return await work.step(status_answer, error, form, aside=True)
        except StatusError as late:
            return status_answer(late, form)

    async def _user(self, request: HttpRequest, info: RequestInfo, notes: Notes) -> User:
        """Who asks, or as whom they ask."""
        credentials = Credentials.of(request)
        found = self._authenticator.authenticate(credentials, self._core.sources.now())
        notes.warnings += found.warnings
        notes.annotate(dict(found.annotations))
        if found.user is None:
            raise status.unauthorized()
        notes.user = found.user
        if request.has_long_head:
            work = RequestWork(self._core.workers, found.user.name, size=request.size)
            shown = await work.step(self._shown_user, request, info, found.user, aside=True)
        else:
            shown = self._shown_user(request, info, found.user)
        if shown is None:
            return found.user
        notes.impersonated_user, notes.constraint = shown.user, shown.constraint
        return shown.user

    def _shown_user(
        self, request: HttpRequest, info: RequestInfo, user: User
    ) -> Impersonated | None:
        """As whom a user asks, if not as themselves. Raises StatusError."""
        wanted = wanted_user(request)
        if wanted is None:
            return None
        return self._impersonation.impersonate(wanted, request_attributes(user, info, request))

    async def _routed(
        self, request: HttpRequest, info: RequestInfo, user: User, notes: Notes
    ) -> HttpAnswer:
        served = self._core.served.current()
        if not info.is_resource:
            publish, work = self._publications.answer, self._work(request, user)
            if info.path.startswith(("/api", OPENAPI)):
                kind = info.path, request.header("accept")
                published = await self._pace.step(work, kind, served, publish, request, served)
            else:
                published = await work.step(publish, request, served)
            if published is None:
                raise NoSuchPath(info.path)
            return published
        notes.endpoint = endpoint = find_endpoint(info, served.catalog, served.groups)
        work, gvk = self._work(request, user), endpoint.resource.gvk
        is_compiled = served.custom.is_compiled(gvk)
        custom = await work.step(served.custom.get, gvk, aside=not is_compiled)
        work.is_large |= info.group in EXPRESSIVE and bool(request.body)
        if request.has_long_head:
            seconds = await work.step(wanted_seconds, request)
        else:
            seconds = wanted_seconds(request)
        remaining = time_left(seconds)
        call = Call(request, info, user, endpoint, custom, notes, remaining, work)
        definition = served.definition_of(endpoint.resource)
        note_deprecation(call, definition)
        require_lasting(endpoint, definition)
        answer = await self._verbs.answer(call, served)
        if len(answer.body) > LARGE_ANSWER:
            return await work.step(compressed, answer, request, aside=True)
        return compressed(answer, request)

    def _work(self, request: HttpRequest, user: User) -> RequestWork:
        return RequestWork(self._core.workers, user.name, is_large(request), size=request.size)

    def _stranger(self, request: HttpRequest) -> RequestWork:
        """Work for somebody who may be nobody: in turn by where it comes from."""
        owner = f"from {request.remote_address}"
        return RequestWork(self._core.workers, owner, size=request.size)

    async def _form_of_errors(self, request: HttpRequest) -> Accepted:
        """Errors are written in the form that was asked for, as far as there is one."""
        aside = request.has_long_head
        try:
            return await self._stranger(request).step(_form_of_errors, request, aside=aside)
        except (StatusError, TooMuchWork):
            return Accepted()


def _must_be_current(info: RequestInfo, request: HttpRequest) -> bool:
    """Whether the answer must show what was written elsewhere a moment ago. Who reads at a version
    says how old the answer may be; what is no resource is the server's own."""
    if not info.is_resource:
        return False
    return info.verb not in READING_VERBS or not any(request.query.get("resourceVersion", ()))


def _form_of_errors(request: HttpRequest) -> Accepted:
    try:
        wanted = accepted(request, BUILT_IN_TYPES)
    except StatusError:
        return Accepted()
    return Accepted(wanted.media_type, pretty=wanted.pretty)
