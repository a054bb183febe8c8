"""Values in the store that Celadon has not written."""

from __future__ import annotations

import pytest

from celadon.apiserver.object_store import Undecodable, decoded
from celadon.storage import Entry

TYPE = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
PARSING = "couldn't get version/kind; json parse error: "


def entry(value: bytes) -> Entry:
    return Entry("/registry/core/configmaps/default/a", value, 3, 4)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (b"", "Object 'Kind' is missing in ''"),
        (b"{", f"{PARSING}unexpected end of JSON input"),
        (b"{}", "Object 'Kind' is missing in '{}'"),
        (b'{"kind":"A"}', "Object 'apiVersion' is missing in '{\"kind\":\"A\"}'"),
        (
            b'{"kind":1}',
            f"{PARSING}json: cannot unmarshal number into Go struct field .kind of type string",
        ),
        (b"[1]", f"{PARSING}json: cannot unmarshal array into Go value of type {TYPE}"),
        (b"nonsense", f"{PARSING}json: cannot unmarshal string into Go value of type {TYPE}"),
        (b"\x00\x01\xff", "yaml: control characters are not allowed"),
        (
            b'{"kind":"A","apiVersion":"v1","metadata":[]}',
            "json: cannot unmarshal array into Go struct field A.metadata of type v1.ObjectMeta",
        ),
    ],
)
def test_what_is_no_object_is_refused_in_the_words_of_upstream(value: bytes, why: str) -> None:
    with pytest.raises(Undecodable) as raised:
        decoded(entry(value), 4)
    assert (str(raised.value), raised.value.key) == (why, entry(b"").key)


@pytest.mark.parametrize(
    ("value", "metadata"),
    [
        (b'{"kind":"A","apiVersion":"v1"}', {}),
        (b'{"kind":"A","apiVersion":"v1","metadata":null}', {}),
        (b'{"kind":"A","apiVersion":"v1","metadata":{"name":"\xff"}}', {"name": "\ufffd"}),
        (b"kind: A\napiVersion: v1\nmetadata:\n  name: b\n", {"name": "b"}),
    ],
)
def test_what_upstream_can_read_is_read(value: bytes, metadata: dict[str, str]) -> None:
    assert decoded(entry(value), 4)["metadata"] == {**metadata, "resourceVersion": "4"}
