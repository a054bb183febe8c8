"""The record of a rule. Families of rules are the modules `*_rules`; `table` has them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from celadon.admission.lint.model.findings import Finding, Severity
from celadon.admission.lint.model.rule_reports import Report
from celadon.admission.lint.model.subjects import Bundle
from celadon.records import dataclass

Check = Callable[[Bundle], Iterable[Report]]


@dataclass(frozen=True, slots=True)
class Rule:
    """`doc` is one paragraph. `bad` and `good` are YAML, documents or the `spec` of a policy about
    Deployments that are created or updated; the bad one makes the rule speak, the good one not."""

    code: str
    name: str
    severity: Severity
    doc: str
    bad: str
    good: str
    check: Check

    def findings(self, bundle: Bundle) -> Iterable[Finding]:
        """What the rule says about everything that was given, with its code."""
        for one in self.check(bundle):
            severity = one.severity or self.severity
            yield Finding(self.code, one.spot, one.message, one.help, severity, one.fix)
