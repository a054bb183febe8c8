"""The door to what values can do: add, compare, parse, print; and lists that carry a schema.

For authors of function libraries; the classes of values are behind `celadon.cel.extend`.
"""

from celadon.cel.values import netaddr, text, value_sizes
from celadon.cel.values.conversions import duration_to_string
from celadon.cel.values.exchange.value_notation import notation
from celadon.cel.values.operations.arithmetic import add
from celadon.cel.values.operations.equality import compare, equal, is_comparable
from celadon.cel.values.operations.typed_lists import LIST_CLASSES, MapList, SetList
from celadon.cel.values.remembered_texts import Remembered
from celadon.cel.values.times.timestamps import (
    civil_from_days,
    format_timestamp,
    go_duration,
    parse_duration,
    parse_timestamp,
)
from celadon.cel.values.value_display import display

__all__ = [
    "LIST_CLASSES",
    "MapList",
    "Remembered",
    "SetList",
    "add",
    "civil_from_days",
    "compare",
    "display",
    "duration_to_string",
    "equal",
    "format_timestamp",
    "go_duration",
    "is_comparable",
    "netaddr",
    "notation",
    "parse_duration",
    "parse_timestamp",
    "text",
    "value_sizes",
]
