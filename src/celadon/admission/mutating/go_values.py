"""Values that JSON does not have, as Go prints what upstream takes for them.

An apply configuration with one of them fits no schema; the text that says so shows the value. What
Go prints of pointers is an address, which differs from run to run: here it is always the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.cel.extend import Duration, Opaque, Timestamp, Uint
from celadon.cel.value_functions import civil_from_days, display, netaddr
from celadon.kube.apply import ForeignValue
from celadon.kube.go import quote
from celadon.kube.library import CIDR, IP

NULL: Final = ForeignValue("structpb.NullValue", "NULL_VALUE", "0")
"""A null of an expression; one that is in the data of a request is JSON's."""

_ADDRESS: Final = "0xc000000000"
_SECONDS_PER_DAY: Final = 86_400
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_POINTERS: Final = {
    "kubernetes.NamedFormat": "*apiservercel.Format",
    "kubernetes.Quantity": "*resource.Quantity",
    "kubernetes.URL": "*url.URL",
}


def foreign(value: object) -> ForeignValue:
    """For a value that is neither JSON's nor an object of a patch."""
    match value:
        case None:
            return NULL
        case Uint():
            return ForeignValue("uint64", str(int(value)), hex(value), value)
        case bytes():
            numbers = ", ".join(map(hex, value))
            return ForeignValue("[]uint8", display(value), f"[]byte{{{numbers}}}", value)
        case Duration():
            return ForeignValue("time.Duration", display(value), str(value.nanoseconds))
        case Timestamp():
            return ForeignValue("time.Time", display(value), _written_time(value))
        case IP():
            return ForeignValue("netip.Addr", value.display(), _written_address(value.addr))
        case CIDR():
            prefix = value.prefix
            written = (
                f"netip.Prefix{{ip:{_written_address(prefix.addr)}, "
                f"bitsPlusOne:{hex(prefix.length + 1)}}}"
            )
            return ForeignValue("netip.Prefix", value.display(), written)
        case Opaque():
            type_ = _POINTERS.get(value.cel_type.name, value.go_name)
            return ForeignValue(type_, value.display(), f"({type_})({_ADDRESS})")
        case list():
            return ForeignValue("[]ref.Val", _plain(value), f"[]ref.Val{{{_items(value)}}}")
    entries = value if isinstance(value, Mapping) else {}
    members = ", ".join(f"{_go(key)}:{_go(one)}" for key, one in entries.items())
    return ForeignValue("map[ref.Val]ref.Val", _plain(value), f"map[ref.Val]ref.Val{{{members}}}")


def _items(values: list[Any]) -> str:
    return ", ".join(map(_go, values))


def _go(value: object) -> str:
    """A value of the language inside another, as `%#v` prints it."""
    return quote(value) if isinstance(value, str) else _plain(value)


def _plain(value: object) -> str:
    """The same as `%v` prints it."""
    if isinstance(value, list):
        return f"[{' '.join(map(_plain, value))}]"
    if isinstance(value, Mapping):
        pairs = (f"{_plain(key)}:{_plain(one)}" for key, one in value.items())
        return f"map[{' '.join(sorted(pairs))}]"
    return display(value)


def _written_time(time: Timestamp) -> str:
    days, of_day = divmod(time.seconds + time.offset_minutes * 60, _SECONDS_PER_DAY)
    year, month, day = civil_from_days(days)
    hour, rest = divmod(of_day, 3600)
    minute, second = divmod(rest, 60)
    zone = "time.UTC" if time.offset_minutes == 0 else 'time.Location("")'
    date = f"{year}, time.{_MONTHS[month - 1]}, {day}"
    return f"time.Date({date}, {hour}, {minute}, {second}, {time.nanos}, {zone})"


def _written_address(address: netaddr.Addr) -> str:
    number = address.value
    if address.is_v4:
        number |= 0xFFFF << 32
    high, low = number >> 64, number & (1 << 64) - 1
    detail = f"unique.Handle[net/netip.addrDetail]{{value:(*netip.addrDetail)({_ADDRESS})}}"
    return f"netip.Addr{{addr:netip.uint128{{hi:{hex(high)}, lo:{hex(low)}}}, z:{detail}}}"
