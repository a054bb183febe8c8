"""Answers read, and every way in which they must not be trusted."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from celadon.admission.webhooks.hooks import CallError, NoReply, Reply
from celadon.admission.webhooks.reviews import HookAnswer, read_answer
from tests.admission.webhooks.hooking import as_json
from tests.admission.webhooks.test_outgoing_reviews import begun

V1 = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
PATCH = base64.b64encode(b"[]").decode()
TYPE_META = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)


def read(body: Any, *, mutating: bool = False, version: str = "v1", **more: Any) -> HookAnswer:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    call = begun(admissionReviewVersions=[version])
    return read_answer(call, Reply(200, text, **more), as_json, mutating=mutating)


def response(**members: Any) -> dict[str, Any]:
    return {**V1, "response": {"uid": "u", "allowed": True, **members}}


def test_everything_that_an_answer_says() -> None:
    given = response(
        warnings=["w"], auditAnnotations={"a": "b"}, patch=PATCH, patchType="JSONPatch", extra=1
    )
    assert read(given, mutating=True) == HookAnswer(
        True, b"[]", "JSONPatch", None, ["w"], {"a": "b"}
    )
    denial = read(response(allowed=False, status={"message": "no", "code": 403}))
    assert not denial.allowed
    assert denial.status == {"metadata": {}, "message": "no", "code": 403}


CALLED = "failed to call webhook: "
INVALID = "received invalid webhook response: "


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"{}", f"{INVALID}webhook response was absent"),
        (b"null", f"{INVALID}webhook response was absent"),
        (
            b"{",
            f"{CALLED}couldn't get version/kind; json parse error: unexpected end of JSON input",
        ),
        (
            b'"hello"',
            f"{CALLED}couldn't get version/kind; json parse error: json: cannot unmarshal string "
            f"into Go value of type {TYPE_META}",
        ),
        (
            {"kind": 3},
            f"{CALLED}couldn't get version/kind; json parse error: json: cannot unmarshal number "
            "into Go struct field .kind of type string",
        ),
        (
            {**V1, "kind": "Gizmo"},
            f'{CALLED}no kind "Gizmo" is registered for version "admission.k8s.io/v1" in scheme '
            '"k8s.io/apiserver/pkg/util/webhook/client.go:71"',
        ),
        (
            {**V1, "kind": "DeleteOptions"},
            f"{CALLED}converting (v1.DeleteOptions) to (v1.AdmissionReview): unknown conversion",
        ),
        (
            {**V1, "apiVersion": "admission.k8s.io/v1beta1"},
            f"{CALLED}converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown "
            "conversion",
        ),
        (
            response(allowed="yes"),
            f"{CALLED}json: cannot unmarshal string into Go struct field "
            "AdmissionResponse.response.allowed of type bool",
        ),
        (
            response(patch=[{"op": "add"}]),
            f"{CALLED}json: cannot unmarshal object into Go struct field "
            "AdmissionResponse.response.patch of type uint8",
        ),
        (response(patch="?"), f"{CALLED}illegal base64 data at input byte 0"),
        (response(uid="x"), f'{INVALID}expected response.uid="u", got "x"'),
        (
            {"response": {"uid": "u"}},
            f"{INVALID}expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got "
            "/, Kind=",
        ),
        (response(patch=PATCH), f"{INVALID}validating webhook may not return response.patch"),
        (
            response(patchType="JSONPatch"),
            f"{INVALID}validating webhook may not return response.patchType",
        ),
    ],
)
def test_what_is_no_answer(body: Any, text: str) -> None:
    with pytest.raises(CallError) as failed:
        read(body)
    assert str(failed.value) == text
    assert failed.value.code == 503


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({"patch": PATCH}, "webhook returned response.patch but not response.patchType"),
        (
            {"patchType": "JSONPatch"},
            "webhook returned response.patchType but not response.patch",
        ),
        (
            {"patch": PATCH, "patchType": ""},
            'webhook returned invalid response.patchType of ""',
        ),
    ],
)
def test_a_patch_and_its_type_come_together(members: dict[str, Any], text: str) -> None:
    with pytest.raises(CallError, match=INVALID) as failed:
        read(response(**members), mutating=True)
    assert str(failed.value) == INVALID + text


def test_v1beta1_is_asked_for_less() -> None:
    body = {"response": {"allowed": True, "patch": PATCH}}
    found = read(body, version="v1beta1", mutating=True)
    assert (found.patch, found.patch_type) == (b"[]", "JSONPatch")
    assert read(body, version="v1beta1").patch == b""


@pytest.mark.parametrize(
    ("content_type", "why"), [("", "no media type"), ("a/b; c", "invalid media parameter")]
)
def test_a_header_that_cannot_be_read(content_type: str, why: str) -> None:
    with pytest.raises(CallError) as failed:
        read(response(), content_type=content_type)
    assert str(failed.value) == f"{CALLED}Internal error occurred: mime: {why}"
    assert failed.value.code == 500


def test_no_reply_at_all() -> None:
    call = begun()
    with pytest.raises(CallError, match="failed to call webhook: gone"):
        read_answer(call, NoReply("gone"), as_json, mutating=False)
    bad = NoReply("no PEM", 500, "could not get REST client")
    with pytest.raises(CallError, match="could not get REST client: no PEM"):
        read_answer(call, bad, as_json, mutating=False)


META_KINDS = [
    *(f"{verb}Options" for verb in ("List", "Get", "Delete", "Create", "Update", "Patch")),
    "WatchEvent",
]
CORE_KINDS = ["Status", "APIVersions", "APIGroupList", "APIGroup", "APIResourceList"]


@pytest.mark.parametrize(
    ("version", "kind", "registered"),
    [
        *(("admission.k8s.io/v1", kind, True) for kind in META_KINDS),
        *(("admission.k8s.io/v1", kind, False) for kind in CORE_KINDS),
        *(("v1", kind, True) for kind in CORE_KINDS),
        *(("v1", kind, False) for kind in META_KINDS),
        ("v2", "Status", False),
        ("apps/v1", "Status", False),
    ],
)
def test_kinds_that_are_no_review(version: str, kind: str, registered: bool) -> None:
    with pytest.raises(CallError) as failed:
        read({"apiVersion": version, "kind": kind})
    short = version.rpartition("/")[2]
    assert str(failed.value) == CALLED + (
        f"converting ({short}.{kind}) to (v1.AdmissionReview): unknown conversion"
        if registered
        else f'no kind "{kind}" is registered for version "{version}" in scheme '
        '"k8s.io/apiserver/pkg/util/webhook/client.go:71"'
    )
