"""Tests to results: every case with every version, and what that means."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from celadon.cel.extend import re2
from celadon.cli.checking.check_report import Place, PolicyError
from celadon.cli.crashes import crash
from celadon.cli.policy_tests.case_results import (
    CaseResult,
    FileResult,
    Mismatch,
    PartValue,
    RunReport,
    Status,
)
from celadon.cli.policy_tests.policy_test import Case, PolicyTest
from celadon.cli.policy_tests.running.case_bench import Bench, Setting
from celadon.cli.policy_tests.running.case_comparison import mismatches
from celadon.cli.policy_tests.running.case_outcomes import outcome_of, under_test_in
from celadon.cli.policy_tests.vacuities import Doubt
from celadon.cli.policy_tests.vacuity.case_doubts import case_doubts
from celadon.cli.policy_tests.vacuity.shared_doubts import shared_doubts
from celadon.cli.reading.problems import Problem
from celadon.cli.release_option import DEFAULT_VERSION
from celadon.cli.suggestions import did_you_mean


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What is run, and how. `versions` are for tests that name none; `only` is found in the names
    of the cases that are run (`file::case`). With `fail_fast` nothing is run behind a failure."""

    versions: tuple[str, ...] = (DEFAULT_VERSION,)
    only: re2.Pattern | None = None
    fail_fast: bool = False
    strict: bool = False


def run_tests(
    tests: Sequence[PolicyTest], options: RunOptions, step: Callable[[int], None]
) -> RunReport:
    """What comes of all tests. `step` is told how many cases are done."""
    results = []
    done = itertools.count(1)
    left_out = 0
    stopped = False
    for test in tests:
        chosen = [one for one in test.cases if _is_chosen(test, one, options)]
        left_out += len(test.cases) - len(chosen)
        if stopped or (test.cases and not chosen):
            continue
        found: list[CaseResult] = []
        for one in run_test(test, chosen, options):
            found.append(one)
            step(next(done))
            if options.fail_fast and one.is_bad:
                stopped = True
                break
        doubts = () if left_out or stopped else tuple(shared_doubts(test, found))
        results.append(FileResult(test.name, test.file, tuple(found), test.problems, doubts))
    return RunReport(tuple(results), deselected=left_out, strict=options.strict, stopped=stopped)


def _is_chosen(test: PolicyTest, case: Case, options: RunOptions) -> bool:
    return options.only is None or options.only.search(full_name(test, case))


def full_name(test: PolicyTest, case: Case) -> str:
    """`file::case`."""
    return f"{test.file}::{case.name}"


def run_test(test: PolicyTest, cases: Sequence[Case], options: RunOptions) -> Iterator[CaseResult]:
    """One result for each case and version, a case after the other. Nothing of a test that cannot
    be read as a whole."""
    if test.problems:
        return
    benches: dict[str, Bench] = {}
    for case in cases:
        for version in case.versions or test.versions or options.versions:
            bench = benches.get(version)
            if bench is None:
                bench = benches[version] = Bench(test, version)
            yield run_case(bench, case)


def run_case(bench: Bench, case: Case) -> CaseResult:
    """What comes of a case; errors of our own are not the others' trouble."""
    if case.skip:
        return CaseResult(case, bench.version, Status.SKIPPED)
    start = time.process_time()
    try:
        found = _run(bench, case)
    except Exception as error:  # noqa: BLE001 - one case's trouble is not the others'
        problem = crash(case.place.file, case.place.line, f"running case `{case.name}`", error)
        found = CaseResult(case, bench.version, Status.BROKEN, problems=(problem,))
    return replace(found, seconds=time.process_time() - start)


def _run(bench: Bench, case: Case) -> CaseResult:
    setting = bench.setting(case)
    wrong = [*setting.problems, *_unusable(case, setting)]
    if not wrong:
        judged = bench.judged(case)
        found = judged.findings
        wrong = [*found.unsendable, *found.early_crashes, *found.crashes]
        if not wrong:
            outcome = outcome_of(case, judged)
            differences = tuple(mismatches(case.expect, outcome))
            doubts = tuple(case_doubts(case, judged, outcome, bench.version))
            status = _status(differences, doubts)
            values: tuple[PartValue, ...] = ()
            if differences:
                # late: it traces expressions, which cases that pass need not
                from celadon.cli.policy_tests.running.deciding_values import deciding_values

                values = deciding_values(judged, outcome)
            return CaseResult(
                case, bench.version, status, outcome, differences, doubts, values=values
            )
    return CaseResult(case, bench.version, Status.BROKEN, problems=tuple(wrong))


def _status(differences: Sequence[Mismatch], doubts: Sequence[Doubt]) -> Status:
    if differences:
        return Status.FAILED
    return Status.VACUOUS if any(one.is_fatal for one in doubts) else Status.PASSED


def _unusable(case: Case, setting: Setting) -> list[Problem]:
    """Policies that the API server would not take, and those under test that are not there."""
    sets = setting.sets
    errors = [_problem(one) for part in sets.all for one in part.errors]
    known = [name for part in sets.all for name in (*part.policies, *part.broken)]
    if not known:
        text = "no policy is loaded: name the files under `policies`"
        return [*errors, _at(case.place, text)]
    for name in (*sorted(under_test_in(case, setting)), case.expect.policy):
        if name and name not in known:
            text = f"no policy `{name}` is loaded{did_you_mean(name, known)}"
            errors.append(_at(case.place, text))
    return errors


def _problem(error: PolicyError) -> Problem:
    return _at(error.place, f"{error.kind} `{error.name}`: {error.message}")


def _at(place: Place, text: str) -> Problem:
    return Problem(place.file, place.line, text)
