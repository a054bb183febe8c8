"""Objects that policies change: what is merged, what is refused, what is read again."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cel.extend import types
from celadon.kube import GroupVersionKind, StatusError
from celadon.kube.crd import custom_kinds
from celadon.kube.fieldmanager import ForeignValue, MutatedKinds, MutationRefused
from celadon.kube.library import PatchObject
from celadon.kube.releases import answering_as

CONFIG_MAP = GroupVersionKind("", "v1", "ConfigMap")
POD = GroupVersionKind("", "v1", "Pod")
DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")
SCALE = GroupVersionKind("autoscaling", "v1", "Scale")
HPA_1 = GroupVersionKind("autoscaling", "v1", "HorizontalPodAutoscaler")
HPA_2 = GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler")
WIDGET = GroupVersionKind("x.io", "v1", "Widget")

DEFINITION: dict[str, Any] = {
    "spec": {
        "group": "x.io",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer"},
                                    "colour": {"type": "string", "default": "grey"},
                                    "words": {"type": "array", "items": {"type": "string"}},
                                },
                            }
                        },
                    }
                },
            }
        ],
    }
}
KINDS = MutatedKinds(custom=custom_kinds(DEFINITION).get)


def merged(kind: GroupVersionKind, live: Any, config: Any) -> Any:
    typed = {"apiVersion": kind.api_version, "kind": kind.kind}
    return KINDS.merged({**typed, **live}, {**typed, **config}, kind, kind)


def test_a_pod_gets_a_container_with_its_defaults() -> None:
    live = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "a:1"}]}}
    made = merged(POD, live, {"spec": {"containers": [{"name": "b", "image": "b"}]}})
    first, second = made["spec"]["containers"]
    assert (first["name"], second["name"]) == ("a", "b")
    assert second["imagePullPolicy"] == "Always"


def test_a_custom_resource_gets_its_defaults() -> None:
    made = merged(WIDGET, {"metadata": {"name": "w"}}, {"spec": {"size": 3}})
    assert made["spec"] == {"size": 3, "colour": "grey"}


NULL = ForeignValue("structpb.NullValue", "NULL_VALUE", "0")
REFUSED: list[tuple[GroupVersionKind, Any, Any, str]] = [
    (CONFIG_MAP, {}, {"spec": {}},
     "error applying patch: failed to convert patch object to typed object: .spec: field not "
     "declared in schema"),
    (CONFIG_MAP, {}, {"data": {"a": NULL}},
     "error applying patch: failed to convert patch object to typed object: .data.a: expected "
     "string, got &value.valueUnstructured{Value:0}"),
    (CONFIG_MAP, {}, {"metadata": {"finalizers": [NULL]}},
     "error applying patch: failed to convert patch object to typed object: "
     ".metadata.finalizers[={{undefined}}]: expected string, got "
     "&value.valueUnstructured{Value:0}"),
    (CONFIG_MAP, {}, {"metadata": {"managedFields": []}},
     "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or "
     "structs: .metadata.managedFields"),
    (POD, {}, {"spec": {"containers": [{"name": "a", "args": []}], "tolerations": []}},
     "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or "
     "structs: .spec.containers[0].args, .spec.tolerations"),
    (POD, {}, {"spec": {"containers": [NULL]}},
     "error applying patch: failed to convert patch object to typed object: .spec.containers: "
     "element 0: associative list with keys may not have non-map elements"),
    (CONFIG_MAP, {}, {"binaryData": {"k": "***"}},
     "unable to convert unstructured object to /v1, Kind=ConfigMap: error decoding from json: "
     "illegal base64 data at input byte 0"),
    (DEPLOYMENT, {}, {"spec": {"replicas": 2.5}},
     "unable to convert unstructured object to apps/v1, Kind=Deployment: cannot convert float64 "
     "to int32"),
    (SCALE, {}, {"spec": {"replicas": 2}},
     "error applying patch: failed to convert patch object to typed object: no corresponding type "
     "for autoscaling/v1, Kind=Scale"),
    (WIDGET, {"spec": {"size": "x"}}, {"spec": {"colour": "red"}},
     "error applying patch: failed to convert original object to typed object: .spec.size: "
     "expected numeric (int or float), got string"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "live", "config", "text"), REFUSED)
def test_configurations_that_cannot_be_merged(
    kind: GroupVersionKind, live: Any, config: Any, text: str
) -> None:
    with pytest.raises(MutationRefused) as refused:
        merged(kind, live, config)
    assert str(refused.value) == text


def test_nothing_converts_between_versions() -> None:
    live = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler"}
    with pytest.raises(MutationRefused) as refused:
        KINDS.merged(live, live, HPA_1, HPA_2)
    assert str(refused.value) == (
        "converting (v1.HorizontalPodAutoscaler) to (v2.HorizontalPodAutoscaler): unknown "
        "conversion"
    )


def test_duplicates_in_the_object_are_no_reason_to_refuse() -> None:
    twice = {"spec": {"containers": [{"name": "a"}, {"name": "a"}]}}
    made = merged(POD, twice, {"metadata": {"labels": {"x": "y"}}})
    assert [one["name"] for one in made["spec"]["containers"]] == ["a", "a"]


def test_duplicates_in_the_object_were_a_reason_before_1_35() -> None:
    twice = {"spec": {"containers": [{"name": "a"}, {"name": "a"}]}}
    with answering_as("1.34"):
        assert KINDS.planner(POD) is None
        with pytest.raises(MutationRefused) as refused:
            merged(POD, twice, {"metadata": {"labels": {"x": "y"}}})
    assert str(refused.value) == (
        "error applying patch: failed to convert original object to typed object: "
        '.spec.containers: duplicate entries for key [name="a"]'
    )


UNREADABLE: list[tuple[GroupVersionKind, Any, str]] = [
    (CONFIG_MAP, {"kind": "Nonsense"},
     'no kind "Nonsense" is registered for version "v1" in scheme '
     '"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"'),
    (CONFIG_MAP, {"kind": "a\nb"},
     'no kind "a\\nb" is registered for version "v1" in scheme '
     '"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"'),
    (CONFIG_MAP, {"kind": 1, "apiVersion": {}},
     "couldn't get version/kind; json parse error: json: cannot unmarshal object into Go struct "
     "field .apiVersion of type string"),
    (CONFIG_MAP, {"Kind": []},
     "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go struct "
     "field .kind of type string"),
    (CONFIG_MAP, {"apiVersion": "a/b/c"}, "unexpected GroupVersion string: a/b/c"),
    (WIDGET, {"kind": 1},
     "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct "
     "field .kind of type string"),
    (CONFIG_MAP, {"data": {"a": 1}},
     "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"),
    (CONFIG_MAP, {"a": 1, "b": 2}, 'strict decoding error: unknown field "a", unknown field "b"'),
    (CONFIG_MAP, "text", "json: cannot unmarshal string into Go value of type v1.ConfigMap"),
    (WIDGET, {"kind": "", "apiVersion": "x.io/v1"},
     """Object 'Kind' is missing in '{"apiVersion":"x.io/v1","kind":""}'"""),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "document", "text"), UNREADABLE)
def test_patched_documents_that_cannot_be_read(
    kind: GroupVersionKind, document: Any, text: str
) -> None:
    with pytest.raises(StatusError) as refused:
        KINDS.patched(document, kind, kind)
    assert refused.value.code == 500
    assert str(refused.value) == f"Internal error occurred: {text}"


def test_another_kind_matters_in_the_end() -> None:
    found = KINDS.patched({"kind": "Secret", "apiVersion": "v1"}, CONFIG_MAP, CONFIG_MAP)
    assert str(found.spoiled) == (
        "Internal error occurred: failed to convert object: converting (v1.Secret) to "
        "(core.ConfigMap): unknown conversion"
    )
    widget = {"apiVersion": "y.io/v1", "kind": "Widget"}
    assert str(KINDS.patched(widget, WIDGET, WIDGET).spoiled) == (
        "Internal error occurred: failed to convert object: y.io/v1, Kind=Widget is unstructured "
        'and is not suitable for converting to "x.io/v1"'
    )


def test_a_custom_resource_that_says_another_version_is_of_the_version_that_was_sent() -> None:
    spec = DEFINITION["spec"]
    [version] = spec["versions"]
    versions = [version, {**version, "name": "v2", "storage": False}]
    kinds = MutatedKinds(custom=custom_kinds({"spec": {**spec, "versions": versions}}).get)
    widget = {"apiVersion": "x.io/v2", "kind": "Widget", "spec": {"size": 1}}
    found = kinds.patched(widget, WIDGET, WIDGET)
    assert found.spoiled is None
    assert found.object["apiVersion"] == "x.io/v1"
    assert found.object["spec"]["size"] == 1
    assert str(KINDS.patched(widget, WIDGET, WIDGET).spoiled) == (
        "Internal error occurred: failed to convert object: request to convert CR from an invalid "
        "group/version: x.io/v2"
    )


def test_a_kind_of_another_group_is_refused_at_once() -> None:
    document = {"kind": "Deployment", "apiVersion": "apps/v1"}
    with pytest.raises(MutationRefused, match="is not suitable for converting to"):
        KINDS.patched(document, CONFIG_MAP, CONFIG_MAP)


@pytest.mark.parametrize("command", [None, ["ls"]])
def test_options_of_a_connection_stay_what_they_are(command: list[str] | None) -> None:
    options = {"kind": "PodExecOptions", "apiVersion": "v1", "container": "c", "command": command}
    kind = GroupVersionKind("", "v1", "PodExecOptions")
    assert KINDS.patched(options, kind, kind).object == options


@pytest.mark.parametrize(
    "left",
    [
        {"labels": {"a": 1}, "nothing": 2},
        {"labels": {"a": None}, "finalizers": []},
        {"labels": {}, "annotations": None, "generateName": ""},
        {"ownerReferences": [{"name": "a", "kind": "B", "apiVersion": "v1", "uid": "u", "zz": 1}]},
    ],
)
def test_the_next_mutator_sees_metadata_of_a_custom_resource_as_it_was_left(
    left: dict[str, Any],
) -> None:
    meta = {"name": "w", **left}
    document = {"apiVersion": "x.io/v1", "kind": "Widget", "metadata": meta}
    assert KINDS.patched(document, WIDGET, WIDGET).object["metadata"] == meta


def test_what_a_configuration_does_not_touch_of_it_stays() -> None:
    meta: dict[str, Any] = {"name": "w", "labels": {}, "annotations": None}
    document = {"apiVersion": "x.io/v1", "kind": "Widget", "metadata": meta}
    config = {"apiVersion": "x.io/v1", "kind": "Widget", "metadata": {"finalizers": ["a/b"]}}
    merged = KINDS.merged(document, config, WIDGET, WIDGET)
    assert merged["metadata"] == {**meta, "finalizers": ["a/b"]}


@pytest.mark.parametrize(
    ("kind", "has_plans"),
    [(POD, True), (WIDGET, False), (GroupVersionKind("x.io", "v9", "Unheard"), False)],
)
def test_plans_are_made_for_built_in_kinds(kind: GroupVersionKind, has_plans: bool) -> None:
    assert (KINDS.planner(kind) is not None) is has_plans


def test_a_constructed_configuration_is_taken_as_it_is_where_it_fits() -> None:
    labels = PatchObject(types.object_type("Object.metadata"), {"labels": {"a": "b"}})
    config = PatchObject(types.object_type("Object"), {"metadata": labels})
    assert KINDS.fitting(config, CONFIG_MAP) == {"metadata": {"labels": {"a": "b"}}}
    odd = PatchObject(types.object_type("Object"), {"data": {"a": 1}})
    assert KINDS.fitting(odd, CONFIG_MAP) is None
    assert KINDS.fitting(config, GroupVersionKind("y.io", "v1", "Unknown")) is None
