"""The mutating policies that an object goes through, and what they make of it.

`Mutators` are the policies, `PolicyMutation` is one request on its way through them, one round at a
time; whoever has the draft asks for a second round where that is due. What happened is an
`ObjectMutation`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from celadon.admission import Note, Outcome, Request, World
from celadon.admission.policies import mutating
from celadon.kube import GroupVersionKind, JsonObject, StatusError
from celadon.kube.crd import CustomKind
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.fieldmanager import MutatedKinds
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.admission.explain import Explanation, MutationLook

_MATCHED: Final = frozenset({Outcome.EVALUATED, Outcome.CONDITION_FALSE, Outcome.PARAM_NOT_FOUND})


@dataclass(frozen=True, slots=True)
class ObjectMutation:
    """Holds what mutating policies have done to an object. `before` and `after` are the object as
    it came to the policies first, and as they have left it last."""

    before: JsonObject
    after: JsonObject
    changes: tuple[mutating.Change, ...] = ()
    failures: tuple[mutating.MutationFailure, ...] = ()
    notes: tuple[Note, ...] = ()
    explanation: Explanation | None = None
    """Where somebody wants to know why."""

    @property
    def effects(self) -> tuple[mutating.Change, ...]:
        """Return the mutations that have made a difference, in their order."""
        return tuple(change for change in self.changes if change.before != change.after)

    @property
    def matched(self) -> int:
        """Pairs of policy and binding that had the object before them."""
        noted = {(note.policy, note.binding) for note in self.notes if note.outcome in _MATCHED}
        return len(noted | {(failure.policy, failure.binding) for failure in self.failures})


@dataclass(frozen=True, slots=True)
class Mutators:
    """The policies, for all objects; `custom` are the kinds of given definitions. With `looks`,
    what happens is explained."""

    engine: mutating.MutatingEngine
    world: World
    custom: Callable[[GroupVersionKind], CustomKind | None]
    looks: bool = False

    def of(self, request: Request, context: DefaultingContext) -> PolicyMutation | None:
        """Return the mutation of one request; None if no policy concerns it."""
        if not self.looks and not self.engine.concerns(request, self.world):
            return None
        kinds = MutatedKinds(context, self.custom)
        if not self.looks:
            return PolicyMutation(self.engine.rounds(self.world, kinds))
        from celadon.admission.explain import MutationLook

        look = MutationLook(self.engine)
        return PolicyMutation(self.engine.rounds(self.world, kinds, contexts=look.context), look)


class PolicyMutation:
    """One request on its way through the policies."""

    def __init__(self, rounds: mutating.PolicyRounds, look: MutationLook | None = None) -> None:
        self._rounds = rounds
        self._look = look
        self._refusal: StatusError | None = None
        self._before: JsonObject | None = None
        self._after: JsonObject | None = None

    @property
    def wants_another(self) -> bool:
        """Return whether all mutators have to be asked again."""
        return self._rounds.wants_another

    def run(self, request: Request, number: int) -> JsonObject | None:
        """Return the object at the end of a round. Raises StatusError."""
        if self._before is None:
            self._before = self._after = request.object
        try:
            run = self._rounds.run(request, number)
        except StatusError as refused:
            self._refusal = refused
            raise
        self._after = run
        return run

    @property
    def happened(self) -> ObjectMutation:
        """Return what came of the mutations."""
        notes = self._rounds.notes
        return ObjectMutation(
            self._before or {},
            self._after or {},
            tuple(notes.changes),
            tuple(notes.failures),
            tuple(notes.notes),
            None if self._look is None else self._look.explained(notes, self._refusal),
        )
