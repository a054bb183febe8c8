"""Arithmetic on amounts by resource name, as k8s.io/apiserver `pkg/quota/v1`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from celadon.kube.quantity import Quantity, ResourceList, from_int, parse_amounts

Amounts = Mapping[str, Quantity]

ONE: Final = from_int(1)
ZERO: Final = from_int(0)


def amounts_of(texts: ResourceList | None) -> dict[str, Quantity]:
    """From what an object says; empty for what it does not say."""
    return {name: parse_amounts(text) for name, text in (texts or {}).items()}


def texts_of(amounts: Amounts) -> dict[str, str]:
    """As an object says it, by name."""
    return {name: str(amounts[name]) for name in sorted(amounts)}


def added(a: Amounts, b: Amounts) -> dict[str, Quantity]:
    """Per name the sum; a name that only one has keeps its amount."""
    sums = dict(a)
    for name, amount in b.items():
        sums[name] = sums[name].add(amount) if name in sums else amount
    return sums


def multiplied(amounts: Amounts, times: int) -> dict[str, Quantity]:
    """So many times as much; `times` is 1 at least. Takes as many steps as it has binary digits."""
    sums: dict[str, Quantity] = {}
    power: Amounts = amounts
    while True:
        if times & 1:
            sums = added(sums, power)
        times >>= 1
        if not times:
            return sums
        power = added(power, power)


def growth(new: Amounts, old: Amounts) -> dict[str, Quantity]:
    """By how much `new` is more than `old`; what has become less is left out."""
    found = {}
    for name, amount in new.items():
        more = amount.sub(old[name]) if name in old else amount
        if more.sign > 0:
            found[name] = more
    return found


def masked(amounts: Amounts, names: Collection[str]) -> dict[str, Quantity]:
    """Only these names."""
    return {name: amount for name, amount in amounts.items() if name in names}


def same(a: Amounts, b: Amounts) -> bool:
    """Whether both have the same names with the same amounts."""
    return a.keys() == b.keys() and all(a[name].compare(b[name]) == 0 for name in a)


def shown(amounts: Amounts) -> str:
    """`cpu=1,pods=2`, by name."""
    return ",".join(f"{name}={amounts[name]}" for name in sorted(amounts))
