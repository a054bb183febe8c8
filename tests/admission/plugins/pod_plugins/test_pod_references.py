"""Secrets and config maps that a pod names."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.pod_plugins import config_map_names, containers, secret_names


def volume(**source: Any) -> dict[str, Any]:
    return {"volumes": [{"name": "v", **source}]}


@pytest.mark.parametrize(
    ("spec", "secrets", "maps"),
    [
        ({"imagePullSecrets": [{"name": "a"}]}, ["a"], []),
        (volume(secret={"secretName": "a"}), ["a"], []),
        (volume(azureFile={"secretName": "a", "shareName": "s"}), ["a"], []),
        (volume(csi={"driver": "d", "nodePublishSecretRef": {"name": "a"}}), ["a"], []),
        (volume(csi={"driver": "d"}), [], []),
        (volume(rbd={"secretRef": {"name": "a"}}), ["a"], []),
        (volume(configMap={"name": "m"}), [], ["m"]),
        (
            volume(
                projected={"sources": [{"secret": {"name": "a"}}, {"configMap": {"name": "m"}}]}
            ),
            ["a"],
            ["m"],
        ),
        (
            {"ephemeralContainers": [{"envFrom": [{"secretRef": {"name": "a"}}]}]},
            ["a"],
            [],
        ),
        (
            {
                "initContainers": [
                    {"env": [{"valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}}]}
                ]
            },
            [],
            ["m"],
        ),
    ],
)
def test_names(spec: dict[str, Any], secrets: list[str], maps: list[str]) -> None:
    assert list(secret_names(spec)) == secrets
    assert list(config_map_names(spec)) == maps


def test_order_of_containers() -> None:
    spec = {
        "containers": [{"name": "b"}],
        "initContainers": [{"name": "a"}],
        "ephemeralContainers": [{"name": "c"}],
    }
    assert [one["name"] for one in containers(spec)] == ["a", "b", "c"]


REFERENCES = {
    **dict.fromkeys(("cephfs", "cinder", "flexVolume", "rbd", "scaleIO"), "secretRef"),
    **dict.fromkeys(("iscsi", "storageos"), "secretRef"),
    "csi": "nodePublishSecretRef",
}


@pytest.mark.parametrize(("source", "field"), REFERENCES.items())
def test_volumes_with_secrets(source: str, field: str) -> None:
    assert list(secret_names(volume(**{source: {field: {"name": "a"}}}))) == ["a"]
    assert list(secret_names(volume(**{source: {}}))) == []


@pytest.mark.parametrize(
    ("spec", "secrets", "maps"),
    [
        ({"imagePullSecrets": [{}]}, [], []),
        (volume(secret={}, configMap={}), [], []),
        (volume(rbd={"secretRef": {}}), [], []),
        (volume(projected={"sources": [{"secret": {}}, {"configMap": {}}]}), [], []),
        ({"containers": [{"envFrom": [{"secretRef": {}}, {"configMapRef": {}}]}]}, [], []),
        (
            {"containers": [{"env": [{"valueFrom": {"secretKeyRef": {}}}, {"value": "x"}]}]},
            [],
            [],
        ),
        ({"containers": [{"envFrom": [{"configMapRef": {"name": "m"}}]}]}, [], ["m"]),
        (
            {"containers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "a"}}}]}]},
            ["a"],
            [],
        ),
    ],
)
def test_references_without_a_name(
    spec: dict[str, Any], secrets: list[str], maps: list[str]
) -> None:
    assert list(secret_names(spec)) == secrets
    assert list(config_map_names(spec)) == maps
