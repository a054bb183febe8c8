"""Tests that come with policies, read."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import Operation
from celadon.migrate import Case, read_suite
from tests.migrate.kyverno.policy_documents import kyverno_policy, pod, result, rule, translated

OBJECTS = [
    pod(),
    pod(namespace="shop"),
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"x": "y"}}},
]


def cases(result: dict[str, Any], **values: Any) -> list[Case]:
    """The cases of one result."""
    suite = {"results": [{"policy": "p", "rule": "r", "result": "pass", **result}]}
    return read_suite(suite, OBJECTS, values, {})


@pytest.mark.parametrize(
    ("given", "objects"),
    [
        ({"resources": ["a"]}, OBJECTS[:3]),
        ({"resource": "a", "kind": "ConfigMap"}, [OBJECTS[2]]),
        ({"resources": ["shop/a"], "kind": "Pod"}, [OBJECTS[1]]),
        ({"resources": ["default/a"], "kind": "Pod"}, [OBJECTS[0]]),
        ({"resources": ["b"]}, []),
        ({"resources": ["a"], "isValidatingAdmissionPolicy": True}, []),
        ({"resources": ["a"], "isGeneratingPolicy": True}, []),
        ({"resources": ["shop/a"], "isMutatingPolicy": True}, [OBJECTS[1]]),
    ],
)
def test_the_objects_of_a_result(given: dict[str, Any], objects: list[dict[str, Any]]) -> None:
    assert [one.object for one in cases(given)] == objects


def test_patched_objects_that_a_file_does_not_have_are_passed_over() -> None:
    """So does Kyverno's command line."""
    given = {"policy": "p", "rule": "r", "result": "pass", "kind": "Pod", "patchedResources": "f"}
    suite = {"results": [{**given, "resources": ["default/a", "shop/b"]}]}
    objects = [pod(), pod(name="b", namespace="shop")]
    (case,) = read_suite(suite, objects, {}, {}, {"f": [pod(labels={"x": "y"})]})
    assert (case.object, case.patched) == (pod(), pod(labels={"x": "y"}))


@pytest.mark.parametrize("name", ["r", "autogen-r", "autogen-cronjob-r"])
def test_rules_for_controllers_are_the_rule(name: str) -> None:
    (case,) = cases({"rule": name, "resources": ["a"], "kind": "ConfigMap", "policy": "ns/p"})
    assert (case.policy, case.rule, case.expected) == ("p", "r", "pass")


def test_words_of_a_result() -> None:
    """A warning is a failure that is not scored; operations are named by results, too."""
    (case,) = cases({"resources": ["shop/a"], "result": "warn", "operation": "DELETE"})
    assert (case.expected, case.operation) == ("fail", Operation.DELETE)


def test_patched_objects_of_the_same_namespace() -> None:
    given = {"policy": "p", "rule": "r", "result": "pass", "patchedResources": "f"}
    suite = {"results": [{**given, "resources": ["shop/a"]}]}
    patched = [pod(), pod(labels={"x": "y"}, namespace="shop")]
    (case,) = read_suite(suite, OBJECTS[:2], {}, {}, {"f": patched})
    assert case.patched == patched[1]


def test_values() -> None:
    of_policy = {
        "name": "p",
        "resources": [{"name": "a", "values": {"request.operation": "DELETE"}}],
    }
    labels = [{"name": "shop", "labels": {"team": "a"}}]
    given = {"resources": ["a"], "kind": "ConfigMap"}
    (case,) = cases(given, policies=[of_policy], namespaceSelector=labels)
    assert case.operation is Operation.DELETE
    assert case.namespaces == {"shop": {"team": "a"}}
    (case,) = cases(given, globalValues={"request.operation": "UPDATE"})
    assert case.operation is Operation.UPDATE
    assert case.namespaces == {"shop": {"x": "y"}}


def test_objects_are_judged_as_they_are_written() -> None:
    """Defaulting would set the policy to `Always` for an image without a tag."""
    pattern = {"spec": {"containers": [{"imagePullPolicy": "Always"}]}}
    found = translated(kyverno_policy(rule({"pattern": pattern})))
    assert result(found, pod({"containers": [{"name": "c", "image": "nginx"}]})) == "fail"
