"""Whether those whose watches are open still are who they were."""

from __future__ import annotations

import datetime
import gc

import pytest

from celadon.apiserver.authn.authentication import Authenticator, Credentials, TokenFile
from celadon.apiserver.authz.authorizer_chain import STANDING_SECONDS, Standings
from celadon.kube import User

NOW = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
ALICE = Credentials("Bearer a")


class Bench:
    """A server whose tokens and time change."""

    def __init__(self) -> None:
        self.time = 0.0
        self.looks = 0
        self.users = {"a": User("alice", uid="1"), "b": User("bob", uid="2")}
        self.authenticator = Authenticator(("api",), TokenFile(self.users))
        self.standings = Standings(self.authenticator, self._now, lambda: self.time)

    def _now(self) -> datetime.datetime:
        self.looks += 1
        return NOW


@pytest.mark.parametrize(
    "user", [None, User("eve", uid="1"), User("alice", uid="3"), User("alice", ("more",), "1")]
)
def test_a_token_that_is_revoked_or_is_somebody_elses(user: User | None) -> None:
    bench = Bench()
    standing = bench.standings.of(ALICE)
    assert standing is not None
    alice = bench.users.pop("a")
    if user is not None:
        bench.users["a"] = user
    assert standing.holds()
    bench.time = STANDING_SECONDS
    assert not standing.holds()
    bench.users["a"] = alice
    bench.time *= 2
    assert not standing.holds()
    again = bench.standings.of(ALICE)
    assert again is not None
    assert again.holds()


def test_one_look_for_all_watches_with_the_same_credentials() -> None:
    bench = Bench()
    watches = [bench.standings.of(ALICE) for _ in range(100)]
    assert bench.looks == 1
    bench.time = STANDING_SECONDS
    assert all(one is not None and one.holds() for one in watches)
    assert bench.looks == 2


def test_nothing_is_kept_of_watches_that_are_closed() -> None:
    bench = Bench()
    bench.standings.of(ALICE)
    gc.collect()
    bench.standings.of(ALICE)
    assert bench.looks == 2


def test_who_shows_nothing_has_nothing_to_lose() -> None:
    assert Bench().standings.of(Credentials()) is None
