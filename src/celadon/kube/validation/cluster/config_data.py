"""ConfigMaps and Secrets."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_json_scanner import JsonSyntaxError, check_syntax
from celadon.kube.json_types import JsonObject
from celadon.kube.validation import text_rules
from celadon.kube.validation.field_checks import Errors, each, entries
from celadon.kube.validation.field_rules import changed_fields
from celadon.kube.well_known_values import TLS_SECRET

MAX_BYTES: Final = 1024 * 1024
"""All values of one object together."""

FIXED: Final = "field is immutable when `immutable` is set"
ACCOUNT: Final = "kubernetes.io/service-account.name"
REDACTED: Final = "<secret contents redacted>"
JSON_STARTS: Final = {"[": "array", '"': "string", "tf": "bool", "-0123456789": "number"}
"""What a JSON value is that begins so, where an object is wanted."""

_DATA: Final = FieldPath("data")
_BINARY: Final = FieldPath("binaryData")


def _decoded(value: str) -> bytes:
    try:
        return base64.b64decode(value)
    except binascii.Error:
        return b""


def config_map(obj: JsonObject) -> Errors:
    """What is wrong with a ConfigMap, besides its metadata."""
    total = 0
    binary = obj.get("binaryData") or {}
    for key, value in entries(obj, "data"):
        yield from each(_DATA.key(key), key, text_rules.config_key(key))
        if key in binary:
            yield fieldpath.invalid(_DATA.key(key), key, "duplicate of key present in binaryData")
        total += len(value.encode("utf-8", "surrogatepass"))
    for key, value in entries(obj, "binaryData"):
        yield from each(_BINARY.key(key), key, text_rules.config_key(key))
        total += len(_decoded(value))
    if total > MAX_BYTES:
        yield fieldpath.too_long(FieldPath(""), MAX_BYTES)


def config_map_update(obj: JsonObject, old: JsonObject) -> Errors:
    """An immutable one may not change, nor become mutable."""
    yield from _frozen(obj, old, "data", "binaryData")
    yield from config_map(obj)


def _frozen(obj: JsonObject, old: JsonObject, *fields: str) -> Errors:
    if not old.get("immutable"):
        return
    if not obj.get("immutable"):
        yield fieldpath.forbidden(FieldPath("immutable"), FIXED)
    for field in fields:
        if (obj.get(field) or {}) != (old.get(field) or {}):
            yield fieldpath.forbidden(FieldPath(field), FIXED)


def secret(obj: JsonObject) -> Errors:
    """What is wrong with a Secret, besides its metadata."""
    total = 0
    for key, value in entries(obj, "data"):
        yield from each(_DATA.key(key), key, text_rules.config_key(key))
        total += len(_decoded(value))
    if total > MAX_BYTES:
        yield fieldpath.too_long(_DATA, MAX_BYTES)
    yield from _typed(obj)


def _typed(obj: JsonObject) -> Errors:
    kind, data = obj.get("type") or "", obj.get("data") or {}
    if kind == "kubernetes.io/service-account-token":
        notes = (obj.get("metadata") or {}).get("annotations") or {}
        if not notes.get(ACCOUNT):
            yield fieldpath.required(FieldPath("metadata", "annotations").key(ACCOUNT))
    elif kind in DOCKER_KEYS:
        yield from _docker(data, DOCKER_KEYS[kind])
    elif kind == "kubernetes.io/basic-auth":
        if "username" not in data and "password" not in data:
            yield from (fieldpath.required(_DATA.key(key)) for key in ("username", "password"))
    elif kind == "kubernetes.io/ssh-auth":
        if not data.get("ssh-privatekey"):
            yield fieldpath.required(_DATA.key("ssh-privatekey"))
    elif kind == TLS_SECRET:
        missing = [key for key in ("tls.crt", "tls.key") if key not in data]
        yield from (fieldpath.required(_DATA.key(key)) for key in missing)


DOCKER_KEYS: Final = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}


def _docker(data: JsonObject, key: str) -> Errors:
    at = _DATA.key(key)
    if key not in data:
        yield fieldpath.required(at)
        return
    try:
        yield from _json_object(at, _decoded(data[key]).decode("utf-8", "surrogateescape"))
    except JsonSyntaxError as error:
        yield fieldpath.invalid(at, REDACTED, str(error))


def _json_object(path: FieldPath, text: str) -> Errors:
    check_syntax(text)
    found = next((name for start, name in JSON_STARTS.items() if text.strip()[:1] in start), "")
    if found:
        detail = f"json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
        yield fieldpath.invalid(path, REDACTED, detail)


def secret_update(obj: JsonObject, old: JsonObject) -> Errors:
    """An immutable one may not change, nor become mutable; the type never."""
    yield from changed_fields("core.v1.Secret", obj, old, FieldPath())
    yield from _frozen(obj, old, "data")
    yield from secret(obj)
