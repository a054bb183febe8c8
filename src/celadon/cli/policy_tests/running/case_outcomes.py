"""What became of a request, seen from the policies under test."""

from __future__ import annotations

from collections.abc import Iterator

from celadon.admission import Note, Outcome
from celadon.admission.registration import WARN
from celadon.cli.checking.check_report import Notice, ObjectResult, Place, Silence, Violation
from celadon.cli.checking.given_cluster import Cluster
from celadon.cli.policy_tests.case_results import CaseOutcome
from celadon.cli.policy_tests.expectations import CaseVerdict
from celadon.cli.policy_tests.policy_test import Case
from celadon.cli.policy_tests.running.case_bench import Judged


def outcome_of(case: Case, judged: Judged) -> CaseOutcome:
    """Of a case that could be judged."""
    result = judged.findings.results[0]
    under_test = under_test_in(case, judged.setting)
    notes = tuple(_notes(judged))
    own = [one for one in result.violations if one.policy in under_test]
    reached = {note.policy for note in notes if note.outcome is Outcome.EVALUATED}
    reached.update(one.policy for one in own)
    ignored = tuple(_ignored(judged, under_test, notes))
    verdict, deciding = _verdict(result, own, reached & under_test, ignored)
    before, asked = judged.before, judged.asked
    return CaseOutcome(
        verdict,
        result,
        under_test,
        frozenset(reached & under_test),
        deciding,
        tuple(one for one in result.violations if one.denies and one.policy not in under_test),
        notes,
        ignored,
        None if before is None else before.request.object,
        None if asked is None else asked.request.object,
    )


def under_test_in(case: Case, setting: Cluster) -> frozenset[str]:
    """The names of the policies that a case is about."""
    if case.policies:
        return frozenset(case.policies)
    return frozenset(name for part in setting.sets.all for name in part.policies)


def _verdict(
    result: ObjectResult,
    own: list[Violation],
    reached: set[str] | frozenset[str],
    ignored: tuple[Notice, ...],
) -> tuple[CaseVerdict, tuple[Violation, ...]]:
    """And the violations that it is due to."""
    if refused_by_server(result):
        return CaseVerdict.INVALID, ()
    denying = tuple(one for one in own if one.denies)
    if denying:
        first = CaseVerdict.ERROR if denying[0].is_error else CaseVerdict.DENY
        return first, denying
    errors = tuple(one for one in own if one.is_error)
    if errors or ignored:
        return CaseVerdict.ERROR, errors
    if not reached:
        return CaseVerdict.NO_MATCH, ()
    warning = tuple(one for one in own if WARN in one.actions)
    if warning:
        return CaseVerdict.WARN, warning
    return (CaseVerdict.AUDIT, tuple(own)) if own else (CaseVerdict.ADMIT, ())


def refused_by_server(result: ObjectResult) -> bool:
    """Whether it is refused, and not by a policy."""
    return result.is_refused and result.denial is None


def _notes(judged: Judged) -> Iterator[Note]:
    found = judged.findings
    for coverage in (found.mutations, found.coverage):
        yield from (note for note, _ in coverage.notes.values())


def _ignored(
    judged: Judged, under_test: frozenset[str], notes: tuple[Note, ...]
) -> Iterator[Notice]:
    """Errors of policies under test that are let pass."""
    for key, notice in judged.findings.ignored.items():
        if isinstance(key, tuple) and key[0] in under_test:
            yield notice
    for note in notes:
        if note.source is not None and note.policy in under_test:
            place = _place(note, judged.setting)
            text = f"policy `{note.policy}` ignored an error: {note.detail}"
            yield Notice(Silence.ERROR_IGNORED, place, text)


def _place(note: Note, setting: Cluster) -> Place:
    for part in setting.sets.all:
        if note.policy in part.policies and note.source is not None:
            return part.place(note.source, note.policy, note.binding)
    return Place()
