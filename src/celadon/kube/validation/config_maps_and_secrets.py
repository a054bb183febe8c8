"""Validation of ConfigMaps and Secrets.

As k8s.io/kubernetes `pkg/apis/core/validation`.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_json import JsonSyntaxError, check_syntax, without_double
from celadon.kube.json_types import JsonObject
from celadon.kube.validation import format_checks
from celadon.kube.validation.field_checks import Errors, changed_fields, each, entries
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
    """Yield what is wrong with a ConfigMap, besides its metadata."""
    # As `ValidateConfigMap` of `pkg/apis/core/validation`.
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    total = len("".join(data.values()).encode("utf-8", "surrogatepass"))
    if binary or not format_checks.are_config_keys(data):
        for key in sorted(data):
            yield from each(_DATA.key(key), key, format_checks.config_key(key))
            if key in binary:
                reason = "duplicate of key present in binaryData"
                yield fieldpath.invalid(_DATA.key(key), key, reason)
    for key, value in entries(obj, "binaryData"):
        if wrong := format_checks.config_key(key):
            yield from each(_BINARY.key(key), key, wrong)
        total += len(_decoded(value))
    if total > MAX_BYTES:
        yield fieldpath.too_long(FieldPath(""), MAX_BYTES)


def config_map_fixed(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error where an immutable ConfigMap changes, or becomes mutable."""
    # As `ValidateConfigMapUpdate` of `pkg/apis/core/validation`.
    return _frozen(obj, old, "data", exact="binaryData")


def _frozen(obj: JsonObject, old: JsonObject, *fields: str, exact: str) -> Errors:
    """Check a map that stays as it is. One that is sent empty is another one than none, which is
    what is stored of it, where the field is compared by `reflect.DeepEqual`: `exact`."""
    if not old.get("immutable"):
        return
    if not obj.get("immutable"):
        yield fieldpath.forbidden(FieldPath("immutable"), FIXED)
    for field in (*fields, exact):
        sent = obj.get(field)
        if (sent or {}) != (old.get(field) or {}) or (field == exact and sent == {}):
            yield fieldpath.forbidden(FieldPath(field), FIXED)


def secret(obj: JsonObject) -> Errors:
    """Yield what is wrong with a Secret, besides its metadata."""
    # As `ValidateSecret` of `pkg/apis/core/validation`.
    data = obj.get("data") or {}
    if not format_checks.are_config_keys(data):
        for key in sorted(data):
            yield from each(_DATA.key(key), key, format_checks.config_key(key))
    if sum(len(_decoded(value)) for value in data.values()) > MAX_BYTES:
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
    path = _DATA.key(key)
    if key not in data:
        yield fieldpath.required(path)
        return
    try:
        yield from _json_object(path, _decoded(data[key]).decode("utf-8", "surrogateescape"))
    except JsonSyntaxError as error:
        yield fieldpath.invalid(path, REDACTED, str(error))


def _json_object(path: FieldPath, text: str) -> Errors:
    check_syntax(text)
    json_starts = next(
        (name for start, name in JSON_STARTS.items() if text.strip()[:1] in start), ""
    )
    if json_starts:
        detail = (
            f"json: cannot unmarshal {json_starts} into Go value of type map[string]interface {{}}"
        )
        yield fieldpath.invalid(path, REDACTED, detail)
    elif number := without_double(text):
        detail = f"json: cannot unmarshal number {number} into Go value of type float64"
        yield fieldpath.invalid(path, REDACTED, detail)


def secret_fixed(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error where an immutable Secret changes, or becomes mutable, or the type of any."""
    # As `ValidateSecretUpdate` of `pkg/apis/core/validation`.
    yield from changed_fields("core.v1.Secret", obj, old, FieldPath())
    yield from _frozen(obj, old, exact="data")
