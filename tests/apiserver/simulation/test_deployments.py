"""Deployments and ReplicaSets in a cluster that is alive, by what clients see."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.testing import KubeApi
from tests.apiserver.simulation.living import (
    DEPLOYMENTS,
    FAIL,
    PODS,
    REPLICA_SETS,
    change_template,
    conditions,
    counts,
    deployment,
    items,
    living,
    told,
)

WEB = f"{DEPLOYMENTS}/web"


def created(api: KubeApi, *args: Any, **more: Any) -> dict[str, Any]:
    api.create(deployment(*args, **more))
    api.settle()
    return web(api)


def web(api: KubeApi) -> dict[str, Any]:
    found: dict[str, Any] = api.request("GET", WEB)
    return found


def sizes(api: KubeApi) -> list[int]:
    """Of the ReplicaSets, by their revisions."""
    found = items(api, REPLICA_SETS)
    found.sort(key=lambda one: int(one["metadata"]["annotations"][REVISION]))
    return [one["spec"]["replicas"] for one in found]


REVISION = "deployment.kubernetes.io/revision"


def test_a_deployment_becomes_available() -> None:
    with living() as api:
        made = created(api)
        (owned,) = items(api, REPLICA_SETS)
        name = owned["metadata"]["name"]
        assert counts(made) == {
            "observedGeneration": 1,
            "replicas": 3,
            "updatedReplicas": 3,
            "readyReplicas": 3,
            "availableReplicas": 3,
            "terminatingReplicas": 0,
        }
        assert conditions(made) == {
            "Available": (
                "True",
                "MinimumReplicasAvailable",
                "Deployment has minimum availability.",
            ),
            "Progressing": (
                "True",
                "NewReplicaSetAvailable",
                f'ReplicaSet "{name}" has successfully progressed.',
            ),
        }
        assert made["metadata"]["annotations"][REVISION] == "1"
        assert told(api, "web") == [
            ("ScalingReplicaSet", f"Scaled up replica set {name} from 0 to 3")
        ]
        pods = items(api, PODS)
        assert sorted(told(api, name)) == sorted(
            ("SuccessfulCreate", f"Created pod: {one['metadata']['name']}") for one in pods
        )
        writers = {one["manager"] for one in made["metadata"]["managedFields"]}
        assert "kube-controller-manager" in writers


def test_a_rolling_update_keeps_enough_pods() -> None:
    with living(ready_seconds=5) as api:
        created(api)
        api.advance(seconds=5)
        change_template(api, "web", to="2")
        api.settle()
        assert sizes(api) == [3, 1]
        api.advance(seconds=5)
        assert sizes(api) == [2, 2]
        api.advance(minutes=1)
        assert sizes(api) == [0, 3]
        assert counts(web(api))["updatedReplicas"] == 3
        assert web(api)["metadata"]["annotations"][REVISION] == "2"


def test_recreate_waits_until_all_old_pods_are_gone() -> None:
    with living() as api:
        slow = {"simulation.celadon.dev/stop-after": "10s"}
        created(api, strategy={"type": "Recreate"}, annotations=slow)
        change_template(api, "web", to="2")
        api.settle()
        assert sizes(api) == [0]
        api.advance(seconds=10)
        assert sizes(api) == [0, 3]
        assert counts(web(api))["availableReplicas"] == 3


def test_what_makes_no_progress_is_told_after_its_deadline() -> None:
    with living() as api:
        created(api, progressDeadlineSeconds=60)
        change_template(api, "web", fail="crash")
        api.advance(seconds=59)
        assert conditions(web(api))["Progressing"][1] == "ReplicaSetUpdated"
        api.advance(seconds=5)
        state, reason, message = conditions(web(api))["Progressing"]
        assert (state, reason) == ("False", "ProgressDeadlineExceeded")
        assert message.endswith("has timed out progressing.")
        assert conditions(web(api))["Available"][0] == "True"


def test_a_template_from_before_is_the_same_replica_set() -> None:
    with living() as api:
        created(api)
        (first,) = items(api, REPLICA_SETS)
        change_template(api, "web", to="2")
        api.settle()
        change_template(api, "web", to=None)
        api.settle()
        (back,) = (one for one in items(api, REPLICA_SETS) if one["spec"]["replicas"])
        assert back["metadata"]["name"] == first["metadata"]["name"]
        annotations = back["metadata"]["annotations"]
        assert annotations[REVISION] == "3"
        assert annotations["deployment.kubernetes.io/revision-history"] == "1"


def test_paused_deployments_are_scaled_but_not_rolled_out() -> None:
    with living() as api:
        created(api)
        api.request("PATCH", WEB, {"spec": {"paused": True}})
        change_template(api, "web", to="2")
        api.request("PATCH", WEB, {"spec": {"replicas": 5}})
        api.settle()
        assert sizes(api) == [5]
        assert conditions(web(api))["Progressing"][:2] == ("Unknown", "DeploymentPaused")
        api.request("PATCH", WEB, {"spec": {"paused": False}})
        api.settle()
        assert sizes(api) == [0, 5]
        assert conditions(web(api))["Progressing"][1] == "NewReplicaSetAvailable"


def test_history_is_limited() -> None:
    with living() as api:
        created(api, revisionHistoryLimit=1)
        for number in range(2, 5):
            change_template(api, "web", to=str(number))
            api.settle()
        assert sizes(api) == [0, 3]


def test_pods_count_when_they_were_ready_for_long_enough() -> None:
    with living() as api:
        made = created(api, minReadySeconds=30)
        assert (counts(made)["readyReplicas"], counts(made).get("availableReplicas")) == (3, None)
        api.advance(seconds=29)
        assert "availableReplicas" not in counts(web(api))
        api.advance(seconds=1)
        assert counts(web(api))["availableReplicas"] == 3


def test_dependents_go_with_their_owner() -> None:
    with living() as api:
        created(api)
        api.request("DELETE", WEB)
        api.settle()
        assert (items(api, REPLICA_SETS), items(api, PODS)) == ([], [])


def test_orphans_are_adopted_and_strangers_released() -> None:
    with living() as api:
        created(api)
        (owner,) = items(api, REPLICA_SETS)
        one, *_ = items(api, PODS)
        path = f"{PODS}/{one['metadata']['name']}"
        api.request("PATCH", path, {"metadata": {"labels": {"app": "other"}}})
        api.settle()
        released = api.request("GET", path)
        assert "ownerReferences" not in released["metadata"]
        assert len(items(api, PODS)) == 4
        api.request("PATCH", path, {"metadata": {"labels": {"app": "web"}}})
        api.settle()
        pods = items(api, PODS)
        owners = {ref["uid"] for pod in pods for ref in pod["metadata"]["ownerReferences"]}
        assert owners == {owner["metadata"]["uid"]}
        assert len(pods) == 3


POLICY = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "no-pods"},
    "spec": {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["pods"],
                }
            ]
        },
        "validations": [
            {
                "expression": "object.spec.containers.all(c, c.image != 'app:1')",
                "messageExpression": "'not as ' + request.userInfo.username",
            }
        ],
    },
}
BINDING = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "no-pods"},
    "spec": {"policyName": "no-pods", "validationActions": ["Deny"]},
}


def test_a_policy_that_denies_pods_shows_in_the_conditions() -> None:
    with living() as api:
        api.create(POLICY, BINDING)
        made = created(api)
        (owned,) = items(api, REPLICA_SETS)
        state, reason, message = conditions(made)["ReplicaFailure"]
        assert (state, reason) == ("True", "FailedCreate")
        user = "system:serviceaccount:kube-system:replicaset-controller"
        assert message.endswith(
            "is forbidden: ValidatingAdmissionPolicy 'no-pods' with binding 'no-pods' denied "
            f"request: not as {user}"
        )
        assert conditions(owned)["ReplicaFailure"] == ("True", "FailedCreate", message)
        events = [
            text for why, text in told(api, owned["metadata"]["name"]) if why == "FailedCreate"
        ]
        assert any(one == f"Error creating: {message}" for one in events)
        assert counts(made) == {
            "observedGeneration": 1,
            "unavailableReplicas": 3,
            "terminatingReplicas": 0,
        }
        api.request("DELETE", f"{POLICIES}/no-pods")
        api.advance(minutes=1)
        assert "ReplicaFailure" not in conditions(web(api))
        assert counts(web(api))["availableReplicas"] == 3


POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"


def test_a_quota_stops_what_is_too_much() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": "default"},
        "spec": {"hard": {"pods": "2"}},
    }
    with living() as api:
        api.create(quota)
        made = created(api)
        assert counts(made)["replicas"] == 2
        assert "exceeded quota: few" in conditions(made)["ReplicaFailure"][2]
        api.request(
            "PATCH",
            "/api/v1/namespaces/default/resourcequotas/few",
            {"spec": {"hard": {"pods": "9"}}},
        )
        api.advance(minutes=1)
        assert counts(web(api))["replicas"] == 3


def test_the_least_useful_pods_go_first() -> None:
    with living() as api:
        created(api, replicas=4)
        costs = {}
        for number, one in enumerate(items(api, PODS)):
            name = one["metadata"]["name"]
            cost = {"controller.kubernetes.io/pod-deletion-cost": str(number)}
            api.request("PATCH", f"{PODS}/{name}", {"metadata": {"annotations": cost}})
            costs[name] = number
        api.request("PATCH", WEB, {"spec": {"replicas": 2}})
        api.settle()
        assert sorted(costs[one["metadata"]["name"]] for one in items(api, PODS)) == [2, 3]


@pytest.mark.parametrize("fail", ["pull", "crash"])
def test_broken_pods_do_not_replace_good_ones(fail: str) -> None:
    with living() as api:
        created(api)
        change_template(api, "web", fail=fail)
        api.advance(minutes=2)
        assert sizes(api) == [3, 1]
        change_template(api, "web", fail=None)
        api.advance(minutes=1)
        assert sizes(api) == [0, 3]


def test_pods_that_heal_finish_a_rollout() -> None:
    with living() as api:
        created(api, annotations={FAIL: "crash"})
        api.advance(minutes=2)
        assert counts(web(api)).get("availableReplicas") is None
        for one in items(api, PODS):
            change = {"metadata": {"annotations": {FAIL: None}}}
            api.request("PATCH", f"{PODS}/{one['metadata']['name']}", change)
        api.advance(minutes=6)
        assert counts(web(api))["availableReplicas"] == 3
