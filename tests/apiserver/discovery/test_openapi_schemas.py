"""Schemas of built-in types; `test_version_documents` compares them with those of real servers."""

from __future__ import annotations

import pytest

from celadon.apiserver.discovery.openapi_paths import built_in_schema
from celadon.kube.releases import answering_as


def test_a_type() -> None:
    assert built_in_schema("io.k8s.api.core.v1.ContainerPort") == {
        "type": "object",
        "required": ["containerPort"],
        "properties": {
            "containerPort": {"default": 0, "type": "integer", "format": "int32"},
            "hostIP": {"type": "string"},
            "hostPort": {"type": "integer", "format": "int32"},
            "name": {"type": "string"},
            "protocol": {"default": "TCP", "type": "string", "enum": ["SCTP", "TCP", "UDP"]},
        },
    }


@pytest.mark.parametrize(
    ("release", "want"),
    [
        (
            "1.35",
            {"default": {}, "allOf": [{"$ref": "#/components/schemas/io.k8s.api.core.v1.EnvVar"}]},
        ),
        ("1.36", {"$ref": "#/components/schemas/io.k8s.api.core.v1.EnvVar"}),
    ],
)
def test_items_had_a_default_before_1_36(release: str, want: dict[str, object]) -> None:
    with answering_as(release):
        env = built_in_schema("io.k8s.api.core.v1.Container")["properties"]["env"]
    assert env["items"] == want


def test_defaults_that_go_does_not_write() -> None:
    name = built_in_schema("io.k8s.api.core.v1.LocalObjectReference")["properties"]["name"]
    assert name == {"default": "", "type": "string"}


def test_fields_that_exclude_each_other() -> None:
    unions = built_in_schema("io.k8s.api.core.v1.SeccompProfile")["x-kubernetes-unions"]
    fields = {"localhostProfile": "LocalhostProfile"}
    assert unions == [{"discriminator": "type", "fields-to-discriminateBy": fields}]


def test_a_mention_without_a_text_stands_alone() -> None:
    http = built_in_schema("io.k8s.api.networking.v1.IngressRule")["properties"]["http"]
    assert http.keys() == {"$ref"}
