"""What an audit of a fleet found: the report of each source, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from celadon.cli.audit.audit_report import AuditReport, Tally
from celadon.cli.check.check_report import Notice
from celadon.cli.exits import Exit
from celadon.cli.reading.problems import Problem
from celadon.records import dataclass

_WORST_FIRST: Final = (Exit.INTERNAL, Exit.USAGE, Exit.POLICY, Exit.DENIED)


@dataclass(frozen=True, slots=True)
class FleetReport:
    """`sources` are in the order of the fleet, by name. `problems` are those of no source."""

    sources: tuple[tuple[str, AuditReport], ...]
    problems: tuple[Problem, ...] = ()
    strict: bool = False

    @property
    def objects(self) -> int:
        """In all sources."""
        return sum(one.objects for _, one in self.sources)

    @property
    def found(self) -> int:
        """Violations in all sources."""
        return sum(one.found for _, one in self.sources)

    @property
    def total(self) -> Tally:
        """Return the total of all objects."""
        return _sum(one.total for _, one in self.sources)

    @property
    def policies(self) -> tuple[tuple[str, Tally], ...]:
        """Return the policies by name, over all sources."""
        return _summed((one.name, one.tally) for _, own in self.sources for one in own.policies)

    @property
    def groups(self) -> tuple[tuple[str, Tally], ...]:
        """Return what `--summary-by` asked for, those with most violations first."""
        found = _summed(one for _, own in self.sources for one in own.groups)
        return tuple(sorted(found, key=lambda one: (-one[1].violating, one[0])))

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return those that hold for every source: that a policy matched nothing anywhere, for
        instance. What is so in one source is in its own report."""
        if not self.sources:
            return ()
        said = [
            {(one.silence, one.message) for one in report.notices} for _, report in self.sources
        ]
        everywhere = set.intersection(*said)
        first = self.sources[0][1].notices
        return tuple(one for one in first if (one.silence, one.message) in everywhere)

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        """Return those of the fleet, then those of its sources, with their names."""
        of_sources = (
            replace(problem, file=f"source `{name}`: {problem.file}")
            for name, report in self.sources
            for problem in report.problems
        )
        return (*self.problems, *of_sources)

    @property
    def exit(self) -> Exit:
        """The worst of what happened anywhere."""
        ends = {one.exit for _, one in self.sources}
        if self.problems:
            ends.add(Exit.USAGE)
        if self.strict and self.notices:
            ends.add(Exit.POLICY)
        return next((one for one in _WORST_FIRST if one in ends), Exit.OK)


def _summed(tallies: Iterable[tuple[str, Tally]]) -> tuple[tuple[str, Tally], ...]:
    found: dict[str, Tally] = {}
    for name, tally in tallies:
        found.setdefault(name, Tally()).add(tally)
    return tuple(found.items())


def _sum(tallies: Iterable[Tally]) -> Tally:
    whole = Tally()
    for one in tallies:
        whole.add(one)
    return whole
