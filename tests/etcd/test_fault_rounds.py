"""A few faults under load; the long run is `make soak-etcd`."""

from __future__ import annotations

import pytest

from tests.etcd.etcd_members import etcd_program
from tests.etcd.fault_rounds import EXHAUSTED, run


@pytest.mark.thorough
def test_nothing_is_lost_stale_missed_or_repeated() -> None:
    etcd_program()
    faults = ("the leader is killed", "a member is stopped", "a server is killed")
    result = run(1, seed=1, faults=(*faults, "etcd is compacted"))
    assert len(result.acknowledged) > 50, "nothing was tried"
    assert result.events > 50
    assert result.pauses.keys() == {*faults, "etcd is compacted"}


@pytest.mark.thorough
def test_an_etcd_that_is_slow_or_without_room_loses_nothing() -> None:
    etcd_program()
    faults = ("a member is slow", "the leader is slow", *EXHAUSTED)
    result = run(1, seed=1, faults=faults)
    assert len(result.acknowledged) > 50, "nothing was tried"
    assert result.pauses.keys() == set(faults)
