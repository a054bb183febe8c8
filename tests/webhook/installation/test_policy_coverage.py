"""A webhook is sent all that its policies match."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.admission import (
    Engine,
    ObjectWorld,
    Operation,
    Outcome,
    Request,
    decode_binding,
    decode_policy,
)
from celadon.admission.registration import decode_object, decode_webhooks
from celadon.admission.webhooks import HookSet
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.webhook.webhook_rules import InstallationSettings, coverages, policy_configuration
from tests.examples import examples
from tests.webhook.installation.test_selector_unions import SELECTORS

Json = dict[str, Any]
KINDS = {
    "deployments": ("apps", ["v1", "v1beta1"], "Deployment"),
    "pods": ("", ["v1"], "Pod"),
    "namespaces": ("", ["v1"], "Namespace"),
    "clusterroles": ("rbac.authorization.k8s.io", ["v1"], "ClusterRole"),
}
OPERATIONS = st.sampled_from(
    [["*"], ["CREATE"], ["CREATE", "UPDATE"], ["UPDATE", "DELETE"], ["CONNECT"]]
)
RULES = st.fixed_dictionaries(
    {
        "apiGroups": st.sampled_from([["*"], [""], ["apps"], ["", "apps"]]),
        "apiVersions": st.sampled_from([["*"], ["v1"], ["v1beta1"]]),
        "operations": OPERATIONS,
        "resources": st.sampled_from([["*/*"], ["*"], ["deployments"], ["pods", "deployments"]]),
    },
    optional={
        "scope": st.sampled_from(["*", "Namespaced", "Cluster"]),
        "resourceNames": st.just(["x"]),
    },
)
PARTS: Any = {"namespaceSelector": SELECTORS, "objectSelector": SELECTORS}
MATCHES = st.fixed_dictionaries(
    {"resourceRules": st.lists(RULES, min_size=1, max_size=2)},
    optional={
        **PARTS,
        "excludeResourceRules": st.lists(RULES, max_size=1),
        "matchPolicy": st.sampled_from(["Exact", "Equivalent"]),
    },
)
BINDINGS = st.fixed_dictionaries(
    {}, optional={**PARTS, "resourceRules": st.lists(RULES, max_size=1)}
)
LABELS = st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["1", "2", "3"]), max_size=2)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    resource = draw(st.sampled_from(sorted(KINDS)))
    group, versions, kind = KINDS[resource]
    version = draw(st.sampled_from(versions))
    operation = draw(st.sampled_from(list(Operation)[:3]))
    namespaced = resource in {"deployments", "pods"}
    name = draw(st.sampled_from(["x", "y"]))
    objects = [
        {
            "apiVersion": f"{group}/{version}" if group else version,
            "kind": kind,
            "metadata": {"name": name, "labels": draw(LABELS)},
        }
        for _ in range(2)
    ]
    return Request(
        operation,
        GroupVersionKind(group, version, kind),
        GroupVersionResource(group, version, resource),
        name=name,
        namespace="shop" if namespaced else name if resource == "namespaces" else "",
        object=None if operation is Operation.DELETE else objects[0],
        old_object=None if operation is Operation.CREATE else objects[1],
    )


def policy(i: int, match: Json, failure_policy: str = "Fail") -> Any:
    spec = {
        "matchConstraints": match,
        "failurePolicy": failure_policy,
        "validations": [{"expression": "false"}],
    }
    return decode_policy({"metadata": {"name": f"p{i}"}, "spec": spec}).value


def binding(i: int, j: int, match: Json) -> Any:
    spec = {"policyName": f"p{i}", "validationActions": ["Deny"], "matchResources": match}
    return decode_binding({"metadata": {"name": f"b{i}-{j}"}, "spec": spec}).value


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(
        st.tuples(MATCHES, st.lists(BINDINGS, max_size=2), st.sampled_from(["Fail", "Ignore"])),
        min_size=1,
        max_size=3,
    ),
    requests(),
    LABELS,
)
def test_what_a_policy_matches_is_sent(
    given: list[tuple[Json, list[Json], str]], request: Request, labels: dict[str, str]
) -> None:
    policies = [policy(i, match, failure) for i, (match, _, failure) in enumerate(given)]
    bindings = [
        binding(i, j, one) for i, (_, found, _) in enumerate(given) for j, one in enumerate(found)
    ]
    shop = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": labels}}
    world = ObjectWorld([shop], implicit_namespaces=True)
    notes = Engine(policies, bindings).explain(request, world).notes
    matched = {note.policy for note in notes if note.outcome is Outcome.EVALUATED}
    nothing_excluded = InstallationSettings(excluded_namespaces=())
    found = coverages(policies, bindings)
    hooks = HookSet(
        [decode_webhooks(policy_configuration(found, nothing_excluded), mutating=False).value]
    )
    sent = list(hooks.selected(request, world))
    wanted = {one.spec.failure_policy for one in policies if one.name in matched}
    assert wanted <= {one.hook.webhook.failure_policy for one in sent}


def test_mutating_policies_that_want_to_be_reinvoked() -> None:
    def mutating(i: int, reinvocation: str) -> Any:
        patch = {"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}}
        spec = {
            "matchConstraints": {"resourceRules": [RULE]},
            "mutations": [patch],
            "reinvocationPolicy": reinvocation,
        }
        document = {"metadata": {"name": f"p{i}"}, "spec": spec}
        return decode_object(document, "MutatingAdmissionPolicy").value

    bindings = [binding(i, 0, {}) for i in range(2)]
    (found,) = coverages([mutating(0, "Never"), mutating(1, "IfNeeded")], bindings)
    assert found.reinvocation_policy == "IfNeeded"
    (found,) = coverages([mutating(0, "Never")], bindings)
    assert found.reinvocation_policy == "Never"


RULE: Json = {
    "apiGroups": ["apps"],
    "apiVersions": ["v1"],
    "operations": ["CREATE", "UPDATE"],
    "resources": ["deployments"],
}


def covered(*matches: Json, bindings: tuple[Json, ...] = ({},)) -> Any:
    policies = [policy(i, match) for i, match in enumerate(matches)]
    bound = [binding(i, j, one) for i in range(len(matches)) for j, one in enumerate(bindings)]
    return coverages(policies, bound)


def test_a_policy_without_binding_wants_nothing() -> None:
    assert covered({"resourceRules": [RULE]}, bindings=()) == []


def test_failure_and_match_policies_are_kept_apart() -> None:
    policies = [
        policy(0, {"resourceRules": [RULE]}, "Ignore"),
        policy(1, {"resourceRules": [RULE]}),
        policy(2, {"resourceRules": [RULE], "matchPolicy": "Exact"}),
    ]
    found = coverages(policies, [binding(i, 0, {}) for i in range(3)])
    assert [(one.failure_policy, one.match_policy) for one in found] == [
        ("Fail", "Equivalent"),
        ("Fail", "Exact"),
        ("Ignore", "Equivalent"),
    ]


def test_rules_about_the_same_are_one() -> None:
    delete = {**RULE, "operations": ["DELETE"]}
    other = {**RULE, "resources": ["pods"]}
    (found,) = covered({"resourceRules": [RULE]}, {"resourceRules": [delete, other]})
    assert [(rule.resources, rule.operations) for rule in found.rules] == [
        (("deployments",), ("CREATE", "UPDATE", "DELETE")),
        (("pods",), ("CREATE", "UPDATE")),
    ]


def test_bindings_narrow_operations_and_namespaces() -> None:
    create = {"resourceRules": [{**RULE, "operations": ["CREATE"]}]}
    (found,) = covered({"resourceRules": [RULE]}, bindings=(create,))
    assert found.rules[0].operations == ("CREATE",)
    (found,) = covered({"resourceRules": [{**RULE, "operations": ["*"]}]}, bindings=(create,))
    assert found.rules[0].operations == ("CREATE",)
    (found,) = covered({"resourceRules": [RULE]}, bindings=(create, {}))
    assert found.rules[0].operations == ("CREATE", "UPDATE")
    stages = tuple({"namespaceSelector": {"matchLabels": {"stage": one}}} for one in "ab")
    (found,) = covered({"resourceRules": [RULE]}, bindings=stages)
    assert found.namespace_selector == {
        "matchExpressions": [{"key": "stage", "operator": "In", "values": ["a", "b"]}]
    }


def test_selectors_of_objects_are_never_joined() -> None:
    """One may be about the new object, the other about the old one."""
    a, b = ({"objectSelector": {"matchLabels": {key: "1"}}} for key in "ab")
    (found,) = covered({"resourceRules": [RULE], **a}, bindings=(b,))
    assert found.object_selector == a["objectSelector"]
    (found,) = covered({"resourceRules": [RULE]}, bindings=(b,))
    assert found.object_selector == b["objectSelector"]


def test_rules_that_take_reviews() -> None:
    (found,) = covered({"resourceRules": [RULE]})
    assert not found.takes_reviews
    (found,) = covered({"resourceRules": [{**RULE, "apiGroups": ["*"]}]})
    assert found.takes_reviews
