"""Arithmetic on resource lists (resource name to quantity text) as pods need it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from celadon.kube.quantities import quantity
from celadon.kube.quantities.quantity import MILLI, Quantity
from celadon.kube.well_known_values import HUGE_PAGES
from celadon.remembering import remembering

ResourceList = Mapping[str, str]
"""Amounts as text by the name of the resource, as `requests` and `limits` have them."""

_PARTS: Final = ("requests", "limits")


@remembering(4096)
def parse(text: str) -> Quantity:
    """Remembered, for the same few texts come again and again; QuantityError for what is none."""
    return quantity.parse(text)


@remembering(4096)
def rounded_to_milli(text: str) -> str:
    """Resource lists hold nothing finer than a thousandth; what is finer is rounded up."""
    return str(parse(text).round_up(MILLI))


def is_positive(text: str) -> bool:
    """QuantityError for what is no quantity."""
    return parse(text).sign > 0


def same_amount(a: str, b: str) -> bool:
    """`1` and `1000m` are; QuantityError for what is no quantity."""
    return a == b or parse(a).compare(parse(b)) == 0


def total(lists: Iterable[ResourceList]) -> dict[str, Quantity]:
    """Per resource the sum over all lists that name it."""
    sums: dict[str, Quantity] = {}
    for amounts in lists:
        for name, text in amounts.items():
            amount = parse(text)
            sums[name] = sums[name].add(amount) if name in sums else amount
    return sums


def raise_to(amounts: dict[str, Quantity], floor: Mapping[str, Quantity]) -> None:
    """Per resource the larger of the two. Changes `amounts`."""
    for name, amount in floor.items():
        if name not in amounts or amounts[name].compare(amount) < 0:
            amounts[name] = amount


def pod_total(spec: Mapping[str, Any], part: str) -> dict[str, Quantity]:
    """What the containers of a pod need together: `part` is `limits` or `requests`.

    Restartable init containers run beside the others; any other init container runs alone, beside
    the restartable ones before it.
    """

    def of(container: Mapping[str, Any]) -> ResourceList:
        amounts: ResourceList = (container.get("resources") or {}).get(part) or {}
        return amounts

    containers = [of(container) for container in spec.get("containers") or ()]
    beside: list[ResourceList] = []
    floors = []
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            beside.append(of(container))
            floors.append(total(beside))
        else:
            floors.append(total([*beside, of(container)]))
    amounts = total([*containers, *beside])
    for floor in floors:
        raise_to(amounts, floor)
    return amounts


def is_of_pods(name: str) -> bool:
    """Whether a pod may say for itself how much it needs of a resource, beside its containers."""
    return name in {"cpu", "memory"} or name.startswith(HUGE_PAGES)


def has_own_needs(spec: Mapping[str, Any]) -> bool:
    """Whether a pod says for itself what it needs of anything."""
    own = spec.get("resources") or {}
    return any(is_of_pods(name) for part in _PARTS for name in own.get(part) or ())


def pod_needs(spec: Mapping[str, Any], part: str, *, overhead: bool = True) -> dict[str, Quantity]:
    """What a pod needs: what it says for itself, else what its containers need, and its overhead.
    A limit that is not there has no overhead either."""
    amounts = pod_total(spec, part)
    own = (spec.get("resources") or {}).get(part) or {}
    amounts.update((name, parse(text)) for name, text in own.items() if is_of_pods(name))
    extra = spec.get("overhead") or {} if overhead else {}
    for name, text in extra.items():
        if name in amounts:
            amounts[name] = amounts[name].add(parse(text))
        elif part == "requests":
            amounts[name] = parse(text)
    return amounts
