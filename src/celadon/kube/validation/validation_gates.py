"""Feature gates that validation asks for, and what becomes of complaints that hang on one.

A rule says everything that could be wrong and marks what is only wrong while a gate is on (or off,
with `!`). Whoever asks says which gates are on, and the rest is left out here.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from celadon.kube.fieldpath import FieldError
from celadon.kube.library.releases import DEFAULT, parse_version

STRICT_ADDRESSES: Final = "StrictIPCIDRValidation"
RELAXED_SERVICE_NAMES: Final = "RelaxedServiceNameValidation"

CONSUMABLE_CAPACITY: Final = "DRAConsumableCapacity"
SELINUX_MOUNT: Final = "SELinuxMount"

ON_SINCE: Final[Mapping[str, tuple[int, int]]] = {
    CONSUMABLE_CAPACITY: (1, 36),
    RELAXED_SERVICE_NAMES: (1, 36),
    STRICT_ADDRESSES: (1, 36),
}
"""The release from which on a gate is on by default."""
OFF: Final = frozenset({SELINUX_MOUNT})
"""Gates that are off by default in all releases."""


@functools.lru_cache(maxsize=64)
def default_gates(version: str = DEFAULT) -> frozenset[str]:
    """Those that are on in a release if nobody says otherwise. Raises VersionError."""
    release = parse_version(version)
    return frozenset(gate for gate, first in ON_SINCE.items() if release >= first)


def gates_on(version: str, said: Mapping[str, bool]) -> frozenset[str]:
    """The same with what was said of single gates. Raises VersionError."""
    on = default_gates(version)
    if not said:
        return on
    return frozenset(gate for gate in (*ON_SINCE, *OFF) if said.get(gate, gate in on))


def only_with(gate: str, errors: Iterable[FieldError]) -> Iterator[FieldError]:
    """Complaints that count while a gate is on; `!` before it: while it is off."""
    return (replace(error, gate=gate) for error in errors)


def holding(errors: Iterable[FieldError], gates: frozenset[str]) -> list[FieldError]:
    """The complaints that count with these gates on."""
    return [error for error in errors if not error.gate or _holds(error.gate, gates)]


def _holds(gate: str, gates: frozenset[str]) -> bool:
    return gate[1:] not in gates if gate.startswith("!") else gate in gates
