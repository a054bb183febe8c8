"""The names and contents of ControllerRevisions."""

from __future__ import annotations

import pytest

from celadon.apiserver.simulation.planning.revisions import patch_hash
from celadon.kube import JsonObject
from celadon.kube.workload_controllers import safe_digits


@pytest.mark.parametrize(
    ("patch", "collisions", "written"),
    [
        ({"b": [1, {"d": None, "c": True}], "a": "é"}, 0, '{"a":"é","b":[1,{"c":true,"d":null}]}0'),
        ({"a": "<b> & \u2028\u2029"}, 12, r'{"a":"\u003cb\u003e \u0026 \u2028\u2029"}12'),
    ],
)
def test_a_revision_is_named_after_the_text_of_its_patch_as_go_writes_it(
    patch: JsonObject, collisions: int, written: str
) -> None:
    digest = 0x811C9DC5
    for byte in written.encode():
        digest = (digest * 0x01000193 & 0xFFFFFFFF) ^ byte
    assert patch_hash(patch, collisions) == safe_digits(digest)
