"""Coverage and mutants as plain data: goals, and by how many cases each was reached; policies with
one thing changed, and which of them no test noticed.

Counts of versions, files and processes are added up, policies that several tests share among them.
What the goals of a policy are is in `coverage`.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from celadon.cli.check.check_report import Place

# --- Coverage ----------------------------------------------------------------


class Wanted(enum.Enum):
    """This is what is to happen once. `NO_PARAMS`: a binding finds no params. `ERROR`: an
    expression gives no value; whether any request can bring that about is not known, so this is
    never missed."""

    REACHED = "reached"
    NO_PARAMS = "without params"
    EVALUATED = "evaluated"
    TRUE = "true"
    FALSE = "false"
    DECIDES = "decisive"
    ERROR = "an error"


@dataclass(frozen=True, slots=True, order=True)
class Measured:
    """A policy as it stands in a file."""

    file: str
    line: int
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Goal:
    """`field` is the expression's as people call it (`validations[0]`), or the binding's name; then
    `text` is empty, else it is the part, which stands at `[start, end)` of the expression."""

    policy: Measured
    place: Place
    field: str
    text: str
    start: int
    end: int
    wanted: Wanted

    @property
    def counts(self) -> bool:
        """Return whether it is missed where it is not reached."""
        return self.wanted is not Wanted.ERROR


@dataclass(frozen=True, slots=True)
class Coverage:
    """Goals in the order of the files, with the number of cases that reached them."""

    hits: tuple[tuple[Goal, int], ...] = ()

    def of_policies(self) -> dict[Measured, Coverage]:
        """The same, policy by policy, in the order of files and lines."""
        found: dict[Measured, list[tuple[Goal, int]]] = {}
        for goal, count in self.hits:
            found.setdefault(goal.policy, []).append((goal, count))
        return {policy: Coverage(tuple(found[policy])) for policy in sorted(found)}

    @property
    def goals(self) -> int:
        """Return how many count."""
        return sum(goal.counts for goal, _ in self.hits)

    @property
    def reached(self) -> int:
        """Return how many of those a case has reached."""
        return sum(goal.counts and count > 0 for goal, count in self.hits)

    @property
    def percentage(self) -> float:
        """100.0 where there is nothing to reach."""
        return 100.0 * self.reached / self.goals if self.goals else 100.0

    @property
    def errors(self) -> tuple[int, int]:
        """Expressions that gave an error once, and expressions."""
        counts = [count for goal, count in self.hits if goal.wanted is Wanted.ERROR]
        return sum(count > 0 for count in counts), len(counts)


def added_up(parts: Iterable[Coverage]) -> Coverage:
    """All of them as one."""
    found: Counter[Goal] = Counter()
    for part in parts:
        found.update(dict(part.hits))
    return Coverage(tuple(found.items()))


# --- Mutants -----------------------------------------------------------------
#
# Policies with one thing changed, and which of them no test noticed: as plain data.
#
# An alteration is what users know as a mutant: `celadon test --mutate`. The word is another one
# here because policies that mutate objects have it already.


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
        """Return the number of those that a test could notice, as far as is known."""
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
    """Return the alterations of several policies."""
    return Alterations(tuple(one for part in parts for one in part.results))
