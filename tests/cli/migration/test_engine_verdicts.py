"""What recorded reviews ask, what a cluster is sent, and which servers are sent anything."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import Operation, Request, default_options
from celadon.cli.migration.engine_verdicts import _anew, _dry_runs_of, _request
from celadon.kube import GroupVersionKind, GroupVersionResource, User
from tests.cli.files import Json

KIND = GroupVersionKind("apps", "v1", "Deployment")
RESOURCE = GroupVersionResource("apps", "v1", "deployments")
ASKED: Json = {
    "operation": "CREATE",
    "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
    "resource": {"group": "apps", "version": "v1", "resource": "deployments"},
}
POD: Json = {
    "kind": {"version": "v1", "kind": "Pod"},
    "resource": {"version": "v1", "resource": "pods"},
}
USER = {"username": "ann", "uid": "7", "groups": ["a", "b"], "extra": {"k": ["v"], "n": None}}


def asked(
    operation: Operation = Operation.CREATE, *, dry_run: bool = False, **more: Any
) -> Request:
    options = default_options(operation, dry_run=dry_run)
    request: dict[str, Any] = {"kind": KIND, "resource": RESOURCE, "user": User(""), **more}
    return Request(operation, dry_run=dry_run, options=options, **request)


@pytest.mark.parametrize(
    ("more", "request_"),
    [
        ({}, asked()),
        ({"name": "web"}, asked(name="web")),
        ({"namespace": "shop"}, asked(namespace="shop")),
        ({"subResource": "scale"}, asked(subresource="scale")),
        ({"object": {"a": 1}}, asked(object={"a": 1})),
        ({"dryRun": True}, asked(dry_run=True)),
        (
            {"operation": "UPDATE", "oldObject": {"a": 1}, "object": {"a": 2}},
            asked(Operation.UPDATE, object={"a": 2}, old_object={"a": 1}),
        ),
        ({"operation": "DELETE", "dryRun": False}, asked(Operation.DELETE)),
        ({"userInfo": USER}, asked(user=User("ann", ("a", "b"), "7", {"k": ("v",), "n": ()}))),
        (
            POD,
            asked(
                kind=GroupVersionKind("", "v1", "Pod"),
                resource=GroupVersionResource("", "v1", "pods"),
            ),
        ),
        (
            dict.fromkeys(
                ("name", "namespace", "subResource", "userInfo", "dryRun", "object", "oldObject")
            ),
            asked(),
        ),
        ({"operation": "LOOK"}, None),
    ],
)
def test_what_a_review_asks(more: Json, request_: Request | None) -> None:
    assert _request({**ASKED, **more}) == request_


def posting(*parameters: object) -> Json:
    return {"post": {"parameters": list(parameters)}}


@pytest.mark.parametrize(
    ("document", "paths"),
    [
        ({"paths": {"/a": posting({"name": "dryRun"}), "/b": posting()}}, ["/a"]),
        ({"paths": {"/a": posting({"name": "pretty"}, 5, {"name": "dryRun"})}}, ["/a"]),
        ({"paths": {"/a": posting({"name": "pretty"}), "/b": {"get": posting()["post"]}}}, []),
        ({"paths": {"/a": {"get": {"parameters": [{"name": "dryRun"}]}}}}, []),
        ({"paths": {"/a": {"post": {"parameters": {"name": "dryRun"}}}}}, []),
        ({"paths": {"/a": {"post": []}, "/b": None}}, []),
        ({"paths": ["/a"]}, []),
        ({}, []),
    ],
)
def test_servers_that_say_that_they_know_dry_runs(document: Json, paths: list[str]) -> None:
    assert list(_dry_runs_of(document)) == paths


def service(**spec: object) -> Json:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": spec}


@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        (
            service(clusterIP="10.0.0.1", clusterIPs=["10.0.0.1"], healthCheckNodePort=1, type="x"),
            service(type="x"),
        ),
        (
            service(clusterIP="None", clusterIPs=["None"]),
            service(clusterIP="None", clusterIPs=["None"]),
        ),
        (
            service(ports=[{"port": 80, "nodePort": 30000}, 5, {"port": 81}]),
            service(ports=[{"port": 80}, 5, {"port": 81}]),
        ),
        (service(ports=None), service(ports=None)),
        ({**service(), "spec": None}, {**service(), "spec": None}),
        # Only Services have what a server allocates.
        (
            {**service(clusterIP="10.0.0.1"), "kind": "Odd"},
            {**service(clusterIP="10.0.0.1"), "kind": "Odd"},
        ),
        ({**service(), "status": {"a": 1}}, service()),
        (
            {
                **service(),
                "metadata": {
                    "name": "s",
                    "labels": {"a": "b"},
                    "annotations": {"a": "b"},
                    "ownerReferences": [],
                    "finalizers": [],
                    "uid": "1",
                    "selfLink": "/",
                    "generation": 1,
                    "managedFields": [],
                    "resourceVersion": "1",
                    "creationTimestamp": "2026-01-01T00:00:00Z",
                    "deletionTimestamp": "2026-01-01T00:00:00Z",
                    "deletionGracePeriodSeconds": 0,
                },
            },
            {
                **service(),
                "metadata": {
                    "name": "s",
                    "labels": {"a": "b"},
                    "annotations": {"a": "b"},
                    "ownerReferences": [],
                    "finalizers": [],
                },
            },
        ),
    ],
)
def test_an_object_is_sent_as_it_may_have_been_created(stored: Json, sent: Json) -> None:
    assert _anew(stored) == sent
