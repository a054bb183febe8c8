"""Values as text."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cel.errors import EvaluationError
from celadon.cel.values.conversions import notation
from celadon.cel.values.maps import MixedMap
from celadon.cel.values.runtime_types import NONE, Optional, display
from celadon.cel.values.text import Uint


def test_what_is_there_twice_is_written_twice() -> None:
    once = [1, Uint(2)]
    assert notation([once, once, {"a": once}]) == '[[1, 2u], [1, 2u], {"a": [1, 2u]}]'
    assert display([once, {"a": once}]) == "[[1, 2], {a: [1, 2]}]"
    assert notation([Optional(once), NONE]) == "[optional.of([1, 2u]), optional.none()]"
    assert display([Optional(once), NONE]) == "[optional([1, 2]), optional.none()]"


@pytest.mark.parametrize("write", [notation, display])
def test_what_has_no_end_is_an_error(write: Any) -> None:
    value: Any = 1
    for _ in range(20):
        value = MixedMap([(True, [value, value]), (1.5, Optional(value))])
    with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
        write(value)
