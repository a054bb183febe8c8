"""Files to policies in force: one side of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from celadon.admission import Engine, Source, ValidatingAdmissionPolicy, decode_binding
from celadon.cli.check.check_report import Place, PolicyError
from celadon.cli.check.cluster import Circumstances, given_world
from celadon.cli.check.manifests import Manifests, Parts, gather
from celadon.cli.check.policy_set import (
    PolicySet,
    PolicySets,
    policy_sets,
    validating_bindings,
    validating_policies,
    with_policies,
)
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import NOTHING_EXCLUDED, Exclusion
from celadon.kube import Json, JsonObject
from celadon.kube.releases import answering_as
from celadon.prove import Side
from celadon.records import dataclass

_EPOCH = "1970-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Given:
    """What was read for one side. `shown` turns the name of a file into what the user knows it
    by."""

    label: str
    version: str
    sets: PolicySets
    objects: tuple[JsonObject, ...]
    problems: tuple[Problem, ...]
    shown: Callable[[str], str]

    @property
    def errors(self) -> tuple[PolicyError, ...]:
        """Policies and bindings that an API server would not take."""
        found = (error for one in self.sets.all for error in one.errors)
        return tuple(replace(one, place=self._shown_place(one.place)) for one in found)

    @property
    def unbound(self) -> frozenset[str]:
        """The policies that no binding puts to work."""
        bound = {one.spec.policy_name for one in validating_bindings(self.sets.validating)}
        return frozenset(self.sets.validating.policies) - bound

    @property
    def mutations(self) -> list[Json]:
        """Mutating policies and their bindings, as they are written."""
        found = self.sets.mutating
        documents = [one.document for one in found.policies.values()]
        documents += [one.document for one in found.bindings.values()]
        return sorted((one.value for one in documents), key=str)

    def side(self, bound_everywhere: frozenset[str]) -> Side:
        """The policies in force; those that are named here are bound to all there is."""
        found = self.sets.validating
        policies = validating_policies(found)
        bindings = validating_bindings(found)
        for policy in policies:
            if policy.name in bound_everywhere:
                bindings.append(decode_binding(_everywhere(policy)).value)
        engine = with_policies(Engine(version=self.version), policies, bindings)
        return Side(engine, self.objects)

    def place(self, source: Source, policy: str, binding: str) -> Place | None:
        """Where it stands what a decision comes from, or the like of it; None if it is not
        there."""
        found: PolicySet = self.sets.validating
        if source.in_binding:
            if binding not in found.bindings:
                return None
            return self._shown_place(found.bindings[binding].place(source.path))
        if policy not in found.policies:
            return None
        return self._shown_place(found.policies[policy].place(source.path))

    def _shown_place(self, place: Place) -> Place:
        return Place(self.shown(place.file), place.line)


def _everywhere(policy: ValidatingAdmissionPolicy) -> JsonObject:
    spec: dict[str, Json] = {"policyName": policy.name, "validationActions": ["Deny"]}
    if policy.spec.param_kind is not None:
        spec["paramRef"] = {"selector": {}, "parameterNotFoundAction": "Deny"}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": policy.name},
        "spec": spec,
    }


def read_side(
    label: str,
    paths: Sequence[str],
    version: str,
    *,
    shown: Callable[[str], str] = str,
    exclude: Exclusion = NOTHING_EXCLUDED,
) -> Given:
    """Read files, folders and globs as a release takes them."""
    with answering_as(version):
        found = gather(paths, (), (), Parts(), lambda _: None, exclude) if paths else Manifests()
        sets = policy_sets(found, version)
        prepare = Circumstances(version, _EPOCH).preparation(found.existing)
        world, problems = given_world(found, sets, prepare)
    wrong = tuple(
        replace(one, file=shown(one.file)) for one in dict.fromkeys((*found.problems, *problems))
    )
    return Given(label, version, sets, tuple(world.objects), wrong, shown)
