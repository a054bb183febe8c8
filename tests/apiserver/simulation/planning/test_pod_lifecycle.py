"""What becomes of a pod on a node, as a pure function of its status and the time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from celadon.apiserver.simulation.planning.pod_lifecycle import (
    DOMAIN,
    Addresses,
    Habits,
    Step,
    killed_status,
    next_step,
    seconds_to_end,
)
from celadon.apiserver.simulation.planning.pod_predicates import Sources, duration, time_text

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WHERE = Addresses("172.18.0.2", "10.244.1.1")


def pod(annotations: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    told = {f"{DOMAIN}/{key}": value for key, value in (annotations or {}).items()}
    meta = {
        "name": "one",
        "namespace": "default",
        "uid": "u-1",
        "generation": 3,
        "annotations": told,
    }
    containers = [{"name": "app", "image": "example.com/app:1"}]
    return {"metadata": meta, "spec": {"containers": containers, **spec}, "status": {}}


class Life:
    """A pod whose clock is moved to whatever it waits for."""

    def __init__(
        self, of: dict[str, Any], habits: Habits | None = None, sources: Sources | None = None
    ) -> None:
        self.pod = of
        self.sources = sources
        self.habits = Habits() if habits is None else habits
        self.now = NOW
        self.reasons: list[str] = []
        self.step = self.look()

    def look(self) -> Step:
        step = next_step(self.pod, WHERE, self.habits, self.now, self.sources)
        self.pod = {**self.pod, "status": step.status}
        self.reasons += [one.reason for one in step.events]
        self.texts = [one.message for one in step.events]
        self.step = step
        if self.phase in ("Pending", "Running"):
            again = next_step(self.pod, WHERE, self.habits, self.now, self.sources)
            assert (again.status, again.events) == (step.status, []), "nothing new at that time"
        return step

    def wait(self) -> Step:
        assert self.step.requeue_after is not None
        self.now += timedelta(seconds=self.step.requeue_after)
        return self.look()

    @property
    def phase(self) -> str:
        return str(self.pod["status"]["phase"])

    def container(self, name: str = "app") -> dict[str, Any]:
        status = self.pod["status"]
        listed = (*status.get("initContainerStatuses", ()), *status["containerStatuses"])
        found: dict[str, Any] = next(one for one in listed if one["name"] == name)
        return found

    def condition(self, kind: str) -> tuple[str, str, str]:
        one = next(one for one in self.pod["status"]["conditions"] if one["type"] == kind)
        return one["status"], one.get("reason", ""), one.get("message", "")


def test_a_pod_is_ready_after_a_while() -> None:
    life = Life(pod(), Habits(ready_after=5))
    assert (life.phase, life.step.requeue_after) == ("Running", 5)
    message = "containers with unready status: [app]"
    assert life.condition("Ready") == ("False", "ContainersNotReady", message)
    assert life.condition("ContainersReady") == life.condition("Ready")
    assert life.wait().requeue_after is None
    assert life.condition("Ready") == ("True", "", "")
    status = life.pod["status"]
    assert (status["podIP"], status["hostIP"]) == ("10.244.1.1", "172.18.0.2")
    assert status["observedGeneration"] == 3
    assert [one["type"] for one in status["conditions"]] == [
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
    ]
    assert life.container()["imageID"].startswith("example.com/app@sha256:")
    assert life.reasons == ["Pulled", "Created", "Started"]


@pytest.mark.parametrize(("code", "phase"), [("0", "Succeeded"), ("3", "Failed")])
def test_a_pod_ends_by_itself(code: str, phase: str) -> None:
    life = Life(pod({"exit-code": code}, restartPolicy="Never"), Habits(run_for=7))
    assert (life.phase, life.step.requeue_after) == ("Running", 7)
    assert life.wait().requeue_after is None
    ended = life.container()["state"]["terminated"]
    assert (life.phase, ended["exitCode"]) == (phase, int(code))
    assert ended["finishedAt"] == time_text(NOW + timedelta(seconds=7))
    reason = "PodCompleted" if phase == "Succeeded" else "PodFailed"
    assert life.condition("Ready") == ("False", reason, "")


def commanded(*command: str, **more: Any) -> list[dict[str, Any]]:
    return [{"name": "app", "image": "i", "command": list(command), **more}]


def test_a_command_that_tells_its_end() -> None:
    life = Life(pod(containers=commanded("sh", "-c", "sleep 4; exit 3"), restartPolicy="Never"))
    assert (life.phase, life.step.requeue_after) == ("Running", 4)
    life.wait()
    assert (life.phase, life.container()["state"]["terminated"]["exitCode"]) == ("Failed", 3)
    life = Life(pod(containers=commanded("sleep", "infinity"), restartPolicy="Never"))
    assert (life.phase, life.step.requeue_after) == ("Running", None)
    life = Life(pod(containers=commanded("true")))
    assert life.container()["restartCount"] == 1
    assert life.reasons[-1] == "BackOff"
    inits = commanded("false")
    assert Life(pod(initContainers=inits, restartPolicy="Never")).phase == "Failed"


def test_annotations_outdo_a_command() -> None:
    told = {"run-for": "7s", "exit-code": "2"}
    life = Life(pod(told, containers=commanded("false"), restartPolicy="Never"))
    assert life.step.requeue_after == 7
    life.wait()
    assert life.container()["state"]["terminated"]["exitCode"] == 2


def test_an_exit_code_that_is_none_is_as_if_it_were_not_there() -> None:
    assert Life(pod({"exit-code": "\u00b2"}, restartPolicy="Never")).phase == "Succeeded"


def test_what_crashes_is_restarted_more_and_more_slowly() -> None:
    life = Life(pod({"fail": "crash"}))
    assert life.phase == "Running"
    waits = []
    for _ in range(7):
        waits.append(life.step.requeue_after)
        life.wait()
    assert waits == [10, 20, 40, 80, 160, 300, 300]
    status = life.container()
    assert (status["restartCount"], status["ready"]) == (8, False)
    assert status["state"]["waiting"] == {
        "reason": "CrashLoopBackOff",
        "message": "back-off 5m0s restarting failed container=app pod=one_default(u-1)",
    }
    assert status["lastState"]["terminated"]["reason"] == "Error"
    assert life.reasons.count("BackOff") == 8


def test_ephemeral_containers_start_once_and_are_never_ready() -> None:
    life = Life(pod(restartPolicy="Never"), Habits(run_for=60))
    ephemerals = [
        {"name": "debugger", "image": "busybox"},
        {"name": "over", "image": "busybox", "command": ["false"]},
    ]
    life.pod["spec"]["ephemeralContainers"] = ephemerals
    life.look()
    debugger, over = life.pod["status"]["ephemeralContainerStatuses"]
    assert (debugger["name"], list(debugger["state"])) == ("debugger", ["running"])
    assert (debugger["ready"], "started" in debugger) == (False, False)
    assert (over["state"]["terminated"]["exitCode"], over["restartCount"]) == (1, 0)
    assert life.phase == "Running"
    assert life.condition("Ready")[0] == "True"
    life.wait()
    debugger, over = life.pod["status"]["ephemeralContainerStatuses"]
    assert debugger["state"]["terminated"]["exitCode"] == 137
    assert over["restartCount"] == 0
    assert life.phase == "Succeeded"


CODES = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]
OTHERS = [{"action": "Restart", "exitCodes": {"operator": "NotIn", "values": [42]}}]


@pytest.mark.parametrize(
    ("pod_policy", "more", "code", "restarts"),
    [
        ("Never", {"restartPolicy": "Always"}, 0, True),
        ("Never", {"restartPolicy": "OnFailure"}, 0, False),
        ("Never", {"restartPolicy": "OnFailure"}, 3, True),
        ("Always", {"restartPolicy": "Never"}, 3, False),
        ("Never", {"restartPolicy": "Never", "restartPolicyRules": CODES}, 42, True),
        ("Never", {"restartPolicy": "Never", "restartPolicyRules": CODES}, 3, False),
        ("Never", {"restartPolicy": "Never", "restartPolicyRules": OTHERS}, 42, False),
        ("Never", {"restartPolicy": "Never", "restartPolicyRules": OTHERS}, 3, True),
        ("OnFailure", {}, 3, True),
    ],
)
def test_containers_have_policies_and_rules_of_restarts(
    pod_policy: str, more: dict[str, Any], code: int, restarts: bool
) -> None:
    containers = commanded("sh", "-c", f"exit {code}", **more)
    life = Life(pod(containers=containers, restartPolicy=pod_policy))
    assert (life.container()["restartCount"] == 1) == restarts
    assert (life.phase == "Running") == restarts


def test_an_init_container_has_a_policy() -> None:
    inits = commanded("false", restartPolicy="Never")
    assert Life(pod(initContainers=inits)).phase == "Failed"
    inits = commanded("false", restartPolicy="Never", restartPolicyRules=OTHERS)
    assert Life(pod(initContainers=inits)).phase == "Pending"
    inits = commanded("true", restartPolicy="OnFailure", restartPolicyRules=OTHERS)
    assert Life(pod(initContainers=inits)).phase == "Running"


def with_image(life: Life, image: str) -> None:
    spec = life.pod["spec"]
    life.pod["spec"] = {**spec, "containers": [{**spec["containers"][0], "image": image}]}
    life.look()


@pytest.mark.parametrize("policy", ["Always", "Never"])
def test_a_container_with_a_new_image_is_made_anew(policy: str) -> None:
    life = Life(pod(restartPolicy=policy), Habits(run_for=60))
    with_image(life, "example.com/app:2")
    status = life.container()
    assert (status["image"], status["restartCount"]) == ("example.com/app:2", 1)
    assert status["lastState"]["terminated"]["exitCode"] == 137
    assert "Container app definition changed, will be restarted" in life.texts
    with_image(life, "example.com/app:2")
    assert (life.container()["restartCount"], life.texts) == (1, [])


def test_a_new_image_is_tried_at_once() -> None:
    life = Life(pod({"fail": "crash"}))
    assert life.step.requeue_after == 10
    life.pod["metadata"]["annotations"] = {}
    with_image(life, "example.com/app:2")
    assert life.container()["restartCount"] == 2
    assert life.step.requeue_after is None


def test_what_has_ended_for_good_does_not_come_back_with_a_new_image() -> None:
    life = Life(pod(restartPolicy="Never", containers=commanded("true")))
    with_image(life, "example.com/app:2")
    assert (life.phase, life.container()["restartCount"]) == ("Succeeded", 0)


def test_on_failure_only_failures_are_restarted() -> None:
    life = Life(pod(restartPolicy="OnFailure"))
    assert (life.phase, life.container()["restartCount"]) == ("Succeeded", 0)
    life = Life(pod({"fail": "crash"}, restartPolicy="OnFailure"))
    assert (life.phase, life.container()["restartCount"]) == ("Running", 1)


def test_an_image_that_cannot_be_pulled() -> None:
    life = Life(pod({"fail": "pull"}))
    assert (life.phase, life.step.requeue_after) == ("Pending", None)
    assert life.container()["state"]["waiting"]["reason"] == "ImagePullBackOff"
    assert "Failed" in life.reasons
    life.pod["metadata"]["annotations"] = {}
    life.look()
    assert life.phase == "Running"


def test_init_containers_come_one_after_the_other() -> None:
    inits = [
        {"name": "first", "image": "i"},
        {"name": "beside", "image": "i", "restartPolicy": "Always"},
        {"name": "slow", "image": "i"},
    ]
    life = Life(pod({"containers": "slow", "run-for": "4s"}, initContainers=inits))
    assert life.phase == "Pending"
    assert "terminated" in life.container("first")["state"]
    assert "running" in life.container("beside")["state"]
    assert life.container()["state"] == {"waiting": {"reason": "PodInitializing"}}
    message = "containers with incomplete status: [slow]"
    assert life.condition("Initialized") == ("False", "ContainersNotInitialized", message)
    life.wait()
    assert life.phase == "Running"
    assert life.condition("Initialized") == ("True", "", "")
    assert life.condition("Ready")[0] == "True"


def test_an_init_container_that_fails() -> None:
    inits = [{"name": "broken", "image": "i"}]
    told = {"containers": "broken", "fail": "crash"}
    assert Life(pod(told, initContainers=inits, restartPolicy="Never")).phase == "Failed"
    life = Life(pod(told, initContainers=inits))
    assert (life.phase, life.step.requeue_after) == ("Pending", 10)
    assert life.container("broken")["state"]["waiting"]["reason"] == "CrashLoopBackOff"


def test_an_init_container_that_has_not_ended_has_not_failed() -> None:
    """Though the pod is never restarted; what has ended well has not failed either."""
    inits = [{"name": "first", "image": "i"}, {"name": "slow", "image": "i"}]
    told = {"containers": "slow", "run-for": "4s"}
    life = Life(pod(told, initContainers=inits, restartPolicy="Never"))
    assert life.container("first")["state"]["terminated"]["exitCode"] == 0
    assert "running" in life.container("slow")["state"]
    assert life.phase == "Pending"
    life.wait()
    assert life.phase == "Succeeded"


def test_sidecars_end_with_the_others() -> None:
    inits = [{"name": "beside", "image": "i", "restartPolicy": "Always"}]
    life = Life(pod(initContainers=inits, restartPolicy="Never"), Habits(run_for=2))
    life.wait()
    assert life.phase == "Succeeded"
    assert life.container("beside")["state"]["terminated"]["exitCode"] == 0


def test_readiness_gates() -> None:
    life = Life(pod(readinessGates=[{"conditionType": "example.com/ok"}]))
    gate = "corresponding condition of pod readiness gate"
    missing = f'{gate} "example.com/ok" does not exist.'
    assert life.condition("Ready") == ("False", "ReadinessGatesNotReady", missing)
    assert life.condition("ContainersReady")[0] == "True"
    conditions = [{"type": "example.com/ok", "status": "True"}]
    life.pod["status"] = {
        **life.pod["status"],
        "conditions": [*life.pod["status"]["conditions"], *conditions],
    }
    life.look()
    assert life.condition("Ready")[0] == "True"


def test_never_ready() -> None:
    life = Life(pod({"ready-after": "never"}))
    assert (life.condition("Ready")[0], life.step.requeue_after) == ("False", None)


def test_only_some_containers() -> None:
    containers = [{"name": "app", "image": "a"}, {"name": "other", "image": "b"}]
    life = Life(pod({"containers": "other", "ready-after": "never"}, containers=containers))
    assert (life.container()["ready"], life.container("other")["ready"]) == (True, False)


@pytest.mark.parametrize(
    ("annotations", "passed", "expected"),
    [
        ({}, 0, 0),
        ({"stop-after": "10s"}, 0, 10),
        ({"stop-after": "1h"}, 0, 30),
        ({"stop-after": "10s"}, 4, 6),
        ({"stop-after": "10s"}, 20, 0),
    ],
)
def test_how_long_a_deleted_pod_goes_on(
    annotations: Mapping[str, str], passed: int, expected: float
) -> None:
    one = pod(annotations)
    one["metadata"]["deletionTimestamp"] = time_text(NOW + timedelta(seconds=30))
    one["metadata"]["deletionGracePeriodSeconds"] = 30
    assert seconds_to_end(one, NOW + timedelta(seconds=passed)) == expected


def test_killed_containers() -> None:
    life = Life(pod())
    status = killed_status(life.pod, "now", "Evicted", "no room")
    assert (status["phase"], status["reason"], status["message"]) == (
        "Failed",
        "Evicted",
        "no room",
    )
    (ended,) = status["containerStatuses"]
    assert ended["state"]["terminated"]["exitCode"] == 137


def states_of(status: Mapping[str, Any]) -> dict[str, str]:
    """How the containers of a pod that was killed have ended, or what they wait for."""
    result = {}
    for field in ("initContainerStatuses", "containerStatuses"):
        for one in status.get(field, ()):
            (state,) = one["state"].values()
            result[one["name"]] = state["reason"]
    return result


INITS = [{"name": "first", "image": "i"}, {"name": "second", "image": "i"}]


@pytest.mark.parametrize(
    ("spec", "looked_at", "states"),
    [
        ({}, True, {"app": "Error"}),
        ({}, False, {"app": "ContainerStatusUnknown"}),
        (
            {"initContainers": INITS},
            False,
            {
                "first": "ContainerStatusUnknown",
                "second": "PodInitializing",
                "app": "ContainerCreating",
            },
        ),
        (
            {"initContainers": [{**INITS[0], "command": ["sleep", "9"]}, INITS[1]]},
            True,
            {"first": "Error", "second": "PodInitializing", "app": "PodInitializing"},
        ),
        (
            {"initContainers": INITS},
            True,
            {"first": "Completed", "second": "Completed", "app": "Error"},
        ),
    ],
)
def test_containers_of_a_pod_that_is_killed(
    spec: dict[str, Any], looked_at: bool, states: dict[str, str]
) -> None:
    killed = Life(pod(**spec)).pod if looked_at else pod(**spec)
    assert states_of(killed_status(killed, "now")) == states


def test_how_a_container_ended_that_nobody_saw_is_unknown() -> None:
    (status,) = killed_status(pod(), "now")["containerStatuses"]
    assert status["state"]["terminated"] == {
        "exitCode": 137,
        "reason": "ContainerStatusUnknown",
        "message": "The container could not be located when the pod was terminated",
        "startedAt": None,
        "finishedAt": None,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5s", 5),
        ("1m30s", 90),
        ("250ms", 0.25),
        ("1.5h", 5400),
        ("", None),
        ("5", None),
        ("never", None),
        ("5s ", None),
    ],
)
def test_durations(text: str, expected: float | None) -> None:
    assert duration(text) == expected


# --- configuration ---

HAVE = {"have": {"data": {"k": "v"}, "binaryData": {"b": "dg=="}}}
SOURCES = Sources(HAVE.get, HAVE.get)
NONE = Sources(lambda _: None, lambda _: None)


def variable(kind: str, name: str, key: str, **more: Any) -> dict[str, Any]:
    return {"name": "V", "valueFrom": {f"{kind}KeyRef": {"name": name, "key": key, **more}}}


def container(**more: Any) -> list[dict[str, Any]]:
    return [{"name": "app", "image": "app", **more}]


def volume(**source: Any) -> list[dict[str, Any]]:
    return [{"name": "v", **source}]


OPTIONAL = {"optional": True}
OF_NONE = [{"secret": {"name": "no"}}, {"configMap": {"name": "no"}}, {"secret": {"name": "no"}}]
ITEMS = [{"key": "b", "path": "p"}, {"key": "x", "path": "q"}]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"envFrom": [{"configMapRef": {"name": "no"}}]}, 'configmap "no" not found'),
        ({"envFrom": [{"secretRef": {"name": "no"}}]}, 'secret "no" not found'),
        ({"env": [variable("configMap", "no", "k")]}, 'configmap "no" not found'),
        (
            {"env": [variable("configMap", "have", "x")]},
            "couldn't find key x in ConfigMap default/have",
        ),
        (
            {"env": [variable("secret", "have", "x")]},
            "couldn't find key x in Secret default/have",
        ),
        (
            {
                "env": [variable("secret", "no", "x")],
                "envFrom": [{"secretRef": {"name": "have"}}, {"configMapRef": {"name": "no"}}],
            },
            'configmap "no" not found',
        ),
    ],
)
def test_a_container_that_cannot_be_configured(given: dict[str, Any], text: str) -> None:
    life = Life(pod(containers=container(**given)), sources=SOURCES)
    assert (life.phase, life.step.requeue_after, life.step.lacks) == ("Pending", None, True)
    waiting = {"reason": "CreateContainerConfigError", "message": text}
    assert life.container()["state"] == {"waiting": waiting}
    assert (life.reasons, life.texts[-1]) == (["Pulled", "Failed"], f"Error: {text}")
    assert life.pod["status"]["podIP"]
    assert life.condition("PodReadyToStartContainers")[0] == "True"
    life.sources = None
    assert not life.look().lacks
    assert life.phase == "Running"
    life.sources = NONE
    assert not life.look().lacks, "what runs is left alone"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ({"secret": {"secretName": "no"}}, 'secret "no" not found'),
        ({"configMap": {"name": "no"}}, 'configmap "no" not found'),
        (
            {"secret": {"secretName": "have", "items": ITEMS}},
            "references non-existent secret key: x",
        ),
        (
            {"configMap": {"name": "have", "items": ITEMS}},
            "configmap references non-existent config key: x",
        ),
        (
            {"projected": {"sources": OF_NONE}},
            '[secret "no" not found, configmap "no" not found]',
        ),
    ],
)
def test_a_volume_that_cannot_be_mounted(source: dict[str, Any], text: str) -> None:
    life = Life(pod(volumes=volume(**source)), sources=SOURCES)
    assert (life.phase, life.step.requeue_after, life.step.lacks) == ("Pending", None, True)
    assert life.container()["state"] == {"waiting": {"reason": "ContainerCreating"}}
    assert life.texts == [f'MountVolume.SetUp failed for volume "v" : {text}']
    assert "podIP" not in life.pod["status"]
    assert life.condition("PodReadyToStartContainers")[0] == "False"
    life.sources = None
    life.look()
    assert life.phase == "Running"
    assert life.reasons == ["FailedMount", "Pulled", "Created", "Started"]
    life.sources = NONE
    assert not life.look().lacks, "what is mounted stays"


@pytest.mark.parametrize(
    "of",
    [
        pod(volumes=volume(secret={"secretName": "no", **OPTIONAL})),
        pod(volumes=volume(configMap={"name": "have", "items": ITEMS, **OPTIONAL})),
        pod(volumes=volume(projected={"sources": [{"secret": {"name": "no", **OPTIONAL}}]})),
        pod(volumes=volume(emptyDir={})),
        pod(containers=container(envFrom=[{"configMapRef": {"name": "no", **OPTIONAL}}])),
        pod(containers=container(env=[variable("secret", "no", "k", **OPTIONAL)])),
        pod(containers=container(env=[variable("secret", "have", "x", **OPTIONAL)])),
        pod(containers=container(env=[{"name": "V", "value": "x"}])),
    ],
)
def test_what_may_be_missing(of: dict[str, Any]) -> None:
    life = Life(of, sources=SOURCES)
    assert (life.phase, life.step.lacks) == ("Running", False)


def test_a_restart_needs_the_configuration_again() -> None:
    needs = container(envFrom=[{"secretRef": {"name": "have"}}])
    life = Life(pod({"run-for": "5s"}, containers=needs), sources=SOURCES)
    life.sources = NONE
    life.wait()
    found = life.container()
    assert found["state"]["waiting"]["reason"] == "CreateContainerConfigError"
    assert (found["lastState"]["terminated"]["exitCode"], found["restartCount"]) == (0, 0)
    life.sources = SOURCES
    life.look()
    assert (life.phase, life.container()["restartCount"]) == ("Running", 1)


def test_init_containers_wait_for_volumes_too() -> None:
    given = pod(volumes=volume(secret={"secretName": "no"}), initContainers=container())
    given["spec"]["initContainers"][0]["name"] = "first"
    life = Life(given, sources=SOURCES)
    states = [life.container(name)["state"]["waiting"]["reason"] for name in ("first", "app")]
    assert states == ["PodInitializing"] * 2
