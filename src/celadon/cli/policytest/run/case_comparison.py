"""What happened against what was expected: one function for each thing that may be expected."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.admission import Note, Outcome
from celadon.admission.registration import WARN
from celadon.cli.check.check_report import (
    ClientWarning,
    Notice,
    ObjectResult,
    Place,
    Silence,
    Violation,
)
from celadon.cli.check.cluster import Cluster
from celadon.cli.policytest.run.case_judging import Judged
from celadon.cli.policytest.run.case_results import (
    Case,
    CaseOutcome,
    CaseVerdict,
    Expectation,
    Mismatch,
    TextMatch,
)
from celadon.kube import JsonObject
from celadon.kube.registry import JsonPatchError, apply_json_patch

ADMITTING: Final = frozenset(
    {CaseVerdict.ADMIT, CaseVerdict.WARN, CaseVerdict.AUDIT, CaseVerdict.NO_MATCH}
)
"""With these the request must not be refused by others either."""


def mismatches(expect: Expectation, outcome: CaseOutcome) -> list[Mismatch]:
    """All that is not as expected; nothing more is looked at where the verdict is another."""
    return list(_verdict(expect, outcome)) or [
        *_decided(expect, outcome),
        *_answered(expect, outcome),
        *_warnings(expect, outcome),
        *_annotations(expect, outcome),
        *_mutated(expect, outcome),
    ]


def _verdict(expect: Expectation, outcome: CaseOutcome) -> Iterator[Mismatch]:
    if expect.snapshot:
        said = "nothing yet: `celadon test --update` writes it down"
        yield Mismatch("verdict", said, outcome.verdict.value, expect.place)
    elif expect.verdict is not outcome.verdict:
        plugin = outcome.result.plugin
        actual = outcome.verdict.value + (f", denied by the plugin {plugin}" if plugin else "")
        yield Mismatch("verdict", expect.verdict.value, actual, expect.place)
    elif expect.verdict in ADMITTING and outcome.result.is_refused:
        by = outcome.others[0].policy if outcome.others else ""
        actual = f"denied by policy `{by}`, which is not under test" if by else "refused"
        yield Mismatch("verdict", expect.verdict.value, actual, expect.place)


def decisive(expect: Expectation, outcome: CaseOutcome) -> list[Violation]:
    """The violations that can be the expected one, by policy and validation."""
    found = list(outcome.deciding)
    if expect.policy:
        found = [one for one in found if one.policy == expect.policy]
    if expect.validation is not None:
        found = [one for one in found if _is_validation(one, expect.validation)]
    return found


def _is_validation(one: Violation, wanted: int | str) -> bool:
    if isinstance(wanted, int):
        return one.field.startswith(f"spec.validations[{wanted}].")
    return _squeezed(one.expression) == _squeezed(wanted)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _decided(expect: Expectation, outcome: CaseOutcome) -> Iterator[Mismatch]:
    """Yield by which policy and validation the case was decided, and with which message."""
    deciding = outcome.deciding
    by = dict.fromkeys(one.policy for one in deciding) or outcome.reached
    if expect.policy and expect.policy not in by:
        yield Mismatch("policy", expect.policy, ", ".join(by) or "none", expect.place)
        return
    if expect.validation is not None and not decisive(expect, outcome):
        actual = "\n".join(f"{one.field}: {_squeezed(one.expression)}" for one in deciding)
        yield Mismatch("validation", str(expect.validation), actual or "none", expect.place)
        return
    if expect.message is not None:
        yield from _message(expect.message, decisive(expect, outcome), outcome)
    if expect.violations is not None:
        wanted = expect.message
        texts = [one.message for one in decisive(expect, outcome)]
        count = sum(wanted is None or wanted.holds(text) for text in texts)
        if count != expect.violations:
            yield Mismatch("violations", str(expect.violations), str(count), expect.place)


def messages(deciding: Iterable[Violation], outcome: CaseOutcome) -> list[str]:
    """Return what policies say, and what the API server makes of it."""
    result = outcome.result
    found = [one.message for one in deciding]
    whole = [result.sentence] if result.sentence else []
    ignored = [one.message for one in outcome.ignored]
    return [*found, *whole, *(one.text for one in result.warnings), *ignored]


def _message(
    wanted: TextMatch, deciding: list[Violation], outcome: CaseOutcome
) -> Iterator[Mismatch]:
    found = messages(deciding, outcome)
    if not any(map(wanted.holds, found)):
        actual = "\n".join(dict.fromkeys(one.message for one in deciding)) or "\n".join(found)
        yield Mismatch("message", str(wanted), actual, wanted.place)


def _answered(expect: Expectation, outcome: CaseOutcome) -> Iterator[Mismatch]:
    """Reason and code of the answer."""
    result = outcome.result
    if expect.reason:
        actual = str((result.status or {}).get("reason", ""))
        if actual != expect.reason:
            yield Mismatch("reason", expect.reason, actual, expect.place)
    if expect.code and result.code != expect.code:
        yield Mismatch("code", str(expect.code), str(result.code), expect.place)


def _warnings(expect: Expectation, outcome: CaseOutcome) -> Iterator[Mismatch]:
    if expect.warnings is None:
        return
    found = [one for one in outcome.result.warnings if one.violations]
    wanted = expect.warnings
    held = len(found) == len(wanted) and all(
        any(map(one.holds, _texts(warning))) for one, warning in zip(wanted, found, strict=True)
    )
    if not held:
        yield Mismatch(
            "warnings",
            "\n".join(map(str, wanted)) or "none",
            "\n".join(_texts(one)[-1] for one in found) or "none",
            expect.place,
        )


def _texts(warning: ClientWarning) -> list[str]:
    return [warning.text, *(one.message for one in warning.violations)]


def _annotations(expect: Expectation, outcome: CaseOutcome) -> Iterator[Mismatch]:
    given = outcome.result.audit_annotations
    for key, wanted in expect.audit_annotations.items():
        names = [key] if "/" in key else [f"{one}/{key}" for one in sorted(outcome.under_test)]
        values = [given[name] for name in names if name in given]
        if not any(map(wanted.holds, values)):
            actual = values[0] if values else "absent"
            yield Mismatch(f"auditAnnotations.{key}", str(wanted), actual, wanted.place)


def _mutated(expect: Expectation, outcome: CaseOutcome) -> Iterator[Mismatch]:
    after = outcome.after or {}
    if expect.object is not None:
        wanted = overlaid(after, expect.object)
        if wanted != after:
            yield _difference("object", wanted, after, expect.place)
    if expect.patch is not None:
        try:
            wanted = apply_json_patch(outcome.before or {}, expect.patch)
        except JsonPatchError as error:
            yield Mismatch("patch", json.dumps(expect.patch), str(error), expect.place)
            return
        if wanted != after:
            yield _difference("patch", wanted, after, expect.place)


def _difference(what: str, wanted: JsonObject, actual: JsonObject, place: Place) -> Mismatch:
    """Return the difference of two objects: their texts, line by line."""
    return Mismatch(what, json.dumps(wanted, indent=1), json.dumps(actual, indent=1), place)


def overlaid(value: object, wanted: object) -> Any:  # noqa: ANN401 - any JSON
    """The value with what is wanted of it in place: the same if nothing is missing. Null says that
    a member is absent; lists must have the same items, each with what is wanted of it."""
    if isinstance(wanted, Mapping):
        found = dict(value) if isinstance(value, Mapping) else {}
        for key, one in wanted.items():
            if one is None:
                found.pop(key, None)
            else:
                found[key] = overlaid(found.get(key), one)
        return found
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        given = value if isinstance(value, list) else []
        return [overlaid(given[i] if i < len(given) else None, one) for i, one in enumerate(wanted)]
    return wanted


# --- Case outcomes -----------------------------------------------------------
#
# What became of a request, seen from the policies under test.


def outcome_of(case: Case, judged: Judged) -> CaseOutcome:
    """Return the outcome of a case that could be judged."""
    result = judged.findings.results[0]
    under_test = under_test_in(case, judged.setting)
    notes = tuple(_notes(judged))
    own = [one for one in result.violations if one.policy in under_test]
    reached = {note.policy for note in notes if note.outcome is Outcome.EVALUATED}
    reached.update(one.policy for one in own)
    ignored = tuple(_ignored(judged, under_test, notes))
    verdict, deciding = _case_outcomes_verdict(result, own, reached & under_test, ignored)
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


def _case_outcomes_verdict(
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
    """Return whether it is refused, and not by a policy."""
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
