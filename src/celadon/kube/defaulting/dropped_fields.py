"""Fields that objects lose on their way in, above all those that feature gates do not allow.

Changed objects keep a field that the object has had before, or another one of the same gate: what
is in use stays (k8s.io/kubernetes `pkg/api/pod/util.go`, `dropDisabledFields`). Lists and maps that
came empty are no longer in the object; a `Run` remembers them, and loses them here.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from celadon.kube import metadata, name_rules
from celadon.kube.defaulting import defaulting_rules, workload_defaults
from celadon.kube.defaulting.defaulting_context import Apply, Each, Run, Step, parse_path
from celadon.kube.defaulting.field_functions import DROP_IMAGE_VOLUMES, DROPPING, IDLE, Rule
from celadon.kube.json_types import JsonDict, JsonObject, fresh
from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import is_since, per_release
from celadon.kube.schemas.struct_decoding import EmptyValue
from celadon.kube.well_known_values import (
    AUTOSCALING_PREFIX,
    CONTAINER_LISTS,
    HOST_NAME,
    SIGNING_DECISIONS,
)

_STATUS: Final = "status"


class Way(NamedTuple):
    """A way to a field of a gate: with the `idle` value, an object does not use the gate."""

    steps: tuple[Step, ...]
    idle: str | None = None


class Branch(NamedTuple):
    """Tells which ways go on through a field, or each of its items: those that end there, by their
    `idle` values, and those below."""

    each: Each
    ends: tuple[str | None, ...]
    below: Branches


Branches: TypeAlias = "Mapping[str, Sequence[Branch]]"
"""Ways that are looked at together, by the names of their first fields."""


class Drop(NamedTuple):
    """Holds what a gate that is off takes from objects, with the ways to its fields; `lost` are
    those that do not stay in use, either. `renewed` are lists that are made anew: one that came
    empty is none then."""

    ways: tuple[Way, ...]
    rules: tuple[Apply, ...]
    lost: bool
    renewed: tuple[Way, ...]
    branches: Branches


class Drops(NamedTuple):
    """Holds what several gates take, with the ways to all of their fields."""

    drops: tuple[Drop, ...]
    branches: Branches
    some_lost: bool


@per_release(maxsize=512)
def drops_of(gvk: GroupVersionKind, gates: frozenset[str], *, status: bool) -> Drops:
    """Return the fields by gate, each for itself where its rule says `alone`; `status` are those of
    fields that are changed through the status subresource. Before 1.35 what a claim asks for was a
    use of a gate for its status, too, and the other way round."""
    by_gate: dict[str, list[tuple[str, Rule]]] = {}
    elsewhere: dict[str, list[Way]] = {}
    is_used_as_a_whole = gvk.kind == "ResourceClaim" and not is_since("1.35")
    for path, rule in defaulting_rules.placed_rules(
        defaulting_rules.listed_rules(gvk, "create"), gates
    ):
        is_lost = not status and "lost" in rule
        key = f"{rule.get('gate')} {path if rule.get('alone') else ''}"
        if is_lost or (_is_drop(rule) and path.startswith(_STATUS) is status):
            by_gate.setdefault(key, []).append((path, rule))
            for other in rule.get("keptWith", ()):
                elsewhere.setdefault(key, []).append(_way(other, {}))
        elif is_used_as_a_whole and _is_drop(rule):
            elsewhere.setdefault(key, []).append(_way(path, rule))
    drops = tuple(_drop(same, elsewhere.get(key, ()), gates) for key, same in by_gate.items())
    every = [way for drop in drops for way in drop.ways]
    return Drops(drops, _branches(every), any(drop.lost for drop in drops))


def _drop(
    same: Sequence[tuple[str, Rule]], elsewhere: Iterable[Way], gates: frozenset[str]
) -> Drop:
    """`elsewhere` are fields that use the gate, too, and are not dropped with these."""
    ways = (*(_way(path, rule) for path, rule in same), *elsewhere)
    return Drop(
        ways,
        defaulting_rules.compile_rules([{**rule, "path": path} for path, rule in same], gates),
        any("lost" in rule for _, rule in same),
        tuple(Way(parse_path(path)) for path in _renewed(same)),
        _branches(ways),
    )


def _branches(ways: Iterable[Way]) -> Branches:
    by_step: dict[Step, list[Way]] = {}
    for (step, *rest), idle in ways:
        by_step.setdefault(step, []).append(Way(tuple(rest), idle))
    result: dict[str, list[Branch]] = {}
    for step, same in by_step.items():
        ends = tuple(way.idle for way in same if not way.steps)
        below = _branches(way for way in same if way.steps)
        result.setdefault(step.name, []).append(Branch(step.each, ends, below))
    return result


def _is_drop(rule: Rule) -> bool:
    drops = "delete" in rule or rule.get("fn") in DROPPING
    return drops and rule.get("gate", "").startswith("!") and not rule.get("new")


def _way(path: str, rule: Rule) -> Way:
    function = rule.get("fn", "")
    return Way(parse_path(f"{path}{DROPPING.get(function, '')}"), IDLE.get(function))


def _renewed(placed: Iterable[tuple[str, Rule]]) -> Iterator[str]:
    for path, rule in placed:
        if rule.get("fn") == DROP_IMAGE_VOLUMES and is_since("1.31"):
            yield path
            spec = path.removesuffix("volumes")
            yield from (f"{spec}{containers}[*].volumeMounts" for containers in CONTAINER_LISTS)


def drop_unused(
    obj: JsonObject, old: JsonObject, gvk: GroupVersionKind, run: Run, *, status: bool
) -> None:
    """Drop fields from a changed object, in place."""
    every = drops_of(gvk, run.gates, status=status)
    # As a rule nothing is used, which one look at all ways tells.
    unchanged = () if every.some_lost else run.shared
    if not (run.empties or _uses(obj, every.branches, unchanged)):
        return
    for drop in every.drops:
        came_empty = any(_leads_to(drop.ways, empty) for empty in run.empties)
        is_used = came_empty or _uses(obj, drop.branches)
        if is_used and (drop.lost or not _uses(old, drop.branches)):
            for rule in drop.rules:
                rule(obj, run)
            _forget(run, drop.ways)
        if drop.renewed and run.empties and not _uses(old, drop.branches):
            _forget(run, drop.renewed)


def drop_empties(gvk: GroupVersionKind, run: Run) -> None:
    """Drop from a new object what came empty where the rules of its kind delete fields; the run
    knows it."""
    if run.empties:
        _forget(run, _deleted(gvk, run.gates))


@per_release(maxsize=512)
def _deleted(gvk: GroupVersionKind, gates: frozenset[str]) -> tuple[Way, ...]:
    return tuple(
        Way(parse_path(path))
        for path, rule in defaulting_rules.placed_rules(
            defaulting_rules.listed_rules(gvk, "create"), gates
        )
        if "delete" in rule and not rule.get("when")
    )


def _forget(run: Run, ways: tuple[Way, ...]) -> None:
    run.empties = [empty for empty in run.empties if not _leads_to(ways, empty)]


def _leads_to(ways: tuple[Way, ...], empty: EmptyValue) -> bool:
    return any(_is_path(way.steps, empty.path) for way in ways)


def _is_path(steps: tuple[Step, ...], path: tuple[str | int, ...]) -> bool:
    """Return whether the steps lead to a path; what they say of all items holds of each."""
    index = 0
    for step in steps:
        if index >= len(path) or path[index] != step.name:
            return False
        index += 1 if step.each is Each.FIELD else 2
    return index == len(path)


def _uses(obj: object, branches: Branches, unchanged: Container[int] = ()) -> bool:
    """Return whether an object has one of the fields, outside of the parts with these identities:
    they use what they have used before."""
    if not isinstance(obj, dict):
        return False
    for name in branches.keys() & obj.keys():
        value = obj[name]
        if value is None or id(value) in unchanged:
            continue
        for each, ends, below in branches[name]:
            values = value.values() if each is Each.VALUES else value
            for item in (value,) if each is Each.FIELD else values:
                if id(item) in unchanged:
                    continue
                if any(item != idle for idle in ends) or (below and _uses(item, below, unchanged)):
                    return True
    return False


# --- Lasting defaults --------------------------------------------------------
#
# Whether a create leaves alone what defaulting looks at.
#
# A server reads back what it has stored and defaults it again. For most kinds that changes
# nothing, since a create only resets the status and counts the first generation; then it need
# not be done. Here this is read off the rules of a kind. Rules that take fields away which are
# not enabled say so themselves when they do (`Run.is_disturbed`).

STATUS: Final = "status"
GENERATION: Final = "metadata.generation"
_REPEATED: Final = ("default", "convert")
"""The phases that a stored object goes through again."""


@per_release(maxsize=256)
def outlasts_creation(gvk: GroupVersionKind, gates: frozenset[str]) -> bool:
    """Return whether defaulting a new object of the kind again finds nothing to do."""
    if any(_may_see_changes(path, rule) for path, rule in _repeated(gvk, gates)):
        return False
    created = defaulting_rules.placed_rules(defaulting_rules.listed_rules(gvk, "create"), gates)
    return all(_is_harmless(path, rule) for path, rule in created)


@per_release(maxsize=256)
def outlasts_keeping(
    gvk: GroupVersionKind, gates: frozenset[str], kept_fields: tuple[str, ...]
) -> bool:
    """Return whether defaulting finds nothing to do, either, where parts of a defaulted object have
    been put in the place of another's: no rule looks at both."""
    return all(
        len({any(_is_below(text, top) for top in kept_fields) for text in _looked_at(path, rule)})
        == 1
        for path, rule in _repeated(gvk, gates)
    )


def _repeated(gvk: GroupVersionKind, gates: frozenset[str]) -> Iterator[tuple[str, Rule]]:
    return (
        placed_rule
        for phase in _REPEATED
        for placed_rule in defaulting_rules.placed_rules(
            defaulting_rules.listed_rules(gvk, phase), gates
        )
    )


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(f"{top}.")


def _may_see_changes(path: str, rule: Rule) -> bool:
    """Return whether it is about the status or the generation, or a function of the whole object,
    or looks at them from elsewhere."""
    if not path and rule.get("fn") in defaulting_rules.ON_OBJECTS:
        return True
    looked_at = _looked_at(path, rule)
    return any(_is_below(text, STATUS) or _is_below(text, GENERATION) for text in looked_at)


def _looked_at(path: str, rule: Rule) -> tuple[str, ...]:
    return path, *_roots(rule.get("when", {})), *_roots(_sources(rule))


def _sources(rule: Rule) -> Iterator[Any]:
    return (rule[key] for key in ("copyFrom", "from") if key in rule)


def _roots(paths: Iterable[str]) -> Iterator[str]:
    """Return the paths that begin at the root of the object."""
    return (path[2:] for path in paths if path.startswith("$."))


def _is_harmless(path: str, rule: Rule) -> bool:
    if "delete" in rule or rule.get("fn") in DROPPING:
        return True
    return _is_below(path, STATUS) or path == GENERATION


# --- Kind updates ------------------------------------------------------------
#
# What an update loses or takes over from the old object, kind by kind.
#
# As `PrepareForUpdate` in the strategies of k8s.io/kubernetes `pkg/registry`. What holds for
# many kinds stands in the data pack.

PHASE_SINCE: Final = "lastPhaseTransitionTime"

KindUpdate = Callable[[JsonDict, JsonObject, str], None]
"""Changes the new object in place; the last is the time."""


def pod_status(obj: JsonDict, old: JsonObject, _: str) -> None:
    """Kubelets that do not know a field leave it out, and it stays."""
    status, was = obj.setdefault("status", {}), old.get("status") or {}
    for field in ("qosClass", "observedGeneration") if is_since("1.32") else ():
        if not status.get(field) and was.get(field):
            status[field] = was[field]
    before: dict[str, list[int]] = {}
    for condition in was.get("conditions") or ():
        observed = condition.get("observedGeneration") or 0
        before.setdefault(condition.get("type") or "", []).append(observed)
    for condition in status.get("conditions") or ():
        generations = before.get(condition.get("type") or "")
        generation = generations.pop(0) if generations else 0
        if generation and not condition.get("observedGeneration"):
            condition["observedGeneration"] = generation


def node(obj: JsonDict, old: JsonObject, _: str) -> None:
    """Reset a node: one that was not configured by the API is not from now on."""
    if (old.get("spec") or {}).get("configSource") is None:
        (obj.get("spec") or {}).pop("configSource", None)


def node_status(obj: JsonDict, old: JsonObject, _: str) -> None:
    """Drop `status.config` from a kubelet's report unless the stored node has it."""
    if (old.get("status") or {}).get("config") is None:
        (obj.get("status") or {}).pop("config", None)


def volume_status(obj: JsonDict, old: JsonObject, now: str) -> None:
    """Say of a volume since when it has been in its phase."""
    status, was = obj.setdefault("status", {}), old.get("status") or {}
    since, before = status.get(PHASE_SINCE), was.get(PHASE_SINCE)
    if (status.get("phase") or "") != (was.get("phase") or ""):
        if since is None or since == before:
            status[PHASE_SINCE] = now
    elif since is None and before is not None:
        status[PHASE_SINCE] = before


def claim(obj: dict[str, object], old: JsonObject, _: str) -> None:
    """Clients that do not know where the reference to the source is now leave it out; a source
    that a claim has may be of any kind."""
    spec, was = obj.setdefault("spec", {}), old.get("spec") or {}
    is_new = was.get("dataSource") is None and was.get("dataSourceRef") is None
    workload_defaults.data_sources(spec, any_kind=not is_new)


def service_account(obj: JsonDict, _: JsonObject, __: str) -> None:
    """Secrets are in the namespace of the account: only their names count."""
    for secret in obj.get("secrets") or ():
        for field in [*secret]:
            if field != "name":
                del secret[field]


def endpoint_slice(obj: JsonDict, old: JsonObject, _: str) -> None:
    """Reset a slice: changed endpoints lose their old topology; a host that was known becomes the
    node's name."""
    if (obj.get("endpoints") or []) == (old.get("endpoints") or []):
        return
    hosts = {_host(endpoint) for endpoint in old.get("endpoints") or ()} - {""}
    for endpoint in obj.get("endpoints") or ():
        host = _host(endpoint)
        was_node = host in hosts and not name_rules.dns1123_subdomain(host)
        if endpoint.get("nodeName") is None and was_node:
            endpoint["nodeName"] = host
        endpoint.pop("deprecatedTopology", None)


def _host(endpoint: JsonObject) -> str:
    host: str = (endpoint.get("deprecatedTopology") or {}).get(HOST_NAME, "")
    return host


def definition(obj: JsonDict, _: JsonObject, __: str) -> None:
    """Note the stored version: one in which objects are stored from now on is one in which there
    may be some (k8s.io/apiextensions-apiserver
    `pkg/registry/customresourcedefinition/strategy.go`)."""
    versions = obj.get("spec", {}).get("versions") or ()
    name = next((version.get("name") for version in versions if version.get("storage")), None)
    status = obj.setdefault("status", {})
    stored = status.get("storedVersions") or []
    if name is not None and name not in stored:
        status["storedVersions"] = [*stored, name]


def signing_status(obj: JsonDict, old: JsonObject, now: str) -> None:
    """Decisions about a request for a certificate stay as they were, unless their number changes,
    which is refused later."""
    conditions, before = _conditions(obj), _conditions(old)
    for kind in SIGNING_DECISIONS:
        places = [
            position
            for position, condition in enumerate(conditions)
            if condition.get("type") == kind
        ]
        result = [element for element in before if element.get("type") == kind]
        if len(places) == len(result):
            for index, item in zip(places, result, strict=True):
                conditions[index] = fresh(item)
    signing_times(obj, old, now)


def signing_times(obj: JsonDict, old: JsonObject, now: str) -> None:
    """Conditions of a request for a certificate say when they were written, and since when they
    are as they are."""
    for condition in _conditions(obj):
        state = condition.get("type"), condition.get("status")
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = now
        if not condition.get("lastTransitionTime"):
            conditions = (
                condition["lastTransitionTime"]
                for condition in _conditions(old)
                if (condition.get("type"), condition.get("status")) == state
                and condition.get("lastTransitionTime")
            )
            condition["lastTransitionTime"] = next(conditions, now)


def _conditions(request: JsonObject) -> list[JsonDict]:
    return (request.get("status") or {}).get("conditions") or []


def claim_status(obj: JsonDict, old: JsonObject, _: str) -> None:
    """Drop what a claim says of devices that it no longer has."""
    # As `dropDeallocatedStatusDevices` of `pkg/registry/resource/resourceclaim`.
    status = obj.get("status") or {}
    released = _allocated(old.get("status") or {}) - _allocated(status)
    devices = status.get("devices")
    if devices and released:
        status["devices"] = [device for device in devices if _device(device) not in released]
        if not status["devices"]:
            del status["devices"]


def _allocated(status: JsonObject) -> set[tuple[str, ...]]:
    devices = (status.get("allocation") or {}).get("devices") or {}
    return set(map(_device, devices.get("results") or ()))


def _device(value: JsonObject) -> tuple[str, ...]:
    return tuple(value.get(field) or "" for field in ("driver", "pool", "device", "shareID"))


OF_STATUS: Final = tuple(
    f"{AUTOSCALING_PREFIX}{item}" for item in ("conditions", "current-metrics")
)
"""The annotations in which autoscaling/v1 has what only newer versions know of a status."""


def autoscaler(obj: JsonDict, old: JsonObject, _: str) -> None:
    """Keep what annotations say of the status with the rest of it."""
    old_annotations, meta = metadata.annotations(old), obj["metadata"]
    sent = {
        key: annotation
        for key, annotation in metadata.annotations(obj).items()
        if key not in OF_STATUS
    }
    annotations = {
        **sent,
        **{name: old_annotations[name] for name in OF_STATUS if name in old_annotations},
    }
    if annotations or "annotations" in meta:
        meta["annotations"] = annotations


KIND_UPDATES: Final[Mapping[tuple[str, str, str], KindUpdate]] = {
    ("", "Node", ""): node,
    ("", "Node", "status"): node_status,
    ("", "Pod", "status"): pod_status,
    ("", "PersistentVolume", "status"): volume_status,
    ("", "PersistentVolumeClaim", ""): claim,
    ("", "ServiceAccount", ""): service_account,
    ("apiextensions.k8s.io", "CustomResourceDefinition", ""): definition,
    ("autoscaling", "HorizontalPodAutoscaler", ""): autoscaler,
    ("certificates.k8s.io", "CertificateSigningRequest", "approval"): signing_times,
    ("certificates.k8s.io", "CertificateSigningRequest", "status"): signing_status,
    ("discovery.k8s.io", "EndpointSlice", ""): endpoint_slice,
    ("resource.k8s.io", "ResourceClaim", "status"): claim_status,
}
"""By group, kind and subresource."""
