"""What `make attacks` undoes is there to be undone."""

from __future__ import annotations

import pytest

from tests.attacks.undone_repairs import UNDONE, Undone
from tests.paths import ROOT


@pytest.mark.parametrize("undone", UNDONE, ids=[one.attack for one in UNDONE])
def test_the_repair_is_where_it_was(undone: Undone) -> None:
    text = (ROOT / "src" / "celadon" / undone.module).read_text(encoding="utf-8")
    assert text.count(undone.was) == 1
    file, _, _ = undone.test.partition("::")
    assert (ROOT / file).exists()
