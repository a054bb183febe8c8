"""Definitions for the tests: the schema of `spec` is what matters."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("z3")

from celadon.kube.crd import CustomKind, custom_kinds
from celadon.kube.releases import answering_as

RELEASE = "1.36"
INTEGER = {"type": "integer"}
TEXT = {"type": "string"}


def definition(spec: dict[str, Any], **root: Any) -> dict[str, Any]:
    """A definition of the kind Widget. `root` are members of the schema itself."""
    schema = {"type": "object", "properties": {"spec": spec}, **root}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [version],
        },
    }


def kind_of(spec: dict[str, Any], **root: Any) -> CustomKind:
    """The kind that it defines."""
    with answering_as(RELEASE):
        (kind,) = custom_kinds(definition(spec, **root)).values()
    return kind


def obj(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    """The schema of an object."""
    made: dict[str, Any] = {"type": "object", "properties": properties}
    return made | ({"required": list(required)} if required else {})


def listed(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The schema of a list."""
    return {"type": "array", "items": items, **more}


def keyed(items: dict[str, Any], key: str) -> dict[str, Any]:
    """The schema of a list whose items have a key."""
    return listed(items, **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]})


def rules(*texts: str, **more: Any) -> dict[str, Any]:
    """Validation rules, each with the same other members."""
    return {"x-kubernetes-validations": [{"rule": one, **more} for one in texts]}
