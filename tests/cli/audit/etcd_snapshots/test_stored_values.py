"""What kube-apiserver keeps in etcd, in all encodings that it has."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cli.audit.audit_blocks import Head
from celadon.cli.audit.etcd_snapshots import (
    NotStoredObject,
    looks_like_object,
    sealed_by,
    stored_head,
    stored_object,
)
from celadon.kube.protobuf import MAGIC, encode
from tests.cli.audit.etcd_snapshots.stored_objects import AES, KMS, OBJECTS, shown, stored


@pytest.mark.parametrize("key", OBJECTS)
def test_objects_are_as_a_server_shows_them(key: str) -> None:
    one = OBJECTS[key]
    value = stored(one)
    assert looks_like_object(value)
    assert not sealed_by(value)
    assert stored_object(value, 7) == shown(one, 7)
    head = Head(one["apiVersion"], one["kind"])
    assert stored_head(value) == (head if value.startswith(MAGIC) else None)


@pytest.mark.parametrize("key", OBJECTS)
def test_built_in_objects_of_old_are_json(key: str) -> None:
    one = OBJECTS[key]
    assert stored_object(json.dumps(one).encode(), 7) == shown(one, 7)


def test_what_was_stored_before_a_default_came() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "uid": "u"},
        "spec": {"containers": [{"name": "c"}]},
    }
    made = stored_object(encode(pod), 3)
    assert made["spec"]["containers"][0]["terminationMessagePolicy"] == "File"
    assert made["spec"]["dnsPolicy"] == "ClusterFirst"
    assert made["metadata"]["resourceVersion"] == "3"


@pytest.mark.parametrize(
    ("value", "method"),
    [
        (AES, "aescbc"),
        (KMS, "kms"),
        (b"k8s:enc:", "in an unknown way"),
        (b"k8s:enc:secretbox", "in an unknown way"),
        (b"k8s:enc:secretbox:v1:k:", "secretbox"),
        (b"k8s:other", ""),
        (b"", ""),
    ],
)
def test_what_is_encrypted_is_never_guessed(value: bytes, method: str) -> None:
    assert sealed_by(value) == method
    assert not looks_like_object(value)


UNREAD = {
    "the magic alone": (MAGIC, "empty body"),
    "cut off": (encode(OBJECTS["/registry/pods/shop/p"])[:-9], ""),
    "an unknown kind": (MAGIC + b"\x0a\x0b\x0a\x02v9\x12\x05Thing\x12\x00", ""),
    "CBOR": (b"\xd9\xd9\xf7\xa1", "it is stored as CBOR, which is not read"),
    "JSON cut off": (b'{"a":', "invalid JSON"),
    "not UTF-8": (b'{"a":"\xff"}', "invalid JSON"),
    "no kind": (b'{"apiVersion":"v1"}', "it is no object"),
    "a number for a kind": (b'{"apiVersion":"v1","kind":3}', "it is no object"),
    "a text": (b'"text"', "it is no object"),
    "does not fit": (b'{"apiVersion":"v1","kind":"Pod","spec":[]}', "no object of its kind"),
    "a field does not fit": (
        b'{"apiVersion":"v1","kind":"Pod","metadata":{"generation":{}}}',
        "no object of its kind",
    ),
    "a list for metadata": (b'{"apiVersion":"v1","kind":"Pod","metadata":[1]}', "metadata"),
    "metadata does not fit": (
        b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"labels":{"a":1}}}',
        "metadata",
    ),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_cannot_be_read_is_said(name: str) -> None:
    value, why = UNREAD[name]
    with pytest.raises(NotStoredObject) as caught:
        stored_object(value, 1)
    assert why in str(caught.value)


@given(st.sampled_from([MAGIC, b"{", b"\xd9\xd9\xf7", b""]), st.binary(max_size=60))
def test_any_bytes(begin: bytes, rest: bytes) -> None:
    stored_head(begin + rest)
    with pytest.raises(NotStoredObject):
        stored_object(begin + rest, 1)
