"""Pods and templates of pods."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.fieldpath import FieldPath
from celadon.kube.pod_warnings import converted_apparmor, pod_warnings, template_warnings
from celadon.kube.releases import answering_as

APPARMOR = "container.apparmor.security.beta.kubernetes.io/c"
NULL = "a null labelSelector results in matching no pod"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def pod(spec: dict[str, Any] | None = None, /, **notes: str) -> dict[str, Any]:
    meta = {"name": "p", "annotations": notes}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], **(spec or {})}}


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ({}, []),
        (
            {"nodeSelector": {"beta.kubernetes.io/arch": "x", "a": "b"}},
            [
                "spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "
                '"kubernetes.io/arch" instead'
            ],
        ),
        (
            {"topologySpreadConstraints": [{"topologyKey": "beta.kubernetes.io/arch"}]},
            [
                "spec.topologySpreadConstraints[0].topologyKey: beta.kubernetes.io/arch is "
                'deprecated since v1.14; use "kubernetes.io/arch" instead',
                f"spec.topologySpreadConstraints[0].labelSelector: {NULL}",
            ],
        ),
        (
            {"volumes": [{"name": "v", "gitRepo": {}}, {"name": "s", "storageos": {}}]},
            [
                "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
                "spec.volumes[1].storageOS: deprecated in v1.22, non-functional in v1.25+",
            ],
        ),
        (
            {
                "volumes": [
                    {
                        "name": "v",
                        "ephemeral": {
                            "volumeClaimTemplate": {
                                "spec": {"resources": {"requests": {"storage": "1m"}}}
                            }
                        },
                    }
                ]
            },
            [
                "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: "
                'fractional byte value "1m" is invalid, must be an integer'
            ],
        ),
        (
            {"hostAliases": [{"ip": "1.1.1.1"}, {"ip": "1.1.1.1"}]},
            ['spec.hostAliases[1].ip: duplicate ip "1.1.1.1"'],
        ),
        (
            {"imagePullSecrets": [{"name": "a"}, {"name": "a"}, {}]},
            [
                'spec.imagePullSecrets[1].name: duplicate name "a"',
                'spec.imagePullSecrets[2].name: invalid empty name ""',
            ],
        ),
        (
            {"overhead": {"memory": "1m"}},
            ['spec.overhead[memory]: fractional byte value "1m" is invalid, must be an integer'],
        ),
        (
            {"terminationGracePeriodSeconds": -1},
            [
                "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and "
                "will be treated as 1"
            ],
        ),
        (
            {"affinity": {"podAffinity": {REQUIRED: [{}], PREFERRED: [{"weight": 1}]}}},
            [
                f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector: {NULL}",
                f"spec.affinity.podAffinity.{PREFERRED}[0].podAffinityTerm.labelSelector: {NULL}",
            ],
        ),
        (
            {"dnsConfig": {"nameservers": ["1.1.1.01"]}},
            [
                'spec.dnsConfig.nameservers[0]: non-standard IP address "1.1.1.01" is '
                'invalid: use "1.1.1.1"'
            ],
        ),
    ],
)
def test_specs(spec: dict[str, Any], want: list[str]) -> None:
    assert list(pod_warnings(pod(spec))) == want


@pytest.mark.parametrize(
    ("key", "spec", "want"),
    [
        (
            "scheduler.alpha.kubernetes.io/critical-pod",
            {},
            'non-functional in v1.16+; use the "priorityClassName" field instead',
        ),
        (
            "seccomp.security.alpha.kubernetes.io/pod",
            {},
            'non-functional in v1.27+; use the "seccompProfile" field instead',
        ),
        (
            "seccomp.security.alpha.kubernetes.io/pod",
            {"securityContext": {"seccompProfile": {}}},
            "",
        ),
        (
            "container.seccomp.security.alpha.kubernetes.io/c",
            {},
            'non-functional in v1.27+; use the "seccompProfile" field instead',
        ),
        ("container.seccomp.security.alpha.kubernetes.io/other", {}, ""),
        (APPARMOR, {}, 'deprecated since v1.30; use the "appArmorProfile" field instead'),
        (
            APPARMOR,
            {"containers": [{"name": "c", "securityContext": {"appArmorProfile": {}}}]},
            "",
        ),
    ],
)
def test_annotations_of_templates(key: str, spec: dict[str, Any], want: str) -> None:
    found = list(template_warnings(pod(spec, **{key: "x"}), FieldPath("spec", "template")))
    assert found == ([f"spec.template.metadata.annotations[{key}]: {want}"] if want else [])


def test_no_template_is_no_matter() -> None:
    assert not list(template_warnings(None, FieldPath("template")))


def test_a_name_that_makes_no_host_name() -> None:
    named = {**pod(), "metadata": {"name": "a.b"}}
    assert list(pod_warnings(named)) == [
        "metadata.name: this is used in the Pod's hostname, which can result in surprising "
        "behavior; a DNS label is recommended: [must not contain dots]"
    ]


@pytest.mark.parametrize(
    ("note", "spec", "warns"),
    [
        ("runtime/default", {}, True),
        ("nonsense", {}, True),
        ("runtime/default", {"os": {"name": "windows"}}, False),
        (
            "runtime/default",
            {"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}},
            False,
        ),
        (
            "localhost/p",
            {
                "securityContext": {
                    "appArmorProfile": {"type": "Localhost", "localhostProfile": "p"}
                }
            },
            False,
        ),
        (
            "localhost/q",
            {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}},
            True,
        ),
    ],
)
def test_annotations_that_become_fields(note: str, spec: dict[str, Any], warns: bool) -> None:
    sent = pod(spec, **{APPARMOR: note})
    text = f'metadata.annotations[{APPARMOR}]: deprecated since v1.30; use the "appArmorProfile"'
    assert list(converted_apparmor(sent)) == ([f"{text} field instead"] if warns else [])
    assert not list(pod_warnings(sent))


@pytest.mark.parametrize(
    ("note", "release", "warns"),
    [
        ("unconfined", "1.33", False),
        ("runtime/default", "1.33", False),
        ("unconfined", "1.34", False),
        ("runtime/default", "1.34", True),
    ],
)
def test_templates_whose_annotation_differs_warn_since_1_34(
    note: str, release: str, warns: bool
) -> None:
    template = pod(
        {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}}, **{APPARMOR: note}
    )
    with answering_as(release):
        found = list(template_warnings(template, FieldPath("spec", "template")))
    assert bool(found) == warns
