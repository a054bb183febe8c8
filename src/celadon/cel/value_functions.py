"""The door to what values can do: add, compare, parse, print; and lists that carry a schema.

For authors of function libraries; the classes of values are behind `celadon.cel.extend`.
"""

from celadon.cel.values import netaddr, text
from celadon.cel.values.arithmetic import add
from celadon.cel.values.container_access import UNPAID_WORK, UnpaidWork, paid_again
from celadon.cel.values.conversions import duration_to_string, notation
from celadon.cel.values.equality import compare, equal, is_comparable
from celadon.cel.values.runtime_types import display, go_name
from celadon.cel.values.text import Remembered
from celadon.cel.values.timestamps import (
    civil_from_days,
    format_timestamp,
    go_duration,
    parse_duration,
    parse_timestamp,
)
from celadon.cel.values.typed_lists import LIST_CLASSES, MapList, SetList, shown_size

__all__ = [
    "LIST_CLASSES",
    "UNPAID_WORK",
    "MapList",
    "Remembered",
    "SetList",
    "UnpaidWork",
    "add",
    "civil_from_days",
    "compare",
    "display",
    "duration_to_string",
    "equal",
    "format_timestamp",
    "go_duration",
    "go_name",
    "is_comparable",
    "netaddr",
    "notation",
    "paid_again",
    "parse_duration",
    "parse_timestamp",
    "shown_size",
    "text",
]
