"""What an engine remembers of its endpoints, and for how long."""

from __future__ import annotations

import pytest

from celadon.admission import policy_limits
from celadon.admission.cluster_lookups import ObjectWorld
from celadon.admission.policies.compiled_policy import CompiledPolicy, compile_policy
from celadon.admission.policies.matching import (
    Candidate,
    Hook,
    Hooks,
    PerEndpoint,
    candidates_for,
)
from celadon.admission.policies.validating import Engine
from celadon.admission.registration.registration_types import ValidatingAdmissionPolicy
from celadon.admission.request import Operation, Request
from celadon.kube import GroupVersionResource
from celadon.kube.resources import known_resources
from celadon.memoization import OnDemand
from tests.admission.building import RULE, binding, config_map, policy, request

CATALOG = known_resources()
POLICY = policy()
HOOK = Hook(POLICY, OnDemand(lambda: compile_policy(POLICY)), (binding(),))
HOOKS = Hooks(compile_policy, objects=(HOOK,))
_Hooks = Hooks[ValidatingAdmissionPolicy, CompiledPolicy]


def remembered_candidates(hooks: _Hooks) -> PerEndpoint[tuple[Candidate[CompiledPolicy], ...]]:
    return PerEndpoint(lambda target, catalog: candidates_for(hooks, target, catalog))


def test_a_policy_is_compiled_when_a_request_comes_that_it_is_about() -> None:
    compiled = []

    def compile_it(given: ValidatingAdmissionPolicy) -> CompiledPolicy:
        compiled.append(given.name)
        return compile_policy(given)

    remembered = remembered_candidates(Hooks(compile_it).with_objects([POLICY], [binding()]))
    about_others = request(resource=GroupVersionResource("", "v1", "secrets"))
    assert remembered.of(about_others, CATALOG) == ()
    assert compiled == []
    for namespace in ("a", ""):
        assert remembered.of(request(namespace=namespace), CATALOG)
    assert compiled == [POLICY.name]


def test_endpoints_are_remembered() -> None:
    remembered = remembered_candidates(HOOKS)
    first = remembered.of(request(), CATALOG)
    assert [one.compiled for one in first] == [HOOK.compiled]
    assert remembered.of(request(config_map("other"), name="other"), CATALOG) is first
    assert len(remembered) == 1
    for other in (
        request(operation=Operation.UPDATE, old_object=config_map()),
        request(subresource="status"),
        request(namespace=""),
    ):
        remembered.of(other, CATALOG)
    assert len(remembered) == 4


def test_no_more_than_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests may name what they like."""
    monkeypatch.setattr(policy_limits, "CANDIDATE_CACHE_ENTRIES", 3)
    remembered = remembered_candidates(HOOKS)
    sizes = []
    for number in range(8):
        remembered.of(request(subresource=f"s{number}"), CATALOG)
        sizes.append(len(remembered))
    assert sizes == [1, 2, 3, 1, 2, 3, 1, 2]


def test_another_catalog_has_other_candidates() -> None:
    """A policy whose kind of params is not known yet denies; once it is, it does not."""
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "limits.x.io"},
        "spec": {
            "group": "x.io",
            "scope": "Namespaced",
            "names": {"plural": "limits", "kind": "Limit"},
            "versions": [{"name": "v1", "served": True, "storage": True}],
        },
    }
    given = policy(
        paramKind={"apiVersion": "x.io/v1", "kind": "Limit"},
        validations=[{"expression": "params == null"}],
    )
    engine = Engine([given], [binding(paramRef={"name": "l", "parameterNotFoundAction": "Allow"})])
    without = ObjectWorld(implicit_namespaces=True, catalog=CATALOG)
    known = ObjectWorld(implicit_namespaces=True, catalog=CATALOG.with_crds([definition]))
    for world, allowed in ((without, False), (known, True), (without, False)):
        assert engine.review(request(), world).allowed is allowed


NOBODY_SEES = request(
    resource=GroupVersionResource("authorization.k8s.io", "v1", "subjectaccessreviews")
)
ONLY_STATIC_SEE = request(
    resource=GroupVersionResource(
        "admissionregistration.k8s.io", "v1beta1", "mutatingadmissionpolicybindings"
    ),
    subresource="status",
)


@pytest.mark.parametrize(
    ("asked", "names"),
    [(request(), ["z", "a", "b"]), (ONLY_STATIC_SEE, ["z"]), (NOBODY_SEES, [])],
)
def test_policies_from_files_come_first_and_see_more(asked: Request, names: list[str]) -> None:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}
    given = {one: policy(one, matchConstraints={"resourceRules": [rule]}) for one in "abz"}
    hooks = Hooks(compile_policy).with_static([given["z"]], [binding("z", "z")])
    hooks = hooks.with_objects(
        [given["b"], given["a"]], [binding("b", "b"), binding("a", "a"), binding("x", "z")]
    )
    found = remembered_candidates(hooks).of(asked, CATALOG)
    assert [one.compiled.name for one in found] == names
    assert [one.name for one in hooks.orphans] == ["x"], "bindings stay with their origin"


def test_params_of_an_unknown_kind_need_no_binding_that_matches() -> None:
    """The policy is misconfigured, whatever its bindings match."""
    elsewhere = {"resourceRules": [{**RULE, "resources": ["secrets"]}]}
    unknown = policy(paramKind={"apiVersion": "x.io/v1", "kind": "Nope"})
    known = policy(paramKind={"apiVersion": "v1", "kind": "ConfigMap"})
    refs = {"name": "x", "parameterNotFoundAction": "Deny"}
    bound = binding(matchResources=elsewhere, paramRef=refs)
    for given, there in ((unknown, True), (known, False)):
        hooks = Hooks(compile_policy).with_objects([given], [bound])
        found = remembered_candidates(hooks).of(request(), CATALOG)
        assert [one.compiled.name for one in found] == ["p"] * there
