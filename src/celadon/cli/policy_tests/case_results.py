"""What came of tests: a result for each case and version, and the exit code that follows."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from celadon.admission import Note
from celadon.cli.checking.check_report import (
    Notice,
    ObjectResult,
    Place,
    UnaskedPlugin,
    Violation,
)
from celadon.cli.checking.given.plugin_setting import unasked_plugins
from celadon.cli.checking.server_plugins.plugin_choice import PluginChoice
from celadon.cli.checking.server_plugins.plugin_desk import Unasked
from celadon.cli.exits import Exit
from celadon.cli.policy_tests.alteration_counts import Alterations
from celadon.cli.policy_tests.coverage_counts import Coverage, added_up
from celadon.cli.policy_tests.expectations import CaseVerdict
from celadon.cli.policy_tests.policy_test import Case
from celadon.cli.policy_tests.vacuities import Doubt
from celadon.cli.reading.problems import Problem
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What happened to a request. `result` is what `celadon check` says of it.

    `deciding` are the violations that the verdict is due to, all of policies under test; `others`
    those of policies that are not, which refuse the request. `reached` are the policies under test
    that have looked at it, `notes` why each policy and binding did or did not, `ignored` errors
    that a failure policy let pass.
    """

    verdict: CaseVerdict
    result: ObjectResult
    under_test: frozenset[str]
    reached: frozenset[str]
    deciding: tuple[Violation, ...] = ()
    others: tuple[Violation, ...] = ()
    notes: tuple[Note, ...] = ()
    ignored: tuple[Notice, ...] = ()
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    """The object before and after policies changed it, where a mutating one is under test."""


@dataclass(frozen=True, slots=True)
class PartValue:
    """A part of an expression, and what it came to, both as text on one line."""

    text: str
    value: str


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Something that is not as expected. `what` names it as a test file does: `verdict`, `message`,
    `auditAnnotations.team`."""

    what: str
    expected: str
    actual: str
    place: Place


class Status(enum.Enum):
    """How a case ended. `VACUOUS`: all is as expected, but that means nothing. `BROKEN`: it could
    not be run."""

    PASSED = "passed"
    FAILED = "failed"
    VACUOUS = "vacuous"
    BROKEN = "broken"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of a case with one version. `outcome` is None
    for what could not be run; then `problems` say why. `values` are those of the parts of the
    expression that decided, if the case failed."""

    case: Case
    version: str
    status: Status
    outcome: CaseOutcome | None = None
    mismatches: tuple[Mismatch, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    problems: tuple[Problem, ...] = ()
    values: tuple[PartValue, ...] = ()
    unasked: tuple[Unasked, ...] = ()
    """Plugins that could not be asked about its request, and why."""

    @property
    def is_bad(self) -> bool:
        """Whether the run fails because of it."""
        return self.status not in {Status.PASSED, Status.SKIPPED}


@dataclass(frozen=True, slots=True)
class FileResult:
    """What came of one test: its cases in their order, for each version one after the other.
    `doubts` are about all of them together."""

    name: str
    file: str
    cases: tuple[CaseResult, ...] = ()
    problems: tuple[Problem, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    coverage: Coverage | None = None
    """Of all cases that could be run, if it was measured."""
    plugins: PluginChoice | None = None
    """Those that its cases ask."""

    @property
    def asked_plugins(self) -> tuple[str, ...]:
        """Their names."""
        return () if self.plugins is None else self.plugins.asked

    @property
    def unasked_plugins(self) -> tuple[UnaskedPlugin, ...]:
        """Whom nobody could ask, with the number of cases."""
        return unasked_plugins(self.plugins, Counter(x for one in self.cases for x in one.unasked))


@dataclass(frozen=True, slots=True)
class RunReport:
    """All tests, in the order of the inputs. `deselected` counts cases that were not to be run.
    With less than `coverage_wanted` percent of coverage, or `killed_wanted` percent of killed
    mutants, the run fails."""

    tests: tuple[FileResult, ...] = ()
    problems: tuple[Problem, ...] = ()
    deselected: int = 0
    strict: bool = False
    stopped: bool = False
    """Whether cases were left out behind the first that failed."""
    coverage_wanted: float = 0.0
    alterations: Alterations | None = None
    """Of the policies under test, and whether any case noticed, if that was asked for."""
    killed_wanted: float = 0.0

    @property
    def is_unnoticed(self) -> bool:
        """Whether fewer alterations were killed than are wanted."""
        found = self.alterations
        return found is not None and found.score < self.killed_wanted

    @property
    def coverage(self) -> Coverage | None:
        """Of all tests, if it was measured."""
        parts = [test.coverage for test in self.tests if test.coverage is not None]
        return added_up(parts) if parts else None

    @property
    def is_uncovered(self) -> bool:
        """Whether less is covered than is wanted."""
        found = self.coverage
        return found is not None and found.percentage < self.coverage_wanted

    @property
    def asked_plugins(self) -> tuple[str, ...]:
        """Those that some test asks, in their order."""
        return tuple(dict.fromkeys(name for test in self.tests for name in test.asked_plugins))

    @property
    def unasked_plugins(self) -> tuple[UnaskedPlugin, ...]:
        """Of all tests, with the number of cases."""
        counts: Counter[Unasked] = Counter()
        for one in (one for test in self.tests for one in test.unasked_plugins):
            counts[one.plugin, one.why] += one.objects
        return tuple(UnaskedPlugin(*key, count) for key, count in sorted(counts.items()))

    @property
    def cases(self) -> Iterable[CaseResult]:
        """Those of all tests."""
        return (case for test in self.tests for case in test.cases)

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        """What could not be read, each once."""
        found = (*self.problems, *(one for test in self.tests for one in test.problems))
        return tuple(dict.fromkeys(found))

    @property
    def doubted(self) -> bool:
        """Whether a case that passes means less than it seems."""
        return any(test.doubts or any(one.doubts for one in test.cases) for test in self.tests)

    def count(self, status: Status) -> int:
        """How many cases ended so."""
        return sum(case.status is status for case in self.cases)

    @property
    def exit(self) -> Exit:
        """The worst of what happened: a defect of ours, then files that cannot be read, then cases
        that could not be run, then cases that failed."""
        every = [*self.all_problems, *(one for case in self.cases for one in case.problems)]
        if any(problem.is_internal for problem in every):
            return Exit.INTERNAL
        if self.all_problems:
            return Exit.USAGE
        if self.count(Status.BROKEN):
            return Exit.POLICY
        is_bad = any(case.is_bad for case in self.cases)
        if is_bad or (self.strict and self.doubted) or self.is_uncovered or self.is_unnoticed:
            return Exit.DENIED
        return Exit.OK
