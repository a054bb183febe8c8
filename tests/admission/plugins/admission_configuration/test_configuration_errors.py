"""What may stand where a list is expected."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.admission_configuration import BadConfiguration, objects_in, texts_in


def test_lists_may_be_missing() -> None:
    assert (tuple(objects_in({}, "a")), texts_in({"a": None}, "a")) == ((), ())
    assert (objects_in({"a": [{}]}, "a"), texts_in({"a": ["b"]}, "a")) == ([{}], ("b",))


@pytest.mark.parametrize("value", ["text", {"b": 1}, [1], 5])
def test_nothing_else_may_stand_there(value: Any) -> None:
    for reader in (objects_in, texts_in):
        with pytest.raises(BadConfiguration, match="a: a list of"):
            reader({"a": value}, "a")
