"""Objects that expressions construct: those with nothing odd about them, found in one walk.

What is taken here must be what the longer way would make of it, which is asked too.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.extend import types
from celadon.kube import GroupVersionKind
from celadon.kube.fieldmanager.merge_types import type_of
from celadon.kube.fieldmanager.mutated_kinds import Unusual, atomic_parts, fitting_object
from celadon.kube.fieldmanager.structured_merge import misfits
from celadon.kube.library import PatchObject
from tests.kube.fieldmanager.random_configurations import LIVE_KINDS, configurations
from tests.kube.library.evaluation import evaluate

POD = type_of(GroupVersionKind("", "v1", "Pod"), None)
MAPS = frozenset({"labels", "annotations", "limits", "requests", "data"})


def constructed(value: Any, path: str = "Object") -> Any:
    """What an expression has for a configuration, if it names all types rightly."""
    if isinstance(value, list):
        return [constructed(one, path) for one in value]
    if not isinstance(value, dict) or path.rpartition(".")[2] in MAPS:
        return value
    fields = {name: constructed(one, f"{path}.{name}") for name, one in value.items()}
    return PatchObject(types.object_type(path), fields)


@pytest.mark.parametrize("kind", LIVE_KINDS, ids=lambda kind: kind.kind)
@given(data=st.data())
def test_what_fits_has_no_misfits(kind: GroupVersionKind, data: st.DataObject) -> None:
    config = data.draw(configurations(kind))
    try:
        made = fitting_object(type_of(kind, None), constructed(config))
    except Unusual:
        return
    assert made == config
    assert not misfits(type_of(kind, None), config)
    assert not list(atomic_parts(type_of(kind, None), config))


@pytest.mark.parametrize(
    ("expression", "made"),
    [
        (
            "Object{metadata: Object.metadata{labels: {'a': 'b'}, finalizers: ['a', 'b']}}",
            {"metadata": {"labels": {"a": "b"}, "finalizers": ["a", "b"]}},
        ),
        (
            "Object{spec: Object.spec{hostNetwork: true, priority: 3, dnsPolicy: 'Default'}}",
            {"spec": {"hostNetwork": True, "priority": 3, "dnsPolicy": "Default"}},
        ),
        (
            "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'a', resources: "
            "Object.spec.containers.resources{limits: {'cpu': '1'}}}]}}",
            {"spec": {"containers": [{"name": "a", "resources": {"limits": {"cpu": "1"}}}]}},
        ),
    ],
)
def test_usual_objects(expression: str, made: Any) -> None:
    assert fitting_object(POD, evaluate(expression)) == made


@pytest.mark.parametrize(
    "fields",
    [
        "metadata: Object.spec{}",
        "metadata: Object.metadata{unknown: 1}",
        "metadata: Object.metadata{generation: 1.5}",
        "metadata: Object.metadata{name: true}",
        "metadata: Object.metadata{labels: {'a': 1}}",
        "metadata: Object.metadata{labels: {1: 'a'}}",
        "metadata: Object.metadata{finalizers: ['a', 'a']}",
        "metadata: Object.metadata{finalizers: [1]}",
        "metadata: Object.metadata{name: optional.of('a')}",
        "spec: Object.spec{priority: 7u}",
        "spec: Object.spec{priority: null}",
        "spec: Object.spec{priority: true}",
        "spec: Object.spec{containers: [Object.spec{name: 'i'}]}",
        "spec: Object.spec{containers: [{'name': 'i'}]}",
        "spec: Object.spec{containers: [Object.spec.containers{name: 'a', args: ['b']}]}",
        "spec: Object.spec{tolerations: []}",
        "spec: Object.spec{nodeSelector: {'a': 'b'}}",
        "spec: 'a'",
    ],
)
def test_anything_odd_is_for_others_to_judge(fields: str) -> None:
    with pytest.raises(Unusual):
        fitting_object(POD, evaluate(f"Object{{{fields}}}"))
