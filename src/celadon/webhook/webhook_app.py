"""`Webhook`: handlers as an ASGI application, and as the webhook configurations that an API server
has to be told of.

    app = Webhook("rules.example.com")

    @app.validate("deployments.apps")
    def has_a_team(request: Request) -> bool:
        ...

Each handler is a webhook of its own, asked at `/validate/<name>` or `/mutate/<name>`; `/healthz`
is for probes. What an API server cannot be answered properly is an HTTP error, so that the failure
policy of the webhook decides: 500 for a handler that raises something else than a denial, 504 for
one that takes longer than the API server waits.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import uuid
from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Mapping,
    MutableMapping,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from typing import Any, Final, TypedDict, TypeVar, Unpack
from urllib.parse import parse_qs

from celadon.admission import ADMIN, ObjectWorld, Operation, default_options, registration, webhooks
from celadon.admission import Request as AdmissionRequest
from celadon.admission.chain import Admitters, Chain, NoteTaker, Stage, WebhookCalls
from celadon.cel.value_functions import parse_duration
from celadon.kube import GroupVersionKind, JsonObject, StatusError, User, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import Draft, patch_between
from celadon.kube.resources import guessed_resource
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.records import dataclass
from celadon.webhook import handlers
from celadon.webhook.handlers import (
    About,
    AboutMutating,
    Denied,
    Handler,
    Mutating,
    Request,
    Validating,
    handler_request,
)
from celadon.webhook.reviews import Review, ReviewError, decode_review

# --- Configurations ----------------------------------------------------------
#
# Handlers as Validating- and MutatingWebhookConfigurations.
#
# What is generated is decoded and validated as an API server would, so that a wrong selector or a
# match condition that does not compile is known before anybody applies it.

API_VERSION: Final = f"{ADMISSION_REGISTRATION}/v1"


def configuration(
    name: str, handlers: Sequence[Handler], *, mutating: bool, client: JsonObject
) -> JsonDict:
    """Return the configuration with all handlers of one kind; `client` is the `clientConfig` of
    each but for the path of the handler. ValueError with what an API server would say against
    it."""
    kind = "MutatingWebhookConfiguration" if mutating else "ValidatingWebhookConfiguration"
    document = {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {"name": name},
        "webhooks": [
            _webhook(name, handler, client) for handler in handlers if handler.mutating == mutating
        ],
    }
    decoded(document, mutating=mutating)
    return document


def decoded(document: JsonObject, *, mutating: bool) -> registration.WebhookConfiguration:
    """Return the configuration as an API server reads it. Raises ValueError."""
    try:
        value = registration.decode_webhooks(document, mutating=mutating).value
    except registration.RegistrationError as error:
        raise ValueError(str(error)) from None
    errors = [
        *registration.validate_object_meta(value.metadata),
        *registration.validate_create(value),
    ]
    if errors:
        raise ValueError("; ".join(f"{error.field}: {error.body}" for error in errors))
    return value


def client_config(service: str = "", url: str = "", ca_bundle: bytes | str = b"") -> JsonDict:
    """Return where the application is: `service` is NAMESPACE/NAME[:PORT][/PATH], `url` its
    address, `ca_bundle` PEM. ValueError if neither is given, or both."""
    if bool(service) == bool(url):
        raise ValueError("say where the webhook is: either `service` or `url`")
    result: JsonDict = {"url": url.rstrip("/")} if url else {"service": _service(service)}
    if ca_bundle:
        pem = ca_bundle.encode() if isinstance(ca_bundle, str) else ca_bundle
        result["caBundle"] = base64.b64encode(pem).decode()
    return result


def _service(text: str) -> JsonDict:
    namespace, slash, rest = text.partition("/")
    full, slash_path, path = rest.partition("/")
    name, colon, port = full.partition(":")
    if not (namespace and slash and name) or (colon and (not port.isdecimal() or len(port) > 5)):
        raise ValueError(f"`{text}` is not NAMESPACE/NAME[:PORT]")
    result: JsonDict = {"namespace": namespace, "name": name, "path": slash_path + path}
    if port:
        result["port"] = int(port)
    return result


def _webhook(name: str, handler: Handler, client: JsonObject) -> JsonDict:
    targets = handler.targets
    result: JsonDict = {
        "name": f"{handler.name}.{name}",
        "clientConfig": _below(client, handler.path),
        "rules": [dict(rule) for rule in targets.rules],
        "failurePolicy": handler.failure_policy,
        "matchPolicy": targets.match_policy,
        "namespaceSelector": dict(targets.namespace_selector),
        "objectSelector": dict(targets.object_selector),
        "sideEffects": handler.side_effects,
        "timeoutSeconds": handler.timeout_seconds,
        "admissionReviewVersions": ["v1", "v1beta1"],
    }
    if targets.match_conditions:
        result["matchConditions"] = _conditions(targets.match_conditions.items())
    if handler.mutating:
        result["reinvocationPolicy"] = handler.reinvocation_policy
    return result


def _conditions(conditions: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "expression": expression} for name, expression in conditions]


def _below(client: JsonObject, path: str) -> JsonDict:
    result = dict(client)
    if "url" in result:
        result["url"] += path
    else:
        service = dict(result["service"])
        service["path"] = service.get("path", "").rstrip("/") + path
        result["service"] = service
    return result


# --- Asgi messages -----------------------------------------------------------
#
# The little of ASGI that answering reviews needs: a body up to a limit, an answer in JSON.

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

MOST_BYTES: Final = 7 * 1024 * 1024
"""Of a review: an object of 3 MiB, twice, and what is around them (controller-runtime's limit)."""


class Unacceptable(Exception):
    """An answer that is no review: `code` is its HTTP status."""

    def __init__(self, code: int, text: str, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        super().__init__(text)
        self.code = code
        self.headers = headers


class Disconnected(Exception):
    """Whoever asked has gone."""


def path_of(scope: Scope) -> str:
    """Return the path below the place where the application is mounted."""
    path: str = scope.get("path", "")
    root: str = scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(root) else path


def header(scope: Scope, name: bytes) -> str:
    """Return the first of a name, in lower case; empty if there is none."""
    headers = (value for key, value in scope.get("headers", ()) if key.lower() == name)
    return next(headers, b"").decode("latin-1")


async def read_body(receive: Receive) -> bytes:
    """Read all of the body. Raises Unacceptable 413, Disconnected."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        part = message.get("body", b"")
        size += len(part)
        if size > MOST_BYTES:
            raise Unacceptable(413, f"request entity is too large; limit is {MOST_BYTES} bytes")
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)


async def answer(
    send: Send, code: int, value: object, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    """Answer with a value as JSON."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )
    length = (b"content-length", str(len(body)).encode())
    start = [(b"content-type", b"application/json"), length, *headers]
    await send({"type": "http.response.start", "status": code, "headers": start})
    await send({"type": "http.response.body", "body": body})


def refusal(code: int, text: str) -> JsonDict:
    """Return a Status that says why there is no review: API servers show its message."""
    head = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return {**head, "message": text, "code": code}


async def lifespan(receive: Receive, send: Send) -> None:
    """Answer the protocol of life spans: there is nothing to begin or end."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


# --- Review handling ---------------------------------------------------------
#
# A review through a handler: what the function returns or raises becomes the answer.


async def handled(handler: Handler, review: Review) -> JsonDict:
    """Return the review that answers. Raises what the function raises, but for denials. Functions
    that are not async run in a thread."""
    request = handler_request(review.request)
    before = _copied(request.given) if handler.mutating else None
    try:
        result = await _called(handler, request)
    except Denied as denial:
        result = denial
    response: JsonDict = {"uid": request.uid, "allowed": True}
    if handler.mutating:
        _change(handler, response, request, before, result)
    else:
        _judge(handler, response, result)
    if request.warnings:
        response["warnings"] = [str(warning) for warning in request.warnings]
    if request.audit_annotations:
        response["auditAnnotations"] = dict(request.audit_annotations)
    return {"kind": webhooks.REVIEW_KIND, "apiVersion": review.api_version, "response": response}


async def _called(handler: Handler, request: Request) -> Any:  # noqa: ANN401 - checked later
    if handler.is_async:
        return await handler.function(request)
    return await asyncio.to_thread(handler.function, request)


def _judge(handler: Handler, response: JsonDict, result: object) -> None:
    if result is False:
        result = Denied(handler.complaint or f"refused by {handler.name}")
    if isinstance(result, Denied):
        _deny(response, result)
    elif result is not None and result is not True:
        raise TypeError(
            f"handler `{handler.name}` returned {type(result).__name__}: a validating function "
            "returns true, false, a denial, or nothing"
        )


def _change(
    handler: Handler, response: JsonDict, request: Request, before: JsonDict | None, result: object
) -> None:
    if isinstance(result, Denied):
        _deny(response, result)
        return
    if result is not None and not isinstance(result, dict):
        raise TypeError(
            f"handler `{handler.name}` returned {type(result).__name__}: a mutating function "
            "returns an object, a denial, or nothing"
        )
    after = request.given if result is None else result
    if before is None or after is None:
        if result is not None:
            raise TypeError(
                f"handler `{handler.name}` returned an object for {request.operation.value}, "
                "which has none"
            )
        return
    patch = patch_between(before, _copied(after))
    if patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()


def _deny(response: JsonDict, denial: Denied) -> None:
    response["allowed"] = False
    response["status"] = denial.status()


def _copied(obj: JsonObject | None) -> JsonDict | None:
    """Return an object as JSON has it: tuples are lists, keys are texts. Raises TypeError,
    ValueError for what is none."""
    if obj is None:
        return None
    copied: JsonDict = json.loads(json.dumps(obj, allow_nan=False))
    return copied


_LOG: Final = logging.getLogger("celadon.webhook")
_HEALTH: Final = frozenset({"/healthz", "/livez", "/readyz"})
ANYWHERE: Final = "https://127.0.0.1"
"""The URL of an application that is called by no name."""


class Webhook:
    """Serves handlers as an ASGI application. `name` is that of the configurations, and what
    follows the names of handlers in those of webhooks: a domain with two parts at least."""

    def __init__(self, name: str, handlers: Iterable[Handler] = ()) -> None:
        self.name = name
        self._handlers: dict[str, Handler] = {}
        for handler in handlers:
            self.add(handler)

    @property
    def handlers(self) -> tuple[Handler, ...]:
        """Return all of them, in the order in which they were added."""
        return tuple(self._handlers.values())

    def add(self, handler: Handler) -> Handler:
        """Let another handler answer. ValueError for a name that is taken, and for one that an API
        server would not accept in a configuration."""
        if handler.path in self._handlers:
            raise ValueError(f"there are two handlers `{handler.name}`: give one another `name`")
        client = client_config(url=ANYWHERE)
        configuration(self.name, [handler], mutating=handler.mutating, client=client)
        self._handlers[handler.path] = handler
        return handler

    def validate(self, *resources: str, **about: Unpack[About]) -> Callable[[Validating], Handler]:
        """Decorate a function as `celadon.webhook.validate` does, and add the handler."""
        decorate = handlers.validate(*resources, **about)
        return lambda function: self.add(decorate(function))

    def mutate(
        self, *resources: str, **about: Unpack[AboutMutating]
    ) -> Callable[[Mutating], Handler]:
        """Decorate a function as `celadon.webhook.mutate` does, and add the handler."""
        decorate = handlers.mutate(*resources, **about)
        return lambda function: self.add(decorate(function))

    def configurations(
        self, *, service: str = "", url: str = "", ca_bundle: bytes | str = b""
    ) -> list[JsonDict]:
        """Return what an API server is to be told, as manifests: a ValidatingWebhookConfiguration,
        a MutatingWebhookConfiguration, or both.

        Either `service` (NAMESPACE/NAME[:PORT][/PATH]) or `url` says where the application is;
        `ca_bundle` is PEM.
        """
        client = client_config(service, url, ca_bundle)
        kinds = sorted({handler.mutating for handler in self.handlers})
        return [
            configuration(self.name, self.handlers, mutating=mutating, client=client)
            for mutating in kinds
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request or a life span, as ASGI 3."""
        if scope["type"] == "lifespan":
            await lifespan(receive, send)
            return
        if scope["type"] != "http":
            raise ValueError(f"not for `{scope['type']}`")
        path = path_of(scope)
        if path in _HEALTH and scope["method"] in {"GET", "HEAD"}:
            await answer(send, 200, "ok")
            return
        try:
            answered = await self._answered(scope, path, receive)
        except Unacceptable as error:
            await answer(send, error.code, refusal(error.code, str(error)), error.headers)
        except Disconnected:
            return
        else:
            await answer(send, 200, answered)

    async def _answered(self, scope: Scope, path: str, receive: Receive) -> JsonDict:
        handler = self._handlers.get(path)
        if handler is None:
            raise Unacceptable(404, f"there is no handler at {path}")
        if scope["method"] != "POST":
            raise Unacceptable(405, "reviews are posted", ((b"allow", b"POST"),))
        media_type = header(scope, b"content-type").partition(";")[0].strip().lower()
        if media_type != "application/json":
            raise Unacceptable(415, f"a review is application/json, not `{media_type}`")
        review = _review(await read_body(receive))
        try:
            async with asyncio.timeout(_seconds(scope.get("query_string", b""))):
                return await handled(handler, review)
        except TimeoutError:
            _LOG.warning("handler %s took too long", handler.name)
            raise Unacceptable(504, f"handler {handler.name} took too long") from None
        except Exception:  # noqa: BLE001 - whatever a handler does, the failure policy decides
            _LOG.exception("handler %s failed", handler.name)
            raise Unacceptable(500, f"handler {handler.name} failed") from None


def _review(body: bytes) -> Review:
    """Read the review. Raises Unacceptable 400."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unacceptable(400, f"the body is no JSON: {error}") from None
    try:
        return decode_review(document, len(body))
    except ReviewError as error:
        raise Unacceptable(400, f"not an AdmissionReview: {error}") from None


def _seconds(query: bytes) -> float | None:
    """Return how long the API server waits, `?timeout=5s`; None if it does not say."""
    texts = parse_qs(query.decode("latin-1")).get("timeout", [])
    duration = parse_duration(texts[0]) if texts else None
    return duration.nanoseconds / 1e9 if duration is not None and duration.nanoseconds > 0 else None


# --- Trying handlers without a network ---------------------------------------

# Trying handlers without a network and without a cluster: `TestClient`.
#
# It asks them as an API server would: the configuration that they generate is planned by the
# engine that Celadon's own API server uses. So rules, selectors and match conditions count,
# mutating handlers come before validating ones and each sees what those before it have made,
# patches are applied, and messages are those that a user would read.

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
    """Says how a request is made: the `namespace` of objects that do not say theirs (`default`);
    the `user`, an administrator unless it is given, by name (with `groups`) or with everything;
    what is below the resource (`sub_resource`: `status`, `exec`); the options of the request."""

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
        self._hooks = {mutating: webhooks.HookSet() for mutating in (False, True)}
        for document in app.configurations(url=ANYWHERE) if app.handlers else ():
            mutating = document["kind"].startswith("Mutating")
            self._hooks[mutating] = webhooks.HookSet([decoded(document, mutating=mutating)])

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
        document: JsonObject,
        obj: JsonObject | None,
        old: JsonObject | None,
        about: Asking,
    ) -> Answer:
        request = _request(self._world, operation, document, obj, old, self._user, about)
        return _Course(self._world, self._hooks, self._handlers).answer(request)


def _request(
    world: ObjectWorld,
    operation: Operation,
    document: JsonObject,
    obj: JsonObject | None,
    old: JsonObject | None,
    user: User,
    about: Asking,
) -> AdmissionRequest:
    """Return the admission request that an API server makes of a request for the resource of
    `document`."""
    kind = metadata.gvk(document)
    resource = world.catalog.by_gvk(kind) or guessed_resource(kind)
    name, namespace = metadata.name(document), ""
    connects = operation is Operation.CONNECT
    if resource.namespaced:
        namespace = metadata.namespace(document) or about.get("namespace", "default")
        obj = obj if obj is None or connects else _placed(obj, namespace)
        old = None if old is None else _placed(old, namespace)
    elif (resource.gvr.group, resource.gvr.resource) == _NAMESPACES:
        namespace = name
    sub_resource = about.get("sub_resource", "")
    sent = obj if connects and obj is not None else {}
    dry_run = about.get("dry_run", False)
    return AdmissionRequest(
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
    user = about.get("user", default)
    if isinstance(user, User):
        return user
    return User(user, (*about.get("groups", ()), "system:authenticated"))


def _placed(obj: JsonObject, namespace: str) -> JsonObject:
    return {**obj, "metadata": {**metadata.metadata(obj), "namespace": namespace}}


class _Course(Admitters, NoteTaker):
    """One request through all handlers."""

    def __init__(
        self,
        world: ObjectWorld,
        hooks: Mapping[bool, webhooks.HookSet],
        handlers: Mapping[bool, Mapping[str, Handler]],
    ) -> None:
        self._world = world
        self._hooks = hooks
        self._handlers = handlers
        self._called: list[str] = []
        self._notes: list[webhooks.WebhookNotes] = []

    def answer(self, request: AdmissionRequest) -> Answer:
        """Ask mutating handlers, those again that want to be, validating ones."""
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
        answer = self._answer(refusal)
        obj = None if chain.request.object is None else dict(chain.request.object)
        return answer if refusal is not None else replace(answer, object=obj)

    def mutating_webhooks(
        self, request: AdmissionRequest, draft: Draft | None
    ) -> webhooks.MutatingPhase:
        """Return all mutating webhooks."""
        return webhooks.MutatingPhase(
            self._hooks[True], self._world, _readmitted, _new_uid, _as_json
        )

    def validating_webhooks(
        self, request: AdmissionRequest
    ) -> Callable[[AdmissionRequest], webhooks.ValidatingPhase]:
        """Return all validating webhooks."""
        hooks = self._hooks[False]
        return lambda request: webhooks.ValidatingPhase(
            hooks, request, self._world, _new_uid, _as_json
        )

    def take_webhooks(self, notes: webhooks.WebhookNotes) -> None:
        """Take the notes of both phases, those of mutating webhooks first."""
        self._notes.append(notes)

    def _reply(self, call: webhooks.Call, *, mutating: bool) -> webhooks.Reply:
        handler = self._handlers[mutating][call.hook.name]
        self._called.append(handler.name)
        review = decode_review(json.loads(call.body))
        return webhooks.Reply(200, json.dumps(_run(lambda: handled(handler, review))).encode())

    def _answer(self, refusal: StatusError | None) -> Answer:
        annotations: dict[str, str] = {}
        patches: dict[str, list[JsonDict]] = {}
        for notes in self._notes:
            calls = {hook.name for hook in (record.hook for record in notes.calls)}
            for key, value in notes.annotations.items():
                if key.partition("/")[0] in calls:
                    annotations[key] = value
            for annotation in notes.request_annotations.values():
                document = json.loads(annotation)
                handler = self._handlers[True][document["webhook"]]
                patches.setdefault(handler.name, []).extend(document["patch"])
        return Answer(
            allowed=refusal is None,
            code=200 if refusal is None else refusal.code,
            reason="" if refusal is None else refusal.reason,
            message="" if refusal is None else str(refusal),
            patches=patches,
            warnings=tuple(warning for notes in self._notes for warning in notes.warnings),
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
