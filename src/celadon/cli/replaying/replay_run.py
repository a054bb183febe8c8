"""The main job: policies and logs to a `ReplayReport`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from celadon.admission import ADMIN, ObjectWorld
from celadon.cli.auditing.audit_lookups import given_objects, preparation
from celadon.cli.checking.check_report import Notice, Place, Silence
from celadon.cli.checking.manifests import Manifests
from celadon.cli.checking.policy_set import PolicySets, validating_engine
from celadon.cli.reading.problems import Problem
from celadon.cli.replaying.audit_logs import log_files, read_events, total_bytes
from celadon.cli.replaying.event_replay import EventReplay
from celadon.cli.replaying.replay_findings import ReplayFindings, ReplayReport
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Replay:
    """What is to be done. `step` is told how many events are done, and which share of the logs."""

    manifests: Manifests
    sets: PolicySets
    version: str
    now: str
    strict: bool
    step: Callable[[int, float], None]


def replay(asked: Replay, logs: Sequence[str]) -> ReplayReport:
    """Replays all events of the logs."""
    given = (*asked.manifests.looked_up, *asked.manifests.admitted)
    prepare = preparation(given, ADMIN, asked.now, asked.version)
    objects, problems = given_objects(given, prepare)
    findings = ReplayFindings(problems=[*asked.manifests.problems, *problems])
    policies = asked.sets.validating
    engine = validating_engine(policies, asked.version)
    world = ObjectWorld(objects, implicit_namespaces=True)
    events = EventReplay(engine, world, prepare, policies, findings)
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
        tuple(_notices(asked, findings)),
        asked.strict,
    )


def _notices(asked: Replay, findings: ReplayFindings) -> Iterator[Notice]:
    policies = asked.sets.validating
    if not findings.events and not findings.problems:
        yield Notice(Silence.NOTHING_TO_CHECK, Place(), "there is no audit event in the logs")
    bound = {one.value.spec.policy_name for one in policies.bindings.values()}
    for name, placed in sorted(policies.policies.items()):
        if name not in bound:
            text = f"policy `{name}` has no binding, so it does nothing"
            yield Notice(Silence.POLICY_UNBOUND, placed.place(), text)
        elif not findings.matched[name] and not findings.undecided[name]:
            text = f"policy `{name}` matched none of the requests that could be judged"
            yield Notice(Silence.POLICY_UNMATCHED, placed.place(), text)
