"""The door for authors of function libraries: declarations, types, values, cost rules.

A library is a constant of type `Library`; see `declarations` for how its functions are run and
`cost_rules` for how they are charged. Nothing registers itself: an environment is given the
libraries it shall have.
"""

from celadon.cel import cost_rules, re2, types, validators
from celadon.cel.cost_rules import CallEstimate, CostRule, Range, Sized
from celadon.cel.declarations import Function, Library, ObjectType, Overload, Variable
from celadon.cel.errors import EvaluationError, no_such_overload
from celadon.cel.expansion import Macro
from celadon.cel.library import (
    bindings,
    comprehensions,
    encoders,
    lists,
    math,
    optionals,
    regex,
    sets,
    standard,
    strings,
)
from celadon.cel.validators import Validator
from celadon.cel.values import sizes, text
from celadon.cel.values.conversions import duration_to_string
from celadon.cel.values.equality import equal
from celadon.cel.values.numbers import Uint
from celadon.cel.values.opaque import Opaque
from celadon.cel.values.optionals import NONE, Optional
from celadon.cel.values.timestamps import Duration, Timestamp, format_timestamp

__all__ = [
    "NONE",
    "CallEstimate",
    "CostRule",
    "Duration",
    "EvaluationError",
    "Function",
    "Library",
    "Macro",
    "ObjectType",
    "Opaque",
    "Optional",
    "Overload",
    "Range",
    "Sized",
    "Timestamp",
    "Uint",
    "Validator",
    "Variable",
    "bindings",
    "comprehensions",
    "cost_rules",
    "duration_to_string",
    "encoders",
    "equal",
    "format_timestamp",
    "lists",
    "math",
    "no_such_overload",
    "optionals",
    "re2",
    "regex",
    "sets",
    "sizes",
    "standard",
    "strings",
    "text",
    "types",
    "validators",
]
