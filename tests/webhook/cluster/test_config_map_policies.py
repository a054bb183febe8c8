from __future__ import annotations

from typing import Any

import pytest

from celadon.webhook.cluster.cluster_policies import ConfigMapPolicies

HEAD = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n"
RULES = "[{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]"
SPEC = "spec: {matchConstraints: {resourceRules: %s}, validations: [{expression: %s}]}\n"
POLICY = HEAD + SPEC % (RULES, "'true'")
BINDING = (
    "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n"
    "spec: {policyName: a, validationActions: [Deny]}\n"
)
NAMED = "metadata: {name: %s}\n"


def stored(name: str, revision: str, **files: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "resourceVersion": revision},
        "data": {key.replace("_", "."): text for key, text in files.items()},
    }


def names(documents: Any) -> list[str]:
    return [one["metadata"]["name"] for one in documents]


def policy_names(policies: ConfigMapPolicies, *config_maps: dict[str, Any]) -> list[str]:
    return names(policies.documents(config_maps)["ValidatingAdmissionPolicy"])


def test_files_hold_any_number_of_documents() -> None:
    text = f"---\n{POLICY}{NAMED % 'a'}---\n# nothing\n---\n{BINDING}{NAMED % 'b'}"
    policies = ConfigMapPolicies("1.36")
    found = policies.documents([stored("m", "1", x_yaml=text, a_yaml=POLICY + NAMED % "c")])
    assert names(found["ValidatingAdmissionPolicy"]) == ["c", "a"]
    assert names(found["ValidatingAdmissionPolicyBinding"]) == ["b"]
    assert policies.problems == ()


PROBLEMS = {
    "something else": ("kind: Pod\nmetadata: {name: a}", "line 1: neither a policy nor a binding"),
    "a list": ("\n- a", "line 2: neither a policy nor a binding"),
    "no name": (POLICY + "metadata: {}", "line 1: neither a policy nor a binding"),
    "another group": (
        "apiVersion: a/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}",
        "line 1: neither a policy nor a binding",
    ),
    "a field of no such name": (
        POLICY + "metadata: {name: a}\nsepc: {}",
        'line 1: strict decoding error: unknown field "sepc"',
    ),
    "a field of another type": (
        HEAD + "metadata: {name: a}\nspec: []",
        "line 1: ",
    ),
    "an expression that is none": (
        HEAD + SPEC % (RULES, "'object.('") + "metadata: {name: a}",
        'line 1: ValidatingAdmissionPolicy.admissionregistration.k8s.io "a" is invalid: '
        "spec.validations[0].expression: Invalid value",
    ),
    "a name that is none": (
        POLICY + "metadata: {name: A}",
        'line 1: ValidatingAdmissionPolicy.admissionregistration.k8s.io "A" is invalid: '
        "metadata.name",
    ),
    "no YAML": ("a: [", "line 2: did not find expected node content"),
}


@pytest.mark.parametrize("row", PROBLEMS.values(), ids=PROBLEMS)
def test_problems_name_their_place(row: tuple[str, str]) -> None:
    policies = ConfigMapPolicies("1.36")
    policies.documents([stored("m", "1", f_yaml=row[0])])
    (problem,) = policies.problems
    assert problem.startswith(f"configmap `m`, `f.yaml`, {row[1]}")


def test_what_could_be_read_last_counts() -> None:
    policies = ConfigMapPolicies("1.36")
    policies.documents([stored("m", "1", f=POLICY + NAMED % "a")])
    assert policy_names(policies, stored("m", "2", f="a: [")) == ["a"]
    assert [one[:14] for one in policies.problems] == ["configmap `m`,"]
    assert policy_names(policies, stored("m", "2", f="a: [")) == ["a"]
    assert policy_names(policies, stored("m", "3", f=POLICY + NAMED % "b")) == ["b"]
    assert [*policies.problems] == []
    assert policy_names(policies) == []
