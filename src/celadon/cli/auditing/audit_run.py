"""The main job: policies and inputs to an `AuditReport`.

In order: policies as the API server would take them, what they look up in the source
(`audit_lookups`), every block of objects (`audit_workers`, `object_audit`), and what went by
without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from celadon.admission import Outcome
from celadon.cli.auditing.audit_findings import Findings, Tally, Violation
from celadon.cli.auditing.audit_inputs import Inputs
from celadon.cli.auditing.audit_lookups import looked_up, lookups_of
from celadon.cli.auditing.audit_report import AuditedPolicy, AuditReport, FailOn, report_of
from celadon.cli.auditing.audit_workers import audited_in_order
from celadon.cli.auditing.object_audit import AuditSettings
from celadon.cli.auditing.source_survey import Survey, looked_up_in, source_auditor
from celadon.cli.checking.check_report import Notice, Place, Silence
from celadon.cli.checking.manifests import Manifests
from celadon.cli.checking.notices import assumed_namespaces, not_applied, policy_notices
from celadon.cli.checking.policy_set import PolicySet, PolicySets, validating_engine
from celadon.cli.reading.documents import Document
from celadon.cli.worker_pipes import possible_workers
from celadon.kube import JsonObject
from celadon.kube.catalogue import PLUGIN_ORDER
from celadon.records import dataclass

Step = Callable[[int, float], None]
"""Is told how many objects are done, and which share of the inputs."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What is to be done: by which policies, how, and what is told while it happens."""

    manifests: Manifests
    sets: PolicySets
    settings: AuditSettings
    strict: bool
    fail_on: FailOn
    step: Step
    emit: Callable[[Violation], None] | None = None
    """Is given every violation at once, instead of the report."""

    @property
    def given(self) -> tuple[Document, ...]:
        """What was given with the policies and is none."""
        return self.manifests.beside


def audit_inputs(audit: Audit, inputs: Inputs) -> AuditReport:
    """Audits what is in files."""
    settings, sets = audit.settings, audit.sets
    found = looked_up(inputs.blocks(), lookups_of(sets))
    documents = tuple(one for one in found if isinstance(one, Document))
    engine = validating_engine(sets.validating, settings.version)
    survey = Survey(documents)
    source = looked_up_in(survey, audit.given, settings)
    auditor = source_auditor(survey, source, sets, engine, settings)
    findings = Findings(problems=[*audit.manifests.problems, *source.problems])
    findings.ignored.update((one.message, one) for one in inputs.notices)
    workers = possible_workers(settings.jobs)
    total = inputs.total
    for one in audited_in_order(inputs.blocks, auditor.block, workers):
        take(audit, findings, one)
        audit.step(findings.objects, one.read_bytes / total if total else 1.0)
    return finished(audit, findings, source.existing)


def take(audit: Audit, findings: Findings, one: Findings) -> None:
    """Puts what was found behind what was found before."""
    if audit.emit is None:
        findings.add(one, audit.settings.limit)
        return
    for violation in one.violations:
        audit.emit(violation)
    findings.add(one, 0)


def finished(audit: Audit, findings: Findings, existing: Sequence[JsonObject]) -> AuditReport:
    """The report; `existing` is what policies could look up."""
    policies = audit.sets.validating
    notices = (
        *_notices(audit, findings, existing),
        *_guessed(findings),
        *assumed_namespaces(findings.namespaces, existing, ", or in the source"),
        *findings.ignored.values(),
    )
    return report_of(
        findings,
        tuple(_policies(policies, findings)),
        tuple(error for one in audit.sets.all for error in one.errors),
        notices,
        operation=audit.settings.operation.value,
        summary_by=audit.settings.summary_by,
        strict=audit.strict,
        fail_on=audit.fail_on,
        choice=audit.settings.choice,
    )


def _policies(policies: PolicySet, findings: Findings) -> Iterator[AuditedPolicy]:
    for name in sorted(policies.policies):
        bindings = [
            one.value for one in policies.bindings.values() if one.value.spec.policy_name == name
        ]
        actions = dict.fromkeys(
            action for one in bindings for action in one.spec.validation_actions
        )
        yield AuditedPolicy(
            name,
            policies.policies[name].place(),
            tuple(sorted(one.name for one in bindings)),
            tuple(actions),
            findings.policies.get(name, Tally()),
        )
    for name, tally in sorted(findings.policies.items()):
        if name in PLUGIN_ORDER:
            yield AuditedPolicy(name, Place(), (), (), tally)


def _notices(audit: Audit, findings: Findings, existing: Sequence[JsonObject]) -> Iterator[Notice]:
    policies = audit.sets.validating
    if not findings.objects and not findings.problems:
        yield Notice(Silence.NOTHING_TO_CHECK, Place(), "there is no object to audit")
    if not policies.policies and not policies.broken:
        yield Notice(
            Silence.NO_POLICY,
            Place(),
            "there is no ValidatingAdmissionPolicy",
            "give policies and bindings with `-f`",
        )
    yield from not_applied(audit.sets.mutating, "objects are audited as they are")
    for name in policies.policies if findings.objects else ():
        findings.coverage.outcomes.setdefault(name, {Outcome.POLICY_UNMATCHED})
    yield from policy_notices(
        policies,
        audit.settings.operation,
        findings.coverage,
        existing,
        objects=bool(findings.objects),
    )


def _guessed(findings: Findings) -> Iterator[Notice]:
    for (api_version, kind), (resource, place) in findings.guessed.items():
        yield Notice(
            Silence.UNKNOWN_KIND,
            place,
            f"kind `{kind}` of {api_version} is not known, taken for the namespaced "
            f"resource `{resource}`",
            "give its CustomResourceDefinition with `-f`, or in the source",
        )
