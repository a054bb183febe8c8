"""`celadon simulate-bootstrap`: the course of a cluster, request by request, and what it shows:
chains of refusals, how they are repaired, and the exit code.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from typing import Final, NamedTuple

from celadon.admission import ObjectWorld, Operation
from celadon.admission.static_manifests import STATIC_SUFFIX, is_static
from celadon.cli.bootstrap.cluster_startup import (
    Answer,
    Course,
    ExistingObject,
    Level,
    RequestBench,
    Sending,
    State,
    actors,
    awaited,
    course_of,
    document_of,
)
from celadon.cli.check.check_report import Notice, NoticeReason, ObjectResult, Place, PolicyError
from celadon.cli.check.manifests import Manifests, Placed, PolicySets, WebhookDocuments, policy_sets
from celadon.cli.exit_codes import Exit
from celadon.cli.reading.documents import Document, Problem, exit_of
from celadon.kube import JsonObject, metadata
from celadon.kube.registry import apply_merge_patch
from celadon.records import dataclass

# --- The run -----------------------------------------------------------------
#
# The course of a cluster, request by request, until nothing changes any more.
#
# What is refused is sent again in the next round, as components do; params and webhooks that have
# come to be in the meantime may let it through. What is admitted counts once all it needs has
# come about. In the end everything is judged once more in the world as it has become.


@dataclass(frozen=True, slots=True)
class Culprit:
    """Refuses a request, or breaks its object: a policy with a binding, a configuration of
    webhooks, or nothing but the object itself (no `kind`)."""

    kind: str = ""
    name: str = ""
    binding: str = ""

    @property
    def is_static(self) -> bool:
        """Return whether the server has it from its own files, so that it was there before all
        else."""
        return self.name.endswith(STATIC_SUFFIX)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Somebody has this against a request. `gate` is the state that would let it through, as far as
    is known; `breaks` says that the request is admitted, with an object that does not work."""

    culprit: Culprit
    message: str
    place: Place
    gate: str = ""
    breaks: bool = False


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request as it was sent last, and what came of it."""

    sending: Sending
    title: str
    result: ObjectResult | None
    refusals: tuple[Refusal, ...]


@dataclass(slots=True)
class RunResult:
    """A course has come to this: every request as it was sent last, and the names of all entries
    that have come about."""

    course: Course
    sent: dict[str, SentRequest] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)


class BootstrapRun:
    """Sends what a course has to send."""

    def __init__(self, course: Course, bench: RequestBench) -> None:
        self._course = course
        self._bench = bench
        self._world: ObjectWorld = bench.world
        self._answering: set[str] = set()
        self._epoch = 0
        self._judged_in: dict[str, int] = {}
        self._objects: dict[str, JsonObject] = {
            entry.name: entry.document.value
            for entry in course.entries
            if isinstance(entry, ExistingObject)
        }
        self._result = RunResult(course, done=set(self._objects))

    def run(self) -> RunResult:
        """Run as many rounds as change anything, and return what is so in the end."""
        result = self._result
        while self._round():
            pass
        for sending in self._course.sendings:
            if sending.name in result.done and sending.name not in self._course.arrivals:
                self._send(sending)
        result.done = _come_about(result)
        result.problems = list(dict.fromkeys([*self._bench.problems, *result.problems]))
        return result

    def _round(self) -> bool:
        done, before = self._result.done, len(self._result.done)
        for sending in self._course.sendings:
            if sending.name in done:
                continue
            self._send(sending)
            if self._is_admitted(sending) and done.issuperset(sending.needs):
                done.add(sending.name)
                self._arrive(sending.name)
        for state in self._course.states:
            if state.name not in done and done.issuperset(state.needs):
                done.add(state.name)
                if state.name in self._course.hooks:
                    self._answering |= self._course.hooks[state.name]
                    self._epoch += 1
        return len(done) > before

    def _is_admitted(self, sending: Sending) -> bool:
        return not self._result.sent[sending.name].refusals

    def _arrive(self, name: str) -> None:
        arrived = self._course.arrivals.get(name)
        if arrived is not None:
            self._world = self._world.with_objects([arrived])
            self._epoch += 1

    def _send(self, sending: Sending) -> None:
        """Send a request, unless nothing has changed since it was sent last."""
        if self._judged_in.get(sending.name) == self._epoch:
            return
        self._judged_in[sending.name] = self._epoch
        document, old = self._documents(sending)
        answer = self._bench.judged(sending, document, old, self._world, self._answering)
        if answer.written_object is not None:
            self._objects[sending.name] = answer.written_object
        self._result.problems += answer.problems
        self._result.sent[sending.name] = SentRequest(
            sending,
            _title(sending, answer, document),
            answer.result,
            tuple(self._refusals(sending, answer)),
        )

    def _documents(self, sending: Sending) -> tuple[Document, Document | None]:
        """Return what is sent, and what is there."""
        if sending.document is not None:
            return sending.document, None
        old = document_of(self._objects[sending.base])
        if sending.operation is Operation.DELETE:
            return old, None
        return document_of(apply_merge_patch(old.value, dict(sending.merge or {}))), old

    def _refusals(self, sending: Sending, answer: Answer) -> Iterator[Refusal]:
        result = answer.result
        if result is None:
            yield Refusal(
                Culprit(), "; ".join(problem.message for problem in answer.problems), Place()
            )
        elif result.is_refused:
            yield from refusals_in(result, self._bench.sets, self._course.gates)
        elif result.mutated is not None:
            yield from _broken(sending, result)


def refusals_in(
    result: ObjectResult, sets: PolicySets, gates: Mapping[tuple[str, str], str]
) -> Iterator[Refusal]:
    """Yield who refuses a request that is refused, and why. One that only an object is to blame
    for, which policies have changed, is their doing."""
    false = False
    for violation in result.violations:
        if violation.denies:
            false = True
            kind = _kind_of(sets, violation.policy, result)
            gate = gates.get((kind, violation.policy), "") if violation.is_error else ""
            sentence = result.sentence if violation is result.denial else violation.message
            yield Refusal(
                Culprit(kind, violation.policy, violation.binding), sentence, violation.rule, gate
            )
    for call in result.denying:
        false = True
        kind = f"{'Mutating' if call.mutating else 'Validating'}WebhookConfiguration"
        gate = gates.get((kind, call.configuration), "")
        yield Refusal(Culprit(kind, call.configuration), result.sentence, call.place, gate)
    if not false and result.mutated is not None:
        for step in result.mutated.steps:
            culprit = Culprit("MutatingAdmissionPolicy", step.policy, step.binding)
            yield Refusal(culprit, result.sentence, step.rule)
    elif not false:
        yield Refusal(Culprit(), result.sentence, Place())


def _kind_of(sets: PolicySets, policy: str, result: ObjectResult) -> str:
    """Return the kind of a policy. Validating policies are not asked about what a mutating one
    refuses."""
    mutating = policy in sets.mutating.policies
    if mutating and policy in sets.validating.policies:
        mutating = not result.policies
    return "MutatingAdmissionPolicy" if mutating else "ValidatingAdmissionPolicy"


def _broken(sending: Sending, result: ObjectResult) -> Iterator[Refusal]:
    assert result.mutated is not None, "only mutated objects can be broken by it"
    for step in result.mutated.steps:
        change = harm(sending, step.before, step.after)
        if change is not None:
            message = (
                f"`{change.field}` is changed from {_text(change.before)} to {_text(change.after)}"
            )
            culprit = Culprit("MutatingAdmissionPolicy", step.policy, step.binding)
            yield Refusal(culprit, message, step.rule, breaks=True)


def _text(value: object) -> str:
    return "nothing" if value is None else json.dumps(value)


def _title(sending: Sending, answer: Answer, document: Document) -> str:
    """`CREATE Pod kube-system/kube-proxy-xxxxx`, `CREATE pods/binding kube-system/...`."""
    if answer.result is None:
        return f"{sending.operation.value} {document.value['kind']}"
    kind, _, name = answer.result.title.partition(" ")
    resource = answer.resource if sending.subresource else kind
    return f"{sending.operation.value} {resource} {name}"


def _come_about(result: RunResult) -> set[str]:
    """All that has come about, given what was refused last."""
    refused = {name for name, sent in result.sent.items() if sent.refusals}
    waiting: list[Sending | State] = [*result.course.sendings, *result.course.states]
    needs = {sending.name: sending.needs for sending in waiting}
    done = {entry.name for entry in result.course.entries if isinstance(entry, ExistingObject)}
    while True:
        more = {
            name
            for name, need in needs.items()
            if name not in done and name not in refused and done.issuperset(need)
        }
        if not more:
            return done
        done |= more


# --- what mutations must leave alone --------------------------------------------------------------
#
# Each request of the tables says which fields of its object must keep what they hold (more may
# be added) and which must stay as they are. Paths are like `spec/containers/*/command`; `*`
# stands for every item of a list.


class Harm(NamedTuple):
    """A field that is not what its component needs: the path with dots, before and after."""

    field: str
    before: object
    after: object


def harm(sending: Sending, before: JsonObject, after: JsonObject) -> Harm | None:
    """Return the first field that was changed and should not have been."""
    for path in sending.unchanged:
        for pair in _pairs(path.split("/"), before, after, ()):
            if pair.before != pair.after:
                return pair
    for path in sending.keeps:
        for pair in _pairs(path.split("/"), before, after, ()):
            if not _holds(pair.after, pair.before):
                return pair
    return None


def _pairs(
    steps: Sequence[str], before: object, after: object, done: tuple[str, ...]
) -> Iterator[Harm]:
    """Yield what stands at a path in two objects; None where nothing does."""
    if not steps:
        yield Harm(".".join(done), before, after)
        return
    first, *rest = steps
    if first == "*":
        for index, item in enumerate(before if isinstance(before, list) else ()):
            other = after[index] if isinstance(after, list) and index < len(after) else None
            yield from _pairs(rest, item, other, (*done, str(index)))
        return
    yield from _pairs(rest, _member(before, first), _member(after, first), (*done, first))


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _holds(whole: object, part: object) -> bool:
    """Return whether all of a part is in a whole: members of maps, items of lists."""
    if part is None:
        return True
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and _holds(whole[key], member) for key, member in part.items()
        )
    if isinstance(part, list):
        return isinstance(whole, list) and all(
            any(_holds(other, item) for other in whole) for item in part
        )
    return bool(whole == part)


# --- Lock chains -------------------------------------------------------------
#
# From what was refused to what it keeps from coming about: one chain per culprit.
#
# The entries of a course are a graph: a refusal or something missing leads to all that needs
# it, and a gate that never opens (params that are not there, a webhook that nobody answers for)
# to all that its culprit refuses meanwhile. A culprit's chain is the shortest way from one of
# its refusals to the last of the worst that follows. Where the way comes back to the gate that
# it began at, each waits for the other: a deadlock in the strict sense (`cycle`).


@dataclass(frozen=True, slots=True)
class Chain:
    """A culprit leads to these states. `request` is the request at its head, refused or broken;
    `states` never come about because of it, in the order of their causes, the worst last; `cycle`
    is whether the request itself is refused for want of one of them. With `once`, all of that
    happens only where something that clusters have from their beginning must be made anew.
    `other_requests` are the culprit's other refusals, `other_states` what else never comes
    about."""

    culprit: Culprit
    level: Level
    request: SentRequest
    refusal: Refusal
    states: tuple[State, ...]
    cycle: bool = False
    once: bool = False
    other_requests: tuple[SentRequest, ...] = ()
    other_states: tuple[State, ...] = ()


def chains(result: RunResult) -> list[Chain]:
    """Return a chain for each culprit, the worst first."""
    graph = _Graph.of(result)
    culprits = [_chain(graph, culprit) for culprit in graph.culprits]
    return sorted(
        (chain for chain in culprits if chain is not None), key=lambda chain: -chain.level
    )


@dataclass(frozen=True, slots=True)
class _Graph:
    """Orders what is written by what it waits for. `follows` are the entries that wait for another;
    `unique` what is only written once."""

    run_result: RunResult
    culprits: Sequence[Culprit]
    states: Mapping[str, State]
    follows: Mapping[str, Sequence[str]]
    unique: Set[str]

    @staticmethod
    def of(result: RunResult) -> _Graph:
        follows: dict[str, list[str]] = {}
        states = {
            state.name: state for state in result.course.states if state.name not in result.done
        }
        waiting: list[Sending | State] = [*result.course.sendings, *states.values()]
        for waiting_sending in waiting:
            if waiting_sending.name not in result.done:
                for need in waiting_sending.needs:
                    follows.setdefault(need, []).append(waiting_sending.name)
        culprits = dict[Culprit, None]()
        for name, sent in result.sent.items():
            for refusal in sent.refusals:
                culprits[refusal.culprit] = None
                if refusal.gate in states:
                    follows.setdefault(refusal.gate, []).append(name)
        unique = {sending.name for sending in result.course.sendings if sending.once}
        return _Graph(result, list(culprits), states, follows, unique)

    def ways(self, start: str, *, once: bool) -> Mapping[str, tuple[str, ...]]:
        """Return the shortest way to everything that follows from an entry; to the entry itself
        where it follows from itself. What is only written `once` is passed by unless that is
        wanted."""
        ways: dict[str, tuple[str, ...]] = {}
        queue: deque[tuple[str, tuple[str, ...]]] = deque([(start, (start,))])
        while queue:
            name, way = queue.popleft()
            for after in self.follows.get(name, ()):
                if after not in ways and (once or after not in self.unique):
                    ways[after] = (*way, after)
                    queue.append((after, ways[after]))
        return ways

    def refused(self, culprit: Culprit) -> Iterator[tuple[SentRequest, Refusal]]:
        for sent in self.run_result.sent.values():
            for refusal in sent.refusals:
                if refusal.culprit == culprit:
                    yield sent, refusal


def _chain(graph: _Graph, culprit: Culprit) -> Chain | None:
    """Return what a culprit leads to; None for one that is only waiting for what others refuse."""
    refused = list(graph.refused(culprit))
    heads = [
        head
        for head in (_head(graph, sent, refusal) for sent, refusal in refused)
        if head is not None
    ]
    if not heads:
        return None
    best = max(heads, key=lambda head: head.rank)
    senders = dict.fromkeys(sent.sending.name for sent, _ in refused)
    senders.pop(best.sent.sending.name)
    reached = {state.name: state for head in heads for state in head.reached}
    return Chain(
        culprit,
        best.level,
        best.sent,
        best.refusal,
        best.states,
        best.cycle,
        best.once,
        tuple(graph.run_result.sent[name] for name in senders),
        tuple(state for state in reached.values() if state not in best.states),
    )


@dataclass(frozen=True, slots=True)
class _Head:
    """One refusal as the head of a chain: `states` lead to the last of the worst of those that it
    keeps from being `reached`."""

    sent: SentRequest
    refusal: Refusal
    level: Level
    states: tuple[State, ...]
    reached: tuple[State, ...]
    cycle: bool
    once: bool

    @property
    def rank(self) -> tuple[Level, bool, int]:
        """Return how much it tells."""
        return self.level, not self.once, len(self.reached)


def _head(graph: _Graph, sent: SentRequest, refusal: Refusal) -> _Head | None:
    """Return the request at the head of a chain, and what never comes about for its refusal; None
    where what would let the request through does not wait for the request itself."""
    static = refusal.culprit.is_static
    once = sent.sending.once and not static
    ways = graph.ways(sent.sending.name, once=once or static)
    before: tuple[str, ...] = ()
    if refusal.gate in graph.states:
        if refusal.gate not in ways:
            return None
        before = ways[refusal.gate]
        ways = {refusal.gate: (), **graph.ways(refusal.gate, once=once or static)}
    reached = tuple(graph.states[name] for name in ways if name in graph.states)
    worst = max(reached, key=lambda state: (state.level, len(ways[state.name])), default=None)
    names = dict.fromkeys((*before, *(ways[worst.name] if worst is not None else ())))
    return _Head(
        sent,
        refusal,
        Level.DEGRADED if worst is None or once else worst.level,
        tuple(graph.states[name] for name in names if name in graph.states),
        reached,
        bool(before),
        once,
    )


# --- Repair paths ------------------------------------------------------------
#
# Whether somebody can still take away what refuses: an administrator with kubectl.
#
# Policies and bindings are exempt from all policies and webhooks but static ones, and
# configurations of webhooks from webhooks; the engine decides that here, too. What cannot be
# removed at first may be once something else has been. What a server has from its own files
# (static policies) nobody removes through the API.

_COMMANDS: Final = {Operation.DELETE: "delete", Operation.UPDATE: "replace"}
"""What kubectl calls the ways to take something away: to have it no more, or to have it mended."""


@dataclass(frozen=True, slots=True)
class RepairStep:
    """A command of the administrator's, and whether it is admitted; else what it is answered."""

    command: str
    admitted: bool
    message: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """The commands that take a culprit away, in their order; `is_open` is whether they do."""

    is_open: bool
    steps: tuple[RepairStep, ...] = ()


def repairs(
    manifests: Manifests, version: str, culprits: Iterable[Culprit]
) -> Mapping[Culprit, Repair]:
    """Return how each of the culprits is taken away, given all the others."""
    result: dict[Culprit, Repair] = {}
    pending = list(dict.fromkeys(culprits))
    refused: dict[Culprit, tuple[RepairStep, ...]] = {}
    documents: list[Document] = []
    while pending:
        remaining = _without(manifests, documents)
        sets = policy_sets(remaining, version)
        bench = RequestBench(remaining, sets, version)
        before = len(documents), len(pending) + len(result)
        for culprit in tuple(pending):
            document = _document(culprit, sets, bench.webhooks)
            if document is None:
                result[culprit] = Repair(is_open=False)
                pending.remove(culprit)
                continue
            steps, deniers = _tried(bench, document)
            pending += [
                denier for denier in deniers if denier not in pending and denier not in result
            ]
            if steps[-1].admitted:
                earlier = refused.get(culprit, ())
                helped = [
                    step for chain_steps in result.values() if earlier for step in chain_steps.steps
                ]
                result[culprit] = Repair(is_open=True, steps=(*earlier, *helped, *steps))
                documents.append(document)
                pending.remove(culprit)
            else:
                refused.setdefault(culprit, steps)
        if before == (len(documents), len(pending) + len(result)):
            break
    for culprit in pending:
        result[culprit] = Repair(is_open=False, steps=refused.get(culprit, ()))
    return result


def _tried(
    bench: RequestBench, document: Document
) -> tuple[tuple[RepairStep, ...], tuple[Culprit, ...]]:
    """Return what comes of taking something away: the commands up to one that is admitted; and who
    is against it."""
    steps: list[RepairStep] = []
    deniers: list[Culprit] = []
    for operation, verb in _COMMANDS.items():
        name = f"{verb} {document.value['kind'].lower()} {metadata.name(document.value)}"
        sending = Sending(name, actors()["administrator"], operation)
        old = document if operation is Operation.UPDATE else None
        answer = bench.judged(sending, document, old, bench.world, frozenset())
        result = answer.result
        if result is not None and not result.is_refused:
            steps.append(RepairStep(f"kubectl {name}", admitted=True))
            return tuple(steps), ()
        sentence = "" if result is None else result.sentence
        steps.append(RepairStep(f"kubectl {name}", admitted=False, message=sentence))
        if result is not None:
            deniers += [refusal.culprit for refusal in refusals_in(result, bench.sets, {})]
    return tuple(steps), tuple(deniers)


def _document(culprit: Culprit, sets: PolicySets, webhooks: WebhookDocuments) -> Document | None:
    """Return what has to be taken away: the binding of a policy, or a configuration. None for what
    is no object, or not there any more."""
    placed: Placed[object] | None = next(_placed(culprit, sets, webhooks), None)
    return None if placed is None else placed.document


def _placed(
    culprit: Culprit, sets: PolicySets, webhooks: WebhookDocuments
) -> Iterator[Placed[object]]:
    if culprit.kind.endswith("WebhookConfiguration"):
        placed = webhooks.of(mutating=culprit.kind.startswith("Mutating")).get(culprit.name)
        if placed is not None and not is_static(placed.value):
            yield Placed(placed.value, placed.document)
        return
    part = sets.mutating if culprit.kind.startswith("Mutating") else sets.validating
    for placed_part in (part.bindings.get(culprit.binding), part.policies.get(culprit.name)):
        if placed_part is not None and not is_static(placed_part.value):
            yield Placed(placed_part.value, placed_part.document)


def _without(manifests: Manifests, removed: Sequence[Document]) -> Manifests:
    hidden = {id(document) for document in removed}

    def left(documents: Sequence[Document]) -> list[Document]:
        return [document for document in documents if id(document) not in hidden]

    return replace(
        manifests,
        bindings=left(manifests.bindings),
        policies=left(manifests.policies),
        mutating_bindings=left(manifests.mutating_bindings),
        mutating_policies=left(manifests.mutating_policies),
        looked_up=left(manifests.looked_up),
        problems=[],
    )


@dataclass(frozen=True, slots=True)
class Lock:
    """A chain, how it is repaired, and how bad it is in view of that."""

    chain: Chain
    repair: Repair
    level: Level


@dataclass(frozen=True, slots=True)
class BootstrapReport:
    """Everything, the worst lock first. `requests` were sent, `refused` of them in vain; locks
    below `fail_on` are no failures."""

    locks: tuple[Lock, ...]
    requests: int
    refused: int
    policies: int
    bindings: int
    webhooks: int
    policy_errors: tuple[PolicyError, ...]
    notices: tuple[Notice, ...]
    problems: tuple[Problem, ...]
    strict: bool = False
    fail_on: Level = Level.DEGRADED

    @property
    def level(self) -> Level:
        """Return the worst of all."""
        return max((lock.level for lock in self.locks), default=Level.SAFE)

    @property
    def exit(self) -> Exit:
        """Return the worst of what happened, as for an audit."""
        if self.problems:
            return exit_of(self.problems)
        if self.policy_errors or (self.strict and self.notices):
            return Exit.POLICY
        return Exit.DENIED if self.level >= self.fail_on else Exit.OK


def simulate(
    manifests: Manifests, version: str, *, strict: bool = False, fail_on: Level = Level.DEGRADED
) -> BootstrapReport:
    """Send all requests of the tables, and those that the given policies and webhooks need
    themselves, to these policies and webhooks."""
    sets = policy_sets(manifests, version)
    bench = RequestBench(manifests, sets, version, awaited(manifests, sets))
    course = course_of(manifests, sets, bench.webhooks)
    result = BootstrapRun(course, bench).run()
    refusal_chains = chains(result)
    ways = repairs(manifests, version, [chain.culprit for chain in refusal_chains])
    locks = [
        Lock(chain, ways[chain.culprit], _level(chain, ways[chain.culprit]))
        for chain in refusal_chains
    ]
    return BootstrapReport(
        locks=tuple(sorted(locks, key=lambda lock: -lock.level)),
        requests=len(result.sent),
        refused=sum(bool(sent.refusals) for sent in result.sent.values()),
        policies=sum(len(policy_set.policies) for policy_set in sets.all),
        bindings=sum(len(policy_set.bindings) for policy_set in sets.all),
        webhooks=bench.webhooks.count,
        policy_errors=(
            *(error for part in sets.all for error in part.errors),
            *bench.webhooks.errors,
        ),
        notices=(*_silent(sets, bench), *_supposed(course, bench)),
        problems=tuple(dict.fromkeys((*manifests.problems, *result.problems))),
        strict=strict,
        fail_on=fail_on,
    )


def _level(chain: Chain, repair: Repair) -> Level:
    """Return the level of a chain. Whoever is kept from coming up by what nobody can take away is
    locked out."""
    if repair.is_open:
        return min(chain.level, Level.DEADLOCKED)
    return Level.LOCKED_OUT if chain.level >= Level.DEADLOCKED else chain.level


def _silent(sets: PolicySets, bench: RequestBench) -> Iterator[Notice]:
    """Yield what could not refuse anything."""
    if not any(part.policies for part in sets.all) and not bench.webhooks.count:
        yield Notice(
            NoticeReason.NO_POLICY, Place(), "there is no policy and no webhook to simulate"
        )
    for part in sets.all:
        bound = {binding.value.spec.policy_name for binding in part.bindings.values()}
        for name, placed in sorted(part.policies.items()):
            if name not in bound:
                text = f"policy `{name}` has no binding, so it does nothing"
                yield Notice(NoticeReason.POLICY_UNBOUND, placed.place(), text)
        for name, binding in sorted(part.bindings.items()):
            policy = binding.value.spec.policy_name
            if policy not in part.policies and policy not in part.broken:
                text = f"binding `{name}` is for policy `{policy}`, which is not given"
                yield Notice(NoticeReason.BINDING_WITHOUT_POLICY, binding.place(), text)


def _supposed(course: Course, bench: RequestBench) -> Iterator[Notice]:
    """Yield what is taken to be so about webhooks."""
    for service in course.supposed:
        text = (
            f"nothing given says what is behind Service `{service}`: pods are supposed that no "
            "policy has anything against"
        )
        yield Notice(
            NoticeReason.NOT_EVALUATED, Place(), text, "give its Service and Deployment, too"
        )
    for mutating in (True, False):
        for placed in bench.webhooks.of(mutating=mutating).values():
            for webhook in placed.value.webhooks:
                if webhook.client_config.service is None:
                    text = (
                        f"webhook `{webhook.name}` is outside of the cluster: it is taken to answer"
                    )
                    yield Notice(NoticeReason.WEBHOOK_UNASKED, placed.place(), text)
