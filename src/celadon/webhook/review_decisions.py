"""Decides reviews: where policies come from, the world that they look at, and the answer that
follows from a verdict."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Final, Protocol

from celadon import admission
from celadon.admission.chain import Admitters, Chain
from celadon.admission.policies.mutating import MutatingEngine, MutationNotes, PolicyRounds
from celadon.apiserver.operation import LIFE, say, warn
from celadon.kube import GroupVersionKind, JsonObject, StatusError
from celadon.kube.crd import CustomKind
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.fieldmanager import MutatedKinds
from celadon.kube.go import json_text
from celadon.kube.registry import Draft, patch_between
from celadon.kube.releases import answering_as, current_release
from celadon.records import dataclass, field

if TYPE_CHECKING:
    from celadon.apiserver.conversion_webhooks import CalledWebhooks

# --- Original requests -------------------------------------------------------
#
# A review as the API server's own policies would see the request.
#
# For a webhook, the API server converts objects to the version that a rule of the webhook
# names. Its own policies match the request as the client sent it, and each gets the objects in
# the version that a rule of its own names. So the conversion is undone first; the engine makes
# those that policies ask for.


def original_request(
    request: admission.Request,
    world: admission.World,
    concerns: Callable[[admission.Request, admission.World], object],
) -> admission.Request:
    """Return the request as the client sent it, the same if nothing was converted. Raises
    Unanswerable where nobody knows how to convert it back; those whom that `concerns` may look at
    it in no other version."""
    kind = request.original_kind
    resource = request.original_resource
    if kind == request.kind and resource == request.resource:
        return request
    obj, old = request.object, request.old_object
    trial = dataclasses.replace(
        request, kind=kind, resource=resource, subresource=request.original_subresource, size=None
    )
    try:
        return dataclasses.replace(
            trial,
            object=None if obj is None else world.convert(obj, kind),
            old_object=None if old is None else world.convert(old, kind),
        )
    except admission.ConversionError as error:
        if concerns(trial, world):
            raise Unanswerable(str(error)) from None
        return trial


# --- Rulebook ----------------------------------------------------------------
#
# All that decides about a review, as one value: it is replaced as a whole, never changed.
#
# `PolicySource` is where rulebooks come from: files, or a cluster.


@dataclass(frozen=True, slots=True)
class MutationRules:
    """Policies that change objects; `custom` are the kinds that definitions define, and `release`
    is that of Kubernetes which answers: the current one where the rules were made."""

    engine: MutatingEngine
    custom: Callable[[GroupVersionKind], CustomKind | None]
    release: str = field(default_factory=current_release)


@dataclass(frozen=True, slots=True)
class Rulebook:
    """Holds what is enforced now. `world` gives what one review may look up. `bindings` is how many
    there are. Without `mutation`, nothing is changed. `release` is as in `MutationRules`. `remarks`
    name what is enforced here though a server of that release would not take it."""

    engine: admission.Engine
    world: Callable[[], admission.World]
    bindings: int = 0
    mutation: MutationRules | None = None
    release: str = field(default_factory=current_release)
    remarks: tuple[str, ...] = ()

    @property
    def policies(self) -> int:
        """Return how many there are, of both types."""
        changing = 0 if self.mutation is None else len(self.mutation.engine.policies)
        return len(self.engine.policies) + changing


@dataclass(frozen=True, slots=True)
class SourceState:
    """Tells an operator how a source is.

    `missing` says what a rulebook still waits for, `problems` why the newest version of something
    is not in use, `remarks` what some reviews fail for although others do not; `cache_ages` are
    seconds since each cache was known to be current.
    """

    missing: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    loads: int = 0
    failed_loads: int = 0
    loaded_at: float = 0.0
    """In Unix time; 0 for never."""
    cache_ages: Mapping[str, float] = field(default_factory=dict)


class PolicySource(Protocol):
    """A source has the policies of a webhook. `run` keeps them current, until it is cancelled."""

    def rulebook(self) -> Rulebook | None:
        """Return what is in force now; None before anything was loaded."""
        ...

    def state(self) -> SourceState:
        """Return the state of the source."""
        ...

    def stamp(self) -> object:
        """Return something that is not equal to what it was before if a rulebook may say something
        else, or look up something else."""
        ...

    async def run(self) -> None:
        """Follow the changes of the source until the task is cancelled."""
        ...


def described(problems: Sequence[str], most: int = 5) -> str:
    """Return problems as one line."""
    more = f" (and {len(problems) - most} more)" if len(problems) > most else ""
    return "; ".join(problems[:most]) + more


# --- Unanswered --------------------------------------------------------------
#
# What a world does not know at once.
#
# The engine asks its questions in the middle of a decision, and cannot wait. A world that has
# to ask somebody else (an authorizer behind a network, an object that is in no cache yet)
# raises `Unanswered`; the decision is given up, the answer is found, and the decision is made
# anew by a world that has it now. So a world lives as long as one review.

MOST_QUESTIONS: Final = 100
"""Of one review: what asks for more is not decided."""


class Unanswerable(Exception):
    """There can be no answer now. Nobody is to blame but the way to whoever knows: the review is
    not decided, and what happens is up to the failure policy of the webhook's configuration."""


class TooManyQuestions(Unanswerable):
    """A review whose policies never stop asking."""

    def __init__(self) -> None:
        super().__init__(f"its policies ask more than {MOST_QUESTIONS} questions of the cluster")


class Unanswered(Exception):
    """`find` makes the world know; it may raise what it likes, which ends the review."""

    def __init__(self, find: Callable[[], Awaitable[None]]) -> None:
        super().__init__("the answer is still to be found")
        self.find = find


async def settled(
    verdict: Callable[[], admission.Verdict], question: Unanswered
) -> admission.Verdict:
    """Return the verdict when all questions are answered, this one first. Raises what finding an
    answer raises, TooManyQuestions."""
    for _ in range(MOST_QUESTIONS):
        await question.find()
        try:
            return verdict()
        except Unanswered as another:
            question = another
    raise TooManyQuestions


# --- Conversions -------------------------------------------------------------


class ReviewConverter:
    """A `Converter` of one review: what conversion webhooks have given is known for the rest of it,
    and so is why they have not."""

    def __init__(self, webhooks: CalledWebhooks) -> None:
        self._webhooks = webhooks
        self._conversions: dict[
            tuple[str, str, bool], Sequence[JsonObject] | admission.ConversionError
        ] = {}

    def converted(
        self, objects: Sequence[JsonObject], kind: GroupVersionKind
    ) -> Sequence[JsonObject]:
        """Return objects in a version, converted as they are given. Raises Unanswered,
        ConversionError."""
        return self._known(objects, kind, stored=False)

    def shown(self, objects: Sequence[JsonObject], kind: GroupVersionKind) -> Sequence[JsonObject]:
        """Return objects in a version as a server shows them. Raises Unanswered,
        ConversionError."""
        return self._known(objects, kind, stored=True)

    def _known(
        self, objects: Sequence[JsonObject], kind: GroupVersionKind, *, stored: bool
    ) -> Sequence[JsonObject]:
        """Return converted objects, known by what is in them: what is decided anew makes the same
        objects anew. Raises Unanswered for what nobody was asked yet."""
        key = json_text(list(objects)), kind.api_version, stored
        converted = self._conversions.get(key)
        if converted is None:
            raise Unanswered(lambda: self._find(key, objects, kind))
        if isinstance(converted, admission.ConversionError):
            raise converted
        return converted

    async def _find(
        self, key: tuple[str, str, bool], objects: Sequence[JsonObject], kind: GroupVersionKind
    ) -> None:
        try:
            self._conversions[key] = await self._webhooks.ask(objects, kind, stored=key[2])
        except admission.ConversionError as error:
            self._conversions[key] = error


# --- Decider -----------------------------------------------------------------
#
# One review on its way to a verdict, in one go or with questions in between.


@dataclass(frozen=True, slots=True)
class Finding:
    """Says what a policy had against a request; `failed` if something could not be evaluated,
    whatever the failure policy made of that."""

    policy: str
    decisions: Sequence[admission.Decision]
    failed: bool


class Decider:
    """Decides reviews. `findings` are those of the last verdict, of policies that were not content;
    `times` are the seconds that each policy took, if they are to be known (`timed`)."""

    __slots__ = (
        *("_engine", "_last", "_release", "_request", "_timed", "_world", "findings", "times"),
    )

    def __init__(self, request: admission.Request, rules: Rulebook, *, timed: bool = False) -> None:
        self._engine = rules.engine
        self._release = rules.release
        self._world = rules.world()
        self._request = request
        self._timed = timed
        self._last = 0.0
        self.findings: list[Finding] = []
        self.times: list[tuple[str, float]] = []

    @property
    def clock(self) -> Callable[[], float] | None:
        """Policies that were content matter for their times only."""
        return perf_counter if self._timed else None

    def verdict(self) -> admission.Verdict:
        """Return the verdict. Raises Unanswered."""
        self.findings.clear()
        if self._timed:
            self.times.clear()
            self._last = perf_counter()
        with answering_as(self._release):
            request = original_request(self._request, self._world, self._engine.may_concern)
            return self._engine.review(request, self._world, self)

    def content(self, ends: Mapping[str, float]) -> None:
        """Note the policies that had nothing against the request; the engine calls it."""
        for policy, end in ends.items():
            self.times.append((policy, end - self._last))
            self._last = end

    def judged(self, policy: str, decisions: Sequence[admission.Decision], *, failed: bool) -> None:
        """Note a policy that matches; the engine calls it for each."""
        if decisions or failed:
            self._find(policy, decisions, failed=failed)
        if self._timed:
            now = perf_counter()
            self.times.append((policy, now - self._last))
            self._last = now

    def _find(self, policy: str, decisions: Sequence[admission.Decision], *, failed: bool) -> None:
        errors = any(decision.cause is not admission.Cause.VALIDATION for decision in decisions)
        messages = [
            decision
            for decision in decisions
            if decision.action is admission.Action.DENY
            or decision.cause is not admission.Cause.VALIDATION
        ]
        if messages or failed:
            self.findings.append(Finding(policy, messages, failed or errors))

    async def settled(self, question: Unanswered) -> admission.Verdict:
        """Return the verdict when all questions are answered, this one first. Raises what finding
        an answer raises, TooManyQuestions."""
        return await settled(self.verdict, question)


# --- Mutator -----------------------------------------------------------------
#
# One review on its way through the policies that change objects.
#
# The patch leads from the object as the API server has sent it to what policies have made of
# it. They see it in the version of the client's request, as in the server; what they have made
# is converted to the version of the review again.

ALLOWED: Final = admission.Verdict()


class Mutator(Admitters):
    """Drives the half of the chain that changes objects; of the `Admitters` a webhook has only the
    policies. `patch` is what comes of it, when there is a verdict that allows; `notes` are what
    policies did, or failed to do. `findings` and `times` are those of validating policies, of which
    there are none here."""

    __slots__ = ("_request", "_rules", "_world", "findings", "notes", "patch", "times")

    def __init__(
        self, request: admission.Request, rules: MutationRules, world: admission.World
    ) -> None:
        self._request = request
        self._rules = rules
        self._world = world
        self.patch: Sequence[JsonObject] = ()
        self.notes = MutationNotes()
        self.findings: list[Finding] = []
        self.times: list[tuple[str, float]] = []

    def verdict(self) -> admission.Verdict:
        """Return the verdict. Raises Unanswered."""
        with answering_as(self._rules.release):
            return self._verdict()

    def _verdict(self) -> admission.Verdict:
        world = self._world
        request = original_request(self._request, world, self._rules.engine.concerns)
        chain = Chain(request, None, self)
        try:
            for _ in chain.mutation():
                pass  # nothing here waits for anybody
        except StatusError as refused:
            return admission.Verdict(
                allowed=False, code=refused.code, status=refused.status.to_json()
            )
        result = chain.request.object
        if result is not None and result is not request.object:
            if request is not self._request:
                result = world.convert(result, self._request.kind)
            self.patch = patch_between(self._request.object, result)
        return ALLOWED

    def mutating_policies(
        self, request: admission.Request, draft: Draft | None
    ) -> PolicyRounds | None:
        """Return the mutating policies of the rules."""
        engine, world = self._rules.engine, self._world
        if not engine.concerns(request, world):
            return None
        context = DefaultingContext(user=request.user, cluster=world)
        rounds = engine.rounds(world, MutatedKinds(context, self._rules.custom))
        self.notes = rounds.notes
        return rounds

    async def settled(self, question: Unanswered) -> admission.Verdict:
        """Return the verdict once a question is answered, as `Decider.settled` does."""
        return await settled(self.verdict, question)


# --- Audit only --------------------------------------------------------------
#
# `--audit-only`: nothing is denied, everybody is told what would have been.

WOULD_DENY: Final = "would_deny"
"""The annotation with the message of the denial."""


def without_denial(verdict: admission.Verdict) -> admission.Verdict:
    """Return an allowing verdict whose first warning is the sentence of the denial."""
    if verdict.allowed:
        return verdict
    decisions = () if verdict.denial is None else (verdict.denial,)
    instead = admission.RecordedWarning(f"would be denied: {verdict.message}", decisions)
    return dataclasses.replace(
        verdict,
        allowed=True,
        code=200,
        status=None,
        recorded=admission.recorded_warnings((instead, *verdict.recorded)),
        audit_annotations={WOULD_DENY: verdict.message, **verdict.audit_annotations},
    )


# --- Sources of policies -----------------------------------------------------
#
# Where policies come from, and how a set of them is replaced by the next one as a whole.
#
# Files are watched, and read again when they change. Policies from a cluster are in
# `celadon.webhook.cluster`.

__all__ = ["LoadError", "MutationRules", "PolicySource", "Rulebook", "SourceState", "WatchedFiles"]


# --- Watched files -----------------------------------------------------------
#
# Policies from files, loaded again as a whole when a file changes.
#
# What can be loaded replaces what was in force between two reviews; what cannot leaves it
# there, and says so in the log, in `/metrics` and in `/readyz?verbose`. Loading goes on in a
# thread of its own, since compiling takes a while.

LOOK_SECONDS: Final = 1.0
"""Between two looks at the files."""


class LoadError(Exception):
    """Tells that policies cannot be used; `problems` are the reasons, each with its place."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(described(problems))
        self.problems = problems


Loader = Callable[[], Rulebook]
"""Reads everything. Raises LoadError."""


class WatchedFiles:
    """A `PolicySource`. `signature` is different when a file is; `clock` is Unix time."""

    def __init__(
        self,
        load: Loader,
        signature: Callable[[], object],
        clock: Callable[[], float] = time.time,
        pause: float = LOOK_SECONDS,
    ) -> None:
        self._load = load
        self._signature = signature
        self._clock = clock
        self._pause = pause
        self._last_signature: object = None
        self._rules: Rulebook | None = None
        self._problems: tuple[str, ...] = ()
        self._loads = 0
        self._failed = 0
        self._loaded_at = 0.0

    def rulebook(self) -> Rulebook | None:
        """Return the last version that could be loaded."""
        return self._rules

    def state(self) -> SourceState:
        """Return the state of the source, with what is wrong with the newest version if it is not
        the one in force."""
        return SourceState(
            missing=() if self._rules else ("its files",),
            problems=self._problems,
            remarks=self._rules.remarks if self._rules else (),
            loads=self._loads,
            failed_loads=self._failed,
            loaded_at=self._loaded_at,
        )

    def stamp(self) -> object:
        """Return how often something was loaded: nothing else is looked up."""
        return self._loads

    def start(self) -> None:
        """Load for the first time. Raises LoadError."""
        self._last_signature = self._signature()
        self._take(self._load())

    async def run(self) -> None:
        """Look at the files again and again."""
        while True:
            await asyncio.sleep(self._pause)
            await self.look()

    async def look(self) -> bool:
        """Return whether a new version is in force now."""
        signature = await asyncio.to_thread(self._signature)
        if signature == self._last_signature:
            return False
        self._last_signature = signature
        try:
            rules = await asyncio.to_thread(self._load)
        except LoadError as error:
            self._failed += 1
            self._problems = error.problems
            warn("the policies cannot be reloaded, the old ones stay", {"err": str(error)})
            return False
        self._take(rules)
        say(
            LIFE,
            "the policies were reloaded",
            {"policies": rules.policies, "bindings": rules.bindings},
        )
        return True

    def _take(self, rules: Rulebook) -> None:
        self._rules = rules
        for remark in rules.remarks:
            warn("enforced here, but not served by the cluster's release", {"err": remark})
        self._problems = ()
        self._loads += 1
        self._loaded_at = self._clock()
