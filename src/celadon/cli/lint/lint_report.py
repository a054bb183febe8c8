"""What `celadon lint` found, as one value; every output format is made from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from celadon.admission.lint import Severity
from celadon.cli.reading.documents import Exit, Problem, exit_of
from celadon.records import dataclass

LEVELS: Final = (Severity.ERROR, Severity.WARNING, Severity.INFO)
"""The worst first."""


@dataclass(frozen=True, slots=True)
class LocatedFinding:
    """A finding where a reader sees it. `column` counts characters from 1. `subject` is the object,
    e.g. `ValidatingAdmissionPolicy limit`; `line_text` the line of the file."""

    code: str
    name: str
    severity: Severity
    file: str
    line: int
    column: int
    field: str
    subject: str
    message: str
    help: str = ""
    is_fixable: bool = False
    line_text: str = ""

    @property
    def place(self) -> str:
        """`file:line:column`."""
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class LintReport:
    """Everything, in the order of the inputs. `fail_on` is the least severity that fails the run;
    None: nothing does."""

    findings: tuple[LocatedFinding, ...] = ()
    problems: tuple[Problem, ...] = ()
    objects: int = 0
    suppressed: int = 0
    fixed: int = 0
    fail_on: Severity | None = Severity.ERROR

    def count(self, severity: Severity) -> int:
        """Return how many findings are of this severity."""
        return sum(one.severity is severity for one in self.findings)

    def only_failing(self) -> LintReport:
        """The same, with no findings but those that fail the run."""
        failing = tuple(one for one in self.findings if one.severity in self.failing)
        return replace(self, findings=failing)

    @property
    def failing(self) -> tuple[Severity, ...]:
        """The severities that fail the run."""
        return LEVELS[: LEVELS.index(self.fail_on) + 1] if self.fail_on is not None else ()

    @property
    def exit(self) -> Exit:
        """A defect of ours goes before unreadable input, and that before findings."""
        if self.problems:
            return exit_of(self.problems)
        return Exit.DENIED if any(map(self.count, self.failing)) else Exit.OK
