"""Drives the chain of admission for a server: `celadon.admission.chain` says what comes next.

Plugins and policies run on the event loop, or in a worker where they may take long; webhooks are
called over the network and counted. `ServerAdmitters` knows whom a server asks, `RequestAdmitters`
asks them about one request and keeps what they say in the notes of the call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import field
from operator import is_not
from typing import Final, NamedTuple

from celadon.admission import Engine, Operation, Request, Verdict, World
from celadon.admission.chain import Admitters, Chain, NoteTaker, Stage, Step, Steps, WebhookCalls
from celadon.admission.plugins import Opinion, PluginChain
from celadon.admission.policies.mutating import MutatingEngine, PolicyRounds
from celadon.admission.webhooks import MutatingPhase, Readmit, ValidatingPhase, WebhookNotes
from celadon.apiserver.caches.policy_cache import PolicyView, StoredPolicies
from celadon.apiserver.caches.served_resources import ServedResources
from celadon.apiserver.forks import require_server
from celadon.apiserver.handlers.request_context import Call
from celadon.apiserver.handlers.resource_endpoints import is_terminating
from celadon.apiserver.loop_offloading import Pace
from celadon.apiserver.operation.server_metrics import MutationTimer, PolicyTimer
from celadon.apiserver.webhook_dispatch import StoredWebhooks, Webhooks
from celadon.kube import GroupVersionKind, GroupVersionResource, JsonObject, StatusError, status
from celadon.kube.crd import CustomKind
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.fieldmanager import MutatedKinds, renews
from celadon.kube.registry import Draft, patch, read_mutated
from celadon.kube.releases import is_since
from celadon.records import dataclass

_NO_CONTEXT: Final = DefaultingContext()
_GOING: Final = "create not allowed while custom resource definition is terminating"


class Rules(NamedTuple):
    """Holds what requests for a resource are judged by. Policies are None where none could see
    them; `are_empty` says that nobody has written any rules that could."""

    mutating: StoredPolicies | None = None
    validating: StoredPolicies | None = None
    mutating_webhooks: StoredWebhooks | None = None
    validating_webhooks: StoredWebhooks | None = None
    are_empty: bool = False


class _LatestRules:
    """One object for as long as all parts of the rules are the same objects; and what was found in
    the latest `state`, by resource."""

    __slots__ = ("_rules", "_state", "found")

    def __init__(self) -> None:
        self._rules = Rules()
        self._state: object = None
        self.found: dict[GroupVersionResource, Rules] = {}

    def of(self, rules: Rules) -> Rules:
        if any(map(is_not, self._rules, rules)):
            self._rules = rules
        return self._rules

    def enter(self, state: object) -> None:
        """Forget what was found in another state."""
        if state != self._state:
            self._state, self.found = state, {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAdmitters:
    """Whom a server asks. A view of policies is None where their plugin is switched off. `state` is
    another one whenever any rules have been written, or read from files."""

    plugins: PluginChain
    mutating: PolicyView[MutatingEngine] | None
    validating: PolicyView[Engine] | None
    webhooks: Webhooks
    served: ServedResources
    world: World
    state: Callable[[], object]
    mutation_timer: MutationTimer
    timer: PolicyTimer
    pace: Pace = field(default_factory=Pace)

    latest: _LatestRules = field(default_factory=lambda: _LatestRules())
    latest_webhooks: _LatestRules = field(default_factory=lambda: _LatestRules())

    def rules(self, resource: GroupVersionResource) -> Rules:
        """Return the rules for a resource: another object when any webhook has changed, or any
        policy that could see requests for the resource. Nothing is compiled for it."""
        self.latest.enter(self.state())  # both halves of a write ask; four views take 64 calls
        rules = self.latest.found.get(resource)
        if rules is None:
            rules = self.latest.found[resource] = self._rules(resource)
        return rules

    def _rules(self, resource: GroupVersionResource) -> Rules:
        parts = (
            None if self.mutating is None else self.mutating.rules_for(resource),
            None if self.validating is None else self.validating.rules_for(resource),
            self.webhooks.rules(mutating=True),
            self.webhooks.rules(mutating=False),
        )
        rules = Rules(*parts, are_empty=all(part is None or part.is_empty for part in parts))
        # policies themselves: who writes a thousand changes no rules for the next
        is_exempt = rules.mutating is None and rules.validating is None
        return (self.latest_webhooks if is_exempt else self.latest).of(rules)

    def about(self, call: Call) -> RequestAdmitters:
        """Return the admitters for one request."""
        return RequestAdmitters(self, call)


class RequestAdmitters(Admitters, NoteTaker):
    """Asks whom a server asks about one request, and keeps what they say beside yes and no.

    `rules` are those that were there when it began, `engine` is that of the policies that are asked
    next, `asked` the notes of the webhooks that are.
    """

    __slots__ = ("_call", "asked", "engine", "of", "rules")

    def __init__(self, admitters: ServerAdmitters, call: Call) -> None:
        self._call = call
        self.of = admitters
        self.rules = Rules()
        self.engine: Engine | MutatingEngine | None = None
        self.asked: WebhookNotes | None = None

    def mutate(self, draft: Draft | None, request: Request) -> StatusError | None:
        """Return the first half of the plugins, and before them whether anything of the kind may
        come."""
        return self._kept_out(request) or self.of.plugins.mutate(draft, request, self.of.world)

    def _kept_out(self, request: Request) -> StatusError | None:
        """Return the refusal of a create whose definition is on its way out, by an apply too."""
        resource = self._call.endpoint.resource
        if request.operation is not Operation.CREATE or not resource.custom:
            return None
        definition = self.of.served.current().definition_of(resource)
        if not is_terminating(definition) or not is_since("1.34"):
            return None
        return status.forbidden(resource.gvr.group_resource, request.name, _GOING)

    def mutating_policies(self, request: Request, draft: Draft | None) -> _TimedRounds | None:
        """Return None where no policy could have a say."""
        admitters, rules = self.of, self.rules.mutating
        if admitters.mutating is None or rules is None or rules.is_empty:
            return None
        engine = self.engine = admitters.mutating.engine(rules)
        if not engine.concerns(request, admitters.world):
            return None
        context = _NO_CONTEXT if draft is None else draft.run.context
        kinds = MutatedKinds(context, admitters.served.current().custom.get)
        timer = admitters.mutation_timer
        return _TimedRounds(engine.rounds(admitters.world, kinds, timer), timer)

    def mutating_webhooks(self, request: Request, draft: Draft | None) -> MutatingPhase | None:
        """Return the phase of mutating webhooks; None where no webhook could have a say."""
        webhooks = self.of.webhooks
        hooks = webhooks.mutating_hooks(request, self.rules.mutating_webhooks)
        if hooks is None:
            return None
        if draft is None:
            phase = webhooks.mutation(hooks, _as_it_is, coarse_times=False)
        else:
            fine_times = _has_fine_times(draft, request.old_object)
            phase = webhooks.mutation(hooks, self._readmit(draft), coarse_times=fine_times)
        self.asked = phase.notes
        return phase

    def _readmit(self, draft: Draft) -> Readmit:
        custom: Mapping[GroupVersionKind, CustomKind] = self.of.served.current().custom
        is_scale_of_custom = self._call.target.is_scale_of_custom

        def readmit(document: object, kind: GroupVersionKind) -> tuple[JsonObject, JsonObject]:
            context = draft.run.context
            if is_scale_of_custom:
                decoded, mutated = patch.read_mutated_scale(document, context)
            else:
                decoded, mutated = read_mutated(document, kind, custom.get(kind), context)
            return decoded, mutated.form()

        return readmit

    def validate(self, request: Request) -> Opinion:
        """Validate the second half of the plugins."""
        return self.of.plugins.validate(request, self.of.world)

    def validating_policies(self, request: Request) -> Callable[[Request], Verdict] | None:
        """Return None for resources that no policy sees."""
        view, rules = self.of.validating, self.rules.validating
        if view is None or rules is None:
            return None
        engine = self.engine = view.engine(rules)
        timer, world = self.of.timer, self.of.world

        def review(request: Request) -> Verdict:
            began = timer.begin()
            verdict = engine.review(request, world, timer)
            timer.ended(began, request.operation.value, verdict)
            return verdict

        return review

    def validating_webhooks(self, request: Request) -> Callable[[Request], ValidatingPhase] | None:
        """Return what begins the phase of validating webhooks; None where no webhook could have a
        say."""
        webhooks = self.of.webhooks
        hooks = webhooks.validating_hooks(request, self.rules.validating_webhooks)
        if hooks is None:
            return None

        def begin_validation(request: Request) -> ValidatingPhase:
            phase = webhooks.validation(hooks, request)
            self.asked = phase.notes
            return phase

        return begin_validation

    def take_opinion(self, opinion: Opinion) -> None:
        """Keep the warnings and annotations of the policies, also for a request that is refused."""
        self._call.notes.warnings += opinion.warnings
        self._call.notes.annotate(opinion.audit_annotations)

    def take_verdict(self, verdict: Verdict) -> None:
        """Keep the warnings and annotations of a verdict, also of one that refuses."""
        self._call.notes.warnings += verdict.warnings
        self._call.notes.annotate(verdict.audit_annotations)

    def take_webhooks(self, notes: WebhookNotes) -> None:
        """Note what webhooks have said beside yes and no: warnings and annotations."""
        self._call.notes.warnings += notes.warnings
        self._call.notes.annotate(notes.annotations)
        self._call.notes.request_audit.update(notes.request_annotations)

    # Where nobody has written any rules, as in most clusters, to make a chain's steps and to drive
    # them takes 2 % of the instructions of a create.
    async def mutated(self, chain: Chain) -> None:
        """Take a chain through its first half. Raises StatusError."""
        self.rules = self.of.rules(chain.request.resource)
        if self.rules.are_empty:
            await self._call.work.step(chain.mutate_without_rules)
            return
        with closing(chain.mutation()) as steps:
            await self._drive(chain, steps)

    async def validated(self, chain: Chain) -> None:
        """Take a chain through its second half. Raises StatusError."""
        self.rules = self.of.rules(chain.request.resource)
        if self.rules.are_empty:
            await self._call.work.step(chain.validate_without_rules)
            return
        with closing(chain.validation()) as steps:
            await self._drive(chain, steps)

    async def _drive(self, chain: Chain, steps: Steps) -> None:
        call, pace, request = self._call, self.of.pace, chain.request
        subject = request.resource, request.subresource, request.operation
        # The first step asks the views, which decode and compile what has changed.
        kind: tuple[object, ...] = ("first", *subject, chain.draft is None)
        step = await pace.step(call.work, kind, self.rules, next, steps, None)
        while step is not None:
            if step is Stage.MUTATING_POLICIES or step is Stage.VALIDATING_POLICIES:
                kind = (step, *subject, chain.rounds)
                waits = functools.partial(self._needs_conversion, chain.request)
                step = await pace.step(call.work, kind, self.engine, next, steps, None, waits=waits)
            elif step is Stage.MUTATING_WEBHOOKS or step is Stage.VALIDATING_WEBHOOKS:
                step = await self._call_webhooks(chain, step, steps)
            else:
                step = await call.work.step(next, steps, None)

    def _needs_conversion(self, request: Request) -> bool:
        """Return whether policies that may look at a request have params which a webhook
        converts."""
        served, engine = self.of.served.current(), self.engine
        if not served.conversions or engine is None:
            return False
        sources = engine.param_sources(request, self.of.world)
        resources = (served.catalog.by_gvr(source.resource) for source in sources)
        return any(resource is not None and resource.by_webhook for resource in resources)

    async def _call_webhooks(self, chain: Chain, stage: Stage, steps: Steps) -> Step | None:
        """Make a round of calls, up to the step behind it."""
        require_server("webhooks")
        webhooks, pace, work = self.of.webhooks, self.of.pace, self._call.work
        mutating = stage is Stage.MUTATING_WEBHOOKS
        rules = self.rules.mutating_webhooks if mutating else self.rules.validating_webhooks
        request = chain.request
        kind = stage, request.resource, request.subresource, request.operation, chain.rounds

        async def next_step() -> Step | None:
            """Return the next step. What selects webhooks, and what makes something of an answer,
            may take long."""
            return await pace.step(work, kind, rules, next, steps, None)

        step = None if mutating else await next_step()  # which makes the phase, or refuses to
        assert self.asked is not None, "there is a phase"
        operation = request.operation.value
        async with webhooks.round(self.asked, operation, work, mutating=mutating) as calling:
            if mutating:
                step = await next_step()
            while isinstance(step, WebhookCalls):
                await calling.answer(step, self._call.remaining)
                step = await next_step()
        return step


class _TimedRounds:
    """Rounds of mutating policies whose time is taken."""

    __slots__ = ("_rounds", "_timer")

    def __init__(self, rounds: PolicyRounds, timer: MutationTimer) -> None:
        self._rounds = rounds
        self._timer = timer

    @property
    def wants_another(self) -> bool:
        return self._rounds.wants_another

    def run(self, request: Request, number: int) -> JsonObject | None:
        began, rejected = self._timer.begin(), True
        try:
            run = self._rounds.run(request, number)
            rejected = False
        finally:
            self._timer.ended(began, request.operation.value, rejected=rejected)
        return run


def _as_it_is(document: JsonObject, kind: GroupVersionKind) -> tuple[JsonObject, JsonObject]:
    """Options of connections have no defaults."""
    return document, document


def _has_fine_times(draft: Draft, old: JsonObject | None) -> bool:
    """Return whether the request has made or renewed an entry of `managedFields`: its time is that
    of the server's clock until the object is written."""
    entries = (draft.meta or {}).get("managedFields")
    if draft.is_custom or not entries:
        return False
    return old is None or renews(draft.form(), old)
