"""The main job: policies and logs to a `ReplayReport`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from celadon.admission import ADMIN, ObjectWorld
from celadon.admission.incomplete import Missing
from celadon.cli.auditing.audit_lookups import given_objects, lookups_of, preparation
from celadon.cli.auditing.plugin_opinions.plugin_findings import PluginAudit, of_former_requests
from celadon.cli.checking.check_report import Notice, Place, Silence
from celadon.cli.checking.coverage import Coverage
from celadon.cli.checking.given.plugin_setting import unasked_plugins
from celadon.cli.checking.manifests import Manifests
from celadon.cli.checking.notices import assumed_namespaces, not_applied, policy_notices
from celadon.cli.checking.policy_set import PolicySets, validating_engine
from celadon.cli.checking.server_plugins.plugin_choice import PluginChoice
from celadon.cli.reading.problems import Problem
from celadon.cli.replaying.audit_logs import log_files, read_events, total_bytes
from celadon.cli.replaying.event_replay import EventReplay
from celadon.cli.replaying.replay_findings import ReplayFindings, ReplayReport
from celadon.kube import JsonObject, metadata
from celadon.kube.well_known_values import RBAC_GROUP
from celadon.records import dataclass

_NO_ROLES: Final = (Missing.ROLES,)


@dataclass(frozen=True, slots=True)
class Replay:
    """What is to be done. `step` is told how many events are done, and which share of the logs."""

    manifests: Manifests
    sets: PolicySets
    version: str
    now: str
    strict: bool
    step: Callable[[int, float], None]
    plugins: PluginChoice = PluginChoice()


def replay(asked: Replay, logs: Sequence[str]) -> ReplayReport:
    """Replays all events of the logs."""
    given = (*asked.manifests.looked_up, *asked.manifests.admitted)
    prepare = preparation(given, ADMIN, asked.now, asked.version)
    objects, problems = given_objects(given, prepare)
    findings = ReplayFindings(problems=[*asked.manifests.problems, *problems])
    policies = asked.sets.validating
    engine = validating_engine(policies, asked.version)
    world = ObjectWorld(objects, implicit_namespaces=True)
    missing = () if any(metadata.gvk(one).group == RBAC_GROUP for one in objects) else _NO_ROLES
    choice = of_former_requests(asked.plugins)
    plugins = PluginAudit(choice, asked.version, world, prepare)
    events = EventReplay(engine, world, prepare, policies, findings, missing, plugins)
    files = log_files(logs)
    total = total_bytes(files)
    for read in read_events(files):
        if isinstance(read, Problem):
            findings.problems.append(read)
            continue
        events.take(read)
        asked.step(findings.events, read.read_bytes / total if total else 0.0)
    return ReplayReport(
        findings,
        tuple(sorted(policies.policies)),
        tuple(error for one in asked.sets.all for error in one.errors),
        tuple(_notices(asked, findings, [one.value for one in given])),
        asked.strict,
        choice.asked,
        unasked_plugins(choice, findings.unasked),
    )


def _notices(
    asked: Replay, findings: ReplayFindings, existing: Sequence[JsonObject]
) -> Iterator[Notice]:
    policies = asked.sets.validating
    if not findings.events and not findings.problems:
        yield Notice(Silence.NOTHING_TO_CHECK, Place(), "there is no audit event in the logs")
    yield from not_applied(asked.sets.mutating, "requests are judged as they came to be stored")
    yield from policy_notices(policies, None, Coverage(), existing, objects=False)
    bound = {one.value.spec.policy_name for one in policies.bindings.values()}
    for name, placed in sorted(policies.policies.items()):
        if name in bound and not findings.matched[name] and not findings.undecided[name]:
            text = f"policy `{name}` matched none of the requests that could be judged"
            yield Notice(Silence.POLICY_UNMATCHED, placed.place(), text)
    if lookups_of(asked.sets).namespaces:
        yield from assumed_namespaces(findings.namespaces, existing)
