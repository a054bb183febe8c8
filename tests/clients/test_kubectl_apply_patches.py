"""The patches that `kubectl apply` sends are those that `celadon check --apply` makes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

from celadon.admission import ADMIN
from celadon.cli.check.document_requests import Applied, Unchanged, applied
from celadon.cli.check.object_preparation import Prepare
from celadon.cli.reading.documents import Document, DocumentReader, Text
from celadon.kube import metadata
from celadon.kube.fieldmanager import applied_configuration, configured
from celadon.kube.registry import Target
from celadon.kube.registry.three_way_merge import ThreeWays
from celadon.kube.schemas import schema_for
from tests.clients.manifests import DEFINITION
from tests.clients.programs import Client

pytestmark = pytest.mark.thorough

NOW: Final = "2026-01-01T00:00:00Z"
WIDGETS: Final = DEFINITION.replace(
    "required: [size]", "x-kubernetes-preserve-unknown-fields: true"
)
_BODY: Final = re.compile(r'"Request Body" body=("(?:[^"\\]|\\.)*")')
_KEPT_BY_SERVERS: Final = ("creationTimestamp", "managedFields", "resourceVersion", "uid")

IN_PODS: Final = ("volumes", "tolerations")
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "labels": {"app": "web"}},
}


def deployment(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    pod: dict[str, Any] = {key: spec.pop(key) for key in IN_PODS if key in spec}
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [*containers], **pod},
    }
    base = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {**DEPLOYMENT, "spec": {**base, **spec}}


def container(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "image": "i:1", **more}


def dns(*protocols: str) -> list[dict[str, Any]]:
    return [{"containerPort": 53, "protocol": one} for one in protocols]


def config_map(data: Any, **meta: Any) -> dict[str, Any]:
    named = {"name": "settings", **meta}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": named, "data": data}


def account(*secrets: str, **more: Any) -> dict[str, Any]:
    named = [{"name": one} for one in secrets]
    meta = {"name": "runner", **more}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta, "secrets": named}


def widget(**spec: Any) -> dict[str, Any]:
    meta = {"name": "w"}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": meta, "spec": spec}


SIDECAR = {"spec": {"template": {"spec": {"containers": [container("mesh")]}}}}
EMPTY: dict[str, Any] = {"name": "data", "emptyDir": {}}
SURGE = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}

SESSIONS: dict[str, tuple[dict[str, Any], dict[str, Any] | None, dict[str, Any]]] = {
    "nothing changed": (deployment(container("a")), None, deployment(container("a"))),
    "a field of an item": (
        deployment(container("a"), container("b"), replicas=2),
        None,
        deployment(container("a"), container("b", image="i:2"), replicas=2),
    ),
    "an item more, one less": (
        deployment(container("a"), container("b")),
        None,
        deployment(container("c"), container("a")),
    ),
    "another order": (
        deployment(container("a"), container("b")),
        None,
        deployment(container("b"), container("a")),
    ),
    "what others have put in stays": (
        deployment(container("a")),
        SIDECAR,
        deployment(container("a", image="i:2")),
    ),
    "a sidecar, and nothing changed": (
        deployment(container("a")),
        SIDECAR,
        deployment(container("a")),
    ),
    "a field that is applied no more": (
        deployment(container("a", args=["x"], env=[{"name": "E", "value": "1"}]), replicas=3),
        None,
        deployment(container("a", env=[{"name": "F", "value": "1"}])),
    ),
    "another strategy": (
        deployment(container("a"), strategy=SURGE),
        None,
        deployment(container("a"), strategy={"type": "Recreate"}),
    ),
    "a strategy that somebody else has changed": (
        deployment(container("a"), strategy=SURGE),
        {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": None}}},
        deployment(container("a"), strategy=SURGE),
    ),
    "another kind of volume": (
        deployment(container("a"), volumes=[EMPTY]),
        None,
        deployment(container("a"), volumes=[{"name": "data", "configMap": {"name": "c"}}]),
    ),
    "no volumes any more": (
        deployment(container("a"), volumes=[EMPTY]),
        None,
        deployment(container("a")),
    ),
    "a port more": (
        deployment(container("a", ports=[{"containerPort": 80}])),
        None,
        deployment(container("a", ports=[{"containerPort": 81}, {"containerPort": 80}])),
    ),
    "one of two ports of one number": (
        deployment(container("a", ports=dns("TCP", "UDP"))),
        None,
        deployment(container("a", ports=dns("UDP"))),
    ),
    "a second port of one number": (
        deployment(container("a", ports=dns("TCP"))),
        None,
        deployment(container("a", ports=dns("TCP", "UDP"))),
    ),
    "lists that are replaced": (
        deployment(
            container("a", args=["x", "y"]), tolerations=[{"key": "k", "operator": "Exists"}]
        ),
        None,
        deployment(container("a", args=["y"]), tolerations=[{"operator": "Exists"}]),
    ),
    "a null": (
        deployment(container("a"), replicas=3),
        None,
        deployment(container("a"), replicas=None),
    ),
    "scaled by somebody else": (
        deployment(container("a")),
        {"spec": {"replicas": 5}},
        deployment(container("a", image="i:2")),
    ),
    "data": (
        config_map({"a": "1", "b": "<2>"}),
        {"data": {"b": "3", "c": "4"}},
        config_map({"a": "1", "d": "ü\u2028&"}, annotations={"x": "y"}),
    ),
    "no data": (config_map({"a": "1"}), {"data": {"b": "2"}}, config_map({})),
    "null data": (config_map({"a": "1"}), {"data": {"b": "2"}}, config_map(None)),
    "finalizers, a list of texts that is merged": (
        config_map({}, finalizers=["example.com/a", "example.com/b"]),
        {"metadata": {"finalizers": ["example.com/a", "example.com/b", "example.com/c"]}},
        config_map({}, finalizers=["example.com/d", "example.com/b"]),
    ),
    "secrets": (account("a", "b"), {"secrets": [{"name": "z"}]}, account("b", "c")),
    "custom": (
        widget(size=3, more={"a": 1, "b": [1, 2]}),
        {"spec": {"more": {"z": 1}}},
        widget(size=4, more={"b": [2], "c": {}, "d": None}),
    ),
    "custom, unchanged": (widget(size=3), {"spec": {"more": {"z": 1}}}, widget(size=3)),
    "custom, less": (
        widget(size=3, more={"a": {"x": 1, "y": {"z": 2}}}),
        None,
        widget(more={"a": {"y": {}}}),
    ),
}


@pytest.mark.parametrize("session", SESSIONS)
def test_patches_are_those_of_kubectl(kubectl: Client, space: str, session: str) -> None:
    first, between, second = SESSIONS[session]
    is_custom = first["kind"] == "Widget"
    if is_custom:
        kubectl("apply", "-f", kubectl.write("definition.yaml", WIDGETS))
        kubectl("wait", "--for=condition=Established", "crd/widgets.example.com")
    kubectl("apply", "-f", kubectl.write("first.json", json.dumps(first)))
    if between is not None:
        how = "merge" if is_custom else "strategic"
        kubectl("patch", "-f", "first.json", "--type", how, "-p", json.dumps(between))
    live = kubectl.json("get", "-f", "first.json", "--show-managed-fields")
    written = json.dumps(second)
    done = kubectl.run("apply", "-f", kubectl.write("second.json", written), "-v", "10")
    assert done.code == 0, done.err

    documents = WIDGETS if is_custom else ""
    prepare = Prepare(list(read(documents)), ADMIN, NOW, namespace=space, defaulting=True)
    target = replace(prepare.target(metadata.gvk(live), space), name=metadata.name(live))
    (old,), (new,) = read(json.dumps(live)), read(written)
    made = applied(new, old, target, prepare)
    assert patch_of(new, live, target) == sent_patch(done.err)
    assert isinstance(made, Unchanged) == done.out.endswith(" unchanged\n")
    if isinstance(made, Applied):
        after = kubectl.json("get", "-f", "first.json")
        assert seen(finished(prepare, made)) == seen(after)


def test_objects_are_created_as_by_kubectl(kubectl: Client, space: str) -> None:
    written = json.dumps(config_map({"u": "<&\u2028ü>"}, labels={"b": "1", "a": "2"}))
    kubectl("apply", "-f", kubectl.write("o.json", written))
    prepare = Prepare((), ADMIN, NOW, namespace=space, defaulting=True)
    (new,) = read(written)
    made = applied(new, None, prepare.target(metadata.gvk(new.value), space), prepare)
    assert isinstance(made, Applied)
    assert seen(finished(prepare, made)) == seen(kubectl.json("get", "-f", "o.json"))


def finished(prepare: Prepare, made: Applied) -> dict[str, Any]:
    draft = made.begun.draft
    assert draft is not None
    return prepare.finished(made.begun, draft)


def read(text: str) -> Iterator[Document]:
    for one in DocumentReader().read(Text("file.yaml", text)):
        assert isinstance(one, Document)
        yield one


def patch_of(new: Document, live: dict[str, Any], target: Target) -> dict[str, Any]:
    meta = {**new.value["metadata"], "namespace": target.namespace}
    config = configured({**new.value, "metadata": meta})
    ways = ThreeWays(applied_configuration(live), config, live)
    schema = schema_for(target.kind)
    return ways.merge_patch() if schema is None else ways.strategic_patch(schema)


def sent_patch(log: str) -> dict[str, Any]:
    """The last body of kubectl's that is not empty; none if there is none."""
    bodies = [json.loads(body) for body in _BODY.findall(log)]
    found: dict[str, Any] = json.loads(next(filter(None, reversed(bodies)), "{}"))
    return found


def seen(obj: dict[str, Any]) -> dict[str, Any]:
    """Without what is different each time, and what only those have who keep objects."""
    meta = {key: one for key, one in obj["metadata"].items() if key not in _KEPT_BY_SERVERS}
    return {**{key: one for key, one in obj.items() if key != "status"}, "metadata": meta}
