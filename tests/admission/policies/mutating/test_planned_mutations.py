"""Policies of which nothing has to be evaluated do what they do when everything is."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import ObjectWorld, Operation, Request
from celadon.admission.activation import RequestContext
from celadon.admission.policies.compiled_mutations import (
    CompiledMutatingPolicy,
    compile_mutating_policy,
    standing,
)
from celadon.admission.policies.matching import Hooks, Target, candidates_for
from celadon.admission.policies.mutating import MutatingEngine, PolicyRounds
from celadon.kube import GroupVersionKind, GroupVersionResource, StatusError
from celadon.kube.fieldmanager import MutatedKinds
from celadon.kube.registry import create
from celadon.kube.resources import known_resources
from tests.admission.policies.mutating.altering import apply, binding, engine, label, policy

POD = GroupVersionKind("", "v1", "Pod")
PODS = GroupVersionResource("", "v1", "pods")
WORLD = ObjectWorld(implicit_namespaces=True, catalog=known_resources())
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}
EVERYTHING: dict[str, Any] = {"matchConstraints": {"resourceRules": [RULE]}}


class LookingOn(RequestContext):
    """Somebody who wants everything evaluated."""

    __slots__ = ()

    @property
    def traces(self) -> bool:
        return True


def each(fields: str) -> dict[str, Any]:
    item = f"Object.spec.containers{{name: c.name, {fields}}}"
    return apply(
        f"Object{{spec: Object.spec{{containers: object.spec.containers.map(c, {item})}}}}"
    )


def spec(fields: str) -> dict[str, Any]:
    return apply(f"Object{{spec: Object.spec{{{fields}}}}}")


POLICIES = {
    "a": [label("a"), label("b")],
    "b": [each("imagePullPolicy: 'Always'")],
    "c": [each("env: [Object.spec.containers.env{name: 'E', value: '1'}]")],
    "d": [spec("containers: [Object.spec.containers{name: 'side', image: 'i:1'}]")],
    "e": [spec("hostNetwork: true"), label("c")],
    "f": [each("ports: [Object.spec.containers.ports{containerPort: 80, protocol: 'TCP'}]")],
    "g": [label("d"), label("e", "object.metadata.name")],
    "h": [
        spec("volumes: [Object.spec.volumes{name: 'v', emptyDir: Object.spec.volumes.emptyDir{}}]")
    ],
    "i": [spec("tolerations: [Object.spec.tolerations{key: 'a'}]")],
}


def pod(*names: str, **fields: Any) -> Request:
    containers = [{"name": name, "image": "i"} for name in names]
    made = {
        "metadata": {"name": "p", "namespace": "n"},
        "spec": {"containers": containers, **fields},
    }
    given = {**create.admit_form(made, POD), "apiVersion": "v1", "kind": "Pod"}
    if not names:
        del given["spec"]["containers"]
    return Request(Operation.CREATE, POD, PODS, name="p", namespace="n", object=given)


def judge(**spec: Any) -> MutatingEngine:
    return engine(
        *(
            policy(name, *mutations, reinvokes=name < "d", **EVERYTHING, **spec)
            for name, mutations in POLICIES.items()
        )
    )


class Counting:
    def __init__(self) -> None:
        self.seen: list[tuple[str, ...]] = []

    def begin(self) -> None:
        pass

    def mutated(self, policy: str, binding: str, failure: str) -> None:
        self.seen.append((policy, binding, failure))


def outcome(found: PolicyRounds, asked: Request, number: int) -> Any:
    try:
        return found.run(asked, number)
    except StatusError as error:
        return error.status


@pytest.mark.parametrize(
    "asked",
    [
        pod("a"),
        pod("a", "b"),
        pod("a", hostNetwork=True),
        pod("a", resources={"limits": {"cpu": "1"}}),
        pod("side", "a"),
        pod("a", "a"),
        pod(),
    ],
    ids=str,
)
@pytest.mark.parametrize("failure_policy", ["Fail", "Ignore"])
def test_as_if_all_were_evaluated(asked: Request, failure_policy: str) -> None:
    said = []
    for contexts in (RequestContext, LookingOn):
        observer = Counting()
        found = judge(failurePolicy=failure_policy).rounds(
            WORLD, MutatedKinds(), observer, contexts
        )
        first = outcome(found, asked, 0)
        second = outcome(found, asked, 1)
        notes = found.notes
        said.append((first, second, notes.notes, notes.changes, notes.failures, observer.seen))
    assert said[0] == said[1]
    assert said[0][3]


def test_known_policies_are_not_evaluated() -> None:
    compiled = {one.name: one for one in judge().policies}
    assert [name for name, one in compiled.items() if one.known_configurations] == [*"abcdefhi"]
    condition = [{"name": "c", "expression": "true"}]
    assert not any(one.known_configurations for one in judge(matchConditions=condition).policies)


@pytest.mark.parametrize(
    ("bound", "always"),
    [
        ({}, True),
        ({"matchResources": {"namespaceSelector": {"matchLabels": {"a": "b"}}}}, False),
        ({"paramRef": {"name": "p", "parameterNotFoundAction": "Deny"}}, True),
    ],
)
def test_who_is_always_asked(bound: dict[str, Any], always: bool) -> None:
    empty: Hooks[Any, CompiledMutatingPolicy] = Hooks(compile_mutating_policy)
    asked_about = policy("p", label("a"), **EVERYTHING)
    hooks = empty.with_objects([asked_about], [binding("b", "p", **bound)])
    target = Target(PODS, POD, "", "CREATE", True)
    (candidate,) = candidates_for(hooks, target, known_resources())
    asked = standing(candidate).always
    assert (asked is not None) is always
    if asked is not None:
        assert [(one.key, one.param) for one in asked] == [(("p", "b", ""), None)]
