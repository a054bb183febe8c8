"""The tests of a policy, ready to be asked about alterations of it.

A `Stage` is one test with the latest of its versions: the cases that pass there and are about the
policy. A policy may be on several stages; who kills an alteration on one of them has killed it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from celadon.admission import ExpressionMemory
from celadon.cli.checking.policy_set import PolicySet
from celadon.cli.policy_tests.altering.alterations import Alteration
from celadon.cli.policy_tests.case_results import Status
from celadon.cli.policy_tests.case_running import full_name, run_case
from celadon.cli.policy_tests.coverage_counts import Measured
from celadon.cli.policy_tests.measuring.coverage_goals import measured
from celadon.cli.policy_tests.policy_test import Case, PolicyTest
from celadon.cli.policy_tests.running.case_bench import Bench
from celadon.cli.policy_tests.telling_apart.altered_benches import altered_bench, compiles
from celadon.cli.policy_tests.telling_apart.glances import Glance, glance
from celadon.cli.policy_tests.telling_apart.quoted_expressions import for_altered
from celadon.cli.reading.documents import Document
from celadon.records import dataclass


@dataclass(slots=True)
class Stage:
    """`documents` are the policy and its bindings; those that stand in the test itself are part of
    the test, and stay. `glances` are at the cases, with the policy as it is."""

    test: PolicyTest
    bench: Bench
    cases: list[Case]
    documents: tuple[Document, ...]
    glances: list[Glance] = field(default_factory=list)

    def killer(self, alteration: Alteration) -> str | None:
        """The case that fails with it; None if all still pass. What killed last is asked first."""
        other = altered_bench(self.bench, alteration)
        for i, (case, before) in enumerate(zip(self.cases, self.glances, strict=True)):
            shared = None if is_mutating(alteration) else before.sent
            if glance(other, case, shared).seen == before.seen:
                continue
            if run_case(other, for_altered(case, alteration)).is_bad:
                self.cases.insert(0, self.cases.pop(i))
                self.glances.insert(0, self.glances.pop(i))
                return full_name(self.test, case)
        return None

    def is_valid(self, alteration: Alteration, name: str) -> bool:
        """Whether the API server would take it. Expressions are all that can be wrong."""
        if alteration.expression is None or not self.cases:
            return True
        other = altered_bench(self.bench, alteration)
        return compiles(other.setting(self.cases[0]).engines, name)


def is_mutating(alteration: Alteration) -> bool:
    """Whether it is about a policy that changes objects."""
    return str(alteration.document.value["kind"]).startswith("Mutating")


def stages(
    chosen: Sequence[tuple[PolicyTest, Sequence[Case]]], versions: Sequence[str]
) -> dict[Measured, list[Stage]]:
    """By the policies that cases are about. `versions` are for tests that name none."""
    found: dict[Measured, list[Stage]] = {}
    for test, cases in chosen:
        if not test.problems:
            for policy, stage in _stages(test, cases, (test.versions or tuple(versions))[-1]):
                found.setdefault(policy, []).append(stage)
    return found


def _stages(
    test: PolicyTest, cases: Sequence[Case], version: str
) -> Iterator[tuple[Measured, Stage]]:
    memory: ExpressionMemory = {}
    bench = Bench(test, version, memory=memory)
    made: dict[Measured, Stage] = {}
    for case in cases:
        if version not in (case.versions or (version,)):
            continue
        result = run_case(bench, case)
        if result.status is not Status.PASSED or result.outcome is None:
            continue
        before = glance(bench, case)
        for part in bench.setting(case).sets.all:
            for name in sorted(result.outcome.under_test & part.policies.keys()):
                policy = measured(part.policies[name])
                if policy not in made:
                    documents = _documents(part, name, test)
                    made[policy] = Stage(test, bench, [], documents)
                made[policy].cases.append(case)
                made[policy].glances.append(before)
    yield from made.items()


def _documents(part: PolicySet, name: str, test: PolicyTest) -> tuple[Document, ...]:
    bindings = (
        one.document for one in part.bindings.values() if one.value.spec.policy_name == name
    )
    return (
        part.policies[name].document,
        *(one for one in bindings if one.file != test.file),
    )
