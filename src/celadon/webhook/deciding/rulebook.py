"""All that decides about a review, as one value: it is replaced as a whole, never changed.

`PolicySource` is where rulebooks come from: files (`policy_sources`), or a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from celadon.admission import Engine, World
from celadon.admission.mutating import MutatingEngine
from celadon.kube import GroupVersionKind
from celadon.kube.custom import CustomKind
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class MutationRules:
    """Policies that change objects; `custom` are the kinds that definitions define."""

    engine: MutatingEngine
    custom: Callable[[GroupVersionKind], CustomKind | None]


@dataclass(frozen=True, slots=True)
class Rulebook:
    """`world` gives what one review may look up. `bindings` is how many there are. Without
    `mutation`, nothing is changed."""

    engine: Engine
    world: Callable[[], World]
    bindings: int = 0
    mutation: MutationRules | None = None

    @property
    def policies(self) -> int:
        """How many there are, of both types."""
        changing = 0 if self.mutation is None else len(self.mutation.engine.policies)
        return len(self.engine.policies) + changing


@dataclass(frozen=True, slots=True)
class SourceState:
    """What an operator wants to know about a source.

    `missing` says what a rulebook still waits for, `problems` why the newest version of something
    is not in use, `remarks` what some reviews fail for although others do not; `cache_ages` are
    seconds since each cache was known to be current.
    """

    missing: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    loads: int = 0
    failed_loads: int = 0
    loaded_at: float = 0.0
    """In Unix time; 0 for never."""
    cache_ages: Mapping[str, float] = field(default_factory=dict)


class PolicySource(Protocol):
    """Where policies come from. `run` keeps them current, until it is cancelled."""

    def rulebook(self) -> Rulebook | None:
        """What is in force now; None before anything was loaded."""
        ...

    def state(self) -> SourceState:
        """How it is."""
        ...

    async def run(self) -> None:
        """Follow what changes."""
        ...


def described(problems: Sequence[str], most: int = 5) -> str:
    """Problems as one line."""
    more = f" (and {len(problems) - most} more)" if len(problems) > most else ""
    return "; ".join(problems[:most]) + more
