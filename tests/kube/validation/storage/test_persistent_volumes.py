"""What is said against volumes: besides what a pod's volumes are asked, too."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.validation.persistent_volumes import persistent_volume_update
from tests.kube.validation.objects import complaints, obj, update_complaints

Json = dict[str, Any]
ZONE = {"key": "zone", "operator": "In", "values": ["a"]}
AFFINITY = {"required": {"nodeSelectorTerms": [{"matchExpressions": [ZONE]}]}}
CSI = {"driver": "d.example.com", "volumeHandle": "h"}


def in_zone(label: str) -> Json:
    chosen = {**ZONE, "key": label}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [chosen]}]}}


def volume(**spec: Any) -> Json:
    given = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, **spec}
    return obj("v1", "PersistentVolume", spec=given)


GOOD = [
    volume(local={"path": "/x"}, nodeAffinity=AFFINITY),
    volume(csi=CSI, volumeAttributesClassName="fast"),
    volume(hostPath={"path": "/x"}, persistentVolumeReclaimPolicy="Recycle"),
    volume(glusterfs={"endpoints": "e", "path": "p", "endpointsNamespace": "ns"}),
    volume(azureFile={"secretName": "s", "shareName": "s", "secretNamespace": "ns"}),
    volume(cinder={"volumeID": "v", "secretRef": {"name": "s", "namespace": "ns"}}),
]


@pytest.mark.parametrize("value", GOOD)
def test_good_volumes(value: Json) -> None:
    assert complaints(value) == []
    assert update_complaints(value, value) == []


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ["spec: Required value: must specify a volume type"]),
        (
            {"hostPath": {"path": "/x"}, "capacity": {"storage": "-1500m"}},
            [
                "spec.capacity[storage]: Invalid value: -2: must be a valid resource quantity",
                'spec.capacity[storage]: Invalid value: "-1500m": must be greater than zero',
            ],
        ),
        (
            {"local": {"path": "/a/../b"}},
            [
                'spec.local.path: Invalid value: "/a/../b": must not contain \'..\'',
                "spec.nodeAffinity: Required value: Local volume requires node affinity",
            ],
        ),
        (
            {"hostPath": {"path": "//"}, "persistentVolumeReclaimPolicy": "Recycle"},
            [
                "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a "
                "hostPath mount of '/'"
            ],
        ),
        (
            {"gcePersistentDisk": {"pdName": "", "partition": 256}, "cephfs": {}},
            [
                "spec.persistentDisk.pdName: Required value",
                "spec.persistentDisk.partition: Invalid value: 256: must be between 1 and 255, "
                "inclusive",
                "spec.cephFS: Forbidden: may not specify more than 1 volume type",
            ],
        ),
        (
            {"hostPath": {"path": "/x"}, "flexVolume": {"driver": ""}},
            ["spec.flexVolume.driver: Required value"],
        ),
        (
            {"csi": {"driver": "d", "nodePublishSecretRef": {"name": ""}}},
            [
                "spec.csi.volumeHandle: Required value",
                "spec.csi.nodePublishSecretRef.name: Required value",
                "spec.csi.nodePublishSecretRef.namespace: Required value",
            ],
        ),
        (
            {"hostPath": {"path": "/x"}, "volumeAttributesClassName": ""},
            [
                "spec.volumeAttributesClassName: Required value: an empty string is disallowed",
                "spec.csi: Required value: has to be specified when using "
                "volumeAttributesClassName",
            ],
        ),
        (
            {"glusterfs": {"endpoints": "e", "path": "p", "endpointsNamespace": ""}},
            [
                'spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace '
                "is set, it must be a valid namespace name"
            ],
        ),
        (
            {"azureFile": {"secretName": "s", "shareName": "s", "secretNamespace": ""}},
            ["spec.azureFile.secretNamespace: Required value"],
        ),
        (
            {"cinder": {"volumeID": "v", "secretRef": {"name": "s"}}},
            ["spec.cinder.secretRef.namespace: Required value"],
        ),
        (
            {"iscsi": {
                "targetPortal": "x" * 64, "iqn": "nope", "lun": 256, "chapAuthSession": True,
                "initiatorName": "iqn.2020-01.a"}},
            [
                f'spec.iscsi.targetportal: Invalid value: "{"x" * 64}": Total length of <volume '
                "name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName "
                "is specified.",
                'spec.iscsi.iqn: Invalid value: "nope": must be valid format',
                "spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive",
                "spec.iscsi.secretRef: Required value",
                'spec.iscsi.initiatorname: Invalid value: "iqn.2020-01.a": must be valid format',
            ],
        ),
    ],
)  # fmt: skip
def test_complaints(spec: Json, expected: list[str]) -> None:
    assert complaints(volume(**spec)) == expected


MOUNTED = {"volume.beta.kubernetes.io/mount-options": "ro"}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"nfs": {"server": "s", "path": "/"}}, []),
        (
            {"hostPath": {"path": "/x"}},
            [
                "metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not "
                "specify mount options for this volume type"
            ],
        ),
    ],
)
def test_few_sources_have_options_for_mounting(spec: Json, expected: list[str]) -> None:
    annotated = volume(**spec)
    annotated["metadata"]["annotations"] = MOUNTED
    assert complaints(annotated) == expected


def test_a_changed_volume_is_looked_at_twice() -> None:
    old, new = (
        volume(nfs={"server": "s", "path": "/"}, accessModes=modes) for modes in (["x"], [])
    )
    errors = map(str, persistent_volume_update(new, old))
    assert list(errors) == ["spec.accessModes: Required value"] * 2


@pytest.mark.parametrize(
    ("spec", "old", "expected"),
    [
        ({"csi": CSI, "nodeAffinity": AFFINITY}, {"csi": CSI}, []),
        (
            {"csi": CSI},
            {"csi": CSI, "nodeAffinity": AFFINITY},
            [
                "nodeAffinity: Invalid value: null: field is immutable, except for updating from "
                "beta label to GA"
            ],
        ),
        (
            {"csi": CSI, "nodeAffinity": {"required": {"nodeSelectorTerms": [{}]}}},
            {"csi": CSI, "nodeAffinity": AFFINITY},
            [
                'nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":[{'
                '"MatchExpressions":null,"MatchFields":null}]}}: field is immutable, except for '
                "updating from beta label to GA"
            ],
        ),
        (
            {"csi": CSI, "nodeAffinity": in_zone("topology.kubernetes.io/zone")},
            {"csi": CSI, "nodeAffinity": in_zone("failure-domain.beta.kubernetes.io/zone")},
            [],
        ),
        (
            {"csi": CSI},
            {"csi": CSI, "volumeAttributesClassName": "fast"},
            [
                "spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is "
                "forbidden"
            ],
        ),
    ],
)
def test_changes(spec: Json, old: Json, expected: list[str]) -> None:
    assert update_complaints(volume(**spec), volume(**old)) == expected


@pytest.mark.parametrize(
    ("label", "is_kept"),
    [("zone", True), ("failure-domain.beta.kubernetes.io/zone", False)],
)
def test_a_label_without_a_lasting_name_may_lose_its_key(label: str, is_kept: bool) -> None:
    """Upstream looks the new name up in a map, which has an empty one for those that have none."""
    old, new = (volume(csi=CSI, nodeAffinity=in_zone(one)) for one in (label, ""))
    told = update_complaints(new, old)
    assert any("name part must be non-empty" in one for one in told)
    assert any("immutable" in one for one in told) is not is_kept
