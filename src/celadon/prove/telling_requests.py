"""Requests that show what a policy does: for each of its validations one that it refuses and all
others admit, and one that all of them admit.

They are differences between policies: with a validation a request is refused that is admitted
without it, and a policy that refuses everything refuses what is admitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from celadon.kube import JsonObject
from celadon.prove.differences import Differences, Direction, Example, Finding
from celadon.prove.known_kinds import KnownKinds
from celadon.prove.mutants import BoundPolicy, side_of


@dataclass(frozen=True, slots=True)
class Told:
    """A request that the validation with an index refuses alone; None if none has anything against
    it."""

    index: int | None
    example: Example


@dataclass(frozen=True, slots=True)
class TellingRequests:
    """Finds them for one policy. `seconds` is for one question; `definitions` are of custom
    kinds."""

    given: BoundPolicy
    version: str
    definitions: Sequence[JsonObject] = ()
    seconds: float = 5

    def found(self) -> Iterator[Told]:
        """One for each validation, as far as there is one, then one that is admitted."""
        validations = self.given.validations
        for index in range(len(validations)):
            rest = [*validations[:index], *validations[index + 1 :]]
            # What ignores errors refuses only what is false.
            example = self._example(self.given.ignoring_errors(), self.given.with_validations(rest))
            if example is not None:
                yield Told(index, example)
        example = self._example(self.given.with_validations([{"expression": "false"}]), self.given)
        if example is not None:
            yield Told(None, example)

    def _example(self, stricter: BoundPolicy, looser: BoundPolicy) -> Example | None:
        """A request that one policy refuses and the other admits."""
        old, new = (side_of([one], self.version) for one in (stricter, looser))
        asked = Differences(
            old,
            new,
            seconds=self.seconds,
            about=str(self.given.policy["metadata"]["name"]),
            kinds=KnownKinds.of(self.definitions),
        )
        for found in asked.comparisons([Direction.LOOSER]):
            if found.finding is Finding.DIFFERS:
                return found.example
        return None
