"""The door to the function libraries of the language: a module each, with `LIBRARY` or
`library(version)`.

`celadon.cel.extend` is the door for who writes a library of their own.
"""

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
]
