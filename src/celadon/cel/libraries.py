"""The door to the function libraries of the language: a module each, with `LIBRARY` or
`library(version)` (and `bindings(version)` in `comprehensions`); and how conversions to text are
written inline.

`celadon.cel.extend` is the door for who writes a library of their own.
"""

from celadon.cel.codegen import inline_functions as text_forms
from celadon.cel.library import (
    comprehensions,
    encoders,
    formatting,
    lists,
    math,
    network,
    optionals,
    regex,
    sets,
    strings,
)
from celadon.cel.library import standard as standard_library

__all__ = [
    "comprehensions",
    "encoders",
    "formatting",
    "lists",
    "math",
    "network",
    "optionals",
    "regex",
    "sets",
    "standard_library",
    "strings",
    "text_forms",
]
