"""`celadon test`: run the tests of policies."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NoReturn

from celadon.cli import output
from celadon.cli.check.check_options import add_plugins, chosen_plugins
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import DEFAULT_VERSION, VERSIONS, add_expected, count, kubernetes_version
from celadon.cli.policytest.case_results import Coverage, RunReport
from celadon.cli.policytest.case_running import RunOptions, chosen_cases, run_tests
from celadon.cli.policytest.importers.foreign_formats import GivenTests, given_tests
from celadon.cli.project_config import add_project, project_of
from celadon.cli.reading.documents import Problem
from celadon.cli.report.report_model import TEST

_BEAT: Final = 0.3
"""Seconds between two looks at the files that are watched."""

_REPORTS: Final = (".json", ".xml", ".html")

DESCRIPTION: Final = """\
Run the tests of policies: files of kind PolicyTest, with cases of which each is a request and what
is to become of it. Requests go the way that `celadon check` takes them.

A case that the policy under test never looked at fails, unless that is what it expects.
"""

EPILOG: Final = """\
examples:
  celadon test
  celadon test policies/ --run 'replicas'
  celadon test policies/limit.policytest.yaml -o junit

exit codes:
  0  all cases passed
  1  a case failed, or less is covered than --fail-under says, or killed than --kill-under says
  2  wrong usage, or a file that cannot be read
  3  a case could not be run: a policy that no API server would take, or none at all
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon test --help` shows."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATHS", help="files, folders or patterns (default: `.`)"
    )
    parser.add_argument(
        "--run", metavar="REGEX", help="only cases in whose `FILE::CASE` this is found (RE2)"
    )
    parser.add_argument("-x", "--fail-fast", action="store_true", help="stop at the first failure")
    parser.add_argument(
        "--strict", action="store_true", help="what is only pointed out fails the run, too"
    )
    parser.add_argument(
        "--kubernetes-version",
        action="append",
        type=kubernetes_version,
        default=[],
        metavar="VERSION",
        help=f"{VERSIONS[0]} to {VERSIONS[-1]}, for tests that name none; may be repeated "
        f"(default: {DEFAULT_VERSION})",
    )
    add_expected(parser)
    parser.add_argument(
        "--update",
        action="store_true",
        help="write messages that are other than expected, and `snapshot`s, into the files",
    )
    parser.add_argument(
        "--watch", action="store_true", help="go on: run what is affected when a file changes"
    )
    parser.add_argument(
        "--jobs",
        type=count,
        default=0,
        metavar="N",
        help="processes that run many cases (default: as many as there are processors)",
    )
    plugins = parser.add_argument_group("admission plugins")
    plugins.description = (
        "Those that a server asks by default are asked by tests, too, as far as the cluster of a "
        "case says what they look at; `-v` says which were. Tests of other tools ask none."
    )
    add_plugins(plugins)
    _coverage(parser.add_argument_group("coverage"))
    _mutants(parser.add_argument_group("mutants"))
    _looks(parser.add_argument_group("output"))
    add_project(parser)


def _coverage(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--coverage", action="store_true", help="show what no case has reached in the policies"
    )
    group.add_argument(
        "--fail-under",
        type=_percentage,
        default=0.0,
        metavar="PERCENT",
        help="fail if less is covered; means --coverage",
    )
    group.add_argument(
        "--coverage-report",
        type=_report_file,
        metavar="FILE",
        help="also write it to a file, .json, .xml (Cobertura) or .html; means --coverage",
    )


def _mutants(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--mutate",
        action="store_true",
        help="change the policies, one thing at a time, and show what no case notices",
    )
    group.add_argument(
        "--kill-under",
        type=_percentage,
        default=0.0,
        metavar="PERCENT",
        help="fail if fewer of these mutants are killed; means --mutate",
    )


def _looks(group: argparse._ArgumentGroup) -> None:
    TEST.add_options(group, quiet="only what failed", verbose="every case")


def _percentage(text: str) -> float:
    """Read a percentage from 0 to 100, with or without a percent sign."""
    try:
        percentage = float(text.removesuffix("%"))
    except ValueError:
        percentage = -1.0
    if not 0 <= percentage <= 100:
        raise argparse.ArgumentTypeError(f"`{text}` is no percentage: 0 to 100")
    return percentage


def _report_file(text: str) -> str:
    """Return a file whose format is known by its name, in a folder that is there."""
    if os.path.splitext(text)[1] not in _REPORTS:
        raise argparse.ArgumentTypeError(f"`{text}` is none of {', '.join(_REPORTS)}")
    if not os.path.isdir(os.path.dirname(text) or "."):
        raise argparse.ArgumentTypeError(f"`{text}`: no such folder")
    return text


def run(options: argparse.Namespace) -> Exit:
    """Read, run, report."""
    from celadon.cel.extend import re2

    project = project_of(options, output.complain, reads_files=False)
    try:
        only = re2.compile(options.run) if options.run is not None else None
    except re2.RegexError as error:
        raise WrongUseError(f"--run: {error}") from None
    plugins = chosen_plugins(options)
    paths = options.paths or ["."]
    tests = given_tests(paths, options.expect)
    if not tests.tests and not tests.problems:
        raise WrongUseError(
            "no test found: files of kind PolicyTest, e.g. `limit.policytest.yaml`; "
            "`celadon test init POLICY` writes one"
        )
    chosen = RunOptions(
        plugins=plugins,
        versions=tuple(options.kubernetes_version) or (project.version or DEFAULT_VERSION,),
        only=only,
        fail_fast=options.fail_fast,
        strict=options.strict,
        jobs=options.jobs,
        coverage=options.coverage or options.fail_under > 0 or bool(options.coverage_report),
        coverage_wanted=options.fail_under,
    )
    report = _run(tests, chosen, options)
    if report.deselected and not any(report.cases):
        raise WrongUseError(f"--run: no case is called `{options.run}`")
    if options.watch:
        _watch(paths, tests, chosen, options)
    return report.exit


def _run(tests: GivenTests, chosen: RunOptions, options: argparse.Namespace) -> RunReport:
    """Run and show; twice if files were updated."""
    progress = output.Progress("cases run:")
    report = run_tests(tests.tests, chosen, progress.step)
    progress.done()
    if options.update:
        from celadon.cli.policytest.snapshots import update

        unwritten: dict[str, OSError] = {}
        updated = update(report.tests, unwritten)
        if updated:
            output.complain(f"updated: {updated}")
            tests = given_tests(
                list(dict.fromkeys(test.file for test in tests.tests)), options.expect
            )
            report = run_tests(tests.tests, chosen, progress.step)
        for file, error in unwritten.items():
            tests.problems.append(Problem(file, 0, output.unwritten(error)))
    report = replace(report, problems=tuple(tests.problems))
    if options.mutate or options.kill_under:
        report = _mutated(tests, chosen, report, options.kill_under)
    output.show(report, TEST, options)
    if options.coverage_report and report.coverage is not None:
        _write_coverage(report.coverage, options.coverage_report)
    return report


def _mutated(
    tests: GivenTests, chosen: RunOptions, report: RunReport, percentage: float
) -> RunReport:
    """Return the report with what becomes of the policies' mutants."""
    from celadon.cli.policytest.mutants.mutant_proofs import can_prove
    from celadon.cli.policytest.mutants.mutant_runs import run_alterations

    if not can_prove():
        output.complain(
            "note: no mutant is proved the same without z3: pip install 'celadon[prove]'"
        )
    cases = chosen_cases(tests.tests, chosen)
    progress = output.Progress("policies mutated:")
    alterations = run_alterations(cases, chosen.versions, chosen.jobs, progress.step)
    progress.done()
    return replace(report, alterations=alterations, killed_wanted=percentage)


def _write_coverage(coverage: Coverage, path: str) -> None:
    """Write the coverage in the format that the name of the file asks for."""
    from celadon.cli.report.case_view import RENDERERS

    sources = {}
    for file in {goal.place.file for goal, _ in coverage.hits}:
        if os.path.isfile(file):
            with open(file, encoding="utf-8", errors="replace") as policies:
                sources[file] = policies.read()
    text = RENDERERS[os.path.splitext(path)[1]](coverage, sources)
    with open(path, "w", encoding="utf-8") as written:
        written.write(text)


def _watch(
    paths: Sequence[str], test_files: GivenTests, chosen: RunOptions, options: argparse.Namespace
) -> NoReturn:
    """Run what changes affect until Ctrl-C."""
    from celadon.cli.policytest.snapshots import WatchedFiles, affected

    watched = WatchedFiles()
    watched.watch(test_files.tests, (problem.file for problem in test_files.problems))
    while True:
        time.sleep(_BEAT)
        changed = watched.changed()
        if not changed:
            continue
        files_before = {test.file for test in test_files.tests}
        test_files = given_tests(paths, options.expect)
        watched.watch(test_files.tests, (problem.file for problem in test_files.problems))
        files = affected(test_files.tests, changed)
        tests = [
            test for test in test_files.tests if test.file in files or test.file not in files_before
        ]
        if tests or test_files.problems:
            _run(replace(test_files, tests=tests), chosen, options)
