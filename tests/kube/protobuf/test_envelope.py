"""Bodies to the byte, and what is said of bodies that are none."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import GroupVersionKind
from celadon.kube.protobuf import (
    NoMessageError,
    ProtobufError,
    decode,
    encode,
    has_message,
    open_envelope,
)
from celadon.kube.releases import answering_as


def enveloped(api_version: str, kind: str, message: bytes) -> bytes:
    """Written out once more, for short messages."""
    meta = (
        bytes([0x0A, len(api_version)])
        + api_version.encode()
        + bytes([0x12, len(kind)])
        + kind.encode()
    )
    assert len(message) < 128
    return (
        b"k8s\0\x0a"
        + bytes([len(meta)])
        + meta
        + b"\x12"
        + bytes([len(message)])
        + message
        + (b"\x1a\x00\x22\x00")
    )


EMPTY_META = b"\x0a\x10\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x32\x00\x38\x00\x42\x00"
"""ObjectMeta with nothing set: five texts, generation and creationTimestamp are always there."""


def meta_named(name: str) -> bytes:
    return bytes([0x0A, 16 + len(name), 0x0A, len(name)]) + name.encode() + EMPTY_META[4:]


BODIES: list[tuple[str, dict[str, Any], bytes]] = [
    (
        "a namespace, with the spec and status that nobody set",
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "t1"}},
        enveloped("v1", "Namespace", meta_named("t1") + b"\x12\x00\x1a\x02\x0a\x00"),
    ),
    (
        "map entries by key, bytes as bytes, an optional boolean by its number",
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {},
            "data": {"b": "AQI=", "a": ""},
            "type": "Opaque",
            "immutable": False,
        },
        enveloped(
            "v1",
            "Secret",
            EMPTY_META
            + b"\x12\x05\x0a\x01a\x12\x00\x12\x07\x0a\x01b\x12\x02\x01\x02"
            + b"\x1a\x06Opaque\x28\x00",
        ),
    ),
    (
        "a review that a client asks for, wrapped lists, embedded messages",
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectRulesReview",
            "spec": {"namespace": "default"},
        },
        enveloped(
            "authorization.k8s.io/v1",
            "SelfSubjectRulesReview",
            EMPTY_META + b"\x12\x09\x0a\x07default\x1a\x04\x18\x00\x22\x00",
        ),
    ),
    (
        "pointers that hold zero",
        {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "gracePeriodSeconds": 0,
            "preconditions": {"uid": ""},
            "dryRun": ["All"],
        },
        enveloped("v1", "DeleteOptions", b"\x08\x00\x12\x02\x0a\x00\x2a\x03All"),
    ),
    (
        "times without fraction and with, negative numbers in ten bytes",
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "spec": {"renewTime": "1970-01-01T00:00:01.000002Z", "leaseTransitions": -1},
        },
        enveloped(
            "coordination.k8s.io/v1",
            "Lease",
            EMPTY_META + b"\x12\x12\x22\x05\x08\x01\x10\xd0\x0f\x28" + b"\xff" * 9 + b"\x01",
        ),
    ),
    (
        "a status",
        {"apiVersion": "v1", "kind": "Status", "status": "Success", "code": 200},
        enveloped(
            "v1",
            "Status",
            b"\x0a\x06\x0a\x00\x12\x00\x1a\x00\x12\x07Success\x1a\x00\x22\x00\x30\xc8\x01",
        ),
    ),
]


@pytest.mark.parametrize(("obj", "body"), [row[1:] for row in BODIES], ids=[r[0] for r in BODIES])
def test_bodies_to_the_byte(obj: dict[str, Any], body: bytes) -> None:
    assert encode(obj) == body
    assert decode(body) == {key: value for key, value in obj.items() if value != {}}


MESSAGES: list[tuple[str, str, str, bytes, dict[str, Any]]] = [
    ("the last scalar counts", "v1", "ConfigMap", b"\x20\x00\x20\x01", {"immutable": True}),
    (
        "messages merge",
        "v1",
        "ConfigMap",
        b"\x0a\x03\x0a\x01a\x0a\x03\x1a\x01b",
        {"metadata": {"name": "a", "namespace": "b"}},
    ),
    ("a later zero removes", "v1", "ConfigMap", b"\x0a\x05\x0a\x01a\x0a\x00", {}),
    (
        "unknown fields of every form are passed over",
        "v1",
        "ConfigMap",
        b"\xa0\x06\x05\xa1\x0612345678\xa2\x06\x02ab\xa5\x061234\xa3\x06\x08\x01\xa4\x06\x20\x01",
        {"immutable": True},
    ),
    (
        "map entries without key or value",
        "v1",
        "ConfigMap",
        b"\x12\x00\x12\x03\x0a\x01k\x12\x03\x12\x01v",
        {"data": {"": "v", "k": ""}},
    ),
    (
        "each byte that is no UTF-8 is a replacement character",
        "v1",
        "ConfigMap",
        b"\x12\x09\x0a\x01k\x12\x04a\xed\xa0\x80",
        {"data": {"k": "a\ufffd\ufffd\ufffd"}},
    ),
]


@pytest.mark.parametrize(
    ("api_version", "kind", "message", "want"),
    [row[1:] for row in MESSAGES],
    ids=[row[0] for row in MESSAGES],
)
def test_what_other_writers_may_send(
    api_version: str, kind: str, message: bytes, want: dict[str, Any]
) -> None:
    obj = decode(enveloped(api_version, kind, message))
    assert obj == {"apiVersion": api_version, "kind": kind, **want}


REFUSED: list[tuple[str, bytes, str]] = [
    ("nothing", b"", "empty data"),
    (
        "json",
        b'{"kind":"Pod"}',
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
    ),
    ("magic only", b"k8s\0", "empty body"),
    (
        "no kind",
        b"k8s\0\x0a\x04\x0a\x02v1",
        "Object 'Kind' is missing in 'runtime.TypeMeta{APIVersion:\"v1\", Kind:\"\"}'",
    ),
    (
        "no version",
        b"k8s\0\x0a\x05\x12\x03Pod",
        "Object 'apiVersion' is missing in 'runtime.TypeMeta{APIVersion:\"\", Kind:\"Pod\"}'",
    ),
    ("cut short", b"k8s\0\x0a\x09\x0a\x02v1", "unexpected EOF"),
    ("cut in a message", enveloped("v1", "Pod", b"\x0a\x05\x0a"), "unexpected EOF"),
    ("cut in a number", enveloped("v1", "ConfigMap", b"\x20\x80"), "unexpected EOF"),
    (
        "a length that is negative in Go",
        enveloped("v1", "Pod", b"\x0a" + b"\xff" * 9 + b"\x01"),
        "proto: negative length found during unmarshaling",
    ),
    (
        "a number of more than 64 bits",
        enveloped("v1", "ConfigMap", b"\x20" + b"\x80" * 10 + b"\x01"),
        "proto: integer overflow",
    ),
    (
        "a text for a struct",
        enveloped("v1", "Pod", b"\x08\x01"),
        "proto: wrong wireType = 0 for field ObjectMeta",
    ),
    (
        "a number for a name in capitals",
        enveloped("v1", "Pod", b"\x0a\x02\x28\x01"),
        "proto: wrong wireType = 0 for field UID",
    ),
    ("field zero", enveloped("v1", "Pod", b"\x00"), "proto: Pod: illegal tag 0 (wire type 0)"),
    (
        "the end of no group",
        enveloped("v1", "Pod", b"\x0a\x01\x0c"),
        "proto: ObjectMeta: wiretype end group for non-group",
    ),
    ("wire type 6", enveloped("v1", "Pod", b"\xa6\x06"), "proto: illegal wireType 6"),
    (
        "a quantity that is none",
        enveloped("v1", "ResourceQuota", b"\x12\x0c\x0a\x0a\x0a\x01c\x12\x05\x0a\x03abc"),
        "quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ),
    (
        "raw JSON that is none",
        enveloped("apps/v1", "ControllerRevision", b"\x12\x03\x0a\x01{"),
        "unexpected end of JSON input",
    ),
    (
        "a time that JSON cannot show",
        enveloped("v1", "Pod", b"\x0a\x0c\x42\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
        "Time.MarshalJSON: year outside of range [0,9999]",
    ),
    (
        "a third form of IntOrString",
        enveloped("policy/v1", "PodDisruptionBudget", b"\x12\x04\x0a\x02\x08\x02"),
        "impossible IntOrString.Type",
    ),
]


@pytest.mark.parametrize(("body", "text"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_bodies_that_are_refused(body: bytes, text: str) -> None:
    with pytest.raises(ProtobufError) as caught:
        decode(body)
    assert str(caught.value) == text


def test_packed_numbers() -> None:
    context = b"\x20\x01\x22\x03\x02\xac\x02"
    spec = b"\x72" + bytes([len(context)]) + context
    obj = decode(enveloped("v1", "Pod", b"\x12" + bytes([len(spec)]) + spec))
    assert obj["spec"]["securityContext"]["supplementalGroups"] == [1, 2, 300]


@pytest.mark.usefixtures("usual_calls")
def test_deep_nesting_is_refused() -> None:
    schema = b""
    for _ in range(2000):
        size = len(schema)
        length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14])
        schema = b"\xe2\x01" + length + schema  # `not`, field 28
    with pytest.raises(ProtobufError, match="exceeded max depth"):
        decode(_definition_with(schema))


def _definition_with(schema: bytes) -> bytes:
    def field(number: int, payload: bytes) -> bytes:
        size = len(payload)
        return bytes([number << 3 | 2, size & 127 | 128, size >> 7 & 127 | 128, size >> 14]) + (
            payload
        )

    definition = field(2, field(7, field(4, field(1, schema))))
    meta = b"\x0a\x17apiextensions.k8s.io/v1\x12\x18CustomResourceDefinition"
    return b"k8s\0" + field(1, meta) + field(2, definition)


def test_deep_objects_are_not_written() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"not": schema}
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]
    with pytest.raises(ProtobufError, match="exceeded max depth"):
        encode(
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "spec": {"versions": versions},
            }
        )


DEFAULT = GroupVersionKind("apps", "v1", "Deployment")


@pytest.mark.parametrize(
    ("meta", "want"),
    [
        (b"", DEFAULT),
        (b"\x12\x01K", GroupVersionKind("apps", "v1", "K")),
        (b"\x0a\x02v2", GroupVersionKind("", "v2", "Deployment")),
        (b"\x0a\x05a/b/c", DEFAULT),
    ],
)
def test_what_an_envelope_does_not_say(meta: bytes, want: GroupVersionKind) -> None:
    body = b"k8s\0\x0a" + bytes([len(meta)]) + meta
    assert open_envelope(body, DEFAULT).gvk == want


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [("meta.k8s.io/v1", "Table"), ("example.com/v1", "Widget"), ("v1", "WatchEvent")],
)
def test_kinds_without_a_message(api_version: str, kind: str) -> None:
    with pytest.raises(NoMessageError) as caught:
        encode({"apiVersion": api_version, "kind": kind})
    assert str(caught.value) == (
        f"object *v1.{kind} does not implement the protobuf marshalling interface and cannot be "
        "encoded to a protobuf message"
    )
    with pytest.raises(NoMessageError):
        decode(enveloped(api_version, kind, b""))
    assert not has_message(caught.value.gvk)


@pytest.mark.parametrize("release", ["1.30", "1.31"])
def test_every_release_writes_a_status(release: str) -> None:
    with answering_as(release):
        assert decode(encode({"apiVersion": "v1", "kind": "Status", "code": 404}))["code"] == 404


@pytest.mark.parametrize("api_version", ["v1", "meta.k8s.io/v1", "apps/v1", "example.com/v1beta1"])
def test_options_are_of_every_group_version(api_version: str) -> None:
    obj = {"apiVersion": api_version, "kind": "DeleteOptions", "orphanDependents": False}
    assert decode(encode(obj)) == obj


MISFITS: list[tuple[dict[str, Any], str]] = [
    ({"spec": []}, "`apps.v1.DeploymentSpec` is no object"),
    ({"spec": {"replicas": 2**31}}, "`apps.v1.DeploymentSpec.replicas` is no integer of 32 bits"),
    ({"spec": {"replicas": True}}, "`apps.v1.DeploymentSpec.replicas` is no integer of 32 bits"),
    ({"spec": {"paused": 1}}, "`apps.v1.DeploymentSpec.paused` is no boolean"),
    ({"metadata": {"name": 1}}, "`meta.v1.ObjectMeta.name` is no string"),
    ({"metadata": {"labels": []}}, "`meta.v1.ObjectMeta.labels` is no object"),
    ({"metadata": {"finalizers": {}}}, "`meta.v1.ObjectMeta.finalizers` is no list"),
    (
        {"metadata": {"creationTimestamp": "now"}},
        'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"',
    ),
]


@pytest.mark.parametrize(("members", "text"), MISFITS, ids=[row[1] for row in MISFITS])
def test_objects_that_do_not_fit(members: dict[str, Any], text: str) -> None:
    with pytest.raises(ProtobufError) as caught:
        encode({"apiVersion": "apps/v1", "kind": "Deployment", **members})
    assert str(caught.value) == text


def test_null_is_nothing_and_lone_surrogates_are_replaced() -> None:
    obj: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": None}
    obj["data"] = {"a": None, "b": "\ud800"}
    assert decode(encode(obj)) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "data": {"a": "", "b": "\ufffd"},
    }
