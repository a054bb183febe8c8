"""The door to the function libraries of the language: a module each, with `LIBRARY` or
`library(version)`; their costs, and how conversions to text are written inline.

`celadon.cel.extend` is the door for who writes a library of their own.
"""

from celadon.cel.codegen.inline_forms import text_forms
from celadon.cel.library import math, network
from celadon.cel.library.containers import bindings, comprehensions, lists, optionals, sets
from celadon.cel.library.standard import standard_costs, standard_library
from celadon.cel.library.texts import encoders, regex, strings

__all__ = [
    "bindings",
    "comprehensions",
    "encoders",
    "lists",
    "math",
    "network",
    "optionals",
    "regex",
    "sets",
    "standard_costs",
    "standard_library",
    "strings",
    "text_forms",
]
