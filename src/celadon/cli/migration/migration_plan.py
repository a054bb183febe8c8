"""A plan for a whole cluster: which policies of other engines are there, what can move, in which
order, and what exists that the moved ones would refuse.

What exists is audited by the translation as if its bindings were there (`celadon.cli.audit`); what
the old engine has said of the same objects stands beside it (`old_verdicts`).
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from celadon.admission import ADMIN, Operation
from celadon.admission.registration import BINDING_KIND, MUTATING_BINDING_KIND, MUTATING_POLICY_KIND
from celadon.cli.audit.audit_inputs import Inputs
from celadon.cli.audit.audit_report import AuditReport, FailOn, Violation
from celadon.cli.audit.audit_run import Audit, Step, audit_inputs
from celadon.cli.audit.object_audit import AuditSettings
from celadon.cli.check.manifests import described, policy_sets
from celadon.cli.migration.migration_files import migrated_files
from celadon.cli.migration.migration_run import Migration, RuleOutcome
from celadon.cli.migration.old_verdicts import (
    Disagreement,
    Key,
    KyvernoReports,
    OldVerdicts,
    disagreements,
    gatekeeper_verdicts,
)
from celadon.cli.migration.plan_sources import ENGINES, REPORT_GROUPS, wanted_objects
from celadon.cli.options import DEFAULT_VERSION
from celadon.cli.reading.documents import Document, DocumentReader, Problem, Text
from celadon.kube import JsonObject
from celadon.kube.resources import Catalog, known_resources

if TYPE_CHECKING:
    from celadon.apiserver.clientconfig import ClusterLocation

_EXAMPLES: Final = 3


class Course(enum.Enum):
    """How a policy moves; those that can move at once come first."""

    MOVE = "move now: nothing that exists speaks against them"
    REPAIR = "repair first: objects that exist would be refused"
    TOGETHER = "move at one time: they change objects"
    DIVIDE = "divide: some of their rules stay"
    LOOK = "look first: they decide otherwise than their engine has done"
    STAY = "stay"


@dataclass(slots=True)
class Existing:
    """What a rule says of the objects that exist: how many it looked at and refuses, the first of
    them, and where the old engine has said something else."""

    matched: int = 0
    refused: int = 0
    errors: int = 0
    examples: list[Violation] = field(default_factory=list)
    compared: int = 0
    """Of how many objects the old engine has said something."""
    disagreements: list[Disagreement] = field(default_factory=list)


@dataclass(slots=True)
class PlannedPolicy:
    """A policy of another engine, with its rules and what exists."""

    document: Document
    outcomes: list[RuleOutcome]
    existing: list[Existing]
    same_as: str = ""
    """A policy before it that demands the same."""

    @property
    def name(self) -> str:
        """With its namespace, if it has one."""
        about = self.document.value["metadata"]
        return f"{about['namespace']}/{about['name']}" if about.get("namespace") else about["name"]

    @property
    def engine(self) -> str:
        """Whose it is."""
        return ENGINES[self.document.group_kind[0]]

    @property
    def kind(self) -> str:
        """Its kind."""
        return self.document.group_kind[1]

    @property
    def refused(self) -> int:
        """How many objects that exist its rules refuse."""
        return sum(one.refused for one in self.existing)

    @property
    def only_reports(self) -> bool:
        """Whether nothing that it refuses is refused today either."""
        actions = [
            action
            for outcome in self.outcomes
            for one in outcome.translation.documents
            if one["kind"] == BINDING_KIND
            for action in one["spec"]["validationActions"]
        ]
        return bool(actions) and "Deny" not in actions

    @property
    def course(self) -> Course:
        """How it moves."""
        staying = [one for one in self.outcomes if one.translation.reason]
        if len(staying) == len(self.outcomes):
            return Course.STAY
        if any(one.disagreements for one in self.existing):
            return Course.LOOK
        if staying:
            return Course.DIVIDE
        kinds = {one["kind"] for each in self.outcomes for one in each.translation.policies}
        if MUTATING_POLICY_KIND in kinds:
            return Course.TOGETHER
        return Course.REPAIR if self.refused else Course.MOVE


@dataclass(slots=True)
class MigrationPlan:
    """All of it."""

    policies: list[PlannedPolicy]
    """In the order in which they move."""
    kinds: Counter[tuple[str, str]]
    """How many documents there are of each engine and kind."""
    problems: list[Problem]
    audit: AuditReport

    @property
    def outcomes(self) -> list[RuleOutcome]:
        """Those of all rules, in the order of the plan."""
        return [one for policy in self.policies for one in policy.outcomes]

    def taking(self, course: Course) -> list[PlannedPolicy]:
        """Return the policies that move in one way."""
        return [one for one in self.policies if one.course is course]


def plan_of_dumps(inputs: Inputs, step: Step) -> MigrationPlan:
    """Plan for what dumps of a cluster have."""
    given = _Given()
    given.read(wanted_objects(inputs.blocks()), known_resources())
    return given.planned(step, lambda audit: audit_inputs(audit, inputs))


def plan_of_cluster(location: ClusterLocation, step: Step) -> MigrationPlan:
    """Plan for a running cluster."""
    import asyncio

    from celadon.cli.audit.cluster_audit import audit_cluster
    from celadon.cli.migration.plan_cluster import wanted_of_cluster

    given = _Given()
    given.read(*wanted_of_cluster(location))
    return given.planned(step, lambda audit: asyncio.run(audit_cluster(audit, location)))


class _Given:
    """What a cluster has of other engines, translated."""

    def __init__(self) -> None:
        self._migration = Migration()
        self._kinds: Counter[tuple[str, str]] = Counter()
        self._reports = KyvernoReports()

    def read(self, found: Iterable[Document | Problem], catalog: Catalog) -> None:
        """Take in all that is of interest among the objects of a source, and translate it."""
        self._migration.translate(self._policies(found), catalog)
        met = {id(one.document): one.document for one in self._migration.outcomes}
        met |= {id(one.home): one.home for one in self._migration.outcomes if one.home is not None}
        self._kinds.update(
            (ENGINES[group], kind) for group, kind in (one.group_kind for one in met.values())
        )

    def _policies(self, found: Iterable[Document | Problem]) -> Iterator[Document]:
        for one in found:
            if isinstance(one, Problem):
                self._migration.problems.append(one)
            elif one.group_kind[0] in REPORT_GROUPS:
                self._reports.note(one.value)
            else:
                yield one

    def planned(self, step: Step, audited: Callable[[Audit], AuditReport]) -> MigrationPlan:
        """Return the plan; `audited` is told by whom what exists is to be judged."""
        outcomes = self._migration.outcomes
        judges = [_Judge(one, self._verdicts(one)) for one in outcomes]
        report = audited(_audit(outcomes, step, _told(judges)))
        matched = {one.name: one.tally.matched for one in report.policies}
        policies: dict[int, PlannedPolicy] = {}
        for outcome, judge in zip(outcomes, judges, strict=True):
            if outcome.is_heeded_exception:
                continue
            planned = policies.setdefault(
                id(outcome.document), PlannedPolicy(outcome.document, [], [])
            )
            planned.outcomes.append(outcome)
            planned.existing.append(judge.existing(matched))
        order = list(Course)
        ordered = sorted(
            policies.values(), key=lambda one: (order.index(one.course), one.refused, one.name)
        )
        _note_same(ordered)
        problems = [*self._migration.problems, *report.problems]
        return MigrationPlan(ordered, self._kinds, list(dict.fromkeys(problems)), report)

    def _verdicts(self, outcome: RuleOutcome) -> OldVerdicts | None:
        value = outcome.document.value
        if outcome.home is not None:
            return gatekeeper_verdicts(value)
        return self._reports.of(value, outcome.translation.origin.rule)


class _Judge:
    """What a rule says of objects, while they go by."""

    def __init__(self, outcome: RuleOutcome, old: OldVerdicts | None) -> None:
        self.outcome = outcome
        self._old = old
        self._found = Existing()
        self._last: Key | None = None
        self._refused: dict[Key, str] = {}
        """Only of rules of which the old engine has said something."""

    def take(self, violation: Violation) -> None:
        """A violation; those of one object come one after the other."""
        about = violation.object
        key = about.kind, about.namespace, about.name
        if key == self._last:
            return
        self._last = key
        self._found.refused += 1
        self._found.errors += violation.is_error
        if len(self._found.examples) < _EXAMPLES:
            self._found.examples.append(violation)
        if self._old is not None:
            self._refused[key] = violation.message

    def existing(self, matched: dict[str, int]) -> Existing:
        """Return what came of all objects."""
        names = (one["metadata"]["name"] for one in self.outcome.translation.policies)
        self._found.matched = sum(matched.get(name, 0) for name in names)
        if self._old is not None and not self.outcome.translation.reason:
            self._found.compared = self._old.count
            self._found.disagreements = disagreements(self._old, self._refused)
        return self._found


def _told(judges: Iterable[_Judge]) -> Callable[[Violation], None]:
    """Return what tells each judge of the violations of its bindings."""
    by_binding = {
        (one["spec"]["policyName"], one["metadata"]["name"]): judge
        for judge in judges
        for one in judge.outcome.translation.documents
        if one["kind"] == BINDING_KIND
    }

    def told(violation: Violation) -> None:
        judge = by_binding.get((violation.policy, violation.binding))
        if judge is not None:
            judge.take(violation)

    return told


def _audit(outcomes: Iterable[RuleOutcome], step: Step, emit: Callable[[Violation], None]) -> Audit:
    """Return the audit by what validates; the server's own plugins are not asked."""
    reader = DocumentReader()
    documents = [
        document
        for name, content in migrated_files(outcomes)
        for document in reader.read(Text(name, content))
        if isinstance(document, Document)
        and document.value["kind"] not in (MUTATING_POLICY_KIND, MUTATING_BINDING_KIND)
    ]
    manifests = described(documents)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    settings = AuditSettings(Operation.CREATE, ADMIN, DEFAULT_VERSION, now, plugins=())
    sets = policy_sets(manifests, DEFAULT_VERSION)
    return Audit(
        manifests, sets, settings, strict=False, fail_on=FailOn.NEVER, step=step, emit=emit
    )


def _note_same(policies: Iterable[PlannedPolicy]) -> None:
    """Note which policies demand what one before them demands: one of both is enough."""
    first: dict[str, str] = {}
    for one in policies:
        documents = [
            document
            for outcome in one.outcomes
            for document in outcome.translation.documents
            if not outcome.translation.reason
        ]
        demanded = repr([_meaning(document) for document in documents])
        if documents and len(documents) > 1:
            one.same_as = first.setdefault(demanded, one.name)
            if one.same_as == one.name:
                one.same_as = ""


def _meaning(document: JsonObject) -> object:
    """Return what a document says, without names and messages."""
    spec = document.get("spec") or {}
    left = {name: one for name, one in spec.items() if name not in _SAID_OF_NAMES}
    left["validations"] = [one["expression"] for one in spec.get("validations") or ()]
    return document["kind"], left


_SAID_OF_NAMES: Final = ("policyName", "validationActions", "validations")
