"""Bodies that webhooks answer with."""

from __future__ import annotations

import pytest

from celadon.admission.webhooks import UnreadableBody
from celadon.apiserver.webhook_routes import as_json


def test_json_stays_as_it_is_and_yaml_becomes_json() -> None:
    assert as_json(b' {"a":  1}') == b' {"a":  1}'
    assert as_json(b"a: yes\nb: [1]\n") == b'{"a": true, "b": [1]}'
    assert as_json(b"text") == b'"text"'


def test_what_is_neither() -> None:
    with pytest.raises(UnreadableBody, match="yaml: line 1"):
        as_json(b"a: [1\nb: ]2")
