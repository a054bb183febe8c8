"""CEL values as Python objects.

Most values *are* Python values, so that a request is evaluated without converting it:

    null None · bool bool · int int · double float · string str · bytes bytes
    list list · map dict · uint Uint · timestamp Timestamp · duration Duration
    type types.Type · optional Optional · abstract types: subclasses of Opaque

Python's own rules differ from CEL's (True == 1, negative indices, floor division), so code that
handles values goes by `value.__class__`, never by duck typing. A map is a `dict`; where one literal
has keys that Python would merge and CEL would not (1 and true, 1 and 1.0) it is a `MixedMap` from
`maps`. What operators do is in `equality`, `arithmetic` and `container_access`. Other rooms import
from `celadon.cel` or `celadon.cel.extend`.
"""

from __future__ import annotations

from typing import TypeAlias

Value: TypeAlias = object
"""A value of the language. Any class may be one (libraries and messages bring their own), so code
asks for `value.__class__` before it does anything with it."""
