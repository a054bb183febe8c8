"""PersistentVolumeClaimResize and DenyServiceExternalIPs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.admission.plugins.asking import asked, obj, refusal, world


def claim(storage: str, name: str | None = "fast") -> dict[str, Any]:
    spec = {"storageClassName": name, "resources": {"requests": {"storage": storage}}}
    return obj("PersistentVolumeClaim", "c", spec=spec)


FAST = obj("StorageClass", "fast", "storage.k8s.io/v1", allowVolumeExpansion=True)
SLOW = obj("StorageClass", "slow", "storage.k8s.io/v1")
TEXT = (
    '403 persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized '
    "and the storageclass that provisions the pvc must support resize"
)


@pytest.mark.parametrize(
    ("new", "old", "text"),
    [
        (claim("2Gi"), claim("1Gi"), ""),
        (claim("1024Mi", "slow"), claim("1Gi", "slow"), ""),
        (claim("2Gi", "slow"), claim("1Gi", "slow"), TEXT),
        (claim("2Gi", "none"), claim("1Gi", "none"), TEXT),
        (claim("2Gi", None), claim("1Gi", None), TEXT),
        (claim("2Gi"), claim("1Gi", "slow"), TEXT),
    ],
)
def test_claims(new: dict[str, Any], old: dict[str, Any], text: str) -> None:
    assert refusal("PersistentVolumeClaimResize", asked(new, old), world(FAST, SLOW)) == text


@pytest.mark.parametrize(
    ("new", "old", "denied"),
    [
        ([], None, False),
        (["1.1.1.1"], None, True),
        (["1.1.1.1"], ["1.1.1.1", "2.2.2.2"], False),
        (["1.1.1.1"], ["2.2.2.2"], True),
    ],
)
def test_external_addresses(new: list[str], old: list[str] | None, denied: bool) -> None:
    before = None if old is None else obj("Service", "s", spec={"externalIPs": old})
    found = refusal(
        "DenyServiceExternalIPs", asked(obj("Service", "s", spec={"externalIPs": new}), before)
    )
    text = '403 services "s" is forbidden: Use of external IPs is denied by admission control'
    assert found == (text if denied else "")


def annotated(storage: str, annotation: str, name: str | None) -> dict[str, Any]:
    found = claim(storage, name)
    found["metadata"]["annotations"] = {"volume.beta.kubernetes.io/storage-class": annotation}
    return found


@pytest.mark.parametrize(
    ("new", "old", "text"),
    [
        (annotated("2Gi", "fast", None), annotated("1Gi", "fast", None), ""),
        (annotated("2Gi", "fast", "slow"), annotated("1Gi", "fast", "none"), ""),
        (annotated("2Gi", "slow", "fast"), annotated("1Gi", "slow", "fast"), TEXT),
        (annotated("2Gi", "", "fast"), annotated("1Gi", "", "fast"), TEXT),
        (annotated("2Gi", "fast", None), claim("1Gi"), ""),
        (obj("PersistentVolumeClaim", "c"), claim("1Gi"), ""),
        (claim("2Gi"), obj("PersistentVolumeClaim", "c"), TEXT),
        (claim("2Gi"), obj("PersistentVolumeClaim", "c", spec={"storageClassName": "fast"}), ""),
        (claim("2Gi"), None, ""),
    ],
)
def test_the_annotation_comes_before_the_field(new: Any, old: Any, text: str) -> None:
    assert refusal("PersistentVolumeClaimResize", asked(new, old), world(FAST, SLOW)) == text


def test_expansion_must_be_allowed_outright() -> None:
    around = world(obj("StorageClass", "fast", "storage.k8s.io/v1", allowVolumeExpansion=False))
    assert refusal("PersistentVolumeClaimResize", asked(claim("2Gi"), claim("1Gi")), around) == TEXT
