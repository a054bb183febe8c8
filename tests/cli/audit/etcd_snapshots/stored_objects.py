"""Objects as kube-apiserver stores them, and as it shows them to clients afterwards."""

from __future__ import annotations

import base64
import json
from typing import Any

from celadon.kube import GroupVersionKind
from celadon.kube.protobuf import encode
from celadon.kube.registry import create
from tests.cli.audit.dumps import Json

WIDGET: Json = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "w", "namespace": "shop", "uid": "u-w"},
    "spec": {"size": 3, "parts": [{"name": "a", "weight": 1.5}], "none": None},
}
DEFINITION: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"kind": "Widget", "plural": "widgets"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}


def admitted(kind: str, name: str, namespace: str = "shop", **members: Any) -> Json:
    """As a server has admitted it; `kind` may say `group/version/Kind`."""
    version, _, short = kind.rpartition("/")
    group, _, number = version.rpartition("/")
    about: Json = {"name": name, **members.pop("metadata", {})}
    if namespace:
        about["namespace"] = namespace
    made = create.admit_form(
        {"metadata": about, **members}, GroupVersionKind(group, number or "v1", short)
    )
    made["metadata"]["uid"] = f"u-{namespace}-{name}"
    return {"apiVersion": version or "v1", "kind": short, **made}


CONTAINERS = [
    {"name": "c", "image": "registry.example.com/web:1", "ports": [{"containerPort": 80}]}
]
SECRET = admitted("Secret", "s", data={"k": base64.b64encode(b"v").decode()}, type="Opaque")
OBJECTS: dict[str, Json] = {
    "/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com": admitted(
        "apiextensions.k8s.io/v1/CustomResourceDefinition",
        "widgets.example.com",
        "",
        spec=DEFINITION["spec"],
    ),
    "/registry/configmaps/shop/c": admitted("ConfigMap", "c", data={"x": "no", "ü": "€"}),
    "/registry/configmaps/shop/ok": admitted("ConfigMap", "ok", data={"x": "ok"}),
    "/registry/deployments/shop/d": admitted(
        "apps/v1/Deployment",
        "d",
        spec={
            "replicas": 5,
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": CONTAINERS},
            },
        },
    ),
    "/registry/example.com/widgets/shop/w": WIDGET,
    "/registry/namespaces/shop": admitted(
        "Namespace", "shop", "", metadata={"labels": {"env": "prod"}}
    ),
    "/registry/pods/shop/p": admitted("Pod", "p", spec={"containers": CONTAINERS}),
    "/registry/secrets/shop/s": SECRET,
    "/registry/services/specs/shop/web": admitted(
        "Service", "web", spec={"ports": [{"port": 80}], "selector": {"a": "b"}}
    ),
}
"""By their keys, in their order."""

AES = b"k8s:enc:aescbc:v1:key1:" + bytes(range(48))
KMS = b"k8s:enc:kms:v2:provider:" + bytes(range(48))


def stored(one: Json) -> bytes:
    """In the encoding that its kind has."""
    if "." in one["apiVersion"] and "k8s.io" not in one["apiVersion"]:
        return json.dumps(one, separators=(",", ":")).encode() + b"\n"
    return encode(one)


def shown(one: Json, revision: int) -> Json:
    """To clients, after it was written at that revision."""
    return {**one, "metadata": {**one["metadata"], "resourceVersion": str(revision)}}
