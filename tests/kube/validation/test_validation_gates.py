"""Which gates are on, and which complaints count with them."""

from __future__ import annotations

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.releases import answering_as
from celadon.kube.validation.field_checks import (
    CONSUMABLE_CAPACITY,
    MUTABLE_ALLOCATABLE,
    RELAXED_SERVICE_NAMES,
    SELINUX_MOUNT,
    STRICT_ADDRESSES,
    default_gates,
    gates_on,
    holding,
    only_with,
)


def test_gates_follow_the_release_and_what_is_said() -> None:
    latest = {CONSUMABLE_CAPACITY, MUTABLE_ALLOCATABLE, RELAXED_SERVICE_NAMES, STRICT_ADDRESSES}
    assert default_gates() == latest
    assert gates_on({STRICT_ADDRESSES: False}) == latest - {STRICT_ADDRESSES}
    with answering_as("1.34"):
        assert default_gates() == frozenset()
        assert gates_on({STRICT_ADDRESSES: True, "WatchList": True}) == {STRICT_ADDRESSES}
        assert gates_on({SELINUX_MOUNT: True}) == {SELINUX_MOUNT}


def test_complaints_hang_on_a_gate_or_on_its_absence() -> None:
    always, on, off = (fieldpath.required(FieldPath(name)) for name in ("always", "on", "off"))
    errors = [always, *only_with("Gate", [on]), *only_with("!Gate", [off])]
    assert [one.field for one in holding(errors, frozenset({"Gate"}))] == ["always", "on"]
    assert [one.field for one in holding(errors, frozenset())] == ["always", "off"]
