"""Rules of a policy that are for the same requests become one policy where they are written."""

from __future__ import annotations

from typing import Any

from celadon.kube import JsonObject
from celadon.migrate import Merged, merged, translate_document
from tests.migrate.kyverno.policy_documents import CATALOG, kyverno_policy, rule

NAMED = {"pattern": {"metadata": {"labels": {"name": "?*"}}}, "message": "a name"}
TEAM = {"pattern": {"metadata": {"labels": {"team": "?*"}}}, "message": "a team"}


def written(*rules: JsonObject, taken: tuple[str, ...] = (), **policy: Any) -> Merged:
    found = translate_document(kyverno_policy(*rules, **policy), CATALOG)
    return merged("p", [one for each in found for one in each.documents], taken)


def rules(**changes: Any) -> list[dict[str, Any]]:
    return [{**rule(NAMED), "name": "a"}, {**rule(TEAM), "name": "b", **changes}]


def names(found: Merged) -> list[str]:
    return [str(one["metadata"]["name"]) for one in found.documents]


def test_rules_for_the_same_requests_are_one_policy() -> None:
    found = written(*rules())
    policy, binding = found.documents
    assert [one["message"] for one in policy["spec"]["validations"]] == ["a name", "a team"]
    assert names(found) == ["p", "p"]
    assert binding["spec"]["policyName"] == "p"
    assert found.names == {"p-a": "p", "p-b": "p"}


def test_forms_of_rules_are_merged_each_for_itself() -> None:
    forms = ["p", "p", "p-controllers", "p-controllers", "p-cronjobs", "p-cronjobs"]
    assert names(written(*rules(), annotations={})) == forms


def test_rules_for_others_stay_alone() -> None:
    preconditions = [{"key": "{{ request.object.metadata.name }}", "operator": "Equals",
                      "value": "x"}]  # fmt: skip
    for changes in (
        {"match": {"any": [{"resources": {"kinds": ["Service"]}}]}},
        {"preconditions": preconditions},
        {"validate": {**TEAM, "failureAction": "Enforce"}},
    ):
        found = written(*rules(**changes))
        assert (names(found), found.names) == (["p-a", "p-a", "p-b", "p-b"], {})


def test_a_name_that_is_taken_is_not_given_again() -> None:
    assert names(written(*rules(), taken=("p",))) == ["p-a", "p-a", "p-b", "p-b"]


def test_bindings_for_some_namespaces_are_merged_too() -> None:
    overrides = [{"action": "Enforce", "namespaces": ["prod"]}]
    found = written(*rules(), validationFailureActionOverrides=overrides)
    assert names(found) == ["p", "p-enforce", "p"]
    assert {one["spec"]["policyName"] for one in found.documents[1:]} == {"p"}
    assert found.documents[1]["spec"]["validationActions"] == ["Deny"]


def test_variables_are_joined() -> None:
    demanded = [{"=(securityContext)": {"=(privileged)": False}}]
    pattern = {"spec": {"=(initContainers)": demanded, "containers": demanded}}
    both = [{**one, "validate": {"pattern": pattern, "message": one["name"]}} for one in rules()]
    policy, _ = written(*both).documents
    assert [one["name"] for one in policy["spec"]["variables"]] == ["containers"]
    assert len(policy["spec"]["validations"]) == 2


def test_a_common_name_is_one_that_an_object_may_have() -> None:
    found = translate_document(
        {**(given := kyverno_policy(*rules())), "metadata": {**given["metadata"], "name": "(p)_x"}},
        CATALOG,
    )
    documents = [one for each in found for one in each.documents]
    assert names(merged("(p)_x", documents, ())) == ["p-x", "p-x"]
