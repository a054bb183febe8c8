"""Rules that read a ConfigMap, which is the param of their policies."""

from __future__ import annotations

import pytest

from celadon.kube import JsonObject
from tests.migrate.kyverno.policy_documents import kyverno_policy, pod, result, rule, translated

CONTEXT: list[JsonObject] = [{"name": "known", "configMap": {"name": "c", "namespace": "n"}}]
BY_NAMESPACE = """{{ known.data."{{request.namespace}}" || '' }}"""


def denied(operator: str, value: str) -> JsonObject:
    """A rule about the image of the first container."""
    condition = {"key": "{{ request.object.spec.containers[0].image }}", "operator": operator}
    deny = {"conditions": {"any": [{**condition, "value": value}]}}
    return kyverno_policy(rule({"deny": deny}, context=list(CONTEXT)))


def test_a_config_map_is_the_param() -> None:
    policy, binding = translated(denied("AnyNotIn", "{{ known.data.images }}")).documents
    assert policy["spec"]["paramKind"] == {"apiVersion": "v1", "kind": "ConfigMap"}
    assert policy["spec"]["validations"][0]["expression"] == (
        "!object.spec.containers[?0].?image.hasValue() || object.spec.containers[0].image in "
        r"""params.data['images'].findAll(r'[^\[\]\s",]+')"""
    )
    assert binding["spec"]["paramRef"] == {
        "name": "c", "namespace": "n", "parameterNotFoundAction": "Deny"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("operator", "value", "data", "answer"),
    [
        ("AnyNotIn", "{{ known.data.images }}", {"images": '["a:1", "nginx:1"]'}, "pass"),
        ("AnyNotIn", "{{ known.data.images }}", {"images": "nginx:1"}, "pass"),
        ("AnyNotIn", "{{ known.data.images }}", {"images": '["nginx:10"]'}, "fail"),
        ("AnyIn", "{{ known.data.images }}", {"images": '["nginx:10"]'}, "pass"),
        # A rule without its key fails, as in Kyverno.
        ("AnyIn", "{{ known.data.images }}", {"other": "a"}, "fail"),
        ("Equals", "{{ known.data.image }}", {"image": "nginx:1"}, "fail"),
        ("Equals", "{{ known.data.image }}", {"image": "a"}, "pass"),
        ("AnyIn", BY_NAMESPACE, {"default": "nginx:1"}, "fail"),
        ("AnyIn", BY_NAMESPACE, {"other": "nginx:1"}, "pass"),
    ],
)
def test_verdicts(operator: str, value: str, data: dict[str, str], answer: str) -> None:
    given = {f"known.data.{key}": text for key, text in data.items()}
    found = translated(denied(operator, value))
    assert not found.reason, found.reason
    assert result(found, pod(), values=given) == answer


def test_a_policy_has_one_param() -> None:
    two = [*CONTEXT, {"name": "other", "configMap": {"name": "d"}}]
    assert translated(kyverno_policy(rule({"deny": {}}, context=list(two)))).reason == (
        "several ConfigMaps"
    )


def test_a_patch_reads_a_config_map() -> None:
    patch = {"metadata": {"labels": {"team": "{{ known.data.team }}"}}}
    given = {**rule({}, context=list(CONTEXT)), "mutate": {"patchStrategicMerge": patch}}
    del given["validate"]
    policy, binding = translated(kyverno_policy(given)).documents
    (mutation,) = policy["spec"]["mutations"]
    assert "{'team': params.data['team']}" in mutation["applyConfiguration"]["expression"]
    assert binding["spec"]["paramRef"]["name"] == "c"
