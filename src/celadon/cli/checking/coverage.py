"""Which policies had a say about which objects.

The engine notes on its way to a verdict why each policy and binding spoke or did not; here that is
gathered over all objects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Final, Protocol

from celadon.admission import Cause, Engine, Note, Outcome, Verdict, World
from celadon.cli.checking.policy_set import PolicySet
from celadon.cli.checking.questions import Asked
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.checking.mutation.object_mutation import ObjectMutation

_MATCHED: Final = frozenset(
    {
        Outcome.EVALUATED,
        Outcome.CONDITION_FALSE,
        Outcome.CONDITION_ERROR_IGNORED,
        Outcome.PARAM_NOT_FOUND,
        Outcome.CONFIGURATION_ERROR_IGNORED,
    }
)


class Titled(Protocol):
    """Something that can be spoken of."""

    @property
    def title(self) -> str:
        """`Deployment shop/web`."""
        ...


@dataclass(slots=True)
class Coverage:
    """What was found. `outcomes` has per policy how its evaluations ended; `notes` keeps the first
    of each kind, with the title of its object; `misconfigured` are policies that denied because of
    their own configuration; `known` are notes of this process that were taken in before, by
    identity."""

    outcomes: dict[str, set[Outcome]] = field(default_factory=dict)
    notes: dict[tuple[Outcome, str, str], tuple[Note, str]] = field(default_factory=dict)
    misconfigured: set[str] = field(default_factory=set)
    known: dict[int, tuple[Note, ...]] = field(default_factory=dict, compare=False)

    def evaluated(self, policy: str) -> bool:
        """Whether the policy was evaluated, or failed to be, on any object."""
        return policy in self.misconfigured or Outcome.EVALUATED in self.outcomes.get(policy, ())

    def judge(self, engine: Engine, world: World, asked: Asked) -> tuple[Verdict, int]:
        """What the policies say to an object, and how many pairs of policy and binding match."""
        verdict = engine.noted(asked.request, world)
        unconcerned = engine.unconcerned(asked.request, world)
        if id(unconcerned) not in self.known:
            self.known[id(unconcerned)] = unconcerned
            self.take(unconcerned, asked)
        self.take(verdict.notes, asked)
        wrong = [one for one in verdict.decisions if one.cause is Cause.CONFIGURATION]
        self.misconfigured.update(one.policy for one in wrong)
        pairs = {(note.policy, note.binding) for note in verdict.notes if note.outcome in _MATCHED}
        return verdict, len(pairs.union((one.policy, one.binding) for one in wrong))

    def take_mutation(self, happened: ObjectMutation | None, asked: Asked) -> None:
        """Takes in what mutating policies have made of an object."""
        if happened is not None:
            self.take(happened.notes, asked)
            self.misconfigured.update(
                failure.policy
                for failure in happened.failures
                if failure.index is None and not failure.ignored
            )

    def take(self, notes: Iterable[Note], asked: Titled) -> None:
        """Takes in what was noted about an object."""
        for note in notes:
            if note.policy:
                self.outcomes.setdefault(note.policy, set()).add(note.outcome)
            key = (note.outcome, note.policy, note.binding)
            if key not in self.notes:
                self.notes[key] = (note, asked.title)

    def add(self, following: Coverage) -> None:
        """Takes in what was found about the objects behind these."""
        for policy, outcomes in following.outcomes.items():
            self.outcomes.setdefault(policy, set()).update(outcomes)
        for key, noted in following.notes.items():
            self.notes.setdefault(key, noted)
        self.misconfigured |= following.misconfigured

    def count_silent(self, policies: PolicySet) -> None:
        """Takes in, at the end, that policies of which nothing was noted match nothing."""
        for name in policies.policies:
            self.outcomes.setdefault(name, {Outcome.POLICY_UNMATCHED})
