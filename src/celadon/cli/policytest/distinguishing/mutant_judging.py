"""Where cases meet a policy with one thing changed.

What is changed is decoded as the API server would, everything else is shared with the bench of the
test: the requests, what there is in the cluster, the other policies, and the programs of all
expressions that are the same.
"""

from __future__ import annotations

from dataclasses import replace

from celadon.admission import PolicyFrame
from celadon.admission.registration import (
    BINDING_KIND,
    POLICY_KIND,
    Binding,
    Policy,
    RegistrationObject,
    decode_object,
)
from celadon.cli.check.cluster import Engines
from celadon.cli.check.policy_set import Placed, PolicySet, PolicySets
from celadon.cli.policytest.mutants.policy_mutants import Alteration
from celadon.cli.policytest.run.case_judging import Bench
from celadon.cli.reading.documents import Document

_VALIDATING = frozenset({POLICY_KIND, BINDING_KIND})


def altered_bench(bench: Bench, alteration: Alteration) -> Bench:
    """The bench with the alteration in place of the original, where that is what is loaded."""
    made = _decoded(alteration)
    document = alteration.document

    def change(sets: PolicySets) -> PolicySets:
        if document.value["kind"] in _VALIDATING:
            return replace(sets, validating=_changed(sets.validating, document, made))
        return replace(sets, mutating=_changed(sets.mutating, document, made))

    return bench.altered(change)


def is_same_object(alteration: Alteration, sets: PolicySets) -> bool:
    """Return whether the API server makes the same of both: a default that is said, for example."""
    made = _decoded(alteration)
    given = (
        one
        for part in sets.all
        for placed in (part.policies, part.bindings)
        for one in placed.values()
    )
    return made is not None and any(
        is_original(one.document, alteration.document) and one.value == made.value for one in given
    )


def compiled_policy(engines: Engines, name: str) -> PolicyFrame:
    """The policy of a name, with its programs."""
    mutating = () if engines.mutating is None else engines.mutating.policies
    every: list[PolicyFrame] = [*engines.validating.policies, *mutating]
    return next(one for one in every if one.name == name)


def compiles(engines: Engines, name: str) -> bool:
    """Return whether all expressions of a policy do."""
    return all(one.error is None for one in compiled_policy(engines, name).expressions)


def is_original(document: Document, original: Document) -> bool:
    """Return whether both are the same place of a file."""
    return (document.file, document.line()) == (original.file, original.line()) and (
        document.value["kind"] == original.value["kind"]
    )


def _decoded(alteration: Alteration) -> Placed[RegistrationObject] | None:
    value = alteration.altered
    if value is None:
        return None
    document = replace(alteration.document, value=value)
    version = str(value["apiVersion"]).rpartition("/")[2]
    return Placed(decode_object(value, value["kind"], version).value, document)


def _changed(
    given: PolicySet, document: Document, made: Placed[RegistrationObject] | None
) -> PolicySet:
    """With other policies and bindings; the order of the names stays."""
    policies, bindings = {}, {}
    for name, policy in given.policies.items():
        if not is_original(policy.document, document):
            policies[name] = policy
        elif made is not None and isinstance(made.value, Policy):
            policies[name] = Placed(made.value, made.document)
    for name, binding in given.bindings.items():
        if not is_original(binding.document, document):
            bindings[name] = binding
        elif made is not None and isinstance(made.value, Binding):
            bindings[name] = Placed(made.value, made.document)
    return replace(given, policies=policies, bindings=bindings)
