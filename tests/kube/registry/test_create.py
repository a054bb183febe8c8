"""The path of a create and of an update, from a JSON object to what is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from celadon.kube.crd.custom_kinds import custom_kinds
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.names import GroupVersionKind
from celadon.kube.registry import create, shown_object, update, valid_warnings
from celadon.kube.registry.create import drop_version, generated_name
from celadon.kube.registry.decoded_object import Target
from celadon.kube.registry.request_bodies import draft_of
from celadon.kube.registry.strategy import Surroundings, write_errors
from celadon.kube.resources.admission_plugins import PLUGIN_ORDER
from celadon.kube.resources.api_resources import custom_resources
from celadon.kube.schemas.value_decoding import DecodeError
from celadon.kube.status import StatusError
from tests.kube.registry.targets import target

CONTEXT = DefaultingContext(now="2026-01-01T00:00:00Z", uid="U", suffix="abcde")
MAPS = target("v1/configmaps")
DEPLOYMENTS = target("apps/v1/deployments")
PODS = target("v1/pods")
ADDRESSES = target("networking.k8s.io/v1/ipaddresses")


def spec(**more: Any) -> dict[str, Any]:
    labels = {"a": "b"}
    pod = {"containers": [{"name": "c", "image": "i"}]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    return {"selector": {"matchLabels": labels}, "template": template, **more}


def deployment(**more: Any) -> dict[str, Any]:
    return {"metadata": {"name": "d"}, "spec": spec(**more)}


def made(value: dict[str, Any], where: Target) -> dict[str, Any]:
    return create.created(value, where, CONTEXT)


def changed(value: dict[str, Any], old: dict[str, Any], where: Target) -> dict[str, Any]:
    return update.updated(value, old, where, CONTEXT)


def test_new_objects() -> None:
    found = made({"metadata": {"generateName": "m-", "uid": "mine"}, "data": {"k": "v"}}, MAPS)
    assert found == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "m-abcde",
            "generateName": "m-",
            "namespace": "ns",
            "uid": "U",
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "data": {"k": "v"},
    }


@pytest.mark.parametrize(
    ("meta", "where", "text"),
    [
        ({"name": "a", "namespace": "other"}, MAPS, "the namespace of the provided object does "),
        ({"name": "b"}, replace(MAPS, name="a"), r"the name of the object \(b\) does not match the "
         r"name on the URL \(a\)"),
        ({}, replace(MAPS, name="a"), r"the name of the object \(a based on URL\) was undetermin"),
    ],
)  # fmt: skip
def test_objects_that_belong_elsewhere(meta: dict[str, Any], where: Target, text: str) -> None:
    draft = draft_of({"metadata": meta}, where, CONTEXT)
    begin = update.begin_update if where.name else create.begin_create
    with pytest.raises(StatusError, match=text) as caught:
        begin(draft, where)
    assert caught.value.code == 400


def test_mutators_see_the_defaults_and_get_them_again() -> None:
    draft = create.begin_create(draft_of(deployment(), DEPLOYMENTS, CONTEXT), DEPLOYMENTS)
    shown = draft.form()
    assert shown["spec"]["replicas"] == 1
    assert "uid" not in shown["metadata"]
    shown["spec"]["template"]["spec"]["containers"].append({"name": "side", "image": "s"})
    found = create.finish_create(draft.replaced(shown))
    (_, side) = found["spec"]["template"]["spec"]["containers"]
    assert side["terminationMessagePath"] == "/dev/termination-log"
    assert found["metadata"]["uid"] == "U"


def test_a_namespace_is_taken_from_what_has_none() -> None:
    meta = {"name": "n", "namespace": "x"}
    assert "namespace" not in made({"metadata": meta}, target("v1/namespaces"))["metadata"]


def test_values_that_do_not_fit() -> None:
    with pytest.raises(DecodeError) as caught:
        made(deployment(replicas="x"), DEPLOYMENTS)
    assert caught.value.path.steps == ("spec", "replicas")


def test_updates_keep_the_status_and_count() -> None:
    where = replace(DEPLOYMENTS, name="d")
    old = {**made(deployment(), DEPLOYMENTS), "status": {"replicas": 1}}
    old["metadata"]["resourceVersion"] = "7"
    new = changed({**deployment(replicas=2), "status": {"replicas": 9}}, old, where)
    assert (new["status"], new["metadata"]["generation"]) == ({"replicas": 1}, 2)
    assert new["metadata"]["resourceVersion"] == "7"
    same = changed(deployment(), old, where)
    assert same["metadata"]["generation"] == 1


def test_parts_of_subresources() -> None:
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    old = made(pod, PODS)
    sent = {
        "metadata": {"name": "p", "labels": {"x": "y"}},
        "spec": {
            "containers": [
                {"name": "c", "image": "other", "resources": {"requests": {"cpu": "1"}}}
            ],
            "ephemeralContainers": [{"name": "e", "image": "i"}],
        },
    }
    resized = changed(sent, old, target("v1/pods", "p", "resize"))
    (container,) = resized["spec"]["containers"]
    assert (container["image"], container["resources"]) == ("i", {"requests": {"cpu": "1"}})
    assert "labels" not in resized["metadata"]
    assert "ephemeralContainers" not in resized["spec"]
    assert resized["metadata"]["generation"] == 2
    extended = changed(sent, old, target("v1/pods", "p", "ephemeralcontainers"))
    assert [one["name"] for one in extended["spec"]["ephemeralContainers"]] == ["e"]
    assert extended["spec"]["containers"] == old["spec"]["containers"]


def test_a_scale_is_shown_and_written_back() -> None:
    where = target("apps/v1/deployments", "d", "scale")
    parent = made(deployment(), DEPLOYMENTS)
    old = shown_object(parent, where)
    sent = {"metadata": {"name": "d", "labels": {"x": "y"}}, "spec": {"replicas": 5}}
    new = changed(sent, old, where)
    assert new == {**old, "spec": {"replicas": 5}}
    managers = [{"manager": "m"}]
    owned = changed({**sent, "metadata": {"name": "d", "managedFields": managers}}, old, where)
    assert owned == {**new, "metadata": owned["metadata"]}
    assert owned["metadata"]["managedFields"] == managers
    kept = update.stored_update(draft_of(sent, where, CONTEXT), new, parent, where)
    assert kept["spec"]["replicas"] == 5
    negative = {**old, "spec": {"replicas": -1}}
    (error,) = write_errors(where, negative, old, Surroundings())
    assert str(error) == "spec.replicas: Invalid value: -1: must be greater than or equal to 0"


DEFINITION: dict[str, Any] = {
    "kind": "CustomResourceDefinition",
    "spec": {
        "group": "x.io",
        "names": {"kind": "Box", "plural": "boxes"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {"size": {"type": "integer", "maximum": 9}},
                            },
                            "status": {
                                "type": "object",
                                "properties": {"phase": {"type": "string"}},
                            },
                        },
                    }
                },
            }
        ],
    },
}
BOX = GroupVersionKind("x.io", "v1", "Box")
BOXES = Target(custom_resources(DEFINITION)[0], "ns", "b", custom=custom_kinds(DEFINITION)[BOX])


def box(size: int, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "x.io/v1", "kind": "Box", "metadata": {"name": "b"}, "spec": {"size": size},
        **more,
    }  # fmt: skip


def test_custom_resources() -> None:
    old = made({**box(1), "status": {"phase": "x"}}, replace(BOXES, name=""))
    assert "status" not in old
    assert old["metadata"]["generation"] == 1
    new = changed(box(2, status={"phase": "x"}), old, BOXES)
    assert ("status" in new, new["metadata"]["generation"]) == (False, 2)
    relabelled = changed({**box(1), "metadata": {"name": "b", "labels": {"a": "b"}}}, old, BOXES)
    assert relabelled["metadata"]["generation"] == 1
    (error,) = write_errors(BOXES, changed(box(10), old, BOXES), old, Surroundings())
    assert error.detail == "spec.size in body should be less than or equal to 9"


def test_the_status_of_custom_resources() -> None:
    where = replace(BOXES, subresource="status")
    old = made(box(1), replace(BOXES, name=""))
    new = changed(box(5, status={"phase": "x"}), old, where)
    assert (new["spec"], new["status"]) == ({"size": 1}, {"phase": "x"})
    assert new["metadata"] == old["metadata"]
    managers = [{"manager": "m"}]
    meta = {"name": "b", "labels": {"x": "y"}, "managedFields": managers}
    new = changed(box(5, metadata=meta, status={"phase": "x"}), old, where)
    assert new["metadata"] == {**old["metadata"], "managedFields": managers}
    kept = changed(box(2, status={"phase": "y"}), new, BOXES)
    assert (kept["spec"], kept["status"]) == ({"size": 2}, {"phase": "x"})
    wrong = changed(box(5, status={"phase": 1}), old, where)
    (error,) = write_errors(where, wrong, old, Surroundings())
    assert str(error) == (
        'status.phase: Invalid value: "integer": phase in body must be of type string: "integer"'
    )


def test_warnings_of_a_kind() -> None:
    pods = target("v1/pods")
    notes = {"container.apparmor.security.beta.kubernetes.io/c": "unconfined"}
    sent = {"metadata": {"annotations": notes}, "spec": {"containers": [{"name": "c"}]}}
    assert len(create.conversion_warnings(sent, pods)) == 1
    assert create.conversion_warnings(sent, replace(pods, subresource="status")) == []
    spec = {"terminationGracePeriodSeconds": -1}
    (text,) = valid_warnings({"metadata": {"name": "p"}, "spec": spec}, None, pods)
    assert text.startswith("spec.terminationGracePeriodSeconds: must be >= 0")
    finalized = {"metadata": {"finalizers": ["x"]}}
    assert len(valid_warnings(finalized, None, BOXES)) == 1


def test_what_is_not_kept_has_no_identity() -> None:
    binding = {"metadata": {"name": "p"}, "target": {"name": "n"}}
    assert made(binding, target("v1/pods", "p", "binding")) == {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "p", "namespace": "ns"},
        "target": {"name": "n"},
    }


@pytest.mark.parametrize(
    ("version", "refused"), [("7", True), ("007", True), ("x", False), ("00", False)]
)
def test_new_objects_have_no_version(version: str, refused: bool) -> None:
    made: dict[str, Any] = {"metadata": {"name": "a", "resourceVersion": version}}
    if not refused:
        drop_version(made)
        assert made == {"metadata": {"name": "a"}}
        return
    with pytest.raises(StatusError) as caught:
        drop_version(made)
    assert (caught.value.code, caught.value.reason) == (500, "")
    assert str(caught.value) == "resourceVersion should not be set on objects to be created"


def test_what_an_update_creates_may_have_a_version() -> None:
    made: dict[str, Any] = {"metadata": {"name": "a", "resourceVersion": "7"}}
    drop_version(made, is_update=True)
    assert made == {"metadata": {"name": "a"}}


def test_the_name_of_an_address_is_not_made_longer() -> None:
    found = made({"metadata": {"generateName": "10.0.0.1"}}, ADDRESSES)
    assert found["metadata"]["name"] == "10.0.0.1"


def test_generated_names_are_cut() -> None:
    assert generated_name("a" * 100, "bcdef") == "a" * 58 + "bcdef"


def test_a_name_that_is_given_is_not_generated() -> None:
    both = {"metadata": {"name": "m", "generateName": "n-"}}
    assert made(both, MAPS)["metadata"]["name"] == "m"


def test_plugins_one_by_one_do_what_they_do_together() -> None:
    sent = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}
    draft = draft_of(sent, PODS, CONTEXT)
    create.prepare_create(draft, PODS)
    plugins = sorted(CONTEXT.plugins, key=PLUGIN_ORDER.__getitem__)
    busy = [name for name in plugins if create.plugin_rules(PODS.kind, name)]
    assert "DefaultTolerationSeconds" in busy
    assert not create.plugin_rules(MAPS.kind, "DefaultTolerationSeconds")
    for name in busy:
        create.run_plugin(draft, name)
    create.settle_plugins(draft)
    together = create.begin_create(draft_of(sent, PODS, CONTEXT), PODS)
    assert draft.form() == together.form()
    assert create.finish_create(draft) == create.finish_create(together)


OWNER = {"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}


def test_what_mutators_may_not_do() -> None:
    """To a new object and to a changed one: they may set what a client may not."""
    meta = {"name": "d", "uid": "mine", "ownerReferences": [OWNER, OWNER]}
    for resume in (create.resume, update.resume):
        draft = draft_of({"metadata": meta, "spec": spec()}, DEPLOYMENTS, CONTEXT)
        (warning,) = resume(draft, DEPLOYMENTS)
        assert "after mutating admission happens" in warning
        left = draft.decoded["metadata"]
        assert (left["uid"], left["namespace"]) == ("mine", "ns")
        moved = draft_of({"metadata": {"namespace": "other"}}, DEPLOYMENTS, CONTEXT)
        with pytest.raises(StatusError, match="namespace of the provided object does not match"):
            resume(moved, DEPLOYMENTS)
    scales = replace(DEPLOYMENTS, subresource="scale")
    scale = draft_of({"metadata": {"namespace": "other"}}, scales, CONTEXT)
    assert update.resume(scale, scales) == []
    draft = draft_of({"metadata": meta}, DEPLOYMENTS, CONTEXT)
    create.resume(draft, DEPLOYMENTS)
    assert draft.decoded["metadata"]["ownerReferences"] == [OWNER]


def test_what_is_stored_of_a_new_object() -> None:
    whole = draft_of({"metadata": {"name": "d"}, "spec": spec(replicas=2)}, DEPLOYMENTS, CONTEXT)
    create.begin_create(whole, DEPLOYMENTS)
    found = create.finish_create(whole)
    stored = create.stored_new(whole, found, DEPLOYMENTS)
    assert stored["spec"]["replicas"] == 2
    assert (stored["apiVersion"], stored["kind"]) == ("apps/v1", "Deployment")
    roles = target("rbac.authorization.k8s.io/v1/roles")
    empty = draft_of({"metadata": {"name": "r"}, "rules": []}, roles, CONTEXT)
    found = create.finish_create(create.begin_create(empty, roles))
    assert create.stored_new(empty, found, roles)["rules"] is None


def test_what_is_stored_of_a_service_that_is_only_a_name() -> None:
    services = target("v1/services", "s")
    name = {"type": "ExternalName", "externalName": "a.b", "internalTrafficPolicy": "Cluster"}
    draft = draft_of({"metadata": {"name": "s"}, "spec": name}, services, CONTEXT)
    found = create.finish_create(create.begin_create(draft, services))
    assert found["spec"]["internalTrafficPolicy"] == "Cluster"
    assert "internalTrafficPolicy" not in create.stored_new(draft, found, services)["spec"]
    old = create.stored_new(draft, found, services)
    changed = draft_of({**old, "spec": name}, services, CONTEXT)
    made = update.finish_update(update.begin_update(changed, services), old, services)
    assert "internalTrafficPolicy" not in update.stored_update(changed, made, old, services)["spec"]


def test_an_address_of_a_service_that_became_only_a_name_is_shown_twice() -> None:
    services = target("v1/services", "s")
    ports = [{"port": 80}]
    draft = draft_of({"metadata": {"name": "s"}, "spec": {"ports": ports}}, services, CONTEXT)
    old = create.stored_new(
        draft, create.finish_create(create.begin_create(draft, services)), services
    )
    name = {"type": "ExternalName", "externalName": "a.b", "clusterIP": "10.0.0.9", "ports": ports}
    changed = draft_of({**old, "spec": name}, services, CONTEXT)
    made = update.finish_update(update.begin_update(changed, services), old, services)
    assert "clusterIPs" not in made["spec"]
    shown = update.stored_update(changed, made, old, services)["spec"]
    assert shown["clusterIPs"] == ["10.0.0.9"]
