"""Where policies come from, and how a set of them is replaced by the next one as a whole.

Files are watched, and read again when they change. Policies from a cluster are in
`celadon.webhook.cluster`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from celadon.apiserver.operation import LIFE, say, warn
from celadon.webhook.deciding import (
    MutationRules,
    PolicySource,
    ReviewConverter,
    Rulebook,
    SourceState,
    described,
)

__all__ = [
    "LoadError",
    "MutationRules",
    "PolicySource",
    "ReviewConverter",
    "Rulebook",
    "SourceState",
    "WatchedFiles",
]


# --- Watched files -----------------------------------------------------------
#
# Policies from files, loaded again as a whole when a file changes.
#
# What can be loaded replaces what was in force between two reviews; what cannot leaves it
# there, and says so in the log, in `/metrics` and in `/readyz?verbose`. Loading goes on in a
# thread of its own, since compiling takes a while.


LOOK_SECONDS: Final = 1.0
"""Between two looks at the files."""


class LoadError(Exception):
    """Why policies cannot be used, each problem with its place."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(described(problems))
        self.problems = problems


Loader = Callable[[], Rulebook]
"""Reads everything. Raises LoadError."""


class WatchedFiles:
    """A `PolicySource`. `signature` is different when a file is; `clock` is Unix time."""

    def __init__(
        self,
        load: Loader,
        signature: Callable[[], object],
        clock: Callable[[], float] = time.time,
        pause: float = LOOK_SECONDS,
    ) -> None:
        self._load = load
        self._signature = signature
        self._clock = clock
        self._pause = pause
        self._seen: object = None
        self._rules: Rulebook | None = None
        self._problems: tuple[str, ...] = ()
        self._loads = 0
        self._failed = 0
        self._loaded_at = 0.0

    def rulebook(self) -> Rulebook | None:
        """The last version that could be loaded."""
        return self._rules

    def state(self) -> SourceState:
        """With what is wrong with the newest version, if it is not the one in force."""
        return SourceState(
            missing=() if self._rules else ("its files",),
            problems=self._problems,
            remarks=self._rules.remarks if self._rules else (),
            loads=self._loads,
            failed_loads=self._failed,
            loaded_at=self._loaded_at,
        )

    def stamp(self) -> object:
        """How often something was loaded: nothing else is looked up."""
        return self._loads

    def start(self) -> None:
        """Load for the first time. Raises LoadError."""
        self._seen = self._signature()
        self._take(self._load())

    async def run(self) -> None:
        """Look at the files again and again."""
        while True:
            await asyncio.sleep(self._pause)
            await self.look()

    async def look(self) -> bool:
        """Return whether a new version is in force now."""
        seen = await asyncio.to_thread(self._signature)
        if seen == self._seen:
            return False
        self._seen = seen
        try:
            rules = await asyncio.to_thread(self._load)
        except LoadError as error:
            self._failed += 1
            self._problems = error.problems
            warn("the policies cannot be reloaded, the old ones stay", {"err": str(error)})
            return False
        self._take(rules)
        say(
            LIFE,
            "the policies were reloaded",
            {"policies": rules.policies, "bindings": rules.bindings},
        )
        return True

    def _take(self, rules: Rulebook) -> None:
        self._rules = rules
        for remark in rules.remarks:
            warn("enforced here, but not served by the cluster's release", {"err": remark})
        self._problems = ()
        self._loads += 1
        self._loaded_at = self._clock()
