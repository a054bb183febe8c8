"""Parts of a policy that change nothing, and validations that together admit nothing.

A validation may be implied by the others, a match condition may hold of all that the policy would
refuse, a rule may exclude what is not matched. For each of them two policies are compared, the one
that refuses more with the one that refuses less: where they do not differ, the part is superfluous.
A match condition is compared both ways: where it fails, all is refused. A binding, and a rule in it
that excludes, are compared in the same way: a binding is shadowed if the others do all that it
does. Where a policy does not differ from one that refuses everything, and that refuses something,
its validations contradict each other.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from celadon import admission
from celadon.kube import Json, JsonObject
from celadon.kube.releases import answering_as
from celadon.prove import policy_differences
from celadon.prove.policy_questions import everywhere
from celadon.prove.symbolic_objects import ITEMS
from celadon.prove.symbolic_requests import BUILT_IN, KnownKinds

_VALIDATIONS: Final = ("validations",)
_CONDITIONS: Final = ("matchConditions",)
_LISTS: Final = (_CONDITIONS, ("matchConstraints", "excludeResourceRules"))
"""Lists of a policy's spec whose items make it refuse less."""
_EXCLUSIONS: Final = ("matchResources", "excludeResourceRules")
"""The list of a binding's."""


class Fault(enum.Enum):
    """Names the fault of a part if two policies do not differ."""

    SUPERFLUOUS = "changes nothing"
    CONTRADICTION = "admit nothing together"


@dataclass(frozen=True, slots=True)
class Part:
    """Holds something in a policy, and two policies of which one refuses more, if there is no
    fault; if it goes `both_ways`, so may the other."""

    path: tuple[str | int, ...]
    fault: Fault
    more: JsonObject
    less: JsonObject
    both_ways: bool = False


def parts(document: JsonObject) -> Iterator[Part]:
    """Yield the parts of a policy that may be superfluous; validations only if there are
    several."""
    if len(_items(document, _VALIDATIONS)) > 1:
        for number, rest in _without_each(document, _VALIDATIONS):
            yield Part(("spec", *_VALIDATIONS, number), Fault.SUPERFLUOUS, document, rest)
        nothing = _ignoring_failures(_validated(document, "false"))
        yield Part(("spec", *_VALIDATIONS), Fault.CONTRADICTION, nothing, document)
    fails = document["spec"].get("failurePolicy", "Fail") != "Ignore"
    for path in _LISTS:
        for number, rest in _without_each(document, path):
            both_ways = fails and path == _CONDITIONS
            yield Part(("spec", *path, number), Fault.SUPERFLUOUS, rest, document, both_ways)


def _validated(document: JsonObject, expression: str) -> JsonObject:
    """Return the policy with this one validation."""
    result: JsonObject = _with(document, ("spec", *_VALIDATIONS), [{"expression": expression}])
    return result


def _ignoring_failures(document: JsonObject) -> JsonObject:
    """Return the policy so that only its validations refuse anything."""
    return {**document, "spec": {**document["spec"], "failurePolicy": "Ignore"}}


def _without_each(document: JsonObject, path: Sequence[str]) -> Iterator[tuple[int, JsonObject]]:
    items = _items(document, path)
    for number in range(len(items)):
        yield number, _with(document, ("spec", *path), [*items[:number], *items[number + 1 :]])


def _items(document: JsonObject, path: Sequence[str]) -> list[Json]:
    spec: Any = document["spec"]
    for step in path:
        spec = spec.get(step) or {}
    return list(spec)


def _with(value: Any, path: Sequence[str], new: Json) -> Any:  # noqa: ANN401 - JSON at any depth
    if not path:
        return new
    assert isinstance(value, Mapping)
    return {**value, path[0]: _with(value[path[0]], path[1:], new)}


@dataclass(frozen=True, slots=True)
class Superfluous:
    """Asks which parts of one policy change nothing. `items` is the length of lists up to which is
    looked, if no more are needed; `seconds` is for one answer."""

    document: JsonObject
    items: int = ITEMS
    seconds: float = 10
    kinds: KnownKinds = BUILT_IN

    def answers(self) -> Iterator[tuple[Part, list[policy_differences.Comparison]]]:
        """Return each part, and the answers for all endpoints; of validations that contradict each
        other for those at which they are asked anything."""
        result = list(parts(self.document))
        queries = [(part, self._asked(part.more, part.less)) for part in result]
        queries += [(part, self._asked(part.less, part.more)) for part in result if part.both_ways]
        answers: dict[tuple[str | int, ...], list[policy_differences.Comparison]] = {
            part.path: [] for part in result
        }
        if queries:
            with answering_as(queries[0][1].newest):
                for endpoint in queries[0][1].endpoints():
                    for number, differences in policy_differences.compared_together(
                        [differences for _, differences in queries], endpoint
                    ):
                        part, _ = queries[number]
                        if part.fault is Fault.SUPERFLUOUS or not self._is_idle(differences):
                            answers[part.path].append(differences)
        return ((part, answers[part.path]) for part in result)

    def _is_idle(self, claim: policy_differences.Comparison) -> bool:
        """Return whether a policy is said to refuse everything because it is asked nothing: no
        request meets its conditions."""
        if claim.finding not in policy_differences.PROVED:
            return False
        everything, nothing = (
            _ignoring_failures(_validated(self.document, item)) for item in ("false", "true")
        )
        differences = self._asked(everything, nothing)
        return (
            differences.compare(claim.endpoint, policy_differences.Direction.LOOSER).finding
            is not policy_differences.Finding.DIFFERS
        )

    def _asked(self, more: JsonObject, less: JsonObject) -> policy_differences.Differences:
        policies = [admission.decode_policy(item).value for item in (more, less)]
        catalog = self.kinds.catalog
        old, new = (
            policy_differences.Side(
                admission.Engine(
                    [policy], [admission.decode_binding(everywhere(policy, catalog)).value]
                )
            )
            for policy in policies
        )
        return policy_differences.Differences(
            old, new, self.items, self.seconds, policies[0].name, self.kinds
        )


@dataclass(frozen=True, slots=True)
class Shadow:
    """Comparisons of a policy with and without one of its bindings. Where they do not differ,
    `example` is a request that the binding speaks against by itself."""

    answers: tuple[policy_differences.Comparison, ...]
    example: policy_differences.Example | None = None


@dataclass(frozen=True, slots=True)
class BoundParts:
    """Asks what the bindings of one policy, and rules in them, change. `items` and `seconds` as in
    `Superfluous`."""

    policy: admission.ValidatingAdmissionPolicy
    bindings: Sequence[admission.ValidatingAdmissionPolicyBinding]
    items: int = ITEMS
    seconds: float = 10
    kinds: KnownKinds = BUILT_IN

    def shadow(self, number: int) -> Shadow:
        """Compare the policy with all its bindings to the same without the one with this number."""
        answers = tuple(self._stricter(self._others(number), self.bindings))
        if any(answer.finding not in policy_differences.PROVED for answer in answers):
            return Shadow(answers)
        alone = (answer.example for answer in self._stricter([], [self.bindings[number]]))
        return Shadow(answers, next((example for example in alone if example is not None), None))

    def exclusions(
        self, number: int, document: JsonObject
    ) -> Iterator[tuple[tuple[str | int, ...], tuple[policy_differences.Comparison, ...]]]:
        """Yield the path of each rule that excludes resources from the binding with this number,
        which `document` is, and how the policy differs from the same without the rule."""
        for place, rest in _without_each(document, _EXCLUSIONS):
            without = [*self._others(number), admission.decode_binding(rest).value]
            yield ("spec", *_EXCLUSIONS, place), tuple(self._stricter(self.bindings, without))

    def _others(self, number: int) -> list[admission.ValidatingAdmissionPolicyBinding]:
        return [*self.bindings[:number], *self.bindings[number + 1 :]]

    def _stricter(
        self,
        old: Sequence[admission.ValidatingAdmissionPolicyBinding],
        new: Sequence[admission.ValidatingAdmissionPolicyBinding],
    ) -> Iterator[policy_differences.Comparison]:
        """Ask at each endpoint whether the policy refuses more with other bindings."""
        before, after = (
            policy_differences.Side(admission.Engine([self.policy], list(bindings)))
            for bindings in (old, new)
        )
        differences = policy_differences.Differences(
            before, after, self.items, self.seconds, kinds=self.kinds
        )
        return differences.comparisons((policy_differences.Direction.STRICTER,))
