"""What checking a stretch of the objects has come to.

Objects are judged one after the other; what is found is gathered here: a result for each, and what
is said about all of them together. Findings about one stretch can be put behind those about the
stretch before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import field
from typing import TYPE_CHECKING

from celadon.cli.check.check_report import Notice, ObjectResult
from celadon.cli.check.notices import Coverage, Sightings
from celadon.cli.reading.problems import Problem
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.check.plugins import Charge, Unasked


@dataclass(slots=True)
class Findings:
    """About a number of documents. `unsendable` are objects that nobody could ask about, `crashes`
    errors of our own, before and while objects are judged; `ignored` has a notice per expression or
    webhook whose errors were let pass; `charges` are requests that may use something of a quota;
    `unasked` counts, per plugin and reason, the objects that it could not be asked about.
    `coverage` is about validating policies, `mutations` about mutating ones."""

    sightings: Sightings
    documents: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    mutations: Coverage = field(default_factory=Coverage)
    results: list[ObjectResult] = field(default_factory=list)
    unsendable: list[Problem] = field(default_factory=list)
    early_crashes: list[Problem] = field(default_factory=list)
    crashes: list[Problem] = field(default_factory=list)
    ignored: dict[Hashable, Notice] = field(default_factory=dict)
    charges: list[Charge] = field(default_factory=list)
    unasked: Counter[Unasked] = field(default_factory=Counter)

    def add(self, following: Findings) -> None:
        """Takes in what was found about the objects behind these."""
        self.documents += following.documents
        self.sightings.add(following.sightings)
        self.coverage.add(following.coverage)
        self.mutations.add(following.mutations)
        self.charges += [one.behind(len(self.results)) for one in following.charges]
        self.unasked.update(following.unasked)
        self.results += following.results
        self.unsendable += following.unsendable
        self.early_crashes += following.early_crashes
        self.crashes += following.crashes
        for key, notice in following.ignored.items():
            self.ignored.setdefault(key, notice)
