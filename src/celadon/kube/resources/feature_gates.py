"""The feature gates that kube-apiserver knows, release by release, and what may be said of them.

Those of the kubelet, the scheduler and of clients are among them. The pack `gates` has the history
of each, facts from k8s.io/kubernetes `pkg/features/kube_features.go` and the features of
k8s.io/apiserver, apiextensions-apiserver, controller-manager, client-go and component-base.

`--feature-gates` is read as k8s.io/component-base `featuregate` does: `AllAlpha` and `AllBeta` are
said first, then what is said about a gate itself; a gate that is locked can only be given the value
it has, and since 1.35 a gate that is on needs others to be on.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from celadon.kube.errors import MalformedText
from celadon.kube.go.go_text import parse_bool
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import OLDEST_RELEASE, previous_minor
from celadon.kube.schemas import schema_packs
from celadon.records import dataclass

ALPHA: Final = "alpha"
BETA: Final = "beta"
GONE: Final = "gone"
"""The stage of a gate that a release does not know any more."""

_GROUPS: Final = {"AllAlpha": ALPHA, "AllBeta": BETA}
"""Gates that stand for all of a stage."""

_COMPONENT: Final = "kube"
_COMPONENTS_SINCE: Final = (1, 31)
_OLDEST_SHOWN_SINCE: Final = (1, 35)


class BadFeatureGates(MalformedText):
    """Says what of `--feature-gates` cannot be, in the words of k8s.io/component-base."""


@dataclass(frozen=True, slots=True)
class FeatureGate:
    """Holds what a release says of a gate: `alpha`, `beta`, `ga` or `deprecated`, and its
    default. `needs` are the gates that have to be on where it is."""

    stage: str
    on: bool
    locked: bool = False
    needs: tuple[str, ...] = ()


@functools.cache
def gates_of(release: str) -> Mapping[str, FeatureGate]:
    """Return the gates that a release (`1.34`) knows, by their names. Releases before the first
    that the pack tells apart know what that one does."""
    minor = max(_minor(release), OLDEST_RELEASE)
    gates = {}
    for name, stages in schema_packs.load("gates").items():
        reached = [stage for stage in stages if _minor(stage["since"]) <= minor]
        if reached and reached[-1]["stage"] != GONE:
            gates[name] = _gate(reached[-1])
    return gates


def _gate(stage: JsonObject) -> FeatureGate:
    return FeatureGate(
        stage["stage"],
        on=stage["default"],
        locked=stage.get("locked", False),
        needs=tuple(stage.get("needs", ())),
    )


def _minor(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


@functools.cache
def is_gate_on(name: str, release: str) -> bool:
    """Return whether a gate is on by default. Gates that are gone stay as they were at last."""
    minor = max(_minor(release), OLDEST_RELEASE)
    stages = [stage for stage in _stages(name) if _minor(stage["since"]) <= minor]
    last = next((stage for stage in reversed(stages) if stage["stage"] != GONE), None)
    return last is not None and bool(last["default"])


def _stages(name: str) -> Sequence[JsonObject]:
    load: Sequence[JsonObject] = schema_packs.load("gates").get(name, ())
    return load


def said_gates(text: str, release: str, emulated: str = "") -> Mapping[str, bool]:
    """Return what `--feature-gates` says in a release, by gate, while it emulates another one; also
    where that is as by default. Raises BadFeatureGates."""
    pairs = dict(_pairs(text if _minor(release) < _COMPONENTS_SINCE else _of_kube(text)))
    of_binary = gates_of(release)
    at_that = gates_of(emulated or release)
    gates = {name: gate for name, gate in at_that.items() if name in of_binary}
    values: dict[str, bool] = {}
    for group, stage in _GROUPS.items():
        if group in pairs:
            members = (name for name, gate in gates.items() if gate.stage == stage)
            values.update(dict.fromkeys(members, pairs.pop(group)))
    for name, value in pairs.items():
        gate = gates.get(name)
        if gate is None and name in of_binary:
            raise BadFeatureGates(_too_early(name, value, release, emulated))
        if gate is None:
            raise BadFeatureGates(f"unrecognized feature gate: {name}")
        if gate.locked and value != gate.on:
            raise BadFeatureGates(
                f"cannot set feature gate {name} to {str(value).lower()}, "
                f"feature is locked to {str(gate.on).lower()}"
            )
        values[name] = value
    values = {name: value for name, value in values.items() if name not in _GROUPS}
    problems = list(_unmet(gates, values))
    if problems:
        raise BadFeatureGates(_joined(problems))
    return values


def _too_early(name: str, value: bool, release: str, emulated: str) -> str:  # noqa: FBT001
    oldest = ""
    if _minor(release) >= _OLDEST_SHOWN_SINCE:
        oldest = f", min compatibility version {previous_minor(emulated)}"
    return (
        f"cannot set feature gate {name} to {str(value).lower()}, "
        f"feature is PreAlpha at emulated version {emulated}{oldest}"
    )


def _of_kube(text: str) -> str:
    """Return the text without the name of the component, which may stand before each gate, or
    before none."""
    pairs = [pair for pair in text.split(",") if pair]
    named = [pair.partition(":")[::2] for pair in pairs if ":" in pair]
    for component, _ in named:
        if component.strip() != _COMPONENT:
            raise BadFeatureGates(f"component not registered: {component.strip()}")
    if named and len(named) < len(pairs):
        raise BadFeatureGates(
            "set kube feature gates with default empty prefix or kube: prefix consistently, "
            "do not mix use"
        )
    return ",".join(pair for _, pair in named) if named else text


def _unmet(gates: Mapping[str, FeatureGate], settings: Mapping[str, bool]) -> Iterator[str]:
    """Gates that are on without others that they need, by name."""
    for name, gate in gates.items():
        if gate.needs and settings.get(name, gate.on):
            off = [other for other in gate.needs if not _is_on(other, gates, settings)]
            if off:
                needed = " ".join(off)
                yield f"{name} is enabled, but depends on features that are disabled: [{needed}]"


def _is_on(name: str, gates: Mapping[str, FeatureGate], settings: Mapping[str, bool]) -> bool:
    return settings.get(name, name in gates and gates[name].on)


def _joined(problems: Sequence[str]) -> str:
    """Join as k8s.io/apimachinery `util/errors` writes an aggregate."""
    return problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"


def _pairs(text: str) -> Iterator[tuple[str, bool]]:
    for pair in filter(None, text.split(",")):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            raise BadFeatureGates(f"missing bool value for {name}")
        enabled = parse_bool(value)
        if enabled is None:
            raise BadFeatureGates(
                f'invalid value of {name}={value}, err: strconv.ParseBool: parsing "{value}": '
                "invalid syntax"
            )
        yield name, enabled
