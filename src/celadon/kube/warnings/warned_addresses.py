"""Addresses and ranges that are valid today but not written as they should be.

As k8s.io/apimachinery `pkg/util/validation/ip.go`. What is no address at all is validation's
concern: nothing is said of it here.
"""

from __future__ import annotations

from collections.abc import Iterator

from celadon.cel.value_functions import netaddr
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.validation import text_rules


def address_warnings(path: FieldPath, text: str) -> Iterator[str]:
    """Of an IP address, leading zeros and IPv4 in IPv6 included."""
    found = text_rules.address(text)
    if found is None:
        return
    strict = _strict_address(text)
    if strict is None or strict.is_v4_mapped:
        yield (
            f"{path}: non-standard IP address {quote(text)} is invalid: use "
            f"{quote(text_rules.unmapped(found))}"
        )
    elif not strict.is_v4 and str(strict) != text:
        yield (
            f"{path}: IPv6 address {quote(text)} should be in RFC 5952 canonical format "
            f"({quote(str(strict))})"
        )


def range_warnings(path: FieldPath, text: str) -> Iterator[str]:
    """Of a range in CIDR notation."""
    found = text_rules.network(text)
    if found is None:
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
        yield (f"{path}: non-standard CIDR value {quote(text)} is invalid: use {quote(usual)}")
    elif not ambiguous and not strict.addr.is_v4 and str(strict) != text:
        yield (
            f"{path}: IPv6 CIDR value {quote(text)} should be in RFC 5952 canonical format "
            f"({quote(str(strict))})"
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
