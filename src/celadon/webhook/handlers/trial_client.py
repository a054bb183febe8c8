"""Trying handlers without a network and without a cluster: `TestClient`.

It asks them as an API server would: the configuration that they generate is planned by the engine
that Celadon's own API server uses. So rules, selectors and match conditions count, mutating
handlers come before validating ones and each sees what those before it have made, patches are
applied, and messages are those that a user would read.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from typing import Any, Final, TypedDict, TypeVar, Unpack

from celadon.admission import ADMIN, ObjectWorld, Operation, Request, default_options
from celadon.admission.chain import Admitters, Chain, NoteTaker, Stage, WebhookCalls
from celadon.admission.webhooks import (
    Call,
    HookSet,
    MutatingPhase,
    Reply,
    ValidatingPhase,
    WebhookNotes,
)
from celadon.kube import GroupVersionKind, JsonObject, StatusError, User, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import Draft
from celadon.kube.resources import guessed_resource
from celadon.records import dataclass
from celadon.webhook.handlers.decorated_handlers import Handler
from celadon.webhook.handlers.webhook_app import ANYWHERE, Webhook, decoded, handled
from celadon.webhook.reviews import decode_review

T = TypeVar("T")
_NAMESPACES: Final = ("", "namespaces")


@dataclass(frozen=True, slots=True)
class Answer:
    """Says what becomes of a request. `object` is as the handlers have left it (None for a
    deletion), `called` are the names of those that were asked, in order. `code`, `reason` and
    `message` are what the client of the API would get; the message of an admission is empty."""

    allowed: bool
    code: int
    reason: str = ""
    message: str = ""
    object: JsonDict | None = None
    patches: Mapping[str, list[JsonDict]] = field(default_factory=dict)
    """By handler, the operations with which it has changed the object."""
    warnings: tuple[str, ...] = ()
    audit_annotations: Mapping[str, str] = field(default_factory=dict)
    """Those of handlers, under `<webhook>/<key>`."""
    called: tuple[str, ...] = ()


class Asking(TypedDict, total=False):
    """How a request is made: the `namespace` of objects that do not say theirs (`default`); the
    `user`, an administrator unless it is given, by name (with `groups`) or with everything; what
    is below the resource (`sub_resource`: `status`, `exec`); the options of the request."""

    namespace: str
    user: str | User
    groups: Iterable[str]
    sub_resource: str
    dry_run: bool
    options: JsonObject


class TestClient:
    """Sends objects to the handlers of an application. `objects` is what the cluster has besides:
    Namespaces with their labels, CustomResourceDefinitions; namespaces that are not given exist.

    What a handler raises, other than a denial, comes through to the test. Objects are sent as they
    are, without the defaults of their kind; `celadon.testing` has a whole API server.
    """

    __test__ = False  # for pytest, which would take it for a class of tests

    def __init__(
        self, app: Webhook, objects: Iterable[JsonObject] = (), user: User = ADMIN
    ) -> None:
        self._handlers: dict[bool, dict[str, Handler]] = {True: {}, False: {}}
        for handler in app.handlers:
            self._handlers[handler.mutating][f"{handler.name}.{app.name}"] = handler
        self._world = ObjectWorld(objects, implicit_namespaces=True)
        self._user = user
        self._hooks = {mutating: HookSet() for mutating in (False, True)}
        for document in app.configurations(url=ANYWHERE) if app.handlers else ():
            mutating = document["kind"].startswith("Mutating")
            self._hooks[mutating] = HookSet([decoded(document, mutating=mutating)])

    def create(self, obj: JsonObject, **about: Unpack[Asking]) -> Answer:
        """Ask about a new object."""
        return self._asked(Operation.CREATE, obj, obj, None, about)

    def update(self, obj: JsonObject, old: JsonObject, **about: Unpack[Asking]) -> Answer:
        """Ask about an object that takes the place of `old`."""
        return self._asked(Operation.UPDATE, obj, obj, old, about)

    def delete(self, old: JsonObject, **about: Unpack[Asking]) -> Answer:
        """Ask about the deletion of an object."""
        return self._asked(Operation.DELETE, old, None, old, about)

    def connect(
        self, connection: JsonObject, resource: JsonObject, **about: Unpack[Asking]
    ) -> Answer:
        """Ask about a connection (PodExecOptions, say) to `resource` (a Pod);
        `sub_resource` says which (`exec`)."""
        return self._asked(Operation.CONNECT, resource, connection, None, about)

    def _asked(
        self,
        operation: Operation,
        shown: JsonObject,
        obj: JsonObject | None,
        old: JsonObject | None,
        about: Asking,
    ) -> Answer:
        request = _request(self._world, operation, shown, obj, old, self._user, about)
        return _Course(self._world, self._hooks, self._handlers).answer(request)


def _request(
    world: ObjectWorld,
    operation: Operation,
    shown: JsonObject,
    obj: JsonObject | None,
    old: JsonObject | None,
    user: User,
    about: Asking,
) -> Request:
    """As an API server makes it of a request for the resource of `shown`."""
    kind = metadata.gvk(shown)
    resource = world.catalog.by_gvk(kind) or guessed_resource(kind)
    name, namespace = metadata.name(shown), ""
    connects = operation is Operation.CONNECT
    if resource.namespaced:
        namespace = metadata.namespace(shown) or about.get("namespace", "default")
        obj = obj if obj is None or connects else _placed(obj, namespace)
        old = None if old is None else _placed(old, namespace)
    elif (resource.gvr.group, resource.gvr.resource) == _NAMESPACES:
        namespace = name
    sub_resource = about.get("sub_resource", "")
    sent = obj if connects and obj is not None else {}
    dry_run = about.get("dry_run", False)
    return Request(
        operation,
        metadata.gvk(sent) if sent else resource.kind_of(sub_resource) or kind,
        resource.gvr,
        subresource=sub_resource,
        name=name,
        namespace=namespace,
        object=obj,
        old_object=old,
        user=_user(about, user),
        dry_run=dry_run,
        options=about.get("options") or default_options(operation, dry_run=dry_run),
    )


def _user(about: Asking, default: User) -> User:
    given = about.get("user", default)
    if isinstance(given, User):
        return given
    return User(given, (*about.get("groups", ()), "system:authenticated"))


def _placed(obj: JsonObject, namespace: str) -> JsonObject:
    return {**obj, "metadata": {**metadata.metadata(obj), "namespace": namespace}}


class _Course(Admitters, NoteTaker):
    """One request through all handlers."""

    def __init__(
        self,
        world: ObjectWorld,
        hooks: Mapping[bool, HookSet],
        handlers: Mapping[bool, Mapping[str, Handler]],
    ) -> None:
        self._world = world
        self._hooks = hooks
        self._handlers = handlers
        self._called: list[str] = []
        self._notes: list[WebhookNotes] = []

    def answer(self, request: Request) -> Answer:
        """Mutating handlers, those again that want to be, validating ones."""
        chain, refusal, stage = Chain(request, None, self, self), None, None
        try:
            for step in chain.steps():
                if isinstance(step, WebhookCalls):
                    for call in step.calls:
                        mutating = stage is Stage.MUTATING_WEBHOOKS
                        step.answer(call, self._reply(call, mutating=mutating))
                else:
                    stage = step
        except StatusError as error:
            refusal = error
        found = self._answer(refusal)
        obj = None if chain.request.object is None else dict(chain.request.object)
        return found if refusal is not None else replace(found, object=obj)

    def mutating_webhooks(self, request: Request, draft: Draft | None) -> MutatingPhase:
        """All of them."""
        return MutatingPhase(self._hooks[True], self._world, _readmitted, _new_uid, _as_json)

    def validating_webhooks(self, request: Request) -> Callable[[Request], ValidatingPhase]:
        """All of them."""
        hooks = self._hooks[False]
        return lambda request: ValidatingPhase(hooks, request, self._world, _new_uid, _as_json)

    def take_webhooks(self, notes: WebhookNotes) -> None:
        """Mutating ones first."""
        self._notes.append(notes)

    def _reply(self, call: Call, *, mutating: bool) -> Reply:
        handler = self._handlers[mutating][call.hook.name]
        self._called.append(handler.name)
        review = decode_review(json.loads(call.body))
        return Reply(200, json.dumps(_run(lambda: handled(handler, review))).encode())

    def _answer(self, refusal: StatusError | None) -> Answer:
        annotations: dict[str, str] = {}
        patches: dict[str, list[JsonDict]] = {}
        for notes in self._notes:
            own = {hook.name for hook in (record.hook for record in notes.calls)}
            for key, value in notes.annotations.items():
                if key.partition("/")[0] in own:
                    annotations[key] = value
            for text in notes.request_annotations.values():
                made = json.loads(text)
                handler = self._handlers[True][made["webhook"]]
                patches.setdefault(handler.name, []).extend(made["patch"])
        return Answer(
            allowed=refusal is None,
            code=200 if refusal is None else refusal.code,
            reason="" if refusal is None else refusal.reason,
            message="" if refusal is None else str(refusal),
            patches=patches,
            warnings=tuple(text for notes in self._notes for text in notes.warnings),
            audit_annotations=annotations,
            called=tuple(self._called),
        )


def _new_uid() -> str:
    return str(uuid.uuid4())


def _as_json(body: bytes) -> bytes:
    return body


def _readmitted(document: Any, kind: GroupVersionKind) -> tuple[JsonObject, JsonObject]:  # noqa: ANN401 - any JSON
    return document, document


def _run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run to its end, also where a loop is running already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()
