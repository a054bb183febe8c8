"""IP addresses and ranges: what is one, and how it has to be written.

Fields from before 1.33 take several ways of writing; some of these are refused only while the gate
`StrictIPCIDRValidation` is on, and never where the object had the same text before. Younger fields
take the canonical form alone. As k8s.io/apimachinery `pkg/util/validation/ip.go`.
"""

from __future__ import annotations

from collections.abc import Collection

from celadon.cel.value_functions import netaddr
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.validation import text_rules
from celadon.kube.validation.field_checks import NO_ERRORS, Errors, each
from celadon.kube.validation.validation_gates import STRICT_ADDRESSES, only_with


def older_address(path: FieldPath, value: str, known: Collection[str] = ()) -> Errors:
    """An address in a field that has long been there; `known` are those it had before."""
    if value in known:
        return NO_ERRORS
    found = text_rules.ip_address(value)
    return each(path, value, found) if found else _strictly(path, value, _of_address(value))


def older_range(path: FieldPath, value: str, known: Collection[str] = ()) -> Errors:
    """The same of a range in CIDR notation."""
    if value in known:
        return NO_ERRORS
    found = text_rules.cidr(value)
    return each(path, value, found) if found else _strictly(path, value, _of_range(value))


def _strictly(path: FieldPath, value: str, messages: list[str]) -> Errors:
    return only_with(STRICT_ADDRESSES, each(path, value, messages)) if messages else NO_ERRORS


def _of_address(value: str) -> list[str]:
    try:
        strict = netaddr.parse_addr(value)
    except netaddr.AddrError:
        return ["must not have leading 0s"]
    return ["must not be an IPv4-mapped IPv6 address"] if strict.is_v4_mapped else []


def _of_range(value: str) -> list[str]:
    try:
        strict = netaddr.parse_prefix(value)
    except netaddr.AddrError:
        return ["must not have leading 0s in IP or prefix length"]
    if strict.addr.is_v4_mapped:
        return ["must not have an IPv4-mapped IPv6 address"]
    if strict.masked() != strict:
        return ["must not have bits set beyond the prefix length"]
    return []


def canonical_address(value: str) -> list[str]:
    """An address as it should be written: in younger fields, and the name of an IPAddress."""
    messages = text_rules.ip_address(value) or _of_address(value)
    strict = "" if messages else str(netaddr.parse_addr(value))
    return messages or ([] if strict == value else [_CANONICAL.format(quote(strict))])


def canonical_range(value: str) -> list[str]:
    """A range as it should be written."""
    messages = text_rules.cidr(value) or _of_range(value)
    strict = "" if messages else str(netaddr.parse_prefix(value))
    return messages or ([] if strict == value else [_CANONICAL.format(quote(strict))])


def interface_address(value: str) -> list[str]:
    """An address with the length of its network, in canonical form; the bits behind stay."""
    found = text_rules.network(value)
    if found is None:
        return ["must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"]
    length = found.length - 96 if found.addr.is_v4_mapped else found.length
    canonical = f"{text_rules.unmapped(found.addr)}/{length}"
    return [] if canonical == value else [_CANONICAL.format(quote(canonical))]


_CANONICAL = "must be in canonical form ({})"
