"""The least rights, by what the webhook does."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.webhook.installation import access_manifests
from celadon.webhook.webhook_rules import Certificates, InstallationSettings

FOLLOW = "list watch"


def rights(settings: InstallationSettings) -> set[tuple[str, str, str, str]]:
    """Kind of role, resource, verbs, names."""
    return {
        (one["kind"], resource, " ".join(rule["verbs"]), " ".join(rule.get("resourceNames", ())))
        for one in access_manifests(settings)
        for rule in one.get("rules", ())
        for resource in rule["resources"]
    }


CLUSTER = {
    ("ClusterRole", "mutatingadmissionpolicies", FOLLOW, ""),
    ("ClusterRole", "mutatingadmissionpolicybindings", FOLLOW, ""),
    ("ClusterRole", "validatingadmissionpolicies", FOLLOW, ""),
    ("ClusterRole", "validatingadmissionpolicybindings", FOLLOW, ""),
    ("ClusterRole", "namespaces", f"get {FOLLOW}", ""),
    ("ClusterRole", "customresourcedefinitions", FOLLOW, ""),
    ("ClusterRole", "subjectaccessreviews", "create", ""),
    ("Role", "configmaps", FOLLOW, ""),
}
OWN = {
    ("ClusterRole", "validatingwebhookconfigurations", f"{FOLLOW} patch", "celadon-webhook"),
    ("ClusterRole", "mutatingwebhookconfigurations", f"{FOLLOW} patch", "celadon-webhook"),
    ("Role", "secrets", "create", ""),
    ("Role", "secrets", f"{FOLLOW} update", "celadon-webhook-tls"),
    ("Role", "leases", "create", ""),
    ("Role", "leases", "get update", "celadon-webhook-tls"),
}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (InstallationSettings(certificates=Certificates.SECRET), set()),
        (InstallationSettings(certificates=Certificates.CERT_MANAGER), set()),
        (InstallationSettings(certificates=Certificates.OWN), OWN),
        (
            InstallationSettings(from_cluster=True, certificates=Certificates.SECRET),
            CLUSTER,
        ),
        (InstallationSettings(from_cluster=True, certificates=Certificates.OWN), CLUSTER | OWN),
        (
            InstallationSettings(from_cluster=True, events=True, params=("limits.example.com",)),
            CLUSTER
            | OWN
            | {
                ("ClusterRole", "events", "create patch", ""),
                ("ClusterRole", "limits", FOLLOW, ""),
            },
        ),
    ],
)
def test_rights(settings: InstallationSettings, expected: Any) -> None:
    assert rights(settings) == expected


def test_every_role_is_bound_to_the_account_and_nobody_else() -> None:
    settings = InstallationSettings(from_cluster=True, namespace="infra")
    found = list(access_manifests(settings))
    bindings = [one for one in found if one["kind"].endswith("Binding")]
    assert [one["roleRef"]["kind"] for one in bindings] == ["ClusterRole", "Role"]
    for one in bindings:
        assert one["subjects"] == [
            {"kind": "ServiceAccount", "name": "celadon-webhook", "namespace": "infra"}
        ]
    assert not found[0]["automountServiceAccountToken"]


def test_all_groups_are_right() -> None:
    settings = InstallationSettings(
        from_cluster=True, certificates=Certificates.OWN, events=True, params=("x.example.com",)
    )
    groups = {
        resource: rule["apiGroups"]
        for one in access_manifests(settings)
        for rule in one.get("rules", ())
        for resource in rule["resources"]
    }
    assert groups["secrets"] == groups["namespaces"] == groups["configmaps"] == [""]
    assert groups["leases"] == ["coordination.k8s.io"]
    assert groups["events"] == [""]
    assert groups["x"] == ["example.com"]
