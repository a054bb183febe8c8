"""The structure of the API types."""

from __future__ import annotations

from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas import packs
from celadon.kube.schemas.schema_model import component, component_name, schema_for


def test_a_kind() -> None:
    pod = schema_for(GroupVersionKind("", "v1", "Pod"))
    assert pod is not None
    assert pod.name == "io.k8s.api.core.v1.Pod"
    assert pod.gvk == ("", "v1", "Pod")
    assert pod.properties is not None
    spec = pod.properties["spec"].resolved()
    assert spec.required == ("containers",)
    assert spec.properties is not None
    containers = spec.properties["containers"]
    assert (containers.type, containers.list_type) == ("array", "map")
    assert containers.list_map_keys == ("name",)
    assert (containers.merge_key, containers.patch_strategy) == ("name", "merge")
    assert containers.items is not None
    container = containers.items.resolved()
    assert container.properties is not None
    assert container.properties["imagePullPolicy"].enum == ("Always", "IfNotPresent", "Never")
    port = component("io.k8s.api.core.v1.ServicePort").properties
    assert port is not None
    assert port["targetPort"].resolved().is_int_or_string
    assert port["port"].format == "int32"
    assert port["protocol"].default == "TCP"


def test_maps_and_open_objects() -> None:
    meta = component("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta").properties
    assert meta is not None
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
    names = list(packs.load("schemas"))
    assert len(names) > 700
    for name in names:
        for field in (component(name).properties or {}).values():
            inner = field.items or field.additional_properties or field
            inner = inner.items or inner
            assert inner.resolved().type or inner.resolved().name
