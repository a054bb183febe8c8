"""What one run of the linter leaves to the next: documents that are prepared already.

An editor lints after every keystroke, and a keystroke changes one document. What is known of a
document depends on itself, the settings and the definitions among the documents, so it is kept
under its text as long as those stay what they are. Documents that a run does not have any more are
forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from celadon.admission.lint.model.mutating_subjects import MutatingCase
from celadon.admission.lint.model.subjects import BindingCase, PolicyCase, Registered, RuleCase
from celadon.admission.lint.model.type_mistakes import Mistake
from celadon.admission.policy.typecheck import TypeProblem
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that is known of one registered document alone."""

    registered: Registered
    policy: PolicyCase | None = None
    binding: BindingCase | None = None
    mutating: MutatingCase | None = None
    mistakes: tuple[Mistake, ...] = ()
    problems: tuple[TypeProblem, ...] = ()

    def as_number(self, number: int) -> Prepared:
        """The same document at another place of the input."""
        if number == self.registered.document:
            return self
        return replace(
            self,
            registered=replace(self.registered, document=number),
            policy=self.policy and replace(self.policy, document=number),
            binding=self.binding and replace(self.binding, document=number),
            mutating=self.mutating and replace(self.mutating, document=number),
        )


class LintMemory:
    """Empty at first; to be given to every run."""

    __slots__ = ("_conditions", "_known", "_rules", "_used")

    def __init__(self) -> None:
        self._conditions = ""
        self._known: dict[str, Prepared] = {}
        self._rules: tuple[RuleCase, ...] | None = None
        self._used: dict[str, Prepared] = {}

    def begin(self, conditions: Sequence[object]) -> None:
        """A run under these conditions: the settings, and the definitions with their numbers."""
        text = repr(conditions)
        if text != self._conditions:
            self._known = {}
            self._rules = None
            self._conditions = text
        self._used = {}

    def prepared(self, document: object, number: int, make: Callable[[], Prepared]) -> Prepared:
        """What is known of a document, made if it is not."""
        text = repr(document)
        found = self._known.get(text)
        found = make() if found is None else found.as_number(number)
        self._used[text] = found
        return found

    def rules(self, make: Callable[[], tuple[RuleCase, ...]]) -> tuple[RuleCase, ...]:
        """The rules in the definitions, made if they are not known."""
        if self._rules is None:
            self._rules = make()
        return self._rules

    def end(self) -> None:
        """The run is over: what it did not need is forgotten."""
        self._known = self._used
