"""The tests of a policy, ready to be asked about alterations of it.

A `Stage` is one test with the latest of its versions: the cases that pass there and are about the
policy. A policy may be on several stages; who kills an alteration on one of them has killed it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any, Final

from celadon import admission
from celadon.cli.check.cluster import Engines
from celadon.cli.check.manifests import Placed, PolicySet, PolicySets, WebhookOutcome
from celadon.cli.policytest import case_results
from celadon.cli.policytest.case_judging import Bench, PreparedRequest
from celadon.cli.policytest.case_running import full_name, run_case
from celadon.cli.policytest.coverage import measured
from celadon.cli.policytest.mutants.policy_mutants import Alteration
from celadon.cli.reading.documents import Document
from celadon.kube import Json
from celadon.records import dataclass

# --- Judging mutants ---------------------------------------------------------
#
# Where cases meet a policy with one thing changed.
#
# What is changed is decoded as the API server would, everything else is shared with the bench of
# the test: the requests, what there is in the cluster, the other policies, and the programs of
# all expressions that are the same.

_VALIDATING = frozenset({admission.registration.POLICY_KIND, admission.registration.BINDING_KIND})


def altered_bench(bench: Bench, alteration: Alteration) -> Bench:
    """Return the bench with the alteration in place of the original, where that is what is
    loaded."""
    placed = _decoded(alteration)
    document = alteration.document

    def change(sets: PolicySets) -> PolicySets:
        if document.value["kind"] in _VALIDATING:
            return replace(sets, validating=_changed(sets.validating, document, placed))
        return replace(sets, mutating=_changed(sets.mutating, document, placed))

    return bench.altered(change)


def is_same_object(alteration: Alteration, sets: PolicySets) -> bool:
    """Return whether the API server makes the same of both: a default that is said, for example."""
    decoded = _decoded(alteration)
    values = (
        value
        for part in sets.all
        for placed in (part.policies, part.bindings)
        for value in placed.values()
    )
    return decoded is not None and any(
        is_original(item.document, alteration.document) and item.value == decoded.value
        for item in values
    )


def compiled_policy(engines: Engines, name: str) -> admission.PolicyFrame:
    """Return the policy of a name, with its programs."""
    mutating = () if engines.mutating is None else engines.mutating.policies
    frames: list[admission.PolicyFrame] = [*engines.validating.policies, *mutating]
    return next(frame for frame in frames if frame.name == name)


def compiles(engines: Engines, name: str) -> bool:
    """Return whether all expressions of a policy do."""
    return all(
        expression.error is None for expression in compiled_policy(engines, name).expressions
    )


def is_original(document: Document, original: Document) -> bool:
    """Return whether both are the same place of a file."""
    return (document.file, document.line()) == (original.file, original.line()) and (
        document.value["kind"] == original.value["kind"]
    )


def _decoded(alteration: Alteration) -> Placed[admission.registration.RegistrationObject] | None:
    value = alteration.altered
    if value is None:
        return None
    document = replace(alteration.document, value=value)
    version = str(value["apiVersion"]).rpartition("/")[2]
    return Placed(
        admission.registration.decode_object(value, value["kind"], version).value, document
    )


def _changed(
    policy_set: PolicySet,
    document: Document,
    placed: Placed[admission.registration.RegistrationObject] | None,
) -> PolicySet:
    """Return the set with other policies and bindings; the order of the names stays."""
    policies, bindings = {}, {}
    for name, policy in policy_set.policies.items():
        if not is_original(policy.document, document):
            policies[name] = policy
        elif placed is not None and isinstance(placed.value, admission.registration.Policy):
            policies[name] = Placed(placed.value, placed.document)
    for name, binding in policy_set.bindings.items():
        if not is_original(binding.document, document):
            bindings[name] = binding
        elif placed is not None and isinstance(placed.value, admission.registration.Binding):
            bindings[name] = Placed(placed.value, placed.document)
    return replace(policy_set, policies=policies, bindings=bindings)


# --- Glances -----------------------------------------------------------------
#
# What a request comes to, as far as it takes to see that two policies differ.
#
# A request is sent through the mutating policies and judged by the validating ones; nobody
# checks it against a schema, and no report is made. Where two glances are equal, no case can
# tell the policies apart; where they are not, the case is run as any other. Of what is equal in
# `shown` nobody can be told apart by what a client or the audit log gets to see.

_LOOKED: frozenset[admission.Outcome] = frozenset({admission.Outcome.EVALUATED})


class Glance:
    """Shows how one request was decided. `sent` is None for what cannot be asked. `seen` is equal
    for what looks the same; `reached` are the policies that were evaluated."""

    __slots__ = ("_text", "_verdict", "reached", "seen", "sent")

    def __init__(
        self, sent: PreparedRequest | None, verdict: admission.Verdict | None = None
    ) -> None:
        self.sent = sent
        self._verdict = verdict
        self._text: str | None = None
        self.seen: tuple[Any, ...] = ()
        self.reached: frozenset[str] = frozenset()
        if sent is not None and verdict is not None:
            decisions = tuple(map(_without_cost, verdict.decisions))
            signs = _said(sent.outcome)
            self.seen = (*_answer(sent, verdict), *signs, decisions, verdict.notes)
            self.reached = _reached(sent.outcome, verdict)

    @property
    def shown(self) -> str:
        """Return JSON that is equal for what looks the same from outside."""
        if self._text is None and self.sent is not None and self._verdict is not None:
            outcome, verdict = self.sent.outcome, self._verdict
            spoken = sorted(map(json.dumps, _spoken(outcome, verdict)))
            result = (*_answer(self.sent, verdict), sorted(self.reached), spoken)
            self._text = json.dumps(result, sort_keys=True, default=str)
        return self._text or ""

    @property
    def answer(self) -> tuple[Json, ...]:
        """Return what a client and the audit log get to see."""
        if self.sent is None or self._verdict is None:
            return ()
        return _answer(self.sent, self._verdict)

    @property
    def signs(self) -> tuple[object, ...]:
        """Return which parts of policies had a say, whatever they said."""
        if self.sent is None or self._verdict is None:
            return ()
        return _signs(self.sent.outcome, self._verdict)


def glance(bench: Bench, case: case_results.Case, sent: PreparedRequest | None = None) -> Glance:
    """Look at a case. `sent` is what another bench has sent, if both have the same mutating
    policies."""
    if sent is None:
        sent = bench.sent(case)
    if sent is None:
        return Glance(None)
    engine = bench.setting(case).engines.validating
    return Glance(sent, engine.noted(sent.document_request.request, sent.setting.world))


def _answer(sent: PreparedRequest, verdict: admission.Verdict) -> tuple[Any, ...]:
    return (
        sent.document_request.request.object,
        verdict.status,
        verdict.warnings,
        verdict.audit_annotations,
    )


def _reached(outcome: WebhookOutcome, verdict: admission.Verdict) -> frozenset[str]:
    notes = (*verdict.notes, *(() if outcome.mutation is None else outcome.mutation.notes))
    reached = {note.policy for note in notes if note.outcome in _LOOKED}
    return frozenset(reached.union(decision.policy for decision in verdict.decisions))


def _signs(outcome: WebhookOutcome, verdict: admission.Verdict) -> tuple[Any, ...]:
    happened = outcome.mutation
    spoke = [
        (decision.policy, decision.binding, decision.source, decision.cause)
        for decision in verdict.decisions
    ]
    notes = [(note.outcome, note.policy, note.binding, note.detail) for note in verdict.notes]
    if happened is None:
        return (*spoke, *notes)
    failures = [(failure.policy, failure.source) for failure in happened.failures]
    more = [(note.outcome, note.policy, note.detail) for note in happened.notes]
    effects = [(effect.policy, effect.index) for effect in happened.effects]
    return (*spoke, *notes, *failures, *more, *effects)


def _said(outcome: WebhookOutcome) -> tuple[Any, ...]:
    """Return what mutating policies had to say besides the object."""
    happened = outcome.mutation
    if happened is None:
        return (None,)
    return happened.failures, happened.notes


def _spoken(outcome: WebhookOutcome, verdict: admission.Verdict) -> set[tuple[Json, ...]]:
    """Return what expressions of which policies have said, through whatever binding, and what they
    would have said if it were not ignored."""
    failures = () if outcome.mutation is None else outcome.mutation.failures
    return {
        *(
            (decision.policy, str(decision.source), decision.message, decision.denies)
            for decision in verdict.decisions
        ),
        *((note.policy, str(note.source), note.detail) for note in verdict.notes if note.source),
        *(
            (failure.policy, str(failure.source), failure.text, failure.ignored)
            for failure in failures
        ),
    }


def _without_cost(decision: admission.Decision) -> admission.Decision:
    return decision if decision.cost is None else replace(decision, cost=None)


# --- Quoted expressions ------------------------------------------------------
#
# Expressions in messages: what a validation says that has no message, and what an error says.
#
# An altered expression is another text, so whoever expects such a message would notice any
# change at once, whatever it does. What is expected of an altered policy, and what it shows,
# therefore has the one text in the place of the other.

_QUOTES: Final = (("failed expression: ", ""), ("expression '", "'"))
"""What stands before and behind an expression, as `celadon.admission` puts it."""


def for_altered(case: case_results.Case, alteration: Alteration) -> case_results.Case:
    """Return the case with what is expected where its messages quote the altered expression."""
    texts = _texts(alteration)
    if texts is None:
        return case
    original, altered = texts
    expectation = case.expect

    def put(match: case_results.TextMatch) -> case_results.TextMatch:
        return replace(match, text=_quoting(match.text, original, altered))

    text_matches = (
        isinstance(expectation.validation, str)
        and expectation.validation.split() == original.split()
    )
    expect: case_results.Expectation = replace(
        expectation,
        message=None if expectation.message is None else put(expectation.message),
        warnings=None if expectation.warnings is None else tuple(map(put, expectation.warnings)),
        audit_annotations={
            key: put(audit_annotation)
            for key, audit_annotation in expectation.audit_annotations.items()
        },
        validation=altered if text_matches else expectation.validation,
    )
    return replace(case, expect=expect)


def as_original(text: str, alteration: Alteration) -> str:
    """JSON in which messages quote the altered expression, with the original one."""
    texts = _texts(alteration)
    if texts is None:
        return text
    once = [json.dumps(word)[1:-1] for word in texts]
    twice = [json.dumps(word)[1:-1] for word in once]
    for original, altered in (once, twice):
        text = _quoting(text, altered, original)
    return text


def _texts(alteration: Alteration) -> tuple[str, str] | None:
    """Return the original expression and the altered one."""
    original = alteration.document.value_at(alteration.path)
    if alteration.expression is None or not isinstance(original, str):
        return None
    return original.strip(), alteration.expression.text.strip()


def _quoting(text: str, old: str, new: str) -> str:
    for before, behind in _QUOTES:
        text = text.replace(f"{before}{old}{behind}", f"{before}{new}{behind}")
    return text


@dataclass(slots=True)
class Stage:
    """Holds a policy as it is now, and what is seen of it. `documents` are the policy and its
    bindings; those that stand in the test itself are part of the test, and stay. `glances` are at
    the cases, with the policy as it is."""

    test: case_results.PolicyTest
    bench: Bench
    cases: list[case_results.Case]
    documents: tuple[Document, ...]
    glances: list[Glance] = field(default_factory=list)

    def killer(self, alteration: Alteration) -> str | None:
        """Return the case that fails with it; None if all still pass. What killed last is asked
        first."""
        other = altered_bench(self.bench, alteration)
        for i, (case, before) in enumerate(zip(self.cases, self.glances, strict=True)):
            shared = None if is_mutating(alteration) else before.sent
            if glance(other, case, shared).seen == before.seen:
                continue
            if run_case(other, for_altered(case, alteration)).is_bad:
                self.cases.insert(0, self.cases.pop(i))
                self.glances.insert(0, self.glances.pop(i))
                return full_name(self.test, case)
        return None

    def is_valid(self, alteration: Alteration, name: str) -> bool:
        """Return whether the API server would take it. Expressions are all that can be wrong."""
        if alteration.expression is None or not self.cases:
            return True
        other = altered_bench(self.bench, alteration)
        return compiles(other.setting(self.cases[0]).engines, name)


def is_mutating(alteration: Alteration) -> bool:
    """Return whether it is about a policy that changes objects."""
    return str(alteration.document.value["kind"]).startswith("Mutating")


def stages(
    chosen: Sequence[tuple[case_results.PolicyTest, Sequence[case_results.Case]]],
    versions: Sequence[str],
) -> dict[case_results.Measured, list[Stage]]:
    """Return the stages by the policies that cases are about. `versions` are for tests that name
    none."""
    result: dict[case_results.Measured, list[Stage]] = {}
    for test, cases in chosen:
        if not test.problems:
            for policy, stage in _stages(test, cases, (test.versions or tuple(versions))[-1]):
                result.setdefault(policy, []).append(stage)
    return result


def _stages(
    test: case_results.PolicyTest, cases: Sequence[case_results.Case], version: str
) -> Iterator[tuple[case_results.Measured, Stage]]:
    memory: admission.ExpressionMemory = {}
    bench = Bench(test, version, memory=memory)
    stages_by_policy: dict[case_results.Measured, Stage] = {}
    for case in cases:
        if version not in (case.versions or (version,)):
            continue
        result = run_case(bench, case)
        if result.status is not case_results.Status.PASSED or result.outcome is None:
            continue
        before = glance(bench, case)
        for part in bench.setting(case).sets.all:
            for name in sorted(result.outcome.under_test & part.policies.keys()):
                policy = measured(part.policies[name])
                if policy not in stages_by_policy:
                    documents = _documents(part, name, test)
                    stages_by_policy[policy] = Stage(test, bench, [], documents)
                stages_by_policy[policy].cases.append(case)
                stages_by_policy[policy].glances.append(before)
    yield from stages_by_policy.items()


def _documents(part: PolicySet, name: str, test: case_results.PolicyTest) -> tuple[Document, ...]:
    bindings = (
        binding.document
        for binding in part.bindings.values()
        if binding.value.spec.policy_name == name
    )
    return (
        part.policies[name].document,
        *(binding for binding in bindings if binding.file != test.file),
    )
