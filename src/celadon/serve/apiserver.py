"""The API server: one handler from a request to an answer, and the layers it goes through.

The layers stand in `handle` in their order, which is upstream's: audit id and headers, what the
request is about, who asks, may they, the resource. Nothing here knows of sockets or threads; time,
uids and random text come from `Sources`.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from celadon.admission import recorded_warnings
from celadon.kube import Attributes, GroupResource, Ruling, StatusError, User, status
from celadon.kube.catalogue import known_resources
from celadon.kube.defaulting import DefaultingContext
from celadon.serve.http_messages import HttpAnswer, HttpRequest, plain_text
from celadon.serve.objects.object_store import ObjectStore
from celadon.serve.rest.admitting import Admission, Denied
from celadon.serve.rest.answers import object_answer, status_answer
from celadon.serve.rest.calls import Call, Notes
from celadon.serve.rest.deleting import Deleter
from celadon.serve.rest.endpoints import NOT_FOUND, NoSuchPath, find_endpoint
from celadon.serve.rest.negotiation import BUILT_IN_TYPES, Accepted, accepted
from celadon.serve.rest.reading import Reader
from celadon.serve.rest.request_info import RequestInfo, UnreadablePath, request_info
from celadon.serve.rest.verbs import Shape, Verbs
from celadon.serve.rest.watching import Watching
from celadon.serve.rest.writing import Writer
from celadon.serve.views.policy_view import PolicyView
from celadon.serve.views.served_resources import ServedResources
from celadon.serve.views.store_world import AuthorizerView, StoreWorld
from celadon.store import Store

SUFFIX_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""What the random end of generated names consists of."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a server gets what cannot be computed."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    uid: Callable[[], str] = lambda: str(uuid.uuid4())
    randomness: random.Random = field(default_factory=random.SystemRandom)

    def timestamp(self) -> str:
        """The time as objects have it."""
        return self.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def suffix(self) -> str:
        """Five random characters."""
        return "".join(self.randomness.choices(SUFFIX_LETTERS, k=5))


class Authenticator(Protocol):
    """Who asks."""

    def authenticate(self, request: HttpRequest, notes: Notes) -> User:
        """Raises StatusError 401."""


@dataclass(frozen=True, slots=True)
class Settings:
    """`version` is the release whose behaviour is served."""

    version: str = "1.36"
    all_versions: bool = False
    extra_token_sources: tuple[dict[str, Any], ...] = ()


class ApiServer:
    """All there is to a server but its network. `open_authorizer` makes the authorizer once the
    objects can be read."""

    def __init__(
        self,
        store: Store,
        authenticator: Authenticator,
        open_authorizer: Callable[[ObjectStore], AuthorizerView],
        shape: Shape,
        settings: Settings | None = None,
        sources: Sources | None = None,
    ) -> None:
        self.settings = settings = Settings() if settings is None else settings
        self.sources = Sources() if sources is None else sources
        self.objects = ObjectStore(store)
        builtin = known_resources(all_versions=settings.all_versions)
        self.served = ServedResources(self.objects, builtin, settings.version)
        self.authorizer = open_authorizer(self.objects)
        self.world = StoreWorld(self.objects, self.served, self.authorizer)
        self._authenticator = authenticator
        reader = Reader(self.objects, self.world)
        policies = PolicyView(self.objects, settings.version)
        admission = Admission(policies, self.world)
        self._verbs = Verbs(
            reader,
            Watching(self.objects, reader),
            Writer(
                self.objects, reader, self.world, admission, self._new_context, settings.version
            ),
            Deleter(self.objects, reader, self.world, admission, self.sources.timestamp),
            shape,
            self.sources.randomness,
        )

    def _new_context(self, user: User) -> DefaultingContext:
        return DefaultingContext(
            now=self.sources.timestamp(),
            uid=self.sources.uid(),
            suffix=self.sources.suffix(),
            user=user,
            cluster=self.world,
            extra_token_sources=self.settings.extra_token_sources,
        )

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """One request. Whatever is wrong with it is an answer, too."""
        notes = Notes()
        audit_id = request.header("audit-id") or self.sources.uid()
        answer = await self._answered(request, notes)
        warnings = (
            ("Warning", f'299 - "{_escaped(text)}"') for text in recorded_warnings(notes.warnings)
        )
        cache = () if _has(answer, "cache-control") else (("Cache-Control", "no-cache, private"),)
        headers = (("Audit-Id", audit_id), *cache, *answer.headers, *warnings)
        return HttpAnswer(answer.code, answer.content_type, answer.body, headers, answer.stream)

    async def _answered(self, request: HttpRequest, notes: Notes) -> HttpAnswer:
        try:
            info = request_info(request)
        except UnreadablePath as error:
            return plain_text(500, f"{error}\n")
        try:
            user = self._authenticator.authenticate(request, notes)
            self._authorize(info, user)
            return await self._routed(request, info, user, notes)
        except StatusError as error:
            return status_answer(error, _form_of_errors(request))
        except Denied as denied:
            return object_answer(denied.code, denied.body, _form_of_errors(request))
        except NoSuchPath:
            return NOT_FOUND

    def _authorize(self, info: RequestInfo, user: User) -> None:
        attributes = attributes_of(info, user)
        ruling, reason, _ = self.authorizer.authorize(attributes)
        if ruling is not Ruling.ALLOW:
            raise forbidden(attributes, reason)

    async def _routed(
        self, request: HttpRequest, info: RequestInfo, user: User, notes: Notes
    ) -> HttpAnswer:
        if not info.is_resource:
            raise NoSuchPath(info.path)
        served = self.served.current()
        endpoint = find_endpoint(info, served.catalog, served.groups)
        custom = served.custom.get(endpoint.resource.gvk)
        call = Call(request, info, user, endpoint, custom, notes)
        return await self._verbs.answer(call, served)


def attributes_of(info: RequestInfo, user: User) -> Attributes:
    """What the authorizer is asked about a request."""
    if not info.is_resource:
        return Attributes(user, info.verb, path=info.path)
    return Attributes(
        user,
        info.verb,
        resource_request=True,
        group=info.group,
        version=info.version,
        resource=info.resource,
        subresource=info.subresource,
        namespace=info.namespace,
        name=info.name,
    )


def forbidden(attributes: Attributes, reason: str) -> StatusError:
    """403 with upstream's words (k8s.io/apiserver `pkg/endpoints/handlers/responsewriters`)."""
    user = attributes.user.name
    end = f": {reason}" if reason else ""
    if not attributes.resource_request:
        why = f'User "{user}" cannot {attributes.verb} path "{attributes.path}"{end}'
        return status.forbidden_path(why)
    resource = attributes.resource
    if attributes.subresource:
        resource = f"{resource}/{attributes.subresource}"
    space = attributes.namespace
    where = f'in the namespace "{space}"' if space else "at the cluster scope"
    why = (
        f'User "{user}" cannot {attributes.verb} resource "{resource}" in API group '
        f'"{attributes.group}" {where}{end}'
    )
    group_resource = GroupResource(attributes.group, attributes.resource)
    return status.forbidden(group_resource, attributes.name, why)


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
