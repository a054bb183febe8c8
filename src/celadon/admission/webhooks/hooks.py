"""The webhooks of one type, in the order in which they are asked: which of them a request
concerns, and what comes back from a call.

A `Hook` is one entry of `webhooks` of a configuration; its match conditions are compiled on demand.
`HookSet.selected` gives those that a request has to be sent to, and as which kind (`Hit`): rules,
scope, selectors, match conditions. As k8s.io/apiserver
`pkg/admission/configuration/*_webhook_manager.go` and `pkg/admission/plugin/webhook/generic`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from celadon.admission import compiled_expressions, decision_source, policy_limits
from celadon.admission.activation import Hit, MatchError, RequestContext
from celadon.admission.cluster_lookups import World
from celadon.admission.policies.matching import MatchPlan, PerEndpoint, Target, matches, plan
from celadon.admission.registration import registration_types as registration
from celadon.admission.registration.registration_types import (
    MatchResources,
    Webhook,
    WebhookConfiguration,
)
from celadon.admission.request import Request
from celadon.kube import (
    GroupVersionKind,
    JsonObject,
    Status,
    StatusCause,
    StatusDetails,
    StatusError,
    status,
)
from celadon.kube.go import media_type_complaint, parse_media_type, quote
from celadon.kube.registry import request_bodies
from celadon.kube.releases import current_release, is_since
from celadon.kube.resources import Catalog
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.memoization import OnDemand
from celadon.records import dataclass

EXEMPT: Final = frozenset(
    [
        registration.POLICY_KIND,
        registration.BINDING_KIND,
        registration.MUTATING_POLICY_KIND,
        registration.MUTATING_BINDING_KIND,
        registration.VALIDATING_WEBHOOKS_KIND,
        registration.MUTATING_WEBHOOKS_KIND,
    ]
)
"""Kinds of the registration group that only static webhooks get: those from files of the server."""


Conditions = tuple[compiled_expressions.Condition, ...]
"""The match conditions of a webhook, compiled when a request comes that may concern it."""


@dataclass(frozen=True, slots=True)
class Hook:
    """Holds one webhook of a configuration, with its conditions compiled. `index` is its place
    among all hooks of its type; `uid` names it for good, also among hooks of one name in one
    configuration."""

    configuration: str
    webhook: Webhook
    uid: str
    index: int
    compiled: OnDemand[Conditions]
    static: bool = False
    """Whether its configuration is from files of the server, not an object."""

    @property
    def conditions(self) -> tuple[compiled_expressions.Condition, ...]:
        """Return the compiled match conditions; the first call compiles them."""
        return self.compiled.value

    @property
    def name(self) -> str:
        """The name of the webhook, not of its configuration."""
        return self.webhook.name

    @property
    def ignores_failures(self) -> bool:
        """Return whether a call that fails is as if there were no hook."""
        return self.webhook.failure_policy == registration.IGNORE


@dataclass(frozen=True, slots=True)
class Selected:
    """Names a hook that a request goes to; `hit` says why."""

    hook: Hook
    hit: Hit


@dataclass(frozen=True, slots=True)
class Excluded:
    """Names a hook whose rules and selectors matched, but whose conditions did not: the name of the
    false one, or the text of an error that the failure policy ignores."""

    hook: Hook
    result: compiled_expressions.ConditionResult


@dataclass(frozen=True, slots=True)
class _Candidate:
    hook: Hook
    plan: MatchPlan


class HookSet:
    """Holds all validating, or all mutating webhooks, those of `static` configurations first. It is
    immutable but for what it remembers; `replaced` and `with_static` share what has been compiled
    with a changed set."""

    __slots__ = ("_compiled", "_endpoints", "_objects", "_static", "hooks", "version")

    def __init__(
        self,
        configurations: Iterable[WebhookConfiguration] = (),
        version: str | None = None,
        *,
        static: Iterable[WebhookConfiguration] = (),
        earlier: HookSet | None = None,
    ) -> None:
        self.version = version = version or current_release()
        self._objects, self._static = tuple(configurations), tuple(static)
        before = {} if earlier is None else earlier._compiled
        self._compiled: dict[int, tuple[WebhookConfiguration, list[OnDemand[Conditions]]]] = {}
        hooks: list[Hook] = []
        for is_static, item in ((True, self._static), (False, self._objects)):
            for configuration in sorted(item, key=lambda configuration: configuration.name):
                compiled = before.get(id(configuration))
                if compiled is None:
                    webhooks = configuration.webhooks
                    compiled = (
                        configuration,
                        [
                            OnDemand(functools.partial(_conditions, webhook, version))
                            for webhook in webhooks
                        ],
                    )
                self._compiled[id(configuration)] = compiled
                hooks += _hooks(configuration, compiled[1], len(hooks), static=is_static)
        self.hooks: Sequence[Hook] = tuple(hooks)
        self._endpoints = PerEndpoint(self._candidates)

    def replaced(self, configurations: Iterable[WebhookConfiguration]) -> HookSet:
        """Return a set with other configurations; those that are the same objects are not compiled
        again. Static ones stay."""
        return HookSet(configurations, self.version, static=self._static, earlier=self)

    def with_static(self, configurations: Iterable[WebhookConfiguration]) -> HookSet:
        """Return a set with other static configurations, and the others as they are."""
        return HookSet(self._objects, self.version, static=configurations, earlier=self)

    def concerns(self, request: Request, world: World) -> bool:
        """Return whether any rule covers requests like this one. Cheap."""
        return bool(self._endpoints.of(request, world.catalog))

    def selected(self, request: Request, world: World) -> Iterator[Selected | Excluded]:
        """Yield those to be asked, in order. StatusError when one cannot be told: then none is
        asked, whatever the failure policy."""
        candidates = self._endpoints.of(request, world.catalog)
        if not candidates:
            return
        context = RequestContext(request, world)
        for candidate in candidates:
            yield from _selected(candidate.hook, candidate.plan, context)

    def select(self, hook: Hook, context: RequestContext) -> Selected | Excluded | None:
        """Return whether one hook of the set is to be asked; None where its rules or selectors say
        no. StatusError as in `selected`."""
        for candidate in self._endpoints.of(context.request, context.world.catalog):
            if candidate.hook is hook:
                return next(_selected(hook, candidate.plan, context), None)
        return None

    def _candidates(self, target: Target, catalog: Catalog) -> tuple[_Candidate, ...]:
        kind = target.kind
        is_exempt = kind.group == ADMISSION_REGISTRATION and kind.kind in EXEMPT
        seeing = (hook for hook in self.hooks if hook.static or not is_exempt)
        planned = ((hook, _plan(hook.webhook, target, catalog)) for hook in seeing)
        return tuple(_Candidate(hook, plan) for hook, plan in planned if plan is not None)


def _hooks(
    configuration: WebhookConfiguration,
    conditions: list[OnDemand[Conditions]],
    first: int,
    *,
    static: bool,
) -> Iterator[Hook]:
    names: dict[str, int] = {}
    prefix = "manifest/" if static else ""
    for i, webhook in enumerate(configuration.webhooks):
        earlier = names.get(webhook.name, 0)
        names[webhook.name] = earlier + 1
        uid = f"{prefix}{configuration.name}/{webhook.name}/{earlier}"
        yield Hook(configuration.name, webhook, uid, first + i, conditions[i], static)


def _conditions(webhook: Webhook, version: str) -> tuple[compiled_expressions.Condition, ...]:
    scope = compiled_expressions.PolicyScope(
        version, has_params=False, has_variables=False, owner=webhook.name
    )
    return tuple(
        compiled_expressions.Condition(
            condition.name,
            scope.compile(
                condition.expression,
                compiled_expressions.BOOL_RESULT,
                stored=True,
                source=decision_source.condition(i),
            ),
        )
        for i, condition in enumerate(webhook.match_conditions)
    )


def _plan(webhook: Webhook, target: Target, catalog: Catalog) -> MatchPlan | None:
    """Return what is left to ask of a request; None also for a webhook without rules, which gets
    nothing."""
    if not webhook.rules:
        return None
    return plan(resources_of(webhook), target, catalog)


def resources_of(webhook: Webhook) -> MatchResources:
    """Return the rules and selectors of a webhook, as those of policies."""
    return MatchResources(
        webhook.namespace_selector,
        webhook.object_selector,
        webhook.rules,
        match_policy=webhook.match_policy,
    )


def _selected(
    hook: Hook, match: MatchPlan, context: RequestContext
) -> Iterator[Selected | Excluded]:
    try:
        hit = matches(match, context)
    except MatchError as error:
        raise error.failure from None
    if hit is None:
        return
    if hook.conditions:
        result = _evaluated(hook, hit, context)
        if result.false_condition or (result.failure is not None and hook.ignores_failures):
            yield Excluded(hook, result)
            return
        if result.failure is not None:
            request = context.request
            resource = request.resource.group_resource
            raise status.forbidden(resource, request.name, result.failure.text)
    yield Selected(hook, hit)


def _evaluated(
    hook: Hook, hit: Hit, context: RequestContext
) -> compiled_expressions.ConditionResult:
    obj, old = context.objects(hit.kind)
    activation = {
        "object": obj,
        "oldObject": old,
        "request": context.conditions_request(hit),
        "namespaceObject": None,
        **context.authorizer(),
    }
    meter = context.meter(policy_limits.MATCH_CONDITIONS_COST_BUDGET)
    return compiled_expressions.evaluate(hook.conditions, meter.run, activation)


# --- Hook refusals -----------------------------------------------------------
#
# Why a request is refused on account of a webhook, as its client is told.
#
# As k8s.io/apiserver `pkg/admission/plugin/webhook/errors/statuserror.go`.

WITHOUT_SIDE_EFFECTS: Final = frozenset({"None", "NoneOnDryRun"})


def failed(hook: Hook, error: CallError) -> StatusError:
    """Return a call that failed, with failure policy Fail."""
    return status.internal_error(error.of(hook.name))


def dry_run_unsupported(hook: Hook) -> StatusError:
    """Return the refusal of a dry run that would not be one."""
    return status.bad_request(f"admission webhook {quote(hook.name)} does not support dry run")


def modified_nothing(hook: Hook) -> StatusError:
    """Return a patch where there is no object."""
    return status.internal_error(
        f"admission webhook {quote(hook.name)} attempted to modify the object, which is not "
        "supported for this operation"
    )


def denied(hook: Hook, answer: JsonObject | None) -> StatusError:
    """Return an answer that does not allow; `answer` is its Status, if there is one."""
    answer = answer or {}
    code = answer.get("code", 0)
    outcome = answer.get("status", "")
    return StatusError(
        Status(
            status.FAILURE if outcome in {"", status.SUCCESS} else outcome,
            _sentence(hook, answer.get("message", ""), answer.get("reason", "")),
            answer.get("reason", ""),
            _details(answer.get("details")),
            code if code >= 400 else 400,
            dict(answer.get("metadata") or {}),
        )
    )


def _sentence(hook: Hook, message: str, reason: str) -> str:
    denies = f"admission webhook {quote(hook.name)} denied the request"
    detail = message or reason
    return f"{denies}: {detail}" if detail else f"{denies} without explanation"


def _details(details: JsonObject | None) -> StatusDetails | None:
    if details is None:
        return None
    return StatusDetails(
        details.get("name", ""),
        details.get("group", ""),
        details.get("kind", ""),
        details.get("uid", ""),
        _causes(details.get("causes", ())),
        details.get("retryAfterSeconds", 0),
    )


def _causes(causes: Sequence[JsonObject]) -> tuple[StatusCause, ...]:
    return tuple(
        StatusCause(cause.get("message", ""), cause.get("reason", ""), cause.get("field", ""))
        for cause in causes
    )


# --- What comes back ---------------------------------------------------------
#
# What comes back from the network when a webhook is called, and what a failed call is told as.
#
# The caller makes a `Reply` of an HTTP answer and a `NoReply` of everything that kept it from
# getting one. `require_success` is the HTTP side of the API server's client: texts by status
# code. As k8s.io/client-go `rest/request.go` and k8s.io/apimachinery `pkg/api/errors`.

AsJson = Callable[[bytes], bytes]
"""A body to JSON, should it be YAML; UnreadableBody where it is neither."""

STATUS_KIND: Final = GroupVersionKind("", "v1", "Status")
SERVER_TEXT_BYTES: Final = 2048
BAD_REQUEST: Final = 400
UNAVAILABLE: Final = 503
_CODE_TEXTS: Final[Mapping[int, str]] = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be "
    "processing the request",
}
_SERVER_TEXT_CODES: Final = frozenset({403, 406, 415})
_NOT_ACCEPTABLE: Final = (
    "the server was unable to respond with a content type that the client supports"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """Holds the HTTP answer of a webhook. `content_type` is None when there is no such header."""

    code: int
    body: bytes
    content_type: str | None = None


@dataclass(frozen=True, slots=True)
class NoReply:
    """Says why there is no answer, in the words of Go's HTTP client (`Post "https://...": dial tcp
    127.0.0.1:1: connect: connection refused`), said after `stage`. `annotations` are what
    the audit event is to say of the server's certificate, keys with their values."""

    text: str
    code: int = UNAVAILABLE
    stage: str = "failed to call webhook"
    annotations: tuple[tuple[str, str], ...] = ()


class UnreadableBody(Exception):
    """Says that a body is no document; the text is what Go's reader says."""


class CallError(Exception):
    """Says that a call failed; the failure policy decides what follows. `code` is for metrics."""

    def __init__(self, text: str, code: int = UNAVAILABLE) -> None:
        super().__init__(text)
        self.code = code

    def of(self, hook: str) -> str:
        """Return the sentence about the hook."""
        return f"failed calling webhook {quote(hook)}: {self}"


def failed_call(reason: str, code: int | None = None) -> CallError:
    """Return a call that was made and went wrong, by what answered or (without `code`) on the
    way."""
    code = code_of_failure(UNAVAILABLE) if code is None else code
    return CallError(f"failed to call webhook: {reason}", code)


def code_of_failure(code: int) -> int:
    """Return what metrics say where no server has said anything; before 1.34 that the request was
    bad."""
    return code if is_since("1.34") else BAD_REQUEST


def require_success(reply: Reply, as_json: AsJson) -> None:
    """Raise CallError unless the HTTP status says that the body is an answer, and there is one."""
    failed = http_failure(reply, as_json)
    if failed is not None:
        raise failed_call(*failed)


def http_failure(reply: Reply, as_json: AsJson) -> tuple[str, int] | None:
    """Return why the body is no answer, and the code of that; None if it is one."""
    content_type = "application/json" if reply.content_type is None else reply.content_type
    media_type = parse_media_type(content_type)
    if media_type is None:
        reason = media_type_complaint(content_type)
        return f"Internal error occurred: {reason}", 500
    if reply.code != 101 and not 200 <= reply.code <= 206:
        said_status = _said_status(reply.body, as_json)
        if said_status is not None:
            return str(said_status.get("message") or ""), int(said_status.get("code") or 0)
        return _code_text(reply, media_type), reply.code
    if not reply.body:
        text = f"0-length response with status code: {reply.code} and content type: {content_type}"
        return text, code_of_failure(UNAVAILABLE)
    return None


def _said_status(body: bytes, as_json: AsJson) -> JsonObject | None:
    """Return a Status of failure that the webhook has answered with."""
    if not body:
        return None
    try:
        answer_kind, document = request_bodies.interpret(as_json(body), STATUS_KIND)
    except (StatusError, UnreadableBody):
        return None
    value = document.value
    failed = answer_kind == STATUS_KIND and value.get("status") == status.FAILURE
    return value if failed else None


def _code_text(reply: Reply, media_type: str) -> str:
    code = reply.code
    text = "unknown"
    if reply.content_type is None or media_type.startswith("text/"):
        text = reply.body[:SERVER_TEXT_BYTES].decode("utf-8", "replace").strip()
    if code == 406 and text in {"", "unknown"}:
        return _NOT_ACCEPTABLE
    if code in _SERVER_TEXT_CODES:
        return text
    code_text = _CODE_TEXTS.get(code)
    if code_text is not None:
        return code_text
    if code >= 500:
        return f"an error on the server ({quote(text)}) has prevented the request from succeeding"
    return f"the server responded with the status code {code} but did not return more information"
