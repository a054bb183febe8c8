"""Values in DER."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from celadon.kube.x509 import INTEGER, DerError, DerReader


def test_values_one_after_the_other() -> None:
    reader = DerReader(bytes.fromhex("3006 0201ff 020180 030200aa 0481 02 1234".replace(" ", "")))
    inner = reader.inner()
    assert (inner.integer(), inner.next_is(INTEGER), inner.integer()) == (-1, True, -128)
    assert inner.is_empty
    assert reader.bits() == b"\xaa"
    assert reader.content(4) == b"\x12\x34"
    assert reader.is_empty


@pytest.mark.parametrize(
    ("data", "read"),
    [
        ("02", DerReader.integer),
        ("0205", DerReader.integer),
        ("0200", DerReader.integer),
        ("028501", DerReader.integer),
        ("0201", DerReader.inner),
        ("030101", DerReader.bits),
    ],
)
def test_what_is_no_value(data: str, read: Callable[[DerReader], object]) -> None:
    with pytest.raises(DerError):
        read(DerReader(bytes.fromhex(data)))
