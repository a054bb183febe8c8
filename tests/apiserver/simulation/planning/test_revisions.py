"""The names and contents of ControllerRevisions."""

from __future__ import annotations

import json

import pytest

from celadon.apiserver.simulation.planning.revisions import patch_hash, template_patch
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


def test_the_patch_of_a_revision_has_its_keys_in_order() -> None:
    spec = {"nodeName": "n", "containers": [{"name": "app", "image": "i"}]}
    template = {"spec": spec, "metadata": {"labels": {"b": "1", "a": "2"}}}
    assert json.dumps(template_patch({"spec": {"template": template}})) == (
        '{"spec": {"template": {"$patch": "replace", "metadata": {"labels": {"a": "2", "b": "1"}}, '
        '"spec": {"containers": [{"image": "i", "name": "app"}], "nodeName": "n"}}}}'
    )
