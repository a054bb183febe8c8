"""One test and one version of Kubernetes: where its cases are judged, as `celadon check` judges,
and compared with what was expected.

What cases share is made once: policies are compiled, the cluster is built. A case that brings
params, bindings or another user has a cluster of its own, in which policies that are the same
are not compiled again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Self

from celadon.admission import ExpressionMemory, Note, Operation, Outcome
from celadon.admission.registration import WARN
from celadon.cli.check import check_report, document_requests
from celadon.cli.check.cluster import (
    Circumstances,
    Cluster,
    Engines,
    cluster_of,
    engines_of,
    with_memory,
)
from celadon.cli.check.manifests import (
    Manifests,
    PolicySet,
    PolicySets,
    WebhookOutcome,
    described,
    policy_sets,
    validating_bindings,
    validating_policies,
    with_policies,
)
from celadon.cli.check.notices import Findings, Sightings
from celadon.cli.check.object_judging import Judge, JudgedObject, Settings, as_stored
from celadon.cli.check.plugins import GivenWorld, OverlaidWorld
from celadon.cli.policytest.case_results import (
    AuthorizerAnswer,
    Case,
    CaseOutcome,
    CaseVerdict,
    Expectation,
    Mismatch,
    PolicyTest,
    TextMatch,
)
from celadon.cli.reading.documents import Document, Problem
from celadon.kube import Answer, Attributes, JsonObject, StatusError
from celadon.kube.registry import JsonPatchError, apply_json_patch
from celadon.kube.workload_controllers import created_objects
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.admission.explain import Explanation


# --- Answered world ----------------------------------------------------------
#
# A world in which some questions to the authorizer have answers given beforehand.


class AnsweredWorld(OverlaidWorld):
    """A world that answers questions itself; of several answers to one the first one counts."""

    __slots__ = ("_answers",)

    def __init__(self, behind: GivenWorld, answers: Sequence[AuthorizerAnswer]) -> None:
        super().__init__(behind)
        self._answers = answers

    def authorize(self, attributes: Attributes) -> Answer:
        """Return an answer that was given, else what the roles of the world say."""
        for answer in self._answers:
            if _is_asked(answer, attributes):
                return answer.ruling, answer.reason, answer.error
        return super().authorize(attributes)


def _is_asked(answer: AuthorizerAnswer, attributes: Attributes) -> bool:
    actual = {
        "user": attributes.user.name,
        "verb": attributes.verb,
        "path": attributes.path,
        "group": attributes.group,
        "version": attributes.version,
        "resource": attributes.resource,
        "subresource": attributes.subresource,
        "namespace": attributes.namespace,
        "name": attributes.name,
    }
    return all(actual[name] == value for name, value in answer.attributes.items())


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A request as it comes to validating policies, and what was `said` before."""

    setting: Cluster
    document_request: document_requests.DocumentRequest
    outcome: WebhookOutcome


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """Holds what was found about one case. `before` and `asked` are its request as it came and as
    mutating policies have left it; None for what nobody could ask."""

    setting: Cluster
    findings: Findings
    before: document_requests.DocumentRequest | None
    document_request: document_requests.DocumentRequest | None
    mutation: Explanation | None = None
    """What mutating policies did and why, for a bench that looks on."""


class Bench:
    """Judges the cases of a test with one version. One that `looks` on tells why mutating policies
    did what they did. With a `memory`, expressions that are in it are not compiled again."""

    def __init__(
        self,
        test: PolicyTest,
        version: str,
        *,
        looks: bool = False,
        memory: ExpressionMemory | None = None,
    ) -> None:
        self.version = version
        self._looks = looks
        self._memory = memory
        self._test = test
        self._settings: dict[Hashable, Cluster] = {}
        self._engines: dict[Hashable, Engines] = {}
        # By the identity of a case, which is kept beside its result, so that no other case gets the
        # same.
        self._created: dict[int, tuple[Case, Case]] = {}
        self._base: Self | None = None
        self._change: Callable[[PolicySets], PolicySets] = lambda sets: sets

    def altered(self, change: Callable[[PolicySets], PolicySets]) -> Bench:
        """Return the same bench with other policies or bindings, for whoever wants to know what
        those would do. All else is shared, and nothing is compiled that is the same."""
        other = Bench(self._test, self.version, looks=self._looks, memory=self._memory)
        other._base, other._change = self, change
        return other

    def sent(self, case: Case) -> PreparedRequest | None:
        """Return the request of a case as mutating policies have left it, before anybody judges it;
        None for what cannot be asked, or is refused for its form. Errors of our own are raised."""
        case = self._about_created(case)
        setting = self.setting(case)
        olds, catalog = _olds(case), setting.world.catalog
        try:
            document_request = document_requests.ask(
                case.object, _question(case), catalog, olds, setting.prepare
            )
        except StatusError:
            return None
        if (
            isinstance(document_request, Problem)
            or document_requests.strictly_refused(document_request) is not None
        ):
            return None
        chain = setting.asking().chain(document_request)
        return PreparedRequest(setting, chain.mutated(), chain.before)

    def judged(self, case: Case) -> JudgedCase:
        """Return what `celadon check` would find about the request of a case."""
        case = self._about_created(case)
        setting = self.setting(case)
        settings = Settings(_question(case), self.version, self._test.now)
        findings = Findings(Sightings(wants_namespaces=False))
        judged_objects: list[JudgedObject] = []
        # Cases share a cluster, but what one case creates is not there for the next.
        quotas = None if setting.quotas is None else setting.quotas.uncharged()
        cluster = replace(setting, quotas=quotas)
        Judge.of(cluster, settings, _olds(case), findings, judged_objects.append).take(case.object)
        if quotas is not None:
            quotas.settle(findings.results, findings.charges)
        if not judged_objects or judged_objects[0].chain.early_refusal is not None:
            return JudgedCase(setting, findings, None, None)
        judged = judged_objects[0]
        mutation = judged.before.mutation
        if mutation is None:
            return JudgedCase(setting, findings, judged.document_request, judged.document_request)
        return JudgedCase(
            setting,
            findings,
            judged.chain.unmutated(),
            judged.document_request,
            mutation.explanation,
        )

    def _about_created(self, case: Case) -> Case:
        """Return a case about what controllers would create, as one about just that; the case
        itself where nothing is created, for instance since it cannot be asked about."""
        if not case.generated:
            return case
        created = self._created.get(id(case))
        if created is None:
            sent = self.sent(replace(case, generated=""))
            created_case = case if sent is None else _created_case(case, sent.document_request)
            created = self._created[id(case)] = case, replace(created_case, generated="")
        return created[1]

    def setting(self, case: Case) -> Cluster:
        """Return the setting of a case, which others may share."""
        user = case.user
        extra = tuple((key, tuple(values)) for key, values in user.extra.items())
        key = (
            # Objects of a file that several cases name are the same ones, so comparing identities
            # is enough.
            tuple(map(id, case.cluster)),
            tuple(map(id, case.answers)),
            (user.name, user.groups, user.uid, extra),
            case.namespace,
        )
        cluster = self._settings.get(key)
        if cluster is None:
            cluster = self._settings[key] = self._made(case)
        return cluster

    def _made(self, case: Case) -> Cluster:
        if self._base is None:
            return self._own_setting(case)
        cluster = self._base.setting(case)
        return replace(cluster, engines=self._altered_engines(cluster.engines))

    def _altered_engines(self, engines: Engines) -> Engines:
        engine = self._engines.get(id(engines))
        if engine is None:
            engine = self._engines[id(engines)] = engines.with_sets(self._change(engines.sets))
        return engine

    def _own_setting(self, case: Case) -> Cluster:
        manifests = described(_latest((*self._test.cluster, *case.cluster), case.namespace))
        circumstances = Circumstances(
            self.version, self._test.now, case.user, case.namespace, plugins=self._test.plugins
        )
        cluster = cluster_of(
            manifests,
            self._engines_for(case),
            circumstances,
            asks_plugins=True,
            overlaid=lambda world: AnsweredWorld(world, case.answers) if case.answers else world,
        )
        return replace(cluster, looks=self._looks)

    def _engines_for(self, case: Case) -> Engines:
        brought = described(case.cluster)
        # The first four parts are policies and bindings: a case that brings other objects needs no
        # engine of its own.
        judges = (document for part in brought.given[:4] for document in part)
        key = tuple(map(id, judges))
        engines = self._engines.get(key)
        if engines is None:
            engines = self._more_engines(brought) if key else self._first_engines()
            self._engines[key] = engines
        return engines

    def _first_engines(self) -> Engines:
        manifests = described(self._test.cluster)
        sets = policy_sets(manifests, self.version, unserved=True)
        return engines_of(sets, self.version, with_memory(self._memory), manifests.problems)

    def _more_engines(self, brought: Manifests) -> Engines:
        first = self._engines.get(())
        if first is None:
            first = self._engines[()] = self._first_engines()
        sets = _merged_sets(first.sets, policy_sets(brought, self.version, unserved=True))
        policy_set = sets.validating
        mutating = None
        if sets.mutating.policies:
            mutating = with_memory(self._memory).mutating(sets.mutating, self.version)
        return Engines(
            sets,
            with_policies(
                first.validating, validating_policies(policy_set), validating_bindings(policy_set)
            ),
            mutating,
            (*first.problems, *brought.problems),
        )


def _created_case(case: Case, document_request: document_requests.DocumentRequest) -> Case:
    """Return what becomes of a workload as mutating policies have left it; the first of a kind."""
    owner, result = document_request.document, document_request.request.object or {}
    # A Deployment makes a ReplicaSet, that one a Pod: down to the kind that is wanted.
    while objects := created_objects(result):
        documents = [
            Document(owner.chunk, (*owner.path, *element.template), element.value)
            for element in objects
        ]
        for item, document in zip(objects, documents, strict=True):
            if item.value["kind"] == case.generated:
                return replace(
                    case, object=document, old=None, operation=Operation.CREATE, user=item.user
                )
        owner = documents[-1]
        result = as_stored(owner.value)
    return case


def _question(case: Case) -> document_requests.Question:
    return document_requests.Question(
        case.operation,
        subresource=case.subresource,
        namespace=case.namespace,
        user=case.user,
        dry_run=case.dry_run,
    )


def _olds(case: Case) -> dict[tuple[str, str, str, str], Document]:
    return (
        {}
        if case.old is None
        else {document_requests.identity(case.object, case.namespace): case.old}
    )


def _merged_sets(first: PolicySets, later: PolicySets) -> PolicySets:
    return PolicySets(
        _merged(first.validating, later.validating), _merged(first.mutating, later.mutating)
    )


def _merged(first: PolicySet, later: PolicySet) -> PolicySet:
    """Return the documents of both; of two with one name the later."""
    return PolicySet(
        {**first.policies, **later.policies},
        {**first.bindings, **later.bindings},
        (first.broken - later.policies.keys()) | later.broken,
        [*first.errors, *later.errors],
    )


def _latest(documents: Iterable[Document], namespace: str) -> list[Document]:
    """Return the last of those that are the same object."""
    return list(
        {
            document_requests.identity(document, namespace): document for document in documents
        }.values()
    )


# --- Comparison --------------------------------------------------------------
#
# What happened against what was expected: one function for each thing that may be expected.

ADMITTING: Final = frozenset(
    {CaseVerdict.ADMIT, CaseVerdict.WARN, CaseVerdict.AUDIT, CaseVerdict.NO_MATCH}
)
"""With these the request must not be refused by others either."""


def mismatches(expect: Expectation, outcome: CaseOutcome) -> list[Mismatch]:
    """Return all that is not as expected; nothing more is looked at where the verdict is
    another."""
    return list(_verdict(expect, outcome)) or [
        *_decided(expect, outcome),
        *_answered(expect, outcome),
        *_warnings(expect, outcome),
        *_annotations(expect, outcome),
        *_mutated(expect, outcome),
    ]


def _verdict(expect: Expectation, outcome: CaseOutcome) -> Iterator[Mismatch]:
    if expect.snapshot:
        text = "nothing yet: `celadon test --update` writes it down"
        yield Mismatch("verdict", text, outcome.verdict.value, expect.place)
    elif expect.verdict is not outcome.verdict:
        plugin = outcome.result.plugin
        actual = outcome.verdict.value + (f", denied by the plugin {plugin}" if plugin else "")
        yield Mismatch("verdict", expect.verdict.value, actual, expect.place)
    elif expect.verdict in ADMITTING and outcome.result.is_refused:
        by = outcome.other_violations[0].policy if outcome.other_violations else ""
        actual = f"denied by policy `{by}`, which is not under test" if by else "refused"
        yield Mismatch("verdict", expect.verdict.value, actual, expect.place)


def decisive(expect: Expectation, outcome: CaseOutcome) -> list[check_report.Violation]:
    """Return the violations that can be the expected one, by policy and validation."""
    violations = list(outcome.deciding)
    if expect.policy:
        violations = [violation for violation in violations if violation.policy == expect.policy]
    if expect.validation is not None:
        violations = [
            violation for violation in violations if _is_validation(violation, expect.validation)
        ]
    return violations


def _is_validation(violation: check_report.Violation, expected: int | str) -> bool:
    if isinstance(expected, int):
        return violation.field.startswith(f"spec.validations[{expected}].")
    return _squeezed(violation.expression) == _squeezed(expected)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _decided(expect: Expectation, outcome: CaseOutcome) -> Iterator[Mismatch]:
    """Yield by which policy and validation the case was decided, and with which message."""
    deciding = outcome.deciding
    by = dict.fromkeys(violation.policy for violation in deciding) or outcome.reached
    if expect.policy and expect.policy not in by:
        yield Mismatch("policy", expect.policy, ", ".join(by) or "none", expect.place)
        return
    if expect.validation is not None and not decisive(expect, outcome):
        actual = "\n".join(
            f"{violation.field}: {_squeezed(violation.expression)}" for violation in deciding
        )
        yield Mismatch("validation", str(expect.validation), actual or "none", expect.place)
        return
    if expect.message is not None:
        yield from _message(expect.message, decisive(expect, outcome), outcome)
    if expect.violations is not None:
        message = expect.message
        texts = [violation.message for violation in decisive(expect, outcome)]
        count = sum(message is None or message.holds(text) for text in texts)
        if count != expect.violations:
            yield Mismatch("violations", str(expect.violations), str(count), expect.place)


def messages(deciding: Iterable[check_report.Violation], outcome: CaseOutcome) -> list[str]:
    """Return what policies say, and what the API server makes of it."""
    result = outcome.result
    texts = [violation.message for violation in deciding]
    sentences = [result.sentence] if result.sentence else []
    ignored = [notice.message for notice in outcome.ignored]
    return [*texts, *sentences, *(warning.text for warning in result.warnings), *ignored]


def _message(
    expected: TextMatch, deciding: list[check_report.Violation], outcome: CaseOutcome
) -> Iterator[Mismatch]:
    result = messages(deciding, outcome)
    if not any(map(expected.holds, result)):
        actual = "\n".join(dict.fromkeys(violation.message for violation in deciding)) or "\n".join(
            result
        )
        yield Mismatch("message", str(expected), actual, expected.place)


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
    warnings = [warning for warning in outcome.result.warnings if warning.violations]
    matches = expect.warnings
    is_met = len(warnings) == len(matches) and all(
        any(map(item.holds, _texts(warning)))
        for item, warning in zip(matches, warnings, strict=True)
    )
    if not is_met:
        yield Mismatch(
            "warnings",
            "\n".join(map(str, matches)) or "none",
            "\n".join(_texts(warning)[-1] for warning in warnings) or "none",
            expect.place,
        )


def _texts(warning: check_report.ClientWarning) -> list[str]:
    return [warning.text, *(violation.message for violation in warning.violations)]


def _annotations(expect: Expectation, outcome: CaseOutcome) -> Iterator[Mismatch]:
    audit_annotations = outcome.result.audit_annotations
    for key, audit_annotation in expect.audit_annotations.items():
        names = [key] if "/" in key else [f"{text}/{key}" for text in sorted(outcome.under_test)]
        values = [audit_annotations[name] for name in names if name in audit_annotations]
        if not any(map(audit_annotation.holds, values)):
            actual = values[0] if values else "absent"
            yield Mismatch(
                f"auditAnnotations.{key}", str(audit_annotation), actual, audit_annotation.place
            )


def _mutated(expect: Expectation, outcome: CaseOutcome) -> Iterator[Mismatch]:
    after = outcome.after or {}
    if expect.object is not None:
        expected = overlaid(after, expect.object)
        if expected != after:
            yield _difference("object", expected, after, expect.place)
    if expect.patch is not None:
        try:
            expected = apply_json_patch(outcome.before or {}, expect.patch)
        except JsonPatchError as error:
            yield Mismatch("patch", json.dumps(expect.patch), str(error), expect.place)
            return
        if expected != after:
            yield _difference("patch", expected, after, expect.place)


def _difference(
    subject: str, expected: JsonObject, actual: JsonObject, place: check_report.Place
) -> Mismatch:
    """Return the difference of two objects: their texts, line by line."""
    return Mismatch(subject, json.dumps(expected, indent=1), json.dumps(actual, indent=1), place)


def overlaid(value: object, expected: object) -> Any:  # noqa: ANN401 - any JSON
    """Return the value with what is wanted of it in place: the same if nothing is missing. Null
    says that a member is absent; lists must have the same items, each with what is wanted of it."""
    if isinstance(expected, Mapping):
        result = dict(value) if isinstance(value, Mapping) else {}
        for key, member in expected.items():
            if member is None:
                result.pop(key, None)
            else:
                result[key] = overlaid(result.get(key), member)
        return result
    if isinstance(expected, Sequence) and not isinstance(expected, str):
        items = value if isinstance(value, list) else []
        return [
            overlaid(items[i] if i < len(items) else None, item) for i, item in enumerate(expected)
        ]
    return expected


# --- Case outcomes -----------------------------------------------------------
#
# What became of a request, seen from the policies under test.


def outcome_of(case: Case, judged: JudgedCase) -> CaseOutcome:
    """Return the outcome of a case that could be judged."""
    result = judged.findings.results[0]
    under_test = under_test_in(case, judged.setting)
    notes = tuple(_notes(judged))
    violations = [violation for violation in result.violations if violation.policy in under_test]
    reached = {note.policy for note in notes if note.outcome is Outcome.EVALUATED}
    reached.update(violation.policy for violation in violations)
    ignored = tuple(_ignored(judged, under_test, notes))
    verdict, deciding = _case_outcomes_verdict(result, violations, reached & under_test, ignored)
    before, document_request = judged.before, judged.document_request
    return CaseOutcome(
        verdict,
        result,
        under_test,
        frozenset(reached & under_test),
        deciding,
        tuple(
            violation
            for violation in result.violations
            if violation.denies and violation.policy not in under_test
        ),
        notes,
        ignored,
        None if before is None else before.request.object,
        None if document_request is None else document_request.request.object,
    )


def under_test_in(case: Case, setting: Cluster) -> frozenset[str]:
    """Return the names of the policies that a case is about."""
    if case.policies:
        return frozenset(case.policies)
    return frozenset(name for part in setting.sets.all for name in part.policies)


def _case_outcomes_verdict(
    result: check_report.ObjectResult,
    violations: list[check_report.Violation],
    reached: set[str] | frozenset[str],
    ignored: tuple[check_report.Notice, ...],
) -> tuple[CaseVerdict, tuple[check_report.Violation, ...]]:
    """Return the verdict, and the violations that it is due to."""
    if refused_by_server(result):
        return CaseVerdict.INVALID, ()
    denying = tuple(violation for violation in violations if violation.denies)
    if denying:
        first = CaseVerdict.ERROR if denying[0].is_error else CaseVerdict.DENY
        return first, denying
    errors = tuple(violation for violation in violations if violation.is_error)
    if errors or ignored:
        return CaseVerdict.ERROR, errors
    if not reached:
        return CaseVerdict.NO_MATCH, ()
    warning = tuple(violation for violation in violations if WARN in violation.actions)
    if warning:
        return CaseVerdict.WARN, warning
    return (CaseVerdict.AUDIT, tuple(violations)) if violations else (CaseVerdict.ADMIT, ())


def refused_by_server(result: check_report.ObjectResult) -> bool:
    """Return whether it is refused, and not by a policy."""
    return result.is_refused and result.denial is None


def _notes(judged: JudgedCase) -> Iterator[Note]:
    findings = judged.findings
    for coverage in (findings.mutations, findings.coverage):
        yield from (note for note, _ in coverage.notes.values())


def _ignored(
    judged: JudgedCase, under_test: frozenset[str], notes: tuple[Note, ...]
) -> Iterator[check_report.Notice]:
    """Errors of policies under test that are let pass."""
    for key, notice in judged.findings.ignored.items():
        if isinstance(key, tuple) and key[0] in under_test:
            yield notice
    for note in notes:
        if note.source is not None and note.policy in under_test:
            place = _place(note, judged.setting)
            text = f"policy `{note.policy}` ignored an error: {note.detail}"
            yield check_report.Notice(check_report.NoticeReason.ERROR_IGNORED, place, text)


def _place(note: Note, setting: Cluster) -> check_report.Place:
    for part in setting.sets.all:
        if note.policy in part.policies and note.source is not None:
            return part.place(note.source, note.policy, note.binding)
    return check_report.Place()
