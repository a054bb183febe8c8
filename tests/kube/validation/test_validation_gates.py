"""Which gates are on, and which complaints count with them."""

from __future__ import annotations

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.validation.field_checks import (
    CONSUMABLE_CAPACITY,
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
    latest, before = default_gates("1.36"), default_gates("1.35")
    assert latest - before == {
        *(STRICT_ADDRESSES, RELAXED_SERVICE_NAMES, CONSUMABLE_CAPACITY, RESTART_ALL)
    }
    assert default_gates("1.30") == frozenset()
    assert gates_on("1.36", {STRICT_ADDRESSES: False}) == latest - {STRICT_ADDRESSES}
    assert gates_on("1.30", {STRICT_ADDRESSES: True, "WatchList": True}) == {STRICT_ADDRESSES}
    assert gates_on("1.35", {SELINUX_MOUNT: True}) == {SELINUX_MOUNT, *before}


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
