"""What the policies of the bench make of its Pod is what the functions by hand make of it."""

from __future__ import annotations

import copy

from bench.mutation import EDITS, changed, changed_by_hand, engine, request, world


def test_both_do_the_same() -> None:
    asked = request()
    pod = dict(asked.object or {})
    before = copy.deepcopy(pod)
    made = changed(engine(), world(), asked)
    assert made == changed_by_hand(pod) != before
    assert pod == before
    assert len(EDITS) == 20
