"""The same files judged by several releases of Kubernetes, and where these differ.

Each release judges all of it. What is kept of an object is its answer in each of them (`Answer`),
in stretches of releases that answer alike. An object of which all say the same is not kept. An
upgrade is unsafe for an object that the oldest release admits and a later one does not, or whose
fields a later one does not keep. `celadon audit` says the same of what exists, and of the versions
in which it is stored.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

from celadon.cli.check.check_options import CheckInputs, chosen_policies
from celadon.cli.check.check_report import Notice, ObjectResult, Place, PolicyError, Report
from celadon.cli.check.check_run import check
from celadon.cli.check.manifests import policy_sets
from celadon.cli.check.object_judging import JudgedObject, Settings
from celadon.cli.exit_codes import Exit
from celadon.cli.reading.documents import Problem, exit_of
from celadon.kube import GroupVersionKind, JsonObject, metadata
from celadon.kube.defaulting import gated_fields
from celadon.kube.releases import answering_as
from celadon.kube.resources import deprecation_of, gates_of, is_gate_on, known_resources
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

ACCEPTED: Final = "accepted"
NOT_ACCEPTED: Final = "not accepted"
SERVED: Final = "served"
NOT_SERVED: Final = "not served"
READABLE: Final = "readable"
NOT_READABLE: Final = "not readable"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that a release stores otherwise than the oldest one does; None is no value. `path` is
    as in `spec.containers[0].image`. `gate` is the feature gate that decides about it, if it is not
    in both releases as it is in one."""

    path: str
    before: Any
    after: Any
    gate: str = ""

    @property
    def is_lost(self) -> bool:
        """Return whether the release does not keep it."""
        return self.before is not None and self.after is None


@dataclass(frozen=True, slots=True)
class Answer:
    """Holds what a release says: `word` is the state of an object, or whether a policy is
    accepted, `message` why it is refused. `replacement` is the version that is served instead of
    the one that is not, `cost` what a policy costs at most where that rises."""

    word: str
    is_refused: bool = False
    message: str = ""
    warnings: tuple[str, ...] = ()
    changes: tuple[FieldChange, ...] = ()
    replacement: str = ""
    cost: int | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """Releases, the oldest first, that give the same answer."""

    releases: tuple[str, ...]
    answer: Answer


@dataclass(frozen=True, slots=True)
class Difference:
    """An object or a policy of which releases do not say the same. `title` is `Pod shop/web`."""

    place: Place
    title: str
    stretches: tuple[Stretch, ...]

    @property
    def is_unsafe(self) -> bool:
        """Return whether a later release refuses what the oldest takes, or loses a part of it."""
        first, *later = (stretch.answer for stretch in self.stretches)
        return not first.is_refused and any(
            answer.is_refused or any(change.is_lost for change in answer.changes)
            for answer in later
        )

    @property
    def has_new_warnings(self) -> bool:
        """Return whether a later release warns of something that the oldest does not."""
        first, *later = (stretch.answer for stretch in self.stretches)
        return any(set(answer.warnings) - set(first.warnings) for answer in later)


@dataclass(frozen=True, slots=True)
class GateStretch:
    """Releases in which a feature gate is alike by default. `stage` is empty where it is not known
    yet, or not any more: then it is as it was at last."""

    releases: tuple[str, ...]
    on: bool
    stage: str


@dataclass(frozen=True, slots=True)
class FlippedGate:
    """A feature gate that is not on or off in all releases. `fields` are those of the input that it
    decides about."""

    name: str
    stretches: tuple[GateStretch, ...]
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UpgradeReport:
    """Holds what differs between releases. `releases` are those that were asked, the oldest first;
    `objects` counts what each judged. `problems` are inputs that no release could read, and defects
    of ours. `gates` are those that flip, `notices` what is wrong in all releases."""

    releases: tuple[str, ...]
    objects: int = 0
    policies: int = 0
    differences: tuple[Difference, ...] = ()
    problems: tuple[Problem, ...] = ()
    strict: bool = False
    fail_on_warning: bool = False
    never_fails: bool = False
    gates: tuple[FlippedGate, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def unsafe(self) -> tuple[Difference, ...]:
        """Return what stands in the way of the upgrade."""
        return tuple(difference for difference in self.differences if difference.is_unsafe)

    @property
    def exit(self) -> Exit:
        """A defect of ours, then unreadable input, then what stands in the way."""
        if self.problems:
            return exit_of(self.problems)
        if self.never_fails:
            return Exit.OK
        if self.unsafe or (self.strict and (self.differences or self.notices)):
            return Exit.DENIED
        if self.fail_on_warning and any(
            difference.has_new_warnings for difference in self.differences
        ):
            return Exit.DENIED
        return Exit.OK


# --- Comparison --------------------------------------------------------------

_UNSERVED: Final = Answer(NOT_SERVED, is_refused=True)


@dataclass(slots=True)
class _Subject:
    """Holds what releases answer about one object. `silent` is the answer of releases that have
    nothing to say, `gvk` the kind of an object, and `stored` the object as the oldest release would
    store it."""

    place: Place
    title: str
    silent: Answer
    gvk: GroupVersionKind | None = None
    answers: dict[str, Answer] = field(default_factory=dict)
    stored_object: JsonObject | None = None


class Differences:
    """The answers of releases, by what they are about; a key is whatever tells that from other
    things."""

    def __init__(self, releases: Sequence[str]) -> None:
        self._releases = releases
        self._subjects: dict[Hashable, _Subject] = {}

    def say(
        self,
        key: Hashable,
        place: Place,
        title: str,
        release: str,
        answer: Answer,
        silent: Answer = _UNSERVED,
    ) -> None:
        """Take in what a release says; those that say nothing say `silent`."""
        self.subject(key, place, title, silent).answers[release] = answer

    def subject(
        self, key: Hashable, place: Place, title: str, silent: Answer = _UNSERVED
    ) -> _Subject:
        """Return what has this key."""
        return self._subjects.setdefault(key, _Subject(place, title, silent))

    def refuse_policy(self, release: str, error: PolicyError) -> None:
        """Take in that a release does not accept a policy."""
        title = f"{error.kind} {error.name}"
        answer = Answer(NOT_ACCEPTED, is_refused=True, message=error.message)
        key = error.place.file, title
        self.say(key, error.place, title, release, answer, Answer(ACCEPTED))

    def document_at(self, problem: Problem) -> _Subject | None:
        """Return the document that a problem is about: the last of its file that begins before its
        line."""
        above = (
            subject
            for subject in self._subjects.values()
            if subject.answers
            and subject.place.file == problem.file
            and subject.place.line <= problem.line
        )
        return max(above, key=lambda subject: subject.place.line, default=None)

    def all(self) -> Iterator[Difference]:
        """Yield everything that releases do not say the same of."""
        for subject in self._subjects.values():
            # A release that has said nothing either does not serve the kind, or has nothing against
            # a policy.
            answers = [
                (release, subject.answers.get(release, subject.silent))
                for release in self._releases
            ]
            stretches = tuple(
                Stretch(tuple(release for release, _ in alike), answer)
                for answer, alike in itertools.groupby(answers, key=operator.itemgetter(1))
            )
            if len(stretches) > 1:
                yield Difference(subject.place, subject.title, stretches)


def compared(
    check_inputs: CheckInputs,
    releases: Sequence[str],
    names: Sequence[str],
    settings_of: Callable[[str], Settings],
    step: Callable[[int], None],
) -> UpgradeReport:
    """Judges everything under each release, by the policies of these names, or by all.
    `settings_of` gives the settings under a release, `step` is told how many objects are done."""
    differences = Differences(releases)
    gates = flipped_gates(releases)
    problems: list[Counter[Problem]] = []
    reports = []
    costs: list[PolicyCosts] = []
    for release in releases:
        with answering_as(release):
            inputs = CheckInputs(
                check_inputs.manifests,
                chosen_policies(policy_sets(check_inputs.manifests, release), names),
                settings_of(release),
            )
            judging = _Judging(inputs, release, differences, gates)
            reports.append(judging.report(step))
            costs.append(judging.costs)
        problems.append(Counter(reports[-1].problems))
    _say_costs(differences, releases, costs)
    common = functools.reduce(operator.and_, problems)
    defects = Counter[Problem]()
    for release, problem in zip(releases, problems, strict=True):
        defects |= Counter(item for item in problem if item.is_internal)
        _add_unserved(differences, release, problem - common - defects)
    settings = check_inputs.settings
    found_differences = tuple(differences.all())
    return UpgradeReport(
        tuple(releases),
        max(len(report.objects) for report in reports),
        max(report.policies for report in reports),
        found_differences,
        tuple(common | defects),
        settings.strict,
        settings.fail_on_warning,
        gates=tuple(_with_fields(gates, found_differences)),
    )


class _Judging:
    """Judges under a release. `costs` are those of the costliest request of each policy."""

    def __init__(
        self,
        inputs: CheckInputs,
        release: str,
        differences: Differences,
        gates: Sequence[FlippedGate],
    ) -> None:
        self._inputs = inputs
        self._release = release
        self._differences = differences
        self._gates = frozenset(gate.name for gate in gates)
        self._objects: dict[int, JsonObject | None] = {}
        self.costs: PolicyCosts = {}

    def report(self, step: Callable[[int], None]) -> Report:
        """Everything is judged, and its answers are taken in."""
        report = check(self._inputs, step, self._look)
        counts: Counter[tuple[str, int, str]] = Counter()
        for result in report.objects:
            place = result.place
            about = place.file, place.line, result.kind
            counts[about] += 1
            subject = self._differences.subject((*about, counts[about]), place, result.title)
            subject.gvk = metadata.gvk({"apiVersion": result.api_version, "kind": result.kind})
            subject.answers[self._release] = self._answer(subject, result)
        for error in report.policy_errors:
            self._differences.refuse_policy(self._release, error)
        return report

    def _look(self, judged: JudgedObject) -> None:
        request = judged.document_request.request
        self._objects[id(judged.result)] = request.object
        spent: Counter[str] = Counter()
        for decision in judged.engine.explain(request, judged.world).decisions:
            spent[decision.policy] += decision.cost or 0
        for policy, cost in spent.items():
            highest = self.costs.get(policy)
            if highest is None or highest.cost < cost:
                placed = self._inputs.policies.validating.policies.get(policy)
                place = Place() if placed is None else placed.place()
                self.costs[policy] = PolicyCost(cost, place, judged.result.title)

    def _answer(self, subject: _Subject, result: ObjectResult) -> Answer:
        changes: tuple[FieldChange, ...] = ()
        obj = self._objects.get(id(result))
        if not result.is_refused and obj is not None:
            if subject.stored_object is None and not subject.answers:
                subject.stored_object = obj
            elif subject.stored_object is not None:
                object_changes = field_changes(subject.stored_object, obj)
                changes = tuple(
                    self._by_gate(subject.gvk, change)
                    for change in object_changes
                    if change.path != f"metadata.{_COUNTED}"
                )
        return Answer(
            result.state.value,
            result.is_refused,
            _without_name(result, result.sentence),
            tuple(_without_name(result, warning.text) for warning in result.warnings),
            changes,
        )

    def _by_gate(self, gvk: GroupVersionKind | None, change: FieldChange) -> FieldChange:
        path = _INDEX.sub("[*]", change.path)
        for above, gate in gated_fields(gvk) if gvk is not None else ():
            if gate in self._gates and (_is_within(path, above) or _is_within(above, path)):
                return replace(change, gate=gate)
        return change


_INDEX: Final = late_pattern(r"\[\d+\]")


def _is_within(path: str, above: str) -> bool:
    return path == above or path.startswith((f"{above}.", f"{above}["))


# --- Costs -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PolicyCost:
    """Holds what the costliest request costs a policy, and where that is; `title` is its
    object."""

    cost: int
    place: Place
    title: str


PolicyCosts = dict[str, PolicyCost]
"""By policy."""


def _say_costs(
    differences: Differences, releases: Sequence[str], costs: Sequence[PolicyCosts]
) -> None:
    """Take in what policies cost that cost more in a later release than in the first that can run
    them."""
    for policy in dict.fromkeys(itertools.chain.from_iterable(costs)):
        by_release = {
            r: release_costs[policy]
            for r, release_costs in zip(releases, costs, strict=True)
            if policy in release_costs
        }
        first, *later = by_release.values()
        rises = any(cost.cost > first.cost for cost in later)
        title = f"ValidatingAdmissionPolicy {policy}"
        for release, cost in by_release.items():
            answer = Answer(ACCEPTED, cost=cost.cost if rises else None)
            key = first.place.file, title
            differences.say(key, first.place, title, release, answer, Answer(ACCEPTED))


# --- Feature gates -----------------------------------------------------------


def flipped_gates(releases: Sequence[str]) -> tuple[FlippedGate, ...]:
    """Return the gates that are on in some of these releases and off in others that know them, by
    name."""
    names = set[str]().union(*(gates_of(release) for release in releases))
    return tuple(
        FlippedGate(name, _gate_stretches(name, releases))
        for name in sorted(names)
        if len({gates_of(release)[name].on for release in releases if name in gates_of(release)})
        > 1
    )


def _gate_stretches(name: str, releases: Sequence[str]) -> tuple[GateStretch, ...]:
    states = []
    for release in releases:
        gate = gates_of(release).get(name)
        stage = "" if gate is None else gate.stage
        states.append((release, (is_gate_on(name, release), stage)))
    return tuple(
        GateStretch(tuple(release for release, _ in alike), *state)
        for state, alike in itertools.groupby(states, key=operator.itemgetter(1))
    )


def _with_fields(
    gates: Sequence[FlippedGate], differences: Sequence[Difference]
) -> Iterator[FlippedGate]:
    fields: dict[str, dict[str, None]] = {}
    for difference in differences:
        for change in (change for each in difference.stretches for change in each.answer.changes):
            fields.setdefault(change.gate, {})[change.path] = None
    for gate in gates:
        yield replace(gate, fields=tuple(fields.get(gate.name, ())))


# --- Words -------------------------------------------------------------------


def _without_name(result: ObjectResult, text: str) -> str:
    """Return what is said of an object that a controller creates, whose name is made of a hash of
    what the release stores."""
    if result.created_by is None:
        return text
    return text.replace(result.name, f"{result.created_by.title.rpartition('/')[2]}-…")


_COUNTED: Final = "generation"
"""A member of the metadata that the server counts: Pods have it since 1.33."""


def field_changes(before: object, after: object, path: str = "") -> Iterator[FieldChange]:
    """Yield what is different in a later release; nothing and null are the same. Lists of different
    lengths are different as a whole."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            yield from field_changes(before.get(key), after.get(key), _member(path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from field_changes(old, new, f"{path}[{number}]")
    elif before != after and not (after is None and path.endswith(_TIME_OF_CREATION)):
        yield FieldChange(path, before, after)


_TIME_OF_CREATION: Final = "metadata.creationTimestamp"
"""Releases before 1.34 write it into templates, too."""


def _member(path: str, key: str) -> str:
    if not key.replace("_", "").replace("-", "").isalnum():
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


def _add_unserved(differences: Differences, release: str, problems: Iterable[Problem]) -> None:
    """Documents that a release cannot judge and another one can, because it knows the kind."""
    for problem in problems:
        subject = differences.document_at(problem) or differences.subject(
            (problem.file, problem.line, problem.message),
            Place(problem.file, problem.line),
            problem.message,
        )
        instead = ""
        if subject.gvk is not None:
            with answering_as(release):
                instead = replacement(subject.gvk)
        hint = f" ({problem.help})" if problem.help and not instead else ""
        subject.answers[release] = Answer(
            NOT_SERVED, is_refused=True, message=f"{problem.message}{hint}", replacement=instead
        )


def replacement(gvk: GroupVersionKind) -> str:
    """Return the version of a kind that the current release serves instead of one that it does not,
    or what takes the place of the kind; empty if there is nothing."""
    deprecation = deprecation_of(gvk)
    if deprecation is not None and deprecation.replacement is not None:
        return deprecation.replacement.api_version
    served = (
        known_resource.gvk
        for known_resource in known_resources()
        if known_resource.gvk.group_kind == gvk.group_kind
    )
    return next((resource.api_version for resource in served), "")
