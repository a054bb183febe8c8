"""What a measurement knows of a machine that does other things, too."""

from __future__ import annotations

import os

from bench.undisturbed import Disturbance


def test_what_has_come_since_is_the_difference() -> None:
    before, after = Disturbance(waited=1.5, stolen=2.0), Disturbance(waited=1.75, stolen=2.5)
    assert after.since(before) == Disturbance(waited=0.25, stolen=0.5)


def test_waiting_of_all_processes_is_counted_and_never_less_later() -> None:
    own = os.getpid()
    one = Disturbance.until_now((own,))
    both = Disturbance.until_now((own, own))
    assert one.waited >= 0
    assert both.waited >= 2 * one.waited
    assert both.stolen >= one.stolen
