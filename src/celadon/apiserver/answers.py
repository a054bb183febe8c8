"""Objects and errors as answers, in the form that was accepted.

JSON is written as Go writes it: members in the order given (custom resources: sorted), `<>&`
escaped, a line feed at the end of what is not pretty. As k8s.io/apimachinery
`pkg/runtime/serializer/json`.
"""

from __future__ import annotations

import json
from typing import Final

from celadon.apiserver.http_messages import (
    Header,
    HttpAnswer,
    json_bytes,
    plain_text,
    sorted_json_bytes,
)
from celadon.apiserver.negotiation import PROTOBUF, YAML, Accepted
from celadon.kube import JsonObject, StatusError
from celadon.kube.go import escaped_html
from celadon.kube.protobuf import encode as protobuf_bytes

NO_SNIFF: Final = ("X-Content-Type-Options", "nosniff")
NOT_KEPT: Final = ("Cache-Control", "no-cache, private")
"""Of answers that nobody keeps, which are most."""
NOT_FOUND: Final = plain_text(404, "404 page not found\n", NO_SNIFF)
"""For paths that nobody answers: not a Status."""


def object_answer(
    code: int, obj: JsonObject, accepted: Accepted, *headers: Header, sort: bool = False
) -> HttpAnswer:
    """`sort` is for custom resources, whose members have no order of their own."""
    return HttpAnswer(code, accepted.media_type, written(obj, accepted, sort=sort), headers)


def status_answer(error: StatusError, accepted: Accepted, *headers: Header) -> HttpAnswer:
    """A refusal. It keeps the media type, and is never shown as a table or as metadata."""
    details = error.status.details
    if details is not None and details.retry_after_seconds:
        headers = (*headers, ("Retry-After", str(details.retry_after_seconds)))
    return object_answer(error.code, error.status.to_json(), accepted, *headers)


def written(obj: JsonObject, accepted: Accepted, *, sort: bool = False) -> bytes:
    """The body of an answer."""
    if accepted.media_type == PROTOBUF:
        return protobuf_bytes(obj)
    if accepted.media_type == YAML:
        from celadon.goyaml import yaml_text  # late: few ask for YAML, and it takes long to load

        return yaml_text(obj).encode("utf-8", "replace")
    if accepted.pretty:
        pretty = json.dumps(obj, ensure_ascii=False, indent=2, sort_keys=sort)
        return escaped_html(pretty).encode("utf-8", "replace")
    return (sorted_json_bytes(obj) if sort else json_bytes(obj)) + b"\n"
