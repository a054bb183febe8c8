"""Properties of a set of policies: what is true of all that it admits, or of all that it refuses.

A property is compared like another set of policies. "All that is admitted is so" says that
nothing is admitted which a policy with this rule would refuse; "all that is refused is so" says
that nothing is refused which is not. So properties have the semantics, the limits and the examples
of `celadon.prove.differences`; an error in a property counts against it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from celadon.admission import Engine, decode_binding, decode_policy
from celadon.admission.compiled_expressions import BOOL_RESULT, PolicyScope
from celadon.kube import JsonObject
from celadon.kube.releases import answering_as
from celadon.kube.resources import Catalog, known_resources
from celadon.prove.differences import Comparison, Differences, Direction, Side, compared_together
from celadon.prove.objects import ITEMS

PROPERTY: Final = "property"
"""What the policy is called that stands for a property."""

ASSUME: Final = "assume"
THAT: Final = "that"


class Subject(enum.Enum):
    """What a property is about."""

    ADMITTED = "admitted"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Property:
    """`that` is claimed of all requests which the `rules` name, of which `assume` holds, and that
    are admitted (or refused). `variables` are what both may name. With `any_params` the params of
    policies are not those of their files."""

    name: str
    that: str
    rules: tuple[JsonObject, ...]
    subject: Subject = Subject.ADMITTED
    assume: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    any_params: bool = False

    def complaints(self, version: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """What does not compile, and in which field."""
        scope = PolicyScope(version, has_params=False, has_variables=bool(self.variables))
        for number, (name, text) in enumerate(self.variables):
            error = scope.declare(name, text, stored=True).detail
            if error:
                yield ("variables", number, "expression"), error
        conditions = [((ASSUME, number), one) for number, one in enumerate(self.assume)]
        for path, text in (*conditions, ((THAT,), self.that)):
            error = scope.compile(text, BOOL_RESULT, stored=True, authorizer=True).detail
            if error:
                yield path, error

    def policy(self) -> JsonObject:
        """The policy that refuses what the property says is never admitted; or the one that admits
        what it says is never refused."""
        assumed = " && ".join(f"({one})" for one in self.assume) or "true"
        if self.subject is Subject.ADMITTED:
            rule = f"!({assumed}) || ({self.that})" if self.assume else self.that
            return _policy(self, rule, "Fail")
        return _policy(self, f"{assumed} && !({self.that})", "Ignore")


def _policy(about: Property, rule: str, failures: str) -> JsonObject:
    return policy_document(PROPERTY, about.rules, [rule], about.variables, failures)


def policy_document(
    name: str,
    rules: Sequence[JsonObject],
    validations: Sequence[str],
    variables: Sequence[tuple[str, str]] = (),
    failures: str = "Fail",
    conditions: Sequence[Mapping[str, str]] = (),
) -> JsonObject:
    """A policy with these rules and validations."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": failures,
            "matchConstraints": {"resourceRules": list(rules)},
            "matchConditions": list(conditions),
            "variables": [{"name": one, "expression": text} for one, text in variables],
            "validations": [{"expression": one} for one in validations],
        },
    }


def side_of(policy: JsonObject, version: str) -> Side:
    """One policy, in force everywhere."""
    decoded = decode_policy(policy).value
    binding: JsonObject = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": decoded.name},
        "spec": {"policyName": decoded.name, "validationActions": ["Deny"]},
    }
    return Side(Engine([decoded], [decode_binding(binding).value], version))


@dataclass(frozen=True, slots=True)
class Properties:
    """Asks whether a set of policies has properties. `items` is the length of lists up to which is
    looked, if no more are needed; `seconds` is for one answer."""

    side: Side
    items: int = ITEMS
    seconds: float = 10
    catalog: Catalog = field(default_factory=known_resources)

    def answers(self, about: Property) -> Iterator[Comparison]:
        """The answers, endpoint by endpoint. An example is a request against the property."""
        side = Side(self.side.engine) if about.any_params else self.side
        one = side_of(about.policy(), side.engine.version)
        old, new = (one, side) if about.subject is Subject.ADMITTED else (side, one)
        yield from self._asked(old, new, one).comparisons([Direction.LOOSER])

    def refuses_all(self, policies: Sequence[JsonObject]) -> Iterator[tuple[int, Comparison]]:
        """Whether all that each of these refuses is refused by the set; which of them it is, and
        the answer. They match the same."""
        sides = [side_of(one, self.side.engine.version) for one in policies]
        asked = [self._asked(one, self.side, one) for one in sides]
        with answering_as(self.side.engine.version):
            for endpoint in asked[0].endpoints():
                yield from compared_together(asked, endpoint)

    def refuses_only(self, policy: JsonObject) -> Iterator[Comparison]:
        """Whether all that the set refuses is refused by this policy."""
        one = side_of(policy, self.side.engine.version)
        yield from self._asked(self.side, one, one).comparisons([Direction.LOOSER])

    def _asked(self, old: Side, new: Side, about: Side) -> Differences:
        name = about.engine.policies[0].name
        return Differences(old, new, self.items, self.seconds, self.catalog, about=name)
