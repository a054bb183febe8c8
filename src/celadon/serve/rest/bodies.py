"""Bodies of writes as JSON, whatever they were sent as."""

from __future__ import annotations

import json
from typing import Final

import yaml

from celadon.kube import status
from celadon.kube.protobuf import ProtobufError, decode
from celadon.kube.writes import request_bodies
from celadon.serve.requests.negotiation import PROTOBUF, YAML
from celadon.serve.rest.calls import JSON_TYPE, Call

LIMIT: Final = 3 << 20
"""Bytes of a body (k8s.io/apiserver `pkg/server/config.go`)."""


def json_body(call: Call) -> bytes:
    """Raises StatusError: 413 for a body that is too large, 415 for one of an unknown type."""
    body = call.request.body
    if len(body) > LIMIT:
        raise status.request_entity_too_large(f"limit is {LIMIT}")
    media_type = call.content_type
    if media_type == JSON_TYPE:
        return body
    if media_type == YAML and media_type in call.endpoint.media_types:
        return _from_yaml(body, call)
    if media_type == PROTOBUF and media_type in call.endpoint.media_types:
        return _from_protobuf(body, call)
    raise status.unsupported_media_type(call.endpoint.media_types)


def _from_yaml(body: bytes, call: Call) -> bytes:
    try:
        return json.dumps(yaml.safe_load(body)).encode()
    except (yaml.YAMLError, ValueError, TypeError) as error:
        why = f"error converting YAML to JSON: {error}"
        raise request_bodies.unrecognized(call.target.kind.kind, why, body) from None


def _from_protobuf(body: bytes, call: Call) -> bytes:
    try:
        return json.dumps(decode(body), ensure_ascii=False).encode("utf-8", "surrogatepass")
    except ProtobufError as error:
        raise request_bodies.unrecognized(call.target.kind.kind, str(error), body) from None
