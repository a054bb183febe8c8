"""The cases of a test, taken one by one: what each of them has reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from celadon.admission.explain import Explanation, explain
from celadon.admission.registration import Policy
from celadon.cli.check.policy_set import Placed
from celadon.cli.policytest.coverage import Aim, binding_goals, expression_aims, reached
from celadon.cli.policytest.coverage_counts import Coverage, Goal
from celadon.cli.policytest.run.case_judging import Judged
from celadon.cli.policytest.run.case_results import CaseOutcome, CaseVerdict


class CoverageTally:
    """Counts for the cases of one test."""

    def __init__(self) -> None:
        self._aims: dict[tuple[int, str], tuple[Placed[Policy], dict[str, tuple[Aim, ...]]]] = {}
        self._hits: Counter[Goal] = Counter()

    @property
    def coverage(self) -> Coverage:
        """Return the coverage of the cases so far."""
        return Coverage(tuple(self._hits.items()))

    def take(self, judged: Judged, outcome: CaseOutcome, version: str) -> None:
        """One more case; what is measured are the policies that it is about."""
        seen = [one for found in _explained(judged, outcome) for one in found.policies]
        for given in judged.setting.sets.all:
            for name in sorted(outcome.under_test & given.policies.keys()):
                placed = given.policies[name]
                aims, bindings = self._aims_of(placed, version), binding_goals(given, name)
                for goals in bindings.values():
                    self._hits.update(dict.fromkeys(goals, 0))
                for own in aims.values():
                    self._hits.update({one.goal: 0 for one in own})
                for policy in seen:
                    if policy.policy is placed.value:
                        self._hits.update(set(reached(aims, bindings, policy)))

    def _aims_of(self, placed: Placed[Policy], version: str) -> dict[str, tuple[Aim, ...]]:
        """Found once; what is kept with them keeps the key its own."""
        key = id(placed), version
        found = self._aims.get(key)
        if found is None:
            found = self._aims[key] = placed, expression_aims(placed, version)
        return found[1]


def _explained(judged: Judged, outcome: CaseOutcome) -> Iterator[Explanation]:
    """Yield what the request went through: one that is refused meets nobody further on."""
    if judged.mutation is not None:
        yield judged.mutation
        if not judged.mutation.verdict.allowed:
            return
    if judged.asked is not None and outcome.verdict is not CaseVerdict.INVALID:
        setting = judged.setting
        if setting.sets.validating.policies:
            yield explain(setting.engines.validating, judged.asked.request, setting.world)
