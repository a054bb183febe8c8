"""What came of the events: what policies would have said, and what was said, by whom and where.

Numbers are kept by policy, user, namespace and controller (the service account that asked), with
the first and the last time and a few examples, so a log may be of any length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from celadon.cli.check.check_report import Notice, Place, PolicyError, UnaskedPlugin
from celadon.cli.check.plugins import Unasked
from celadon.cli.exits import Exit
from celadon.cli.reading.problems import Problem, exit_of
from celadon.records import dataclass

EXAMPLES: Final = 3
_MOST_GROUPS: Final = 20_000
_OTHERS: Final = "(others)"
BY: Final = ("policy", "user", "namespace", "controller")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time that a policy spoke against a request, or would have. `effect` is `deny`, `warn` or
    `audit`; `controller` is `namespace/name` of the service account that asked, if one did."""

    policy: str
    binding: str
    effect: str
    message: str
    field: str
    rule: Place
    is_error: bool
    operation: str
    title: str
    namespace: str
    user: str
    controller: str
    time: str
    audit_id: str
    place: Place

    def group(self, by: str) -> str:
        """Its name among groups."""
        return str(getattr(self, by)) or "-"


@dataclass(slots=True)
class Sighted:
    """How often, and when: times are as in the log, examples the first ones."""

    denied: int = 0
    warned: int = 0
    audited: int = 0
    first: str = ""
    last: str = ""
    examples: list[Occurrence] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Of all effects."""
        return self.denied + self.warned + self.audited

    def add(self, one: Occurrence) -> None:
        """One time more."""
        self.denied += one.effect == "deny"
        self.warned += one.effect == "warn"
        self.audited += one.effect == "audit"
        if one.time:
            self.first = min(self.first or one.time, one.time)
            self.last = max(self.last, one.time)
        if len(self.examples) < EXAMPLES:
            self.examples.append(one)


@dataclass(slots=True)
class Sightings:
    """All times, by each of `BY`."""

    total: Sighted = field(default_factory=Sighted)
    groups: dict[str, dict[str, Sighted]] = field(default_factory=lambda: {by: {} for by in BY})

    def add(self, one: Occurrence) -> None:
        """One time more."""
        self.total.add(one)
        for by in BY:
            known = self.groups[by]
            name = one.group(by)
            if name not in known and len(known) >= _MOST_GROUPS:
                name = _OTHERS
            known.setdefault(name, Sighted()).add(one)


def largest(groups: Mapping[str, Sighted], most: int | None) -> list[tuple[str, Sighted]]:
    """Those with the most times first; all of them for None."""
    return sorted(groups.items(), key=lambda one: (-one[1].count, one[0]))[:most]


@dataclass(slots=True)
class ReplayFindings:
    """`events` are all that were read; of these `skipped` are of other stages, `reads` only read,
    `unconcerned` are of no policy's concern, and `judged` were judged: denied by a policy, or with
    no policy undecided. `undecidable` counts the others by the name of the reason, `undecided` by
    policy. `namespaces` are those of what was judged. `would` is what policies would have said,
    `did` what was said then."""

    events: int = 0
    skipped: int = 0
    reads: int = 0
    unconcerned: int = 0
    judged: int = 0
    denied: int = 0
    strangers: int = 0
    first: str = ""
    last: str = ""
    would: Sightings = field(default_factory=Sightings)
    did: Sightings = field(default_factory=Sightings)
    matched: Counter[str] = field(default_factory=Counter)
    undecidable: Counter[str] = field(default_factory=Counter)
    undecided: Counter[str] = field(default_factory=Counter)
    namespaces: dict[str, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unasked: Counter[Unasked] = field(default_factory=Counter)
    """The requests that a plugin could not be asked about, per plugin and reason."""


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """Everything; `policies` are the names of those that were replayed."""

    findings: ReplayFindings
    policies: tuple[str, ...]
    policy_errors: tuple[PolicyError, ...]
    notices: tuple[Notice, ...]
    strict: bool = False
    plugins: tuple[str, ...] = ()
    unasked_plugins: tuple[UnaskedPlugin, ...] = ()

    @property
    def exit(self) -> Exit:
        """The worst of what happened, as for an audit."""
        findings = self.findings
        if findings.problems:
            return exit_of(findings.problems)
        if self.policy_errors or (self.strict and self.notices):
            return Exit.POLICY
        return Exit.DENIED if findings.denied else Exit.OK
