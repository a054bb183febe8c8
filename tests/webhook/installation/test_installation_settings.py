"""What follows from settings."""

from __future__ import annotations

from celadon.webhook.webhook_rules import Certificates, InstallationSettings


def test_exclusions_name_each_namespace_once() -> None:
    settings = InstallationSettings(namespace="a", excluded_namespaces=("b", "a"))
    assert settings.exclusions == ("a", "b")
    assert InstallationSettings(excludes_own_namespace=False).exclusions == ("kube-system",)


def test_who_talks_to_the_api_server() -> None:
    assert not InstallationSettings(certificates=Certificates.SECRET).asks_cluster
    assert InstallationSettings(from_cluster=True).asks_cluster
    assert InstallationSettings(certificates=Certificates.OWN).asks_cluster


def test_whether_the_api_server_will_know_the_authority() -> None:
    assert InstallationSettings().can_be_asked
    assert InstallationSettings(certificates=Certificates.CERT_MANAGER).can_be_asked
    assert not InstallationSettings(certificates=Certificates.SECRET).can_be_asked
    assert InstallationSettings(certificates=Certificates.SECRET, ca_bundle="PEM").can_be_asked
