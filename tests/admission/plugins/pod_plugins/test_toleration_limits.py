"""PodTolerationRestriction, ExtendedResourceToleration."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.admission.plugins.pod_plugins import is_extended_resource
from tests.admission.plugins.asking import asked, mutated, obj, pod, refusal, world

GPU = {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}
SPOT = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}
PRESSURE = {
    "key": "node.kubernetes.io/memory-pressure",
    "operator": "Exists",
    "effect": "NoSchedule",
}


def namespace(**lists: Any) -> dict[str, Any]:
    made = obj("Namespace", "ns")
    made["metadata"]["annotations"] = {
        f"scheduler.alpha.kubernetes.io/{key}": json.dumps(value) for key, value in lists.items()
    }
    return made


CONFLICT = (
    "500 pod tolerations (possibly merged with namespace default tolerations) conflict with its "
    "namespace whitelist"
)


@pytest.mark.parametrize(
    ("lists", "given", "made", "text"),
    [
        ({}, [GPU], [GPU], ""),
        ({"defaultTolerations": [SPOT]}, [GPU], [SPOT, GPU], ""),
        ({"defaultTolerations": [SPOT]}, [], [SPOT], ""),
        ({"tolerationsWhitelist": [GPU]}, [GPU], [GPU], ""),
        ({"tolerationsWhitelist": [SPOT]}, [GPU], [GPU], CONFLICT),
        ({"tolerationsWhitelist": [SPOT]}, [], None, ""),
    ],
)
def test_restriction(lists: Any, given: Any, made: Any, text: str) -> None:
    asking = asked(pod(tolerations=given) if given else pod())
    found, refused = mutated("PodTolerationRestriction", asking, world(namespace(**lists)))
    assert (found["spec"].get("tolerations"), refused) == (made, text)


def test_pods_with_requests_tolerate_pressure() -> None:
    needs = {"requests": {"cpu": "1"}}
    asking = asked(pod(containers=[{"name": "c", "resources": needs}]))
    assert mutated("PodTolerationRestriction", asking)[0]["spec"]["tolerations"] == [PRESSURE]


def test_the_list_is_asked_again_after_validation() -> None:
    around = world(namespace(tolerationsWhitelist=[SPOT]))
    assert refusal("PodTolerationRestriction", asked(pod(tolerations=[GPU])), around) == CONFLICT


def annotated(name: str, text: str) -> dict[str, Any]:
    space = obj("Namespace", "ns")
    space["metadata"]["annotations"] = {f"scheduler.alpha.kubernetes.io/{name}": text}
    return space


FIELD = "json: cannot unmarshal {} into Go struct field Toleration.{}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "unexpected end of JSON input"),
        ("[{]", "invalid character ']' looking for beginning of object key string"),
        ("x", "invalid character 'x' looking for beginning of value"),
        ("[] []", "invalid character '[' after top-level value"),
        ("{}", "json: cannot unmarshal object into Go value of type []v1.Toleration"),
        ("1", "json: cannot unmarshal number into Go value of type []v1.Toleration"),
        ("[1, null]", "json: cannot unmarshal number into Go value of type v1.Toleration"),
        ('[{"key": 1}]', FIELD.format("number", "key of type string")),
        ('[{"effect": []}]', FIELD.format("array", "effect of type v1.TaintEffect")),
        (
            '[{"tolerationSeconds": 1.5}]',
            FIELD.format("number 1.5", "tolerationSeconds of type int64"),
        ),
    ],
)
def test_what_go_says_of_broken_lists(text: str, why: str) -> None:
    asking = asked(pod(tolerations=[GPU]))
    allowed = world(annotated("tolerationsWhitelist", text))
    assert refusal("PodTolerationRestriction", asking, allowed) == f"500 {why}"
    for name in ("tolerationsWhitelist", "defaultTolerations"):
        around = world(annotated(name, text))
        assert mutated("PodTolerationRestriction", asking, around)[1] == f"500 {why}"


@pytest.mark.parametrize("text", ["null", "[]", ""])
def test_lists_that_are_empty_restrict_nothing(text: str) -> None:
    around = world(annotated("tolerationsWhitelist", text))
    assert refusal("PodTolerationRestriction", asked(pod(tolerations=[GPU])), around) == ""


def test_a_null_in_a_list_is_a_toleration_without_anything() -> None:
    around = world(annotated("tolerationsWhitelist", "[null]"))
    assert refusal("PodTolerationRestriction", asked(pod(tolerations=[GPU])), around) == CONFLICT


def test_extended_resources_are_tolerated() -> None:
    needs = {"requests": {"example.com/b": "1", "example.com/a": "1", "cpu": "1"}}
    asking = asked(pod(containers=[{"name": "c", "resources": needs}]))
    made, _ = mutated("ExtendedResourceToleration", asking)
    assert made["spec"]["tolerations"] == [
        {"key": f"example.com/{name}", "operator": "Exists", "effect": "NoSchedule"}
        for name in "ab"
    ]
    again, _ = mutated("ExtendedResourceToleration", asked(made))
    assert again["spec"] == made["spec"]
    init = asked(pod(initContainers=[{"name": "c", "resources": needs}]))
    assert len(mutated("ExtendedResourceToleration", init)[0]["spec"]["tolerations"]) == 2


@pytest.mark.parametrize(
    ("present", "same"),
    [
        ({"key": "example.com/a", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "example.com/a", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "example.com/a", "operator": "Exists"}, False),
        ({"key": "example.com/a", "value": "v", "effect": "NoSchedule"}, False),
        ({"key": "other", "operator": "Exists", "effect": "NoSchedule"}, False),
    ],
)
def test_tolerations_that_are_there(present: dict[str, str], same: bool) -> None:
    needs = {"requests": {"example.com/a": "1"}}
    containers = [{"name": "c", "resources": needs}]
    asking = asked(pod(containers=containers, tolerations=[present]))
    made, _ = mutated("ExtendedResourceToleration", asking)
    assert len(made["spec"]["tolerations"]) == (1 if same else 2)


@pytest.mark.parametrize(
    ("name", "extended"),
    [
        ("example.com/gpu", True),
        ("cpu", False),
        ("kubernetes.io/x", False),
        ("requests.example.com/gpu", False),
    ],
)
def test_names_of_extended_resources(name: str, extended: bool) -> None:
    assert is_extended_resource(name) == extended
