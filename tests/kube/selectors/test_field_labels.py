"""The fields a selector may name, and the words for those it may not."""

from __future__ import annotations

import pytest

from celadon.kube.names import GroupVersionResource
from celadon.kube.resources.api_resources import Resource, known_resources
from celadon.kube.selectors import SelectorError, parse_field_selector, resolve_fields

WIDGETS = {
    "spec": {
        "group": "example.com",
        "scope": "Cluster",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [{"name": "v1", "served": True, "storage": True}],
    }
}


def resource(group: str, name: str) -> Resource:
    catalog = known_resources().with_crds([WIDGETS])
    found = catalog.by_gvr(GroupVersionResource(group, "v1", name))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("group", "name", "text", "message"),
    [
        (
            "",
            "configmaps",
            "foo=bar",
            '"foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
        ("", "pods", "spec.image=x", "field label not supported: spec.image"),
        ("batch", "jobs", "spec.x=y", 'field label "spec.x" not supported for Job'),
        (
            "resource.k8s.io",
            "resourceslices",
            "spec.x=y",
            "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.x",
        ),
        (
            "example.com",
            "widgets",
            "metadata.namespace=y",
            "field label not supported: metadata.namespace",
        ),
    ],
)
def test_refused(group: str, name: str, text: str, message: str) -> None:
    with pytest.raises(SelectorError) as error:
        resolve_fields(parse_field_selector(text), resource(group, name))
    assert str(error.value) == message


def test_aliases() -> None:
    selector = parse_field_selector("spec.host=n,status.phase!=Running")
    assert str(resolve_fields(selector, resource("", "pods"))) == (
        "spec.nodeName=n,status.phase!=Running"
    )
