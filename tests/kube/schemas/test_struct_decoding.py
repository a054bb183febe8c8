"""What passing through a Go struct does to an object."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.names import GroupVersionKind, parse_api_version
from celadon.kube.releases import answering_as
from celadon.kube.schemas import schema_packs
from celadon.kube.schemas.struct_decoding import (
    codec_for,
    empty_values,
    round_trip,
    struct_codec,
    with_empty_values,
)
from celadon.kube.schemas.value_decoding import DecodeError

APPS_V1 = "apps/v1/Deployment"


def gvk(kind: str) -> GroupVersionKind:
    api_version, _, name = kind.rpartition("/")
    return GroupVersionKind(*parse_api_version(api_version), name)


def at(obj: Any, path: str) -> Any:
    for part in path.split("."):
        obj = obj[int(part)] if part.isdigit() else obj.get(part, "<absent>")
    return obj


@pytest.mark.parametrize(
    ("kind", "obj", "path", "want"),
    [
        ("v1/ConfigMap", {"data": {}}, "data", "<absent>"),
        ("v1/ConfigMap", {"data": {"a": None}}, "data", {"a": ""}),
        ("v1/ConfigMap", {"Data": {"a": "b"}}, "Data", "<absent>"),
        ("v1/ConfigMap", {"immutable": False}, "immutable", False),
        ("v1/ConfigMap", {}, "metadata", {}),
        ("v1/ConfigMap", {"metadata": {"labels": {"a": None}}}, "metadata.labels.a", ""),
        ("v1/Pod", {"spec": {"hostNetwork": False}}, "spec.hostNetwork", "<absent>"),
        ("v1/Pod", {"spec": {"containers": None}}, "spec.containers", None),
        ("v1/Pod", {"spec": {"containers": []}}, "spec.containers", []),
        ("v1/Pod", {"spec": {"containers": [None]}}, "spec.containers.0.name", ""),
        ("v1/Pod", {"spec": {"containers": [{}]}}, "spec.containers.0.resources", {}),
        ("v1/Pod", {"spec": {"securityContext": {}}}, "spec.securityContext", {}),
        (
            "v1/Pod",
            {"spec": {"automountServiceAccountToken": False}},
            "spec.automountServiceAccountToken",
            False,
        ),
        (
            "v1/Pod",
            {"spec": {"containers": [{"args": [None, "x"]}]}},
            "spec.containers.0.args",
            ["", "x"],
        ),
        (
            "v1/Pod",
            {"spec": {"containers": [{"resources": {"limits": {"cpu": 0.1, "memory": None}}}]}},
            "spec.containers.0.resources.limits",
            {"cpu": "100m", "memory": "0"},
        ),
        (
            "batch/v1/CronJob",
            {"status": {"lastScheduleTime": "0001-01-01T01:00:00+01:00"}},
            "status.lastScheduleTime",
            None,
        ),
        (
            "coordination.k8s.io/v1/Lease",
            {"spec": {"renewTime": "0001-01-01T00:00:00.000000Z"}},
            "spec.renewTime",
            None,
        ),
        (
            APPS_V1,
            {"spec": {"template": {"metadata": {"creationTimestamp": "0001-01-01T00:00:00Z"}}}},
            "spec.template.metadata.creationTimestamp",
            "<absent>",
        ),
        (APPS_V1, {"spec": {"replicas": 0}}, "spec.replicas", 0),
        (APPS_V1, {"spec": {"minReadySeconds": 0}}, "spec.minReadySeconds", "<absent>"),
        (
            APPS_V1,
            {},
            "spec",
            {
                "selector": None,
                "strategy": {},
                "template": {"metadata": {}, "spec": {"containers": None}},
            },
        ),
        (APPS_V1, {"status": None}, "status", {}),
        ("rbac.authorization.k8s.io/v1/Role", {}, "rules", None),
        ("rbac.authorization.k8s.io/v1/Role", {"rules": []}, "rules", []),
        (
            "v1/Event",
            {"firstTimestamp": "2026-01-01T01:00:00+01:00"},
            "firstTimestamp",
            "2026-01-01T00:00:00Z",
        ),
        ("v1/Event", {}, "eventTime", None),
        (
            "coordination.k8s.io/v1/Lease",
            {"spec": {"renewTime": "2026-01-01T00:00:00.000000+00:00"}},
            "spec.renewTime",
            "2026-01-01T00:00:00.000000Z",
        ),
        ("v1/Secret", {"data": {"a": "AB=="}}, "data.a", "AA=="),
        (
            "v1/Service",
            {"spec": {"ports": [{"targetPort": "web"}]}},
            "spec.ports.0",
            {"port": 0, "targetPort": "web"},
        ),
        (
            "apps/v1/ControllerRevision",
            {"data": {"free": [1, None]}},
            "data",
            {"free": [1, None]},
        ),
        (
            "apiextensions.k8s.io/v1/CustomResourceDefinition",
            {
                "spec": {
                    "versions": [
                        {
                            "schema": {
                                "openAPIV3Schema": {
                                    "additionalProperties": False,
                                    "additionalItems": {"type": "string", "nope": 1},
                                    "maximum": 1.5,
                                    "minimum": 0,
                                    "allOf": [{"items": [{"nope": 1}, None]}],
                                    "dependencies": {"a": ["b"], "c": {"nope": 1}},
                                    "items": {"type": "string", "nope": 1},
                                    "default": {"a": None},
                                    "enum": [None, 1],
                                }
                            }
                        }
                    ]
                }
            },
            "spec.versions.0.schema.openAPIV3Schema",
            {
                "additionalProperties": False,
                "additionalItems": {"type": "string"},
                "maximum": 1.5,
                "minimum": 0,
                "allOf": [{"items": [{}, {}]}],
                "dependencies": {"a": ["b"], "c": {}},
                "items": {"type": "string"},
                "default": {"a": None},
                "enum": [None, 1],
            },
        ),
    ],
)
def test_round_trip(kind: str, obj: Any, path: str, want: Any) -> None:
    before = json.dumps(obj)
    made = round_trip(obj, gvk(kind))
    assert at(made, path) == want
    assert json.dumps(obj) == before


UNMARSHAL = "json: cannot unmarshal"


@pytest.mark.parametrize(
    ("kind", "obj", "message"),
    [
        (
            APPS_V1,
            {"spec": {"replicas": "3"}},
            f"{UNMARSHAL} string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            APPS_V1,
            {"spec": {"replicas": 1.5}},
            f"{UNMARSHAL} number 1.5 into Go struct field DeploymentSpec.spec.replicas of type "
            "int32",
        ),
        (
            APPS_V1,
            {"spec": {"replicas": 2**31}},
            f"{UNMARSHAL} number 2147483648 into Go struct field DeploymentSpec.spec.replicas of "
            "type int32",
        ),
        (
            APPS_V1,
            {"spec": True},
            f"{UNMARSHAL} bool into Go struct field Deployment.spec of type v1.DeploymentSpec",
        ),
        (
            "v1/ConfigMap",
            {"data": {"a": 1}},
            f"{UNMARSHAL} number into Go struct field ConfigMap.data of type string",
        ),
        (
            "v1/ConfigMap",
            {"data": 1},
            f"{UNMARSHAL} number into Go struct field ConfigMap.data of type map[string]string",
        ),
        (
            "v1/Pod",
            {"spec": {"containers": [{"ports": [{"containerPort": "x"}]}]}},
            f"{UNMARSHAL} string into Go struct field "
            "ContainerPort.spec.containers.ports.containerPort of type int32",
        ),
        (
            "v1/Pod",
            {"spec": {"containers": {}}},
            f"{UNMARSHAL} object into Go struct field PodSpec.spec.containers of type "
            "[]v1.Container",
        ),
        (
            "v1/Pod",
            {"spec": {"hostNetwork": "yes"}},
            f"{UNMARSHAL} string into Go struct field PodSpec.spec.hostNetwork of type bool",
        ),
        (
            "v1/Pod",
            {"metadata": {"creationTimestamp": []}},
            f"{UNMARSHAL} array into Go struct field ObjectMeta.metadata.creationTimestamp of "
            "type string",
        ),
        (
            "v1/Service",
            {"spec": {"ports": [{"targetPort": True}]}},
            f"{UNMARSHAL} bool into Go struct field ServicePort.spec.ports.targetPort of type "
            "int32",
        ),
        (
            "v1/Pod",
            {"spec": {"volumes": [{"name": "v", "emptyDir": 1}]}},
            f"{UNMARSHAL} number into Go struct field Volume.spec.volumes.VolumeSource.emptyDir "
            "of type v1.EmptyDirVolumeSource",
        ),
        (
            "v1/Pod",
            {"spec": {"containers": [{"resources": {"limits": []}}]}},
            f"{UNMARSHAL} array into Go struct field ResourceRequirements.spec.containers"
            ".resources.limits of type v1.ResourceList",
        ),
        (
            "v1/Event",
            {"eventTime": 1},
            f"{UNMARSHAL} number into Go struct field Event.eventTime of type string",
        ),
        (
            "apiextensions.k8s.io/v1/CustomResourceDefinition",
            {"spec": {"versions": [{"schema": {"openAPIV3Schema": {"maximum": "1"}}}]}},
            f"{UNMARSHAL} string into Go struct field JSONSchemaProps.spec.versions.schema"
            ".openAPIV3Schema.maximum of type float64",
        ),
        (
            "v1/Event",
            {"firstTimestamp": "never"},
            'parsing time "never" as "2006-01-02T15:04:05Z07:00": cannot parse "never" as "2006"',
        ),
        (
            "v1/Secret",
            {"data": {"a": 5}},
            f"{UNMARSHAL} number into Go struct field Secret.data of type []uint8",
        ),
        ("v1/Secret", {"data": {"a": "!"}}, "illegal base64 data at input byte 0"),
        (
            "v1/Pod",
            {"spec": {"overhead": {"cpu": True}}},
            "quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (
            "v1/Event",
            {"eventTime": "2024-01-02T03:04:05Z"},
            'parsing time "2024-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot '
            'parse "Z" as ".000000"',
        ),
        (
            "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy",
            {"spec": {"failurePolicy": 5}},
            f"{UNMARSHAL} number into Go struct field ValidatingAdmissionPolicySpec"
            ".spec.failurePolicy of type v1.FailurePolicyType",
        ),
        (
            "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy",
            {"spec": {"matchConstraints": {"resourceRules": [{"scope": 1}]}}},
            f"{UNMARSHAL} number into Go struct field NamedRuleWithOperations.spec"
            ".matchConstraints.resourceRules.RuleWithOperations.Rule.scope of type v1.ScopeType",
        ),
        (
            "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding",
            {"spec": {"validationActions": "Deny"}},
            f"{UNMARSHAL} string into Go struct field ValidatingAdmissionPolicyBindingSpec.spec"
            ".validationActions of type []v1.ValidationAction",
        ),
        (
            "apiextensions.k8s.io/v1/CustomResourceDefinition",
            {"spec": {"versions": [{"schema": {"openAPIV3Schema": {"additionalProperties": 1}}}]}},
            "boolean or JSON schema expected",
        ),
    ],
)
def test_refused(kind: str, obj: Any, message: str) -> None:
    with pytest.raises(DecodeError) as error:
        round_trip(obj, gvk(kind))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("schema", "older", "newer"),
    [
        ({"items": {"not": {"type": 5}}}, "items of type string", "items.not.type of type string"),
        (
            {"items": {"items": {"properties": {"a": 5}}}},
            "items of type v1.JSONSchemaProps",
            "items.items.properties of type v1.JSONSchemaProps",
        ),
        (
            {"additionalProperties": {"title": 5}},
            "additionalProperties of type string",
            "additionalProperties.title of type string",
        ),
        ({"dependencies": {"a": [5]}}, *["dependencies of type string"] * 2),
        ({"not": {"type": 5}}, *["not.type of type string"] * 2),
    ],
)
def test_types_that_read_by_themselves_have_named_fields_since_1_35(
    schema: Any, older: str, newer: str
) -> None:
    definition = gvk("apiextensions.k8s.io/v1/CustomResourceDefinition")
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]
    for release, ending in (("1.34", older), ("1.35", newer)):
        with answering_as(release), pytest.raises(DecodeError) as error:
            round_trip({"spec": {"versions": versions}}, definition)
        assert str(error.value).endswith(f"schema.openAPIV3Schema.{ending}")


def test_dependencies_may_be_anything() -> None:
    """What is neither a schema nor a list is passed over."""
    schema = {"openAPIV3Schema": {"dependencies": {"a": 5}}}
    definition = {"spec": {"versions": [{"name": "v1", "schema": schema}]}}
    found: Any = round_trip(definition, gvk("apiextensions.k8s.io/v1/CustomResourceDefinition"))
    made = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert made == {"dependencies": {"a": None}}


@pytest.mark.parametrize(
    ("kind", "obj", "steps"),
    [
        ("v1/Pod", 1, ()),
        (
            "v1/Pod",
            {"spec": {"containers": [None, {}, {"ports": [{"hostPort": "x"}]}]}},
            ("spec", "containers", 2, "ports", 0, "hostPort"),
        ),
        (
            "v1/Pod",
            {"spec": {"volumes": [{"name": "v", "emptyDir": 1}]}},
            ("spec", "volumes", 0, "emptyDir"),
        ),
        (
            "v1/Pod",
            {"spec": {"overhead": {"cpu": "1", "a.b/c": True}}},
            ("spec", "overhead", "a.b/c"),
        ),
        ("v1/Pod", {"metadata": {"finalizers": ["a", 5]}}, ("metadata", "finalizers", 1)),
        ("v1/Pod", {"metadata": {"labels": {"a": "b", "c": 5}}}, ("metadata", "labels", "c")),
        ("v1/Secret", {"data": {"": "!"}}, ("data", "")),
        (
            "apiextensions.k8s.io/v1/CustomResourceDefinition",
            {
                "spec": {
                    "versions": [{"schema": {"openAPIV3Schema": {"items": [{}, {"maximum": "1"}]}}}]
                }
            },
            ("spec", "versions", 0, "schema", "openAPIV3Schema", "items", 1, "maximum"),
        ),
    ],
)
def test_refused_at(kind: str, obj: Any, steps: tuple[str | int, ...]) -> None:
    with pytest.raises(DecodeError) as error:
        round_trip(obj, gvk(kind))
    assert error.value.path.steps == steps


QUANTITY = (
    r"quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


@pytest.mark.parametrize(
    ("kind", "obj", "message"),
    [
        (
            APPS_V1,
            {"spec": {"replicas": "x", "template": {"spec": {"overhead": {"cpu": "25%"}}}}},
            QUANTITY,
        ),
        (
            "v1/Event",
            {"involvedObject": {"namespace": {}}, "lastTimestamp": "2024-01-01"},
            'parsing time "2024-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"',
        ),
        (
            "v1/Service",
            {"spec": {"clusterIP": 1, "ports": [{"targetPort": 1.5}]}},
            "json: cannot unmarshal number 1.5 into Go struct field ServicePort.spec.ports."
            "targetPort of type int32",
        ),
        (
            "v1/Secret",
            {"immutable": 1, "data": {"a": "!"}},
            "json: cannot unmarshal number into Go struct field Secret.immutable of type bool",
        ),
        (
            APPS_V1,
            {"spec": {"replicas": "x", "template": {"spec": {"overhead": ["25%"]}}}},
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of "
            "type int32",
        ),
    ],
)
def test_a_value_that_reads_itself_ends_the_reading(kind: str, obj: Any, message: str) -> None:
    """Values of wrong types before it are forgotten, texts of bytes are not read by themselves."""
    with pytest.raises(DecodeError) as error:
        round_trip(obj, gvk(kind))
    assert str(error.value) == message


def test_values_that_came_empty() -> None:
    codec = codec_for(gvk("v1/Pod"))
    assert codec is not None
    obj: Any = {
        "metadata": {"labels": {}, "annotations": None, "unknown": []},
        "spec": {"volumes": [{"emptyDir": {}}, {"secret": {"items": []}}], "hostname": ""},
    }
    found = empty_values(codec, obj)
    assert found == (
        (("metadata", "labels"), {}),
        (("spec", "volumes", 1, "secret", "items"), []),
    )
    made: Any = {"metadata": {}, "spec": {"volumes": [{}]}}
    assert with_empty_values(made, found) == {
        "metadata": {"labels": {}},
        "spec": {"volumes": [{}]},
    }
    made["metadata"] = {"labels": {"a": "b"}}
    assert with_empty_values(made, found) == made


def test_bytes_that_came_empty() -> None:
    codec = codec_for(gvk("certificates.k8s.io/v1/CertificateSigningRequest"))
    assert codec is not None
    assert empty_values(codec, {"spec": {"request": ""}}) == ((("spec", "request"), ""),)


@pytest.mark.usefixtures("usual_calls")
@pytest.mark.parametrize("levels", [600, 900, 5_000])
def test_deep_objects_are_refused(levels: int) -> None:
    deep: Any = {}
    for _ in range(levels):
        deep = {"not": deep}
    crd = {"spec": {"versions": [{"schema": {"openAPIV3Schema": deep}}]}}
    with pytest.raises(DecodeError, match=r"^exceeded max depth$"):
        round_trip(crd, gvk("apiextensions.k8s.io/v1/CustomResourceDefinition"))


def test_kinds_that_are_not_built_in() -> None:
    assert round_trip({"a": 1}, gvk("example.com/v1/Widget")) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["metadata", "spec", "template", "containers", "labels", "env"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["metadata", "spec", "status", "data"]), JSON))
def test_any_object_is_read_or_refused(obj: Any) -> None:
    for kind in (APPS_V1, "v1/Pod", "v1/Secret"):
        try:
            made = round_trip(obj, gvk(kind))
        except DecodeError:
            continue
        assert round_trip(made, gvk(kind)) == made


def test_every_kind_has_a_zero_form_that_stays() -> None:
    for entry in schema_packs.load("schemas").values():
        if "gvk" in entry:
            kind = GroupVersionKind(*entry["gvk"])
            made = round_trip({}, kind)
            assert round_trip(made, kind) == made


def test_empty_values_of_schemas_in_schemas() -> None:
    """Which read their JSON by themselves."""
    schema = {"items": {"required": []}, "additionalProperties": {"enum": []}, "allOf": []}
    codec = struct_codec(schema_packs.JSON_SCHEMA)
    assert [empty.path for empty in empty_values(codec, schema)] == [
        ("items", "required"),
        ("additionalProperties", "enum"),
        ("allOf",),
    ]
