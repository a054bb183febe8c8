"""Paths into objects, and the errors that validation reports about the fields they name.

A rendered error is `field: body`, the body `type[: value][: detail]`. As k8s.io/apimachinery
`pkg/util/validation/field`. Read `FieldPath`, then `FieldError` with its constructors (one per kind
of error), then `aggregate`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from celadon.cel.value_functions import text
from celadon.kube.go.go_text import json_text, quote


@dataclass(frozen=True, slots=True)
class FieldPath:
    """`spec.containers[0].env[NAME]`. The empty path prints `<nil>`, as Go's nil path does."""

    text: str = ""

    def child(self, *names: str) -> FieldPath:
        return FieldPath(".".join((self.text, *names) if self.text else names))

    def index(self, position: int) -> FieldPath:
        return FieldPath(f"{self.text}[{position}]")

    def key(self, key: str) -> FieldPath:
        return FieldPath(f"{self.text}[{key}]")

    def __str__(self) -> str:
        return self.text or "<nil>"


ROOT: Final = FieldPath()


class ErrorType(enum.Enum):
    """The kinds of field errors; the value is what `causes[].reason` carries."""

    NOT_FOUND = "FieldValueNotFound"
    REQUIRED = "FieldValueRequired"
    DUPLICATE = "FieldValueDuplicate"
    INVALID = "FieldValueInvalid"
    NOT_SUPPORTED = "FieldValueNotSupported"
    FORBIDDEN = "FieldValueForbidden"
    TOO_LONG = "FieldValueTooLong"
    TOO_SHORT = "FieldValueTooShort"
    TOO_MANY = "FieldValueTooMany"
    TOO_FEW = "FieldValueTooFew"
    TYPE_INVALID = "FieldValueTypeInvalid"
    INTERNAL = "InternalError"


_PREFIXES: Final = {
    ErrorType.NOT_FOUND: "Not found",
    ErrorType.REQUIRED: "Required value",
    ErrorType.DUPLICATE: "Duplicate value",
    ErrorType.INVALID: "Invalid value",
    ErrorType.NOT_SUPPORTED: "Unsupported value",
    ErrorType.FORBIDDEN: "Forbidden",
    ErrorType.TOO_LONG: "Too long",
    ErrorType.TOO_SHORT: "Too short",
    ErrorType.TOO_MANY: "Too many",
    ErrorType.TOO_FEW: "Too few",
    ErrorType.TYPE_INVALID: "Invalid value",
    ErrorType.INTERNAL: "Internal error",
}
_VALUELESS: Final = frozenset(
    {
        ErrorType.REQUIRED,
        ErrorType.FORBIDDEN,
        ErrorType.TOO_LONG,
        ErrorType.TOO_SHORT,
        ErrorType.INTERNAL,
    }
)


class NamedText(str):
    """A string whose Go type has a name of its own (an enum, a UID): printed as JSON, not `%q`."""

    __slots__ = ()


class OmittedValue:
    """The class of `OMITTED`, the bad value that is not printed."""

    __slots__ = ()


OMITTED: Final = OmittedValue()


def value_text(value: object) -> str:
    """A bad value as an error prints it. None is a nil list or pointer: `null`."""
    if value.__class__ is str:
        return quote(str(value))
    if value.__class__ is bool:
        return "true" if value else "false"
    if isinstance(value, float):
        return text.go_float(value)
    return json_text(value)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One complaint about one field. Build it with the functions below."""

    type: ErrorType
    field: str
    value: object = OMITTED
    detail: str = ""

    @property
    def body(self) -> str:
        """The text without the field, as in `causes[].message`."""
        body = _PREFIXES[self.type]
        if self.type not in _VALUELESS and not isinstance(self.value, OmittedValue):
            body = f"{body}: {value_text(self.value)}"
        return f"{body}: {self.detail}" if self.detail else body

    def __str__(self) -> str:
        return f"{self.field}: {self.body}"


def required(path: FieldPath, detail: str = "") -> FieldError:
    return FieldError(ErrorType.REQUIRED, str(path), OMITTED, detail)


def forbidden(path: FieldPath, detail: str) -> FieldError:
    return FieldError(ErrorType.FORBIDDEN, str(path), OMITTED, detail)


def invalid(path: FieldPath, value: object, detail: str) -> FieldError:
    return FieldError(ErrorType.INVALID, str(path), value, detail)


def type_invalid(path: FieldPath, value: object, detail: str) -> FieldError:
    return FieldError(ErrorType.TYPE_INVALID, str(path), value, detail)


def not_supported(path: FieldPath, value: object, supported: Iterable[str]) -> FieldError:
    """`supported` in the order it is to be printed; none at all leaves the detail out."""
    listed = ", ".join(quote(choice) for choice in supported)
    detail = f"supported values: {listed}" if listed else ""
    return FieldError(ErrorType.NOT_SUPPORTED, str(path), value, detail)


def duplicate(path: FieldPath, value: object) -> FieldError:
    return FieldError(ErrorType.DUPLICATE, str(path), value)


def not_found(path: FieldPath, value: object) -> FieldError:
    return FieldError(ErrorType.NOT_FOUND, str(path), value)


def too_long(path: FieldPath, limit: int) -> FieldError:
    return FieldError(ErrorType.TOO_LONG, str(path), OMITTED, f"may not be more than {limit} bytes")


def too_short(path: FieldPath, limit: int) -> FieldError:
    return FieldError(
        ErrorType.TOO_SHORT, str(path), OMITTED, f"must be at least {limit} characters"
    )


def too_many(path: FieldPath, count: int, limit: int) -> FieldError:
    return FieldError(ErrorType.TOO_MANY, str(path), count, f"must have at most {_items(limit)}")


def too_few(path: FieldPath, count: int, limit: int) -> FieldError:
    return FieldError(ErrorType.TOO_FEW, str(path), count, f"must have at least {_items(limit)}")


def internal(path: FieldPath, detail: str) -> FieldError:
    return FieldError(ErrorType.INTERNAL, str(path), OMITTED, detail)


def _items(count: int) -> str:
    return f"{count} item" if count == 1 else f"{count} items"


def aggregate(errors: Iterable[FieldError]) -> str:
    """All errors as one text: repeated ones once, a single one bare, several in brackets."""
    texts = list(dict.fromkeys(map(str, errors)))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
