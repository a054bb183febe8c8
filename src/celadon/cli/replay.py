"""`celadon replay`: policies and audit logs to a `ReplayReport`, which says what the policies
would have said to each request, beside what was said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Final

from celadon import admission
from celadon.admission.partial_decisions import Missing, judged_partly
from celadon.cli.audit.audit_inputs import given_objects, lookups_of, preparation
from celadon.cli.audit.audit_report import AUDIT, DENY, WARN, effect_of
from celadon.cli.audit.object_audit import PluginAudit, of_former_requests, plugin_finding
from celadon.cli.audit_logs import (
    Logged,
    LoggedLine,
    Undecidable,
    kind_of,
    log_files,
    logged,
    mapping,
    read_events,
    request_of_event,
    target_requests,
    text,
    total_bytes,
)
from celadon.cli.check.check_report import Notice, NoticeReason, Place, PolicyError, UnaskedPlugin
from celadon.cli.check.manifests import Manifests, PolicySet, PolicySets, validating_engine
from celadon.cli.check.notices import (
    Coverage,
    asked,
    assumed_namespaces,
    not_applied,
    policy_notices,
)
from celadon.cli.check.object_preparation import Prepare
from celadon.cli.check.plugins import PluginChoice, Unasked, unasked_plugins
from celadon.cli.exit_codes import Exit
from celadon.cli.reading.documents import Problem, crash, exit_of
from celadon.cli.reading.json_text import read_written
from celadon.goyaml import UnreadableError
from celadon.kube import MASTERS, GroupVersionKind, Json, JsonObject, metadata
from celadon.kube.well_known_values import NAMESPACES, RBAC_GROUP, SERVICE_ACCOUNT_PREFIX
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field

if TYPE_CHECKING:
    from celadon.cli.check.conversion_calls import Services


# --- Findings ----------------------------------------------------------------
#
# What came of the events: what policies would have said, and what was said, by whom and where.
#
# Numbers are kept by policy, user, namespace and controller (the service account that asked),
# with the first and the last time and a few examples, so a log may be of any length.

EXAMPLES: Final = 3
_MOST_GROUPS: Final = 20_000
_OTHERS: Final = "(others)"
BY: Final = ("policy", "user", "namespace", "controller")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time that a policy spoke against a request, or would have. `effect` is `deny`, `warn` or
    `audit`; `controller` is `namespace/name` of the service account that asked, if one did."""

    policy: str
    binding: str
    effect: str
    message: str
    operation: str
    title: str
    namespace: str
    user: str
    controller: str
    time: str
    audit_id: str
    place: Place
    field: str = ""
    rule: Place = Place()
    is_error: bool = False

    def group(self, by: str) -> str:
        """Return its name among groups."""
        return str(getattr(self, by)) or "-"


@dataclass(slots=True)
class Sighted:
    """Says how often, and when: times are as in the log, examples the first ones."""

    denied: int = 0
    warned: int = 0
    audited: int = 0
    first: str = ""
    last: str = ""
    examples: list[Occurrence] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Return the number of all effects."""
        return self.denied + self.warned + self.audited

    def add(self, occurrence: Occurrence) -> None:
        """Count one occurrence more."""
        self.denied += occurrence.effect == "deny"
        self.warned += occurrence.effect == "warn"
        self.audited += occurrence.effect == "audit"
        if occurrence.time:
            self.first = min(self.first or occurrence.time, occurrence.time)
            self.last = max(self.last, occurrence.time)
        if len(self.examples) < EXAMPLES:
            self.examples.append(occurrence)


@dataclass(slots=True)
class Sightings:
    """Counts all times, by each of `BY`."""

    total: Sighted = field(default_factory=Sighted)
    groups: dict[str, dict[str, Sighted]] = field(default_factory=lambda: {by: {} for by in BY})

    def add(self, occurrence: Occurrence) -> None:
        """Count one occurrence more."""
        self.total.add(occurrence)
        for by in BY:
            groups = self.groups[by]
            name = occurrence.group(by)
            # Names of users and namespaces come from the log, so there may be any number of them.
            if name not in groups and len(groups) >= _MOST_GROUPS:
                name = _OTHERS
            groups.setdefault(name, Sighted()).add(occurrence)


def largest(groups: Mapping[str, Sighted], most: int | None) -> list[tuple[str, Sighted]]:
    """Return the sightings with the most times first; all of them for None."""
    return sorted(groups.items(), key=lambda group: (-group[1].count, group[0]))[:most]


@dataclass(slots=True)
class ReplayFindings:
    """Counts the events of a replay. `events` are all that were read; of these `skipped` are of
    other stages, `reads` only read, `unconcerned` are of no policy's concern, and `judged` were
    judged: denied by a policy, or with no policy undecided. `undecidable` counts the others by the
    name of the reason, `undecided` by policy. `namespaces` are those of what was judged. `would` is
    what policies would have said, `did` what was said then."""

    events: int = 0
    skipped: int = 0
    reads: int = 0
    unconcerned: int = 0
    judged: int = 0
    denied: int = 0
    strangers: int = 0
    first: str = ""
    last: str = ""
    would: Sightings = field(default_factory=Sightings)
    did: Sightings = field(default_factory=Sightings)
    matched: Counter[str] = field(default_factory=Counter)
    undecidable: Counter[str] = field(default_factory=Counter)
    undecided: Counter[str] = field(default_factory=Counter)
    namespaces: dict[str, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unasked: Counter[Unasked] = field(default_factory=Counter)
    """The requests that a plugin could not be asked about, per plugin and reason."""


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """Everything; `policies` are the names of those that were replayed."""

    findings: ReplayFindings
    policies: tuple[str, ...]
    policy_errors: tuple[PolicyError, ...]
    notices: tuple[Notice, ...]
    strict: bool = False
    plugins: tuple[str, ...] = ()
    unasked_plugins: tuple[UnaskedPlugin, ...] = ()

    @property
    def exit(self) -> Exit:
        """Return the worst of what happened, as for an audit."""
        findings = self.findings
        if findings.problems:
            return exit_of(findings.problems)
        if self.policy_errors or (self.strict and self.notices):
            return Exit.POLICY
        return Exit.DENIED if findings.denied else Exit.OK


# --- Event replay ------------------------------------------------------------
#
# One event after the other: what policies would have said to it, and what was said then.
#
# What was said is in the event: denials in the sentence of the answer, audits and their
# messages in the annotation `validation.policy.admission.k8s.io/validation_failure`, which also
# says what else such a binding did. Warnings of bindings that do not audit are in no event.

_REFUSED: Final = 400
_NO_OLD_OBJECT: Final = "the log does not have the old object"
_STRONGEST: Final = (("Deny", DENY), ("Warn", WARN))
"""Actions of bindings."""
_DENIAL: Final = late_pattern(
    r"ValidatingAdmissionPolicy '([^']*)'(?: with binding '([^']*)')? denied request: (.*)", re.S
)


class EventReplay:
    """Replays events, and puts down what comes of them."""

    __slots__ = ("_engine", "_findings", "_missing", "_plugins", "_policies", "_prepare", "_world")

    def __init__(
        self,
        engine: admission.Engine,
        world: admission.World,
        prepare: Prepare,
        policies: PolicySet,
        findings: ReplayFindings,
        missing: tuple[Missing, ...],
        plugins: PluginAudit,
    ) -> None:
        """`missing` is what no event tells, and nobody gave."""
        self._engine = engine
        self._world = world
        self._prepare = prepare
        self._policies = policies
        self._findings = findings
        self._missing = missing
        self._plugins = plugins

    def take(self, line: LoggedLine) -> None:
        """Take an event; an error of our own is not the others' trouble."""
        findings = self._findings
        if line.event is None:
            findings.strangers += 1
            return
        findings.events += 1
        if line.event.value.get("stage") not in (None, "ResponseComplete"):
            findings.skipped += 1
            return
        record = logged(line.event)
        if record is None:
            findings.reads += 1
            return
        if record.time:
            findings.first = min(findings.first or record.time, record.time)
            findings.last = max(findings.last, record.time)
        try:
            for occurrence in self._said(record, line):
                findings.did.add(occurrence)
            self._replay(record, line)
        except Exception as error:  # noqa: BLE001 - one event's trouble is not the others'
            findings.problems.append(crash(line.file, line.line, "replaying an event", error))

    def _replay(self, record: Logged, line: LoggedLine) -> None:
        findings = self._findings
        kind = kind_of(record, self._world.catalog)
        group_version_kind = GroupVersionKind("", "", "") if kind is None else kind
        requests = target_requests(record, group_version_kind)
        targets = list(requests)
        of_policies = any(self._engine.may_concern(target, self._world) for target in targets)
        looking = {name for target in targets for name in self._plugins.desk.concerned(target)}
        if not of_policies and not looking:
            findings.unconcerned += 1
            return
        request = (
            Undecidable.KIND if kind is None else request_of_event(record, kind, self._prepare)
        )
        refused = bool(looking) and self._ask_plugins(looking, request, record, kind, line)
        if not of_policies:
            findings.denied += refused
            if (
                isinstance(request, Undecidable)
                or request.operation is not admission.Operation.CREATE
            ):
                findings.unconcerned += 1
            else:
                findings.judged += 1
            return
        if isinstance(request, Undecidable):
            findings.undecidable[request.name] += 1
            return
        missing = (
            record.missing if MASTERS in record.user.groups else record.missing + self._missing
        )
        verdict = judged_partly(self._engine, request, self._world, missing)
        findings.matched.update(verdict.matched)
        if request.namespace and record.resource != NAMESPACES:
            findings.namespaces.setdefault(request.namespace, Place(line.file, line.line))
        against = [
            decision for decision in verdict.decisions if decision.action is admission.Action.DENY
        ]
        for decision in against:
            findings.would.add(self._occurrence(decision, record, kind, line))
        denied = refused or any(decision.denies for decision in against)
        findings.denied += denied
        findings.undecided.update(verdict.undecided)
        if verdict.undecided and not denied:
            findings.undecidable[Undecidable.MISSING.name] += 1
        else:
            findings.judged += 1

    def _ask_plugins(
        self,
        looking: Iterable[str],
        request: admission.Request | Undecidable,
        record: Logged,
        kind: GroupVersionKind | None,
        line: LoggedLine,
    ) -> bool:
        """Return whether a plugin would have refused it. What they compare objects with is in no
        log, so that they are asked about what is created only."""
        findings = self._findings
        if isinstance(request, Undecidable) or request.operation is not admission.Operation.CREATE:
            reason = _NO_OLD_OBJECT if isinstance(request, admission.Request) else request.value
            findings.unasked.update((name, reason) for name in looking)
            return False
        answer = self._plugins.answer(request)
        findings.unasked.update(set(answer.unasked))
        finding = plugin_finding(answer)
        if finding is None:
            return False
        occurrence = _occurrence(record, line, kind)(
            policy=finding.plugin,
            binding="",
            effect=finding.effect,
            message=finding.message,
            field=finding.label,
        )
        findings.would.add(occurrence)
        return finding.effect == DENY

    def _occurrence(
        self,
        decision: admission.Decision,
        record: Logged,
        kind: GroupVersionKind | None,
        line: LoggedLine,
    ) -> Occurrence:
        return _occurrence(record, line, kind)(
            policy=decision.policy,
            binding=decision.binding,
            effect=effect_of(decision),
            message=decision.message,
            field=decision.source.path.text,
            rule=self._policies.place(decision.source, decision.policy, decision.binding),
            is_error=decision.cause is not admission.Cause.VALIDATION,
        )

    def _said(self, record: Logged, line: LoggedLine) -> Iterator[Occurrence]:
        """Yield what policies of the cluster said to it."""
        occurrence = _occurrence(record, line, kind_of(record, self._world.catalog))
        status = mapping(record.event.get("responseStatus"))
        # A denial is in no annotation, only in the message of the answer; what warned or audited is
        # in the annotation.
        match = _DENIAL.search(text(status.get("message"))) if record.code >= _REFUSED else None
        if match is not None:
            policy, binding, message = match[1], match[2] or "", match[3]
            yield occurrence(policy=policy, binding=binding, effect=DENY, message=message)
        for failure in _failures(record):
            policy, binding = text(failure.get("policy")), text(failure.get("binding"))
            # A binding may deny and audit: that is one finding.
            if match is not None and (policy, binding) == (match[1], match[2]):
                continue
            effect, message = _effect_of(failure), text(failure.get("message"))
            yield occurrence(policy=policy, binding=binding, effect=effect, message=message)


def _effect_of(failure: JsonObject) -> str:
    """Return the strongest of what the binding did: it audits, or there would be no annotation."""
    actions = failure.get("validationActions")
    action_names = actions if isinstance(actions, list) else []
    return next((effect for action, effect in _STRONGEST if action in action_names), AUDIT)


def _failures(record: Logged) -> list[dict[str, Json]]:
    """Return what the annotation says has failed; what cannot be read is none."""
    value = mapping(record.event.get("annotations")).get(admission.VALIDATION_FAILURE)
    try:
        result = read_written(value) if isinstance(value, str) else value
    except UnreadableError:
        return []
    return [row for row in result if isinstance(row, dict)] if isinstance(result, list) else []


def _occurrence(
    record: Logged, line: LoggedLine, kind: GroupVersionKind | None
) -> partial[Occurrence]:
    """Return what makes occurrences in a request of what a policy says."""
    about = mapping(mapping(record.event.get("requestObject")).get("metadata"))
    # A create is sent to the collection, so its name stands in the object only.
    name = record.name or text(about.get("name")) or text(about.get("generateName"))
    where = f"{record.namespace}/" if record.namespace and record.namespace != name else ""
    subject = str(record.resource.group_resource) if kind is None else kind.kind
    subresource = f"/{record.subresource}" if record.subresource else ""
    account = record.user.name.removeprefix(SERVICE_ACCOUNT_PREFIX)
    return partial(
        Occurrence,
        operation=record.operation.value,
        title=f"{subject}{subresource} {where}{name}",
        namespace=record.namespace,
        user=record.user.name,
        controller=account.replace(":", "/") if account != record.user.name else "",
        time=record.time,
        audit_id=text(record.event.get("auditID")),
        place=Place(line.file, line.line),
    )


_NO_ROLES: Final = (Missing.ROLES,)


@dataclass(frozen=True, slots=True)
class Replay:
    """Holds what is to be done. `step` is told how many events are done, and which share of the
    logs."""

    manifests: Manifests
    sets: PolicySets
    version: str
    now: str
    strict: bool
    step: Callable[[int, float], None]
    plugins: PluginChoice = PluginChoice()
    conversions: Services | None = None
    """Where services are that conversion webhooks are behind; None where these are not called."""


def replay(inputs: Replay, logs: Sequence[str]) -> ReplayReport:
    """Replays all events of the logs."""
    documents = (*inputs.manifests.looked_up, *inputs.manifests.admitted)
    prepare = preparation(documents, admission.ADMIN, inputs.now, inputs.version)
    objects, problems = given_objects(documents, prepare)
    findings = ReplayFindings(problems=[*inputs.manifests.problems, *problems])
    policies = inputs.sets.validating
    engine = validating_engine(policies, inputs.version)
    # Without a single role among the files, what an authorizer would say is not known; with some,
    # they are taken for all.
    missing = () if any(metadata.gvk(value).group == RBAC_GROUP for value in objects) else _NO_ROLES
    choice = of_former_requests(inputs.plugins)
    files = log_files(logs)
    total = total_bytes(files)
    with _converting(inputs, admission.ObjectWorld(objects, implicit_namespaces=True)) as world:
        plugins = PluginAudit(choice, inputs.version, world, prepare)
        events = EventReplay(engine, world, prepare, policies, findings, missing, plugins)
        for line in read_events(files):
            if isinstance(line, Problem):
                findings.problems.append(line)
                continue
            events.take(line)
            inputs.step(findings.events, line.read_bytes / total if total else 0.0)
    return ReplayReport(
        findings,
        tuple(sorted(policies.policies)),
        tuple(error for policy_set in inputs.sets.all for error in policy_set.errors),
        tuple(_notices(inputs, findings, [document.value for document in documents])),
        inputs.strict,
        choice.asked,
        unasked_plugins(choice, findings.unasked),
    )


def _converting(
    inputs: Replay, world: admission.ObjectWorld
) -> AbstractContextManager[admission.ObjectWorld]:
    """Return the world, with its conversion webhooks where they are called."""
    if inputs.conversions is None:
        return nullcontext(world)
    from celadon.cli.check.conversion_calls import converting  # late: it loads what waits

    return converting(world, inputs.conversions, inputs.version)


def _notices(
    inputs: Replay, findings: ReplayFindings, existing: Sequence[JsonObject]
) -> Iterator[Notice]:
    policies = inputs.sets.validating
    if not findings.events and not findings.problems:
        yield Notice(NoticeReason.NOTHING_TO_CHECK, Place(), "there is no audit event in the logs")
    yield from not_applied(inputs.sets.mutating, "requests are judged as they came to be stored")
    yield from policy_notices(policies, None, Coverage(), existing, objects=False)
    bound = {binding.value.spec.policy_name for binding in policies.bindings.values()}
    for name, placed in sorted(policies.policies.items()):
        if name in bound and not findings.matched[name] and not findings.undecided[name]:
            text = f"policy `{name}` matched none of the requests that could be judged"
            text = f"{text}{asked(policies, name)}"
            yield Notice(NoticeReason.POLICY_UNMATCHED, placed.place(), text)
    if lookups_of(inputs.sets).namespaces:
        yield from assumed_namespaces(findings.namespaces, existing)
