"""The lifecycle of a pod on a node, step by step as its status shows it. Nothing is read or written
here.

As k8s.io/kubernetes `pkg/kubelet/{kubelet_pods.go,status/generate.go}`: containers are waiting,
running or terminated, and phase and conditions follow from that. No program runs; annotations of
the pod say what one would have done.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal

from celadon.apiserver.controllers.controller_loops import find_condition
from celadon.apiserver.simulation.planning.pod_predicates import (
    Sources,
    duration,
    ending_of,
    is_sidecar,
    read_time,
    restart_policy,
    time_text,
    unmounted_volumes,
    why_unconfigured,
)
from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since
from celadon.records import dataclass, field

# --- Behaviour ---------------------------------------------------------------
#
# What annotations say of the containers of a pod.

DOMAIN: Final = "simulation.celadon.dev"
READY_AFTER: Final = f"{DOMAIN}/ready-after"
"""A duration, or `never`: how long after its start a container is ready."""
RUN_FOR: Final = f"{DOMAIN}/run-for"
"""A duration: how long a container runs before it ends by itself."""
EXIT_CODE: Final = f"{DOMAIN}/exit-code"
"""With what it ends then."""
FAIL: Final = f"{DOMAIN}/fail"
"""`pull`: the image cannot be pulled; `crash`: containers end with 1 as soon as they start."""
CONTAINERS: Final = f"{DOMAIN}/containers"
"""Names, separated by commas, of the containers that the others are about: unless it is there, all
but the init containers."""
STOP_AFTER: Final = f"{DOMAIN}/stop-after"
"""A duration: how long a deleted pod goes on, at most for its grace period."""
EVICT: Final = f"{DOMAIN}/evict"
"""A text: the node evicts the pod, and says this."""

# As the kubelet (`pkg/kubelet/kubelet.go`): `initialCrashLoopBackOff` is 10 seconds,
# `MaxCrashLoopBackOff` five minutes. It forgets failures after ten minutes without one; here they
# are counted by the status and never forgotten.
FIRST_BACKOFF: Final = 10.0
LAST_BACKOFF: Final = 300.0
"""Seconds before a container is started again: at its second restart, and at most."""
# 128 and the number of SIGKILL, as a container ends that did not heed SIGTERM.
_KILLED: Final = 137


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Says what a container does once it starts: the seconds until it is ready and until it ends,
    None for never."""

    ready_after: float | None
    run_for: float | None
    exit_code: int = 0
    is_pulled: bool = True

    def with_end_of(self, container: JsonObject) -> Behaviour:
        """Return this behaviour with the end that the container's command tells, if it does."""
        ending = ending_of(container)
        return self if ending is None else Behaviour(self.ready_after, ending.seconds, ending.code)


@dataclass(frozen=True, slots=True)
class Habits:
    """Says what pods do whose annotations say nothing else."""

    ready_after: float = 0.0
    run_for: float = 0.0

    def of(self, pod: JsonObject, container: JsonObject) -> Behaviour:
        """Return how a container behaves that is no init container."""
        on_pod = metadata.annotations(pod)
        run_for = None if restart_policy(pod, container) == "Always" else self.run_for
        usual = Behaviour(self.ready_after, run_for).with_end_of(container)
        named = on_pod.get(CONTAINERS, "")
        if named and container["name"] not in named.split(","):
            return usual
        return _told(on_pod, usual)

    def of_init(self, pod: JsonObject, container: JsonObject) -> Behaviour:
        """Return how an init container behaves: it has done its work at once, or is a sidecar and
        runs on."""
        on_pod = metadata.annotations(pod)
        usual = Behaviour(0.0, None if is_sidecar(container) else 0.0).with_end_of(container)
        is_named = container["name"] in on_pod.get(CONTAINERS, "").split(",")
        return _told(on_pod, usual) if is_named else usual


# What cannot be read is as if it were not there: an annotation on a pod must never hold up a
# cluster.
def _told(on_pod: Mapping[str, str], usual: Behaviour) -> Behaviour:
    ready, run = usual.ready_after, usual.run_for
    if READY_AFTER in on_pod:
        never = on_pod[READY_AFTER] == "never"
        ready = None if never else duration(on_pod[READY_AFTER]) or 0.0
    if RUN_FOR in on_pod:
        run = duration(on_pod[RUN_FOR])
    code = on_pod.get(EXIT_CODE, "")
    exit_code = int(code) if code.isdecimal() and len(code) <= 3 else usual.exit_code
    if on_pod.get(FAIL) == "crash":
        return Behaviour(ready, 0.0, exit_code or 1)
    return Behaviour(ready, run, exit_code, is_pulled=on_pod.get(FAIL) != "pull")


# --- Containers --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PodEvent:
    """An event about a container, or about the pod."""

    kind: Literal["Normal", "Warning"]
    reason: str
    message: str
    field: str = ""


@dataclass(slots=True)
class _Progress:
    """Collects what is found on the way through the containers of a pod."""

    pod: JsonObject
    now: datetime
    sources: Sources | None
    events: list[PodEvent] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    """Seconds until something changes by itself."""
    lacks: bool = False
    """Whether something that must be there is not."""

    def tell(
        self, kind: Literal["Normal", "Warning"], reason: str, message: str, field_path: str
    ) -> None:
        self.events.append(PodEvent(kind, reason, message, field_path))

    def named(self) -> str:
        """Return the name that the kubelet gives the pod in messages."""
        pod = self.pod
        return f"{metadata.name(pod)}_{metadata.namespace(pod)}({metadata.uid(pod)})"


def _moved(
    progress: _Progress,
    container: JsonObject,
    former: JsonObject | None,
    behaviour: Behaviour,
    list_path: str,
) -> JsonDict:
    """Return the status of a container now. It may start, end and start again at one and the same
    time, but the second restart waits."""
    result = dict(former or _fresh(container))
    field_path = f"{list_path}{{{container['name']}}}"
    # A virtual clock may have been moved by hours: what happened meanwhile happens now, in its
    # order.
    while True:
        state = result["state"]
        is_outdated = _is_outdated(container, result, list_path)
        if "running" in state and is_outdated:
            text = f"Container {container['name']} definition changed, will be restarted"
            progress.tell("Normal", "Killing", text, field_path)
            result = _ended(result, _KILLED, time_text(progress.now))
        elif "running" in state:
            began = read_time(state["running"]["startedAt"])
            age = (progress.now - began).total_seconds()
            if behaviour.run_for is None or age < behaviour.run_for:
                if behaviour.run_for is not None:
                    progress.waits.append(behaviour.run_for - age)
                return {**result, "ready": _is_ready(progress, behaviour, age), "started": True}
            result = _ended(result, behaviour.exit_code, time_text(progress.now))
            continue
        elif "terminated" in state:
            code = state["terminated"]["exitCode"]
            if not _restarts(progress.pod, container, code, list_path):
                return result
            wait = _backoff(result["restartCount"], state["terminated"], progress.now)
            if wait > 0 and not is_outdated:
                return _backing_off(progress, container, result, wait, field_path)
        # The container waits for its next start (`CrashLoopBackOff`); how it ended stands in
        # `lastState`.
        elif "reason" in state["waiting"] and result["lastState"]:
            last = result["lastState"]["terminated"]
            wait = _backoff(result["restartCount"], last, progress.now)
            if wait > 0 and not is_outdated:
                progress.waits.append(wait)
                return result
            result = {**result, "state": result["lastState"]}
        elif not behaviour.is_pulled:
            return _unpulled(progress, container, result, field_path)
        lacking = ""
        if progress.sources is not None:
            lacking = why_unconfigured(progress.pod, container, progress.sources)
        if lacking:
            was = former["state"] if former is not None else {}
            return _held_up(progress, container, result, was, lacking, field_path)
        result = _started(progress, container, result, field_path)


# As `containerChanged` of `pkg/kubelet/kuberuntime/kuberuntime_manager.go`: of a container that has
# been made only the image can change.
def _is_outdated(container: JsonObject, status: JsonObject, list_path: str) -> bool:
    """Tell whether a container that may start again was made with another image."""
    return (
        (list_path == _OWN or is_sidecar(container))
        and "containerID" in status
        and status.get("image") != (container.get("image") or "")
    )


# As `convertToAPIContainerStatuses` of `kubelet_pods.go` for a container of which the runtime knows
# nothing yet.
def _fresh(container: JsonObject, reason: str = "ContainerCreating") -> JsonDict:
    return {
        "name": container["name"],
        "state": {"waiting": {"reason": reason}},
        "lastState": {},
        "ready": False,
        "restartCount": 0,
        "image": container.get("image") or "",
        "imageID": "",
        "started": False,
    }


def _is_ready(progress: _Progress, behaviour: Behaviour, age: float) -> bool:
    if behaviour.ready_after is None:
        return False
    if age < behaviour.ready_after:
        progress.waits.append(behaviour.ready_after - age)
    return age >= behaviour.ready_after


def _restarts(pod: JsonObject, container: JsonObject, code: int, list_path: str) -> bool:
    if list_path == _EPHEMERAL:
        return False
    policy, has_rule = restart_policy(pod, container), _has_restart_rule(container, code)
    # An init container that failed runs again even under `OnFailure`; one that succeeded is done
    # for good, unless it is a sidecar, which runs as long as the pod does.
    if list_path == _INIT:
        return is_sidecar(container) or (code != 0 and (has_rule or policy != "Never"))
    return has_rule or policy == "Always" or (policy == "OnFailure" and code != 0)


# As `FindMatchingContainerRestartRule` of `pkg/api/v1/pod/util.go`.
def _has_restart_rule(container: JsonObject, code: int) -> bool:
    """Tell whether a rule of the container wants a restart after this exit code."""
    rules = [rule.get("exitCodes") or {} for rule in container.get("restartPolicyRules") or ()]
    return any(
        (code in (rule.get("values") or ())) == (rule.get("operator") == "In")
        for rule in rules
        if rule
    )


def _backoff(restarts: int, ended: JsonObject, now: datetime) -> float:
    """Return the seconds that are left until a restart. The first one comes at once."""
    if not restarts:
        return 0.0
    pause = min(FIRST_BACKOFF * 2.0 ** min(restarts - 1, 10), LAST_BACKOFF)
    return pause - (now - read_time(ended["finishedAt"])).total_seconds()


def _held_up(
    progress: _Progress,
    container: JsonObject,
    status: JsonObject,
    was: JsonObject,
    reason: str,
    field_path: str,
) -> JsonDict:
    """Return the status of a container that cannot be made: nothing is told of what has been told
    before."""
    progress.lacks = True
    waiting = {"waiting": {"reason": "CreateContainerConfigError", "message": reason}}
    if was != waiting:
        _tell_pulled(progress, container, field_path)
        progress.tell("Warning", "Failed", f"Error: {reason}", field_path)
    last = status["state"] if "terminated" in status["state"] else status["lastState"]
    return {**status, "state": waiting, "lastState": last}


def _tell_pulled(progress: _Progress, container: JsonObject, field_path: str) -> None:
    image = container.get("image") or ""
    if container.get("imagePullPolicy") == "Always":
        progress.tell("Normal", "Pulling", f'Pulling image "{image}"', field_path)
        # Nothing is pulled, so that it takes no time and the image has no size; the rest of the
        # text is the kubelet's (`pkg/kubelet/images/image_manager.go`).
        took = "in 0s (0s including waiting). Image size: 0 bytes."
        progress.tell("Normal", "Pulled", f'Successfully pulled image "{image}" {took}', field_path)
    else:
        present = f'Container image "{image}" already present on machine'
        more = " and can be accessed by the pod" if is_since("1.35") else ""
        progress.tell("Normal", "Pulled", present + more, field_path)


def _started(
    progress: _Progress, container: JsonObject, status: JsonObject, field_path: str
) -> JsonDict:
    again = "terminated" in status["state"]
    restarts = status["restartCount"] + 1 if again else 0
    image = container.get("image") or ""
    named = container["name"]
    _tell_pulled(progress, container, field_path)
    result, started = f"Created container: {named}", f"Started container {named}"
    # The message has no name of the container any longer: the event is about the field of the pod
    # that it stands in.
    if is_since("1.36"):
        result, started = "Container created", "Container started"
    progress.tell("Normal", "Created", result, field_path)
    progress.tell("Normal", "Started", started, field_path)
    # Digests stand for what a runtime would say. They depend on uids alone, so that a run with the
    # same uids comes to the same statuses.
    seed = f"{metadata.uid(progress.pod)}/{named}/{restarts}"
    resources = container.get("resources") or {}
    allocated = {"allocatedResources": resources["requests"]} if resources.get("requests") else {}
    return {
        **status,
        "state": {"running": {"startedAt": time_text(progress.now)}},
        "lastState": status["state"] if again else {},
        "restartCount": restarts,
        "image": image,
        "imageID": f"{_without_tag(image)}@sha256:{_digest(image)}",
        "containerID": f"containerd://{_digest(seed)}",
        **(allocated if is_since("1.33") else {}),
        **({"resources": resources} if resources and is_since("1.33") else {}),
    }


def _without_tag(image: str) -> str:
    name, _, last = image.partition("@")[0].rpartition("/")
    return f"{name}/{last.partition(':')[0]}" if name else last.partition(":")[0]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _ended(status: JsonObject, code: int, now: str) -> JsonDict:
    ended = {
        "exitCode": code,
        "reason": "Error" if code else "Completed",
        "startedAt": status["state"].get("running", {}).get("startedAt", now),
        "finishedAt": now,
    }
    if "containerID" in status:
        ended["containerID"] = status["containerID"]
    started = {"started": False} if "started" in status else {}
    return {**status, "state": {"terminated": ended}, "ready": False, **started}


def _backing_off(
    progress: _Progress, container: JsonObject, status: JsonObject, wait: float, field_path: str
) -> JsonDict:
    progress.waits.append(wait)
    pause = min(FIRST_BACKOFF * 2.0 ** min(status["restartCount"] - 1, 10), LAST_BACKOFF)
    name, pod = container["name"], progress.named()
    message = f"Back-off restarting failed container {name} in pod {pod}"
    progress.tell("Warning", "BackOff", message, field_path)
    text = f"back-off {_go_seconds(pause)} restarting failed container={name} pod={pod}"
    waiting = {"reason": "CrashLoopBackOff", "message": text}
    return {**status, "state": {"waiting": waiting}, "lastState": status["state"]}


def _go_seconds(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _unpulled(
    progress: _Progress, container: JsonObject, status: JsonObject, field_path: str
) -> JsonDict:
    image = container.get("image") or ""
    reason = f'failed to pull image "{image}": not found'
    message = f'Back-off pulling image "{image}": ErrImagePull: {reason}'
    waiting = {"reason": "ImagePullBackOff", "message": message}
    if status["state"] != {"waiting": waiting}:
        progress.tell("Normal", "Pulling", f'Pulling image "{image}"', field_path)
        progress.tell("Warning", "Failed", f'Failed to pull image "{image}": {reason}', field_path)
        progress.tell("Warning", "Failed", "Error: ErrImagePull", field_path)
        progress.tell("Normal", "BackOff", f'Back-off pulling image "{image}"', field_path)
        progress.tell("Warning", "Failed", "Error: ImagePullBackOff", field_path)
    return {**status, "state": {"waiting": waiting}}


# --- Pods --------------------------------------------------------------------

_INIT: Final = "spec.initContainers"
_OWN: Final = "spec.containers"
_EPHEMERAL: Final = "spec.ephemeralContainers"
_STATUSES: Final = {
    _INIT: "initContainerStatuses",
    _OWN: "containerStatuses",
    _EPHEMERAL: "ephemeralContainerStatuses",
}
"""The field of a pod's status that is about each list of containers."""
_OF_KUBELET: Final = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)
"""The types of conditions that are the kubelet's, in its order."""
OBSERVED_SINCE: Final = "1.34"
"""The release whose kubelet says which generation of the pod it has seen."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Holds the address of a pod's node, and the pod's own."""

    host: str
    pod: str


@dataclass(frozen=True, slots=True)
class Step:
    """Holds what a pod's status becomes, what is told of it, in how many seconds to look again, and
    whether a ConfigMap or Secret that it needs is not there."""

    status: JsonObject
    events: Sequence[PodEvent]
    requeue_after: float | None
    lacks: bool = False


def next_step(
    pod: JsonObject, where: Addresses, habits: Habits, now: datetime, sources: Sources | None = None
) -> Step:
    """Return what comes next for a pod that runs, or is about to. Without `sources`, all that it
    needs is there."""
    progress = _Progress(pod, now, sources)
    former = pod.get("status") or {}
    spec = pod.get("spec") or {}
    if sources is not None and not former.get("podIP"):
        unmounted = list(unmounted_volumes(pod, sources))
        if unmounted:
            return _without_volumes(progress, where, unmounted)
    inits, is_initialized = _init_statuses(progress, spec, former, habits)
    by_name = _by_name(former.get("containerStatuses"))
    owns: list[JsonObject] = []
    for container in spec.get("containers") or ():
        result = by_name.get(container["name"])
        if is_initialized:
            behaviour = habits.of(pod, container)
            owns.append(_moved(progress, container, result, behaviour, _OWN))
        else:
            owns.append(result or _fresh(container, "PodInitializing"))
    ephemerals = _ephemeral_statuses(progress, spec, former)
    phase = _phase(pod, inits, owns, is_initialized=is_initialized)
    if phase in ("Succeeded", "Failed"):
        ended = time_text(now)
        # Sidecars are stopped when the containers that count have ended, and their exit codes are
        # not looked at.
        inits = [_ended(init, 0, ended) if "running" in init["state"] else init for init in inits]
        ephemerals = [_stopped(ephemeral, ended) for ephemeral in ephemerals]
        progress.waits.clear()
    status = _status(pod, where, phase, inits, owns, time_text(now))
    if ephemerals:
        status["ephemeralContainerStatuses"] = ephemerals
    again = min(progress.waits, default=None)
    return Step(status, progress.events, again, progress.lacks)


def _without_volumes(
    progress: _Progress, where: Addresses, unmounted: Iterable[tuple[str, str]]
) -> Step:
    """Nothing is made of a pod before its volumes are mounted. That is told once; a kubelet tells
    it each time it tries."""
    spec = progress.pod.get("spec") or {}
    inits = [
        _fresh(init_container, "PodInitializing")
        for init_container in spec.get("initContainers") or ()
    ]
    reason = "PodInitializing" if inits else "ContainerCreating"
    owns = [_fresh(container, reason) for container in spec.get("containers") or ()]
    bare = Addresses(where.host, "")
    status = _status(progress.pod, bare, "Pending", inits, owns, time_text(progress.now))
    if status != progress.pod.get("status"):
        for name, detail in unmounted:
            text = f'MountVolume.SetUp failed for volume "{name}" : {detail}'
            progress.tell("Warning", "FailedMount", text, "")
    return Step(status, progress.events, None, lacks=True)


def _by_name(statuses: Iterable[JsonObject] | None) -> dict[str, JsonObject]:
    return {status["name"]: status for status in statuses or ()}


def _init_statuses(
    progress: _Progress, spec: JsonObject, former: JsonObject, habits: Habits
) -> tuple[list[JsonDict], bool]:
    """Start init containers in turn: each waits until the one before has ended, or is a sidecar
    that runs."""
    by_name = _by_name(former.get("initContainerStatuses"))
    result: list[JsonDict] = []
    is_initialized = True
    for container in spec.get("initContainers") or ():
        present = by_name.get(container["name"])
        if not is_initialized:
            result.append(dict(present or _fresh(container, "PodInitializing")))
            continue
        behaviour = habits.of_init(progress.pod, container)
        status = _moved(progress, container, present, behaviour, _INIT)
        ended = status["state"].get("terminated")
        if is_sidecar(container):
            is_initialized = "running" in status["state"]
        else:
            is_initialized = ended is not None and ended["exitCode"] == 0
            status = {**status, "ready": is_initialized}
        result.append(status)
    return result, is_initialized


def _ephemeral_statuses(
    progress: _Progress, spec: JsonObject, former: JsonObject
) -> list[JsonObject]:
    """Start the ephemeral containers, which wait for nothing and are never started again. Nothing
    asks whether they are ready."""
    by_name = _by_name(former.get("ephemeralContainerStatuses"))
    runs_on = Behaviour(None, None)
    result: list[JsonObject] = []
    for container in spec.get("ephemeralContainers") or ():
        behaviour = runs_on.with_end_of(container)
        present = by_name.get(container["name"])
        status = _moved(progress, container, present, behaviour, _EPHEMERAL)
        result.append({key: value for key, value in status.items() if key != "started"})
    return result


# As `getPhase` of `kubelet_pods.go`.
def _phase(
    pod: JsonObject,
    inits: Sequence[JsonObject],
    owns: Sequence[JsonObject],
    *,
    is_initialized: bool,
) -> str:
    if not is_initialized:
        codes = [init["state"].get("terminated", {}).get("exitCode", 0) for init in inits]
        return "Failed" if any(codes) else "Pending"
    states = [status["state"] for status in owns]
    if all("terminated" in state for state in states):
        codes = [state["terminated"]["exitCode"] for state in states]
        return "Failed" if any(codes) else "Succeeded"
    # A pod that waits for a restart is `Running`; one whose containers have never run is not.
    if any("waiting" in item["state"] and not item["lastState"] for item in owns):
        return "Pending"
    return "Running"


def _status(
    pod: JsonObject,
    where: Addresses,
    phase: str,
    inits: Sequence[JsonObject],
    owns: Sequence[JsonObject],
    now: str,
) -> JsonDict:
    former = pod.get("status") or {}
    result: JsonDict = {**former, "phase": phase, "hostIP": where.host}
    result |= {"hostIPs": [{"ip": where.host}], "startTime": former.get("startTime") or now}
    if is_since(OBSERVED_SINCE):
        result["observedGeneration"] = metadata.generation(pod)
    # A pod gets its address with its sandbox, so before its first container runs, but after its
    # volumes.
    if where.pod:
        result |= {"podIP": where.pod, "podIPs": [{"ip": where.pod}]}
    if inits:
        result["initContainerStatuses"] = list(inits)
    result["containerStatuses"] = list(owns)
    result["conditions"] = _conditions(pod, phase, inits, owns, now, has_sandbox=bool(where.pod))
    return result


# --- Conditions --------------------------------------------------------------


# As k8s.io/kubernetes `pkg/kubelet/status/generate.go`. Conditions of others stay, and a time of
# transition is kept as long as the status is the same.
def _conditions(
    pod: JsonObject,
    phase: str,
    inits: Sequence[JsonObject],
    owns: Sequence[JsonObject],
    now: str,
    *,
    has_sandbox: bool = True,
) -> list[JsonObject]:
    former = (pod.get("status") or {}).get("conditions") or ()
    others = [element for element in former if element.get("type") not in _OF_KUBELET]
    is_over = phase in ("Succeeded", "Failed")
    containers = _containers_ready(pod, phase, inits, owns)
    ready = containers
    if containers["status"] == "True":
        ready = _gates_ready(pod, former)
    expected = (
        {"status": "False" if is_over or not has_sandbox else "True"},
        _initialized(pod, phase, inits, owns),
        ready,
        containers,
        {"status": "True"},
    )
    result = list(others)
    for type_, item in zip(_OF_KUBELET, expected, strict=True):
        former_condition = find_condition(former, type_)
        since = now
        if former_condition is not None and former_condition.get("status") == item["status"]:
            since = former_condition.get("lastTransitionTime") or now
        condition: JsonDict = {"type": type_}
        if is_since(OBSERVED_SINCE):
            condition["observedGeneration"] = metadata.generation(pod)
        condition |= {"status": item["status"], "lastProbeTime": None}
        condition["lastTransitionTime"] = since
        result.append({**condition, **{key: item[key] for key in item if key != "status"}})
    return result


def _containers_ready(
    pod: JsonObject, phase: str, inits: Sequence[JsonObject], owns: Sequence[JsonObject]
) -> dict[str, str]:
    if phase in ("Succeeded", "Failed"):
        reason = "PodCompleted" if phase == "Succeeded" else "PodFailed"
        return {"status": "False", "reason": reason}
    spec = pod.get("spec") or {}
    sidecars = {
        container["name"] for container in spec.get("initContainers") or () if is_sidecar(container)
    }
    unready = [
        status["name"] for status in inits if status["name"] in sidecars and not status["ready"]
    ]
    unready += [item["name"] for item in owns if not item["ready"]]
    if not unready:
        return {"status": "True"}
    message = f"containers with unready status: [{' '.join(unready)}]"
    return {"status": "False", "reason": "ContainersNotReady", "message": message}


def _gates_ready(pod: JsonObject, former: Sequence[JsonObject]) -> dict[str, str]:
    unmet_gates = list(_unmet_gates(pod, former))
    if not unmet_gates:
        return {"status": "True"}
    return {
        "status": "False",
        "reason": "ReadinessGatesNotReady",
        "message": ", ".join(unmet_gates),
    }


def _unmet_gates(pod: JsonObject, former: Sequence[JsonObject]) -> Iterator[str]:
    for gate in (pod.get("spec") or {}).get("readinessGates") or ():
        type_ = gate["conditionType"]
        condition = find_condition(former, type_)
        if condition is None:
            yield f'corresponding condition of pod readiness gate "{type_}" does not exist.'
        elif condition.get("status") != "True":
            state = condition.get("status")
            yield f'the status of pod readiness gate "{type_}" is not "True", but {state}'


# As `GeneratePodInitializedCondition`: a sidecar counts once it has started, others once they have
# ended well. Once a container of the pod itself has run, nothing can take that back.
def _initialized(
    pod: JsonObject, phase: str, inits: Sequence[JsonObject], owns: Sequence[JsonObject]
) -> dict[str, str]:
    if phase == "Succeeded":
        return {"status": "True", "reason": "PodCompleted"}
    if any("waiting" not in item["state"] or item["lastState"] for item in owns):
        return {"status": "True"}
    spec = pod.get("spec") or {}
    sidecars = {
        container["name"] for container in spec.get("initContainers") or () if is_sidecar(container)
    }
    missing = [
        status["name"]
        for status in inits
        if not (status["started"] if status["name"] in sidecars else status["ready"])
    ]
    if not missing:
        return {"status": "True"}
    message = f"containers with incomplete status: [{' '.join(missing)}]"
    return {"status": "False", "reason": "ContainersNotInitialized", "message": message}


# --- Ends --------------------------------------------------------------------


# `deletionTimestamp` is the end of the grace period, not the time of the request.
def seconds_to_end(pod: JsonObject, now: datetime) -> float:
    """Return how much longer a deleted pod goes on: as long as it wants to, within its grace
    period."""
    meta = metadata.metadata(pod)
    grace = float(meta.get("deletionGracePeriodSeconds") or 0)
    until = read_time(metadata.deletion_timestamp(pod))
    left = (until - now).total_seconds()
    stop_seconds = duration(metadata.annotations(pod).get(STOP_AFTER, "")) or 0.0
    return max(0.0, left - grace + min(stop_seconds, grace))


def running_containers(pod: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield the place in the spec and the name of each container that runs."""
    status = pod.get("status") or {}
    for text, field_ in _STATUSES.items():
        for item in status.get(field_) or ():
            if "running" in (item.get("state") or {}):
                yield text, item["name"]


# As `TerminatePod` of `pkg/kubelet/status/status_manager.go`: of containers that nobody has seen it
# is not known how they ended, and those that still waited for init containers go on waiting.
def killed_status(pod: JsonObject, now: str, reason: str = "", message: str = "") -> JsonObject:
    """Return the status of a pod whose containers were stopped before they had ended."""
    spec, former = pod.get("spec") or {}, pod.get("status") or {}
    inits = _present(spec.get("initContainers"), former.get(_STATUSES[_INIT]), "PodInitializing")
    owns = _present(spec.get("containers"), former.get(_STATUSES[_OWN]), "ContainerCreating")
    is_initialized = any(map(_is_seen, owns)) or all(map(_has_initialized, inits[-1:]))
    begun = max((place for place, item in enumerate(inits) if _is_seen(item)), default=0)
    inits = [_stopped(item, now) if place <= begun else item for place, item in enumerate(inits)]
    owns = [_stopped(item, now) for item in owns] if is_initialized else owns
    ephemerals = [_stopped(item, now) for item in former.get(_STATUSES[_EPHEMERAL]) or ()]
    result: JsonDict = {**former, "phase": "Failed"}
    for list_path, statuses in ((_INIT, inits), (_OWN, owns), (_EPHEMERAL, ephemerals)):
        if statuses:
            result[_STATUSES[list_path]] = statuses
    if reason:
        result |= {"reason": reason, "message": message}
    return {**result, "conditions": _conditions(pod, "Failed", inits, owns, now)}


def _present(
    containers: Iterable[JsonObject] | None, statuses: Sequence[JsonObject] | None, reason: str
) -> list[JsonObject]:
    """Return the statuses of containers, and what they are where there are none yet."""
    return list(statuses or [_fresh(container, reason) for container in containers or ()])


# As `hasPodInitialized` of the same: the last of them speaks for all.
def _has_initialized(status: JsonObject) -> bool:
    """Tell whether an init container has ended well, or is a sidecar that has started."""
    states = (status["state"], status.get("lastState") or {})
    codes = [state["terminated"]["exitCode"] for state in states if "terminated" in state]
    return bool(status.get("started")) or 0 in codes


def _is_seen(status: JsonObject) -> bool:
    """Tell whether a container has ever run."""
    return "waiting" not in status["state"] or bool(status.get("lastState"))


# As `rejectPod` of `pkg/kubelet/kubelet.go`.
def rejected_status(pod: JsonObject, now: str, reason: str, message: str) -> JsonObject:
    """Return the status of a pod that its node does not take."""
    text = f"Pod was rejected: {message}"
    failed = {"phase": "Failed", "reason": reason, "message": text, "startTime": now}
    observed = {"observedGeneration": metadata.generation(pod)} if is_since(OBSERVED_SINCE) else {}
    return {**(pod.get("status") or {}), **failed, **observed}


def _stopped(status: JsonObject, now: str) -> JsonObject:
    if "running" in status["state"]:
        return _ended(status, _KILLED, now)
    if "terminated" in status["state"]:
        return status
    state = status.get("lastState") or {}
    if "terminated" in state:
        return {**status, "state": state}
    unknown = {
        "exitCode": _KILLED,
        "reason": "ContainerStatusUnknown",
        "message": "The container could not be located when the pod was terminated",
        "startedAt": None,
        "finishedAt": None,
    }
    return {**status, "state": {"terminated": unknown}}
