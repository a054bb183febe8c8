"""What kube-apiserver keeps in etcd: one object under each key, in one of several encodings.

Objects of built-in kinds are protobuf in an envelope that names their kind; custom resources, and
built-in ones of old, are JSON. A key only says roughly what is in it: the kind is in the value, and
in its stored version, which need not be the one that clients see. Whoever reads an object back
fills in defaults that the version has got since, and the resource version, which is etcd's.

What a server has encrypted begins with `k8s:enc:`, the method and the name of a key. It is counted
and never guessed at.

As k8s.io/apiserver `pkg/storage/{etcd3,value}` and k8s.io/apimachinery
`pkg/runtime/serializer/{protobuf,cbor}`.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.cli.auditing.audit_blocks import Head, is_sound_metadata
from celadon.cli.reading.json_text import read_written
from celadon.goyaml import UnreadableError
from celadon.kube import metadata
from celadon.kube.protobuf import MAGIC, ProtobufError, decode, open_envelope
from celadon.kube.registry import stored_form
from celadon.kube.schemas import DecodeError

_ENCRYPTED: Final = b"k8s:enc:"
_CBOR: Final = b"\xd9\xd9\xf7"
_JSON: Final = b"{"
_METHOD_BYTES: Final = 200
"""Of what stands before an encrypted value."""


class NotStoredObject(ValueError):
    """A value that is no object, or cannot be read; the text says why."""


def sealed_by(value: bytes) -> str:
    """With what a value is encrypted: `aescbc`, `kms`; empty if it is not."""
    if not value.startswith(_ENCRYPTED):
        return ""
    method, colon, _ = value[len(_ENCRYPTED) : _METHOD_BYTES].partition(b":")
    return method.decode("ascii", "replace") if colon and method else "in an unknown way"


def looks_like_object(value: bytes) -> bool:
    """Whether it begins as objects do, in an encoding that is read or another."""
    return value.startswith((MAGIC, _JSON, _CBOR))


def stored_head(value: bytes) -> Head | None:
    """The type of an object, if its envelope says it; the whole has to be read for that of JSON."""
    if not value.startswith(MAGIC):
        return None
    try:
        gvk = open_envelope(value).gvk
    except ProtobufError:
        return None
    return Head(gvk.api_version, gvk.kind)


def stored_object(value: bytes, revision: int) -> dict[str, Any]:
    """The object as a server would show it to a client that asks for the version in which it is
    stored. NotStoredObject."""
    made = _read(value)
    about = made.get("metadata") or {}
    if not is_sound_metadata(about):
        raise NotStoredObject("its metadata is none")
    made["metadata"] = {**about, "resourceVersion": str(revision)}
    try:
        return stored_form(made, metadata.gvk(made))
    except DecodeError as error:
        raise NotStoredObject(f"it is no object of its kind: {error}") from None


def _read(value: bytes) -> dict[str, Any]:
    if value.startswith(MAGIC):
        try:
            return decode(value)
        except ProtobufError as error:
            raise NotStoredObject(str(error)) from None
    if value.startswith(_CBOR):
        raise NotStoredObject("it is stored as CBOR, which is not read")
    try:
        made = read_written(value.decode()) if value.startswith(_JSON) else None
    except (UnreadableError, UnicodeDecodeError) as error:
        raise NotStoredObject(f"invalid JSON: {error}") from None
    if not isinstance(made, dict) or not _has_type(made):
        raise NotStoredObject("it is no object with `apiVersion` and `kind`")
    return made


def _has_type(made: dict[str, Any]) -> bool:
    found = (made.get("apiVersion"), made.get("kind"))
    return all(isinstance(one, str) and one for one in found)
