"""The webhooks of one type, in the order in which they are asked, and which of them a request
concerns.

A `Hook` is one entry of `webhooks` of a configuration; its match conditions are compiled on demand.
`HookSet.selected` gives those that a request has to be sent to, and as which kind (`Hit`): rules,
scope, selectors, match conditions. As k8s.io/apiserver
`pkg/admission/configuration/*_webhook_manager.go` and `pkg/admission/plugin/webhook/generic`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from celadon.admission import decision_source, policy_limits
from celadon.admission.expressions.activation import RequestContext
from celadon.admission.expressions.compiled_expressions import BOOL_RESULT, PolicyScope
from celadon.admission.expressions.match_conditions import Condition, ConditionResult, evaluate
from celadon.admission.hits import Hit, MatchError
from celadon.admission.policies.endpoint_memory import PerEndpoint
from celadon.admission.policies.matching import MatchPlan, Target, matches, plan
from celadon.admission.registration import registration_types as registration
from celadon.admission.registration.registration_types import (
    MatchResources,
    Webhook,
    WebhookConfiguration,
)
from celadon.admission.request import Request
from celadon.admission.webhooks.call_results import CallError
from celadon.admission.world import World
from celadon.kube import JsonObject, Status, StatusCause, StatusDetails, StatusError, status
from celadon.kube.go import quote
from celadon.kube.releases import current_release
from celadon.kube.resources import Catalog
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
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


class OnDemandConditions:
    """The match conditions of a webhook, compiled when a request comes that may concern it."""

    __slots__ = ("_compiled", "_version", "_webhook")

    def __init__(self, webhook: Webhook, version: str) -> None:
        self._webhook = webhook
        self._version = version
        self._compiled: tuple[Condition, ...] | None = None

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """In their order."""
        if self._compiled is None:
            self._compiled = _conditions(self._webhook, self._version)
        return self._compiled


@dataclass(frozen=True, slots=True)
class Hook:
    """`index` is its place among all hooks of its type; `uid` names it for good, also among hooks
    of one name in one configuration."""

    configuration: str
    webhook: Webhook
    uid: str
    index: int
    compiled: OnDemandConditions
    static: bool = False
    """Whether its configuration is from files of the server, not an object."""

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Compiled now if they were not."""
        return self.compiled.conditions

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
    """A hook that a request goes to, as `hit` says."""

    hook: Hook
    hit: Hit


@dataclass(frozen=True, slots=True)
class Excluded:
    """A hook whose rules and selectors matched, but whose conditions did not: the name of the false
    one, or the text of an error that the failure policy ignores."""

    hook: Hook
    result: ConditionResult


@dataclass(frozen=True, slots=True)
class _Candidate:
    hook: Hook
    plan: MatchPlan


class HookSet:
    """All validating, or all mutating webhooks, those of `static` configurations first. Immutable
    but for what it remembers; `replaced` and `with_static` share what has been compiled with a
    changed set."""

    __slots__ = ("_compiled", "_endpoints", "_objects", "_static", "hooks", "version")

    def __init__(
        self,
        configurations: Iterable[WebhookConfiguration] = (),
        version: str | None = None,
        *,
        static: Iterable[WebhookConfiguration] = (),
        known: HookSet | None = None,
    ) -> None:
        self.version = version = version or current_release()
        self._objects, self._static = tuple(configurations), tuple(static)
        before = {} if known is None else known._compiled
        self._compiled: dict[int, tuple[WebhookConfiguration, list[OnDemandConditions]]] = {}
        hooks: list[Hook] = []
        for is_static, given in ((True, self._static), (False, self._objects)):
            for configuration in sorted(given, key=lambda one: one.name):
                entry = before.get(id(configuration))
                if entry is None:
                    webhooks = configuration.webhooks
                    entry = configuration, [OnDemandConditions(one, version) for one in webhooks]
                self._compiled[id(configuration)] = entry
                hooks += _hooks(configuration, entry[1], len(hooks), static=is_static)
        self.hooks: Sequence[Hook] = tuple(hooks)
        self._endpoints = PerEndpoint(self._candidates)

    def replaced(self, configurations: Iterable[WebhookConfiguration]) -> HookSet:
        """Return a set with other configurations; those that are the same objects are not compiled
        again. Static ones stay."""
        return HookSet(configurations, self.version, static=self._static, known=self)

    def with_static(self, configurations: Iterable[WebhookConfiguration]) -> HookSet:
        """Return a set with other static configurations, and the others as they are."""
        return HookSet(self._objects, self.version, static=configurations, known=self)

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
        return tuple(_Candidate(hook, found) for hook, found in planned if found is not None)


def _hooks(
    configuration: WebhookConfiguration,
    conditions: list[OnDemandConditions],
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


def _conditions(webhook: Webhook, version: str) -> tuple[Condition, ...]:
    scope = PolicyScope(version, has_params=False, has_variables=False, owner=webhook.name)
    return tuple(
        Condition(
            condition.name,
            scope.compile(
                condition.expression,
                BOOL_RESULT,
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
    """Its rules and selectors, as those of policies."""
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


def _evaluated(hook: Hook, hit: Hit, context: RequestContext) -> ConditionResult:
    obj, old = context.objects(hit.kind)
    activation = {
        "object": obj,
        "oldObject": old,
        "request": context.conditions_request(hit),
        "namespaceObject": None,
        **context.authorizer(),
    }
    meter = context.meter(policy_limits.MATCH_CONDITIONS_COST_BUDGET)
    return evaluate(hook.conditions, meter.run, activation)


# --- Hook refusals -----------------------------------------------------------
#
# Why a request is refused on account of a webhook, as its client is told.
#
# As k8s.io/apiserver `pkg/admission/plugin/webhook/errors/statuserror.go`.


WITHOUT_SIDE_EFFECTS: Final = frozenset({"None", "NoneOnDryRun"})


def failed(hook: Hook, error: CallError) -> StatusError:
    """A call that failed, with failure policy Fail."""
    return status.internal_error(error.of(hook.name))


def dry_run_unsupported(hook: Hook) -> StatusError:
    """A dry run that would not be one."""
    return status.bad_request(f"admission webhook {quote(hook.name)} does not support dry run")


def modified_nothing(hook: Hook) -> StatusError:
    """A patch where there is no object."""
    return status.internal_error(
        f"admission webhook {quote(hook.name)} attempted to modify the object, which is not "
        "supported for this operation"
    )


def denied(hook: Hook, said: JsonObject | None) -> StatusError:
    """An answer that does not allow; `said` is its Status, if there is one."""
    said = said or {}
    code = said.get("code", 0)
    verdict = said.get("status", "")
    return StatusError(
        Status(
            status.FAILURE if verdict in {"", status.SUCCESS} else verdict,
            _sentence(hook, said.get("message", ""), said.get("reason", "")),
            said.get("reason", ""),
            _details(said.get("details")),
            code if code >= 400 else 400,
            dict(said.get("metadata") or {}),
        )
    )


def _sentence(hook: Hook, message: str, reason: str) -> str:
    denies = f"admission webhook {quote(hook.name)} denied the request"
    why = message or reason
    return f"{denies}: {why}" if why else f"{denies} without explanation"


def _details(said: JsonObject | None) -> StatusDetails | None:
    if said is None:
        return None
    return StatusDetails(
        said.get("name", ""),
        said.get("group", ""),
        said.get("kind", ""),
        said.get("uid", ""),
        _causes(said.get("causes", ())),
        said.get("retryAfterSeconds", 0),
    )


def _causes(said: Sequence[JsonObject]) -> tuple[StatusCause, ...]:
    return tuple(
        StatusCause(one.get("message", ""), one.get("reason", ""), one.get("field", ""))
        for one in said
    )
