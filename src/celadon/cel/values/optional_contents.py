"""Optional values that pass through an attribute.

Where cel-go resolves an attribute whose value is an optional (a name, or a branch of a conditional,
which `optMap` and `optFlatMap` are made of), it takes out the *Go* value and makes an optional of
what that is as a CEL value (cel-go `interpreter/attributes.go`, `applyQualifiers`). Most values
come back as they were. An optional inside comes back as its content, a type as its name, and of an
abstract value nothing can be made: the optional then holds an error, which is the result where
somebody takes it out. Of that error nothing can be made either, if the optional passes through one
more attribute.
"""

from __future__ import annotations

from typing import Any

from celadon.cel.errors import EvaluationError, no_such_overload
from celadon.cel.types import Type
from celadon.cel.values.opaque import Opaque
from celadon.cel.values.optional_values import NONE, Optional
from celadon.cel.values.times.timestamps import Duration, Timestamp

#: Contents that come back as they were, at a glance.
_SETTLED = frozenset({str, int, bool, float, type(None), list, dict, bytes, Timestamp, Duration})


_NO_VALUE = "unsupported conversion to ref.Val: "
"""How the text begins that says what Go value is none of CEL: its class, and what it prints."""


def reopened(value: Any) -> Any:
    """The value of an attribute, given what it would be if nothing happened to optionals."""
    if value.__class__ is not Optional or value is NONE or value.value.__class__ in _SETTLED:
        return value
    return Optional(_again(value.value))


def _again(content: Any) -> Any:
    while content.__class__ is Optional:
        content = None if content is NONE else content.value
    if content.__class__ is Type:
        return content.name
    if isinstance(content, EvaluationError):
        return EvaluationError(f"{_NO_VALUE}(*errors.errorString){content.message}")
    return content.reopened() if isinstance(content, Opaque) else content


def settled(content: Any) -> Any:
    """The content of an optional, for the plain variant: gives up where `reopened` would change
    it."""
    if content.__class__ not in _SETTLED and _again(content) is not content:
        raise no_such_overload()
    return content


def settled_optional(value: Any) -> Any:
    """The value of an attribute, for the plain variant, likewise."""
    if value.__class__ is Optional:
        settled(value.value)
    return value


def go_text(value: Any) -> str:
    """The Go value inside as a string: of an optional that in its content, of a type its name.
    Raises EvaluationError if it is none."""
    content = _again(value)
    if content.__class__ is not str:
        raise no_such_overload()
    return content


def go_integer(value: Any) -> int:
    """The Go value inside as an int64, likewise."""
    content = _again(value)
    if content.__class__ is not int:
        raise no_such_overload()
    return content
