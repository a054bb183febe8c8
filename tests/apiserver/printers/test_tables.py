"""Tables and metadata-only forms around the cells."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.printers.tables import (
    IncludedObject,
    TableForm,
    built_in_shape,
    event_table,
    go_type,
    included_object,
    list_table,
    not_a_list,
    not_an_object,
    object_table,
    partial_list,
    partial_object,
)
from celadon.kube import GroupVersionKind, GroupVersionResource, StatusError

MAPS = built_in_shape(GroupVersionResource("", "v1", "configmaps"))
OBJECT = {
    "kind": "ConfigMap",
    "apiVersion": "v1",
    "metadata": {"name": "a", "resourceVersion": "7"},
    "data": {"k": "v"},
}
FORM = TableForm()


def rows(table: dict[str, Any]) -> list[Any]:
    return [row["cells"][0] for row in table["rows"]]


def test_a_table_of_one_object() -> None:
    table = object_table(MAPS, OBJECT, TableForm("v1beta1"), 0)
    assert list(table) == ["kind", "apiVersion", "metadata", "columnDefinitions", "rows"]
    assert (table["apiVersion"], table["metadata"]) == (
        "meta.k8s.io/v1beta1",
        {"resourceVersion": "7"},
    )
    (row,) = table["rows"]
    assert row == {
        "cells": ["a", 1, "<unknown>"],
        "object": {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1beta1",
            "metadata": OBJECT["metadata"],
        },
    }


def test_included_objects() -> None:
    def included(which: IncludedObject) -> Any:
        return object_table(MAPS, OBJECT, TableForm("v1", which), 0)["rows"][0]["object"]

    assert included(IncludedObject.NONE) is None
    assert included(IncludedObject.OBJECT) == OBJECT
    assert included_object(HttpRequest("GET", "/x?includeObject=Object")) is IncludedObject.OBJECT
    assert included_object(HttpRequest("GET", "/x")) is IncludedObject.METADATA
    with pytest.raises(StatusError) as caught:
        included_object(HttpRequest("GET", "/x?includeObject=Bogus"))
    assert (caught.value.code, caught.value.status.message) == (
        400,
        'Unable to convert to Table as requested: includeObject: Invalid value: "Bogus": '
        "must be 'Metadata', 'Object', 'None', or empty",
    )


def test_only_the_first_event_names_the_columns() -> None:
    assert event_table(MAPS, OBJECT, FORM, 0, first=True)["columnDefinitions"] == list(MAPS.headers)
    assert event_table(MAPS, OBJECT, FORM, 0, first=False)["columnDefinitions"] is None


def test_lists() -> None:
    meta = {"resourceVersion": "9", "continue": "c"}
    table = list_table(MAPS, meta, [OBJECT], FORM, 0)
    assert (table["metadata"], rows(table)) == (meta, ["a"])
    assert list_table(MAPS, meta, [], FORM, 0)["rows"] == []
    roles = built_in_shape(GroupVersionResource("rbac.authorization.k8s.io", "v1", "roles"))
    assert list_table(roles, meta, [], FORM, 0)["rows"] is None


def test_flow_schemas_are_sorted_by_precedence() -> None:
    shape = built_in_shape(
        GroupVersionResource("flowcontrol.apiserver.k8s.io", "v1", "flowschemas")
    )
    objects = [
        {"metadata": {"name": name}, "spec": {"matchingPrecedence": precedence}}
        for name, precedence in (("a", 9), ("c", 5), ("b", 5))
    ]
    assert rows(list_table(shape, {}, objects, FORM, 0)) == ["b", "c", "a"]


def test_metadata_alone() -> None:
    assert partial_object(OBJECT, "v1") == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": OBJECT["metadata"],
    }
    meta = {"resourceVersion": "9"}
    assert partial_list(meta, [OBJECT], "v1") == {
        "kind": "PartialObjectMetadataList",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": meta,
        "items": [partial_object(OBJECT, "v1")],
    }
    assert partial_list(meta, [], "v1")["items"] is None


@pytest.mark.parametrize(
    ("kind", "custom", "name"),
    [
        (GroupVersionKind("", "v1", "ConfigMap"), False, "core.ConfigMap"),
        (GroupVersionKind("events.k8s.io", "v1", "Event"), False, "core.Event"),
        (GroupVersionKind("rbac.authorization.k8s.io", "v1", "Role"), False, "rbac.Role"),
        (GroupVersionKind("g.example.com", "v1", "W"), True, "unstructured.Unstructured"),
    ],
)
def test_refusals(kind: GroupVersionKind, custom: bool, name: str) -> None:
    a_list = not_an_object(kind, custom=custom)
    assert (a_list.code, a_list.status.message) == (
        406,
        f"you requested PartialObjectMetadata, but the requested object is a list (*{name}List)",
    )
    one = not_a_list(go_type(kind), custom=custom)
    assert (one.code, one.status.message) == (
        (500, "content is not a list")
        if custom
        else (
            406,
            "you requested PartialObjectMetadataList, but the requested object is not a list "
            f"(*{name})",
        )
    )


@pytest.mark.parametrize(
    ("notes", "want"),
    [
        ({"a": "b"}, {"a": "b"}),
        ({"a": "b", "deprecated.daemonset.template.generation": "1"}, {"a": "b"}),
        ({"autoscaling.alpha.kubernetes.io/metrics": "[]"}, None),
    ],
)
def test_fields_in_annotations_are_no_metadata(
    notes: dict[str, str], want: dict[str, str] | None
) -> None:
    obj = {**OBJECT, "metadata": {"name": "a", "annotations": notes}}
    assert partial_object(obj, "v1")["metadata"].get("annotations") == want
