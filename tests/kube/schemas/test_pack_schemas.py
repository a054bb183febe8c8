"""The structure of the built-in types."""

from __future__ import annotations

import json

from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas import schema_packs
from celadon.kube.schemas.schema_packs import (
    SPECIAL_COMPONENTS,
    component,
    component_name,
    resolved,
    schema_for,
)
from tests.paths import shared


def test_a_kind() -> None:
    pod = schema_for(GroupVersionKind("", "v1", "Pod"))
    assert pod is not None
    assert pod.name == "io.k8s.api.core.v1.Pod"
    assert pod.gvk == ("", "v1", "Pod")
    spec = resolved(pod.properties["spec"])
    assert spec.required == ("containers",)
    containers = spec.properties["containers"]
    assert (containers.type, containers.list_type) == ("array", "map")
    assert containers.list_map_keys == ("name",)
    assert (containers.merge_key, containers.patch_strategy) == ("name", "merge")
    assert containers.items is not None
    container = resolved(containers.items)
    assert container.properties["imagePullPolicy"].enum == ("Always", "IfNotPresent", "Never")
    port = component("io.k8s.api.core.v1.ServicePort").properties
    assert resolved(port["targetPort"]).int_or_string
    assert port["port"].format == "int32"
    assert port["protocol"].default == "TCP"


def test_maps_and_open_objects() -> None:
    meta = component("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta").properties
    labels = meta["labels"]
    assert labels.type == "object"
    assert labels.additional_properties is not None
    assert labels.additional_properties.type == "string"
    assert component("io.k8s.apimachinery.pkg.runtime.RawExtension").preserve_unknown
    selector = component("io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector")
    assert selector.map_type == "atomic"


def test_unknown_kinds() -> None:
    assert component_name(GroupVersionKind("example.com", "v1", "Widget")) is None
    assert schema_for(GroupVersionKind("example.com", "v1", "Widget")) is None


def test_every_mention_leads_somewhere() -> None:
    names = list(schema_packs.load("schemas"))
    assert len(names) > 700
    for name in names:
        for field in component(name).properties.values():
            inner = field.items or field.additional_properties or field
            inner = inner.items or inner
            assert resolved(inner).type or resolved(inner).name


MERGING = {
    "x-kubernetes-list-type": "list_type",
    "x-kubernetes-list-map-keys": "list_map_keys",
    "x-kubernetes-map-type": "map_type",
    "x-kubernetes-patch-merge-key": "merge_key",
    "x-kubernetes-patch-strategy": "patch_strategy",
}


def test_lists_and_maps_are_merged_as_the_openapi_documents_say() -> None:
    told = 0
    for path in sorted(shared("openapi", "v3").glob("*__*.json")):
        for name, given in json.loads(path.read_text())["components"]["schemas"].items():
            known = component(name)
            assert known.map_type == given.get("x-kubernetes-map-type", "")
            for field, member in given.get("properties", {}).items():
                if name in SPECIAL_COMPONENTS:
                    continue
                node = known.properties[field]
                for extension, attribute in MERGING.items():
                    wanted = member.get(extension, "")
                    found = getattr(node, attribute)
                    assert found == (tuple(wanted) if isinstance(found, tuple) else wanted)
                    told += bool(found)
    assert told > 1000
