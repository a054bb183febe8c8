"""Addresses and ranges that are valid today but not written as they should be.

As k8s.io/apimachinery `pkg/util/validation/ip.go`. What is no address at all is validation's
concern: nothing is said of it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from celadon.cel.value_functions import netaddr
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.releases import is_since
from celadon.kube.validation import text_rules
from celadon.kube.wordings import wording

_NON_STANDARD: Final = wording(
    "is invalid", v1_36="will be considered invalid in a future Kubernetes release"
)


def address_warnings(path: FieldPath, text: str, *, of_service: bool = False) -> Iterator[str]:
    """Of an IP address, leading zeros and IPv4 in IPv6 included."""
    found = text_rules.address(text)
    if found is None:
        return
    if not is_since("1.33"):
        yield from _older_warnings(path, text, netaddr.parse_addr) if of_service else ()
        return
    strict = _strict_address(text)
    if strict is None or strict.is_v4_mapped:
        yield (
            f"{path}: non-standard IP address {quote(text)} {_NON_STANDARD.text}: use "
            f"{quote(text_rules.unmapped(found))}"
        )
    elif not strict.is_v4 and str(strict) != text:
        yield (
            f"{path}: IPv6 address {quote(text)} should be in RFC 5952 canonical format "
            f"({quote(str(strict))})"
        )


def range_warnings(path: FieldPath, text: str, *, of_service: bool = False) -> Iterator[str]:
    """Of a range in CIDR notation."""
    found = text_rules.network(text)
    if found is None:
        return
    if not is_since("1.33"):
        yield from _older_warnings(path, text, netaddr.parse_prefix) if of_service else ()
        return
    usual = _range_text(found)
    ambiguous = found.masked() != found
    if ambiguous:
        single = f"{text_rules.unmapped(found.addr)}/{32 if found.addr.is_v4 else 128}"
        yield (
            f"{path}: CIDR value {quote(text)} is ambiguous in this context (should be "
            f"{quote(usual)} or {quote(single)}?)"
        )
    strict = _strict_range(text)
    if strict is None or strict.addr.is_v4_mapped:
        yield (
            f"{path}: non-standard CIDR value {quote(text)} {_NON_STANDARD.text}: "
            f"use {quote(usual)}"
        )
    elif not ambiguous and not strict.addr.is_v4 and str(strict) != text:
        yield (
            f"{path}: IPv6 CIDR value {quote(text)} should be in RFC 5952 canonical format "
            f"({quote(str(strict))})"
        )


_Parsed = netaddr.Addr | netaddr.Prefix


def _older_warnings(path: FieldPath, text: str, parse: Callable[[str], _Parsed]) -> Iterator[str]:
    """What releases before 1.33 said, of Services alone."""
    is_prefix = parse is netaddr.parse_prefix
    name = "IP prefix" if is_prefix else "IP address"
    try:
        strict = parse(text)
    except netaddr.AddrError as error:
        future = "will be invalid in a future Kubernetes release"
        yield f"{path}: {name} was accepted, but {future}: {error}"
        return
    addr = strict.addr if isinstance(strict, netaddr.Prefix) else strict
    if not addr.is_v4 and str(strict) != text:
        yield (
            f"{path}: IPv6 {'prefix' if is_prefix else 'address'} {quote(text)} is not in RFC 5952 "
            f"canonical format ({quote(str(strict))}), which may cause controller apply-loops"
        )


def _strict_address(text: str) -> netaddr.Addr | None:
    try:
        return netaddr.parse_addr(text)
    except netaddr.AddrError:
        return None


def _strict_range(text: str) -> netaddr.Prefix | None:
    try:
        return netaddr.parse_prefix(text)
    except netaddr.AddrError:
        return None


def _range_text(found: netaddr.Prefix) -> str:
    """The range without the bits behind its length, as Go's older type prints it."""
    masked = found.masked()
    length = masked.length - 96 if masked.addr.is_v4_mapped else masked.length
    return f"{text_rules.unmapped(masked.addr)}/{length}"
