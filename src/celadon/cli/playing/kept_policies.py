"""Policies of the last state, decoded and compiled: made again only where their panes changed.

Documents are known by identity (`pane_reading` keeps those of a pane that is as it was), policy
sets and engines by the release that they are for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from celadon.cli.checking.given_cluster import EngineMakers
from celadon.cli.checking.manifests import Manifests
from celadon.cli.checking.policy_set import (
    PolicySet,
    PolicySets,
    mutating_engine,
    policy_sets,
    validating_engine,
)
from celadon.cli.reading.documents import Document

_Made = TypeVar("_Made")


class KeptPolicies:
    """`makers` give the engines of the sets."""

    def __init__(self) -> None:
        self._sets: dict[str, tuple[list[Document], PolicySets]] = {}
        self.makers = EngineMakers(
            _LastOfRelease(validating_engine), _LastOfRelease(mutating_engine)
        )

    def sets(self, manifests: Manifests, release: str) -> PolicySets:
        """Those of the documents, which are the same object for the same documents."""
        judges = [one for part in manifests.given[:4] for one in part]
        known = self._sets.get(release)
        if known is not None and list(map(id, known[0])) == list(map(id, judges)):
            return known[1]
        before = len(manifests.problems)
        found = policy_sets(manifests, release)
        if len(manifests.problems) == before:
            self._sets[release] = judges, found
        return found


class _LastOfRelease(Generic[_Made]):
    """Remembers, for each release, what it made last."""

    def __init__(self, make: Callable[[PolicySet, str], _Made]) -> None:
        self._make = make
        self._known: dict[str, tuple[PolicySet, _Made]] = {}

    def __call__(self, given: PolicySet, release: str) -> _Made:
        known = self._known.get(release)
        if known is None or known[0] is not given:
            known = self._known[release] = given, self._make(given, release)
        return known[1]
