"""Properties of a set of policies: what is true of all that it admits, or of all that it refuses.

A property is compared like another set of policies. "All that is admitted is so" says that
nothing is admitted which a policy with this rule would refuse; "all that is refused is so" says
that nothing is refused which is not. So properties have the semantics, the limits and the examples
of `celadon.prove.policy_differences`; an error in a property counts against it.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from celadon.admission import Engine, decode_binding, decode_policy
from celadon.admission.compiled_expressions import BOOL_RESULT, PolicyScope
from celadon.admission.plugins.pod_security_expressions import OLDEST, all_containers, checks_of
from celadon.kube import JsonObject
from celadon.kube.releases import answering_as
from celadon.kube.well_known_values import EPHEMERAL_CONTAINERS
from celadon.prove.policy_differences import (
    Comparison,
    Differences,
    Direction,
    Side,
    compared_together,
)
from celadon.prove.policy_questions import enclosed
from celadon.prove.symbolic_objects import ITEMS
from celadon.prove.symbolic_requests import BUILT_IN, KnownKinds

PROPERTY: Final = "property"
"""What the policy is called that stands for a property."""

ASSUME: Final = "assume"
THAT: Final = "that"


class Subject(enum.Enum):
    """Names the requests that a property is about."""

    ADMITTED = "admitted"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Property:
    """Claims something of the requests that policies admit, or refuse. `that` is claimed of all
    requests which the `rules` name, of which `assume` holds, and that are admitted (or refused).
    `variables` are what both may name. With `any_params` the params of policies are not those of
    their files."""

    name: str
    that: str
    rules: tuple[JsonObject, ...]
    subject: Subject = Subject.ADMITTED
    assume: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    any_params: bool = False

    def complaints(self, version: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield what does not compile, and in which field."""
        scope = PolicyScope(version, has_params=False, has_variables=bool(self.variables))
        for number, (name, text) in enumerate(self.variables):
            error = scope.declare(name, text, stored=True).detail
            if error:
                yield ("variables", number, "expression"), error
        conditions = [((ASSUME, number), text) for number, text in enumerate(self.assume)]
        for path, text in (*conditions, ((THAT,), self.that)):
            error = scope.compile(text, BOOL_RESULT, stored=True, authorizer=True).detail
            if error:
                yield path, error

    def policy(self) -> JsonObject:
        """Return the policy that refuses what the property says is never admitted; or the one that
        admits what it says is never refused."""
        assumed = " && ".join(map(enclosed, self.assume)) or "true"
        that = enclosed(self.that)
        if self.subject is Subject.ADMITTED:
            return _policy(self, f"!({assumed}) || {that}" if self.assume else self.that, "Fail")
        return _policy(self, f"{assumed} && !{that}", "Ignore")


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
    """Return a policy with these rules and validations."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": failures,
            "matchConstraints": {"resourceRules": list(rules)},
            "matchConditions": list(conditions),
            "variables": [{"name": variable, "expression": text} for variable, text in variables],
            "validations": [{"expression": validation} for validation in validations],
        },
    }


def side_of(policy: JsonObject, version: str) -> Side:
    """Return a side with one policy, in force everywhere."""
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
    kinds: KnownKinds = BUILT_IN

    def answers(self, about: Property) -> Iterator[Comparison]:
        """Yield the answers, endpoint by endpoint. An example is a request against the property."""
        side = Side(self.side.engine) if about.any_params else self.side
        stated = side_of(about.policy(), side.engine.version)
        old, new = (stated, side) if about.subject is Subject.ADMITTED else (side, stated)
        yield from self._asked(old, new, stated).comparisons([Direction.LOOSER])

    def refuses_all(self, policies: Sequence[JsonObject]) -> Iterator[tuple[int, Comparison]]:
        """Compare each of these policies with the set: does the set refuse all that it refuses?
        Yield which of them it is, and the answer. They match the same."""
        sides = [side_of(policy, self.side.engine.version) for policy in policies]
        comparisons = [self._asked(side, self.side, side) for side in sides]
        with answering_as(self.side.engine.version):
            for endpoint in comparisons[0].endpoints():
                yield from compared_together(comparisons, endpoint)

    def refuses_only(self, policy: JsonObject) -> Iterator[Comparison]:
        """Compare the set with this policy: does it refuse all that the set refuses?"""
        side = side_of(policy, self.side.engine.version)
        yield from self._asked(self.side, side, side).comparisons([Direction.LOOSER])

    def _asked(self, old: Side, new: Side, about: Side) -> Differences:
        name = about.engine.policies[0].name
        return Differences(old, new, self.items, self.seconds, name, self.kinds)


# --- The Pod Security Standards ----------------------------------------------
#
# The Pod Security Standards as policies: what the plugin PodSecurity refuses, these refuse.

_NAME: Final = re.compile(r"pod-security/(baseline|restricted)(?::(latest|v?1\.([0-9]{1,3})))?")


def _images(name: str) -> str:
    return f"{{}}.spec.?{name}.orValue([]).map(c, c.?image.orValue(''))"


_LOOKED_AT: Final = " || ".join(
    (
        "request.operation != 'UPDATE'",
        *(
            f"{_images(item).format('object')} != {_images(item).format('oldObject')}"
            for item in ("containers", "initContainers")
        ),
        "object.spec.?ephemeralContainers.orValue([]).exists(c,"
        " !oldObject.spec.?ephemeralContainers.orValue([]).exists(old, old.name == c.name"
        " && old.?image.orValue('') == c.?image.orValue('')))",
    )
)
"""An update is looked at if it changes an image, or brings a container."""

_OPERATIONS: Final = ["CREATE", "UPDATE"]
_RULE: Final[JsonObject] = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": _OPERATIONS,
    "resources": ["pods"],
}
_EPHEMERAL_RULE: Final[JsonObject] = {
    **_RULE,
    "operations": ["UPDATE"],
    "resources": [f"pods/{EPHEMERAL_CONTAINERS}"],
}


@dataclass(frozen=True, slots=True)
class Standard:
    """Proves that policies enforce a level of the Pod Security Standards in the version of a minor
    release."""

    level: str
    minor: int

    @classmethod
    def named(cls, text: str, latest: int) -> Standard | None:
        """`pod-security/baseline:1.32`; without a version the `latest`. None if there is no such
        standard."""
        match = _NAME.fullmatch(text)
        if match is None:
            return None
        minor = int(match[3]) if match[3] else latest
        return cls(match[1], minor) if minor >= OLDEST else None

    def __str__(self) -> str:
        return f"pod-security/{self.level}:1.{self.minor}"

    @property
    def checks(self) -> dict[str, str]:
        """Return the expressions that hold of every pod that is admitted, by the names of the
        checks."""
        return {name: check.expression for name, check in checks_of(self.level, self.minor).items()}

    @property
    def document(self) -> JsonObject:
        """Return a policy that enforces it as the plugin does."""
        return self._policy((_RULE, _EPHEMERAL_RULE), self.checks.values())

    def asked(
        self, *checks: str, operations: Sequence[str] = (), of_all_updates: bool = False
    ) -> JsonObject:
        """Return the same for proofs: of pods only, or of one check; `of_all_updates` refuses them
        also if they change nothing that matters."""
        rule = {**_RULE, "operations": list(operations) or _OPERATIONS}
        expressions = [text for name, text in self.checks.items() if name in checks or not checks]
        return self._policy((rule,), expressions, of_all_updates=of_all_updates)

    def _policy(
        self,
        rules: Sequence[JsonObject],
        expressions: Iterable[str],
        *,
        of_all_updates: bool = False,
    ) -> JsonObject:
        conditions = [] if of_all_updates else [{"name": "looked-at", "expression": _LOOKED_AT}]
        return policy_document(
            f"pod-security-{self.level}",
            rules,
            list(expressions),
            [("containers", all_containers())],
            conditions=conditions,
        )
