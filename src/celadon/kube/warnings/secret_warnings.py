"""What an API server remarks about Secrets: a certificate whose key is another one's."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from celadon.kube.json_types import JsonObject
from celadon.kube.well_known_values import TLS_SECRET


def secret_warnings(obj: JsonObject, _: JsonObject | None) -> Iterator[str]:
    """Of a Secret for TLS."""
    if obj.get("type") != TLS_SECRET:
        return
    # late: few objects have certificates in them.
    from celadon.kube.keys.key_pairs import key_pair_fault

    data = obj.get("data") or {}
    fault = key_pair_fault(_decoded(data.get("tls.crt")), _decoded(data.get("tls.key")))
    if fault:
        yield fault


def _decoded(text: str | None) -> bytes:
    try:
        return base64.b64decode(text or "")
    except binascii.Error:
        return b""
