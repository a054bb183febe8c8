"""Bodies read as the object of an endpoint: complaints, refusals, custom resources."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.kube.crd.custom_kinds import custom_kinds
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.names import GroupVersionKind
from celadon.kube.registry import patch
from celadon.kube.registry.decoded_object import Target
from celadon.kube.registry.request_bodies import (
    IGNORE,
    STRICT,
    WARN,
    Incoming,
    NotConverted,
    read_mutated,
    read_object,
    require_version,
    structure_of,
)
from celadon.kube.releases import answering_as
from celadon.kube.resources.api_resources import custom_resources, known_resources
from celadon.kube.status import StatusError
from celadon.records import replace

GROUP = "admissionregistration.k8s.io"
CONTEXT = DefaultingContext()

BINDING = GroupVersionKind(GROUP, "v1", "ValidatingAdmissionPolicyBinding")


def target_of(kind: GroupVersionKind) -> Target:
    resource = known_resources(all_versions=True).by_gvk(kind)
    assert resource is not None
    return Target(resource)


def read_body(body: bytes, kind: GroupVersionKind, field_validation: str = WARN) -> Incoming:
    return read_object(body, target_of(kind), CONTEXT, field_validation)


TWICE = b'{"zap":1,"spec":{"policyName":"a","x":1,"policyName":"b"}}'
COMPLAINTS = ('unknown field "zap"', 'unknown field "spec.x"', 'duplicate field "spec.policyName"')


def test_field_validation() -> None:
    body = read_body(TWICE, BINDING, WARN)
    assert body.warnings == COMPLAINTS
    assert body.draft.decoded["spec"] == {"policyName": "b"}
    assert read_body(TWICE, BINDING, IGNORE).warnings == ()
    with pytest.raises(StatusError) as caught:
        read_body(TWICE, BINDING, STRICT)
    assert caught.value.status.message == (
        'ValidatingAdmissionPolicyBinding in version "v1" cannot be handled as a '
        f"ValidatingAdmissionPolicyBinding: strict decoding error: {', '.join(COMPLAINTS)}"
    )


K = "ValidatingAdmissionPolicyBinding"
REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"apiVersion": f"{GROUP}/v1alpha1"},
        f"the API version in the data ({GROUP}/v1alpha1) does not match the expected API version "
        f"({GROUP}/v1)",
    ),
    (
        {"apiVersion": f"{GROUP}/v9"},
        f'{K} in version "v9" cannot be handled as a {K}: no kind "{K}" is registered for version '
        f'"{GROUP}/v9" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
    ),
    (
        {"apiVersion": "v1", "kind": "Pod"},
        f'Pod in version "v1" cannot be handled as a {K}: converting (v1.Pod) to '
        f"(admissionregistration.{K}): unknown conversion",
    ),
    (
        {"apiVersion": "v1", "kind": "Pod", "spec": []},
        f'Pod in version "v1" cannot be handled as a {K}: json: cannot unmarshal array into Go '
        "struct field Pod.spec of type v1.PodSpec",
    ),
    (
        {"spec": {"policyName": 5}},
        f'{K} in version "v1" cannot be handled as a {K}: json: cannot unmarshal number into Go '
        f"struct field {K}Spec.spec.policyName of type string",
    ),
]


@pytest.mark.parametrize(("document", "message"), REFUSED)
def test_refused(document: dict[str, Any], message: str) -> None:
    with pytest.raises(StatusError) as caught:
        require_version(read_body(json.dumps(document).encode(), BINDING), target_of(BINDING))
    assert caught.value.code == 400
    assert caught.value.status.message == message


MAP = GroupVersionKind("", "v1", "ConfigMap")
NOT_MAPS: list[tuple[bytes, str]] = [
    (
        b'{"apiVersion":"apps/","kind":"ConfigMap"}',
        'ConfigMap in version "" cannot be handled as a ConfigMap: '
        """Object 'apiVersion' is missing in '{"apiVersion":"apps/","kind":"ConfigMap"}'""",
    ),
    (
        b'{"apiVersion":"v1","kind":"Status"}',
        'Status in version "v1" cannot be handled as a ConfigMap: converting (v1.Status) to '
        "(core.ConfigMap): unknown conversion",
    ),
    (
        b'{"apiVersion":"v1","kind":"Status","status":5}',
        'Status in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number '
        "into Go struct field Status.status of type string",
    ),
    (
        b'{"apiVersion":"v1","kind":"PodExecOptions"}',
        'PodExecOptions in version "v1" cannot be handled as a ConfigMap: converting '
        "(v1.PodExecOptions) to (core.ConfigMap): unknown conversion",
    ),
]


@pytest.mark.parametrize(("body", "message"), NOT_MAPS)
def test_what_is_no_object_of_a_core_endpoint(body: bytes, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        read_body(body, MAP)
    assert (caught.value.code, caught.value.status.message) == (400, message)


def test_numbers_are_shown_as_they_were_written() -> None:
    kind = GroupVersionKind(GROUP, "v1", "ValidatingWebhookConfiguration")
    with pytest.raises(StatusError, match="cannot unmarshal number 1e1 into Go struct field "):
        read_body(b'{"webhooks":[{"timeoutSeconds":1e1}]}', kind)


def test_what_another_reader_noticed_comes_first() -> None:
    noticed = ["line 3: key already set"]
    target = target_of(BINDING)
    read = read_object(b'{"zap":1}', target, CONTEXT, WARN, noticed)
    assert read.warnings == (*noticed, 'unknown field "zap"')
    assert read_object(b'{"zap":1}', target, CONTEXT, IGNORE, noticed).warnings == ()


DEFINITION = {
    "kind": "CustomResourceDefinition",
    "spec": {
        "group": "x.io",
        "names": {"kind": "Box", "plural": "boxes"},
        "scope": "Namespaced",
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
                                "properties": {"size": {"type": "integer", "default": 1}},
                            },
                            "inner": {"type": "object", "x-kubernetes-embedded-resource": True},
                        },
                    }
                },
            }
        ],
    },
}
BOX = GroupVersionKind("x.io", "v1", "Box")
BOXES = Target(custom_resources(DEFINITION)[0], "ns", custom=custom_kinds(DEFINITION)[BOX])


def test_numbers_of_custom_resources_that_no_double_holds() -> None:
    body = b'{"apiVersion":"x.io/v1","kind":"Box","spec":{"size":1e400}}'
    with pytest.raises(StatusError) as caught:
        read_object(body, BOXES, CONTEXT)
    assert (caught.value.code, caught.value.status.message) == (
        400,
        'Box in version "v1" cannot be handled as a Box: json: cannot unmarshal number 1e400 into '
        "Go value of type float64",
    )


def test_custom_resources_are_pruned_and_defaulted() -> None:
    body = (
        b'{"apiVersion":"x.io/v1","kind":"Box","metadata":{"zip":1,"name":"a","":1},'
        b'"spec":{"zap":1,"zap":2},"zip":1}'
    )
    read = read_object(body, BOXES, CONTEXT)
    assert read.draft.decoded["spec"] == {"size": 1}
    assert "zip" not in read.draft.decoded
    assert read.warnings == (
        'duplicate field "spec.zap"',
        'unknown field "metadata."',
        'unknown field "metadata.zip"',
        'unknown field "spec.zap"',
        'unknown field "zip"',
    )


CUSTOM_REFUSALS = [
    (
        '{"apiVersion":"x.io/v1"}',
        400,
        "the object provided is unrecognized (must be of type Box): Object 'Kind' is missing in "
        """'{"apiVersion":"x.io/v1"}' ({"apiVersion":"x.io/v1"})""",
    ),
    (
        '{"apiVersion":"x.io/v1","kind":"Box","metadata":{"labels":5}}',
        400,
        'Box in version "v1" cannot be handled as a Box: json: cannot unmarshal number into Go '
        "struct field ObjectMeta.labels of type map[string]string",
    ),
    (
        '{"apiVersion":"x.io/v1","kind":"Box","metadata":{"managedFields":"x","generation":[]}}',
        400,
        'Box in version "v1" cannot be handled as a Box: json: cannot unmarshal array into Go '
        "struct field ObjectMeta.generation of type int64",
    ),
    (
        '{"apiVersion":"x.io/v1","kind":"Box","metadata":{},"inner":{"kind":1}}',
        400,
        'Box in version "v1" cannot be handled as a Box: inner.kind: Invalid value: 1: must be a '
        "string",
    ),
]


@pytest.mark.parametrize(("body", "code", "message"), CUSTOM_REFUSALS)
def test_refused_custom_resources(body: str, code: int, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        read_object(body.encode(), BOXES, CONTEXT)
    assert (caught.value.code, str(caught.value)) == (code, message)


FORMER = [
    ("policy", "v1beta1", "Eviction"),
    (GROUP, "v1beta1", "ValidatingAdmissionPolicy"),
    (GROUP, "v1alpha1", "ValidatingAdmissionPolicy"),
    (GROUP, "v1beta1", "ValidatingAdmissionPolicyBinding"),
    (GROUP, "v1alpha1", "ValidatingAdmissionPolicyBinding"),
    (GROUP, "v1beta1", "ValidatingWebhookConfiguration"),
    (GROUP, "v1beta1", "MutatingWebhookConfiguration"),
    ("apiregistration.k8s.io", "v1beta1", "APIService"),
    ("apps", "v1beta2", "Deployment"),
    ("apps", "v1beta2", "DeploymentList"),
    ("batch", "v1beta1", "CronJob"),
    ("storage.k8s.io", "v1alpha1", "VolumeAttachment"),
]


@pytest.mark.parametrize(("group", "version", "kind"), FORMER)
def test_versions_that_are_no_longer_served_are_read_like_v1(
    group: str, version: str, kind: str
) -> None:
    found = GroupVersionKind(group, version, kind)
    assert structure_of(found) == found._replace(version="v1")
    assert structure_of(found._replace(version="v9")) == found._replace(version="v9")


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (
            "apiextensions.k8s.io/v1beta1 CustomResourceDefinition",
            "apiextensions.k8s.io/v1 CustomResourceDefinition",
        ),
        ("apps/v1beta1 Deployment", "apps/v1 Deployment"),
        ("extensions/v1beta1 Deployment", "apps/v1 Deployment"),
        ("extensions/v1beta1 Ingress", "networking.k8s.io/v1 Ingress"),
        ("extensions/v1beta1 Scale", "autoscaling/v1 Scale"),
        ("apps/v1beta2 Scale", "autoscaling/v1 Scale"),
        ("events.k8s.io/v1beta1 Event", "v1 Event"),
        ("events.k8s.io/v1 Event", "v1 Event"),
        ("v1 Event", "events.k8s.io/v1 Event"),
    ],
)
def test_of_a_former_group_or_version_only_the_version_is_wrong(sent: str, expected: str) -> None:
    api_version, kind = sent.split()
    expected_version, _ = expected.split()
    group, _, version = expected_version.rpartition("/")
    if kind == "Scale":
        target = replace(
            target_of(GroupVersionKind("apps", "v1", "Deployment")), subresource="scale"
        )
    else:
        target = target_of(GroupVersionKind(group, version, kind))
    body = json.dumps({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}})
    incoming = read_object(body.encode(), target, CONTEXT)
    with pytest.raises(StatusError) as caught:
        require_version(incoming, target)
    assert str(caught.value) == (
        f"the API version in the data ({api_version}) does not match the expected API version "
        f"({expected_version})"
    )


@pytest.mark.parametrize(
    ("sent", "expected", "message"),
    [
        (
            "extensions/v1beta1 IngressList",
            "networking.k8s.io/v1 Ingress",
            'IngressList in version "v1beta1" cannot be handled as a Ingress: converting '
            "(v1beta1.IngressList) to (networking.Ingress): unknown conversion",
        ),
        (
            "v1 EventList",
            "events.k8s.io/v1 Event",
            'EventList in version "v1" cannot be handled as a Event: converting (v1.EventList) to '
            "(core.Event): unknown conversion",
        ),
    ],
)
def test_lists_of_former_versions_are_known(sent: str, expected: str, message: str) -> None:
    api_version, kind = sent.split()
    group_version, item = expected.split()
    group, version = group_version.split("/")
    target = target_of(GroupVersionKind(group, version, item))
    with pytest.raises(StatusError) as caught:
        read_object(json.dumps({"apiVersion": api_version, "kind": kind}).encode(), target, CONTEXT)
    assert str(caught.value) == message


def test_fields_of_definitions_before_v1_are_not_called_unknown() -> None:
    target = target_of(GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition"))
    document = {"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": target.kind.kind}
    body = json.dumps({**document, "spec": {"validation": {}}}).encode()
    incoming = read_object(body, target, CONTEXT, "Strict")
    assert incoming.stated_kind.version == "v1beta1"


MAP = GroupVersionKind("", "v1", "ConfigMap")
BOX_KIND = custom_kinds(DEFINITION)[BOX]
AS_MUTATED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"data": {"k": "v"}, "zap": 1}, {"data": {"k": "v"}}),
    ({"kind": "ConfigMap", "data": {"k": "v"}}, {"kind": "ConfigMap", "data": {"k": "v"}}),
]


@pytest.mark.parametrize(("document", "wanted"), AS_MUTATED)
def test_what_mutators_have_made_is_decoded(
    document: dict[str, Any], wanted: dict[str, Any]
) -> None:
    decoded, draft = read_mutated(document, MAP, None, CONTEXT)
    assert {key: decoded[key] for key in decoded if key != "metadata"} == wanted
    assert draft.decoded["data"] == {"k": "v"}


def test_custom_resources_of_mutators_stay_as_they_are_and_get_their_defaults() -> None:
    document = {"apiVersion": "x.io/v1", "kind": "Box", "spec": {"zap": 1}}
    decoded, draft = read_mutated(document, BOX, BOX_KIND, CONTEXT)
    assert decoded == document
    assert draft.decoded["spec"] == {"zap": 1, "size": 1}


def test_options_of_connections_have_no_structure() -> None:
    document = {"kind": "PodExecOptions", "apiVersion": "v1", "zap": 1}
    options = GroupVersionKind("", "v1", "PodExecOptions")
    assert read_mutated(document, options, None, CONTEXT)[0] == document


MUTATED_REFUSALS: list[tuple[Any, Any, str]] = [
    ([], None, "json: cannot unmarshal array into Go value of type v1.ConfigMap"),
    (
        {"data": {"k": 1}},
        None,
        "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
    ),
    (
        {"apiVersion": "v1", "kind": "Secret"},
        None,
        "converting (v1.Secret) to (core.ConfigMap): unknown conversion",
    ),
    (
        {"kind": "Gone"},
        None,
        'Internal error occurred: no kind "Gone" is registered for version "v1" in scheme '
        '"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
    ),
    (
        {"b": [{"d": 1, "c": 2}], "a": 1},
        BOX_KIND,
        """Object 'Kind' is missing in '{"a":1,"b":[{"c":2,"d":1}]}'""",
    ),
]


@pytest.mark.parametrize(("document", "custom", "message"), MUTATED_REFUSALS)
def test_refused_results_of_mutators(document: Any, custom: Any, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        read_mutated(document, BOX if custom else MAP, custom, CONTEXT)
    assert caught.value.code == 500
    assert str(caught.value).endswith(message)


def test_another_kind_can_be_told_from_what_is_wrong() -> None:
    with pytest.raises(NotConverted):
        read_mutated({"apiVersion": "v1", "kind": "Secret"}, MAP, None, CONTEXT)
    with pytest.raises(StatusError) as caught:
        read_mutated({"apiVersion": "v1", "kind": "Secret", "data": []}, MAP, None, CONTEXT)
    assert not isinstance(caught.value, NotConverted)


SCALE = {
    "apiVersion": "autoscaling/v1",
    "kind": "Scale",
    "metadata": {"name": "a"},
    "spec": {"replicas": 3},
}
SCALES_OF_MUTATORS: list[tuple[dict[str, Any], Any]] = [
    ({"spec": {"replicas": 3.0}, "x": 1}, 3),
    ({"spec": {"replicas": 2**32 + 2}}, 2),
    ({"spec": {"replicas": 1e19}}, 0),
    ({"spec": {"replicas": "a"}}, "unrecognized type: int32"),
    ({"spec": {"replicas": 1.5}}, "cannot convert float64 to int32"),
    ({"spec": []}, "cannot restore struct from: slice"),
    ({"metadata": {"labels": {"a": 1}}}, "cannot convert int64 to string"),
    ({"spec": 1, "metadata": {"managedFields": 5}}, "cannot restore slice from int64"),
    (
        {"metadata": {"creationTimestamp": 5}},
        "json: cannot unmarshal number into Go value of type string",
    ),
]


@pytest.mark.parametrize(("changes", "result"), SCALES_OF_MUTATORS)
def test_scales_of_custom_resources_are_converted(changes: dict[str, Any], result: Any) -> None:
    document = SCALE | changes
    if isinstance(result, int):
        decoded, draft = patch.read_mutated_scale(document, CONTEXT)
        assert decoded.get("spec", {}).get("replicas", 0) == result
        assert "x" not in draft.form()
        return
    with pytest.raises(NotConverted) as caught:
        patch.read_mutated_scale(document, CONTEXT)
    kind = "autoscaling/v1, Kind=Scale"
    assert str(caught.value) == f"unable to convert unstructured object to {kind}: {result}"


@pytest.mark.parametrize(
    ("release", "kind", "message"),
    [
        (
            "1.36",
            "HorizontalPodAutoscaler",
            "converting (v1.HorizontalPodAutoscaler) to (v1.Scale): unknown conversion",
        ),
        (
            "1.36",
            "Foo",
            'no kind "Foo" is registered for version "autoscaling/v1" in scheme '
            '"k8s.io/client-go/kubernetes/scheme/register.go:82"',
        ),
        (
            "1.33",
            "Foo",
            'no kind "Foo" is registered for version "autoscaling/v1" in scheme '
            '"k8s.io/client-go/kubernetes/scheme/register.go:84"',
        ),
        (
            "1.36",
            "",
            "Internal error occurred: Object 'Kind' is missing in "
            """'{"apiVersion":"autoscaling/v1","kind":"","metadata":{"name":"a"},"""
            """"spec":{"replicas":3}}'""",
        ),
    ],
)
def test_another_kind_does_not_become_a_scale(release: str, kind: str, message: str) -> None:
    with answering_as(release), pytest.raises(StatusError) as caught:
        patch.read_mutated_scale(SCALE | {"kind": kind}, CONTEXT)
    assert str(caught.value) == message
