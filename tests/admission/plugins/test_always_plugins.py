"""AlwaysDeny and AlwaysAdmit."""

from __future__ import annotations

from celadon.admission import Operation
from tests.admission.plugins.asking import asked, mutated, obj, refusal

DENIED = '403 configmaps "c" is forbidden: admission control is denying all modifications'


def test_everything_is_denied() -> None:
    value = obj("ConfigMap", "c")
    assert mutated("AlwaysDeny", asked(value))[1] == DENIED
    assert refusal("AlwaysDeny", asked(value, value)) == DENIED
    assert refusal("AlwaysDeny", asked(None, value, Operation.DELETE)) == DENIED


def test_or_nothing() -> None:
    assert refusal("AlwaysAdmit", asked(obj("ConfigMap", "c"))) == ""
