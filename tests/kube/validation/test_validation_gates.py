"""Which gates are on, and which complaints count with them."""

from __future__ import annotations

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.releases import answering_as
from celadon.kube.validation.field_checks import (
    CONSUMABLE_CAPACITY,
    MUTABLE_ALLOCATABLE,
    RELAXED_SERVICE_NAMES,
    RESTART_ALL,
    SELINUX_MOUNT,
    STRICT_ADDRESSES,
    default_gates,
    gates_on,
    holding,
    only_with,
)


def test_gates_follow_the_release_and_what_is_said() -> None:
    latest = default_gates()
    assert gates_on({STRICT_ADDRESSES: False}) == latest - {STRICT_ADDRESSES}
    with answering_as("1.35"):
        before = default_gates()
        assert MUTABLE_ALLOCATABLE in before
        assert gates_on({SELINUX_MOUNT: True}) == {SELINUX_MOUNT, *before}
    assert latest - before == {
        *(CONSUMABLE_CAPACITY, RELAXED_SERVICE_NAMES, RESTART_ALL, STRICT_ADDRESSES)
    }
    with answering_as("1.30"):
        assert default_gates() == frozenset()
        assert gates_on({STRICT_ADDRESSES: True, "WatchList": True}) == {STRICT_ADDRESSES}


def test_complaints_hang_on_a_gate_or_on_its_absence() -> None:
    always, on, off = (fieldpath.required(FieldPath(name)) for name in ("always", "on", "off"))
    errors = [always, *only_with("Gate", [on]), *only_with("!Gate", [off])]
    assert [one.field for one in holding(errors, frozenset({"Gate"}))] == ["always", "on"]
    assert [one.field for one in holding(errors, frozenset())] == ["always", "off"]


def test_a_complaint_may_hang_on_several_gates() -> None:
    inner = only_with("!Inner", [fieldpath.required(FieldPath("a"))])
    errors = list(only_with("Outer", inner))
    assert holding(errors, frozenset({"Outer"})) == errors
    assert not holding(errors, frozenset({"Outer", "Inner"}))
    assert not holding(errors, frozenset())
