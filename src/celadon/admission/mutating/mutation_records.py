"""What mutating policies have done to an object, for those who tell others."""

from __future__ import annotations

from dataclasses import field
from typing import Protocol

from celadon.admission.decision_source import Source
from celadon.admission.mutating.mutation_refusals import MutationFailure
from celadon.admission.verdict import Note
from celadon.kube import JsonObject
from celadon.records import dataclass


# House rule 9: nobody assigns to its fields, but it is not frozen: each mutation makes one, and a
# frozen one takes several times as long.
@dataclass(slots=True)
class Change:
    """One mutation that was applied, whether or not it made a difference. `round` is 0 or 1."""

    policy: str
    binding: str
    param: str
    index: int
    source: Source
    round: int
    before: JsonObject
    after: JsonObject


class MutationObserver(Protocol):
    """Is told what mutations came to, one after the other: for measuring."""

    def begin(self) -> object:
        """Before the mutations of a policy with one param; what it returns is nobody's business."""

    def mutated(self, policy: str, binding: str, failure: str) -> None:
        """A mutation was tried; `failure` is empty if it was applied."""


@dataclass(slots=True)
class MutationNotes:
    """Of one request: the mutations in their order, failures, also those that were ignored, and
    what had no say."""

    changes: list[Change] = field(default_factory=list)
    failures: list[MutationFailure] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
