"""Predicates on pods that controllers share: ready, available, active, finished since when, owned
by whom; what they lack before they can start, and what their commands say of their end.

As k8s.io/kubernetes `pkg/api/v1/pod/util.go`, `pkg/controller/controller_utils.go`, and for the
time of an end `pkg/controller/job/backoff_utils.go`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from celadon.apiserver.controllers.controller_loops import find_condition, is_true
from celadon.kube import JsonObject, metadata
from celadon.kube.go import int_or
from celadon.kube.json_types import JsonDict
from celadon.kube.selectors import KeyConditions, conditions_of
from celadon.kube.well_known_values import ENDED_PHASES
from celadon.records import dataclass


def spec_of(obj: JsonObject) -> JsonObject:
    """Return the spec; empty where there is none."""
    spec: JsonObject = obj.get("spec") or {}
    return spec


def status_of(obj: JsonObject) -> JsonObject:
    """Return the status; empty where there is none."""
    status: JsonObject = obj.get("status") or {}
    return status


def has_ended(pod: JsonObject) -> bool:
    """Tell whether the pod has succeeded or failed."""
    return phase(pod) in ENDED_PHASES


def is_going(obj: JsonObject) -> bool:
    """Tell whether the object is being deleted."""
    return bool(metadata.deletion_timestamp(obj))


def condition_of(obj: JsonObject, kind: str) -> JsonObject | None:
    """Return the condition of a type, or None."""
    conditions = status_of(obj).get("conditions") or ()
    return next((condition for condition in conditions if condition.get("type") == kind), None)


def is_controlled_by(obj: JsonObject, owner: JsonObject) -> bool:
    """Tell whether this very owner, by its uid, manages the object."""
    return controller_of(obj).get("uid") == metadata.uid(owner)


def controlled(objects: Iterable[JsonObject], owner: JsonObject) -> list[JsonObject]:
    """Return the objects that this owner manages."""
    return [obj for obj in objects if is_controlled_by(obj, owner)]


# As `GetScaledValueFromIntOrPercent` of k8s.io/apimachinery `pkg/util/intstr`, in whole numbers:
# floats round 7 percent of 100 up to 8.
def scaled(value: int | str | None, total: int, *, round_up: bool) -> int:
    """Return a number, or a share of the total in percent; 0 for more than Go reads, where upstream
    fails again and again."""
    if isinstance(value, str):
        share = int_or(value.removesuffix("%"), 0) * total
        return -(-share // 100) if round_up else share // 100
    return value or 0


# As `getFinishedTime` of `pkg/controller/job/backoff_utils.go`.
def finished_at(pod: JsonObject) -> datetime:
    """Return when the pod's last container ended; else when it was no longer ready; else when it
    was deleted; else, which happens in no real cluster, when it was created."""
    ends = [_end_of_container(status) for status in status_of(pod).get("containerStatuses") or ()]
    known_ends = [end for end in ends if end is not None]
    if known_ends and len(known_ends) == len(ends):
        return max(known_ends)
    ready = condition_of(pod, "Ready") or {}
    since = _moment(ready.get("lastTransitionTime")) if ready.get("status") == "False" else None
    if since is not None:
        return since
    deleted = _moment(metadata.deletion_timestamp(pod))
    if deleted is not None:
        grace = metadata.metadata(pod).get("deletionGracePeriodSeconds") or 0
        return later(deleted, -grace)
    return read_time(metadata.creation_timestamp(pod))


def _end_of_container(state: JsonObject) -> datetime | None:
    return _moment(((state.get("state") or {}).get("terminated") or {}).get("finishedAt"))


def _moment(text: str | None) -> datetime | None:
    return read_time(text) if text else None


def controller_of(obj: JsonObject) -> JsonDict:
    """Return the reference to the owner that manages an object; empty if there is none."""
    for reference in metadata.metadata(obj).get("ownerReferences") or ():
        if reference.get("controller"):
            result: JsonDict = reference
            return result
    return {}


def node_of(pod: JsonObject) -> str:
    """Return the name of the node that it is assigned to; empty if there is none."""
    return str((pod.get("spec") or {}).get("nodeName") or "")


def selector_of(owner: JsonObject) -> KeyConditions:
    """Return the selector of a workload, which is labels alone in a ReplicationController; one that
    is empty matches nothing."""
    selector = spec_of(owner).get("selector")
    if owner.get("kind") == "ReplicationController":
        selector = {"matchLabels": selector}
    conditions = conditions_of(selector)
    return conditions_of(None) if conditions.is_everything else conditions


def phase(pod: JsonObject) -> str:
    """Return the phase of a pod; empty where its status says nothing."""
    return str((pod.get("status") or {}).get("phase") or "")


# As `IsPodActive` of `pkg/controller/controller_utils.go`; the next one is `IsPodTerminating`.
def is_active(pod: JsonObject) -> bool:
    """Tell whether the pod has neither ended nor is being deleted."""
    return not has_ended(pod) and not metadata.deletion_timestamp(pod)


def is_terminating(pod: JsonObject) -> bool:
    """Tell whether the pod is being deleted, but has not ended."""
    return not has_ended(pod) and bool(metadata.deletion_timestamp(pod))


def is_ready(pod: JsonObject) -> bool:
    """Tell whether the condition `Ready` of the pod is true."""
    return is_true((pod.get("status") or {}).get("conditions"), "Ready")


def seconds_to_availability(pod: JsonObject, least: float, now: datetime) -> float | None:
    """Return the seconds until the pod has been ready for long enough; 0 if it has, None if it is
    not ready."""
    ready = find_condition((pod.get("status") or {}).get("conditions"), "Ready")
    if ready is None or ready.get("status") != "True":
        return None
    since = ready.get("lastTransitionTime")
    if not least or not since:
        return 0.0 if not least else None
    return max(0.0, least - (now - read_time(since)).total_seconds())


def is_available(pod: JsonObject, least: float, now: datetime) -> bool:
    """Tell whether the pod has been ready for the least number of seconds."""
    return seconds_to_availability(pod, least, now) == 0.0


@dataclass(frozen=True, slots=True)
class Claims:
    """Says which objects are an owner's, which of the others it should adopt, and which of its own
    it should release: its selector matches them no longer."""

    owned: Sequence[JsonObject]
    adopted: Sequence[JsonObject] = ()
    released: Sequence[JsonObject] = ()


# As `ClaimObject` of `pkg/controller/controller_ref_manager.go`: no two owners can hold one object,
# since only what nobody manages is adopted.
def claims_of(owner: JsonObject, candidates: Sequence[JsonObject]) -> Claims:
    """Sort the candidates, which are in the owner's namespace, into those that it owns, adopts and
    releases. An owner that is being deleted adopts and releases nothing."""
    is_going, selector = bool(metadata.deletion_timestamp(owner)), selector_of(owner)
    owned, adopted, released = [], [], []
    for candidate in candidates:
        manager = controller_of(candidate)
        matches = selector.matches(metadata.metadata(candidate).get("labels") or {})
        if manager:
            if manager.get("uid") != metadata.uid(owner):
                continue
            if matches:
                owned.append(candidate)
            elif not is_going:
                released.append(candidate)
        elif matches and not is_going and not metadata.deletion_timestamp(candidate):
            adopted.append(candidate)
    return Claims(owned, adopted, released)


def restart_policy(pod: JsonObject, container: JsonObject) -> str:
    """Return the restart policy of a container: its own, or that of its pod."""
    of_pod = (pod.get("spec") or {}).get("restartPolicy")
    return str(container.get("restartPolicy") or of_pod or "Always")


def is_sidecar(container: JsonObject) -> bool:
    """Tell whether an init container runs on beside the others."""
    return container.get("restartPolicy") == "Always"


# --- Times -------------------------------------------------------------------


def time_text(time: datetime) -> str:
    """Return the time as objects have it, in whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def precise_time_text(time: datetime) -> str:
    """Return the time with microseconds, as Leases and some Events have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


_FIRST: Final = datetime(2, 1, 1, tzinfo=UTC)
_LAST: Final = datetime(9000, 1, 1, tzinfo=UTC)
"""A time in any zone, or three centuries later, is one, too: so long is Go's longest duration."""


def read_time(text: str | None) -> datetime:
    """Return the time that an object's text tells. Objects have been through validation, so the
    text is one, or null for Go's first time; anybody may write a status. What lies beyond the years
    that there are here is the first time, or the last."""
    if not text or text < "0002":
        return _FIRST
    return min(datetime.fromisoformat(text).astimezone(UTC), _LAST)


def later(time: datetime, seconds: float) -> datetime:
    """Return a time so many seconds later, or earlier; at most the last one, or the first."""
    if seconds > (_LAST - time).total_seconds():
        return _LAST
    if seconds < (_FIRST - time).total_seconds():
        return _FIRST
    return time + timedelta(seconds=seconds)


_DURATION: Final = re.compile(r"(?<!\d)(\d++(?:\.\d++)?)(ms|s|m|h)")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def duration(text: str) -> float | None:
    """Return the seconds of `1m30s`; None for what is no duration."""
    parts = _DURATION.findall(text)
    if not parts or "".join(f"{number}{unit}" for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


# --- Configuration -----------------------------------------------------------
#
# What a pod needs of ConfigMaps and Secrets before its containers start.
#
# As k8s.io/kubernetes `makeEnvironmentVariables` of `pkg/kubelet/kubelet_pods.go`, and `SetUpAt`
# and `MakePayload` of `pkg/volume/{configmap,secret,projected}`.


@dataclass(frozen=True, slots=True)
class Sources:
    """Finds the ConfigMaps and Secrets of a pod's namespace by their names."""

    config_map: Callable[[str], JsonObject | None]
    secret: Callable[[str], JsonObject | None]

    def lacking(self, kind: str, name: str, keys: Iterable[str] = ()) -> tuple[str, str] | None:
        """Return the error about what is not there, and the key that is missing, if only one is;
        None if all is there."""
        result = (self.config_map if kind == "ConfigMap" else self.secret)(name)
        if result is None:
            return f'{kind.lower()} "{name}" not found', ""
        present = (result.get("data") or {}).keys() | (result.get("binaryData") or {}).keys()
        missing = next((key for key in keys if key not in present), None)
        return None if missing is None else ("", missing)


_KINDS: Final = (("configMap", "ConfigMap"), ("secret", "Secret"))


def unmounted_volumes(pod: JsonObject, sources: Sources) -> Iterator[tuple[str, str]]:
    """Yield the name of each volume that cannot be mounted, and why."""
    for volume in (pod.get("spec") or {}).get("volumes") or ():
        parts = (volume.get("projected") or {}).get("sources") or (volume,)
        reasons = dict.fromkeys(reason for part in parts for reason in _unprojected(part, sources))
        if reasons:
            texts = ", ".join(reasons)
            yield volume["name"], f"[{texts}]" if len(reasons) > 1 else texts


def _unprojected(part: JsonObject, sources: Sources) -> Iterator[str]:
    for field_, kind in _KINDS:
        value = part.get(field_)
        if value is None or value.get("optional"):
            continue
        name = value.get("secretName") or value.get("name") or ""
        keys = [item["key"] for item in value.get("items") or ()]
        lacking = sources.lacking(kind, name, keys)
        if lacking is not None:
            reason, key = lacking
            of_key = {
                "ConfigMap": f"configmap references non-existent config key: {key}",
                "Secret": f"references non-existent secret key: {key}",
            }
            yield reason or of_key[kind]


def why_unconfigured(pod: JsonObject, container: JsonObject, sources: Sources) -> str:
    """Return why the environment of a container cannot be made; empty if it can."""
    for source in container.get("envFrom") or ():
        for field_, kind in _KINDS:
            value = source.get(f"{field_}Ref")
            lacking = _lacking(sources, kind, value)
            if lacking is not None:
                return lacking[0]
    for variable in container.get("env") or ():
        for field_, kind in _KINDS:
            value = (variable.get("valueFrom") or {}).get(f"{field_}KeyRef")
            lacking = _lacking(sources, kind, value)
            if value is not None and lacking is not None:
                reason, key = lacking
                place = f"{kind} {metadata.namespace(pod)}/{value.get('name')}"
                return reason or f"couldn't find key {key} in {place}"
    return ""


def _lacking(sources: Sources, kind: str, value: JsonObject | None) -> tuple[str, str] | None:
    if value is None or value.get("optional"):
        return None
    return sources.lacking(kind, value.get("name") or "", [value["key"]] if "key" in value else ())


# --- Commands ----------------------------------------------------------------
#
# No program runs, but a few say by their names and arguments alone how long they take and with
# which code they end: `sleep`, `true`, `false`, `echo`, `printf`, and a script of a shell that has
# only these and `exit`.

_SHELLS: Final = frozenset(("sh", "bash", "ash", "dash"))
_AT_ONCE: Final = {"true": 0, ":": 0, "echo": 0, "printf": 0, "false": 1}
"""Programs and built-in commands of shells that take no time, with their exit codes."""
_ONLY_IN_SHELLS: Final = frozenset((":", "exit"))
_LONGEST_COMMAND: Final = 1000
"""In characters: a longer one is not read, since pods are looked at on the event loop."""
_LONGEST_PAUSE: Final = 1e9
"""In seconds, some thirty years: what sleeps for longer runs on."""

_WORD: Final = r"""(?:[^\s;&|<>()#'"\\`]|'[^']*+'|"[^"\\`]*+")++"""
_TOKEN: Final = re.compile(
    rf"""[ \t]++
    |(?P<operator>&&|\|\||[;\n])[;\s]*+
    |\d?>>?[ \t]*+(?:&\d|{_WORD})     # where the output goes
    |(?P<word>{_WORD})""",
    re.VERBOSE,
)
_PAUSE: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([smhd]?)", re.ASCII)
_SECONDS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class Ending:
    """Says in how many seconds a program ends by itself, None for never, and with which code."""

    seconds: float | None
    code: int


def ending_of(container: JsonObject) -> Ending | None:
    """Return how the container's command ends; None if that cannot be told without running it.
    Arguments without a command are read as if the image had no entrypoint."""
    words = (*(container.get("command") or ()), *(container.get("args") or ()))
    return _ending_of(words) if 0 < sum(map(len, words)) <= _LONGEST_COMMAND else None


@lru_cache(maxsize=1024)
def _ending_of(command: tuple[str, ...]) -> Ending | None:
    program = _program(command)
    statements: list[tuple[str, list[str]]] | None = [("", list(command))]
    if program in _SHELLS and len(command) > 2 and command[1] == "-c":
        statements = _statements(command[2])
    elif program in _ONLY_IN_SHELLS:
        statements = None
    if statements is None:
        return None
    seconds, code = 0.0, 0
    for operator, words in statements:
        if (operator == "&&" and code) or (operator == "||" and not code):
            continue
        name = _program(words)
        if name == "exit":
            number = words[1] if len(words) > 1 else str(code)
            return Ending(seconds, int(number) % 256) if _is_number(number) else None
        pause = _pause(words[1:]) if name == "sleep" else 0.0
        if pause is None or name not in {"sleep", *_AT_ONCE}:
            return None
        seconds, code = seconds + pause, _AT_ONCE.get(name, 0)
        if seconds > _LONGEST_PAUSE:
            return Ending(None, 0)
    return Ending(seconds, code)


def _statements(script: str) -> list[tuple[str, list[str]]] | None:
    """Return the words of each command, with the operator before it; None for a script that has
    more than a row of simple commands."""
    result: list[tuple[str, list[str]]] = [(";", [])]
    place = 0
    while place < len(script):
        token = _TOKEN.match(script, place)
        if token is None:
            return None
        place = token.end()
        if token["word"]:
            result[-1][1].append(re.sub("['\"]", "", token["word"]))
        elif token["operator"]:
            result.append((token["operator"], []))
    return [(operator, words) for operator, words in result if words]


def _program(command: Sequence[str]) -> str:
    return command[0].rpartition("/")[2]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 3


def _pause(arguments: Sequence[str]) -> float | None:
    """Return the seconds that `sleep` takes; infinity is one of them. None if its arguments are
    unknown."""
    if any(argument in {"infinity", "inf"} for argument in arguments):
        return float("inf")
    parts = [_PAUSE.fullmatch(argument) for argument in arguments]
    found = [part for part in parts if part is not None]
    if not found or len(found) < len(parts):
        return None
    return sum(float(part[1]) * _SECONDS[part[2]] for part in found)
