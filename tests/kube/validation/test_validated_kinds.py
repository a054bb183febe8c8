"""What is looked at for all kinds, however many rules of their own they have."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import metadata
from celadon.kube.registry.decoded_object import drafted
from celadon.kube.registry.update import prepare_for_update
from celadon.kube.validation.built_in_validations import validate_create, validate_update
from tests.kube.validation.objects import admitted, complaints, job, obj, pod_spec

Json = dict[str, Any]
UNNAMED = "metadata.name: Required value: name or generateName is required"
OTHER_FINALIZER = (
    'metadata.finalizers[0]: Invalid value: "a": name is neither a standard finalizer name nor is '
    "it fully qualified"
)


def budget(**meta: Any) -> Json:
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta}


@pytest.mark.parametrize(
    ("meta", "messages"),
    [
        ({}, [UNNAMED]),
        ({"name": "a", "finalizers": ["b"]}, []),
        ({"name": "a/b"}, ["metadata.name: Invalid value: \"a/b\": may not contain '/'"]),
        (
            {"name": "a", "ownerReferences": [{"apiVersion": "v1", "kind": "Event"}]},
            [
                'metadata.ownerReferences.name: Invalid value: "": must not be empty',
                'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
                'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event",'
                '"name":"","uid":""}: /v1, Kind=Event is disallowed from being an owner',
            ],
        ),
    ],
)
def test_a_kind_that_does_not_look_at_its_metadata(meta: Json, messages: list[str]) -> None:
    assert complaints(budget(**meta)) == messages


def test_owners_are_shown_in_the_order_of_the_struct() -> None:
    owners = [{"controller": True, "uid": uid, "name": "n"} for uid in "12"]
    assert complaints(budget(name="a", ownerReferences=owners))[-1].startswith(
        'metadata.ownerReferences: Invalid value: [{"apiVersion":"","kind":"","name":"n",'
        '"uid":"1","controller":true},'
    )


def test_what_is_wrong_with_a_spec_comes_first() -> None:
    value = {**budget(), "spec": {"unhealthyPodEvictionPolicy": "A"}}
    assert complaints(value) == [
        'spec.unhealthyPodEvictionPolicy: Unsupported value: "A": supported values: '
        '"AlwaysAllow", "IfHealthyBudget"'
    ]


@pytest.mark.parametrize(
    ("api_version", "kind", "fields", "messages"),
    [
        ("coordination.k8s.io/v1", "Lease", {}, []),
        ("node.k8s.io/v1", "RuntimeClass", {"handler": "h"}, []),
        ("v1", "ConfigMap", {}, [OTHER_FINALIZER]),
    ],
)
def test_finalizers(api_version: str, kind: str, fields: Json, messages: list[str]) -> None:
    assert complaints(obj(api_version, kind, meta={"finalizers": ["a"]}, **fields)) == messages


def test_generations() -> None:
    assert complaints(obj("v1", "ConfigMap", meta={"generation": -1})) == [
        "metadata.generation: Invalid value: -1: must be greater than or equal to 0"
    ]


@pytest.mark.parametrize(
    ("value", "times"),
    [
        (obj("v1", "PodTemplate", template={"spec": pod_spec()}), 3),
        (obj("v1", "LimitRange"), 3),
        (obj("v1", "Namespace"), 4),
        (obj("v1", "ConfigMap"), 4),
        (obj("apps/v1", "ControllerRevision", data={}, revision=1), 4),
        (obj("batch/v1", "CronJob", spec={"schedule": "@daily", "jobTemplate": job()}), 3),
    ],
)
def test_how_often_the_metadata_of_a_changed_object_is_looked_at(value: Json, times: int) -> None:
    """Once and as a new one by the server, then as the strategy of the kind does."""
    kind, old = metadata.gvk(value), admitted(value)
    assert validate_create(old, kind) == []
    new = {**old, "metadata": {**old["metadata"], "labels": {"-": ""}}}
    made = prepare_for_update(drafted(new, kind), old)
    at = [str(one.path) for one in validate_update(made, old, kind)]
    assert at.count("metadata.labels") == times


def test_the_beginning_of_a_name_fits_into_paths() -> None:
    """Where the rules of a kind do not look at it."""
    device_class = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "a", "generateName": "A%"},
        "spec": {},
    }
    assert complaints(device_class) == [
        "metadata.generateName: Invalid value: \"A%\": may not contain '%'"
    ]
