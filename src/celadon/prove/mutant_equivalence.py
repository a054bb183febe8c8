"""Proves that a policy with one thing changed is the same, or finds a request that tells both
apart.

Two policies are the same if each of their validations says the same of every request: that it is
fine, that it is not, or that it cannot tell (an error). So validations are compared one by one, by
two probes for each: a policy that ignores errors and warns of what the validation refuses, and one
that does not ignore them and records what it does not admit. So nothing hides behind what others
refuse. Another failure policy, or another binding, is compared as it is, with one validation after
the other. Texts are not compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from celadon.admission import Engine, decode_binding, decode_policy
from celadon.kube import JsonObject
from celadon.prove.policy_differences import (
    Comparison,
    Differences,
    Direction,
    Example,
    Finding,
    Side,
)
from celadon.prove.policy_questions import param_kind
from celadon.prove.symbolic_objects import ITEMS
from celadon.prove.symbolic_requests import KnownKinds

_PROBES: Final = (("Ignore", "Warn"), ("Fail", "Audit"))
"""The failure policy of each probe, and what is done about a request that it is against."""

_ADMITS: Final[JsonObject] = {"expression": "true"}
"""Stands for a validation that is left out."""


@dataclass(frozen=True, slots=True)
class MutantAnswer:
    """Says whether two policies can be told apart. `telling` has a request that does it, which the
    engine has decided as shown; `reasons` say why nobody knows; `bounded` are the lists of which no
    more than `items` items were looked at."""

    finding: Finding
    telling: Comparison | None = None
    reasons: tuple[str, ...] = ()
    bounded: tuple[str, ...] = ()
    items: int = ITEMS


@dataclass(frozen=True, slots=True)
class BoundPolicy:
    """Holds a policy and its bindings."""

    policy: JsonObject
    bindings: Sequence[JsonObject]

    @property
    def validations(self) -> Sequence[JsonObject]:
        """Return those of the policy."""
        validations: Sequence[JsonObject] = self.policy["spec"].get("validations") or ()
        return validations

    @property
    def matching(self) -> tuple[object, ...]:
        """Return all that is not about validations: the failure policy, and the bindings."""
        return self.policy["spec"].get("failurePolicy", "Fail"), list(self.bindings)

    def with_only(self, validation: JsonObject) -> BoundPolicy:
        """Return the same with one validation, of which nobody asks what it says."""
        return self.with_validations([{"expression": validation["expression"]}])

    def with_validations(self, validations: Sequence[JsonObject]) -> BoundPolicy:
        """Return the same with other ones; one that admits everything if there is none."""
        return self._with_spec(validations=list(validations) or [_ADMITS])

    def ignoring_errors(self) -> BoundPolicy:
        """Return the same, but errors are nothing."""
        return self._with_spec(failurePolicy="Ignore")

    def probes(self) -> Iterator[BoundPolicy]:
        """Policies that tell all that validations may say by what is done about it."""
        for failures, action in _PROBES:
            policy = self._with_spec(failurePolicy=failures)
            name = f"{self.policy['metadata']['name']}-{failures.lower()}"
            bindings = [
                {
                    **binding,
                    "spec": {**binding["spec"], "policyName": name, "validationActions": [action]},
                }
                for binding in self.bindings
            ]
            named = {**policy.policy, "metadata": {**policy.policy["metadata"], "name": name}}
            yield BoundPolicy(named, bindings)

    def _with_spec(self, **fields: Any) -> BoundPolicy:  # noqa: ANN401 - any JSON
        spec = {**self.policy["spec"], **fields, "auditAnnotations": []}
        return BoundPolicy({**self.policy, "spec": spec}, self.bindings)


def side_of(bound: Iterable[BoundPolicy], version: str) -> Side:
    """Return policies in force as one side of a comparison."""
    bound_policies = list(bound)
    policies = [decode_policy(policy.policy).value for policy in bound_policies]
    bindings = [
        decode_binding(binding).value for policy in bound_policies for binding in policy.bindings
    ]
    return Side(Engine(policies, bindings, version))


@dataclass(frozen=True, slots=True)
class Mutant:
    """Compares two policies of one name. `items` is the length of lists up to which is looked, if
    no more are needed; `seconds` is for one question."""

    old: BoundPolicy
    new: BoundPolicy
    version: str
    items: int = ITEMS
    seconds: float = 10
    definitions: Sequence[JsonObject] = ()
    """Of custom kinds."""

    def answer(self) -> MutantAnswer:
        """Return whether they can be told apart by any request."""
        reasons: dict[str, None] = dict.fromkeys(self._beyond())
        bounded: dict[str, None] = {}
        items = 0
        for comparison in self._comparisons(reasons):
            if comparison.finding is Finding.DIFFERS:
                return MutantAnswer(comparison.finding, comparison)
            if comparison.finding is Finding.UNDECIDED:
                every = [gap.reason for gap in comparison.gaps] or [comparison.reason]
                reasons |= dict.fromkeys(f"{comparison.endpoint}: {reason}" for reason in every)
            bounded |= dict.fromkeys(comparison.bounded)
            items = max(items, comparison.items if comparison.bounded else 0)
        if reasons:
            return MutantAnswer(Finding.UNDECIDED, reasons=tuple(reasons))
        finding = Finding.BOUNDED if bounded else Finding.SAME
        return MutantAnswer(finding, bounded=tuple(bounded), items=items)

    def _comparisons(self, reasons: dict[str, None]) -> Iterator[Comparison]:
        for differences in self._asked():
            yield from differences.comparisons(tuple(Direction))
            reasons |= dict.fromkeys(
                f"requests to {unseen.endpoint}" for unseen in differences.unseen
            )

    def _asked(self) -> Iterator[Differences]:
        kinds = self._kinds
        as_it_is = self.old.matching != self.new.matching
        for validations in _pairs(self.old.validations, self.new.validations):
            pairs = zip((self.old, self.new), validations, strict=True)
            alone = [policy.with_only(validation) for policy, validation in pairs]
            old, new = (
                side_of([policy] if as_it_is else policy.probes(), self.version) for policy in alone
            )
            yield Differences(old, new, self.items, self.seconds, kinds=kinds, subresources=True)

    def _beyond(self) -> Iterator[str]:
        """Return what is not compared."""
        for name in ("auditAnnotations", "paramKind"):
            if self.old.policy["spec"].get(name) != self.new.policy["spec"].get(name):
                yield f"the {name} of policies"
        old, new = (
            [validation.get("messageExpression") for validation in each.validations]
            for each in self.both
        )
        if len(old) == len(new) and old != new:
            yield "messages"
        catalog = self._kinds.catalog
        for policy in self.both:
            kind = param_kind(decode_policy(policy.policy).value)
            if kind is not None and catalog.by_gvk(kind) is None:
                yield f"params of kind {kind.kind}, which is not defined"

    @property
    def _kinds(self) -> KnownKinds:
        return KnownKinds.of(self.definitions)

    @property
    def both(self) -> tuple[BoundPolicy, BoundPolicy]:
        """Return the old one, and the new one."""
        return self.old, self.new


def _pairs(
    old: Sequence[JsonObject], new: Sequence[JsonObject]
) -> Iterator[tuple[JsonObject, JsonObject]]:
    """Yield validations that stand for each other; beside one that is left out stands one that
    admits."""
    if len(old) < len(new):
        yield from ((pair, other) for other, pair in _pairs(new, old))
        return
    alike = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))
    begun = min(len(list(alike)), len(new)) if len(old) > len(new) else len(old)
    left_out = len(old) - len(new)
    padded = [*new[:begun], *([_ADMITS] * left_out), *new[begun:]]
    yield from zip(old, padded, strict=True)


# --- Telling requests --------------------------------------------------------
#
# Requests that show what a policy does: for each of its validations one that it refuses and all
# others admit, and one that all of them admit.
#
# They are differences between policies: with a validation a request is refused that is admitted
# without it, and a policy that refuses everything refuses what is admitted.


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """Holds a request that the validation with an index refuses alone; None if none has anything
    against it."""

    index: int | None
    example: Example


@dataclass(frozen=True, slots=True)
class TellingRequests:
    """Finds them for one policy. `seconds` is for one question; `definitions` are of custom
    kinds."""

    policy: BoundPolicy
    version: str
    definitions: Sequence[JsonObject] = ()
    seconds: float = 5

    def found(self) -> Iterator[RefusedRequest]:
        """One for each validation, as far as there is one, then one that is admitted."""
        validations = self.policy.validations
        for index in range(len(validations)):
            rest = [*validations[:index], *validations[index + 1 :]]
            # What ignores errors refuses only what is false.
            example = self._example(
                self.policy.ignoring_errors(), self.policy.with_validations(rest)
            )
            if example is not None:
                yield RefusedRequest(index, example)
        example = self._example(
            self.policy.with_validations([{"expression": "false"}]), self.policy
        )
        if example is not None:
            yield RefusedRequest(None, example)

    def _example(self, stricter: BoundPolicy, looser: BoundPolicy) -> Example | None:
        """Return a request that one policy refuses and the other admits."""
        old, new = (side_of([policy], self.version) for policy in (stricter, looser))
        differences = Differences(
            old,
            new,
            seconds=self.seconds,
            about=str(self.policy.policy["metadata"]["name"]),
            kinds=KnownKinds.of(self.definitions),
        )
        for comparison in differences.comparisons([Direction.LOOSER]):
            if comparison.finding is Finding.DIFFERS:
                return comparison.example
        return None
