"""Whether those whose watches are open still are who they were.

Upstream asks once, when a watch begins: it goes on for up to an hour after its token was revoked.
Here the credentials of open watches are looked at again, all watches of the same ones together. As
often as upstream looks again at a token that it has remembered (k8s.io/apiserver
`pkg/authentication/token/cache`, as kube-apiserver sets it).
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Final
from weakref import WeakValueDictionary

from celadon.kube import User
from celadon.serve.access.authentication import Authenticator, Credentials

STANDING_SECONDS: Final = 10.0
"""Between two looks at the same credentials."""


class Standing:
    """Of all open watches with the same credentials."""

    def __init__(
        self, authenticate: Callable[[], User | None], seconds: Callable[[], float]
    ) -> None:
        self._authenticate = authenticate
        self._seconds = seconds
        self._looked_at = seconds()
        self._user = authenticate()
        self._holds = self._user is not None

    def holds(self) -> bool:
        """Whether they still show the same user; once they do not, they never will again."""
        now = self._seconds()
        if self._holds and now - self._looked_at >= STANDING_SECONDS:
            self._looked_at = now
            self._holds = self._authenticate() == self._user
        return self._holds


class Standings:
    """Those of one server. `seconds` is a clock that never goes back."""

    def __init__(
        self,
        authenticator: Authenticator,
        now: Callable[[], datetime.datetime],
        seconds: Callable[[], float],
    ) -> None:
        self._authenticator = authenticator
        self._now = now
        self._seconds = seconds
        self._open: WeakValueDictionary[Credentials, Standing] = WeakValueDictionary()

    def of(self, credentials: Credentials) -> Standing | None:
        """None for those who show nothing, and so have nothing to lose."""
        if credentials == Credentials():
            return None
        standing = self._open.get(credentials)
        if standing is None or not standing.holds():
            standing = Standing(lambda: self._user(credentials), self._seconds)
            self._open[credentials] = standing
        return standing

    def _user(self, credentials: Credentials) -> User | None:
        return self._authenticator.authenticate(credentials, self._now()).user
