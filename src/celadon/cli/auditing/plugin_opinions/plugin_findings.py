"""What plugins have against an object that exists, or a request of the past, in the words of
audits: the strongest of what they say, with its effect.

ResourceQuota is not asked: what exists is counted in its quotas already, and what was used when a
request came nobody knows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from celadon.admission import Operation, Request
from celadon.admission.plugins import POD_SECURITY, RESOURCE_QUOTA, SECURITY_LABELS
from celadon.cli.auditing.audit_findings import AUDIT, DENY, WARN
from celadon.cli.checking.object_preparation import Prepare
from celadon.cli.checking.overlaid_world import GivenWorld
from celadon.cli.checking.server_plugins.plugin_choice import PluginChoice
from celadon.cli.checking.server_plugins.plugin_desk import PluginAnswer, PluginDesk
from celadon.cli.reading.documents import Document
from celadon.cli.reading.locations import Chunk
from celadon.cli.reading.problems import Problem

_ENTRY: Final = " is forbidden: "
"""Behind it stands why, in refusals that say so."""
COUNTED: Final = "what exists is counted already"
_FORMER: Final = "what was used when a request came is not known"


class PluginFinding(NamedTuple):
    """`label` is that of the namespace that asks for it, if it is PodSecurity that speaks."""

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

    def answer(self, request: Request) -> PluginAnswer:
        """What they say of a request about an object as it is stored."""
        said = self.desk.of_stored(request)
        again = request.operation is Operation.CREATE and not request.subresource
        if said.refusal is None or request.object is None or not again:
            return said
        target = self.prepare.target(request.kind, request.namespace)
        document = Document(Chunk("", "{}", 1, 0, is_json=True), (), dict(request.object))
        made = self.prepare.of_controller(request.user).created(document, target)
        if isinstance(made, Problem) or made.said is None:
            return said
        return self.after(made.said, replace(request, object=made.value))

    def after(self, said: PluginAnswer, request: Request) -> PluginAnswer:
        """The second half, for an object of which the first half has told."""
        return said if said.refusal is not None else said.then(self.desk.validated(request))


def of_existing(choice: PluginChoice) -> PluginChoice:
    """Those that can be asked about what exists."""
    return choice.without(RESOURCE_QUOTA, COUNTED)


def of_former_requests(choice: PluginChoice) -> PluginChoice:
    """Those that can be asked about requests of the past."""
    return choice.without(RESOURCE_QUOTA, _FORMER)


def plugin_finding(said: PluginAnswer) -> PluginFinding | None:
    """None where nobody has anything against it."""
    if said.refusal is not None:
        message = said.refusal.status.message
        _, entry, why = message.partition(_ENTRY)
        label = f"{SECURITY_LABELS}enforce" if said.plugin == POD_SECURITY else ""
        return PluginFinding(said.plugin, DENY, why if entry else message, label)
    if said.warnings:
        return PluginFinding(POD_SECURITY, WARN, said.warnings[0], f"{SECURITY_LABELS}warn")
    noted = said.audit_annotations.get(f"{SECURITY_LABELS}audit-violations")
    if noted is None:
        return None
    return PluginFinding(POD_SECURITY, AUDIT, noted, f"{SECURITY_LABELS}audit")
