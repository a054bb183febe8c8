"""The only module that writes to standard output and standard error.

Reports come in several formats, all made from the same value. Colour is used on a terminal
unless `--no-color` or the environment's NO_COLOR say otherwise. Unreadable inputs are also said on
standard error when the report itself is for people.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TextIO

from celadon.cli.exits import Exit
from celadon.cli.formats import plain_text
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.auditing.audit_findings import Violation
    from celadon.cli.auditing.audit_report import AuditReport
    from celadon.cli.bootstrapping.bootstrap_report import BootstrapReport
    from celadon.cli.checking.check_report import Report
    from celadon.cli.explaining.explained_objects import ExplainedObject
    from celadon.cli.fleets.fleet_report import FleetReport
    from celadon.cli.linting.lint_report import LintReport
    from celadon.cli.policy_tests.case_results import RunReport
    from celadon.cli.replaying.replay_findings import ReplayReport

EXPLAIN_FORMATS: Final = ("text", "json", "html")
LINT_FORMATS: Final = ("text", "json", "sarif", "github", "junit")
AUDIT_FORMATS: Final = ("table", "json", "jsonl", "sarif", "junit", "html", "policyreport")
REPLAY_FORMATS: Final = ("table", "json", "html")
BOOTSTRAP_FORMATS: Final = ("text", "json")
FORMATS: Final = ("table", "json", "yaml", "github", "junit", "sarif")
TEST_FORMATS: Final = ("text", "json", "junit", "github", "tap")
_PATIENCE: Final = 2.0
"""Seconds of silence before progress is shown."""
_BEAT: Final = 0.1
"""Seconds between two updates of the progress line."""


def use_color(stream: TextIO | None, *, forbidden: bool) -> bool:
    """Whether to write escape sequences there; not where nothing can be written."""
    return (
        stream is not None
        and not forbidden
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
        and stream.isatty()
    )


def write(text: str) -> None:
    """To standard output, at once; what the terminal cannot show is escaped."""
    _write(sys.stdout, text)


def say(text: str) -> None:
    """A line to standard output, or several, with the text of somebody else in it."""
    write(f"{plain_text.lines(text)}\n")


def complain(text: str) -> None:
    """A line to standard error, or several."""
    _write(sys.stderr, f"{plain_text.lines(text)}\n")


def usage_error(program: str, message: str) -> Exit:
    """What is wrong with the command line, and where to read more."""
    complain(f"error: {message}")
    complain(f"  see `{program} --help`")
    return Exit.USAGE


def give_up() -> None:
    """Nothing more is written: else Python complains while it flushes dead streams at exit."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def complain_if_possible(text: str) -> None:
    """The same where standard error itself may be what is broken."""
    with contextlib.suppress(OSError):
        complain(text)


class UnwritableError(OSError):
    """Nothing can be written to standard output or standard error; the text says why."""


def _write(stream: TextIO | None, text: str) -> None:
    """Raises `UnwritableError`, and `BrokenPipeError` where nobody reads any more."""
    if stream is None:  # the descriptor was closed when Python started
        raise UnwritableError("the descriptor is closed")
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:
            encoding = stream.encoding or "ascii"
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwritableError((error.strerror or str(error)).lower()) from error


def log_to_stderr(verbosity: int) -> None:
    """What the server says, as JSON lines."""
    import logging

    from celadon.serve.transport import LogLines, log_level

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("celadon").setLevel(log_level(verbosity))


def show_report(
    report: Report, format: str, *, no_color: bool, verbosity: int, mutations: bool = False
) -> None:
    """The report in one of `FORMATS`. `mutations` shows people each mutation by itself."""
    if format == "table":
        from celadon.cli.formats.check_human import Look, render

        report = plain_text.for_people(report)
        for problem in report.problems:
            complain(f"error: {problem.text()}")
        color = use_color(sys.stdout, forbidden=no_color)
        write(render(report, Look(color, verbosity, mutations)))
        return
    write(_renderer(format)(report))


def _renderer(format: str) -> Callable[[Report], str]:
    from celadon.cli.formats import check_data, check_github, check_junit, check_sarif

    renderers = {
        "json": check_data.render_json,
        "yaml": check_data.render_yaml,
        "github": check_github.render,
        "junit": check_junit.render,
        "sarif": check_sarif.render,
    }
    return renderers[format]


def write_violation(violation: Violation) -> None:
    """A line of an audit's JSON lines."""
    from celadon.cli.formats.audits.audit_data import violation_line

    write(violation_line(violation))


def write_fleet_violation(source: str, violation: Violation) -> None:
    """A line of the JSON lines of a fleet's audit."""
    from celadon.cli.formats.audits.fleet_data import fleet_violation_line

    write(fleet_violation_line(source, violation))


def show_fleet(report: FleetReport, format: str, *, no_color: bool, verbosity: int) -> None:
    """The audit of a fleet as a table, JSON or the end of JSON lines."""
    from celadon.cli.formats.audits import audit_human, fleet_data, fleet_human
    from celadon.cli.formats.check_human import Look

    if format != "table":
        write({"json": fleet_data.render_json, "jsonl": fleet_data.render_end}[format](report))
        return
    few = tuple((name, audit_human.shown(one, verbosity)) for name, one in report.sources)
    report = plain_text.for_people(replace(report, sources=few))
    for problem in report.problems:
        complain(f"error: {problem.text()}")
    for name, one in report.sources:
        for problem in one.problems:
            complain(f"error: source `{name}`: {problem.text()}")
    color = use_color(sys.stdout, forbidden=no_color)
    write(fleet_human.render(report, Look(color, verbosity)))


def show_audit(report: AuditReport, format: str, *, no_color: bool, verbosity: int) -> None:
    """An audit in one of `AUDIT_FORMATS`."""
    from celadon.cli.formats.audits import audit_data

    if format == "table":
        from celadon.cli.formats.audits import audit_human
        from celadon.cli.formats.check_human import Look

        report = plain_text.for_people(audit_human.shown(report, verbosity))
        for problem in report.problems:
            complain(f"error: {problem.text()}")
        color = use_color(sys.stdout, forbidden=no_color)
        write(audit_human.render(report, Look(color, verbosity)))
        return
    from celadon.cli.formats.audits import audit_html, audit_junit, audit_sarif, policy_reports

    renderers = {
        "json": audit_data.render_json,
        "jsonl": audit_data.render_end,
        "sarif": audit_sarif.render,
        "junit": audit_junit.render,
        "html": audit_html.render,
        "policyreport": policy_reports.render,
    }
    write(renderers[format](report))


def show_explanations(found: Sequence[ExplainedObject], format: str, *, no_color: bool) -> None:
    """Explanations in one of `EXPLAIN_FORMATS`."""
    if format == "json":
        from celadon.cli.formats.explanation_reports import explanation_data

        write(explanation_data.render(found))
        return
    from celadon.cli.explaining.outline import outline

    items = [outline(one) for one in found]
    if format == "html":
        from celadon.cli.formats.explanation_reports import explanation_html

        write(explanation_html.render(items))
        return
    from celadon.cli.formats.explanation_reports import explanation_text

    write(explanation_text.render(items, color=use_color(sys.stdout, forbidden=no_color)))


def show_replay(report: ReplayReport, format: str, *, no_color: bool, verbosity: int) -> None:
    """A replay in one of `REPLAY_FORMATS`."""
    if format == "json":
        from celadon.cli.formats.audits import replay_data

        write(replay_data.render_json(report))
        return
    if format == "html":
        from celadon.cli.formats.audits import replay_html

        write(replay_html.render(report))
        return
    from celadon.cli.formats.audits import replay_human
    from celadon.cli.formats.check_human import Look

    report = plain_text.for_people(report)
    for problem in report.findings.problems:
        complain(f"error: {problem.text()}")
    color = use_color(sys.stdout, forbidden=no_color)
    write(replay_human.render(report, Look(color, verbosity)))


def show_bootstrap(report: BootstrapReport, format: str, *, no_color: bool, verbosity: int) -> None:
    """A simulation in one of `BOOTSTRAP_FORMATS`."""
    from celadon.cli.formats.lock_reports import lock_data, lock_text

    if format == "json":
        write(lock_data.render_json(report))
        return
    from celadon.cli.formats.check_human import Look

    report = plain_text.for_people(report)
    for problem in report.problems:
        complain(f"error: {problem.text()}")
    color = use_color(sys.stdout, forbidden=no_color)
    write(lock_text.render(report, Look(color, verbosity)))


@dataclass(frozen=True, slots=True)
class LintLooks:
    """How findings are shown to people. `quiet` leaves out what does not fail the run, and the
    summary; with `statistics` there are only numbers."""

    no_color: bool = False
    quiet: bool = False
    statistics: bool = False


def show_lint(report: LintReport, format: str, looks: LintLooks) -> None:
    """Findings in one of `LINT_FORMATS`."""
    from celadon.cli.formats import lint_ci, lint_data

    if looks.quiet:
        report = report.only_failing()
    if format == "text":
        report = plain_text.for_people(report)
        for problem in report.problems:
            complain(f"error: {problem.text()}")
    if looks.statistics:
        from celadon.cli.formats import lint_statistics

        write(lint_statistics.render(report, as_json=format == "json"))
        return
    if format == "text":
        from celadon.cli.formats import lint_human
        from celadon.cli.formats.check_human import Look

        color = use_color(sys.stdout, forbidden=looks.no_color)
        write(lint_human.render(report, Look(color, verbosity=-1 if looks.quiet else 0)))
        return
    renderers = {
        "json": lint_data.render_json,
        "sarif": lint_data.render_sarif,
        "github": lint_ci.render_github,
        "junit": lint_ci.render_junit,
    }
    write(renderers[format](report))


@dataclass(frozen=True, slots=True)
class TestLooks:
    """How the results of tests are shown to people: -1 shows only what failed, 1 every case."""

    no_color: bool = False
    verbosity: int = 0


def show_tests(report: RunReport, format: str, looks: TestLooks) -> None:
    """Results of tests in one of `TEST_FORMATS`."""
    from celadon.cli.formats.case_reports import case_ci, case_data, case_text
    from celadon.cli.formats.check_human import Look

    if format == "text":
        report = plain_text.for_people(report)
        for problem in report.all_problems:
            complain(f"error: {problem.text()}")
        color = use_color(sys.stdout, forbidden=looks.no_color)
        write(case_text.render(report, Look(color, verbosity=looks.verbosity)))
        return
    renderers = {
        "json": case_data.render_json,
        "junit": case_ci.render_junit,
        "github": case_ci.render_github,
        "tap": case_ci.render_tap,
    }
    write(renderers[format](report))


class Progress:
    """A line on standard error that counts, if it is a terminal and the work takes a while."""

    __slots__ = ("_active", "_begun", "_next", "_shown", "_what")

    def __init__(self, what: str) -> None:
        self._what = what
        self._active = sys.stderr is not None and sys.stderr.isatty()
        self._begun = time.monotonic()
        self._next = self._begun + _PATIENCE
        self._shown = False

    def started(self, what: str) -> Callable[[int], None]:
        """The same line for the next stretch of the work; what to call with its counts."""
        self._what = what
        return self.step

    def step(self, done: int) -> None:
        """So many are done; shown at most ten times a second."""
        if not self._active:
            return
        now = time.monotonic()
        if now >= self._next:
            self._show(now, f"{done}")

    def share(self, done: int, share: float) -> None:
        """So many are done, which is this share of the work: with the time that remains."""
        if not self._active:
            return
        now = time.monotonic()
        if now >= self._next:
            left = (now - self._begun) * (1 - share) / share if share else 0.0
            remaining = f", {left:.0f}s left" if share else ""
            self._show(now, f"{done} ({share:.0%}{remaining})")

    def _show(self, now: float, text: str) -> None:
        self._next = now + _BEAT
        self._shown = True
        _write(sys.stderr, f"\r{self._what} {text}\033[K")

    def done(self) -> None:
        """Take the line away."""
        if self._shown:
            _write(sys.stderr, "\r\033[K")
            self._shown = False
