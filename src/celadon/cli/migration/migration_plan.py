"""A plan for a whole cluster: which policies of other engines are there, what can move, in which
order, and what exists that the moved ones would refuse.

What exists is audited by the translation as if its bindings were there (`celadon.cli.audit`); what
the old engine has said of the same objects stands beside it.
"""

from __future__ import annotations

import asyncio
import enum
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from celadon.admission import ADMIN, Operation
from celadon.admission.registration import BINDING_KIND, MUTATING_BINDING_KIND, MUTATING_POLICY_KIND
from celadon.cli.audit.audit_blocks import AnyPiece, Block, Piece
from celadon.cli.audit.audit_inputs import Inputs
from celadon.cli.audit.audit_report import AuditedObject, AuditReport, FailOn, Violation
from celadon.cli.audit.audit_run import Audit, Step, audit_inputs
from celadon.cli.audit.object_audit import AuditSettings
from celadon.cli.check.manifests import described, policy_sets
from celadon.cli.migration.migration_run import Migration, RuleOutcome, judged_documents
from celadon.cli.reading.documents import Document, DocumentReader, Problem
from celadon.kube import JsonObject, metadata
from celadon.kube.releases import current_release
from celadon.kube.resources import Catalog, Resource, known_resources
from celadon.kube.well_known_values import DEFINITION_KIND
from celadon.migrate import is_constraint

if TYPE_CHECKING:
    from celadon.apiserver.clientconfig import ClusterLocation
    from celadon.webhook.cluster import ClusterClient

# --- What is there -----------------------------------------------------------

# What a whole cluster has of other engines: their policies and their reports, found among all of
# its objects.

ENGINES: Final = {
    "kyverno.io": "Kyverno",
    "policies.kyverno.io": "Kyverno",
    "config.gatekeeper.sh": "Gatekeeper",
    "constraints.gatekeeper.sh": "Gatekeeper",
    "expansion.gatekeeper.sh": "Gatekeeper",
    "externaldata.gatekeeper.sh": "Gatekeeper",
    "mutations.gatekeeper.sh": "Gatekeeper",
    "templates.gatekeeper.sh": "Gatekeeper",
}
"""The groups with policies, or parts of them, and whose they are."""
REPORT_GROUPS: Final = frozenset({"openreports.io", "wgpolicyk8s.io"})
"""The groups of reports of what exists, which Kyverno writes."""
_WORDS: Final = tuple(
    word.encode() for word in ("kyverno.io", "gatekeeper.sh", DEFINITION_KIND.kind, *REPORT_GROUPS)
)


def is_wanted(group: str, kind: str) -> bool:
    """Return whether objects of a kind are policies, reports, or definitions."""
    return group in ENGINES or group in REPORT_GROUPS or (group, kind) == DEFINITION_KIND


def group_and_kind(value: JsonObject) -> tuple[str, str]:
    """Return the group of an object, empty for the core group, and its kind."""
    group, slash, _ = str(value.get("apiVersion")).rpartition("/")
    return group if slash else "", str(value.get("kind"))


def wanted_objects(blocks: Iterable[Block]) -> Iterator[Document | Problem]:
    """Yield the objects of dumps that are wanted. Only texts that mention an engine are read; what
    is wrong with others is said when they are judged."""
    reader = DocumentReader()
    for block in blocks:
        if not block.mentions(_WORDS):
            continue
        for piece in block.pieces():
            if not isinstance(piece, Problem) and _may_be(piece):
                for document in piece.documents(reader):
                    if isinstance(document, Document) and is_wanted(*document.group_kind):
                        yield document


def _may_be(piece: AnyPiece) -> bool:
    head = piece.head()
    if head is None:
        return not piece.text or any(word in piece.text for word in _WORDS)
    value = {"apiVersion": head.api_version, "kind": head.kind}
    return head.kind.endswith("List") or is_wanted(*group_and_kind(value))


# --- What a running cluster has ----------------------------------------------

# Listed by nothing but GETs. What speaks to a server is imported here only: dumps need none of the
# packages of `celadon[serve]`.


def wanted_of_cluster(location: ClusterLocation) -> tuple[list[Document | Problem], Catalog]:
    """Return the policies, reports and definitions of a cluster, and the resources it serves."""
    return asyncio.run(_wanted(location))


async def _wanted(location: ClusterLocation) -> tuple[list[Document | Problem], Catalog]:
    from celadon.cli.audit.cluster_audit import listed_resources
    from celadon.webhook.cluster import ClusterClient, ClusterError, cluster_catalog, discover

    client = ClusterClient(location)
    result: list[Document | Problem] = []
    catalog = known_resources()
    try:
        catalog = cluster_catalog(await discover(client), [])
        for resource in listed_resources(catalog):
            if is_wanted(resource.gvk.group, resource.gvk.kind):
                result += await _listed(client, resource)
    except ClusterError as error:
        result.append(Problem(location.cluster.server, 0, str(error)))
    finally:
        await client.aclose()
    return result, catalog


async def _listed(client: ClusterClient, resource: Resource) -> list[Document | Problem]:
    """Return the objects of a resource as documents, each as if it stood in a file of its own."""
    from celadon.cli.audit.cluster_audit import pages, path_of
    from celadon.webhook.cluster import ClusterError

    result: list[Document | Problem] = []
    reader = DocumentReader()
    try:
        async for page, _ in pages(client, resource):
            for item in page:
                place = f"{path_of(resource)}/{metadata.name(item)}"
                result += Piece(place, 1, json.dumps(item).encode()).documents(reader)
    except ClusterError as error:
        result.append(Problem(path_of(resource), 0, str(error)))
    return result


# --- What the old engine has said --------------------------------------------

# What the old engine has said of what exists: reports that Kyverno writes (PolicyReport), and the
# status in which Gatekeeper's audit leaves violations. Shown beside what the translation says.

Key = tuple[str, str, str]
"""The kind, namespace and name of an object."""

_REFUSED: Final = ("fail", "warn")
"""Results of reports: `warn` is a failure of a policy that is not scored."""
_ADMITTED: Final = ("pass", "skip")


@dataclass(slots=True)
class OldVerdicts:
    """The objects that a rule refused, and those that it let pass."""

    refused: set[Key] = field(default_factory=set)
    admitted: set[Key] = field(default_factory=set)
    is_whole: bool = False
    """Whether it let everything pass that is not among the refused."""

    @property
    def count(self) -> int:
        """Return of how many objects something was said."""
        return len(self.refused | self.admitted)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An object of which the old engine has said something else."""

    object: Key
    engine_verdict: str
    """`refused` or `admitted`."""
    message: str
    """Why the translation refuses it; empty if it does not."""

    @property
    def title(self) -> str:
        """Return `Deployment shop/web`."""
        kind, namespace, name = self.object
        return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def disagreements(old: OldVerdicts, refused: Mapping[Key, str]) -> list[Disagreement]:
    """Return where the translation, which refuses some objects with a message, says something
    else."""
    result = [
        Disagreement(reference, "refused", "") for reference in sorted(old.refused - refused.keys())
    ]
    result += [
        Disagreement(reference, "admitted", message)
        for reference, message in sorted(refused.items())
        if reference not in old.refused and (old.is_whole or reference in old.admitted)
    ]
    return result


class KyvernoReports:
    """Verdicts by policy and rule, as reports have them."""

    def __init__(self) -> None:
        self._verdicts: dict[tuple[str, str, str], OldVerdicts] = {}

    def note(self, report: JsonObject) -> None:
        """Take in a report; what has another shape says nothing."""
        for result in _mappings(report.get("results")):
            source = str(result.get("source", "kyverno")).lower()
            if not source.startswith("kyverno"):
                continue
            language = "cel" if source.endswith("policy") else ""
            rule = "" if language else _own_rule(str(result.get("rule", "")))
            key = language, str(result.get("policy", "")), rule
            verdicts = self._verdicts.setdefault(key, OldVerdicts())
            for subject in _subjects(report, result):
                if result.get("result") in _REFUSED:
                    verdicts.refused.add(subject)
                elif result.get("result") in _ADMITTED:
                    verdicts.admitted.add(subject)

    def of(self, policy: JsonObject, rule: str) -> OldVerdicts | None:
        """Return what was said by a rule of a policy; without a rule, by one in CEL."""
        about = policy["metadata"]
        name = f"{about['namespace']}/{about['name']}" if about.get("namespace") else about["name"]
        return self._verdicts.get(("" if rule else "cel", name, rule))


def _own_rule(name: str) -> str:
    """Return the rule that one for controllers of Pods was made from."""
    for prefix in ("autogen-cronjob-", "autogen-"):
        name = name.removeprefix(prefix)
    return name


def _subjects(report: JsonObject, result: JsonObject) -> Iterator[Key]:
    named = [*_mappings(result.get("resources")), *_mappings(result.get("subjects"))]
    for subject in named or _mappings([report.get("scope")]):
        yield _key(subject)


def _mappings(value: object) -> list[JsonObject]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _key(reference: JsonObject) -> Key:
    kind, namespace, name = (
        str(reference.get(name) or "") for name in ("kind", "namespace", "name")
    )
    return kind, namespace, name


def gatekeeper_verdicts(constraint: JsonObject) -> OldVerdicts | None:
    """Return what Gatekeeper's audit has left in the status of a constraint; None where it has not
    looked. It names the first violations only, and says how many there are."""
    status = constraint.get("status")
    if not is_constraint(constraint) or not isinstance(status, Mapping):
        return None
    total = status.get("totalViolations")
    if not isinstance(total, int):
        return None
    named = _mappings(status.get("violations"))
    return OldVerdicts({_key(item) for item in named}, is_whole=len(named) == total)


# --- The plan ----------------------------------------------------------------

_EXAMPLES: Final = 3
_ABOUT_SENDERS: Final = ("request.userInfo", "authorizer")


class Course(enum.Enum):
    """A policy moves in one of these ways; those that can move at once come first."""

    MOVE = "move now: nothing that exists speaks against them"
    TRY = "try out first: what exists does not show whom they refuse"
    REPAIR = "repair first: objects that exist would be refused"
    TOGETHER = "move at one time: they change objects"
    DIVIDE = "divide: some of their rules stay"
    LOOK = "look first: they decide otherwise than their engine has done"
    STAY = "stay"


@dataclass(slots=True)
class Existing:
    """A rule says this of the objects that exist: how many it looked at and refuses, the first of
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
        """Return the name with its namespace, if it has one."""
        about = self.document.value["metadata"]
        return f"{about['namespace']}/{about['name']}" if about.get("namespace") else about["name"]

    @property
    def engine(self) -> str:
        """Return the name of the engine whose policy it is."""
        return ENGINES[self.document.group_kind[0]]

    @property
    def kind(self) -> str:
        """Return the kind of the policy."""
        return self.document.group_kind[1]

    @property
    def refused(self) -> int:
        """Return how many objects that exist its rules refuse."""
        return sum(existing.refused for existing in self.existing)

    @property
    def is_shown(self) -> bool:
        """Return whether what exists shows whom it refuses. It is asked as if an administrator
        created it anew: a rule that none of it matches, or that looks at who sends a request, may
        refuse what nobody has seen yet."""
        policies = json.dumps([outcome.translation.policies for outcome in self.outcomes])
        asks_who = any(word in policies for word in _ABOUT_SENDERS)
        return not asks_who and all(existing.matched for existing in self.existing)

    @property
    def only_reports(self) -> bool:
        """Return whether nothing that it refuses is refused today either."""
        actions = [
            action
            for outcome in self.outcomes
            for binding in outcome.translation.documents
            if binding["kind"] == BINDING_KIND
            for action in binding["spec"]["validationActions"]
        ]
        return bool(actions) and "Deny" not in actions

    @property
    def course(self) -> Course:
        """Return how the policy moves."""
        staying = [outcome for outcome in self.outcomes if outcome.translation.reason]
        if len(staying) == len(self.outcomes):
            return Course.STAY
        if any(existing.disagreements for existing in self.existing):
            return Course.LOOK
        if staying:
            return Course.DIVIDE
        kinds = {policy["kind"] for each in self.outcomes for policy in each.translation.policies}
        if MUTATING_POLICY_KIND in kinds:
            return Course.TOGETHER
        if self.refused:
            return Course.REPAIR
        return Course.MOVE if self.is_shown else Course.TRY


@dataclass(slots=True)
class MigrationPlan:
    """Holds the whole plan."""

    policies: list[PlannedPolicy]
    """In the order in which they move."""
    kinds: Counter[tuple[str, str]]
    """How many documents there are of each engine and kind."""
    problems: list[Problem]
    audit: AuditReport

    @property
    def outcomes(self) -> list[RuleOutcome]:
        """Return the outcomes of all rules, in the order of the plan."""
        return [outcome for policy in self.policies for outcome in policy.outcomes]

    def taking(self, course: Course) -> list[PlannedPolicy]:
        """Return the policies that move in one way."""
        return [policy for policy in self.policies if policy.course is course]


def plan_of_dumps(inputs: Inputs, step: Step, *, allows_existing: bool = False) -> MigrationPlan:
    """Plan for what dumps of a cluster have; `allows_existing` as of a `Migration`."""
    plan_inputs = _PlanInputs(allows_existing=allows_existing)
    plan_inputs.read(wanted_objects(inputs.blocks()), known_resources())
    return plan_inputs.planned(step, lambda audit: audit_inputs(audit, inputs))


def plan_of_cluster(
    location: ClusterLocation, step: Step, *, allows_existing: bool = False
) -> MigrationPlan:
    """Plan for a running cluster; `allows_existing` as of a `Migration`."""
    from celadon.cli.audit.cluster_audit import audit_cluster

    plan_inputs = _PlanInputs(allows_existing=allows_existing)
    plan_inputs.read(*wanted_of_cluster(location))
    return plan_inputs.planned(step, lambda audit: asyncio.run(audit_cluster(audit, location)))


class _PlanInputs:
    """Gathers what a cluster has of other engines, translated."""

    def __init__(self, *, allows_existing: bool) -> None:
        self._migration = Migration(allows_existing)
        self._kinds: Counter[tuple[str, str]] = Counter()
        self._reports = KyvernoReports()

    def read(self, items: Iterable[Document | Problem], catalog: Catalog) -> None:
        """Take in all that is of interest among the objects of a source, and translate it."""
        self._migration.translate(self._policies(items), catalog)
        documents = {id(outcome.document): outcome.document for outcome in self._migration.outcomes}
        documents |= {
            id(outcome.home): outcome.home
            for outcome in self._migration.outcomes
            if outcome.home is not None
        }
        self._kinds.update(
            (ENGINES[group], kind)
            for group, kind in (document.group_kind for document in documents.values())
        )

    def _policies(self, items: Iterable[Document | Problem]) -> Iterator[Document]:
        for item in items:
            if isinstance(item, Problem):
                self._migration.problems.append(item)
            elif item.group_kind[0] in REPORT_GROUPS:
                self._reports.note(item.value)
            else:
                yield item

    def planned(self, step: Step, audited: Callable[[Audit], AuditReport]) -> MigrationPlan:
        """Return the plan; `audited` is told by whom what exists is to be judged."""
        outcomes = self._migration.outcomes
        judges = [_Judge(outcome, self._verdicts(outcome)) for outcome in outcomes]
        report = audited(_audit(outcomes, step, _told(judges)))
        matched = {policy.name: policy.tally.matched for policy in report.policies}
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
            policies.values(),
            key=lambda policy: (order.index(policy.course), policy.refused, policy.name),
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
    """Takes down what a rule says of objects, while they go by."""

    def __init__(self, outcome: RuleOutcome, old: OldVerdicts | None) -> None:
        self.outcome = outcome
        self._old = old
        self._existing = Existing()
        self._last: AuditedObject | None = None
        self._refused: dict[Key, str] = {}
        """Only of rules of which the old engine has said something."""

    def take(self, violation: Violation) -> None:
        """Take a violation; those of one object come one after the other."""
        about = violation.object
        key = about.kind, about.namespace, about.name
        if about == self._last:
            return
        self._last = about
        self._existing.refused += 1
        self._existing.errors += violation.is_error
        if len(self._existing.examples) < _EXAMPLES:
            self._existing.examples.append(violation)
        if self._old is not None:
            self._refused[key] = violation.message

    def existing(self, matched: dict[str, int]) -> Existing:
        """Return what came of all objects."""
        names = (policy["metadata"]["name"] for policy in self.outcome.translation.policies)
        self._existing.matched = sum(matched.get(name, 0) for name in names)
        if self._old is not None and not self.outcome.translation.reason:
            self._existing.compared = self._old.count
            self._existing.disagreements = disagreements(self._old, self._refused)
        return self._existing


def _told(judges: Iterable[_Judge]) -> Callable[[Violation], None]:
    """Return what tells each judge of the violations of its bindings."""
    by_binding = {
        (binding["spec"]["policyName"], binding["metadata"]["name"]): judge
        for judge in judges
        for binding in judge.outcome.translation.documents
        if binding["kind"] == BINDING_KIND
    }

    def note(violation: Violation) -> None:
        judge = by_binding.get((violation.policy, violation.binding))
        if judge is not None:
            judge.take(violation)

    return note


def _audit(outcomes: Iterable[RuleOutcome], step: Step, emit: Callable[[Violation], None]) -> Audit:
    """Return the audit by what validates; the server's own plugins are not asked."""
    documents = [
        judged_document
        for judged_document in judged_documents(outcomes)
        if judged_document.value["kind"] not in (MUTATING_POLICY_KIND, MUTATING_BINDING_KIND)
    ]
    manifests = described(documents)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    settings = AuditSettings(Operation.CREATE, ADMIN, current_release(), now, plugins=())
    sets = policy_sets(manifests, current_release())
    return Audit(
        manifests, sets, settings, strict=False, fail_on=FailOn.NEVER, step=step, emit=emit
    )


def _note_same(policies: Iterable[PlannedPolicy]) -> None:
    """Note which policies demand what one before them demands: one of both is enough."""
    first: dict[str, str] = {}
    for policy in policies:
        documents = [
            document
            for outcome in policy.outcomes
            for document in outcome.translation.documents
            if not outcome.translation.reason
        ]
        demanded = repr([_meaning(document) for document in documents])
        if documents and len(documents) > 1:
            policy.same_as = first.setdefault(demanded, policy.name)
            if policy.same_as == policy.name:
                policy.same_as = ""


def _meaning(document: JsonObject) -> object:
    """Return what a document says, without names and messages."""
    spec = document.get("spec") or {}
    fields = {name: member for name, member in spec.items() if name not in _SAID_OF_NAMES}
    fields["validations"] = [
        validation["expression"] for validation in spec.get("validations") or ()
    ]
    return document["kind"], fields


_SAID_OF_NAMES: Final = ("policyName", "validationActions", "validations")
