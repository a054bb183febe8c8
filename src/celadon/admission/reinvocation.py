"""Who is asked again in a second round of mutation.

The same book-keeping for policies and webhooks: whoever wants to be asked again when others change
the object after it. As k8s.io/apiserver `pkg/admission/plugin/{policy,webhook}/mutating/
reinvocationcontext.go`.
"""

from __future__ import annotations

from collections.abc import Hashable

from celadon.kube import JsonObject
from celadon.records import dataclass


@dataclass(slots=True)
class Reinvocation:
    """By key, those that were asked and want to be again (IfNeeded), and those that the second
    round has to ask. `last` is the object as the first round has left it."""

    last: JsonObject | None = None
    asked: frozenset[Hashable] = frozenset()
    again: frozenset[Hashable] = frozenset()

    def changed(self) -> None:
        """Something after those that were asked has changed the object."""
        self.again |= self.asked
        self.asked = frozenset()
