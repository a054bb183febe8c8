"""One object after the other against the policies: what admission would say if it were written now.

An object that exists is asked about as if it were created, or updated to what it is. Policies and
the server's own plugins are asked; whether the object is valid is not, since it is there. One that
a server has written (it has a `uid`) is taken as it is; one from a manifest is filled in first, as
`check` does it.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from celadon import admission
from celadon.admission.plugins import POD_SECURITY, RESOURCE_QUOTA, SECURITY_LABELS
from celadon.admission.write_requests import write_options
from celadon.cli.audit import audit_report
from celadon.cli.audit.audit_blocks import AnyPiece, Block, Head, Piece, ReadObject
from celadon.cli.check.check_report import Notice, NoticeReason, Place
from celadon.cli.check.manifests import PolicySet
from celadon.cli.check.object_preparation import Prepare, PreparedObject
from celadon.cli.check.plugins import GivenWorld, PluginAnswer, PluginChoice, PluginDesk
from celadon.cli.reading.documents import Document, DocumentReader, Problem, crash
from celadon.kube import GroupVersionKind, JsonObject, User, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import Target, WriteOptions
from celadon.kube.resources import DEFAULT_PLUGINS, Resource, guessed_resource, known_resources
from celadon.kube.well_known_values import NAMESPACES
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.check.conversion_calls import Services

# --- Plugin findings ---------------------------------------------------------
#
# What plugins have against an object that exists, or a request of the past, in the words of
# audits: the strongest of what they say, with its effect.
#
# ResourceQuota is not asked: what exists is counted in its quotas already, and what was used
# when a request came nobody knows.

_ENTRY: Final = " is forbidden: "
"""Behind it stands why, in refusals that say so."""
COUNTED: Final = "what exists is counted already"
_FORMER: Final = "what was used when a request came is not known"


class PluginFinding(NamedTuple):
    """Holds what a plugin has against an object. `label` is that of the namespace that asks for it,
    if it is PodSecurity that speaks."""

    plugin: str
    effect: str
    message: str
    label: str = ""


class PluginAudit:
    """Asks the plugins of a choice about objects that exist. What one refuses is shown to all of
    them once more as if it were sent anew: rules of plugins fill in what nobody has when it was
    stored, the defaults of a LimitRange for instance."""

    def __init__(
        self, choice: PluginChoice, version: str, world: GivenWorld, prepare: Prepare
    ) -> None:
        self.desk = PluginDesk(choice, version, world)
        self.prepare = prepare.with_plugins(self.desk)

    def answer(self, request: admission.Request) -> PluginAnswer:
        """Return what they say of a request about an object as it is stored."""
        answer = self.desk.of_stored(request)
        is_creation = request.operation is admission.Operation.CREATE and not request.subresource
        if answer.refusal is None or request.object is None or not is_creation:
            return answer
        target = self.prepare.target(request.kind, request.namespace)
        document = Document.of_value(dict(request.object))
        created = self.prepare.of_controller(request.user).created(document, target)
        if isinstance(created, Problem) or created.plugin_answer is None:
            return answer
        return self.after(created.plugin_answer, replace(request, object=created.value))

    def after(self, answer: PluginAnswer, request: admission.Request) -> PluginAnswer:
        """Return the second half, for an object of which the first half has told."""
        return answer if answer.refusal is not None else answer.then(self.desk.validated(request))


def of_existing(choice: PluginChoice) -> PluginChoice:
    """Return the plugins that can be asked about what exists."""
    return choice.without(RESOURCE_QUOTA, COUNTED)


def of_former_requests(choice: PluginChoice) -> PluginChoice:
    """Return the plugins that can be asked about requests of the past."""
    return choice.without(RESOURCE_QUOTA, _FORMER)


def plugin_finding(answer: PluginAnswer) -> PluginFinding | None:
    """Return what a plugin has against the object; None where nobody has anything against it."""
    if answer.refusal is not None:
        message = answer.refusal.status.message
        _, entry, reason = message.partition(_ENTRY)
        label = f"{SECURITY_LABELS}enforce" if answer.plugin == POD_SECURITY else ""
        return PluginFinding(answer.plugin, audit_report.DENY, reason if entry else message, label)
    if answer.warnings:
        return PluginFinding(
            POD_SECURITY, audit_report.WARN, answer.warnings[0], f"{SECURITY_LABELS}warn"
        )
    noted = answer.audit_annotations.get(f"{SECURITY_LABELS}audit-violations")
    if noted is None:
        return None
    return PluginFinding(POD_SECURITY, audit_report.AUDIT, noted, f"{SECURITY_LABELS}audit")


_NO_GROUP: Final = "-"
"""What stands for the namespace of objects in none, and for a label that is not there."""
_MATCHED: Final = (
    admission.Outcome.EVALUATED,
    admission.Outcome.CONDITION_ERROR_IGNORED,
    admission.Outcome.CONFIGURATION_ERROR_IGNORED,
)
_IN_CLUSTER: Final = Piece("", 0, b"")
"""Where an object stands that a cluster has, whatever it lacks."""
_OTHER_BYTES: Final = 4096
"""Of a request, besides its objects: names, the user, options."""


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """Holds what the command line says. `summary_by` is `policy`, `namespace` or `label=KEY`;
    `limit` is the number of violations that are kept. `plugins` are the names of those that are
    enabled, in an order that is always the same."""

    operation: admission.Operation
    user: User
    version: str
    now: str
    summary_by: str = "policy"
    limit: int = 10_000
    defaulting: bool = True
    jobs: int = 0
    plugins: tuple[str, ...] = tuple(sorted(DEFAULT_PLUGINS))
    conversions: Services | None = None
    """Where services are that conversion webhooks are behind; None where these are not called."""

    @property
    def choice(self) -> PluginChoice:
        """Return the plugins that are enabled, as far as they can be asked about what exists."""
        return of_existing(PluginChoice(frozenset(self.plugins)))

    @property
    def label(self) -> str:
        """Return the label that objects are grouped by, if they are."""
        return self.summary_by.partition("=")[2]


@dataclass(frozen=True, slots=True)
class _KindPlan:
    """Holds what is known of all objects of a type. `concerned` is whether a policy may be about
    those that are in a namespace, and those that are not."""

    kind: GroupVersionKind
    resource: Resource
    is_guessed: bool
    is_namespace: bool
    concerned: tuple[bool, bool]


class _AuditRequest(NamedTuple):
    """Holds a request that an audit makes up for an object. `said` is what plugins said while the
    object was prepared; None of one that is there."""

    request: admission.Request
    plugin_answer: PluginAnswer | None


class ObjectAuditor:
    """Audits blocks. It may stop keeping violations once it has kept as many as anybody wants: of
    those that it meets later, none can be among the first."""

    __slots__ = (
        "_engine",
        "_options",
        "_plans",
        "_plugins",
        "_policies",
        "_prepare",
        "_reader",
        "_settings",
        "_violation_count",
        "_wants_namespaces",
        "_world",
    )

    def __init__(
        self,
        engine: admission.Engine,
        world: admission.ObjectWorld,
        prepare: Prepare,
        policies: PolicySet,
        settings: AuditSettings,
        *,
        wants_namespaces: bool,
    ) -> None:
        self._engine = engine
        self._world = world
        self._prepare = prepare
        self._policies = policies
        self._settings = settings
        self._wants_namespaces = wants_namespaces
        self._plugins = PluginAudit(settings.choice, settings.version, world, prepare)
        self._options = write_options(settings.operation, WriteOptions())
        self._plans: dict[Head, _KindPlan] = {}
        self._reader = DocumentReader()
        self._violation_count = 0

    def anew(self, most: int) -> ObjectAuditor:
        """Return an auditor that knows what this one knows, and keeps so many violations."""
        other = copy.copy(self)
        other._violation_count = self._settings.limit - most
        return other

    def block(self, block: Block) -> audit_report.Findings:
        """Return what comes of the objects of a block."""
        findings = audit_report.Findings(block.read_bytes)
        for piece in block.pieces():
            if isinstance(piece, Problem):
                findings.problems.append(piece)
            else:
                self._piece(piece, findings)
        return findings

    def objects(self, values: Sequence[JsonDict]) -> audit_report.Findings:
        """Return what comes of objects that were read from a cluster."""
        findings = audit_report.Findings()
        for value in values:
            self._object(ReadObject(value, _IN_CLUSTER), findings)
        return findings

    def may_concern(self, resource: Resource) -> bool:
        """Return whether some policy may be about objects of a resource."""
        return any(self._concerned(resource.gvk, resource))

    def _piece(self, piece: AnyPiece, findings: audit_report.Findings) -> None:
        head = piece.head()
        # The head of a text (its kind and version) is found without reading it whole: most objects
        # of a dump concern no policy, and are only counted.
        if head is not None and not head.kind.endswith("List"):
            plan = self._plan(head)
            if not any(plan.concerned):
                self._count(head, plan, piece.place, findings)
                return
        for item in piece.objects(self._reader):
            if isinstance(item, Problem):
                findings.problems.append(item)
            else:
                self._object(item, findings)

    def _count(
        self, head: Head, plan: _KindPlan, place: Place, findings: audit_report.Findings
    ) -> None:
        """Count an object."""
        findings.objects += 1
        if plan.is_guessed:
            findings.guessed.setdefault(head, (str(plan.resource.gvr.group_resource), place))

    def _object(self, read_object: ReadObject, findings: audit_report.Findings) -> None:
        value = read_object.value
        head = Head(value["apiVersion"], value["kind"])
        plan = self._plan(head)
        self._count(head, plan, read_object.place, findings)
        if not any(plan.concerned):
            return
        try:
            self._judge(read_object, plan, findings)
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            subject = f"judging {value['kind']} {metadata.name(value)}"
            findings.problems.append(
                crash(read_object.place.file, read_object.place.line, subject, error)
            )

    def _plan(self, head: Head) -> _KindPlan:
        plan = self._plans.get(head)
        if plan is None:
            plan = self._plans[head] = self._new_plan(head)
        return plan

    def _new_plan(self, head: Head) -> _KindPlan:
        kind = metadata.gvk({"apiVersion": head.api_version, "kind": head.kind})
        by_gvk = self._world.catalog.by_gvk(kind)
        if by_gvk is None:
            # Dumps hold versions that their cluster does not serve any more.
            by_gvk = known_resources(all_versions=True).by_gvk(kind)
        resource = guessed_resource(kind) if by_gvk is None else by_gvk
        concerned = self._concerned(kind, resource)
        return _KindPlan(kind, resource, by_gvk is None, resource.gvr == NAMESPACES, concerned)

    def _concerned(self, kind: GroupVersionKind, resource: Resource) -> tuple[bool, bool]:
        # Rules may be for objects inside or outside of namespaces only, so both are asked about,
        # once for each kind.
        inside = self._request(kind, resource, "some", "", {})
        outside = self._request(kind, resource, "", "", {})
        engine, world, plugins = self._engine, self._world, self._plugins.desk
        return (
            engine.may_concern(inside, world) or plugins.may_concern(inside),
            engine.may_concern(outside, world) or plugins.may_concern(outside),
        )

    def _request(
        self,
        kind: GroupVersionKind,
        resource: Resource,
        namespace: str,
        name: str,
        value: JsonObject,
        size: int | None = None,
    ) -> admission.Request:
        operation = self._settings.operation
        return admission.Request(
            operation=operation,
            kind=kind,
            resource=resource.gvr,
            name=name,
            namespace=namespace,
            object=value,
            old_object=value if operation is admission.Operation.UPDATE else None,
            user=self._settings.user,
            options=self._options,
            size=size,
        )

    def _judge(
        self, read_object: ReadObject, plan: _KindPlan, findings: audit_report.Findings
    ) -> None:
        value, size, plugin_answer = read_object.value, None, None
        fields = value.get("metadata")
        about: JsonObject = fields if fields.__class__ is dict else {}
        name, namespace = about.get("name") or "", ""
        if plan.resource.namespaced:
            namespace = about.get("namespace") or "default"
        elif plan.is_namespace:
            namespace = name
        # A uid is given by a server, so what has one went through defaulting when it was written.
        exists = about.get("uid") or read_object.piece is _IN_CLUSTER
        if exists or not self._settings.defaulting:
            told_bytes = read_object.piece.told_bytes
            # An upper bound, so that nobody need measure the request: `told_bytes` are those of the
            # object, and the request of an update has it twice.
            size = None if told_bytes is None else _OTHER_BYTES + 2 * told_bytes
        else:
            prepared = self._prepared(read_object, plan, namespace)
            if isinstance(prepared, Problem):
                findings.problems.append(prepared)
                return
            value, plugin_answer = prepared.value, prepared.plugin_answer
            name = metadata.name(value)
        if not plan.concerned[0 if namespace else 1]:
            return
        findings.judged += 1
        if self._wants_namespaces and plan.resource.namespaced:
            findings.namespaces.setdefault(namespace, read_object.place)
        request = self._request(plan.kind, plan.resource, namespace, name, value, size)
        verdict = self._engine.noted(request, self._world)
        self._take(verdict, read_object, _AuditRequest(request, plugin_answer), plan, findings)

    def _prepared(
        self, read_object: ReadObject, plan: _KindPlan, namespace: str
    ) -> PreparedObject | Problem:
        """Return what a server would make of a manifest, and plugins say of it if it is to be
        created."""
        document = read_object.document
        if document is None:
            (document, *_) = (
                document
                for document in read_object.piece.documents(self._reader)
                if not isinstance(document, Problem)
            )
        target = Target(
            plan.resource,
            "" if plan.is_namespace else namespace,
            custom=self._prepare.custom_kind(plan.kind),
        )
        if self._settings.operation is admission.Operation.CREATE:
            return self._plugins.prepare.admitted(document, target)
        stored = self._prepare.stored(document, target)
        return stored if isinstance(stored, Problem) else PreparedObject(stored)

    def _take(
        self,
        verdict: admission.Verdict,
        read_object: ReadObject,
        audit_request: _AuditRequest,
        plan: _KindPlan,
        findings: audit_report.Findings,
    ) -> None:
        request = audit_request.request
        matched = self._matched(verdict, read_object, request, plan, findings)
        against: dict[str, audit_report.Against] = {}
        matched.update(self._take_plugins(audit_request, read_object, plan, findings, against))
        if not verdict.decisions:
            if matched:
                findings.count(matched, against, self._group(request, plan))
            return
        for decision in verdict.decisions:
            if decision.action is admission.Action.DENY:
                against.setdefault(decision.policy, audit_report.Against()).add(decision)
                if decision.cause is admission.Cause.CONFIGURATION:
                    findings.coverage.misconfigured.add(decision.policy)
                findings.violation_count += 1
                if self._violation_count < self._settings.limit:
                    self._violation_count += 1
                    findings.violations.append(
                        self._violation(decision, read_object, request, plan)
                    )
            elif decision.cause is not admission.Cause.VALIDATION:
                self._ignored(decision, read_object, findings)
        matched.update(against)
        findings.count(matched, against, self._group(request, plan))

    def _take_plugins(
        self,
        audit_request: _AuditRequest,
        read_object: ReadObject,
        plan: _KindPlan,
        findings: audit_report.Findings,
        against: dict[str, audit_report.Against],
    ) -> Collection[str]:
        """Take in what plugins have against an object. Of who looked at it, those are counted of
        whom it is worth telling."""
        request = audit_request.request
        looked = self._plugins.desk.concerned(request)
        if not looked:
            return ()
        answer = audit_request.plugin_answer
        plugins = self._plugins
        answer = plugins.answer(request) if answer is None else plugins.after(answer, request)
        findings.unasked.update(set(answer.unasked))
        security = {POD_SECURITY}.intersection(looked)
        finding = plugin_finding(answer)
        if finding is None:
            return security
        against[finding.plugin] = audit_report.Against({finding.effect})
        findings.violation_count += 1
        if self._violation_count < self._settings.limit:
            self._violation_count += 1
            findings.violations.append(
                audit_report.Violation(
                    _about(read_object, request, plan),
                    finding.plugin,
                    "",
                    "",
                    finding.label,
                    Place(),
                    finding.message,
                    finding.effect,
                    is_error=False,
                )
            )
        return {*security, finding.plugin}

    def _matched(
        self,
        verdict: admission.Verdict,
        read_object: ReadObject,
        request: admission.Request,
        plan: _KindPlan,
        findings: audit_report.Findings,
    ) -> set[str]:
        """Return the policies that looked at the object; what else they did is put down once
        each."""
        matched = set()
        combinations = findings.covered_outcomes
        for note in verdict.notes:
            combination = note.outcome.value, note.policy, note.binding
            if combination not in combinations:
                combinations.add(combination)
                findings.coverage.take((note,), _about(read_object, request, plan))
            if note.outcome in _MATCHED:
                matched.add(note.policy)
        return matched

    def _group(self, request: admission.Request, plan: _KindPlan) -> str:
        """Return the group of a request, empty where nobody asked for groups."""
        if self._settings.summary_by == "policy":
            return ""
        label = self._settings.label
        if label:
            return metadata.labels(request.object).get(label) or _NO_GROUP
        return (request.namespace if plan.resource.namespaced else "") or _NO_GROUP

    def _violation(
        self,
        decision: admission.Decision,
        read_object: ReadObject,
        request: admission.Request,
        plan: _KindPlan,
    ) -> audit_report.Violation:
        return audit_report.Violation(
            _about(read_object, request, plan),
            decision.policy,
            decision.binding,
            decision.param,
            decision.source.path.text,
            self._policies.place(decision.source, decision.policy, decision.binding),
            decision.message,
            audit_report.effect_of(decision),
            decision.cause is not admission.Cause.VALIDATION,
        )

    def _ignored(
        self, decision: admission.Decision, read_object: ReadObject, findings: audit_report.Findings
    ) -> None:
        """Note an error that `failurePolicy: Ignore` lets pass, once per expression."""
        key = (decision.policy, decision.source)
        if key not in findings.ignored:
            rule = self._policies.place(decision.source, decision.policy, decision.binding)
            title = f"{read_object.value['kind']} {metadata.name(read_object.value)}"
            text = f"policy `{decision.policy}` ignored an error on {title}: {decision.message}"
            findings.ignored[key] = Notice(NoticeReason.ERROR_IGNORED, rule, text)


def _about(
    read_object: ReadObject, request: admission.Request, plan: _KindPlan
) -> audit_report.AuditedObject:
    return audit_report.AuditedObject(
        read_object.place,
        plan.kind.api_version,
        plan.kind.kind,
        request.namespace if plan.resource.namespaced else "",
        request.name,
        metadata.uid(read_object.value),
        metadata.resource_version(read_object.value),
    )
