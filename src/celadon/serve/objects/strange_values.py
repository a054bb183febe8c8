"""Values that Celadon has not written: somebody else has access to etcd. (Files have checksums.)

They are read as upstream reads what it finds there, or are refused with its words.
"""

from __future__ import annotations

import json
from typing import Any, Final

from celadon.kube import GroupVersionKind
from celadon.kube.registry import request_bodies
from celadon.kube.schemas import json_kind

_UNKNOWN: Final = GroupVersionKind("", "", "")


class Undecodable(Exception):
    """The message is that of upstream's decoder; `key` says where the value is."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def read_strange(key: str, value: bytes) -> dict[str, Any]:
    """The object, which has metadata. Raises Undecodable."""
    from celadon.goyaml import UnreadableError, first_document  # late: it takes long to load

    try:
        text = value
        if not value.lstrip().startswith(b"{"):  # then upstream takes it for YAML
            text = json.dumps(first_document(value).value).encode()
        kind, document = request_bodies.interpreted(text, _UNKNOWN)
    except UnreadableError as error:
        raise Undecodable(key, error.upstream) from None
    except request_bodies.Uninterpretable as error:
        raise Undecodable(key, str(error)) from None
    for member, found in (("Kind", kind.kind), ("apiVersion", kind.version)):
        if not found:
            shown = value.decode("utf-8", "replace")
            raise Undecodable(key, f"Object '{member}' is missing in '{shown}'")
    obj: dict[str, Any] = document.value
    metadata = {} if obj.get("metadata") is None else obj["metadata"]
    if not isinstance(metadata, dict):
        wrong = f"{json_kind(metadata)} into Go struct field {kind.kind}.metadata"
        raise Undecodable(key, f"json: cannot unmarshal {wrong} of type v1.ObjectMeta")
    return {**obj, "metadata": metadata}
