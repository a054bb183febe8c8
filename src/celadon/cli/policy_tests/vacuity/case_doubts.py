"""What makes one case mean less than it seems: each function looks for one thing.

Of a case that failed they say why; one that is as expected fails for the graver ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from celadon.admission import Note, Operation, Outcome, ValidatingAdmissionPolicy
from celadon.cli.checking.check_report import Place
from celadon.cli.checking.policy_set import PolicySet
from celadon.cli.policy_tests.case_results import CaseOutcome
from celadon.cli.policy_tests.expectations import CaseVerdict, How, TextMatch
from celadon.cli.policy_tests.policy_test import Case
from celadon.cli.policy_tests.running.case_bench import Judged
from celadon.cli.policy_tests.running.case_comparison import decisive, overlaid
from celadon.cli.policy_tests.vacuities import Doubt, Vacuity
from celadon.cli.policy_tests.vacuity.unmatched_reasons import placed_mutates, unmatched_reasons
from celadon.kube import FieldPath, metadata

_SAYING: Final = frozenset({CaseVerdict.DENY, CaseVerdict.WARN, CaseVerdict.AUDIT})
_BY_CHANCE: Final = frozenset({Vacuity.NO_BINDING, Vacuity.STRAY_BINDING})
"""Reasons for which nothing would ever match, so that nobody can expect `noMatch` for them."""
_SERVED_SINCE: Final = {
    ("ValidatingAdmissionPolicy", "v1"): "1.30",
    ("MutatingAdmissionPolicy", "v1alpha1"): "1.32",
    ("MutatingAdmissionPolicy", "v1beta1"): "1.34",
    ("MutatingAdmissionPolicy", "v1"): "1.36",
}
"""The first releases that serve versions of policies."""


def case_doubts(case: Case, judged: Judged, outcome: CaseOutcome, version: str) -> list[Doubt]:
    """All of them; `outcome` is what became of the case."""
    return [
        *_unreached(case, judged, outcome, version),
        *_not_what_it_seems(case, outcome),
        *_not_served(case, judged, outcome, version),
        *_any_text(case),
        *_any_denial(case, judged, outcome),
        *_changes(case, judged, outcome),
        *_weak_policies(case, judged, outcome),
        *_assumptions(case, judged, outcome),
    ]


def _unreached(case: Case, judged: Judged, outcome: CaseOutcome, version: str) -> Iterator[Doubt]:
    """Why policies under test did not look at it."""
    asked = judged.asked
    if outcome.verdict is not CaseVerdict.NO_MATCH or asked is None:
        return
    expected = case.expect.verdict is CaseVerdict.NO_MATCH
    why: list[Doubt] = []
    for found in judged.setting.sets.all:
        for name in sorted(outcome.under_test & found.policies.keys()):
            notes = _notes_on(name, outcome, found)
            reasons = unmatched_reasons(
                name, notes, asked.request, judged.setting.world, found, version
            )
            if not expected:
                yield from reasons
            elif case.expect.because:
                why += reasons
            elif not any(one.value.spec.policy_name == name for one in found.bindings.values()):
                yield from (one for one in reasons if one.vacuity in _BY_CHANCE)
    if expected:
        yield from _other_reason(case.expect.because, why, case.expect.place)


def _other_reason(wanted: str, why: Sequence[Doubt], place: Place) -> Iterator[Doubt]:
    """Where nothing matches, but not for the reason that is expected."""
    if wanted and wanted not in {one.vacuity.value for one in why}:
        actual = "; ".join(one.text for one in why) or "no reason is known"
        text = f"nothing matches, but not because of `{wanted}`: {actual}"
        yield Doubt(Vacuity.OTHER_REASON, text, place)


def _notes_on(name: str, outcome: CaseOutcome, found: PolicySet) -> tuple[Note, ...]:
    """Mutating engines say nothing of what no request to an endpoint concerns."""
    if any(note.policy == name for note in outcome.notes) or not placed_mutates(found, name):
        return outcome.notes
    return (*outcome.notes, Note(Outcome.POLICY_UNMATCHED, name))


def _not_what_it_seems(case: Case, outcome: CaseOutcome) -> Iterator[Doubt]:
    """Where something else happened than the expected verdict."""
    expected, actual, place = case.expect.verdict, outcome.verdict, case.expect.place
    if expected is actual and not outcome.others:
        return
    if actual is CaseVerdict.INVALID:
        text = f"the API server refuses it before any policy is asked: {outcome.result.sentence}"
        yield Doubt(Vacuity.REFUSED_BEFORE, text, place)
    elif actual is CaseVerdict.ERROR and outcome.ignored:
        text = f"`failurePolicy: Ignore` let an error pass: {outcome.ignored[0].message}"
        yield Doubt(Vacuity.ERROR_IGNORED, text, outcome.ignored[0].place)
    elif actual is CaseVerdict.ERROR:
        text = "an expression could not be evaluated: that is no answer of the policy"
        yield Doubt(Vacuity.ERROR_NOT_DENIAL, text, outcome.deciding[0].rule)
    elif actual is CaseVerdict.AUDIT:
        text = f"binding `{outcome.deciding[0].binding}` only audits"
        yield Doubt(Vacuity.ONLY_AUDITS, text, outcome.deciding[0].rule)
    elif actual is CaseVerdict.WARN:
        text = f"binding `{outcome.deciding[0].binding}` warns, and does not deny"
        yield Doubt(Vacuity.ONLY_WARNS, text, outcome.deciding[0].rule)
    if outcome.others:
        by = outcome.others[0]
        text = f"policy `{by.policy}`, which is not under test, denies it: {by.message}"
        yield Doubt(Vacuity.DENIED_BY_ANOTHER, text, by.rule)


def _not_served(case: Case, judged: Judged, outcome: CaseOutcome, version: str) -> Iterator[Doubt]:
    """Policies of a version that the release does not know."""
    for found in judged.setting.sets.all:
        for name in sorted(outcome.under_test & found.policies.keys()):
            placed = found.policies[name]
            value = placed.document.value
            served = str(value["apiVersion"]).rpartition("/")[2]
            since = _SERVED_SINCE.get((value["kind"], served), version)
            if _minor(since) > _minor(version):
                text = f"Kubernetes {version} does not serve {value['apiVersion']} {value['kind']}"
                help = f"it is there since {since}: see `kubernetesVersions`"
                yield Doubt(Vacuity.NOT_SERVED, text, placed.place(FieldPath("apiVersion")), help)


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


def _any_text(case: Case) -> Iterator[Doubt]:
    """Texts that are expected, and that any text is."""
    expect = case.expect
    texts = [expect.message, *(expect.warnings or ()), *expect.audit_annotations.values()]
    for one in texts:
        if one is not None and one.how is not How.IS and _holds_always(one):
            yield Doubt(Vacuity.ANY_TEXT, f"any text {one.how.value} `{one.text}`", one.place)


def _holds_always(wanted: TextMatch) -> bool:
    return all(map(wanted.holds, ("", "x", "\N{SNOWMAN} 1\n")))


def _any_denial(case: Case, judged: Judged, outcome: CaseOutcome) -> Iterator[Doubt]:
    """A verdict that several validations could be the reason for."""
    expect = case.expect
    if expect.verdict not in _SAYING or outcome.verdict is not expect.verdict:
        return
    if expect.message is not None or expect.validation is not None or expect.reason:
        return
    names = [expect.policy] if expect.policy else sorted(outcome.under_test)
    count = sum(
        len(one.value.spec.validations)
        for one in judged.setting.sets.validating.policies.values()
        if one.value.name in names and isinstance(one.value, ValidatingAdmissionPolicy)
    )
    if count > 1:
        by = decisive(expect, outcome)[0]
        text = f"any of {count} validations could be the reason; it was {by.field}: {by.message}"
        help = f"say which: `{expect.verdict.value}: TEXT`, or `validation`"
        yield Doubt(Vacuity.ANY_DENIAL, text, expect.place, help)


def _changes(case: Case, judged: Judged, outcome: CaseOutcome) -> Iterator[Doubt]:
    """About updates that change nothing, and mutations that nobody looks at."""
    expect = case.expect
    request = None if judged.before is None else judged.before.request
    updates = request is not None and request.operation is Operation.UPDATE
    if request is not None and updates and request.object == request.old_object:
        text = "the object is what it was: an UPDATE that changes nothing"
        yield Doubt(Vacuity.NOTHING_CHANGES, text, case.place)
    mutated = outcome.result.mutated
    by_test = mutated is not None and not outcome.under_test.isdisjoint(mutated.policies)
    if by_test and expect.object is None and expect.patch is None:
        text = "the policy changes the object, and the case says nothing of that"
        help = "say what is to come of it: `object` or `patch`"
        yield Doubt(Vacuity.CHANGE_UNSEEN, text, expect.place, help)
    before = outcome.before
    if expect.object is not None and mutated and overlaid(before, expect.object) == before:
        text = "`object` would be as expected without the policy, too"
        yield Doubt(Vacuity.TRUE_BEFORE, text, expect.place)


def _weak_policies(case: Case, judged: Judged, outcome: CaseOutcome) -> Iterator[Doubt]:
    """Policies that cannot speak, or that are asked without what they are to look at."""
    found = judged.setting.sets.validating
    for name in sorted(outcome.reached & found.policies.keys()):
        placed = found.policies[name]
        if not placed.document.value_at(("spec", "validations")):
            text = f"policy `{name}` has no validations: nothing can speak against the request"
            yield Doubt(Vacuity.NO_VALIDATION, text, placed.place())
        if placed.value.spec.param_kind is None:
            continue
        for binding in found.bindings.values():
            spec = binding.value.spec
            if spec.policy_name == name and spec.param_ref is None:
                text = f"binding `{binding.value.name}` has no paramRef, so `params` is null"
                yield Doubt(Vacuity.NULL_PARAMS, text, binding.place())


def _assumptions(case: Case, judged: Judged, outcome: CaseOutcome) -> Iterator[Doubt]:
    """What is taken for granted, since the test does not say it."""
    asked = judged.asked
    if asked is None:
        return
    place = case.place
    if asked.endpoint.is_guessed:
        kind = asked.endpoint.kind
        text = f"kind `{kind.kind}` of {kind.api_version} is not known: its fields and its resource"
        yield Doubt(Vacuity.UNKNOWN_KIND, f"{text} are guessed", place, "give its CRD under `crds`")
    namespace = asked.request.namespace
    concerned = outcome.reached or any(
        note.outcome is Outcome.BINDING_UNMATCHED for note in outcome.notes
    )
    if concerned and asked.endpoint.namespaced and _looks_at_namespaces(judged):
        given = [
            one for one in judged.setting.manifests.existing if one.value["kind"] == "Namespace"
        ]
        if namespace not in {metadata.name(one.value) for one in given}:
            text = f"namespace `{namespace}` is not given, taken to have no labels but its name"
            help = "policies look at it: `namespace: {labels: ...}`"
            yield Doubt(Vacuity.NAMESPACE_ASSUMED, text, place, help)


def _looks_at_namespaces(judged: Judged) -> bool:
    from celadon.cli.checking.notices import Sightings  # late: asked of few cases

    return Sightings.wanted(judged.setting.sets).wants_namespaces
