"""The door for authors of function libraries: declarations, types, values, cost rules.

A library is a constant of type `Library`; see `declarations` for how its functions are run and
`cost_rules` for how they are charged. Nothing registers itself: an environment is given the
libraries it shall have. What values can do is behind `celadon.cel.value_functions`, the libraries
of the language behind `celadon.cel.libraries`.
"""

from celadon.cel import cost as cost_rules
from celadon.cel import re2, types
from celadon.cel import size_growth as growth
from celadon.cel.checking import validators
from celadon.cel.cost import CallEstimate, CostRule, Range, Sized
from celadon.cel.declarations import (
    Function,
    Impl,
    Library,
    ObjectType,
    Overload,
    Validator,
    Variable,
)
from celadon.cel.errors import EvaluationError, no_such_overload
from celadon.cel.parsing.macros import Macro
from celadon.cel.size_growth import Argument, Growth, Polynomial
from celadon.cel.syntax import Literal
from celadon.cel.values.runtime_types import NONE, Opaque, Optional, Record
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Duration, Timestamp

__all__ = [
    "NONE",
    "Argument",
    "CallEstimate",
    "CostRule",
    "Duration",
    "EvaluationError",
    "Function",
    "Growth",
    "Impl",
    "Library",
    "Literal",
    "Macro",
    "ObjectType",
    "Opaque",
    "Optional",
    "Overload",
    "Polynomial",
    "Range",
    "Record",
    "Sized",
    "Timestamp",
    "Uint",
    "Validator",
    "Variable",
    "cost_rules",
    "growth",
    "no_such_overload",
    "re2",
    "types",
    "validators",
]
