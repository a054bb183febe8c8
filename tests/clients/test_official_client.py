"""The official library for Python: typed, dynamic, watching. `make test` has this session."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from queue import SimpleQueue

import pytest
from kubernetes import client, dynamic, utils, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.informer import ADDED, DELETED, MODIFIED, SharedInformer

from celadon.testing import KubeApi


@pytest.fixture(scope="module")
def connection(api: KubeApi) -> Iterator[client.ApiClient]:
    with api.admin.kubernetes_client() as opened:
        yield opened


@pytest.fixture
def core(connection: client.ApiClient) -> client.CoreV1Api:
    return client.CoreV1Api(connection)


def config_map(name: str, **data: str) -> client.V1ConfigMap:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"a": "b"}), data=data)


def deployment(name: str) -> client.V1Deployment:
    labels = {"app": name}
    container = client.V1Container(name="main", image="nginx:1")
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container])
    )
    spec = client.V1DeploymentSpec(
        replicas=2, selector=client.V1LabelSelector(match_labels=labels), template=template
    )
    return client.V1Deployment(metadata=client.V1ObjectMeta(name=name), spec=spec)


def test_the_life_of_an_object(core: client.CoreV1Api, space: str) -> None:
    made = core.create_namespaced_config_map(space, config_map("a", color="green"))
    assert made.metadata.creation_timestamp.tzinfo is not None
    made.data["color"] = "red"
    changed = core.replace_namespaced_config_map("a", space, made)
    assert changed.data == {"color": "red"}
    with pytest.raises(ApiException) as conflict:
        core.replace_namespaced_config_map("a", space, made)
    assert (conflict.value.status, json.loads(conflict.value.body)["reason"]) == (409, "Conflict")
    patched = core.patch_namespaced_config_map("a", space, {"data": {"size": "large"}})
    assert patched.data == {"color": "red", "size": "large"}
    core.delete_namespaced_config_map("a", space)
    with pytest.raises(ApiException) as missing:
        core.read_namespaced_config_map("a", space)
    assert json.loads(missing.value.body)["message"] == 'configmaps "a" not found'


def test_lists_in_pages(core: client.CoreV1Api, space: str) -> None:
    for name in "abcde":
        core.create_namespaced_config_map(space, config_map(name))
    names, token = [], None
    while token != "":
        page = core.list_namespaced_config_map(
            space, limit=2, _continue=token, label_selector="a=b"
        )
        names.append([one.metadata.name for one in page.items])
        token = page.metadata._continue or ""
    assert names == [["a", "b"], ["c", "d"], ["e"]]
    core.delete_collection_namespaced_config_map(space, label_selector="a=b")
    assert core.list_namespaced_config_map(space, label_selector="a=b").items == []


def test_typed_objects_of_other_groups(connection: client.ApiClient, space: str) -> None:
    apps = client.AppsV1Api(connection)
    made = apps.create_namespaced_deployment(space, deployment("web"))
    assert made.spec.strategy.rolling_update.max_surge == "25%"
    scale = apps.read_namespaced_deployment_scale("web", space)
    scale.spec.replicas = 5
    assert apps.replace_namespaced_deployment_scale("web", space, scale).spec.replicas == 5
    made.status = client.V1DeploymentStatus(ready_replicas=1, replicas=5)
    made.metadata.resource_version = None
    assert apps.patch_namespaced_deployment_status("web", space, made).status.ready_replicas == 1
    with pytest.raises(ApiException) as invalid:
        apps.patch_namespaced_deployment("web", space, {"spec": {"replicas": -1}})
    assert invalid.value.status == 422


def test_watches(core: client.CoreV1Api, space: str) -> None:
    listed = core.list_namespaced_config_map(space)
    events = watch.Watch().stream(
        core.list_namespaced_config_map,
        space,
        resource_version=listed.metadata.resource_version,
        timeout_seconds=20,
    )
    core.create_namespaced_config_map(space, config_map("seen"))
    core.patch_namespaced_config_map("seen", space, {"data": {"x": "y"}})
    core.delete_namespaced_config_map("seen", space)
    seen = [
        (one["type"], one["object"].metadata.name, one["object"].data)
        for one in itertools.islice(events, 3)
    ]
    assert seen == [
        ("ADDED", "seen", None),
        ("MODIFIED", "seen", {"x": "y"}),
        ("DELETED", "seen", {"x": "y"}),
    ]


def test_a_watch_from_a_version_long_gone(core: client.CoreV1Api, space: str) -> None:
    events = watch.Watch().stream(
        core.list_namespaced_config_map, space, resource_version="1", timeout_seconds=5
    )
    with pytest.raises(ApiException) as gone:
        list(events)
    assert gone.value.status == 410


def test_an_informer_keeps_up(core: client.CoreV1Api, space: str) -> None:
    core.create_namespaced_config_map(space, config_map("before"))
    seen: SimpleQueue[tuple[str, str]] = SimpleQueue()
    informer = SharedInformer(core.list_namespaced_config_map, namespace=space)
    for kind in (ADDED, MODIFIED, DELETED):
        informer.add_event_handler(kind, lambda one, kind=kind: seen.put((kind, one.metadata.name)))
    informer.start()
    try:
        assert seen.get(timeout=300) == (ADDED, "before")
        core.create_namespaced_config_map(space, config_map("during"))
        assert seen.get(timeout=300) == (ADDED, "during")
        core.patch_namespaced_config_map("during", space, {"data": {"x": "y"}})
        assert seen.get(timeout=300) == (MODIFIED, "during")
        assert informer.cache.get_by_key(f"{space}/during").data == {"x": "y"}
        core.delete_namespaced_config_map("before", space)
        assert seen.get(timeout=300) == (DELETED, "before")
        assert informer.cache.list_keys() == [f"{space}/during"]
    finally:
        core.delete_namespaced_config_map("during", space)  # an event, upon which it stops
        informer.stop()


def test_the_dynamic_client(connection: client.ApiClient, space: str) -> None:
    api = dynamic.DynamicClient(connection)
    config_maps = api.resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d"}, "data": {"a": "1"}}
    assert config_maps.create(body=body, namespace=space).data.a == "1"
    body["data"] = {"b": "2"}
    applied = config_maps.server_side_apply(
        body=body, name="d", namespace=space, field_manager="tests", force_conflicts=True
    )
    assert applied.data.to_dict() == {"a": "1", "b": "2"}
    listed = config_maps.get(namespace=space, field_selector="metadata.name=d")
    assert [one.metadata.name for one in listed.items] == ["d"]
    policies = api.resources.get(
        api_version="admissionregistration.k8s.io/v1", kind="ValidatingAdmissionPolicy"
    )
    assert not policies.namespaced
    with pytest.raises(dynamic.exceptions.NotFoundError):
        config_maps.get(name="none", namespace=space)


def test_objects_from_manifests(connection: client.ApiClient, space: str) -> None:
    manifest = connection.sanitize_for_serialization(deployment("made"))
    manifest |= {"apiVersion": "apps/v1", "kind": "Deployment"}
    utils.create_from_dict(connection, manifest, namespace=space)
    found = client.AppsV1Api(connection).list_namespaced_deployment(space)
    assert [one.metadata.name for one in found.items] == ["made"]


def test_reviews_and_tokens(
    connection: client.ApiClient, core: client.CoreV1Api, space: str
) -> None:
    asked = client.V1SelfSubjectAccessReview(
        spec=client.V1SelfSubjectAccessReviewSpec(
            resource_attributes=client.V1ResourceAttributes(verb="get", resource="pods")
        )
    )
    reviews = client.AuthorizationV1Api(connection)
    assert reviews.create_self_subject_access_review(asked).status.allowed is True
    wanted = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[]))
    token = core.create_namespaced_service_account_token("default", space, wanted).status.token
    review = client.V1TokenReview(spec=client.V1TokenReviewSpec(token=token))
    status = client.AuthenticationV1Api(connection).create_token_review(review).status
    assert status.user.username == f"system:serviceaccount:{space}:default"


def test_versions_and_groups(connection: client.ApiClient) -> None:
    assert client.VersionApi(connection).get_code().git_version == "v1.36.0"
    groups = {one.name for one in client.ApisApi(connection).get_api_versions().groups}
    assert {"apps", "admissionregistration.k8s.io"} <= groups
