"""lightkube, typed by models and generic."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lightkube import ApiError, Client
from lightkube.codecs import load_all_yaml
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Node
from lightkube.types import PatchType

from celadon.testing import KubeApi
from tests.clients.manifests import DEFINITION, DEPLOYMENT

pytestmark = pytest.mark.thorough


@pytest.fixture
def light(api: KubeApi, space: str) -> Iterator[Client]:
    opened = api.admin.lightkube_client(space)
    yield opened
    opened._client._client.close()  # lightkube has no way to close it


def test_the_life_of_an_object(light: Client) -> None:
    made = light.create(ConfigMap(metadata=ObjectMeta(name="one"), data={"a": "1"}))
    assert made.metadata is not None
    made.data = {"a": "2"}
    assert light.replace(made).data == {"a": "2"}
    patched = light.patch(ConfigMap, "one", {"data": {"b": "3"}}, patch_type=PatchType.MERGE)
    assert patched.data == {"a": "2", "b": "3"}
    changes = [{"op": "remove", "path": "/data/a"}]
    assert light.patch(ConfigMap, "one", changes, patch_type=PatchType.JSON).data == {"b": "3"}
    light.delete(ConfigMap, "one")
    with pytest.raises(ApiError) as missing:
        light.get(ConfigMap, "one")
    assert missing.value.status.message == 'configmaps "one" not found'


def test_manifests_are_applied(light: Client) -> None:
    (web,) = load_all_yaml(DEPLOYMENT)
    assert isinstance(web, Deployment)
    applied = light.apply(web, field_manager="tests")
    assert isinstance(applied, Deployment)
    assert applied.spec is not None
    assert (applied.spec.replicas, applied.spec.revisionHistoryLimit) == (2, 10)
    scale = light.get(Deployment.Scale, "web")
    assert scale.spec is not None
    scale.spec.replicas = 4
    light.replace(scale, "web")
    found = light.get(Deployment, "web")
    assert found.spec is not None
    assert found.spec.replicas == 4


def test_lists_and_watches(light: Client) -> None:
    for name in ("a", "b", "c"):
        light.create(ConfigMap(metadata=ObjectMeta(name=name, labels={"x": name})))
    listed = light.list(ConfigMap, labels={"x": ["a", "b"]}, chunk_size=1)
    assert [one.metadata.name for one in listed if one.metadata] == ["a", "b"]
    seen = []
    for kind, one in light.watch(ConfigMap, server_timeout=5):
        assert one.metadata is not None
        seen.append((kind, one.metadata.name))
        if len(seen) == 3:
            break
    assert seen == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]


def test_waiting(light: Client, api: KubeApi, space: str) -> None:
    name = f"node-{space}"
    light.create(Node(metadata=ObjectMeta(name=name)))
    status = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    api.request("PATCH", f"/api/v1/nodes/{name}/status", status)
    assert light.wait(Node, name, for_conditions=["Ready"]).metadata is not None
    light.delete(Node, name)


def test_custom_resources(light: Client, space: str) -> None:
    text = DEFINITION.replace("widgets", "sprockets").replace("Widget", "Sprocket")
    text = text.replace("widget", "sprocket").replace("wd", "sp")
    (definition,) = load_all_yaml(text)
    light.create(definition)
    try:
        sprockets = create_namespaced_resource("example.com", "v1", "Sprocket", "sprockets")
        light.create(sprockets(metadata=ObjectMeta(name="s"), spec={"size": 3}))
        found = light.get(sprockets, "s")
        assert found["spec"] == {"size": 3}
        with pytest.raises(ApiError, match=r"spec\.size"):
            light.create(sprockets(metadata=ObjectMeta(name="t"), spec={"size": "x"}))
    finally:
        light.delete(type(definition), "sprockets.example.com")
