"""Pods with numbers, in order, and their claims and revisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from celadon.apiserver.simulation.planning import stateful_sets
from celadon.apiserver.simulation.planning.plans import NORMAL, WARNING, ObjectEvent, Plan, Verb
from celadon.apiserver.simulation.planning.stateful_sets import StatefulWorld, stateful_set_plan
from celadon.kube import JsonObject, metadata
from tests.apiserver.simulation.planning.sample_objects import (
    at,
    going,
    made,
    owned_by,
    pod,
    shown,
    status_of_plan,
    stored,
)

TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}]}}
CLAIM = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}


def stateful_set(replicas: int = 3, **spec: Any) -> dict[str, Any]:
    given = {
        "replicas": replicas,
        "serviceName": "web",
        "selector": {"matchLabels": {"app": "web"}},
        "template": TEMPLATE,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        **spec,
    }
    return stored("StatefulSet", "web", given)


def plan_of(
    given: JsonObject,
    pods: Sequence[JsonObject] = (),
    *,
    claims: Sequence[JsonObject] = (),
    revisions: Sequence[JsonObject] | None = None,
    seconds: float = 100.0,
) -> Plan:
    known = [revision(given)] if revisions is None else revisions
    world = StatefulWorld(pods, {metadata.name(one): one for one in claims}, known)
    return stateful_set_plan(given, world, at(seconds))


def revision(given: JsonObject, number: int = 1) -> dict[str, Any]:
    """The one that is made for a set without any."""
    world = StatefulWorld((), {}, ())
    (first,) = made(stateful_set_plan(given, world, at()), "ControllerRevision")
    return {**first, "revision": number}


def member(given: JsonObject, ordinal: int, **more: Any) -> dict[str, Any]:
    """A pod of the set's present revision, unless it says otherwise."""
    hashed = more.pop("hash", metadata.name(revision(given)))
    name = f"web-{ordinal}"
    labels = {"controller-revision-hash": hashed, "statefulset.kubernetes.io/pod-name": name}
    return pod(name, given, labels=labels, **more)


def test_the_first_pod_comes_with_its_revision_and_claims() -> None:
    given = stateful_set(volumeClaimTemplates=[CLAIM])
    plan = plan_of(given, revisions=())
    name = metadata.name(revision(given))
    assert shown(plan) == [
        f"create ControllerRevision {name}",
        "create PersistentVolumeClaim data-web-0",
        "create Pod web-0",
    ]
    (found,) = made(plan, "Pod")
    assert found["metadata"]["labels"] == {
        "app": "web",
        "controller-revision-hash": name,
        "statefulset.kubernetes.io/pod-name": "web-0",
        "apps.kubernetes.io/pod-index": "0",
    }
    assert found["spec"]["hostname"] == "web-0"
    assert found["spec"]["subdomain"] == "web"
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}}]
    assert found["spec"]["volumes"] == volumes
    assert [(one.done.reason, one.done.message) for one in plan.steps if one.done] == [
        ("SuccessfulCreate", "Create Claim data-web-0 Pod web-0 in StatefulSet web success"),
        ("SuccessfulCreate", "Create Pod web-0 in StatefulSet web successful"),
    ]
    assert [one.failed for one in plan.steps if one.failed] == [
        ObjectEvent(
            WARNING,
            "FailedCreate",
            "Create Claim data-web-0 for Pod web-0 in StatefulSet web failed error: ",
        ),
        ObjectEvent(WARNING, "FailedCreate", "Create Pod web-0 in StatefulSet web failed error: "),
    ]


def test_what_is_told_of_a_deletion() -> None:
    given = stateful_set(0)
    [step] = [one for one in plan_of(given, [member(given, 0)]).steps if one.verb is Verb.DELETE]
    text = "Delete Pod web-0 in StatefulSet web"
    assert step.done == ObjectEvent(NORMAL, "SuccessfulDelete", f"{text} successful")
    assert step.failed == ObjectEvent(WARNING, "FailedDelete", f"{text} failed error: ")


def test_a_revision_is_named_after_its_text() -> None:
    given = stateful_set()
    found = revision(given)
    digest = found["metadata"]["labels"]["controller.kubernetes.io/hash"]
    assert found["metadata"]["name"] == f"web-{digest}"
    assert found["data"]["spec"]["template"]["$patch"] == "replace"
    others = stateful_set(template={**TEMPLATE, "spec": {"containers": [{"name": "d"}]}})
    assert metadata.name(revision(others)) != found["metadata"]["name"]


@pytest.mark.parametrize(
    ("first", "wanted"),
    [
        ({}, ["create Pod web-1"]),
        ({"ready": False}, []),
        ({"phase": "Pending"}, []),
        ({"phase": "Failed"}, ["delete Pod web-0"]),
        ({"phase": "Succeeded"}, ["delete Pod web-0"]),
    ],
)
def test_each_pod_waits_for_the_one_before(first: dict[str, Any], wanted: list[str]) -> None:
    given = stateful_set()
    assert shown(plan_of(given, [member(given, 0, **first)])) == wanted


def test_a_pod_that_ends_is_waited_for() -> None:
    given = stateful_set()
    assert shown(plan_of(given, [going(member(given, 0))])) == []


def test_min_ready_seconds() -> None:
    given = stateful_set(minReadySeconds=30)
    plan = plan_of(given, [member(given, 0)], seconds=10)
    assert shown(plan) == []
    assert plan.requeue_after == 20
    assert status_of_plan(plan)["availableReplicas"] == 0
    assert shown(plan_of(given, [member(given, 0)], seconds=30)) == ["create Pod web-1"]


def test_parallel_pods_come_at_once() -> None:
    given = stateful_set(podManagementPolicy="Parallel")
    wanted = [f"create Pod web-{number}" for number in range(3)]
    assert shown(plan_of(given)) == wanted
    condemned = [member(given, number) for number in range(5)]
    assert shown(plan_of(given, condemned)) == ["delete Pod web-4", "delete Pod web-3"]


def test_numbers_begin_where_they_are_told_to() -> None:
    given = stateful_set(replicas=1, ordinals={"start": 5})
    assert shown(plan_of(given)) == ["create Pod web-5"]
    (last,) = plan_of(given, [member(given, 5), member(given, 4)]).steps[:1]
    assert metadata.name(last.object) == "web-4"


def test_pods_go_from_the_last() -> None:
    given = stateful_set(replicas=1)
    pods = [member(given, number) for number in range(3)]
    assert shown(plan_of(given, pods)) == ["delete Pod web-2"]
    assert shown(plan_of(given, [*pods[:2], going(pods[2])])) == []
    unhealthy = [pods[0], member(given, 1, ready=False), pods[2]]
    assert shown(plan_of(given, unhealthy)) == ["delete Pod web-2"]


def test_an_update_goes_from_the_last() -> None:
    given = stateful_set()
    pods = [member(given, number, hash="web-old") for number in range(3)]
    plan = plan_of(given, pods)
    assert shown(plan) == ["delete Pod web-2"]
    assert plan.steps[0].done is not None
    assert plan.steps[0].done.message == "Delete Pod web-2 in StatefulSet web successful"
    updated = [*pods[:2], member(given, 2, ready=False)]
    assert shown(plan_of(given, updated)) == []
    assert shown(plan_of(given, [*pods[:2], member(given, 2)])) == ["delete Pod web-1"]


@pytest.mark.parametrize(
    ("strategy", "wanted"),
    [
        ({"type": "OnDelete"}, []),
        ({"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}, []),
        ({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}, ["delete Pod web-2"]),
    ],
)
def test_updates_that_are_held_back(strategy: dict[str, Any], wanted: list[str]) -> None:
    given = stateful_set(updateStrategy=strategy)
    pods = [member(given, number, hash="web-old") for number in range(3)]
    assert shown(plan_of(given, pods)) == wanted


def test_below_the_partition_pods_keep_the_old_template() -> None:
    old = stateful_set()
    changed = {**TEMPLATE, "spec": {"containers": [{"name": "new"}]}}
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    given = stateful_set(template=changed, updateStrategy=strategy)
    former = revision(old)
    given = {**given, "status": {"currentRevision": metadata.name(former)}}
    known = [former, revision(given, 2)]
    (found,) = made(plan_of(given, revisions=known), "Pod")
    assert found["spec"]["containers"] == [{"name": "c"}]
    (found,) = made(plan_of(given, [member(old, 0)], revisions=known), "Pod")
    assert found["spec"]["containers"] == [{"name": "new"}]


def test_going_back_renumbers_the_old_revision() -> None:
    given = stateful_set()
    others = stateful_set(template={**TEMPLATE, "spec": {"containers": [{"name": "new"}]}})
    plan = plan_of(given, revisions=[revision(given), revision(others, 2)])
    assert plan.steps[0].verb is Verb.UPDATE
    assert plan.steps[0].object["revision"] == 3


def test_a_name_that_is_taken_is_a_collision() -> None:
    given = stateful_set()
    taken = {**revision(given), "data": {"spec": {}}}
    foreign = stored("StatefulSet", "other", {})
    taken["metadata"] = {**taken["metadata"], "ownerReferences": owned_by(foreign)}
    plan = plan_of(given, revisions=[taken])
    (found,) = made(plan, "ControllerRevision")
    assert metadata.name(found) != metadata.name(taken)
    assert status_of_plan(plan)["collisionCount"] == 1


def test_old_revisions_are_forgotten() -> None:
    given = stateful_set(revisionHistoryLimit=1)
    pods = [member(given, number) for number in range(3)]
    past = [
        {
            **revision(given, number),
            "metadata": {**revision(given)["metadata"], "name": f"old-{number}"},
            "data": {"spec": {"template": number}},
        }
        for number in range(3)
    ]
    plan = plan_of(given, pods, revisions=[*past, revision(given, 9)])
    assert shown(plan) == ["delete ControllerRevision old-0", "delete ControllerRevision old-1"]


def test_status() -> None:
    given = stateful_set()
    name = metadata.name(revision(given))
    pods = [member(given, 0), member(given, 1), member(given, 2, ready=False)]
    plan = plan_of({**given, "status": {"currentRevision": name}}, pods)
    assert status_of_plan(plan) == {
        "observedGeneration": 1,
        "replicas": 3,
        "readyReplicas": 2,
        "currentReplicas": 3,
        "updatedReplicas": 3,
        "currentRevision": name,
        "updateRevision": name,
        "collisionCount": 0,
        "availableReplicas": 2,
    }


def test_a_complete_update_makes_its_revision_the_current_one() -> None:
    given = stateful_set(replicas=1)
    name = metadata.name(revision(given))
    before = {**given, "status": {"currentRevision": "web-old"}}
    old = {**revision(given, 0), "data": {}}
    old["metadata"] = {**old["metadata"], "name": "web-old"}
    known = [old, revision(given)]
    during = status_of_plan(plan_of(before, [member(given, 0, ready=False)], revisions=known))
    assert (during["currentRevision"], during["updateRevision"]) == ("web-old", name)
    after = status_of_plan(plan_of(before, [member(given, 0)], revisions=known))
    assert (after["currentRevision"], after["currentReplicas"]) == (name, 1)


def test_a_set_that_is_being_deleted_only_tells_how_it_is() -> None:
    given = going(stateful_set())
    plan = plan_of(given)
    assert [one.verb for one in plan.steps] == [Verb.STATUS]


def test_of_any_number_of_pods_few_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be two billions."""
    monkeypatch.setattr(stateful_sets, "_MOST_AT_ONCE", 2)
    given = stateful_set(5, podManagementPolicy="Parallel")

    def created(*numbers: int) -> list[str]:
        plan = plan_of(given, [member(given, number) for number in numbers])
        steps = [step for step in plan.steps if step.verb is Verb.CREATE]
        return [metadata.name(step.object) for step in steps]

    assert created(0) == ["web-1", "web-2"]
    assert created(0, 1, 2, 4) == ["web-3"]


# --- Claims ------------------------------------------------------------------

POLICIES = {
    "keep": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    "with the set": {"whenDeleted": "Delete", "whenScaled": "Retain"},
    "with pods": {"whenDeleted": "Retain", "whenScaled": "Delete"},
    "always": {"whenDeleted": "Delete", "whenScaled": "Delete"},
}


@pytest.mark.parametrize(
    ("policy", "scaled", "owner"),
    [
        ("keep", False, ""),
        ("keep", True, ""),
        ("with the set", False, "StatefulSet"),
        ("with the set", True, "StatefulSet"),
        ("with pods", False, ""),
        ("with pods", True, "Pod"),
        ("always", False, "StatefulSet"),
        ("always", True, "Pod"),
    ],
)
def test_whose_claims_are(policy: str, *, scaled: bool, owner: str) -> None:
    given = stateful_set(
        replicas=0 if scaled else 1,
        volumeClaimTemplates=[CLAIM],
        persistentVolumeClaimRetentionPolicy=POLICIES[policy],
    )
    wrong = "" if owner else "StatefulSet"
    foreign = owned_by(given) if wrong else []
    claim = stored("PersistentVolumeClaim", "data-web-0", {}, "v1", ownerReferences=foreign)
    one = member(given, 0)
    one["spec"]["volumes"] = [{"name": "data"}]
    steps = plan_of(given, [one], claims=[claim]).steps
    changed = [
        step.object["metadata"]["ownerReferences"]
        for step in steps
        if step.object["kind"] == "PersistentVolumeClaim"
    ]
    assert [[one["kind"] for one in refs] for refs in changed] == [[owner] if owner else []]


def test_a_claim_that_goes_with_the_former_pod_is_waited_for() -> None:
    given = stateful_set(
        volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=POLICIES["always"]
    )
    former = owned_by(pod("web-0"))
    former[0]["uid"] = "another"
    claim = stored("PersistentVolumeClaim", "data-web-0", {}, "v1", ownerReferences=former)
    assert shown(plan_of(given, claims=[claim])) == []


def test_a_claim_that_is_being_deleted_is_waited_for() -> None:
    given = stateful_set(volumeClaimTemplates=[CLAIM])
    claim = going(stored("PersistentVolumeClaim", "data-web-0", {}, "v1"))
    assert shown(plan_of(given, claims=[claim])) == []
