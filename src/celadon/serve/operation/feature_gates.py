"""`--feature-gates`: which gates there are, and what was said about them.

As k8s.io/component-base `featuregate`: `AllAlpha` and `AllBeta` are said first, then what is said
about a gate itself; a gate that is locked can only be given the value it has. `feature_gates.txt`
has the stages of each gate, release by release.
"""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Iterator, Mapping
from typing import Final

from celadon.kube.go import parse_bool
from celadon.kube.library import DEFAULT_VERSION, parse_version
from celadon.records import dataclass

ALPHA: Final = "alpha"
BETA: Final = "beta"
GONE: Final = "gone"
"""The stage of a gate that a release does not know any more."""

_GROUPS: Final = (("AllAlpha", ALPHA), ("AllBeta", BETA))
_Release = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Gate:
    """What a release says of a gate: `alpha`, `beta`, `ga` or `deprecated`, and its default."""

    stage: str
    on: bool
    locked: bool


@functools.lru_cache(maxsize=64)
def known_gates(release: _Release) -> Mapping[str, Gate]:
    """The gates of a release by their names."""
    known = {}
    for name, stages in _histories().items():
        reached = [gate for since, gate in stages if since <= release]
        if reached and reached[-1].stage != GONE:
            known[name] = reached[-1]
    return known


@functools.cache
def _histories() -> Mapping[str, tuple[tuple[_Release, Gate], ...]]:
    text = pkgutil.get_data("celadon.serve", "operation/feature_gates.txt")
    assert text is not None, "feature_gates.txt belongs to the package"
    lines = (line for line in text.decode().splitlines() if line and not line.startswith("#"))
    return {
        name: tuple(_stage(part) for part in history.split(","))
        for name, _, history in (line.partition(":") for line in lines)
    }


def _stage(text: str) -> tuple[_Release, Gate]:
    since, stage, *marks = text.split()
    return parse_version(since), Gate(stage, on="on" in marks, locked="locked" in marks)


def feature_gates(text: str, version: str = DEFAULT_VERSION) -> Mapping[str, bool]:
    """The gates that are not as by default in a release, or not as in `DEFAULT_VERSION`, whose
    defaults hold wherever releases make no difference. Raises ValueError, in upstream's words;
    VersionError."""
    said = dict(_pairs(text))
    known, usual = known_gates(parse_version(version)), known_gates(parse_version(DEFAULT_VERSION))
    values: dict[str, bool] = {}
    for group, stage in _GROUPS:
        if group in said:
            members = (name for name, gate in known.items() if gate.stage == stage)
            values.update(dict.fromkeys(members, said.pop(group)))
    for name, value in said.items():
        gate = known.get(name)
        if gate is None:
            raise ValueError(f"unrecognized feature gate: {name}")
        if gate.locked and value != gate.on:
            raise ValueError(
                f"cannot set feature gate {name} to {str(value).lower()}, "
                f"feature is locked to {str(gate.on).lower()}"
            )
        values[name] = value
    return {
        name: value
        for name, value in sorted(values.items())
        if any(value != gates[name].on for gates in (known, usual) if name in gates)
    }


def _pairs(text: str) -> Iterator[tuple[str, bool]]:
    for pair in filter(None, text.split(",")):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            raise ValueError(f"missing bool value for {name}")
        wanted = parse_bool(value)
        if wanted is None:
            raise ValueError(
                f'invalid value of {name}={value}, err: strconv.ParseBool: parsing "{value}": '
                "invalid syntax"
            )
        yield name, wanted
