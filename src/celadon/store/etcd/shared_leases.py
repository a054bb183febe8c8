"""Leases of etcd that many keys share, as kube-apiserver's do (k8s.io/apiserver
`pkg/storage/etcd3/lease_manager.go`): what is written within the same minute goes at the same time,
so that there is not a lease for each key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Final

from celadon.records import dataclass

LONGEST_USE: Final = 60
"""Seconds for which new keys are given the same lease."""

SHARE_OF_USE: Final = 20
"""But not more than this part of what the keys last."""

MOST_KEYS: Final = 1_000
"""Of one lease; etcd removes them all in one go."""


@dataclass(slots=True)
class _Shared:
    """`expires` by the clock; it was asked for after that clock was read."""

    number: int
    expires: float
    keys: int = 1


@dataclass(slots=True)
class SharedLeases:
    """In one event loop. `grant` makes a lease of so many seconds, `clock` is in seconds."""

    grant: Callable[[int], Awaitable[int]]
    clock: Callable[[], float]
    _newest: dict[int, _Shared] = field(default_factory=dict)
    """By the seconds that their keys last."""
    _granting: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def lease(self, seconds: int) -> int:
        """For one more key that is to last at least so long. Raises ServiceError."""
        async with self._granting:
            now = self.clock()
            shared = self._newest.get(seconds)
            if shared and shared.keys < MOST_KEYS and now + seconds <= shared.expires:
                shared.keys += 1
                return shared.number
            longest = seconds + min(LONGEST_USE, seconds // SHARE_OF_USE)
            number = await self.grant(longest)
            self._newest[seconds] = _Shared(number, now + longest)
            return number

    def forget(self) -> None:
        """Use none of them any more: one may not be there."""
        self._newest.clear()
