"""The findings of `celadon audit`, in one source or in each of a fleet, as values; every output
format is made from them."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Final

from celadon.admission import Cause, Decision, Source
from celadon.cli.check.check_report import Notice, NoticeReason, Place, PolicyError, UnaskedPlugin
from celadon.cli.check.notices import Coverage
from celadon.cli.check.plugins import Unasked
from celadon.cli.exit_codes import Exit
from celadon.cli.reading.documents import Problem, exit_of
from celadon.records import dataclass

# --- Audit findings ----------------------------------------------------------
#
# What came of objects: counted, and the violations themselves as far as they are wanted.
#
# Findings about one block can be put behind those about the block before it, so it does not
# matter who audited which.

DENY: Final = "deny"
WARN: Final = "warn"
AUDIT: Final = "audit"
_WARNS: Final = "Warn"
"""The action of a binding."""


@dataclass(frozen=True, slots=True)
class AuditedObject:
    """Holds what a report says of an object to tell it from all others."""

    place: Place
    """No file for one from a cluster."""
    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    resource_version: str

    @property
    def title(self) -> str:
        """Return `Deployment shop/web`."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else self.short_title

    @property
    def short_title(self) -> str:
        """Return `Node a`."""
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Violation:
    """An expression that speaks against an object. `effect` is the strongest of what the binding
    would have done: `deny`, `warn` or `audit`; `is_error` says that there was no answer."""

    object: AuditedObject
    policy: str
    binding: str
    param: str
    field: str
    rule: Place
    message: str
    effect: str
    is_error: bool


def effect_of(decision: Decision) -> str:
    """Return the strongest of what a binding does."""
    if decision.denies:
        return DENY
    return WARN if _WARNS in decision.actions else AUDIT


@dataclass(slots=True)
class Against:
    """Holds what one policy, or all of them, have against one object."""

    effects: set[str] = field(default_factory=set)
    error: bool = False

    def add(self, decision: Decision) -> None:
        """Take in a decision against it."""
        self.effects.add(effect_of(decision))
        self.error = self.error or decision.cause is not Cause.VALIDATION


@dataclass(slots=True)
class Tally:
    """Numbers of objects, of a policy or of a group of objects: those that were looked at, and
    those that something speaks against, by its strongest effect. `errors` of them had a policy
    that could not be evaluated."""

    matched: int = 0
    denied: int = 0
    warned: int = 0
    audited: int = 0
    errors: int = 0

    @property
    def violating(self) -> int:
        """Return all that something speaks against."""
        return self.denied + self.warned + self.audited

    def count(self, against: Against | None) -> None:
        """Count one more object."""
        self.matched += 1
        if against is None:
            return
        self.errors += against.error
        if DENY in against.effects:
            self.denied += 1
        elif WARN in against.effects:
            self.warned += 1
        else:
            self.audited += 1

    def add(self, following: Tally) -> None:
        """Add a tally of what comes behind these."""
        self.matched += following.matched
        self.denied += following.denied
        self.warned += following.warned
        self.audited += following.audited
        self.errors += following.errors


@dataclass(slots=True)
class Findings:
    """Holds what an audit has found so far. `objects` were met, and `judged` of them some policy
    may be about; `read_bytes` is how far the inputs have been read. `violations` are the first ones
    only, `violation_count` is how many there were. `groups` has the groups that were asked for;
    `coverage` says what policies did; `policies` is by policy and `total` about all objects that a
    policy matched. `guessed` are kinds that nobody has defined, with their resources, and
    `namespaces` those that objects are in which policies look at."""

    read_bytes: int = 0
    objects: int = 0
    judged: int = 0
    total: Tally = field(default_factory=Tally)
    policies: dict[str, Tally] = field(default_factory=dict)
    groups: dict[str, Tally] = field(default_factory=dict)
    coverage: Coverage = field(default_factory=Coverage)
    violation_count: int = 0
    violations: list[Violation] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    ignored: dict[str | tuple[str, Source], Notice] = field(default_factory=dict)
    guessed: dict[tuple[str, str], tuple[str, Place]] = field(default_factory=dict)
    namespaces: dict[str, Place] = field(default_factory=dict)
    covered_outcomes: set[tuple[int, str, str]] = field(default_factory=set)
    """Outcomes, policies and bindings that `coverage` has."""
    unasked: Counter[Unasked] = field(default_factory=Counter)
    """The objects that a plugin could not be asked about, per plugin and reason."""

    def count(self, matched: Iterable[str], against: Mapping[str, Against], group: str) -> None:
        """Count one more object: by the policies that looked at it, among all, and in its group."""
        for policy in matched:
            tally = self.policies.get(policy)
            if tally is None:
                tally = self.policies[policy] = Tally()
            tally.count(against.get(policy))
        whole: Against | None = None
        if against:
            view = against.values()
            effects = set().union(*(against.effects for against in view))
            whole = Against(effects, any(against.error for against in view))
        self.total.count(whole)
        if group:
            self.groups.setdefault(group, Tally()).count(whole)

    def add(self, following: Findings, limit: int) -> None:
        """Take in what was found behind these; no more than `limit` violations are kept."""
        self.read_bytes = max(self.read_bytes, following.read_bytes)
        self.objects += following.objects
        self.judged += following.judged
        self.violation_count += following.violation_count
        self.total.add(following.total)
        for mine, theirs in (
            (self.policies, following.policies),
            (self.groups, following.groups),
        ):
            for name, tally in theirs.items():
                mine.setdefault(name, Tally()).add(tally)
        self.coverage.add(following.coverage)
        self.violations += following.violations[: max(0, limit - len(self.violations))]
        self.problems += following.problems
        self.unasked.update(following.unasked)
        for key, notice in following.ignored.items():
            self.ignored.setdefault(key, notice)
        for kind, guess in following.guessed.items():
            self.guessed.setdefault(kind, guess)
        for namespace, place in following.namespaces.items():
            self.namespaces.setdefault(namespace, place)


class FailOn(enum.Enum):
    """Says which violations make the command fail: those that would deny, all, or none."""

    DENY = "deny"
    VIOLATION = "violation"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class AuditedPolicy:
    """A policy with its bindings and numbers of objects; `actions` are those of its bindings."""

    name: str
    place: Place
    bindings: tuple[str, ...]
    actions: tuple[str, ...]
    tally: Tally


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Everything, in the order of the source. `violations` are the first ones of `violation_count`;
    `groups` are what `--summary-by` asked for, none for policies, which are always there."""

    operation: str
    objects: int
    judged: int
    total: Tally
    policies: tuple[AuditedPolicy, ...]
    summary_by: str
    groups: tuple[tuple[str, Tally], ...]
    violation_count: int
    violations: tuple[Violation, ...]
    policy_errors: tuple[PolicyError, ...]
    notices: tuple[Notice, ...]
    problems: tuple[Problem, ...]
    strict: bool = False
    fail_on: FailOn = FailOn.DENY
    plugins: tuple[str, ...] = ()
    unasked_plugins: tuple[UnaskedPlugin, ...] = ()

    @property
    def omitted(self) -> int:
        """Return how many violations are counted but not among `violations`."""
        return self.violation_count - len(self.violations)

    def without(self, reason: NoticeReason) -> AuditReport:
        """Return the report without the notices of a kind."""
        notices = tuple(notice for notice in self.notices if notice.reason is not reason)
        return replace(self, notices=notices)

    @property
    def exit(self) -> Exit:
        """Return the worst of what happened: a defect of ours, then unreadable input, then policies
        that are broken or could not be evaluated, then violations."""
        if self.problems:
            return exit_of(self.problems)
        if self.policy_errors or (self.strict and self.notices):
            return Exit.POLICY
        if self.fail_on is FailOn.NEVER:
            return Exit.OK
        if self.total.errors:
            return Exit.POLICY
        everything = self.fail_on is FailOn.VIOLATION
        against = self.total.violating if everything else self.total.denied
        return Exit.DENIED if against else Exit.OK


# --- Fleets ------------------------------------------------------------------
#
# What an audit of a fleet found: the report of each source, and what they come to.

_WORST_FIRST: Final = (Exit.INTERNAL, Exit.USAGE, Exit.POLICY, Exit.DENIED)


@dataclass(frozen=True, slots=True)
class FleetReport:
    """Holds the reports of all sources of a fleet. `sources` are in the order of the fleet, by
    name. `problems` are those of no source."""

    sources: tuple[tuple[str, AuditReport], ...]
    problems: tuple[Problem, ...] = ()
    strict: bool = False

    @property
    def objects(self) -> int:
        """Return how many objects all sources have."""
        return sum(source.objects for _, source in self.sources)

    @property
    def violation_count(self) -> int:
        """Return how many violations there are in all sources."""
        return sum(source.violation_count for _, source in self.sources)

    @property
    def total(self) -> Tally:
        """Return the total of all objects."""
        return _sum(source.total for _, source in self.sources)

    @property
    def policies(self) -> tuple[tuple[str, Tally], ...]:
        """Return the policies by name, over all sources."""
        return _summed(
            (policy.name, policy.tally) for _, source in self.sources for policy in source.policies
        )

    @property
    def groups(self) -> tuple[tuple[str, Tally], ...]:
        """Return what `--summary-by` asked for, those with most violations first."""
        summed = _summed(group for _, source in self.sources for group in source.groups)
        return tuple(sorted(summed, key=lambda group: (-group[1].violating, group[0])))

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return the notices that hold for every source: that a policy matched nothing anywhere,
        for instance. What is so in one source is in its own report."""
        if not self.sources:
            return ()
        sources = [
            {(notice.reason, notice.message) for notice in report.notices}
            for _, report in self.sources
        ]
        everywhere = set.intersection(*sources)
        first = self.sources[0][1].notices
        return tuple(notice for notice in first if (notice.reason, notice.message) in everywhere)

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        """Return the problems of the fleet, then those of its sources, with their names."""
        of_sources = (
            replace(problem, file=f"source `{name}`: {problem.file}")
            for name, report in self.sources
            for problem in report.problems
        )
        return (*self.problems, *of_sources)

    @property
    def exit(self) -> Exit:
        """Return the worst of what happened anywhere."""
        ends = {source.exit for _, source in self.sources}
        if self.problems:
            ends.add(Exit.USAGE)
        if self.strict and self.notices:
            ends.add(Exit.POLICY)
        return next((exit_code for exit_code in _WORST_FIRST if exit_code in ends), Exit.OK)


def _summed(tallies: Iterable[tuple[str, Tally]]) -> tuple[tuple[str, Tally], ...]:
    result: dict[str, Tally] = {}
    for name, tally in tallies:
        result.setdefault(name, Tally()).add(tally)
    return tuple(result.items())


def _sum(tallies: Iterable[Tally]) -> Tally:
    whole = Tally()
    for tally in tallies:
        whole.add(tally)
    return whole
