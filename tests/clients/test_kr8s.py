"""kr8s, which asks for whatever kinds it is asked for."""

from __future__ import annotations

from collections.abc import Iterator

import kr8s
import pytest
import yaml
from kr8s._async_utils import Portal
from kr8s.objects import ConfigMap, Deployment, Pod, new_class

from celadon.testing import KubeApi
from tests.clients.manifests import DEFINITION

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore:Kubernetes version .* is not supported:UserWarning"),
]


@pytest.fixture(scope="module")
def kr8s_api(api: KubeApi) -> Iterator[kr8s.Api]:
    opened = api.admin.kr8s_api()
    yield opened
    session = opened._session  # kr8s has no way to close it
    if session is not None:
        Portal().call(session.aclose)


def config_map(space: str, name: str) -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": space}, "data": {"a": "1"}}


def test_the_life_of_an_object(kr8s_api: kr8s.Api, space: str) -> None:
    one = ConfigMap(config_map(space, "one"), api=kr8s_api)
    one.create()
    assert one.exists()
    one.patch({"data": {"b": "2"}})
    assert one.data == {"a": "1", "b": "2"}
    one.label({"x": "y"})
    assert one.labels == {"x": "y"}
    found = list(kr8s_api.get("configmaps", namespace=space, label_selector={"x": "y"}))
    assert [each.name for each in found] == ["one"]
    one.delete()
    assert not one.exists()
    with pytest.raises(kr8s.NotFoundError):
        ConfigMap.get("one", namespace=space, api=kr8s_api)


def test_scaling_and_waiting(kr8s_api: kr8s.Api, space: str) -> None:
    labels = {"app": "web"}
    pod = {"containers": [{"name": "main", "image": "nginx:1"}]}
    web = Deployment(
        {
            "metadata": {"name": "web", "namespace": space},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
        },
        api=kr8s_api,
    )
    web.create()
    web.patch({"spec": {"replicas": 3}})
    assert web.replicas == 3
    one = Pod({"metadata": {"name": "one", "namespace": space}, "spec": pod}, api=kr8s_api)
    one.create()
    conditions = [{"type": kind, "status": "True"} for kind in ("Ready", "ContainersReady")]
    ready = {"status": {"phase": "Running", "conditions": conditions}}
    one.patch(ready, subresource="status")
    one.wait("condition=Ready", timeout=300)
    assert one.ready()


def test_watching(kr8s_api: kr8s.Api, space: str) -> None:
    ConfigMap(config_map(space, "one"), api=kr8s_api).create()
    for kind, found in kr8s_api.watch("configmaps", namespace=space):
        assert (kind, found.name) == ("ADDED", "one")
        break


def test_kinds_that_it_does_not_know(kr8s_api: kr8s.Api, api: KubeApi, space: str) -> None:
    definition = DEFINITION.replace("widgets", "gadgets").replace("Widget", "Gadget")
    definition = definition.replace("widget", "gadget").replace("wd", "gd")
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    made = kr8s.objects.object_from_spec(yaml.safe_load(definition), api=kr8s_api)
    made.create()
    try:
        gadget = new_class("Gadget", "example.com/v1", namespaced=True)
        one = gadget(
            {"metadata": {"name": "g", "namespace": space}, "spec": {"size": 3}}, api=kr8s_api
        )
        one.create()
        found = list(kr8s_api.get("gadgets.example.com", namespace=space))
        assert [each.spec.size for each in found] == [3]
    finally:
        api.request("DELETE", f"{path}/gadgets.example.com")


def test_who_and_what(kr8s_api: kr8s.Api) -> None:
    assert kr8s_api.version()["gitVersion"] == "v1.36.0"
    assert any(one["name"] == "deployments" for one in kr8s_api.api_resources())
