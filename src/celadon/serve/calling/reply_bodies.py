"""The bodies that webhooks answer with: JSON, or YAML that becomes JSON."""

from __future__ import annotations

import json

from celadon.admission.webhooks import UnreadableBody


def as_json(body: bytes) -> bytes:
    """A body that may be YAML. Raises UnreadableBody."""
    if body.lstrip().startswith(b"{"):
        return body
    from celadon.goyaml import UnreadableError, first_document  # late: it takes long to load

    try:
        value = first_document(body).value
    except UnreadableError as error:
        raise UnreadableBody(error.upstream) from None
    return json.dumps(value).encode()
