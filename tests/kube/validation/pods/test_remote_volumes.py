"""What is said against volumes of pods that are elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kube.validation.objects import complaints, pod

Json = dict[str, Any]
PAIRS = "must be a host:port pair or multiple pairs separated by commas"
GOOD: dict[str, Json] = {
    "gcePersistentDisk": {"pdName": "d", "partition": 1},
    "awsElasticBlockStore": {"volumeID": "v"},
    "nfs": {"server": "s", "path": "/"},
    "iscsi": {"targetPortal": "t", "iqn": "iqn.2020-01.com.example:disk", "lun": 0},
    "glusterfs": {"endpoints": "e", "path": "p"},
    "flocker": {"datasetName": "d"},
    "rbd": {"monitors": ["m"], "image": "i"},
    "cinder": {"volumeID": "v", "secretRef": {"name": "s"}},
    "cephfs": {"monitors": ["m"]},
    "quobyte": {"registry": "a:1,[::1]:2", "volume": "v"},
    "fc": {"targetWWNs": ["w"], "lun": 1},
    "flexVolume": {"driver": "d", "options": {"example.com/a": "b"}},
    "azureFile": {"secretName": "s", "shareName": "s"},
    "azureDisk": {"diskName": "d", "diskURI": "/subscriptions/x", "kind": "Managed"},
    "vsphereVolume": {"volumePath": "p"},
    "photonPersistentDisk": {"pdID": "p"},
    "portworxVolume": {"volumeID": "v"},
    "scaleIO": {"gateway": "g", "system": "s", "volumeName": "v", "secretRef": {"name": "s"}},
    "storageos": {"volumeName": "v", "volumeNamespace": "n"},
    "csi": {"driver": "d", "nodePublishSecretRef": {"name": "s"}},
}
BAD: list[tuple[str, Json, list[str]]] = [
    ("gcePersistentDisk", {"partition": -1}, [
        "pdName: Required value",
        "partition: Invalid value: -1: must be between 1 and 255, inclusive"]),
    ("nfs", {"path": "x"}, [
        "server: Required value", 'path: Invalid value: "x": must be an absolute path']),
    ("iscsi", {"iqn": "x", "chapAuthDiscovery": True, "initiatorName": "eui.1"}, [
        "targetPortal: Required value",
        'iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa',
        "secretRef: Required value",
        'initiatorname: Invalid value: "eui.1": must be valid format']),
    ("flocker", {}, [": Required value: one of datasetName and datasetUUID is required"]),
    ("flocker", {"datasetName": "a/b", "datasetUUID": "u"}, [
        ': Invalid value: "resource": datasetName and datasetUUID can not be specified '
        "simultaneously",
        'datasetName: Invalid value: "a/b": must not contain \'/\'']),
    ("cinder", {"secretRef": {}}, ["volumeID: Required value", "secretRef.name: Required value"]),
    ("quobyte", {"volume": "v"}, [f"registry: Required value: {PAIRS}"]),
    ("quobyte", {"registry": "a,b:1"}, [
        f'registry: Invalid value: "a,b:1": {PAIRS}', "volume: Required value"]),
    ("quobyte", {"registry": "a:1", "volume": "v", "tenant": "x" * 65}, [
        "tenant: Required value: must be a UUID and may not exceed a length of 64 characters"]),
    ("fc", {}, [
        "targetWWNs: Required value: must specify either targetWWNs or wwids, but not both"]),
    ("fc", {"targetWWNs": ["w"], "wwids": ["i"]}, [
        'targetWWNs: Invalid value: ["w"]: targetWWNs and wwids can not be specified '
        "simultaneously",
        "lun: Required value: lun is required if targetWWNs is specified"]),
    ("fc", {"targetWWNs": ["w"], "lun": 256}, [
        "lun: Invalid value: 256: must be between 0 and 255, inclusive"]),
    ("flexVolume", {"options": {"A.K8s.io/x": "y"}}, [
        "driver: Required value",
        'options[A.K8s.io/x]: Invalid value: "A.K8s.io/x": kubernetes.io and k8s.io namespaces '
        "are reserved"]),
    ("azureDisk", {"diskName": "d", "diskURI": "x", "kind": "Managed", "cachingMode": "x"}, [
        'cachingMode: Unsupported value: "x": supported values: "None", "ReadOnly", "ReadWrite"',
        'diskURI: Unsupported value: "x": supported values: "/subscriptions/{sub-id}/'
        'resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"']),
    ("azureDisk", {"diskName": "d", "diskURI": "x", "kind": "Shared"}, [
        'diskURI: Unsupported value: "x": supported values: '
        '"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"']),
    ("storageos", {"volumeNamespace": "n", "secretRef": {}}, [
        "volumeName: Required value", "secretRef.name: Required value"]),
    ("csi", {"driver": "d" * 64, "nodePublishSecretRef": {}}, [
        "driver: Too long: may not be more than 63 bytes",
        "nodePublishSecretRef.name: Required value"]),
]  # fmt: skip


def found_in(kind: str, source: Json) -> list[str]:
    return complaints(pod(volumes=[{"name": "v", kind: source}]))


@pytest.mark.parametrize("kind", GOOD)
def test_good_volumes(kind: str) -> None:
    assert found_in(kind, GOOD[kind]) == []


@pytest.mark.parametrize(("kind", "source", "expected"), BAD)
def test_complaints(kind: str, source: Json, expected: list[str]) -> None:
    at = f"spec.volumes[0].{'persistentDisk' if kind == 'gcePersistentDisk' else kind}"
    full = [f"{at}{'' if text.startswith(':') else '.'}{text}" for text in expected]
    assert found_in(kind, source) == full


def test_claims_of_ephemeral_volumes() -> None:
    assert found_in("ephemeral", {}) == [
        "spec.volumes[0].ephemeral.volumeClaimTemplate: Required value"
    ]
    meta = {"name": "x", "labels": {"a": "b"}, "creationTimestamp": None}
    at = "spec.volumes[0].ephemeral.volumeClaimTemplate"
    assert found_in("ephemeral", {"volumeClaimTemplate": {"metadata": meta, "spec": {}}}) == [
        f"{at}.metadata.name: Forbidden: cannot be set",
        f"{at}.spec.accessModes: Required value: at least 1 access mode is required",
        f"{at}.spec.resources[storage]: Required value",
    ]
