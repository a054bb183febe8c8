"""Policies with one thing changed, and which of them no test noticed: as plain data.

An alteration is what users know as a mutant: `celadon test --mutate`. The word is another one
here because policies that mutate objects have it already.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable

from celadon.cli.check.check_report import Place
from celadon.cli.policytest.coverage_counts import Measured
from celadon.records import dataclass


class AlterationKind(enum.Enum):
    """This is what is changed: first in expressions, then in the other fields of policies and
    bindings."""

    COMPARISON = "comparison"
    LOGIC = "logic"
    ARITHMETIC = "arithmetic"
    NEGATION = "negation"
    QUANTIFIER = "quantifier"
    PRESENCE = "presence"
    CLAUSE = "clause"
    OBJECT = "object"
    CONSTANT = "constant"
    LIST = "list"
    FIELD = "field"

    VALIDATION = "validation"
    MESSAGE = "message"
    CONDITION = "condition"
    ANNOTATION = "annotation"
    MUTATION = "mutation"
    REINVOCATION = "reinvocation"
    FAILURE_POLICY = "failure-policy"
    RULE = "rule"
    OPERATION = "operation"
    RESOURCE = "resource"
    MATCH_POLICY = "match-policy"
    SELECTOR = "selector"
    BINDING = "binding"
    ACTIONS = "actions"
    PARAMS = "params"


class Fate(enum.Enum):
    """This is what became of an alteration. `KILLED`: a case that passes fails with it. `SAME`:
    that it makes no difference is proved for any request. `ALIKE`: that it makes none is proved
    within a bound, by asking all combinations of so many values. `OPEN`: a search found no
    difference, but could not change all that is read. `UNREACHED`: no case, and no request of the
    search, came to the policy, so nothing is known."""

    KILLED = "killed"
    SURVIVED = "survived"
    SAME = "same"
    ALIKE = "alike"
    OPEN = "open"
    UNREACHED = "unreached"


@dataclass(frozen=True, slots=True)
class AlterationResult:
    """`field` is what was changed, as people call it (`spec.validations[0].expression`), `text`
    how. `killer` is the case that noticed. `reason` is why it makes no difference, or the bound
    within which it makes none, or what no request could change; `requests` counts those of the
    search that came to the policy and found no difference. Of what survived, `diff` is that of the
    file, and `case` one that would notice, as a test file has it; empty if none was found."""

    policy: Measured
    kind: AlterationKind
    place: Place
    field: str
    text: str
    fate: Fate
    killer: str = ""
    reason: str = ""
    requests: int = 0
    diff: str = ""
    case: str = ""


@dataclass(frozen=True, slots=True)
class Alterations:
    """All results, in the order of files and lines."""

    results: tuple[AlterationResult, ...] = ()

    def count(self, fate: Fate) -> int:
        """Return how many came to that."""
        return sum(one.fate is fate for one in self.results)

    @property
    def counted(self) -> int:
        """Return those that a test could notice, as far as is known."""
        return len(self.results) - self.count(Fate.SAME) - self.count(Fate.ALIKE)

    @property
    def score(self) -> float:
        """Percent of them that were killed; 100.0 where there are none."""
        return 100.0 * self.count(Fate.KILLED) / self.counted if self.counted else 100.0

    def of_policies(self) -> dict[Measured, Alterations]:
        """The same, policy by policy."""
        found: dict[Measured, list[AlterationResult]] = {}
        for one in self.results:
            found.setdefault(one.policy, []).append(one)
        return {policy: Alterations(tuple(found[policy])) for policy in sorted(found)}


def all_alterations(parts: Iterable[Alterations]) -> Alterations:
    """Return those of several policies."""
    return Alterations(tuple(one for part in parts for one in part.results))
