"""Jobs, autoscalers, claims, secrets and other kinds with steps of their own."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.authorization import User
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.names import GroupVersionKind, parse_api_version
from celadon.kube.registry.create import admit_form
from celadon.kube.registry.decoded_object import drafted
from celadon.kube.registry.update import prepare_for_update
from celadon.kube.schemas.value_decoding import DecodeError

CONTEXT = DefaultingContext(
    uid="U",
    now="2026-01-01T00:00:00Z",
    user=User("alice", groups=("devs",), extra={"k": ("v",)}),
)


def admitted(kind: str, **obj: Any) -> dict[str, Any]:
    api_version, _, name = kind.rpartition("/")
    return admit_form(obj, GroupVersionKind(*parse_api_version(api_version), name), CONTEXT)


UID_LABELS = {
    "job-name": "j",
    "batch.kubernetes.io/job-name": "j",
    "controller-uid": "U",
    "batch.kubernetes.io/controller-uid": "U",
}


def test_job_labels_show_in_both_places_when_the_template_has_some() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {}}
    job = admitted("batch/v1/Job", metadata={"name": "j"}, spec={"template": template})
    assert job["metadata"]["labels"] == {"a": "b", **UID_LABELS}
    assert job["spec"]["template"]["metadata"]["labels"] == {"a": "b", **UID_LABELS}
    assert template == {"metadata": {"labels": {"a": "b"}}, "spec": {}}
    bare = admitted("batch/v1/Job", metadata={"name": "j"}, spec={"template": {"spec": {}}})
    assert "labels" not in bare["metadata"]
    assert bare["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "U"}}


def test_manual_selector() -> None:
    spec = {"manualSelector": True, "template": {"spec": {}}}
    job = admitted("batch/v1/Job", metadata={"name": "j"}, spec=spec)
    assert "selector" not in job["spec"]


def test_secret_string_data() -> None:
    secret = admitted("v1/Secret", stringData={"a": "é", "b": "2"}, data={"a": "AA==", "c": "AA=="})
    assert "stringData" not in secret
    assert secret["data"] == {"a": "w6k=", "b": "Mg==", "c": "AA=="}


def test_limit_range() -> None:
    limits = admitted(
        "v1/LimitRange",
        spec={
            "limits": [
                {"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "1500u"}},
                {"type": "Pod", "max": {"cpu": "2"}},
            ]
        },
    )
    first, second = limits["spec"]["limits"]
    assert first["default"] == {"cpu": "2"}
    assert first["defaultRequest"] == {"cpu": "2", "memory": "2m"}
    assert "default" not in second
    assert limits["metadata"]["name"] == "U"


@pytest.mark.parametrize(
    ("spec", "source", "reference"),
    [
        ({"dataSource": {"kind": "PersistentVolumeClaim", "name": "a"}}, "a", "a"),
        ({"dataSource": {"kind": "Other", "name": "a"}}, None, None),
        ({"dataSourceRef": {"kind": "Other", "name": "a"}}, "a", "a"),
        ({"dataSourceRef": {"kind": "Other", "name": "a", "namespace": "n"}}, None, None),
        (
            {
                "dataSource": {
                    "apiGroup": "snapshot.storage.k8s.io",
                    "kind": "VolumeSnapshot",
                    "name": "a",
                }
            },
            "a",
            "a",
        ),
    ],
)
def test_claim_sources(spec: dict[str, Any], source: str | None, reference: str | None) -> None:
    made = admitted("v1/PersistentVolumeClaim", spec=spec)["spec"]
    assert made.get("dataSource", {}).get("name") == source
    assert made.get("dataSourceRef", {}).get("name") == reference


def test_certificate_requests_are_for_the_requester() -> None:
    made = admitted(
        "certificates.k8s.io/v1/CertificateSigningRequest",
        spec={"username": "mallory", "uid": "1", "request": "AA=="},
    )["spec"]
    assert made["username"] == "alice"
    assert "uid" not in made
    assert (made["groups"], made["extra"]) == (["devs"], {"k": ["v"]})


def test_crd_status() -> None:
    made = admitted(
        "apiextensions.k8s.io/v1/CustomResourceDefinition",
        spec={
            "group": "example.com",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1"}, {"name": "v2", "storage": True}],
        },
        status={"conditions": [{"type": "x"}]},
    )
    assert made["spec"]["names"]["singular"] == "widget"
    assert made["spec"]["names"]["listKind"] == "WidgetList"
    assert made["status"] == {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": ["v2"],
    }


def test_api_service_status() -> None:
    kind = "apiregistration.k8s.io/v1/APIService"
    assert admitted(kind, spec={})["status"]["conditions"][0]["reason"] == "Local"
    assert admitted(kind, spec={"service": {"name": "s"}})["status"] == {}


PREFIX = "autoscaling.alpha.kubernetes.io/"


@pytest.mark.parametrize(
    ("annotations", "kept", "target"),
    [
        ({}, None, 80),
        ({PREFIX + "metrics": "nonsense", PREFIX + "conditions": "[]"}, None, 80),
        (
            {PREFIX + "metrics": '[ {"type": "Pods"} ]'},
            {PREFIX + "metrics": '[{"type":"Pods"}]'},
            None,
        ),
        ({"own": "x", PREFIX + "behavior": "[]"}, {"own": "x"}, 80),
        (
            {
                PREFIX + "metrics": '[{"type":"Resource","resource":{"name":"cpu",'
                '"targetAverageUtilization":50}}]'
            },
            None,
            50,
        ),
    ],
)
def test_hpa_v1(annotations: dict[str, str], kept: Any, target: int | None) -> None:
    made = admitted(
        "autoscaling/v1/HorizontalPodAutoscaler",
        metadata={"annotations": annotations},
        spec={"maxReplicas": 3},
    )
    assert made["metadata"].get("annotations") == kept
    assert made["spec"].get("targetCPUUtilizationPercentage") == target


@pytest.mark.parametrize(
    ("kind", "key", "sent", "want"),
    [
        ("apps/v1/DaemonSet", "deprecated.daemonset.template.generation", None, "1"),
        ("apps/v1/DaemonSet", "deprecated.daemonset.template.generation", "+7", "7"),
        ("apps/v1/Deployment", "deprecated.deployment.rollback.to", "007", "7"),
        ("apps/v1/Deployment", "deprecated.deployment.rollback.to", None, None),
    ],
)
def test_generation_annotations(kind: str, key: str, sent: str | None, want: str | None) -> None:
    meta = {"annotations": {key: sent}} if sent else {}
    made = admitted(kind, metadata=meta, spec={"template": {"spec": {}}})
    assert made["metadata"].get("annotations", {}).get(key) == want


@pytest.mark.parametrize(
    ("sent", "subresource", "want"),
    [
        ({"spec": {"template": {"spec": {"hostname": "h"}}}}, "", "5"),
        ({"spec": {"template": {"spec": {}}}}, "", "4"),
        ({"metadata": {"annotations": {"deprecated.daemonset.template.generation": "9"}}}, "", "4"),
        ({"status": {"numberReady": 1}}, "status", "4"),
    ],
)
def test_templates_of_daemon_sets_are_counted(
    sent: dict[str, Any], subresource: str, want: str
) -> None:
    key, kind = (
        "deprecated.daemonset.template.generation",
        GroupVersionKind("apps", "v1", "DaemonSet"),
    )
    spec: dict[str, Any] = {"template": {"spec": {}}}
    old = admitted("apps/v1/DaemonSet", metadata={"annotations": {key: "4"}}, spec=spec)
    new = {"metadata": {}, "spec": spec, **sent}
    made = prepare_for_update(drafted(new, kind), old, subresource=subresource)
    assert made["metadata"]["annotations"] == {key: want}


@pytest.mark.parametrize(
    ("text", "why"), [("x", "invalid syntax"), ("9" * 30, "value out of range")]
)
def test_generation_annotations_refused(text: str, why: str) -> None:
    key = "deprecated.daemonset.template.generation"
    with pytest.raises(DecodeError) as error:
        admitted("apps/v1/DaemonSet", metadata={"annotations": {key: text}}, spec={})
    assert str(error.value) == f'strconv.ParseInt: parsing "{text}": {why}'
    assert error.value.path.steps == ("metadata", "annotations", key)


def test_the_metadata_of_custom_resources_is_decoded() -> None:
    with pytest.raises(DecodeError) as error:
        admitted("example.com/v1/Widget", metadata={"labels": {"a": 1}})
    assert error.value.path.steps == ("metadata", "labels", "a")
