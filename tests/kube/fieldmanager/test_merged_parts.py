"""What a merge leaves alone stays; what it changes becomes what reading all of it would make.

Objects of several kinds are changed by random configurations, one after the other. The whole of
what was merged, read and defaulted from scratch, is what must come of it.
"""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube import GroupVersionKind
from celadon.kube.fieldmanager import MutatedKinds, MutationRefused
from celadon.kube.fieldmanager.merge_types import type_of
from celadon.kube.fieldmanager.structured_merge import merged
from celadon.kube.registry.decoded_object import drafted
from celadon.kube.schemas import DecodeError
from celadon.kube.schemas.unstructured_conversion import with_go_numbers
from tests.kube.fieldmanager.random_configurations import (
    LIVE,
    LIVE_KINDS,
    POD,
    Json,
    configurations,
)


def from_scratch(live: Json, config: Json, kind: GroupVersionKind) -> Json:
    made = merged(type_of(kind, None), copy.deepcopy(live), copy.deepcopy(config))
    return drafted(with_go_numbers(made, kind), kind).form()


@pytest.mark.parametrize("kind", LIVE_KINDS, ids=lambda kind: kind.kind)
@given(data=st.data())
def test_as_if_all_were_read_anew(kind: GroupVersionKind, data: st.DataObject) -> None:
    live = drafted(LIVE[kind], kind).form()
    for _ in range(3):
        config = data.draw(configurations(kind))
        before, given = copy.deepcopy(live), copy.deepcopy(config)
        expected: Json | str
        try:
            expected = from_scratch(live, config, kind)
        except DecodeError as error:
            expected = f"unable to convert unstructured object to {kind}: {error.alone}"
        made, refused = live, ""
        try:
            made = dict(MutatedKinds().merged(live, config, kind, kind))
        except MutationRefused as error:
            refused = str(error)
        assert "error applying patch" in refused or (refused or made) == expected
        assert live == before, "the object before belongs to others"
        assert config == given
        live = made


def test_what_is_shared_is_the_same() -> None:
    kind = GroupVersionKind("", "v1", "Pod")
    live = drafted(POD, kind).form()
    config = {"metadata": {"labels": {"x": "y"}}, "spec": {"containers": [{"name": "c"}]}}
    made = MutatedKinds().merged(live, config, kind, kind)
    assert made["spec"]["containers"][0] is live["spec"]["containers"][0]
    assert made["spec"]["volumes"] is live["spec"]["volumes"]
    assert made["status"] is live["status"]
    assert made["spec"]["containers"][2]["imagePullPolicy"] == "IfNotPresent"
