"""PodNodeSelector, LimitPodHardAntiAffinityTopology, PodTopologyLabels."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import GroupVersionKind, GroupVersionResource
from tests.admission.plugins.asking import asked, mutated, obj, pod, refusal, world


def selecting(text: str) -> dict[str, Any]:
    made = obj("Namespace", "ns")
    made["metadata"]["annotations"] = {"scheduler.alpha.kubernetes.io/node-selector": text}
    return made


CONFLICT = (
    '403 pods "p" is forbidden: pod node label selector conflicts with its namespace node label '
    "selector"
)


@pytest.mark.parametrize(
    ("annotation", "given", "made", "text"),
    [
        ("", {"a": "b"}, {"a": "b"}, ""),
        ("env=prod, zone=z", {"a": "b"}, {"a": "b", "env": "prod", "zone": "z"}, ""),
        ("env=prod", {"env": "prod"}, {"env": "prod"}, ""),
        ("env=prod", {"env": "test"}, {"env": "test"}, CONFLICT),
        ("env", {}, None, "500 invalid selector: [env]"),
    ],
)
def test_node_selectors(annotation: str, given: Any, made: Any, text: str) -> None:
    around = world(selecting(annotation))
    asking = asked(pod(nodeSelector=given) if given else pod())
    found, refused = mutated("PodNodeSelector", asking, around)
    assert (found["spec"].get("nodeSelector"), refused) == (made, text)
    assert refusal("PodNodeSelector", asking, around) == text


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("kubernetes.io/hostname", ""),
        (
            "zone",
            '403 pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has '
            "TopologyKey zone but only key kubernetes.io/hostname is allowed",
        ),
    ],
)
def test_anti_affinity(key: str, text: str) -> None:
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": key}]}
    asking = asked(pod(affinity={"podAntiAffinity": terms}))
    assert refusal("LimitPodHardAntiAffinityTopology", asking) == text


def test_bindings_take_over_the_place_of_the_node() -> None:
    node = obj("Node", "n")
    node["metadata"]["labels"] = {"topology.kubernetes.io/zone": "z", "other": "o"}
    binding = obj("Binding", "p", target={"kind": "Node", "name": "n"})
    pods = GroupVersionResource("", "v1", "pods")
    kind = GroupVersionKind("", "v1", "Binding")
    asking = asked(binding, subresource="binding", resource=pods, kind=kind)
    made, refused = mutated("PodTopologyLabels", asking, world(node))
    assert refused == ""
    assert made["metadata"]["labels"] == {"topology.kubernetes.io/zone": "z"}
    assert "labels" not in mutated("PodTopologyLabels", asking)[0]["metadata"]
