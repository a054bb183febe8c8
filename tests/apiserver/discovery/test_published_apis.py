"""Groups, versions and resources in the order in which clients see them."""

from __future__ import annotations

from celadon.apiserver.discovery.discovery_documents import storage_version_hash, version_rank
from tests.apiserver.discovery.catalogues import definition, published


def test_custom_groups_come_after_the_others_by_name() -> None:
    apis = published(definition("z.io", "as", "v1"), definition("a.io", "bs", "v1"))
    names = [group.name for group in apis.groups]
    assert names[:3] == ["apiregistration.k8s.io", "apps", "events.k8s.io"]
    assert names[-3:] == ["flowcontrol.apiserver.k8s.io", "a.io", "z.io"]
    assert [group.custom for group in apis.groups[-3:]] == [False, True, True]


def test_only_what_is_enabled() -> None:
    assert published().group("storagemigration.k8s.io") is None
    group = published(all_versions=True).group("storagemigration.k8s.io")
    assert group is not None
    assert [str(one.group_version) for one in group.versions] == ["storagemigration.k8s.io/v1beta1"]


def test_versions_of_definitions_are_united_and_sorted() -> None:
    apis = published(
        definition("a.io", "as", "v1beta1", "v2"), definition("a.io", "bs", "v1", "other", "v10")
    )
    group = apis.group("a.io")
    assert group is not None
    versions = [one.group_version.version for one in group.versions]
    assert versions == ["v10", "v2", "v1", "v1beta1", "other"]


def test_ranks_of_versions() -> None:
    wanted = ["v11", "v2", "v1", "v0", "v3beta1", "v1beta2", "v1beta1", "v1alpha1", "a1", "vx"]
    assert sorted(wanted, key=version_rank) == wanted


def test_unserved_versions_are_not_published() -> None:
    unserved = definition("a.io", "as", "v1")
    unserved["spec"]["versions"][0]["served"] = False
    assert published(unserved).group("a.io") is None


def test_hashes_of_storage_versions() -> None:
    (resource,) = [
        one
        for one in published(definition("cdisc.example.com", "widgets", "v1")).catalog
        if one.custom
    ]
    assert storage_version_hash(resource) == "1YMZ0mjv9mo="
