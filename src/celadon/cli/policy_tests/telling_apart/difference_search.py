"""The search for a request that tells a policy from an altered one.

What it finds is a killing case. That it finds nothing proves nothing beyond its bound: so many
requests that came to the policy, and all of them alike.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from celadon.cli.policy_tests.altering.alterations import Alteration
from celadon.cli.policy_tests.telling_apart.altered_benches import altered_bench
from celadon.cli.policy_tests.telling_apart.glances import glance
from celadon.cli.policy_tests.telling_apart.killing_cases import CaseWriter
from celadon.cli.policy_tests.telling_apart.policy_stages import Stage, is_mutating
from celadon.cli.policy_tests.telling_apart.quoted_expressions import as_original
from celadon.cli.policy_tests.telling_apart.request_pool import RequestPool

MOST_REQUESTS: Final = 300
"""Requests that are compared."""
_MOST_PROPOSALS: Final = 20
"""Requests that make a difference, of which each is tried as a case."""


_INSIDE: Final = frozenset({"validations", "mutations", "auditAnnotations"})


class Difference(NamedTuple):
    """`case` is the text of a killing case, empty if there is none. `requests` came to the policy
    and made no difference; `differs` says that others did, though no case could tell."""

    case: str
    requests: int
    differs: bool = False


class DifferenceSearch:
    """For one policy on one stage; the requests are the same for all alterations."""

    def __init__(self, stage: Stage, name: str) -> None:
        self._stage = stage
        self._name = name
        self._writer = CaseWriter(stage)
        self._pool = RequestPool(stage.bench, stage.cases, name)

    def difference(self, alteration: Alteration) -> Difference:
        """What the search comes to."""
        other = altered_bench(self._stage.bench, alteration)
        alike = proposals = 0
        for one in self._pool.first(MOST_REQUESTS):
            before = one.glance
            if self._is_inside(alteration) and self._name not in before.reached:
                continue
            shared = None if is_mutating(alteration) else before.sent
            after = glance(other, one.case, shared)
            if as_original(after.shown, alteration) == before.shown:
                alike += self._name in before.reached
                continue
            proposals += 1
            case = self._writer.killing_case(alteration, other, one)
            if case or proposals >= _MOST_PROPOSALS:
                return Difference(case, alike, differs=True)
        return Difference("", alike, differs=proposals > 0)

    def _is_inside(self, alteration: Alteration) -> bool:
        """Whether it shows only where the policy is evaluated."""
        path = alteration.path
        return path[:1] == ("spec",) and path[1] in _INSIDE
