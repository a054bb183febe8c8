"""The course of a cluster, request by request, until nothing changes any more.

What is refused is sent again in the next round, as components do; params and webhooks that have
come to be in the meantime may let it through. What is admitted counts once all it needs has come
about. In the end everything is judged once more in the world as it has become.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from celadon.admission import ObjectWorld, Operation
from celadon.admission.static import STATIC_SUFFIX
from celadon.cli.bootstrap.cluster_course import Course
from celadon.cli.bootstrap.request_judging import Answer, RequestBench
from celadon.cli.bootstrap.step_tables import Given, Sending, State, document_of
from celadon.cli.check.check_report import ObjectResult, Place
from celadon.cli.check.policy_set import PolicySets
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube import JsonObject
from celadon.kube.registry.patching import apply_merge_patch
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Culprit:
    """What refuses a request, or breaks its object: a policy with a binding, a configuration of
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
    """What somebody has against a request. `gate` is the state that would let it through, as far as
    is known; `breaks` says that the request is admitted, with an object that does not work."""

    culprit: Culprit
    message: str
    place: Place
    gate: str = ""
    breaks: bool = False


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it was sent last, and what came of it."""

    sending: Sending
    title: str
    result: ObjectResult | None
    refusals: tuple[Refusal, ...]


@dataclass(slots=True)
class RunResult:
    """What has come of a course: every request as it was sent last, and the names of all entries
    that have come about."""

    course: Course
    sent: dict[str, Sent] = field(default_factory=dict)
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
            one.name: one.document.value for one in course.entries if isinstance(one, Given)
        }
        self._found = RunResult(course, done=set(self._objects))

    def run(self) -> RunResult:
        """As many rounds as change anything, and what is so in the end."""
        found = self._found
        while self._round():
            pass
        for sending in self._course.sendings:
            if sending.name in found.done and sending.name not in self._course.arrivals:
                self._send(sending)
        found.done = _come_about(found)
        found.problems = list(dict.fromkeys([*self._bench.problems, *found.problems]))
        return found

    def _round(self) -> bool:
        done, before = self._found.done, len(self._found.done)
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
        return not self._found.sent[sending.name].refusals

    def _arrive(self, name: str) -> None:
        arrived = self._course.arrivals.get(name)
        if arrived is not None:
            self._world = self._world.with_objects([arrived])
            self._epoch += 1

    def _send(self, sending: Sending) -> None:
        """Unless nothing has changed since it was sent last."""
        if self._judged_in.get(sending.name) == self._epoch:
            return
        self._judged_in[sending.name] = self._epoch
        document, old = self._documents(sending)
        answer = self._bench.judged(sending, document, old, self._world, self._answering)
        if answer.written is not None:
            self._objects[sending.name] = answer.written
        self._found.problems += answer.problems
        self._found.sent[sending.name] = Sent(
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
            yield Refusal(Culprit(), "; ".join(one.message for one in answer.problems), Place())
        elif result.is_refused:
            yield from refusals_in(result, self._bench.sets, self._course.gates)
        elif result.mutated is not None:
            yield from _broken(sending, result)


def refusals_in(
    result: ObjectResult, sets: PolicySets, gates: Mapping[tuple[str, str], str]
) -> Iterator[Refusal]:
    """Yield who refuses a request that is refused, and why. One that only an object is to blame
    for, which policies have changed, is their doing."""
    found = False
    for one in result.violations:
        if one.denies:
            found = True
            kind = _kind_of(sets, one.policy, result)
            gate = gates.get((kind, one.policy), "") if one.is_error else ""
            sentence = result.sentence if one is result.denial else one.message
            yield Refusal(Culprit(kind, one.policy, one.binding), sentence, one.rule, gate)
    for call in result.denying:
        found = True
        kind = f"{'Mutating' if call.mutating else 'Validating'}WebhookConfiguration"
        gate = gates.get((kind, call.configuration), "")
        yield Refusal(Culprit(kind, call.configuration), result.sentence, call.place, gate)
    if not found and result.mutated is not None:
        for step in result.mutated.steps:
            culprit = Culprit("MutatingAdmissionPolicy", step.policy, step.binding)
            yield Refusal(culprit, result.sentence, step.rule)
    elif not found:
        yield Refusal(Culprit(), result.sentence, Place())


def _kind_of(sets: PolicySets, policy: str, result: ObjectResult) -> str:
    """Validating policies are not asked about what a mutating one refuses."""
    mutating = policy in sets.mutating.policies
    if mutating and policy in sets.validating.policies:
        mutating = not result.policies
    return "MutatingAdmissionPolicy" if mutating else "ValidatingAdmissionPolicy"


def _broken(sending: Sending, result: ObjectResult) -> Iterator[Refusal]:
    assert result.mutated is not None, "only mutated objects can be broken by it"
    for step in result.mutated.steps:
        found = harm(sending, step.before, step.after)
        if found is not None:
            message = (
                f"`{found.field}` is changed from {_text(found.before)} to {_text(found.after)}"
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
    what = answer.resource if sending.subresource else kind
    return f"{sending.operation.value} {what} {name}"


def _come_about(found: RunResult) -> set[str]:
    """All that has come about, given what was refused last."""
    refused = {name for name, sent in found.sent.items() if sent.refusals}
    waiting: list[Sending | State] = [*found.course.sendings, *found.course.states]
    needs = {one.name: one.needs for one in waiting}
    done = {one.name for one in found.course.entries if isinstance(one, Given)}
    while True:
        more = {
            name
            for name, wanted in needs.items()
            if name not in done and name not in refused and done.issuperset(wanted)
        }
        if not more:
            return done
        done |= more


# --- what mutations must leave alone --------------------------------------------------------------
#
# Each request of the tables says which fields of its object must keep what they hold (more may be
# added) and which must stay as they are. Paths are like `spec/containers/*/command`; `*` stands for
# every item of a list.


class Harm(NamedTuple):
    """A field that is not what its component needs: the path with dots, before and after."""

    field: str
    before: object
    after: object


def harm(sending: Sending, before: JsonObject, after: JsonObject) -> Harm | None:
    """The first field that was changed and should not have been."""
    for path in sending.unchanged:
        for found in _pairs(path.split("/"), before, after, ()):
            if found.before != found.after:
                return found
    for path in sending.keeps:
        for found in _pairs(path.split("/"), before, after, ()):
            if not _holds(found.after, found.before):
                return found
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
        for index, one in enumerate(before if isinstance(before, list) else ()):
            other = after[index] if isinstance(after, list) and index < len(after) else None
            yield from _pairs(rest, one, other, (*done, str(index)))
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
            key in whole and _holds(whole[key], one) for key, one in part.items()
        )
    if isinstance(part, list):
        return isinstance(whole, list) and all(
            any(_holds(other, one) for other in whole) for one in part
        )
    return bool(whole == part)
