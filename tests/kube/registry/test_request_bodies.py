"""What a body claims to be, and the answers for those that cannot be read."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.names import GroupVersionKind
from celadon.kube.registry import request_bodies
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
]


@pytest.mark.parametrize(("body", "why"), ROWS)
def test_unreadable(body: bytes, why: str) -> None:
    with pytest.raises(StatusError) as caught:
        request_bodies.interpret(body, POLICY)
    assert caught.value.code == 400
    assert caught.value.status.message == (
        f"the object provided is unrecognized (must be of type ValidatingAdmissionPolicy): {why}"
    )


def test_what_is_not_said_is_expected() -> None:
    assert request_bodies.interpret(b"{}", POLICY)[0] == POLICY
    assert request_bodies.interpret(b"null", POLICY)[1].value == {}
    found, _ = request_bodies.interpret(b'{"apiVersion":"v1","kind":"Pod"}', POLICY)
    assert found == GroupVersionKind("", "v1", "Pod")
    assert str(request_bodies.other_kind(found, POLICY)) == (
        'Pod in version "v1" cannot be handled as a ValidatingAdmissionPolicy: converting '
        "(v1.Pod) to (admissionregistration.ValidatingAdmissionPolicy): unknown conversion"
    )


@given(
    st.lists(st.sampled_from([b"\xc3", b"\xa4", b"\xff", b"a", b"\xf0\x9f\x92\xa3", b"\xe2\x82"]))
)
def test_bytes_that_are_no_text_are_replaced_as_in_one_piece(pieces: list[bytes]) -> None:
    body = b"".join(pieces)
    with patch.object(request_bodies, "_PIECE", 2):
        assert request_bodies._decoded(body) == body.decode("utf-8", "replace")


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
    found = request_bodies.with_sound_metadata({"metadata": meta, "spec": {"a": 5}})
    assert found == {"metadata": left, "spec": {"a": 5}}
