"""Tests to results: every case with every version, what that means, and what the cases reached."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Final, NamedTuple

from celadon.admission.explain import Explanation, ExpressionRun, Part, PolicyExplanation, explain
from celadon.admission.registration import Policy
from celadon.cel.extend import Literal, re2
from celadon.cel.tracing import written_tree
from celadon.cli.annotated_source import brief, shortened
from celadon.cli.check.check_report import Place, PolicyError, Violation
from celadon.cli.check.cluster import Cluster
from celadon.cli.check.manifests import Placed
from celadon.cli.check.plugins import PluginChoice
from celadon.cli.options import DEFAULT_VERSION, did_you_mean
from celadon.cli.policytest import case_judging, case_results
from celadon.cli.policytest.case_results import Coverage, Goal
from celadon.cli.policytest.coverage import Aim, binding_goals, expression_aims, reached
from celadon.cli.policytest.vacuity import case_doubts, shared_doubts
from celadon.cli.processes import possible_workers, received, started
from celadon.cli.reading.documents import Problem, crash
from celadon.kube.releases import answering_as
from celadon.records import dataclass

# --- A tally of coverage -----------------------------------------------------
#
# The cases of a test, taken one by one: what each of them has reached.


class CoverageTally:
    """Counts for the cases of one test."""

    def __init__(self) -> None:
        self._aims: dict[tuple[int, str], tuple[Placed[Policy], dict[str, tuple[Aim, ...]]]] = {}
        self._hits: Counter[Goal] = Counter()

    @property
    def coverage(self) -> Coverage:
        """Return the coverage of the cases so far."""
        return Coverage(tuple(self._hits.items()))

    def take(
        self, judged: case_judging.JudgedCase, outcome: case_results.CaseOutcome, version: str
    ) -> None:
        """Count one more case; what is measured are the policies that it is about."""
        policies = [
            policy for explanation in _explained(judged, outcome) for policy in explanation.policies
        ]
        for policy_set in judged.setting.sets.all:
            for name in sorted(outcome.under_test & policy_set.policies.keys()):
                placed = policy_set.policies[name]
                aims, bindings = self._aims_of(placed, version), binding_goals(policy_set, name)
                for goals in bindings.values():
                    self._hits.update(dict.fromkeys(goals, 0))
                for aim in aims.values():
                    self._hits.update({item.goal: 0 for item in aim})
                for policy in policies:
                    if policy.policy is placed.value:
                        self._hits.update(set(reached(aims, bindings, policy)))

    def _aims_of(self, placed: Placed[Policy], version: str) -> dict[str, tuple[Aim, ...]]:
        """Found once; what is kept with them keeps the key its own."""
        key = id(placed), version
        aim = self._aims.get(key)
        if aim is None:
            aim = self._aims[key] = placed, expression_aims(placed, version)
        return aim[1]


def _explained(
    judged: case_judging.JudgedCase, outcome: case_results.CaseOutcome
) -> Iterator[Explanation]:
    """Yield what the request went through: one that is refused meets nobody further on."""
    if judged.mutation is not None:
        yield judged.mutation
        if not judged.mutation.verdict.allowed:
            return
    if (
        judged.document_request is not None
        and outcome.verdict is not case_results.CaseVerdict.INVALID
    ):
        setting = judged.setting
        if setting.sets.validating.policies:
            yield explain(
                setting.engines.validating, judged.document_request.request, setting.world
            )


# --- Deciding values ---------------------------------------------------------
#
# What the parts of an expression came to that decided about a request.
#
# The engine is asked again, with somebody looking on (`celadon.admission.explain`): only for
# cases that failed. Left out are literals, objects (their fields say it), and what loops evaluate
# in their rounds.

_MOST_CHARACTERS: Final = 100
_MOST_PARTS: Final = 12


def deciding_values(
    judged: case_judging.JudgedCase, outcome: case_results.CaseOutcome
) -> tuple[case_results.PartValue, ...]:
    """Return the values of the first expression that the verdict is due to; none if a mutating
    policy decided."""
    document_request, deciding = judged.document_request, outcome.deciding
    if document_request is None or not deciding or not deciding[0].expression:
        return ()
    explanation = explain(
        judged.setting.engines.validating, document_request.request, judged.setting.world
    )
    for policy in explanation.policies:
        if policy.policy.name == deciding[0].policy:
            for run in _runs(policy, deciding[0]):
                return tuple(dict.fromkeys(_values(run)))[:_MOST_PARTS]
    return ()


def _runs(policy: PolicyExplanation, violation: Violation) -> Iterator[ExpressionRun]:
    for binding in policy.bindings:
        for case in binding.cases if binding.binding.name == violation.binding else ():
            for part in (*case.conditions, *case.validations):
                if part.run is not None and _is_of(part, violation):
                    yield part.run


def _is_of(part: Part, violation: Violation) -> bool:
    """Return whether a violation is of a part, be it that a variable of the part failed."""
    if part.source.path.text == violation.field:
        return True
    decision = part.decision
    return decision is not None and decision.source.path.text == violation.field


def _values(run: ExpressionRun) -> Iterator[case_results.PartValue]:
    """Yield those of variables that it was the first to read, then its own parts."""
    for variable in run.all_variables():
        text = variable.expression.text
        yield case_results.PartValue(_on_one_line(text), brief(variable.value, _MOST_CHARACTERS))
    program = run.expression.program
    if program is None:
        return
    ast = program.checked.ast
    for part in written_tree(ast).walk():
        outcome = run.frame.outcomes.get(part.node.id)
        if part.loop is not None or outcome is None or isinstance(part.node, Literal):
            continue
        if not isinstance(outcome.value, Mapping):
            text = ast.source.text[part.start : part.end]
            yield case_results.PartValue(_on_one_line(text), brief(outcome.value, _MOST_CHARACTERS))


def _on_one_line(text: str) -> str:
    return shortened(" ".join(text.split()), _MOST_CHARACTERS)


# --- Running -----------------------------------------------------------------

WORTH_WORKERS: Final = 200
"""Cases from which on it pays to run them in several processes."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Holds what is run, and how. `versions` are for tests that name none; `plugins` changes what
    tests say of the server's own. `only` is found in the names of the cases that are run
    (`file::case`). With `fail_fast` nothing is run behind a failure. `jobs` are processes; 0: as
    many as there are processors. With `coverage` it is measured, and less than `coverage_wanted`
    percent is a failure."""

    versions: tuple[str, ...] = (DEFAULT_VERSION,)
    plugins: PluginChoice = PluginChoice()
    only: re2.Pattern | None = None
    fail_fast: bool = False
    strict: bool = False
    jobs: int = 0
    coverage: bool = False
    coverage_wanted: float = 0.0


class ChosenCases(NamedTuple):
    """A test, and those of its cases that are run."""

    test: case_results.PolicyTest
    cases: tuple[case_results.Case, ...]


def run_tests(
    tests: Sequence[case_results.PolicyTest], options: RunOptions, step: Callable[[int], None]
) -> case_results.RunReport:
    """Return what comes of all tests. `step` is told how many cases are done."""
    chosen = chosen_cases(tests, options)
    left_out = sum(len(test.cases) - len(cases) for test, cases in chosen)
    to_run = [item for item in chosen if item.cases or not item.test.cases]
    done = itertools.count(1)
    results = []
    stopped = False
    for result in _results(to_run, options, lambda: step(next(done))):
        results.append(result)
        stopped = options.fail_fast and any(result.is_bad for result in result.cases)
        if stopped:
            break
    return case_results.RunReport(
        tuple(results),
        deselected=left_out,
        strict=options.strict,
        stopped=stopped,
        coverage_wanted=options.coverage_wanted,
    )


def chosen_cases(
    tests: Sequence[case_results.PolicyTest], options: RunOptions
) -> list[ChosenCases]:
    """Return all tests, with those of their cases that are run."""
    return [
        ChosenCases(
            _with_plugins(test, options.plugins),
            tuple(item for item in test.cases if _is_chosen(test, item, options)),
        )
        for test in tests
    ]


def _with_plugins(test: case_results.PolicyTest, plugins: PluginChoice) -> case_results.PolicyTest:
    if test.plugins is None:
        return test
    return replace(test, plugins=plugins.over(test.plugins))


def _results(
    chosen: Sequence[ChosenCases], options: RunOptions, tick: Callable[[], None]
) -> Iterator[case_results.FileResult]:
    """Yield results in the order of the tests: worker k of n has the tests k, k + n, ..."""
    count = sum(len(selection.cases) for selection in chosen)
    workers = 1
    if count >= WORTH_WORKERS and not options.fail_fast:
        workers = max(1, min(possible_workers(options.jobs), len(chosen)))
    if workers == 1:
        yield from (_result(selection, options, tick) for selection in chosen)
        return
    with ExitStack() as stack:
        pipes = [
            started(functools.partial(_some, chosen[first::workers], options), stack)
            for first in range(workers)
        ]
        for number, item in enumerate(chosen):
            result: case_results.FileResult | None = received(pipes[number % workers])
            if result is None:
                yield _result(item, options, tick)
                continue
            for _ in result.cases:
                tick()
            yield result


def _some(chosen: Sequence[ChosenCases], options: RunOptions) -> Iterator[case_results.FileResult]:
    for item in chosen:
        yield _result(item, options, lambda: None)


def _result(
    chosen: ChosenCases, options: RunOptions, tick: Callable[[], None]
) -> case_results.FileResult:
    test, results = chosen.test, list[case_results.CaseResult]()
    tally = CoverageTally() if options.coverage else None
    for case in run_test(test, chosen.cases, options, tally):
        results.append(case)
        tick()
        if options.fail_fast and case.is_bad:
            break
    is_whole = len(chosen.cases) == len(test.cases) and not any(
        case.is_bad and options.fail_fast for case in results
    )
    doubts = tuple(shared_doubts(test, results)) if is_whole else ()
    coverage = None if tally is None else tally.coverage
    return case_results.FileResult(
        test.name, test.file, tuple(results), test.problems, doubts, coverage, test.plugins
    )


def _is_chosen(test: case_results.PolicyTest, case: case_results.Case, options: RunOptions) -> bool:
    return options.only is None or options.only.search(full_name(test, case))


def full_name(test: case_results.PolicyTest, case: case_results.Case) -> str:
    """Return the name of a case with its file: `file::case`."""
    return f"{test.file}::{case.name}"


def run_test(
    test: case_results.PolicyTest,
    cases: Sequence[case_results.Case],
    options: RunOptions,
    tally: CoverageTally | None = None,
) -> Iterator[case_results.CaseResult]:
    """Yield one result for each case and version, a case after the other. Nothing of a test that
    cannot be read as a whole. Who measures coverage gives a `tally`."""
    if test.problems:
        return
    benches: dict[str, case_judging.Bench] = {}
    for case in cases:
        for version in case.versions or test.versions or options.versions:
            bench = benches.get(version)
            if bench is None:
                bench = benches[version] = case_judging.Bench(
                    test, version, looks=tally is not None
                )
            yield run_case(bench, case, tally)


def run_case(
    bench: case_judging.Bench, case: case_results.Case, tally: CoverageTally | None = None
) -> case_results.CaseResult:
    """Return what comes of a case; errors of our own are not the others' trouble."""
    if case.skip:
        return case_results.CaseResult(case, bench.version, case_results.Status.SKIPPED)
    try:
        with answering_as(bench.version):
            return _run(bench, case, tally)
    except Exception as error:  # noqa: BLE001 - one case's trouble is not the others'
        problem = crash(case.place.file, case.place.line, f"running case `{case.name}`", error)
        return case_results.CaseResult(
            case, bench.version, case_results.Status.BROKEN, problems=(problem,)
        )


def _run(
    bench: case_judging.Bench, case: case_results.Case, tally: CoverageTally | None
) -> case_results.CaseResult:
    setting = bench.setting(case)
    wrong = [*setting.problems, *_unusable(case, setting)]
    if not wrong:
        judged = bench.judged(case)
        findings = judged.findings
        wrong = [*findings.unsendable, *findings.early_crashes, *findings.crashes]
        if not wrong:
            outcome = case_judging.outcome_of(case, judged)
            if tally is not None:
                tally.take(judged, outcome, bench.version)
            differences = tuple(case_judging.mismatches(case.expect, outcome))
            doubts = tuple(case_doubts(case, judged, outcome, bench.version))
            status = _status(differences, doubts)
            values: tuple[case_results.PartValue, ...] = ()
            if differences:
                values = deciding_values(judged, outcome)
            unasked = tuple(findings.unasked)
            return case_results.CaseResult(
                case,
                bench.version,
                status,
                outcome,
                differences,
                doubts,
                values=values,
                unasked=unasked,
            )
    return case_results.CaseResult(
        case, bench.version, case_results.Status.BROKEN, problems=tuple(wrong)
    )


def _status(
    differences: Sequence[case_results.Mismatch], doubts: Sequence[case_results.Doubt]
) -> case_results.Status:
    if differences:
        return case_results.Status.FAILED
    return (
        case_results.Status.VACUOUS
        if any(doubt.is_fatal for doubt in doubts)
        else case_results.Status.PASSED
    )


def _unusable(case: case_results.Case, setting: Cluster) -> list[Problem]:
    """Policies that the API server would not take, and those under test that are not there."""
    sets = setting.sets
    errors = [_problem(error) for part in sets.all for error in part.errors]
    names = [name for part in sets.all for name in (*part.policies, *part.broken)]
    if not names:
        text = "no policy is loaded: name the files under `policies`"
        return [*errors, _at(case.place, text)]
    for name in (*sorted(case_judging.under_test_in(case, setting)), case.expect.policy):
        if name and name not in names:
            text = f"no policy `{name}` is loaded{did_you_mean(name, names)}"
            errors.append(_at(case.place, text))
    return errors


def _problem(error: PolicyError) -> Problem:
    return _at(error.place, f"{error.kind} `{error.name}`: {error.message}")


def _at(place: Place, text: str) -> Problem:
    return Problem(place.file, place.line, text)
