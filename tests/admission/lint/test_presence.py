"""Which fields an object surely has when a policy sees it."""

from __future__ import annotations

import pytest

from celadon.admission.lint.flow import field_schema, is_demanded_of_rule, is_present, node_of_rule
from celadon.admission.lint.lint_context import ITEM
from celadon.kube import GroupVersionKind
from celadon.kube.schemas import decode_schema, schema_for

KINDS = {
    "Pod": GroupVersionKind("", "v1", "Pod"),
    "Service": GroupVersionKind("", "v1", "Service"),
    "Deployment": GroupVersionKind("apps", "v1", "Deployment"),
    "ReplicationController": GroupVersionKind("", "v1", "ReplicationController"),
    "Job": GroupVersionKind("batch", "v1", "Job"),
    "Secret": GroupVersionKind("", "v1", "Secret"),
    "Lease": GroupVersionKind("coordination.k8s.io", "v1", "Lease"),
    "PodDisruptionBudget": GroupVersionKind("policy", "v1", "PodDisruptionBudget"),
    "CustomResourceDefinition": GroupVersionKind(
        "apiextensions.k8s.io", "v1", "CustomResourceDefinition"
    ),
}


def path(text: str) -> tuple[str, ...]:
    """`*` stands for an item."""
    return tuple(ITEM if step == "*" else step for step in text.split(".") if step)


@pytest.mark.parametrize(
    ("kind", "text", "present"),
    [
        ("Pod", "", True),
        *(("Pod", name, True) for name in ("apiVersion", "kind", "metadata")),
        *(
            ("Pod", f"metadata.{name}", True)
            for name in (
                *("creationTimestamp", "generation", "managedFields", "name", "namespace", "uid"),
            )
        ),
        *(
            ("Pod", f"metadata.{name}", False)
            for name in ("labels", "annotations", "generateName", "finalizers", "resourceVersion")
        ),
        ("Pod", "metadata.labels.app", False),
        ("ReplicationController", "spec.template", True),
        ("ReplicationController", "spec.template.spec", True),
        ("Pod", "spec.containers", True),
        ("Pod", "spec.containers.*", True),
        ("Pod", "spec.containers.*.image", True),
        ("Pod", "spec.initContainers.*.image", True),
        ("Pod", "spec.ephemeralContainers.*.image", False),
        ("Pod", "spec.containers.*.imagePullPolicy", True),
        ("Pod", "spec.containers.*.resources", True),
        ("Pod", "spec.containers.*.resources.limits", False),
        ("Pod", "spec.containers.*.securityContext", False),
        ("Pod", "spec.containers.*.ports.*.protocol", True),
        ("Pod", "spec.containers.*.ports.*.hostPort", False),
        ("Pod", "spec.containers.*.livenessProbe.periodSeconds", True),
        ("Pod", "spec.containers.*.livenessProbe.httpGet", False),
        ("Pod", "spec.containers.*.livenessProbe.httpGet.port", True),
        ("Pod", "spec.containers.*.livenessProbe.httpGet.scheme", True),
        ("Pod", "spec.restartPolicy", True),
        ("Pod", "spec.hostNetwork", False),
        ("Pod", "spec.nodeSelector.zone", False),
        ("Pod", "spec.volumes.*.name", True),
        ("Pod", "spec.volumes.*.secret.defaultMode", True),
        ("Pod", "spec.volumes.*.emptyDir.sizeLimit", False),
        ("Pod", "status", True),
        ("Service", "spec.type", True),
        ("Service", "spec.ports.*.targetPort", True),
        ("Service", "spec.ports.*.nodePort", False),
        ("Service", "spec.externalName", False),
        ("Deployment", "spec.replicas", True),
        ("Deployment", "spec.paused", False),
        ("Deployment", "spec.selector.matchLabels", True),
        ("Deployment", "spec.selector.matchExpressions", False),
        ("Deployment", "spec.template.metadata.labels", True),
        ("Deployment", "spec.template.metadata.annotations", False),
        ("Deployment", "spec.strategy.rollingUpdate.maxSurge", True),
        ("Job", "spec.backoffLimit", True),
        ("Job", "spec.activeDeadlineSeconds", False),
        ("Secret", "type", True),
        ("Secret", "data", False),
        ("Lease", "spec.renewTime", False),
        ("PodDisruptionBudget", "spec.maxUnavailable", False),
        ("CustomResourceDefinition", "spec.names.plural", True),
        ("CustomResourceDefinition", "spec.names.listKind", True),
        ("CustomResourceDefinition", "spec.names.shortNames", False),
        ("CustomResourceDefinition", "spec.versions.*.served", True),
    ],
)
def test_built_in_kinds(kind: str, text: str, present: bool) -> None:
    gvk = KINDS[kind]
    schema = schema_for(gvk)
    assert schema is not None
    assert is_present(schema, gvk, path(text)) is present


CUSTOM = GroupVersionKind("x.io", "v1", "Limit")
SCHEMA = decode_schema(
    {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "required": ["must"],
                "properties": {
                    "must": {"type": "string"},
                    "may": {"type": "string"},
                    "default": {"type": "integer", "default": 0},
                    "list": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["name"],
                            "properties": {"name": {"type": "string"}, "x": {"type": "string"}},
                        },
                    },
                    "map": {"type": "object", "additionalProperties": {"type": "string"}},
                },
            },
        },
    }
)


@pytest.mark.parametrize(
    ("text", "present"),
    [
        ("spec", False),
        ("spec.must", True),
        ("spec.may", False),
        ("spec.default", True),
        ("spec.nope", False),
        ("spec.list.*.name", True),
        ("spec.list.*.x", False),
        ("spec.map.x", False),
        ("nope.deeper", True),
        ("metadata.labels", False),
        ("metadata.name", True),
    ],
)
def test_custom_kinds(text: str, present: bool) -> None:
    """Of what nobody has declared nothing is said."""
    assert is_present(SCHEMA, CUSTOM, path(text)) is present


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("", "object"),
        ("spec.must", "string"),
        ("spec.list", "array"),
        ("spec.list.*", "object"),
        ("spec.list.*.name", "string"),
        ("spec.list.name", None),
        ("spec.map.anything", "string"),
        ("spec.map.*", "string"),
        ("spec.must.deeper", None),
        ("nope", None),
    ],
)
def test_schemas_of_fields(text: str, type_: str | None) -> None:
    found = field_schema(SCHEMA, path(text))
    assert (None if found is None else found.type) == type_


NODE = decode_schema(
    {
        "type": "object",
        "required": ["must"],
        "properties": {
            "must": {"type": "string"},
            "may": {"type": "object", "properties": {"inner": {"type": "integer"}}},
            "set-by-default": {"type": "string", "default": "x"},
            "some": {"type": "string"},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "list": {"type": "array", "items": {"type": "string"}},
            "embedded": {"type": "object", "x-kubernetes-embedded-resource": True},
        },
        "anyOf": [{"required": ["some"]}, {"properties": {"may": {"required": ["inner"]}}}],
    }
)


@pytest.mark.parametrize(
    ("text", "type_", "demanded"),
    [
        ("", "object", None),
        ("must", "string", True),
        ("may", "object", False),
        ("may.inner", "integer", True),
        ("set__dash__by__dash__default", "string", True),
        ("some", "string", True),
        ("map", "object", False),
        ("map.key", "string", False),
        ("list.*", "string", True),
        ("embedded.kind", None, True),
        ("nope", None, None),
        ("nope.deeper", None, True),
    ],
)
def test_what_rules_of_definitions_read(
    text: str, type_: str | None, demanded: bool | None
) -> None:
    node = node_of_rule(NODE, path(text))
    assert (None if node is None else node.type) == type_
    if demanded is not None:
        assert is_demanded_of_rule(NODE, path(text), is_root=False) is demanded


@pytest.mark.parametrize("text", ["apiVersion", "kind", "metadata", "metadata.name"])
def test_whole_objects_have_names(text: str) -> None:
    fields = {name: {"type": "string"} for name in ("apiVersion", "kind")}
    metadata = {"type": "object", "properties": {"name": {"type": "string"}}}
    schema = decode_schema({"type": "object", "properties": {**fields, "metadata": metadata}})
    assert is_demanded_of_rule(schema, path(text), is_root=True)
    assert not is_demanded_of_rule(schema, path(text), is_root=False)
