"""Garbage is looked for later, and as before in the end."""

from __future__ import annotations

import gc
import weakref

from celadon.cli.processes import YOUNG, garbage_later


class Ring:
    """Holds itself."""

    def __init__(self) -> None:
        self.me = self


def test_garbage_waits_until_all_is_loaded() -> None:
    before = gc.get_threshold()
    with garbage_later() as settle:
        assert not gc.isenabled()
        settle()
        assert gc.isenabled()
        assert gc.get_threshold()[0] == YOUNG
        ring = weakref.ref(Ring())
        kept = [[] for _ in range(2 * YOUNG)]  # type: list[list[int]]
        assert ring() is None
        assert len(kept) == 2 * YOUNG
    assert gc.isenabled()
    assert gc.get_threshold() == before
    gc.unfreeze()
