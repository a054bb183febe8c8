"""What `celadon audit` found, as one value; every output format is made from it."""

from __future__ import annotations

import enum

from celadon.cli.auditing.audit_findings import Findings, Tally, Violation
from celadon.cli.checking.check_report import Notice, Place, PolicyError, UnaskedPlugin
from celadon.cli.checking.given.plugin_setting import unasked_plugins
from celadon.cli.checking.server_plugins.plugin_choice import PluginChoice
from celadon.cli.exits import Exit
from celadon.cli.reading.problems import Problem
from celadon.records import dataclass


class FailOn(enum.Enum):
    """Which violations make the command fail: those that would deny, all, or none."""

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
    """Everything, in the order of the source. `violations` are the first ones of `found`; `groups`
    are what `--summary-by` asked for, none for policies, which are always there."""

    operation: str
    objects: int
    judged: int
    total: Tally
    policies: tuple[AuditedPolicy, ...]
    summary_by: str
    groups: tuple[tuple[str, Tally], ...]
    found: int
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
        """How many violations are counted but not among `violations`."""
        return self.found - len(self.violations)

    @property
    def exit(self) -> Exit:
        """The worst of what happened: a defect of ours, then unreadable input, then policies that
        are broken or could not be evaluated, then violations."""
        if any(problem.is_internal for problem in self.problems):
            return Exit.INTERNAL
        if self.problems:
            return Exit.USAGE
        if self.policy_errors or (self.strict and self.notices):
            return Exit.POLICY
        if self.fail_on is FailOn.NEVER:
            return Exit.OK
        if self.total.errors:
            return Exit.POLICY
        everything = self.fail_on is FailOn.VIOLATION
        against = self.total.violating if everything else self.total.denied
        return Exit.DENIED if against else Exit.OK


def report_of(
    findings: Findings,
    policies: tuple[AuditedPolicy, ...],
    policy_errors: tuple[PolicyError, ...],
    notices: tuple[Notice, ...],
    *,
    operation: str,
    summary_by: str,
    strict: bool,
    fail_on: FailOn,
    choice: PluginChoice,
) -> AuditReport:
    """The groups with most violations come first."""
    groups = sorted(findings.groups.items(), key=lambda one: (-one[1].violating, one[0]))
    return AuditReport(
        operation=operation,
        objects=findings.objects,
        judged=findings.judged,
        total=findings.total,
        policies=policies,
        summary_by=summary_by,
        groups=tuple(groups),
        found=findings.found,
        violations=tuple(findings.violations),
        policy_errors=policy_errors,
        notices=notices,
        problems=tuple(dict.fromkeys(findings.problems)),
        strict=strict,
        fail_on=fail_on,
        plugins=choice.asked,
        unasked_plugins=unasked_plugins(choice, findings.unasked),
    )
