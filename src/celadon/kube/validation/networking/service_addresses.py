"""The cluster addresses of Services and their families."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.address_rules import older_address
from celadon.kube.validation.field_checks import SPEC, Errors, items, supported
from celadon.kube.validation.validation_gates import STRICT_ADDRESSES, only_with
from celadon.kube.well_known_values import HEADLESS, IP_FAMILIES

FAMILY_POLICIES: Final = ("PreferDualStack", "RequireDualStack", "SingleStack")
ONCE_SET: Final = "may not change once set"
_IPS: Final = SPEC.child("clusterIPs")
_FAMILIES: Final = SPEC.child("ipFamilies")


def is_headless(spec: JsonObject) -> bool:
    """Whether its only cluster IP is `None`."""
    return list(spec.get("clusterIPs") or ()) == [HEADLESS]


def service_addresses(spec: JsonObject, known: Collection[str] = ()) -> Errors:
    """`clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy` of a new or changed Service;
    `known` are the addresses it had before."""
    if spec.get("type") == "ExternalName":
        return
    addresses, first = list(spec.get("clusterIPs") or ()), spec.get("clusterIP") or ""
    if first and not addresses:
        yield fieldpath.required(_IPS)
    elif first and addresses[0] != first:
        yield fieldpath.invalid(_IPS, addresses, "first value must match `clusterIP`")
    elif addresses and not first:
        yield fieldpath.invalid(_IPS, addresses, "must be empty when `clusterIP` is not specified")
    seen: set[str] = set()
    for at, family in items(spec, "ipFamilies", SPEC):
        yield from supported(at, family, IP_FAMILIES)
        if family in seen:
            yield fieldpath.duplicate(at, NamedText(family))
        seen.add(family)
    if spec.get("ipFamilyPolicy") is not None:
        yield from supported(SPEC.child("ipFamilyPolicy"), spec["ipFamilyPolicy"], FAMILY_POLICIES)
    found = list(_each_address(addresses, known))
    yield from found
    if len(addresses) > 2:
        yield fieldpath.invalid(_IPS, addresses, "may only hold up to 2 values")
    if not found:
        yield from _families(spec, addresses)
    elif all(one.gate for one in found):
        yield from only_with(f"!{STRICT_ADDRESSES}", _families(spec, addresses))


def _each_address(addresses: list[str], known: Collection[str]) -> Errors:
    for index, address in enumerate(addresses):
        if index == 0 and address == HEADLESS:
            if len(addresses) > 1:
                detail = "'None' must be the first and only value"
                yield fieldpath.invalid(_IPS, addresses, detail)
        else:
            yield from older_address(_IPS.index(index), address, known)


def _families(spec: JsonObject, addresses: list[str]) -> Errors:
    of = {address: "IPv6" if ":" in address else "IPv4" for address in addresses}
    if len(addresses) > 1 and len(set(of.values())) == 1:
        detail = "may specify no more than one IP for each IP family"
        yield fieldpath.invalid(_IPS, addresses, detail)
    if is_headless(spec):
        return
    pairs = zip(addresses, spec.get("ipFamilies") or (), strict=False)
    for index, (address, family) in enumerate(pairs):
        if family in IP_FAMILIES and of[address] != family:
            detail = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            yield fieldpath.invalid(_IPS.index(index), address, detail)


def changed_addresses(spec: JsonObject, before: JsonObject) -> Errors:
    """What was given to a Service stays; a second address may come and go."""
    if "ExternalName" in {spec.get("type"), before.get("type")}:
        return
    headless = is_headless(spec), is_headless(before)
    if headless != (True, True):
        yield from _kept(_IPS, spec, before, "clusterIPs")
    if headless == (False, False):
        yield from _kept(_FAMILIES, spec, before, "ipFamilies")


def _kept(path: FieldPath, spec: JsonObject, before: JsonObject, field: str) -> Errors:
    new, old = list(spec.get(field) or ()), list(before.get(field) or ())
    if len(new) == len(old):
        for index, (one, other) in enumerate(zip(new, old, strict=True)):
            if one != other:
                at = path.index(index if field == "clusterIPs" else 0)
                yield fieldpath.invalid(at, new, ONCE_SET)
        return
    if old and new and new[0] != old[0]:
        yield fieldpath.invalid(path.index(0), new, ONCE_SET)
    if len(new) > len(old):
        return
    singular = "clusterIP" if field == "clusterIPs" else "ipFamily"
    if not new:
        detail = f"primary {singular} can not be unset"
        yield fieldpath.invalid(path.index(0), spec.get(field), detail)
    if len(new) == 1 and spec.get("ipFamilyPolicy") != "SingleStack":
        detail = f"must be set to 'SingleStack' when releasing the secondary {singular}"
        policy = spec.get("ipFamilyPolicy")
        yield fieldpath.invalid(SPEC.child("ipFamilyPolicy"), policy, detail)
