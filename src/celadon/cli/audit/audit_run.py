"""`celadon audit`, the main job: policies and inputs to an `AuditReport`, or to one for each of
several releases.

In order: policies as the API server would take them, what they look up in the source
(`audit_inputs`), every block of objects (`object_audit`, in several processes), and what went by
without a word.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Final, NamedTuple, TypeVar

from celadon.admission import Outcome
from celadon.cli.audit import audit_report
from celadon.cli.audit.audit_blocks import AnyPiece, Block, Head
from celadon.cli.audit.audit_inputs import (
    Inputs,
    Survey,
    looked_up,
    looked_up_in,
    lookups_of,
    source_auditor,
    source_world,
)
from celadon.cli.audit.etcd_snapshots import StoredPiece
from celadon.cli.audit.object_audit import AuditSettings
from celadon.cli.check import upgrade_report
from celadon.cli.check.check_report import Notice, NoticeReason, Place
from celadon.cli.check.conversion_calls import converting
from celadon.cli.check.manifests import Manifests, PolicySet, PolicySets, validating_engine
from celadon.cli.check.notices import assumed_namespaces, not_applied, policy_notices
from celadon.cli.check.plugins import unasked_plugins
from celadon.cli.options import VERSIONS
from celadon.cli.processes import possible_workers, received, started
from celadon.cli.reading.documents import Document, DocumentReader, Problem
from celadon.kube import GroupVersionKind, JsonObject, metadata
from celadon.kube.fieldmanager import LAST_APPLIED
from celadon.kube.releases import answering_as, is_since
from celadon.kube.resources import PLUGIN_ORDER, deprecation_of, known_resources
from celadon.records import dataclass, field

# --- Audit workers -----------------------------------------------------------
#
# Auditing in several processes at once, with the findings of one.
#
# Each worker goes through all blocks and takes every so many; going past a block costs next to
# nothing. What they find is put together in the order of the blocks. What a worker owes that
# has ended before its time (somebody has killed it) is audited here.

Blocks = Callable[[], Iterator[Block]]
W = TypeVar("W")

WORTH_WORKERS: Final = 1 << 16
"""Inputs with fewer bytes are audited before workers would have begun."""


def _workers(inputs: Inputs, jobs: int) -> int:
    """Return how many processes audit the inputs: `jobs`, or as many (0) as are worth their
    while."""
    if not jobs and inputs.total < WORTH_WORKERS:
        return 1
    return possible_workers(jobs)


def audited_in_order(blocks: Blocks, audit: Callable[[Block], W], workers: int) -> Iterator[W]:
    """Yield what comes of each block."""
    if workers == 1:
        yield from map(audit, blocks())
        return
    with ExitStack() as stack:
        pipes = [
            started(functools.partial(_every, blocks, audit, first, workers), stack)
            for first in range(workers)
        ]
        for number in itertools.count():
            answer: W | str | None = received(pipes[number % workers])
            if answer is None:
                yield from map(audit, itertools.islice(blocks(), number, None))
                return
            if isinstance(answer, str):
                return
            yield answer


def _every(blocks: Blocks, audit: Callable[[Block], W], first: int, step: int) -> Iterator[W | str]:
    """Yield what comes of a worker's blocks; a text says that there are no more."""
    for block in itertools.islice(blocks(), first, None, step):
        yield audit(block)
    yield "done"


Step = Callable[[int, float], None]
"""Is told how many objects are done, and which share of the inputs."""


@dataclass(frozen=True, slots=True)
class Audit:
    """Holds what is to be done: by which policies, how, and what is told while it happens."""

    manifests: Manifests
    sets: PolicySets
    settings: AuditSettings
    strict: bool
    fail_on: audit_report.FailOn
    step: Step
    emit: Callable[[audit_report.Violation], None] | None = None
    """Is given every violation at once, instead of the report."""

    @property
    def other_documents(self) -> tuple[Document, ...]:
        """Return what was given with the policies and is none."""
        return self.manifests.beside


def audit_inputs(audit: Audit, inputs: Inputs) -> audit_report.AuditReport:
    """Audits what is in files."""
    settings, sets = audit.settings, audit.sets
    wanted_documents = looked_up(inputs.blocks(), lookups_of(sets))
    documents = tuple(element for element in wanted_documents if isinstance(element, Document))
    engine = validating_engine(sets.validating, settings.version)
    survey = Survey(documents)
    source = looked_up_in(survey, audit.other_documents, settings)
    findings = audit_report.Findings(problems=[*audit.manifests.problems, *source.problems])
    findings.ignored.update((notice.message, notice) for notice in inputs.notices)
    workers = _workers(inputs, settings.jobs)
    total = inputs.total
    with converting(source_world(survey, source), settings.conversions, settings.version) as world:
        auditor = source_auditor(world, source, sets, engine, settings)
        for item in audited_in_order(inputs.blocks, auditor.block, workers):
            take(audit, findings, item)
            audit.step(findings.objects, item.read_bytes / total if total else 1.0)
    return finished(audit, findings, source.existing)


def take(audit: Audit, findings: audit_report.Findings, part: audit_report.Findings) -> None:
    """Put what was found behind what was found before."""
    if audit.emit is None:
        findings.add(part, audit.settings.limit)
        return
    for violation in part.violations:
        audit.emit(violation)
    findings.add(part, 0)


def finished(
    audit: Audit, findings: audit_report.Findings, existing: Sequence[JsonObject]
) -> audit_report.AuditReport:
    """Return the report; `existing` is what policies could look up. The groups with most violations
    come first."""
    policies, settings = audit.sets.validating, audit.settings
    notices = (
        *_notices(audit, findings, existing),
        *_guessed(findings),
        *assumed_namespaces(findings.namespaces, existing, ", or in the source"),
        *findings.ignored.values(),
    )
    groups = sorted(findings.groups.items(), key=lambda group: (-group[1].violating, group[0]))
    return audit_report.AuditReport(
        operation=settings.operation.value,
        objects=findings.objects,
        judged=findings.judged,
        total=findings.total,
        policies=tuple(_policies(policies, findings)),
        summary_by=settings.summary_by,
        groups=tuple(groups),
        violation_count=findings.violation_count,
        violations=tuple(findings.violations),
        policy_errors=tuple(error for policy_set in audit.sets.all for error in policy_set.errors),
        notices=notices,
        problems=tuple(dict.fromkeys(findings.problems)),
        strict=audit.strict,
        fail_on=audit.fail_on,
        plugins=settings.choice.asked,
        unasked_plugins=unasked_plugins(settings.choice, findings.unasked),
    )


def _policies(
    policies: PolicySet, findings: audit_report.Findings
) -> Iterator[audit_report.AuditedPolicy]:
    for name in sorted(policies.policies):
        bindings = [
            binding.value
            for binding in policies.bindings.values()
            if binding.value.spec.policy_name == name
        ]
        actions = dict.fromkeys(
            action for binding in bindings for action in binding.spec.validation_actions
        )
        yield audit_report.AuditedPolicy(
            name,
            policies.policies[name].place(),
            tuple(sorted(binding.name for binding in bindings)),
            tuple(actions),
            findings.policies.get(name, audit_report.Tally()),
        )
    for name, tally in sorted(findings.policies.items()):
        if name in PLUGIN_ORDER:
            yield audit_report.AuditedPolicy(name, Place(), (), (), tally)


def _notices(
    audit: Audit, findings: audit_report.Findings, existing: Sequence[JsonObject]
) -> Iterator[Notice]:
    policies = audit.sets.validating
    if not findings.objects and not findings.problems:
        yield Notice(NoticeReason.NOTHING_TO_CHECK, Place(), "there is no object to audit")
    if not policies.policies and not policies.broken:
        yield Notice(
            NoticeReason.NO_POLICY,
            Place(),
            "there is no ValidatingAdmissionPolicy",
            "give policies and bindings with `-f`, or take some with `--library`",
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


def _guessed(findings: audit_report.Findings) -> Iterator[Notice]:
    for (api_version, kind), (resource, place) in findings.guessed.items():
        yield Notice(
            NoticeReason.UNKNOWN_KIND,
            place,
            f"kind `{kind}` of {api_version} is not known, taken for the namespaced "
            f"resource `{resource}`",
            "give its CustomResourceDefinition with `-f`, or in the source",
        )


# --- Several releases --------------------------------------------------------
#
# What several releases of Kubernetes say of what exists, and where they differ.
#
# Each release audits all of it, by policies and plugins of its own. What does not depend on
# policies is looked at once: in which version objects are stored, which versions those name who
# apply objects (`ApiUse`); then each release says whether it serves the version, or can read it.
# The answers are those of `celadon.cli.check.upgrade_report`, and so is the report.

# --- Versions in use ---------------------------------------------------------
#
# Which versions of which kinds are named by what exists, and where.

STORED: Final = "stored"
WRITTEN: Final = "written"
APPLIED: Final = "last applied"
MANAGED: Final = "managed"


class ApiUse(NamedTuple):
    """A version of a kind, and who names it: etcd (STORED), the object as it was read (WRITTEN),
    whoever applied it (APPLIED), or a field `manager` (MANAGED)."""

    gvk: GroupVersionKind
    by: str
    manager: str = ""


@dataclass(slots=True)
class ApiUses:
    """Says how many objects have each use, with the place and the title of the first. `lost` are
    the versions of definitions that objects are stored in, and nobody can read any more."""

    counts: Counter[ApiUse] = field(default_factory=Counter)
    first: dict[ApiUse, tuple[Place, str]] = field(default_factory=dict)
    lost: dict[str, tuple[Place, str]] = field(default_factory=dict)
    objects: int = 0

    def add(self, following: ApiUses) -> None:
        """Take in what was found behind these."""
        self.counts.update(following.counts)
        for use, first in following.first.items():
            self.first.setdefault(use, first)
        self.lost.update(following.lost)
        self.objects += following.objects

    def note(self, use: ApiUse, place: Place, title: str) -> None:
        """Count one more object."""
        self.counts[use] += 1
        self.first.setdefault(use, (place, title))

    def note_object(self, value: JsonObject, place: Place, *, stored: bool) -> None:
        """Note all uses that an object shows."""
        gvk = metadata.gvk(value)
        namespace, name = metadata.namespace(value), metadata.name(value)
        title = f"{namespace}/{name}" if namespace else name
        self.objects += 1
        for use in dict.fromkeys((ApiUse(gvk, STORED if stored else WRITTEN), *_named(value))):
            self.note(use, place, title)
        if metadata.is_definition(value):
            versions = {
                version.get("name") for version in _dict(value.get("spec")).get("versions") or ()
            }
            stored_in = _dict(value.get("status")).get("storedVersions") or ()
            for version in stored_in:
                if versions and version not in versions:
                    self.lost[f"{name}/{version}"] = place, name


def _named(value: JsonObject) -> Iterator[ApiUse]:
    """Yield the versions that those name who write an object."""
    about = metadata.metadata(value)
    kind = str(value.get("kind"))
    applied = _dict(about.get("annotations")).get(LAST_APPLIED)
    if isinstance(applied, str):
        try:
            configuration = _dict(json.loads(applied))
        except (ValueError, RecursionError):
            configuration = {}
        if isinstance(configuration.get("apiVersion"), str):
            yield ApiUse(_gvk(configuration["apiVersion"], kind), APPLIED)
    for entry in about.get("managedFields") or ():
        version = _dict(entry).get("apiVersion")
        if isinstance(version, str) and not _dict(entry).get("subresource"):
            yield ApiUse(_gvk(version, kind), MANAGED, str(entry.get("manager") or ""))


def _gvk(api_version: str, kind: str) -> GroupVersionKind:
    return metadata.gvk({"apiVersion": api_version, "kind": kind})


def _dict(value: object) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def uses_of_inputs(inputs: Inputs, jobs: int) -> ApiUses:
    """Return the uses of all objects of files."""
    uses = ApiUses()
    for item in audited_in_order(inputs.blocks, _uses_of_block, _workers(inputs, jobs)):
        uses.add(item)
    return uses


def _uses_of_block(block: Block) -> ApiUses:
    uses, reader = ApiUses(), DocumentReader()
    for piece in block.pieces():
        if isinstance(piece, Problem):
            continue
        stored = isinstance(piece, StoredPiece)
        for item in piece.objects(reader):
            if not isinstance(item, Problem):
                uses.note_object(item.value, item.place, stored=stored)
            elif stored:
                _note_head(uses, piece)
    return uses


def _note_head(uses: ApiUses, piece: AnyPiece) -> None:
    """Note the version that the envelope tells of a value that cannot be decoded."""
    head: Head | None = piece.head()
    if head is not None:
        use = ApiUse(_gvk(head.api_version, head.kind), STORED)
        uses.note(use, piece.place, piece.place.file.rpartition("/")[2])
        uses.objects += 1


# --- Comparison --------------------------------------------------------------

_WORDS: Final = {
    audit_report.DENY: "denied",
    audit_report.WARN: "warned",
    audit_report.AUDIT: "audited",
}
_FINE: Final = upgrade_report.Answer("admitted")


def compared_audit(
    releases: Sequence[str],
    audited: Callable[[str, Callable[[audit_report.Violation], None]], audit_report.AuditReport],
    uses: ApiUses,
    problems: Sequence[Problem] = (),
    fail_on: audit_report.FailOn = audit_report.FailOn.DENY,
) -> upgrade_report.UpgradeReport:
    """`audited` audits under a release, which is the current one meanwhile, and tells of each
    violation."""
    differences = upgrade_report.Differences(releases)
    reports = []
    for release in releases:
        violations: dict[tuple[object, ...], list[audit_report.Violation]] = {}

        def emit(
            violation: audit_report.Violation,
            by_object: dict[Any, list[audit_report.Violation]] = violations,
        ) -> None:
            about = violation.object
            key = about.place.file, about.place.line, about.api_version, about.title
            by_object.setdefault(key, []).append(violation)

        with answering_as(release):
            reports.append(audited(release, emit))
            for use in uses.counts:
                _say_version(differences, release, use, uses)
        for key, violation in violations.items():
            about = violation[0].object
            differences.say(key, about.place, about.title, release, _answer(violation), _FINE)
        for error in reports[-1].policy_errors:
            differences.refuse_policy(release, error)
    return upgrade_report.UpgradeReport(
        tuple(releases),
        max(uses.objects, *(report.objects for report in reports)),
        max(len([policy for policy in report.policies if policy.bindings]) for report in reports),
        tuple(differences.all()),
        tuple(dict.fromkeys((*problems, *_common_problems(reports)))),
        strict=reports[0].strict,
        fail_on_warning=fail_on is audit_report.FailOn.VIOLATION,
        never_fails=fail_on is audit_report.FailOn.NEVER,
        gates=upgrade_report.flipped_gates(releases),
        notices=tuple(_lost(uses)),
    )


def _common_problems(reports: Sequence[audit_report.AuditReport]) -> Iterator[Problem]:
    """Yield inputs that no release can read, and defects of ours. What only some can read is said
    of its version."""
    common = set.intersection(*(set(report.problems) for report in reports))
    for report in reports:
        yield from (
            problem for problem in report.problems if problem in common or problem.is_internal
        )


def _answer(violations: Sequence[audit_report.Violation]) -> upgrade_report.Answer:
    """Return the strongest of what policies and plugins have against an object."""
    effects = [violation.effect for violation in violations]
    effect = next(word for word in _WORDS if word in effects)
    texts = [
        f"{violation.policy}: {violation.message}"
        for violation in violations
        if violation.effect == effect
    ]
    refused = effect == audit_report.DENY
    return upgrade_report.Answer(
        _WORDS[effect],
        refused,
        "; ".join(texts) if refused else "",
        () if refused else tuple(texts),
    )


def _say_version(
    differences: upgrade_report.Differences, release: str, use: ApiUse, uses: ApiUses
) -> None:
    place, title = uses.first[use]
    count = uses.counts[use]
    names = f"`{title}`" if count == 1 else f"{count} objects, first `{title}`"
    subject = {
        STORED: "stored",
        WRITTEN: "written",
        APPLIED: "last applied",
        MANAGED: f"managed by `{use.manager}`",
    }[use.by]
    title = f"{use.gvk.kind} {subject} in {use.gvk.api_version} ({names})"
    answer = _stored(use.gvk) if use.by == STORED else _served(use)
    differences.say(use, place, title, release, answer, answer)


def _stored(gvk: GroupVersionKind) -> upgrade_report.Answer:
    if _is_readable(gvk):
        return upgrade_report.Answer(upgrade_report.READABLE)
    message = f'no kind "{gvk.kind}" is registered for version "{gvk.api_version}"'
    return upgrade_report.Answer(
        upgrade_report.NOT_READABLE,
        is_refused=True,
        message=message,
        replacement=upgrade_report.replacement(gvk),
    )


def _is_readable(gvk: GroupVersionKind) -> bool:
    """Return whether the current release can read what is stored in a version. Versions of long ago
    are known as long as nobody has taken them out, those of custom resources are no matter of the
    release."""
    deprecation = deprecation_of(gvk)
    if deprecation is not None and deprecation.is_forgotten:
        return False
    first = _first_release(gvk)
    return not first or is_since(first)


@functools.cache
def _first_release(gvk: GroupVersionKind) -> str:
    """Return the oldest release that knows a version of a kind; empty if none does."""
    for release in VERSIONS:
        with answering_as(release):
            if known_resources(all_versions=True).by_gvk(gvk) is not None:
                return release
    return ""


def _served(use: ApiUse) -> upgrade_report.Answer:
    """Return what a release says of a use. A manager may have written long ago, so that it would be
    refused now stops nobody."""
    gvk = use.gvk
    if known_resources(all_versions=True).by_gvk(gvk) is not None:
        deprecation = deprecation_of(gvk)
        warning = deprecation.warning(gvk) if deprecation is not None else ""
        return upgrade_report.Answer(upgrade_report.SERVED, warnings=(warning,) if warning else ())
    message = f'no matches for kind "{gvk.kind}" in version "{gvk.api_version}"'
    return upgrade_report.Answer(
        upgrade_report.NOT_SERVED,
        is_refused=use.by != MANAGED,
        message=message,
        replacement=upgrade_report.replacement(gvk),
    )


def _lost(uses: ApiUses) -> Iterator[Notice]:
    for key, (place, definition) in uses.lost.items():
        version = key.rpartition("/")[2]
        yield Notice(
            NoticeReason.UNKNOWN_KIND,
            place,
            f"`{definition}` has objects that are stored in `{version}`, which it does not have "
            "any more: nobody can read them",
            "bring the version back, write the objects anew, then take it out of "
            "`status.storedVersions`",
        )
