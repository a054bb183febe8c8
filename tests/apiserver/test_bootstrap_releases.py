"""What a new server of an older release has: what servers of these releases had."""

from __future__ import annotations

import pytest

from celadon.apiserver.bootstrap_objects import api_services
from celadon.kube import metadata
from celadon.kube.releases import answering_as
from celadon.kube.resources import known_resources
from tests.apiserver.bootstrap_differences import PLACES, differences
from tests.paths import shared

RELEASES = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35")


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", PLACES)
def test_a_server_of_the_release_has_them(kind: str, release: str) -> None:
    path = shared("releases", release, "bootstrap.json")
    assert not list(differences(path, release, kind))


def test_priorities_of_versions_that_older_releases_have() -> None:
    with answering_as("1.31"):
        made = list(api_services(known_resources(all_versions=True)))
    specs = {metadata.name(obj): obj["spec"] for obj in made}
    alpha = specs["v1alpha3.resource.k8s.io"]
    assert (alpha["groupPriorityMinimum"], alpha["versionPriority"]) == (15900, 9)
    assert specs["v1alpha1.authentication.k8s.io"]["versionPriority"] == 1
