"""Nodes, accounts, devices, definitions, custom resources."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import warnings as warned
from celadon.kube.releases import answering_as


def test_nodes() -> None:
    spec = {"configSource": {}, "externalID": "x", "podCIDRs": ["10.0.0.0/24", "10.0.0.1/24"]}
    assert list(warned.node_warnings({"spec": spec}, None)) == [
        "spec.configSource: the feature is removed",
        "spec.externalID: this field is deprecated, and is unused by Kubernetes",
        'spec.podCIDRs[1]: CIDR value "10.0.0.1/24" is ambiguous in this context (should be '
        '"10.0.0.0/24" or "10.0.0.1/32"?)',
    ]


def test_addresses_of_a_pod() -> None:
    status = {"podIPs": [{"ip": "1.1.1.1"}, {"ip": "::FFFF"}], "hostIPs": [{"ip": "01.1.1.1"}]}
    assert [
        one.partition(":")[0] for one in warned.pod_status_warnings({"status": status}, None)
    ] == [
        "status.podIPs[1].ip",
        "status.hostIPs[0].ip",
    ]


def test_runtime_classes() -> None:
    obj = {"scheduling": {"nodeSelector": {"beta.kubernetes.io/os": "linux"}}}
    assert list(warned.runtime_class_warnings(obj, None)) == [
        'scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead'
    ]


def test_an_annotation_that_is_new_to_an_account() -> None:
    plain: dict[str, Any] = {"metadata": {}}
    obj = {"metadata": {"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}}
    text = (
        "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; "
        "prefer separate namespaces to isolate access to mounted secrets"
    )
    assert list(warned.service_account_warnings(obj, None)) == [text]
    assert list(warned.service_account_warnings(obj, plain)) == [text]
    assert not list(warned.service_account_warnings(obj, obj))
    assert not list(warned.service_account_warnings(plain, None))


def test_drivers_of_devices() -> None:
    assert list(warned.resource_slice_warnings({"spec": {"driver": "A.example.com"}}, None)) == [
        'spec.driver: driver names should be lowercase; "A.example.com" contains uppercase '
        "characters"
    ]


def _definition(*formats: str) -> dict[str, Any]:
    properties = {f"f{i}": {"type": "string", "format": one} for i, one in enumerate(formats)}
    schema = {"type": "object", "properties": properties}
    return {"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}, {}]}}


def test_formats_that_nobody_checks() -> None:
    obj = _definition("date-time", "colour", "int-or-string")
    assert list(warned.definition_warnings(obj, None)) == [
        'unrecognized format "colour"',
        'unrecognized format "int-or-string"',
    ]
    assert list(warned.definition_warnings(obj, _definition("colour"))) == [
        'unrecognized format "int-or-string"'
    ]


def test_formats_anywhere_in_a_schema() -> None:
    inner = {"type": "string", "format": "x"}
    schema = {"items": {"allOf": [{"additionalProperties": inner}]}, "format": "int32"}
    obj = {"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}}
    assert list(warned.definition_warnings(obj, None)) == [
        'unrecognized format "int32"',
        'unrecognized format "x"',
    ]


@pytest.mark.parametrize(
    ("type_", "format_"),
    [
        ("object", "date"),
        ("integer", "date"),
        ("integer", "double"),
        ("number", "int32"),
        ("string", "int32"),
        ("boolean", "ipv4"),
        ("array", "uuid"),
    ],
)
def test_formats_on_types_they_are_not_for(type_: str, format_: str) -> None:
    schema = {"type": "object", "properties": {"v": {"type": type_, "format": format_}}}
    obj = {"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}}
    assert list(warned.definition_warnings(obj, None)) == [f'unrecognized format "{format_}"']


def test_finalizers_of_custom_resources() -> None:
    old = {"metadata": {"finalizers": ["old"]}}
    obj = {"metadata": {"finalizers": ["old", "new", "n.io", "orphan", "a.io/b", "c/d/e"]}}
    with answering_as("1.31"):
        assert not any("(/)" in one for one in warned.custom_resource_warnings(obj, old))
    found = list(warned.custom_resource_warnings(obj, old))
    assert found[0].startswith('metadata.finalizers: "c/d/e": a valid label key must consist of')
    assert found[1:] == [
        'metadata.finalizers: "n.io": prefer a domain-qualified finalizer name including a path '
        "(/) to avoid accidental conflicts with other finalizer writers",
        'metadata.finalizers: "new": prefer a domain-qualified finalizer name to avoid '
        "accidental conflicts with other finalizer writers",
    ]
