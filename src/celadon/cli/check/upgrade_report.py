"""What several releases of Kubernetes say of the same files, and where they differ.

Each release judges all of it. What is kept of an object is its answer in each of them (`Answer`),
in stretches of releases that answer alike. An object of which all say the same is not kept. An
upgrade is unsafe for an object that the oldest release admits and a later one does not, or whose
fields a later one does not keep.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from celadon.cli.check.check_options import CheckInputs, chosen_policies
from celadon.cli.check.check_report import ObjectResult, Place, PolicyError, Report
from celadon.cli.check.check_run import check
from celadon.cli.check.object_judging import Judged, Settings
from celadon.cli.check.policy_set import policy_sets
from celadon.cli.exits import Exit
from celadon.cli.reading.problems import Problem, exit_of
from celadon.kube import JsonObject
from celadon.kube.releases import answering_as
from celadon.records import dataclass

ACCEPTED: Final = "accepted"
NOT_ACCEPTED: Final = "not accepted"
NOT_SERVED: Final = "not served"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that a release stores otherwise than the oldest one does; None is no value. `path` is
    as in `spec.containers[0].image`."""

    path: str
    before: Any
    after: Any

    @property
    def is_lost(self) -> bool:
        """Whether the release does not keep it."""
        return self.before is not None and self.after is None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a release says: `word` is the state of an object, or whether a policy is accepted,
    `message` why it is refused."""

    word: str
    is_refused: bool = False
    message: str = ""
    warnings: tuple[str, ...] = ()
    changes: tuple[FieldChange, ...] = ()


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
        """Whether a later release refuses what the oldest takes, or loses a part of it."""
        first, *later = (stretch.answer for stretch in self.stretches)
        return not first.is_refused and any(
            one.is_refused or any(change.is_lost for change in one.changes) for one in later
        )

    @property
    def has_new_warnings(self) -> bool:
        """Whether a later release warns of something that the oldest does not."""
        first, *later = (stretch.answer for stretch in self.stretches)
        return any(set(one.warnings) - set(first.warnings) for one in later)


@dataclass(frozen=True, slots=True)
class UpgradeReport:
    """`releases` are those that were asked, the oldest first; `objects` counts what each judged.
    `problems` are inputs that no release could read, and defects of ours."""

    releases: tuple[str, ...]
    objects: int = 0
    policies: int = 0
    differences: tuple[Difference, ...] = ()
    problems: tuple[Problem, ...] = ()
    strict: bool = False
    fail_on_warning: bool = False

    @property
    def unsafe(self) -> tuple[Difference, ...]:
        """What stands in the way of the upgrade."""
        return tuple(one for one in self.differences if one.is_unsafe)

    @property
    def exit(self) -> Exit:
        """A defect of ours, then unreadable input, then what stands in the way."""
        if self.problems:
            return exit_of(self.problems)
        if self.unsafe or (self.strict and self.differences):
            return Exit.DENIED
        if self.fail_on_warning and any(one.has_new_warnings for one in self.differences):
            return Exit.DENIED
        return Exit.OK


# --- Comparison --------------------------------------------------------------


_Key = tuple[str, int, int, str]
"""Of what is compared: its file, its line, the how manieth it is there, and its kind."""


@dataclass(slots=True)
class _Subject:
    """`stored` is the object as the oldest release would store it."""

    place: Place
    title: str
    answers: dict[str, Answer] = field(default_factory=dict)
    stored: JsonObject | None = None


def compared(
    given: CheckInputs,
    releases: Sequence[str],
    names: Sequence[str],
    settings_of: Callable[[str], Settings],
    step: Callable[[int], None],
) -> UpgradeReport:
    """Judges everything under each release, by the policies of these names, or by all.
    `settings_of` gives the settings under a release, `step` is told how many objects are done."""
    subjects: dict[_Key, _Subject] = {}
    problems: list[Counter[Problem]] = []
    reports = []
    for release in releases:
        with answering_as(release):
            inputs = CheckInputs(
                given.manifests,
                chosen_policies(policy_sets(given.manifests, release), names),
                settings_of(release),
            )
            report = _judged(inputs, release, subjects, step)
        reports.append(report)
        problems.append(Counter(report.problems))
    common = functools.reduce(operator.and_, problems)
    defects = Counter[Problem]()
    for release, found in zip(releases, problems, strict=True):
        defects |= Counter(one for one in found if one.is_internal)
        _add_unserved(subjects, release, found - common - defects)
    settings = given.settings
    return UpgradeReport(
        tuple(releases),
        max(len(one.objects) for one in reports),
        max(one.policies for one in reports),
        tuple(_differences(subjects.values(), releases)),
        tuple(common | defects),
        settings.strict,
        settings.fail_on_warning,
    )


def _judged(
    inputs: CheckInputs,
    release: str,
    subjects: dict[_Key, _Subject],
    step: Callable[[int], None],
) -> Report:
    stored: list[tuple[ObjectResult, JsonObject | None]] = []

    def look(judged: Judged) -> None:
        stored.append((judged.result, judged.asked.request.object))

    report = check(inputs, step, look)
    objects = {id(result): obj for result, obj in stored}
    seen: Counter[tuple[str, int, str]] = Counter()
    for result in report.objects:
        key = (result.place.file, result.place.line, result.kind)
        seen[key] += 1
        subject = subjects.setdefault(
            (*key[:2], seen[key], result.kind), _Subject(result.place, result.title)
        )
        subject.answers[release] = _answer(subject, result, objects.get(id(result)))
    for error in report.policy_errors:
        _policy_subject(subjects, error).answers[release] = Answer(
            NOT_ACCEPTED, is_refused=True, message=error.message
        )
    return report


def _policy_subject(subjects: dict[_Key, _Subject], error: PolicyError) -> _Subject:
    key = (error.place.file, error.place.line, 0, f"{error.kind} {error.name}")
    return subjects.setdefault(key, _Subject(error.place, f"{error.kind} {error.name}"))


def _answer(subject: _Subject, result: ObjectResult, obj: JsonObject | None) -> Answer:
    changes: tuple[FieldChange, ...] = ()
    if not result.is_refused and obj is not None:
        if subject.stored is None and not subject.answers:
            subject.stored = obj
        elif subject.stored is not None:
            changes = tuple(field_changes(subject.stored, obj))
    return Answer(
        result.state.value,
        result.is_refused,
        _without_name(result, result.sentence),
        tuple(_without_name(result, warning.text) for warning in result.warnings),
        changes,
    )


def _without_name(result: ObjectResult, text: str) -> str:
    """What is said of an object that a controller creates, whose name is made of a hash of what the
    release stores."""
    if result.created_by is None:
        return text
    return text.replace(result.name, f"{result.created_by.title.rpartition('/')[2]}-…")


def field_changes(before: object, after: object, path: str = "") -> Iterator[FieldChange]:
    """What is different in a later release; nothing and null are the same. Lists of different
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


def _add_unserved(
    subjects: dict[_Key, _Subject], release: str, problems: Iterable[Problem]
) -> None:
    """Documents that a release cannot judge and another one can, because it knows the kind."""
    for problem in problems:
        key = (problem.file, problem.line, 0, problem.message)
        subject = _subject_at(subjects.values(), problem) or subjects.setdefault(
            key, _Subject(Place(problem.file, problem.line), problem.message)
        )
        hint = f" ({problem.help})" if problem.help else ""
        message = f"{problem.message}{hint}"
        subject.answers[release] = Answer(NOT_SERVED, is_refused=True, message=message)


def _subject_at(subjects: Iterable[_Subject], problem: Problem) -> _Subject | None:
    """The document that a problem is about: the last of its file that begins before its line."""
    above = (
        one
        for one in subjects
        if one.answers and one.place.file == problem.file and one.place.line <= problem.line
    )
    return max(above, key=lambda one: one.place.line, default=None)


def _differences(subjects: Iterable[_Subject], releases: Sequence[str]) -> Iterator[Difference]:
    for subject in subjects:
        is_policy = any(one.word == NOT_ACCEPTED for one in subject.answers.values())
        silent = Answer(ACCEPTED if is_policy else NOT_SERVED, is_refused=not is_policy)
        answers = [(release, subject.answers.get(release, silent)) for release in releases]
        stretches = tuple(
            Stretch(tuple(release for release, _ in alike), answer)
            for answer, alike in itertools.groupby(answers, key=lambda one: one[1])
        )
        if len(stretches) > 1:
            yield Difference(subject.place, subject.title, stretches)
