"""IP addresses and prefixes as Go's `net/netip` reads and prints them.

`parse_addr` and `parse_prefix` accept what that package accepts (no leading zeros, zones, an IPv4
tail in IPv6) and complain in its words. The libraries that use it refuse more.
"""

from __future__ import annotations

from typing import Final

from celadon.cel.values.text import go_quote
from celadon.records import dataclass

V4_BITS: Final = 32
V6_BITS: Final = 128

_GROUPS: Final = 8
_HEX: Final = "0123456789abcdefABCDEF"


class AddrError(ValueError):
    """The text is Go's, without any prefix."""


@dataclass(frozen=True, slots=True)
class Addr:
    """An address as a number of 32 or 128 bits, for IPv6 with an optional zone."""

    value: int
    bits: int
    zone: str = ""

    @property
    def is_v4(self) -> bool:
        """Return whether it is an IPv4 address; one mapped into IPv6 is none."""
        return self.bits == V4_BITS

    @property
    def is_v4_mapped(self) -> bool:
        """Return whether it is an IPv4 address in IPv6: `::ffff:1.2.3.4`."""
        return self.bits == V6_BITS and self.value >> 32 == 0xFFFF

    def unmapped(self) -> Addr:
        """Return the IPv4 address that is mapped into IPv6; any other address itself."""
        return Addr(self.value & 0xFFFFFFFF, V4_BITS) if self.is_v4_mapped else self

    @property
    def is_unspecified(self) -> bool:
        """Return whether it is `0.0.0.0` or `::`."""
        return self.value == 0

    @property
    def is_loopback(self) -> bool:
        """Return whether it is in `127.0.0.0/8`, or `::1`."""
        return self.value >> 24 == 127 if self.is_v4 else self.value == 1

    @property
    def is_multicast(self) -> bool:
        """Return whether it is in `224.0.0.0/4` or `ff00::/8`."""
        return self.value >> 28 == 0xE if self.is_v4 else self.value >> 120 == 0xFF

    @property
    def is_link_local_multicast(self) -> bool:
        """Return whether it is in `224.0.0.0/24`, or in `ff02::/16` whatever the flags."""
        if self.is_v4:
            return self.value >> 8 == 0xE00000
        return (self.value >> 112) & 0xFF0F == 0xFF02

    @property
    def is_link_local_unicast(self) -> bool:
        """Return whether it is in `169.254.0.0/16` or `fe80::/10`."""
        if self.is_v4:
            return self.value >> 16 == 0xA9FE
        return self.value >> 118 == 0xFE80 >> 6

    @property
    def is_global_unicast(self) -> bool:
        """Private addresses count as global; the IPv4 broadcast address does not."""
        if self.is_v4 and self.value == 0xFFFFFFFF:
            return False
        return not (
            self.is_unspecified
            or self.is_loopback
            or self.is_multicast
            or self.is_link_local_unicast
        )

    def __str__(self) -> str:
        if self.is_v4:
            return _dotted(self.value)
        zone = f"%{self.zone}" if self.zone else ""
        if self.is_v4_mapped:
            return f"::ffff:{_dotted(self.value & 0xFFFFFFFF)}{zone}"
        return _colon_text(self.value) + zone


@dataclass(frozen=True, slots=True)
class Prefix:
    """An address and how many of its leading bits count; the others may be set."""

    addr: Addr
    length: int

    def masked(self) -> Prefix:
        """Return the prefix with all bits behind its length zero."""
        hidden = self.addr.bits - self.length
        return Prefix(Addr(self.addr.value >> hidden << hidden, self.addr.bits), self.length)

    def contains(self, addr: Addr) -> bool:
        """Is the address of the same family, without a zone, and equal in the first `length`
        bits?"""
        if addr.bits != self.addr.bits or addr.zone:
            return False
        hidden = self.addr.bits - self.length
        return addr.value >> hidden == self.addr.value >> hidden

    def covers(self, other: Prefix) -> bool:
        """Return whether all of `other` lies within."""
        return self.length <= other.length and self.contains(other.addr)

    def __str__(self) -> str:
        return f"{self.addr}/{self.length}"


def parse_addr(text: str) -> Addr:
    """Parse an address, as `netip.ParseAddr`."""
    for char in text:
        if char == ".":
            return Addr(_parse_v4(text, text), V4_BITS)
        if char == ":":
            return _parse_v6(text)
        if char == "%":
            raise _error(text, "missing IPv6 address")
    raise _error(text, "unable to parse IP")


def parse_prefix(text: str) -> Prefix:
    """Parse a prefix, as `netip.ParsePrefix`."""
    address, slash, length = text.rpartition("/")
    if not slash:
        raise _prefix_error(text, "no '/'")
    try:
        addr = parse_addr(address)
    except AddrError as error:
        raise _prefix_error(text, str(error)) from None
    if addr.zone:
        raise _prefix_error(text, "IPv6 zones cannot be present in a prefix")
    digits = length.isascii() and length.isdigit()
    if not digits or (len(length) > 1 and length[0] == "0") or _beyond_int64(length):
        raise _prefix_error(text, f"bad bits after slash: {go_quote(length)}")
    if int(length) > addr.bits:
        raise _prefix_error(text, "prefix length out of range")
    return Prefix(addr, int(length))


def _beyond_int64(digits: str) -> bool:
    return len(digits) > 19 or int(digits) >= 1 << 63


def _error(text: str, message: str, rest: str = "") -> AddrError:
    where = f" (at {go_quote(rest)})" if rest else ""
    return AddrError(f"ParseAddr({go_quote(text)}): {message}{where}")


def _prefix_error(text: str, message: str) -> AddrError:
    return AddrError(f"netip.ParsePrefix({go_quote(text)}): {message}")


def _parse_v4(text: str, part: str) -> int:
    """Return the value of `part`, which is all of `text` or its end after an IPv6 beginning."""
    fields: list[int] = []
    digits = ""
    for i, char in enumerate(part):
        if "0" <= char <= "9":
            if digits == "0":
                raise _error(text, "IPv4 field has octet with leading zero")
            digits += char
            if int(digits) > 255:
                raise _error(text, "IPv4 field has value >255")
        elif char == ".":
            if not digits or i == len(part) - 1:
                raise _error(text, "IPv4 field must have at least one digit", part[i:])
            if len(fields) == 3:
                raise _error(text, "IPv4 address too long")
            fields.append(int(digits))
            digits = ""
        else:
            raise _error(text, "unexpected character", part[i:])
    if len(fields) < 3:
        raise _error(text, "IPv4 address too short")
    a, b, c = fields
    return a << 24 | b << 16 | c << 8 | int(digits)


def _parse_v6(text: str) -> Addr:
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        raise _error(text, "zone must be a non-empty string")
    gap = -1  # the number of groups before `::`
    if rest.startswith("::"):
        gap, rest = 0, rest[2:]
        if not rest:
            return Addr(0, V6_BITS, zone)
    groups, gap, rest = _parse_groups(text, rest, gap)
    if rest:
        raise _error(text, "trailing garbage after address", rest)
    if len(groups) < _GROUPS:
        if gap < 0:
            raise _error(text, "address string too short")
        groups[gap:gap] = [0] * (_GROUPS - len(groups))
    elif gap >= 0:
        raise _error(text, "the :: must expand to at least one field of zeros")
    value = 0
    for group in groups:
        value = value << 16 | group
    return Addr(value, V6_BITS, zone)


def _parse_groups(text: str, rest: str, gap: int) -> tuple[list[int], int, str]:
    """Return up to eight groups, where `::` was, and what is left of the text."""
    groups: list[int] = []
    while len(groups) < _GROUPS:
        width = _group_width(text, rest)
        if rest[width : width + 1] == ".":
            if gap < 0 and len(groups) != 6:
                message = "embedded IPv4 address must replace the final 2 fields of the address"
                raise _error(text, message, rest)
            if len(groups) > 6:
                message = "too many hex fields to fit an embedded IPv4 at the end of the address"
                raise _error(text, message, rest)
            tail = _parse_v4(text, rest)
            return [*groups, tail >> 16, tail & 0xFFFF], gap, ""
        groups.append(int(rest[:width], 16))
        rest = rest[width:]
        if not rest:
            break
        if rest[0] != ":":
            raise _error(text, "unexpected character, want colon", rest)
        if len(rest) == 1:
            raise _error(text, "colon must be followed by more characters", rest)
        rest = rest[1:]
        if rest[0] == ":":
            if gap >= 0:
                raise _error(text, "multiple :: in address", rest)
            gap, rest = len(groups), rest[1:]
            if not rest:
                break
    return groups, gap, rest


def _group_width(text: str, rest: str) -> int:
    width = 0
    while width < len(rest) and rest[width] in _HEX:
        if width > 3:
            raise _error(text, "each group must have 4 or less digits", rest)
        width += 1
    if width == 0:
        message = "each colon-separated field must have at least one digit"
        raise _error(text, message, rest)
    return width


def _dotted(value: int) -> str:
    return ".".join(str(value >> shift & 0xFF) for shift in (24, 16, 8, 0))


def _colon_text(value: int) -> str:
    """RFC 5952: the first longest run of two or more zero groups becomes `::`."""
    groups = [value >> shift & 0xFFFF for shift in range(112, -16, -16)]
    start, length = _longest_zero_run(groups)
    if length < 2:
        return ":".join(f"{group:x}" for group in groups)
    head = ":".join(f"{group:x}" for group in groups[:start])
    tail = ":".join(f"{group:x}" for group in groups[start + length :])
    return f"{head}::{tail}"


def _longest_zero_run(groups: list[int]) -> tuple[int, int]:
    best, start = (0, 0), 0
    for i, group in enumerate([*groups, 1]):
        if group:
            if i - start > best[1]:
                best = (start, i - start)
            start = i + 1
    return best
