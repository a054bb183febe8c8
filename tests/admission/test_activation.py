"""What expressions see of a request and its namespace."""

from __future__ import annotations

from typing import Any

from celadon.admission.activation import RequestContext, request_value
from celadon.admission.cluster_lookups import ObjectWorld
from celadon.admission.compiled_expressions import size_bound
from celadon.admission.request import Operation
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.kube.authorization import User
from tests.admission.building import CONFIG_MAP, CONFIG_MAPS, config_map, request

NAMESPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {
        "name": "ns",
        "uid": "1",
        "labels": {"env": "prod"},
        "ownerReferences": [{"name": "o"}],
        "managedFields": [{"manager": "m"}],
    },
    "spec": {"finalizers": ["kubernetes"]},
    "status": {"phase": "Active"},
}
WORLD = ObjectWorld([NAMESPACE])


def test_request_leaves_out_what_is_empty() -> None:
    asked = request(user=User("alice"), namespace="", name="")
    value = request_value(asked, CONFIG_MAP, CONFIG_MAPS)
    assert "namespace" not in value
    assert "name" not in value
    assert "subResource" not in value
    assert value["userInfo"] == {"username": "alice"}
    assert value["object"] is None
    assert value["dryRun"] is False


def test_request_shows_matched_and_original_kind() -> None:
    other = GroupVersionKind("autoscaling", "v1", "HorizontalPodAutoscaler")
    hpas = GroupVersionResource("autoscaling", "v1", "horizontalpodautoscalers")
    value = request_value(request(subresource="status"), other, hpas)
    assert value["kind"]["version"] == "v1"
    assert value["kind"]["kind"] == "HorizontalPodAutoscaler"
    assert value["requestKind"]["kind"] == "ConfigMap"
    assert value["requestResource"]["resource"] == "configmaps"
    assert value["requestSubResource"] == "status"


def test_the_namespace_is_trimmed_for_validations_only() -> None:
    context = RequestContext(request(), WORLD)
    trimmed, whole = context.namespace_object(), context.whole_namespace_object()
    assert trimmed == {
        "metadata": {"name": "ns", "uid": "1", "labels": {"env": "prod"}},
        "spec": NAMESPACE["spec"],
        "status": NAMESPACE["status"],
    }
    assert whole is not None
    assert "ownerReferences" in whole["metadata"]
    assert "managedFields" not in whole["metadata"]


def test_namespaces_have_no_namespace_object() -> None:
    asked = request(
        kind=GroupVersionKind("", "v1", "Namespace"),
        resource=GroupVersionResource("", "v1", "namespaces"),
    )
    assert RequestContext(asked, ObjectWorld()).namespace_object() is None


def test_namespace_selectors_of_namespaces_look_at_what_comes_in() -> None:
    incoming = {"metadata": {"name": "ns", "labels": {"env": "new"}}}
    given: dict[str, Any] = {
        "kind": GroupVersionKind("", "v1", "Namespace"),
        "resource": GroupVersionResource("", "v1", "namespaces"),
    }
    created = RequestContext(request(incoming, **given), WORLD)
    status = RequestContext(
        request(incoming, Operation.UPDATE, subresource="status", **given), WORLD
    )
    deleted = RequestContext(request(operation=Operation.DELETE, **given), WORLD)
    assert created.namespace_labels() == {"env": "new"}
    assert status.namespace_labels() == {"env": "prod"}
    assert deleted.namespace_labels() == {"env": "prod"}


def test_cluster_scoped_requests_have_no_namespace_labels() -> None:
    asked = request(namespace="")
    assert RequestContext(asked, WORLD).namespace_labels() is None


def test_object_labels_are_those_of_both_objects() -> None:
    asked = request(
        config_map(labels={"a": "1"}), Operation.UPDATE, old_object=config_map(labels={"b": "2"})
    )
    assert RequestContext(asked, WORLD).object_labels() == [{"a": "1"}, {"b": "2"}]
    options = request({"kind": "PodExecOptions"}, Operation.CONNECT)
    assert RequestContext(options, WORLD).object_labels() == []


def test_a_known_size_is_believed() -> None:
    assert RequestContext(request(size=10), WORLD).size() == 10
    assert RequestContext(request(), WORLD).size() > 10


def test_a_namespace_counts_once_somebody_has_asked_for_it() -> None:
    context = RequestContext(request(size=10), WORLD)
    assert context.size() == 10
    context.namespace_object()
    assert context.size() == 10 + size_bound(NAMESPACE)


def test_everything_counts_that_a_request_brings() -> None:
    small = RequestContext(request(), WORLD).size()
    long = "x" * 5000
    for larger in (
        request(config_map(data={"a": long})),
        request(old_object=config_map(data={"a": long})),
        request(options={"a": long}),
        request(name=long),
        request(namespace=long),
        request(user=User(long)),
        request(user=User("a", (long,))),
        request(user=User("a", uid=long)),
        request(user=User("a", extra={"k": (long,)})),
    ):
        assert RequestContext(larger, WORLD).size() > small + 4000


def test_everything_that_is_said_of_a_request() -> None:
    user = User("u", ("g", "h"), "id", {"k": ("a", "b")})
    asked = request(user=user, subresource="s", dry_run=True, request_subresource="o")
    assert request_value(asked, CONFIG_MAP, CONFIG_MAPS) == {
        "uid": "",
        "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "resource": {"group": "", "version": "v1", "resource": "configmaps"},
        "requestKind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "requestResource": {"group": "", "version": "v1", "resource": "configmaps"},
        "subResource": "s",
        "requestSubResource": "o",
        "name": "c",
        "namespace": "ns",
        "operation": "CREATE",
        "userInfo": {
            "username": "u",
            "uid": "id",
            "groups": ["g", "h"],
            "extra": {"k": ["a", "b"]},
        },
        "object": None,
        "oldObject": None,
        "dryRun": True,
        "options": asked.options,
    }
