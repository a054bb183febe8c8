"""What a quota should say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from celadon.admission.plugins.resource_quota import counts_differ, recounted
from celadon.kube import GroupResource
from tests.admission.plugins.asking import obj, pod

NOW = "2025-01-01T00:00:00Z"
THERE: dict[GroupResource, list[Any]] = {
    GroupResource("", "pods"): [pod(), pod(activeDeadlineSeconds=1)],
    GroupResource("", "configmaps"): [obj("ConfigMap", "a")],
    GroupResource("", "services"): [],
}


def objects(resource: GroupResource) -> Sequence[Any] | None:
    return THERE.get(resource)


def quota(hard: dict[str, str], status: Any = None, **spec: Any) -> dict[str, Any]:
    made = obj("ResourceQuota", "q", spec={"hard": hard, **spec})
    return made if status is None else {**made, "status": status}


HARD = {
    "pods": "4",
    "configmaps": "9",
    "count/configmaps": "9",
    "services": "1",
    "count/no.example.com": "1",
}
COUNTED = {"configmaps": "1", "count/configmaps": "1", "pods": "2", "services": "0"}


def test_everything_is_counted() -> None:
    assert recounted(quota(HARD), objects, NOW) == {"hard": HARD, "used": COUNTED}


def test_only_what_is_in_scope() -> None:
    found = recounted(quota({"pods": "4"}, scopes=["Terminating"]), objects, NOW)
    assert found["used"] == {"pods": "1"}


def test_what_nobody_can_count_stays() -> None:
    status = {"hard": {}, "used": {"count/no.example.com": "3", "gone": "1"}}
    found = recounted(quota(HARD, status), objects, NOW)
    assert found["used"] == {**COUNTED, "count/no.example.com": "3"}


def test_nothing_to_change() -> None:
    status = {"hard": {"pods": "4"}, "used": {"pods": "2000m"}}
    assert recounted(quota({"pods": "4"}, status), objects, NOW) is status


def test_updates_that_count() -> None:
    pods = GroupResource("", "pods")
    ended = {**pod(), "status": {"phase": "Failed"}}
    assert counts_differ(pods, ended, pod(), NOW)
    assert not counts_differ(pods, pod(), pod(), NOW)
    maps = GroupResource("", "configmaps")
    assert not counts_differ(maps, obj("ConfigMap", "a"), obj("ConfigMap", "b"), NOW)


CLAIM = obj("PersistentVolumeClaim", "c", spec={"volumeAttributesClassName": "silver"})


@pytest.mark.parametrize(
    ("resource", "new", "old"),
    [
        ("pods", pod(activeDeadlineSeconds=1), pod()),
        ("persistentvolumeclaims", CLAIM, obj("PersistentVolumeClaim", "c", spec={})),
        (
            "persistentvolumeclaims",
            {**CLAIM, "status": {"currentVolumeAttributesClassName": "silver"}},
            {**CLAIM, "status": {"currentVolumeAttributesClassName": "gold"}},
        ),
        (
            "persistentvolumeclaims",
            CLAIM,
            {**CLAIM, "status": {"modifyVolumeStatus": {"targetVolumeAttributesClassName": "b"}}},
        ),
    ],
    ids=["a pod that has to end", "a class", "the class that it has", "a class no longer wanted"],
)
def test_updates_that_change_the_scope(resource: str, new: Any, old: Any) -> None:
    """They count for as much as before, but in other quotas."""
    assert counts_differ(GroupResource("", resource), new, old, NOW)
    assert not counts_differ(GroupResource("", resource), new, new, NOW)
