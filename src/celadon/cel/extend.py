"""The door for authors of function libraries: declarations, types, values, cost rules.

A library is a constant of type `Library`; see `declarations` for how its functions are run and
`cost_rules` for how they are charged. Nothing registers itself: an environment is given the
libraries it shall have.
"""

from celadon.cel import cost_rules, re2, types, validators
from celadon.cel.cost_rules import CallEstimate, CostRule, Range, Sized
from celadon.cel.declarations import Function, Impl, Library, ObjectType, Overload, Variable
from celadon.cel.errors import EvaluationError, no_such_overload
from celadon.cel.expansion import Macro
from celadon.cel.library import (
    bindings,
    comprehensions,
    encoders,
    lists,
    math,
    network,
    optionals,
    regex,
    sets,
    standard,
    standard_costs,
    strings,
)
from celadon.cel.syntax import Literal
from celadon.cel.validators import Validator
from celadon.cel.values import netaddr, sizes, text
from celadon.cel.values.arithmetic import add
from celadon.cel.values.conversions import duration_to_string
from celadon.cel.values.equality import compare, equal, is_comparable
from celadon.cel.values.numbers import Uint
from celadon.cel.values.opaque import Opaque
from celadon.cel.values.optionals import NONE, Optional
from celadon.cel.values.timestamps import (
    Duration,
    Timestamp,
    format_timestamp,
    parse_duration,
    parse_timestamp,
)
from celadon.cel.values.typed_lists import MapList, SetList

__all__ = [
    "NONE",
    "CallEstimate",
    "CostRule",
    "Duration",
    "EvaluationError",
    "Function",
    "Impl",
    "Library",
    "Literal",
    "Macro",
    "MapList",
    "ObjectType",
    "Opaque",
    "Optional",
    "Overload",
    "Range",
    "SetList",
    "Sized",
    "Timestamp",
    "Uint",
    "Validator",
    "Variable",
    "add",
    "bindings",
    "compare",
    "comprehensions",
    "cost_rules",
    "duration_to_string",
    "encoders",
    "equal",
    "format_timestamp",
    "is_comparable",
    "lists",
    "math",
    "netaddr",
    "network",
    "no_such_overload",
    "optionals",
    "parse_duration",
    "parse_timestamp",
    "re2",
    "regex",
    "sets",
    "sizes",
    "standard",
    "standard_costs",
    "strings",
    "text",
    "types",
    "validators",
]
