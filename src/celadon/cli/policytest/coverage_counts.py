"""Coverage as plain data: goals, and by how many cases each was reached.

Those of versions, files and processes are added up, policies that several tests share among them.
What the goals of a policy are is in `measuring`.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from celadon.cli.check.check_report import Place


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
