"""Group, version, kind, resource: parsing and printing."""

from __future__ import annotations

import pytest

from celadon.kube.names import (
    ApiVersionError,
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    parse_api_version,
)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("v1", ("", "v1")),
        ("apps/v1", ("apps", "v1")),
        ("", ("", "")),
        ("/", ("", "")),
        ("apps/", ("apps", "")),
    ],
)
def test_parse_api_version(text: str, want: tuple[str, str]) -> None:
    assert parse_api_version(text) == want


def test_too_many_slashes() -> None:
    with pytest.raises(ApiVersionError, match=r"^unexpected GroupVersion string: a/b/c$"):
        parse_api_version("a/b/c")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (GroupVersion("apps", "v1"), "apps/v1"),
        (GroupVersion("", "v1"), "v1"),
        (GroupKind("apps", "Deployment"), "Deployment.apps"),
        (GroupKind("", "Pod"), "Pod"),
        (GroupResource("apps", "deployments"), "deployments.apps"),
        (GroupResource("", "pods"), "pods"),
        (GroupVersionKind("apps", "v1", "Deployment"), "apps/v1, Kind=Deployment"),
        (GroupVersionKind("", "v1", "Pod"), "/v1, Kind=Pod"),
        (GroupVersionResource("apps", "v1", "deployments"), "apps/v1, Resource=deployments"),
        (GroupVersionResource("", "v1", "pods"), "/v1, Resource=pods"),
    ],
)
def test_printed(name: object, text: str) -> None:
    assert str(name) == text


def test_parts() -> None:
    kind = GroupVersionKind("apps", "v1", "Deployment")
    assert (kind.group_version, kind.group_kind) == (("apps", "v1"), ("apps", "Deployment"))
    assert kind.api_version == "apps/v1"
    resource = GroupVersionResource("", "v1", "pods")
    assert (resource.group_version, resource.group_resource) == (("", "v1"), ("", "pods"))
    assert resource.api_version == "v1"
