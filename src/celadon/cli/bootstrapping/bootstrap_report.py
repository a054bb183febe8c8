"""What a simulation found: chains of refusals, how they are repaired, and the exit code."""

from __future__ import annotations

from collections.abc import Iterator

from celadon.cli.bootstrapping.bootstrap_run import BootstrapRun
from celadon.cli.bootstrapping.cluster_course import Course, awaited, course_of
from celadon.cli.bootstrapping.lock_chains import Chain, chains
from celadon.cli.bootstrapping.repair_paths import Repair, repairs
from celadon.cli.bootstrapping.request_bench import RequestBench
from celadon.cli.bootstrapping.step_tables import Level
from celadon.cli.checking.check_report import Notice, Place, PolicyError, Silence
from celadon.cli.checking.manifests import Manifests
from celadon.cli.checking.policy_set import PolicySets, policy_sets
from celadon.cli.exits import Exit
from celadon.cli.reading.problems import Problem
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Lock:
    """A chain, how it is repaired, and how bad it is in view of that."""

    chain: Chain
    repair: Repair
    level: Level


@dataclass(frozen=True, slots=True)
class BootstrapReport:
    """Everything, the worst lock first. `requests` were sent, `refused` of them in vain; locks
    below `fail_on` are no failures."""

    locks: tuple[Lock, ...]
    requests: int
    refused: int
    policies: int
    bindings: int
    webhooks: int
    policy_errors: tuple[PolicyError, ...]
    notices: tuple[Notice, ...]
    problems: tuple[Problem, ...]
    strict: bool = False
    fail_on: Level = Level.DEGRADED

    @property
    def level(self) -> Level:
        """The worst of all."""
        return max((one.level for one in self.locks), default=Level.SAFE)

    @property
    def exit(self) -> Exit:
        """The worst of what happened, as for an audit."""
        if any(problem.is_internal for problem in self.problems):
            return Exit.INTERNAL
        if self.problems:
            return Exit.USAGE
        if self.policy_errors or (self.strict and self.notices):
            return Exit.POLICY
        return Exit.DENIED if self.level >= self.fail_on else Exit.OK


def simulate(
    manifests: Manifests, version: str, *, strict: bool = False, fail_on: Level = Level.DEGRADED
) -> BootstrapReport:
    """Sends all requests of the tables, and those that the given policies and webhooks need
    themselves, to these policies and webhooks."""
    sets = policy_sets(manifests, version)
    bench = RequestBench(manifests, sets, version, awaited(manifests, sets))
    course = course_of(manifests, sets, bench.webhooks)
    found = BootstrapRun(course, bench).run()
    made = chains(found)
    ways = repairs(manifests, version, [one.culprit for one in made])
    locks = [Lock(one, ways[one.culprit], _level(one, ways[one.culprit])) for one in made]
    return BootstrapReport(
        locks=tuple(sorted(locks, key=lambda one: -one.level)),
        requests=len(found.sent),
        refused=sum(bool(one.refusals) for one in found.sent.values()),
        policies=sum(len(one.policies) for one in sets.all),
        bindings=sum(len(one.bindings) for one in sets.all),
        webhooks=bench.webhooks.count,
        policy_errors=(*(one for part in sets.all for one in part.errors), *bench.webhooks.errors),
        notices=(*_silent(sets, bench), *_supposed(course, bench)),
        problems=tuple(dict.fromkeys((*manifests.problems, *found.problems))),
        strict=strict,
        fail_on=fail_on,
    )


def _level(chain: Chain, repair: Repair) -> Level:
    """Whoever is kept from coming up by what nobody can take away is locked out."""
    if repair.is_open:
        return min(chain.level, Level.DEADLOCKED)
    return Level.LOCKED_OUT if chain.level >= Level.DEADLOCKED else chain.level


def _silent(sets: PolicySets, bench: RequestBench) -> Iterator[Notice]:
    """What could not refuse anything."""
    if not any(part.policies for part in sets.all) and not bench.webhooks.count:
        yield Notice(Silence.NO_POLICY, Place(), "there is no policy and no webhook to simulate")
    for part in sets.all:
        bound = {one.value.spec.policy_name for one in part.bindings.values()}
        for name, placed in sorted(part.policies.items()):
            if name not in bound:
                text = f"policy `{name}` has no binding, so it does nothing"
                yield Notice(Silence.POLICY_UNBOUND, placed.place(), text)
        for name, binding in sorted(part.bindings.items()):
            policy = binding.value.spec.policy_name
            if policy not in part.policies and policy not in part.broken:
                text = f"binding `{name}` is for policy `{policy}`, which is not given"
                yield Notice(Silence.BINDING_WITHOUT_POLICY, binding.place(), text)


def _supposed(course: Course, bench: RequestBench) -> Iterator[Notice]:
    """What is taken to be so about webhooks."""
    for service in course.supposed:
        text = (
            f"nothing given says what is behind Service `{service}`: pods are supposed that no "
            "policy has anything against"
        )
        yield Notice(Silence.NOT_EVALUATED, Place(), text, "give its Service and Deployment, too")
    for mutating in (True, False):
        for placed in bench.webhooks.of(mutating=mutating).values():
            for one in placed.value.webhooks:
                if one.client_config.service is None:
                    text = f"webhook `{one.name}` is outside of the cluster: it is taken to answer"
                    yield Notice(Silence.WEBHOOK_UNASKED, placed.place(), text)
