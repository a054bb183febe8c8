"""Which policies had a say about which objects.

The engine's `explain` tells for every policy and binding why it spoke or did not, and costs several
reviews. Whether a policy matches depends on few things, though: the endpoint, the namespace, and
labels or names if some selector or rule asks for them. So one object is explained for all that are
alike in these; and for policies that were never evaluated (a match condition looks at the whole
object), every object is asked, until one is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from celadon.admission import Cause, Engine, Note, ObjectWorld, Outcome, Verdict
from celadon.admission.registration import MatchResources
from celadon.cli.checking.mutation.object_mutation import ObjectMutation
from celadon.cli.checking.policy_set import PolicySet, validating_bindings, validating_policies
from celadon.cli.checking.questions import Asked
from celadon.cli.reading.problems import Problem
from celadon.kube import metadata

_MATCHED: Final = frozenset(
    {
        Outcome.EVALUATED,
        Outcome.CONDITION_FALSE,
        Outcome.CONDITION_ERROR_IGNORED,
        Outcome.PARAM_NOT_FOUND,
        Outcome.CONFIGURATION_ERROR_IGNORED,
    }
)


@dataclass(slots=True)
class Coverage:
    """What `survey` found. `outcomes` counts per policy how its evaluations ended; `notes` keeps
    one of each kind; `matched` has per object the number of (policy, binding) pairs that match;
    `misconfigured` are policies that denied because of their own configuration; `crashes` are our
    own errors."""

    outcomes: dict[str, Counter[Outcome]] = field(default_factory=dict)
    notes: dict[tuple[Outcome, str, str], tuple[Note, Asked]] = field(default_factory=dict)
    matched: list[int] = field(default_factory=list)
    misconfigured: set[str] = field(default_factory=set)
    crashes: list[Problem] = field(default_factory=list)

    def evaluated(self, policy: str) -> bool:
        """Whether the policy was evaluated, or failed to be, on any object."""
        return (
            policy in self.misconfigured
            or self.outcomes.get(policy, Counter())[Outcome.EVALUATED] > 0
        )

    def explain(self, engine: Engine, world: ObjectWorld, asked: Asked) -> int:
        """Explains an object; returns how many pairs match it."""
        try:
            verdict = engine.explain(asked.request, world)
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            self.crashes.append(asked.crash(error))
            return 0
        return self._add(verdict, asked)

    def _add(self, verdict: Verdict, asked: Asked) -> int:
        self.take(verdict.notes, asked)
        wrong = [one for one in verdict.decisions if one.cause is Cause.CONFIGURATION]
        self.misconfigured.update(one.policy for one in wrong)
        evaluated = {
            (note.policy, note.binding) for note in verdict.notes if note.outcome in _MATCHED
        }
        return len(evaluated | {(one.policy, one.binding) for one in wrong})

    def take(self, notes: Iterable[Note], asked: Asked) -> None:
        """Takes in what was noted about an object."""
        for note in notes:
            if note.policy:
                self.outcomes.setdefault(note.policy, Counter())[note.outcome] += 1
            self.notes.setdefault((note.outcome, note.policy, note.binding), (note, asked))


def survey_mutations(
    mutated: Sequence[tuple[Asked, ObjectMutation | None]], policies: PolicySet
) -> Coverage:
    """What mutating policies have done to the objects; each was asked about each."""
    coverage = Coverage()
    for one, happened in mutated:
        if happened is not None:
            coverage.take(happened.notes, one)
            coverage.misconfigured.update(
                failure.policy
                for failure in happened.failures
                if failure.index is None and not failure.ignored
            )
        coverage.matched.append(0 if happened is None else happened.matched)
    for name in policies.policies:
        if mutated and name not in coverage.outcomes:
            coverage.outcomes[name] = Counter({Outcome.POLICY_UNMATCHED: 1})
    return coverage


def survey(
    engine: Engine, world: ObjectWorld, asked: Sequence[Asked], policies: PolicySet
) -> Coverage:
    """Explains as few objects as will do."""
    coverage = Coverage()
    asks = _Asks.of(policies)
    known: dict[Hashable, int] = {}
    for one in asked:
        key = asks.key(one)
        matched = known.get(key)
        if matched is None:
            matched = known[key] = coverage.explain(engine, world, one)
        coverage.matched.append(matched)
    _look_for_the_rest(engine, world, asked, policies, coverage)
    return coverage


def _look_for_the_rest(
    engine: Engine,
    world: ObjectWorld,
    asked: Sequence[Asked],
    policies: PolicySet,
    coverage: Coverage,
) -> None:
    """Policies whose match conditions were false for the objects explained so far."""
    rest = {
        name
        for name, outcomes in coverage.outcomes.items()
        if outcomes[Outcome.CONDITION_FALSE] and not outcomes[Outcome.EVALUATED]
    }
    if not rest:
        return
    smaller = engine.replaced(
        [one for one in validating_policies(policies) if one.name in rest],
        [one for one in validating_bindings(policies) if one.spec.policy_name in rest],
    )
    for one in asked:
        coverage.explain(smaller, world, one)
        if all(coverage.evaluated(name) for name in rest):
            return


@dataclass(frozen=True, slots=True)
class _Asks:
    """What the selectors and rules of a set of policies look at besides endpoint and namespace."""

    labels: bool
    names: bool

    @staticmethod
    def of(policies: PolicySet) -> _Asks:
        matches: list[MatchResources | None] = [
            *(placed.value.spec.match_constraints for placed in policies.policies.values()),
            *(placed.value.spec.match_resources for placed in policies.bindings.values()),
        ]
        given = [match for match in matches if match is not None]
        rules = [
            rule
            for match in given
            for rule in (*match.resource_rules, *match.exclude_resource_rules)
        ]
        return _Asks(
            labels=any(match.object_selector or match.namespace_selector for match in given),
            names=any(rule.resource_names for rule in rules),
        )

    def key(self, asked: Asked) -> Hashable:
        """Equal for objects that every selector and rule treats alike."""
        request = asked.request
        return (
            request.resource,
            request.kind,
            request.subresource,
            request.namespace,
            self._labels(request.object) if self.labels else None,
            self._labels(request.old_object) if self.labels else None,
            request.name if self.names else None,
        )

    @staticmethod
    def _labels(obj: object) -> Hashable:
        return None if obj is None else frozenset(metadata.labels(obj).items())
