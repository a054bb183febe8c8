"""What follows from settings."""

from __future__ import annotations

from celadon.webhook.installation.installation_settings import Certificates, InstallationSettings


def test_exclusions_name_each_namespace_once() -> None:
    settings = InstallationSettings(namespace="a", excluded_namespaces=("b", "a"))
    assert settings.exclusions == ("a", "b")
    assert InstallationSettings(excludes_own_namespace=False).exclusions == ("kube-system",)


def test_who_talks_to_the_api_server() -> None:
    assert not InstallationSettings().asks_cluster
    assert InstallationSettings(from_cluster=True).asks_cluster
    assert InstallationSettings(certificates=Certificates.OWN).asks_cluster
