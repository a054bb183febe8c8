"""The search for a request that tells a policy from an altered one.

What it finds is a killing case. That it finds nothing is a proof within its bound, which it tells:
all combinations of so many inputs with so many values (`input_combinations`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from celadon.cli.policy_tests.altering.alterations import Alteration
from celadon.cli.policy_tests.running.case_bench import Bench
from celadon.cli.policy_tests.telling_apart.altered_benches import altered_bench, compiled_policy
from celadon.cli.policy_tests.telling_apart.combining.input_combinations import (
    InputCombinations,
    Space,
)
from celadon.cli.policy_tests.telling_apart.combining.policy_inputs import PolicyInputs
from celadon.cli.policy_tests.telling_apart.glances import glance
from celadon.cli.policy_tests.telling_apart.killing_cases import CaseWriter
from celadon.cli.policy_tests.telling_apart.policy_stages import Stage, is_mutating
from celadon.cli.policy_tests.telling_apart.quoted_expressions import as_original
from celadon.cli.policy_tests.telling_apart.request_pool import Generated, RequestPool

MOST_REQUESTS: Final = 150
"""Requests that are compared before combinations are."""
_MOST_PROPOSALS: Final = 20
"""Requests that make a difference, of which each is tried as a case."""
_MOST_HIDDEN: Final = 5
"""Of those that make a difference which the answer does not show."""


_INSIDE: Final = frozenset({"validations", "mutations", "auditAnnotations"})


class Difference(NamedTuple):
    """`case` is the text of a killing case, empty if there is none. `requests` came to the policy
    and made no difference; `differs` says that others did, though no case could tell. `spaces` are
    the combinations that were asked without finding a case."""

    case: str
    requests: int
    differs: bool = False
    spaces: tuple[Space, ...] = ()


class DifferenceSearch:
    """For one policy on one stage; the requests are the same for all alterations."""

    def __init__(self, stage: Stage, name: str) -> None:
        self._stage = stage
        self._name = name
        self._writer = CaseWriter(stage)
        self._pool = RequestPool(stage.bench, stage.cases, name)
        engines = stage.bench.setting(stage.cases[0]).engines
        inputs = PolicyInputs(compiled_policy(engines, name))
        self._combinations = InputCombinations(self._pool, inputs, name)

    def difference(self, alteration: Alteration) -> Difference:
        """What the search comes to."""
        other = altered_bench(self._stage.bench, alteration)
        inside = self._is_inside(alteration)
        alike = proposals = 0
        hidden: list[Generated] = []
        spaces: list[Space] = []
        for one in self._requests(alteration, spaces):
            before = one.glance
            if inside and self._name not in before.reached:
                continue
            after = glance(other, one.case, None if is_mutating(alteration) else before.sent)
            is_same = after.seen == before.seen
            if is_same or as_original(after.shown, alteration) == before.shown:
                alike += self._name in before.reached
            elif after.answer == before.answer:
                hidden.append(one)
            elif proposals < _MOST_PROPOSALS:
                proposals += 1
                case = self._writer.killing_case(alteration, other, one)
                if case:
                    return Difference(case, alike, differs=True)
        case = self._first_case(alteration, other, hidden)
        return Difference(case, alike, proposals > 0 or bool(hidden), tuple(spaces))

    def _first_case(self, alteration: Alteration, other: Bench, found: list[Generated]) -> str:
        """Of requests whose answer is the same, one that a case tells apart all the same."""
        made = (self._writer.killing_case(alteration, other, one) for one in found[:_MOST_HIDDEN])
        return next(filter(None, made), "")

    def _requests(self, alteration: Alteration, spaces: list[Space]) -> Iterator[Generated]:
        """Some that are likely to make a difference, then all combinations within bounds, which
        are put to `spaces`."""
        asked = set()
        for one in self._pool.first(MOST_REQUESTS):
            asked.add(id(one))
            yield one
        for space in self._combinations.spaces(alteration):
            spaces.append(space)
            for one in space.requests:
                if id(one) not in asked:
                    asked.add(id(one))
                    yield one

    def _is_inside(self, alteration: Alteration) -> bool:
        """Whether it shows only where the policy is evaluated."""
        path = alteration.path
        return path[:1] == ("spec",) and path[1] in _INSIDE
