"""The hash of a pod template: the same as that of clusters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube import JsonObject
from celadon.kube.releases import answering_as
from celadon.kube.template_hashes import checksum, printed, template_hash

HASHES = [
    (
        {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {
                        "name": "app",
                        "image": "img:1",
                        "resources": {},
                        "terminationMessagePath": "/dev/termination-log",
                        "terminationMessagePolicy": "File",
                        "imagePullPolicy": "IfNotPresent",
                    }
                ],
                "restartPolicy": "Always",
                "terminationGracePeriodSeconds": 30,
                "dnsPolicy": "ClusterFirst",
                "securityContext": {},
                "schedulerName": "default-scheduler",
            },
        },
        "7c4f85d687",
        "84c97578c8",
    ),
    (
        {
            "metadata": {
                "labels": {"b": "2", "a": "1"},
                "annotations": {"x.y/z": 'a "quoted"\ntext, ü'},
            },
            "spec": {"containers": [{"name": "c"}]},
        },
        "59f8c6fd9b",
        "7d6b57b669",
    ),
    (
        {
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "resources": {
                            "requests": {"cpu": "1500m", "memory": "1Gi", "x.y/z": "0"},
                            "limits": {
                                "memory": "8Gi",
                                "x.y/big": "12345678901234567890",
                                "ephemeral-storage": "9000Pi",
                            },
                        },
                    }
                ]
            }
        },
        "b5c8956bf",
        "6dc47848d8",
    ),
    (
        {
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "ports": [{"containerPort": 80, "protocol": "TCP"}],
                        "livenessProbe": {"httpGet": {"path": "/", "port": "http"}},
                        "readinessProbe": {"tcpSocket": {"port": 8080}},
                        "env": [
                            {"name": "A", "value": "b"},
                            {
                                "name": "B",
                                "valueFrom": {
                                    "configMapKeyRef": {"name": "m", "key": "k", "optional": False}
                                },
                            },
                        ],
                    }
                ]
            }
        },
        "6879c6b897",
        "7f8d8bcf9b",
    ),
    (
        {
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "securityContext": {
                            "capabilities": {"add": ["NET_ADMIN", "SYS_TIME"]},
                            "runAsUser": 0,
                            "privileged": True,
                        },
                    }
                ],
                "volumes": [
                    {"name": "v", "emptyDir": {}},
                    {"name": "s", "secret": {"secretName": "s", "defaultMode": 420}},
                ],
                "nodeSelector": {"a": "b"},
                "tolerations": [{"operator": "Exists"}],
            }
        },
        "5f5fd97768",
        "577c49958f",
    ),
    (
        {
            "spec": {
                "containers": [{"name": "c"}],
                "affinity": {
                    "podAntiAffinity": {
                        "preferredDuringSchedulingIgnoredDuringExecution": [
                            {
                                "weight": 1,
                                "podAffinityTerm": {
                                    "labelSelector": {"matchLabels": {"a": "b"}},
                                    "topologyKey": "zone",
                                },
                            }
                        ]
                    }
                },
                "overhead": {"cpu": "10m"},
                "topologySpreadConstraints": [
                    {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
                ],
            }
        },
        "67878ccf49",
        "74f7c5d5b4",
    ),
]
"""Templates, their hashes by Kubernetes 1.36, and these after one collision."""


@pytest.mark.parametrize(("template", "digest", "collided"), HASHES)
def test_hashes_are_those_of_a_cluster(template: JsonObject, digest: str, collided: str) -> None:
    assert template_hash(template) == digest
    assert template_hash(template, 1) == collided


@pytest.mark.parametrize(
    ("release", "has", "has_not"),
    [
        ("1.30", "v1.ClaimSource", "ImageVolumeSource"),
        ("1.31", "ImageVolumeSource", "SELinuxChangePolicy"),
        ("1.34", "HostnameOverride", "WorkloadRef"),
        ("1.35", "WorkloadRef", "SchedulingGroup"),
        ("1.36", "SchedulingGroup", "WorkloadRef"),
        ("1.37", "SchedulingGroup", "WorkloadRef"),
    ],
)
def test_structures_are_those_of_the_release(release: str, has: str, has_not: str) -> None:
    template: JsonObject = {
        "spec": {
            "containers": [],
            "volumes": [{"name": "v", "emptyDir": {}}],
            "securityContext": {},
            "resourceClaims": [{"name": "c"}],
        }
    }
    with answering_as(release):
        text = printed(template)
    assert has in text
    assert has_not not in text


def test_empty_lists_and_maps_are_none() -> None:
    bare: JsonObject = {"spec": {"containers": [{"name": "c"}]}}
    empty: JsonObject = {
        "metadata": {"labels": {}},
        "spec": {"containers": [{"name": "c", "args": [], "resources": {"limits": {}}}]},
    }
    assert template_hash(bare) == template_hash(empty)


@given(
    st.lists(st.one_of(st.sampled_from([b"", b"a", b"Name:(string)web"]), st.binary(max_size=99)))
)
def test_a_checksum_by_words_is_that_of_the_bytes(words: list[bytes]) -> None:
    text = b" ".join(words)
    assert checksum(text) == _of_bytes(text)


def test_so_it_is_of_the_same_words_behind_many_beginnings() -> None:
    """Where a word was seen behind some low bytes, all others are worked out together."""
    for number in range(300):
        text = b"%d  Name:(string)web {Image:(string)\xff}" % number
        assert checksum(text) == _of_bytes(text)


def _of_bytes(text: bytes) -> int:
    digest = 0x811C9DC5
    for byte in text:
        digest = ((digest ^ byte) * 0x01000193) % (1 << 32)
    return digest


def test_an_amount_of_more_digits_than_python_reads() -> None:
    hashes = set()
    for amount in ("9" * 5_000, "9" * 5_001, "9" * 100_000):
        container = {"name": "a", "resources": {"limits": {"cpu": amount}}}
        hashes.add(template_hash({"spec": {"containers": [container]}}))
    assert len(hashes) == 3
