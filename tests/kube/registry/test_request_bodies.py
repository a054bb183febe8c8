"""What a body claims to be, and the answers for those that cannot be read."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.go import EACH_BYTE
from celadon.kube.names import GroupVersionKind, parse_api_version
from celadon.kube.registry import decoded_object, request_bodies
from celadon.kube.releases import answering_as
from celadon.kube.status import StatusError

POLICY = GroupVersionKind("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy")
PARSE = "couldn't get version/kind; json parse error: "
STRUCT = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
LONG = b'{"apiVersion": "admissionregistration.k8s.io/v1"'
ROWS = [
    (b"", PARSE + "unexpected end of JSON input (<empty>)"),
    (b"hello", PARSE + "invalid character 'h' looking for beginning of value (68656c6c6f)"),
    (LONG, PARSE + 'unexpected end of JSON input ({"apiVersion": "admissionregis ...)'),
    (b"[]", PARSE + f"json: cannot unmarshal array into Go value of type {STRUCT} (5b5d)"),
    (
        b'{"kind":5}',
        PARSE + "json: cannot unmarshal number into Go struct field .kind of type string "
        '({"kind":5})',
    ),
    (
        b'{"apiVersion":"a/b/c"}',
        'unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})',
    ),
    (
        b'{"kind":"A"\xff}',
        PARSE + """invalid character 'ÿ' after object key:value pair ({"kind":"A"\ufffd})""",
    ),
]


@pytest.mark.parametrize(("body", "why"), ROWS)
def test_unreadable(body: bytes, why: str) -> None:
    with pytest.raises(StatusError) as caught:
        request_bodies.interpret(body, POLICY)
    assert caught.value.code == 400
    assert caught.value.status.message == (
        f"the object provided is unrecognized (must be of type ValidatingAdmissionPolicy): {why}"
    )


def test_kinds_and_versions_that_are_not_registered_are_quoted() -> None:
    refused = request_bodies.not_registered(GroupVersionKind("g", "v\n", "A\n"), POLICY)
    assert str(refused).startswith(
        'A\n in version "v\\n" cannot be handled as a ValidatingAdmissionPolicy: no kind "A\\n" '
        'is registered for version "g/v\\n" in scheme '
    )


def test_what_is_not_said_is_expected() -> None:
    assert request_bodies.interpret(b"{}", POLICY)[0] == POLICY
    assert request_bodies.interpret(b"null", POLICY)[1].value == {}
    found, _ = request_bodies.interpret(b'{"apiVersion":"v1","kind":"Pod"}', POLICY)
    assert found == GroupVersionKind("", "v1", "Pod")
    reason = request_bodies.unknown_conversion(found, POLICY)
    assert str(request_bodies.undecodable(found, POLICY.kind, reason)) == (
        'Pod in version "v1" cannot be handled as a ValidatingAdmissionPolicy: converting '
        "(v1.Pod) to (admissionregistration.ValidatingAdmissionPolicy): unknown conversion"
    )


def test_the_package_of_a_kind_is_not_always_the_first_word_of_its_group() -> None:
    kind = GroupVersionKind("internal.apiserver.k8s.io", "v1alpha1", "StorageVersion")
    text = request_bodies.unknown_conversion(GroupVersionKind("", "v1", "Status"), kind)
    assert text == (
        "converting (v1.Status) to (apiserverinternal.StorageVersion): unknown conversion"
    )


@given(
    st.lists(st.sampled_from([b"\xc3", b"\xa4", b"\xff", b"a", b"\xf0\x9f\x92\xa3", b"\xe2\x82"]))
)
def test_each_byte_that_is_no_text_is_replaced_as_in_one_piece(pieces: list[bytes]) -> None:
    body = b"".join(pieces)
    with patch.object(request_bodies, "_PIECE", 2):
        assert request_bodies._decoded(body) == body.decode("utf-8", EACH_BYTE)


SOUND: list[tuple[object, object]] = [
    (None, {}),
    ({"name": "a"}, {"name": "a"}),
    (5, {}),
    ([], {}),
    ({"name": "a", "labels": 5, "generation": "x"}, {"name": "a"}),
    ({"name": "a", "labels": {"b": "c"}, "zip": 1}, {"name": "a", "labels": {"b": "c"}, "zip": 1}),
]


@pytest.mark.parametrize(("meta", "left"), SOUND)
def test_metadata_that_cannot_be_read_is_left_out(meta: Any, left: object) -> None:
    found = decoded_object.with_sound_metadata({"metadata": meta, "spec": {"a": 5}})
    assert found == {"metadata": left, "spec": {"a": 5}}


CRDS = "apiextensions.k8s.io"
UNSERVED = (
    *("List", "PodStatusResult", "RangeAllocation", "SerializedReference"),
    *("NodeProxyOptions", "PodAttachOptions", "PodExecOptions", "PodLogOptions"),
    *("PodPortForwardOptions", "PodProxyOptions", "ServiceProxyOptions"),
)
"""Kinds of k8s.io/api `core/v1/register.go` that no endpoint shows."""
OF_EVERY_VERSION = (
    *("WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions"),
    *("UpdateOptions", "PatchOptions"),
)
"""Kinds that `AddToGroupVersion` of k8s.io/apimachinery `pkg/apis/meta/v1/register.go` gives every
version of a group, and beside them those of no version."""
OF_NO_VERSION = ("Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList")
INTERNAL: list[tuple[str, tuple[str, ...], str, str | None]] = [
    ("v1", UNSERVED, "", "v1"),
    ("apps/v1", UNSERVED, "", None),
    ("v1", UNSERVED, CRDS, None),
    ("v1", ("Pod", "ConfigMap"), "", None),
    ("v1", ("Pod", "ConfigMap"), CRDS, None),
    ("v1", OF_EVERY_VERSION, "", "v1"),
    ("autoscaling/v2", OF_EVERY_VERSION, "", "autoscaling/v1"),
    ("autoscaling/v9", OF_EVERY_VERSION, "", None),
    ("v1", OF_EVERY_VERSION, CRDS, "v1"),
    ("apps/v1", OF_EVERY_VERSION, CRDS, None),
    (f"{CRDS}/v1", OF_EVERY_VERSION, CRDS, f"{CRDS}/v1"),
    ("v1", OF_NO_VERSION, "", "v1"),
    ("x/v7", OF_NO_VERSION, "", "x/v1"),
    ("x/v7", OF_NO_VERSION, CRDS, "x/v1"),
]


@pytest.mark.parametrize(("version", "kinds", "group", "found"), INTERNAL)
def test_kinds_that_only_the_server_uses(
    version: str, kinds: tuple[str, ...], group: str, found: str | None
) -> None:
    """`group` is that of the endpoint: those with a server of their own know little of others."""
    for kind in kinds:
        sent = GroupVersionKind(*parse_api_version(version), kind)
        internal = request_bodies.internal_kind(sent, group)
        assert internal == (found and GroupVersionKind(*parse_api_version(found), kind)), kind


MISFITS: list[tuple[str, str, object, str]] = [
    ("v1", "Pod", {"spec": {}}, ""),
    ("v1", "Pod", {"spec": []}, "array into Go struct field Pod.spec of type v1.PodSpec"),
    ("v1", "Status", {"status": 5}, "number into Go struct field Status.status of type string"),
    ("x/v7", "Status", {"status": 5}, "number into Go struct field Status.status of type string"),
    ("x/v7", "Status", {"status": "a"}, ""),
    ("x/v7", "Widget", {"spec": 5}, ""),
]


@pytest.mark.parametrize(("version", "kind", "value", "reason"), MISFITS)
def test_values_that_do_not_fit_the_kind_that_they_name(
    version: str, kind: str, value: Any, reason: str
) -> None:
    found = request_bodies.misfit_of(value, GroupVersionKind(*parse_api_version(version), kind))
    assert found == (reason and f"json: cannot unmarshal {reason}")


@pytest.mark.parametrize(
    ("group", "package"),
    [("", "core"), ("apps", "apps"), ("rbac.authorization.k8s.io", "rbac"), ("a.b", "a")],
)
def test_internal_forms_are_named_after_the_first_part_of_the_group(
    group: str, package: str
) -> None:
    kind = GroupVersionKind(group, "v1", "K")
    text = f"converting (v1.Pod) to ({package}.K): unknown conversion"
    pod = GroupVersionKind("", "v1", "Pod")
    assert request_bodies.unknown_conversion(pod, kind) == text


EXTENSIONS = "k8s.io/apiextensions-apiserver/pkg/apiserver"
SCHEMES: list[tuple[str, str, str]] = [
    ("1.30", CRDS, f"{EXTENSIONS}/apiserver.go:54"),
    ("1.31", CRDS, f"{EXTENSIONS}/apiserver.go:53"),
    ("1.32", CRDS, f"{EXTENSIONS}/apiserver.go:53"),
    ("1.33", CRDS, f"{EXTENSIONS}/apiserver.go:55"),
    ("1.36", CRDS, f"{EXTENSIONS}/apiserver.go:55"),
    ("1.36", "apiregistration.k8s.io", "k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28"),
    ("1.36", "apps", "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"),
]
"""Where upstream makes the scheme of a group, by release."""


@pytest.mark.parametrize(("release", "group", "scheme"), SCHEMES)
def test_where_kinds_would_be_registered(release: str, group: str, scheme: str) -> None:
    nope, expected = GroupVersionKind("a.b", "v9", "Nope"), GroupVersionKind(group, "v1", "K")
    with answering_as(release):
        refused = request_bodies.not_registered(nope, expected)
    assert (refused.code, str(refused)) == (
        400,
        'Nope in version "v9" cannot be handled as a K: no kind "Nope" is registered for version '
        f'"a.b/v9" in scheme "{scheme}"',
    )


@pytest.mark.parametrize(
    ("release", "line"),
    [
        ("1.30", 719),
        ("1.31", 721),
        ("1.32", 725),
        ("1.33", 725),
        ("1.34", 730),
        ("1.35", 781),
        ("1.36", 781),
    ],
)
def test_scales_of_custom_resources_name_another_scheme(release: str, line: int) -> None:
    with answering_as(release):
        refused = request_bodies.unknown_scale()
    assert (refused.code, str(refused)) == (
        400,
        "no kind is registered for the type v1.Scale in scheme "
        f'"{EXTENSIONS}/customresource_handler.go:{line}"',
    )
