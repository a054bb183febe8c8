"""Exceptions to Kyverno's policies: which policies and rules they are for, and for which objects.

An exception is a match condition of the policies it is for. One that cannot be said whole is left
out, and named: policies without it refuse more, not less.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from celadon.kube import JsonObject
from celadon.kube.json_types import Needed, Shape
from celadon.migrate.kyverno.patterns import wildcard_match
from celadon.migrate.kyverno.policies import FILTERS_SHAPE, Filters, read_filters
from celadon.migrate.losses import NotTranslated
from celadon.migrate.translations import Origin, Translation

EXCEPTION_SHAPE: Final[Shape] = {
    "metadata": Needed({"name": Needed(str), "namespace": str}),
    "spec": Needed(
        {
            "match": Needed(FILTERS_SHAPE),
            "conditions": {},
            "exceptions": Needed([{"policyName": Needed(str), "ruleNames": [str]}]),
            "podSecurity": [{}],
        }
    ),
}
"""What an exception to rules must look like (`kyverno.io`)."""

CEL_EXCEPTION_SHAPE: Final[Shape] = {
    "metadata": Needed({"name": Needed(str), "namespace": str}),
    "spec": Needed(
        {
            "policyRefs": Needed([{"name": Needed(str), "kind": Needed(str)}]),
            "matchConditions": [{"name": Needed(str), "expression": Needed(str)}],
            "images": [str],
            "allowedValues": [str],
            "expiresAt": str,
        }
    ),
}
"""What an exception to policies in CEL must look like (`policies.kyverno.io`)."""


def is_exception(value: object) -> bool:
    """Return whether a document is an exception, to rules or to policies in CEL."""
    return (
        isinstance(value, Mapping)
        and value.get("kind") == "PolicyException"
        and _group(value) in ("kyverno.io", "policies.kyverno.io")
    )


def exception_shape(value: JsonObject) -> Shape:
    """The shape that an exception must have."""
    return EXCEPTION_SHAPE if _group(value) == "kyverno.io" else CEL_EXCEPTION_SHAPE


def _group(value: JsonObject) -> str:
    return str(value.get("apiVersion", "")).partition("/")[0]


@dataclass(frozen=True, slots=True)
class PolicyException:
    """An exception of either group."""

    value: JsonObject

    @property
    def name(self) -> str:
        """With its namespace, if it has one."""
        about = self.value["metadata"]
        return f"{about['namespace']}/{about['name']}" if about.get("namespace") else about["name"]

    @property
    def filters(self) -> Filters:
        """The objects that it is for."""
        return read_filters(self.value["spec"]["match"])

    def is_for_rule(self, policy: str, rule: str) -> bool:
        """Return whether it is for a rule; policies in namespaces are named with them."""
        return _group(self.value) == "kyverno.io" and any(
            one["policyName"] == policy
            and any(wildcard_match(name, rule) for name in one.get("ruleNames") or ())
            for one in self.value["spec"]["exceptions"]
        )

    def is_for_policy(self, kind: str, name: str) -> bool:
        """Return whether it is for a policy in CEL."""
        return _group(self.value) == "policies.kyverno.io" and any(
            (one["kind"], one["name"]) == (kind, name) for one in self.value["spec"]["policyRefs"]
        )

    def check(self) -> None:
        """Raises NotTranslated for what no policy can say."""
        spec = self.value["spec"]
        if spec.get("podSecurity"):
            raise NotTranslated("`podSecurity` of an exception")
        if spec.get("expiresAt"):
            raise NotTranslated(
                "an exception that ends (`expiresAt`)", "Policies know no time: add it by hand."
            )


def condition_names(exceptions: Sequence[PolicyException]) -> Iterator[str]:
    """Return what the match conditions are called that say exceptions; several may have one name,
    in several namespaces."""
    taken: set[str] = set()
    for one in exceptions:
        stem = f"is-not-excepted-by-{one.value['metadata']['name']}"[:_LONGEST_STEM].rstrip("-_.")
        numbered = (f"{stem}-{number}" for number in itertools.count(2))
        name = next(name for name in itertools.chain([stem], numbered) if name not in taken)
        taken.add(name)
        yield name


_LONGEST_STEM: Final = 58
"""Of names of match conditions, which may have 63 characters, so that there is room for a
number."""


def outcome_of(exception: PolicyException, translations: Iterable[Translation]) -> Translation:
    """Return what became of an exception, by the translations of all rules."""
    origin = Origin(exception.value["metadata"]["name"], "", (), "except")
    found = list(translations)
    for translation in found:
        for name, reason in translation.left_out:
            if name == exception.name:
                return Translation(origin, reason=reason, instead=_STRICTER)
    if any(exception.name in one.exceptions for one in found):
        return Translation(origin)
    return Translation(origin, reason="no rule that was translated is one that it names")


_STRICTER: Final = "The rules that it names are translated without it, and refuse more."
