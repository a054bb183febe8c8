"""One event after the other: what policies would have said to it, and what was said then.

What was said is in the event: denials in the sentence of the answer, audits and their messages in
the annotation `validation.policy.admission.k8s.io/validation_failure`, which also says what else
such a binding did. Warnings of bindings that do not audit are in no event.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from celadon.admission import (
    VALIDATION_FAILURE,
    Action,
    Cause,
    Decision,
    Engine,
    Operation,
    Request,
    World,
)
from celadon.admission.incomplete import Missing, judged_partly
from celadon.cli.auditing.audit_findings import AUDIT, DENY, WARN, effect_of
from celadon.cli.auditing.plugin_opinions.plugin_findings import PluginAudit, plugin_finding
from celadon.cli.checking.check_report import Place
from celadon.cli.checking.object_preparation import Prepare
from celadon.cli.checking.policy_set import PolicySet
from celadon.cli.crashes import crash
from celadon.cli.reading.json_text import read_written
from celadon.cli.replaying.audit_logs import Read
from celadon.cli.replaying.logged_requests import (
    Logged,
    Undecidable,
    kind_of,
    logged,
    mapping,
    request_of_event,
    target_requests,
    text,
)
from celadon.cli.replaying.replay_findings import Occurrence, ReplayFindings
from celadon.goyaml import UnreadableError
from celadon.kube import MASTERS, GroupVersionKind
from celadon.kube.well_known_values import NAMESPACES, SERVICE_ACCOUNT_PREFIX
from celadon.patterns import late_pattern

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
        engine: Engine,
        world: World,
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

    def take(self, read: Read) -> None:
        """An event; an error of our own is not the others' trouble."""
        findings = self._findings
        if read.event is None:
            findings.strangers += 1
            return
        findings.events += 1
        if read.event.value.get("stage") not in (None, "ResponseComplete"):
            findings.skipped += 1
            return
        one = logged(read.event)
        if one is None:
            findings.reads += 1
            return
        if one.time:
            findings.first = min(findings.first or one.time, one.time)
            findings.last = max(findings.last, one.time)
        try:
            for occurrence in self._said(one, read):
                findings.did.add(occurrence)
            self._replay(one, read)
        except Exception as error:  # noqa: BLE001 - one event's trouble is not the others'
            findings.problems.append(crash(read.file, read.line, "replaying an event", error))

    def _replay(self, one: Logged, read: Read) -> None:
        findings = self._findings
        kind = kind_of(one, self._world.catalog)
        known = GroupVersionKind("", "", "") if kind is None else kind
        asked = target_requests(one, known)
        targets = list(asked)
        of_policies = any(self._engine.may_concern(one, self._world) for one in targets)
        looking = {name for one in targets for name in self._plugins.desk.concerned(one)}
        if not of_policies and not looking:
            findings.unconcerned += 1
            return
        request = Undecidable.KIND if kind is None else request_of_event(one, kind, self._prepare)
        refused = bool(looking) and self._ask_plugins(looking, request, one, kind, read)
        if not of_policies:
            findings.denied += refused
            if isinstance(request, Undecidable) or request.operation is not Operation.CREATE:
                findings.unconcerned += 1
            else:
                findings.judged += 1
            return
        if isinstance(request, Undecidable):
            findings.undecidable[request.name] += 1
            return
        missing = one.missing if MASTERS in one.user.groups else one.missing + self._missing
        verdict = judged_partly(self._engine, request, self._world, missing)
        findings.matched.update(verdict.matched)
        if request.namespace and one.resource != NAMESPACES:
            findings.namespaces.setdefault(request.namespace, Place(read.file, read.line))
        against = [one for one in verdict.decisions if one.action is Action.DENY]
        for decision in against:
            findings.would.add(self._occurrence(decision, one, kind, read))
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
        request: Request | Undecidable,
        one: Logged,
        kind: GroupVersionKind | None,
        read: Read,
    ) -> bool:
        """Whether a plugin would have refused it. What they compare objects with is in no log, so
        that they are asked about what is created only."""
        findings = self._findings
        if isinstance(request, Undecidable) or request.operation is not Operation.CREATE:
            why = _NO_OLD_OBJECT if isinstance(request, Request) else request.value
            findings.unasked.update((name, why) for name in looking)
            return False
        said = self._plugins.answer(request)
        findings.unasked.update(set(said.unasked))
        found = plugin_finding(said)
        if found is None:
            return False
        occurrence = _occurrence(
            one,
            read,
            kind,
            policy=found.plugin,
            binding="",
            effect=found.effect,
            message=found.message,
            field=found.label,
        )
        findings.would.add(occurrence)
        return found.effect == DENY

    def _occurrence(
        self, decision: Decision, one: Logged, kind: GroupVersionKind | None, read: Read
    ) -> Occurrence:
        rule = self._policies.place(decision.source, decision.policy, decision.binding)
        return _occurrence(
            one,
            read,
            kind,
            policy=decision.policy,
            binding=decision.binding,
            effect=effect_of(decision),
            message=decision.message,
            field=decision.source.path.text,
            rule=rule,
            is_error=decision.cause is not Cause.VALIDATION,
        )

    def _said(self, one: Logged, read: Read) -> Iterator[Occurrence]:
        """What policies of the cluster said to it."""
        kind = kind_of(one, self._world.catalog)
        status = mapping(one.event.get("responseStatus"))
        found = _DENIAL.search(text(status.get("message"))) if one.code >= _REFUSED else None
        if found is not None:
            policy, binding, message = found[1], found[2] or "", found[3]
            yield _occurrence(
                one, read, kind, policy=policy, binding=binding, effect=DENY, message=message
            )
        for failure in _failures(one):
            policy, binding = text(failure.get("policy")), text(failure.get("binding"))
            if found is not None and (policy, binding) == (found[1], found[2]):
                continue
            effect, message = _effect_of(failure), text(failure.get("message"))
            yield _occurrence(
                one, read, kind, policy=policy, binding=binding, effect=effect, message=message
            )


def _effect_of(failure: Mapping[str, Any]) -> str:
    """The strongest of what the binding did: it audits, or there would be no annotation."""
    actions = failure.get("validationActions")
    given = actions if isinstance(actions, list) else []
    return next((effect for action, effect in _STRONGEST if action in given), AUDIT)


def _failures(one: Logged) -> list[dict[str, Any]]:
    """Of the annotation; what cannot be read is none."""
    given = mapping(one.event.get("annotations")).get(VALIDATION_FAILURE)
    try:
        found = read_written(given) if isinstance(given, str) else given
    except UnreadableError:
        return []
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _occurrence(
    one: Logged,
    read: Read,
    kind: GroupVersionKind | None,
    *,
    policy: str,
    binding: str,
    effect: str,
    message: str,
    field: str = "",
    rule: Place = Place(),  # noqa: B008 - frozen
    is_error: bool = False,
) -> Occurrence:
    about = mapping(mapping(one.event.get("requestObject")).get("metadata"))
    name = one.name or text(about.get("name")) or text(about.get("generateName"))
    where = f"{one.namespace}/" if one.namespace and one.namespace != name else ""
    what = str(one.resource.group_resource) if kind is None else kind.kind
    below = f"/{one.subresource}" if one.subresource else ""
    account = one.user.name.removeprefix(SERVICE_ACCOUNT_PREFIX)
    return Occurrence(
        policy=policy,
        binding=binding,
        effect=effect,
        message=message,
        field=field,
        rule=rule,
        is_error=is_error,
        operation=one.operation.value,
        title=f"{what}{below} {where}{name}",
        namespace=one.namespace,
        user=one.user.name,
        controller=account.replace(":", "/") if account != one.user.name else "",
        time=one.time,
        audit_id=text(one.event.get("auditID")),
        place=Place(read.file, read.line),
    )
