"""OpenAPI validation of custom resources, as k8s.io/kube-openapi `pkg/validation/validate`,
formats of strings included.

A node is checked by a row of validators in a fixed order (type, branches, string, format, number,
list, enum, object); each says what it finds. `matches` counts the checks that passed: of several
branches that all fail, the one with the most counts as the one that was meant.

Members are visited in the order of their names, since upstream's order is that of a Go map.

On update a subtree that is what it was before may stay invalid (ratcheting): its faults are dropped
if old and new are surely the same thing: members of objects by name, items of map lists by key.
"""

from __future__ import annotations

import functools
import math
import re
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from celadon.cel.extend import re2
from celadon.cel.value_functions import text
from celadon.kube import fieldpath, name_rules
from celadon.kube.crd.cel_values import Correlated, Unknown
from celadon.kube.fieldpath import ROOT, ErrorType, FieldError, FieldPath, SpelledStep
from celadon.kube.go import go_url as net_url
from celadon.kube.go.go_text import json_value, quote, shown_integer
from celadon.kube.go.go_time import DurationError, parse_duration
from celadon.kube.json_types import Json
from celadon.kube.library.format_and_regex import FORMATS as NAMED
from celadon.kube.quantity import MAX_INT64, MIN_INT64
from celadon.kube.releases import is_since
from celadon.kube.schemas.schema_packs import Choices, Schema, ValueLimits
from celadon.kube.validation import format_checks
from celadon.kube.well_known_values import TYPE_FIELDS
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field

# --- Formats of strings ------------------------------------------------------
#
# Formats of strings that custom resources are checked for, and durations as they are written.
#
# The formats that an API server knows in a CRD, as k8s.io/kube-openapi `pkg/validation/strfmt`.
# The dashes in a format's name do not count; a format that is not here checks nothing.

_HEX: Final = "[0-9a-f]"


def _pattern(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII | re.IGNORECASE)
    return lambda text: compiled.fullmatch(text) is not None


def _uuid(version: str, variant: str = _HEX) -> Callable[[str], bool]:
    last = f"{version}{_HEX}{{3}}-?{variant}{_HEX}{{3}}"
    return _pattern(f"{_HEX}{{8}}-?{_HEX}{{4}}-?{last}-?{_HEX}{{12}}")


def _named(name: str) -> Callable[[str], bool]:
    complaints = NAMED[name].complaints
    return lambda text: not complaints(text)


def _is_uri(text: str) -> bool:
    try:
        net_url.parse_request_uri(text)
    except net_url.URLError:
        return False
    return True


_MAC_DIGITS: Final = frozenset({12, 16, 40})
_BARE_MAC_SINCE: Final = "1.36"
"""The first release that is built with Go 1.26, whose `net.ParseMAC` needs no separators."""
_EMAIL: Final = late_pattern(
    r"(?:[^<>@\"]*<)?[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-]+)*+"
    r"@[^\s@<>,;:\"()\[\]\\]+>?"
)
_HOSTNAME: Final = (
    r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)"
    r"|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}"
    r"([a-zA-Z\p{L}]){2,63})$"
)
"""One label with a dash after its first character at most, or several and a last one of letters."""


@functools.cache
def _hostname() -> re2.Pattern:
    """Return the pattern of host names. It is compiled when needed, since that takes long."""
    return re2.compile(_HOSTNAME)


def _is_email(text: str) -> bool:
    match = _EMAIL.fullmatch(text.strip(" \t"))
    return match is not None and text.count("<") == text.count(">")


def _is_hostname(text: str) -> bool:
    if not _hostname().search(text) or len(text.encode()) > 255:
        return False
    return all(len(label.encode()) <= 63 for label in text.split("."))


def _is_ip(text: str, mark: str) -> bool:
    return mark in text and format_checks.address(text) is not None


def _is_cidr(text: str) -> bool:
    return format_checks.network(text) is not None


def _is_mac(text: str) -> bool:
    """6, 8 or 20 bytes: in pairs of digits, in fours, or without any separator."""
    for separator, digits in ((":", 2), ("-", 2), (".", 4)):
        if separator in text:
            parts = text.split(separator)
            return len(parts) * digits in _MAC_DIGITS and all(
                re.fullmatch(f"[0-9A-Fa-f]{{{digits}}}", part) for part in parts
            )
    is_bare = len(text) in _MAC_DIGITS and re.fullmatch("[0-9A-Fa-f]+", text) is not None
    return is_bare and is_since(_BARE_MAC_SINCE)


def _is_isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"[0-9]{9}[0-9X]", digits):
        return False
    numbers = [10 if digit == "X" else int(digit) for digit in digits]
    return sum((i + 1) * number for i, number in enumerate(numbers)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"[0-9]{13}", digits):
        return False
    return sum(int(digit) * (3 if i % 2 else 1) for i, digit in enumerate(digits)) % 10 == 0


_CARD: Final = late_pattern(
    "(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]"
    "|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}"
    r"|(?:2131|1800|35\d{3})\d{11}|6[27][0-9]{14})"
)


def _is_credit_card(text: str) -> bool:
    digits = re.sub("[^0-9]+", "", text)
    if not _CARD.fullmatch(digits):
        return False
    total = 0
    for i, digit in enumerate(reversed(digits)):
        number = int(digit) * (2 if i % 2 else 1)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


def is_duration(text: str) -> bool:
    """Return whether `parse_duration` takes it."""
    try:
        parse_duration(text)
    except DurationError:
        return False
    return True


_COLOR: Final = r"\s*([01]?[0-9]?[0-9]|2[0-4][0-9]|25[0-5])\s*"

FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "bsonobjectid": _pattern(f"{_HEX}{{24}}"),
    "uri": _is_uri,
    "email": _is_email,
    "hostname": _is_hostname,
    "ipv4": lambda text: _is_ip(text, "."),
    "ipv6": lambda text: _is_ip(text, ":"),
    "cidr": _is_cidr,
    "mac": _is_mac,
    "uuid": _uuid(_HEX),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4", "[89ab]"),
    "uuid5": _uuid("5", "[89ab]"),
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "creditcard": _is_credit_card,
    "ssn": _pattern(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "hexcolor": _pattern(f"#?({_HEX}{{3}}|{_HEX}{{6}})"),
    "rgbcolor": _pattern(rf"rgb\({_COLOR},{_COLOR},{_COLOR}\)"),
    "byte": _named("byte"),
    "password": lambda text: True,
    "date": _named("date"),
    "duration": is_duration,
    "datetime": _named("datetime"),
    "k8sshortname": lambda text: not name_rules.dns1123_label(text),
    "k8slongname": lambda text: not name_rules.dns1123_subdomain(text),
}

_SINCE_1_35: Final = frozenset({"k8sshortname", "k8slongname"})
"""They came in 1.34, and are checked where the release before knows them."""
_NUMBER_FORMATS: Final = {"integer": ("int32", "int64"), "number": ("float", "double")}


def known_format(name: str, type_: str) -> str:
    """Return the format as it is checked; empty for one that an API server ignores, as one that is
    not for the type. As `formats.go` in k8s.io/apiextensions-apiserver `pkg/apiserver/validation`.
    Before 1.36, nobody asked for the type, and numbers had no formats."""
    if type_ in ("", "string") or not is_since("1.36"):
        return name if is_of_texts(name) else ""
    return name if name in _NUMBER_FORMATS.get(type_, ()) else ""


def _checked_format(schema: Schema) -> str:
    return schema.format if schema.keeps_format else known_format(schema.format, schema.type)


def is_of_texts(name: str) -> bool:
    """Return whether `matches` knows a format."""
    plain = name.replace("-", "")
    return plain in FORMATS and (plain not in _SINCE_1_35 or is_since("1.35"))


def matches(name: str, text: str) -> bool:
    """Return whether a text has a known format."""
    return FORMATS[name.replace("-", "")](text)


# --- Openapi texts -----------------------------------------------------------
#
# What OpenAPI validation says: texts of k8s.io/kube-openapi `pkg/validation/errors`, and how an
# API server turns them into field errors.
#
# `name` is the path of a field in the body. Some faults are about nothing in particular, which
# prints as `<nil>`.


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit that does or does not belong to what is allowed."""

    value: float
    exclusive: bool


def additional(name: FieldPath, key: str) -> FieldPath:
    """Return the path of a member without a schema of its own. In the texts it has a dot before it
    even in the object itself; in the fields of errors it does not."""
    return member(name, key) if name.steps else FieldPath(SpelledStep(key, f".{key}"))


def member(name: FieldPath, key: str) -> FieldPath:
    """Return the path of a member. A name without letters is joined to the others by its dot."""
    return name.child(key or SpelledStep(key, "."))


def type_mismatch(name: FieldPath, expected: str, value: str) -> FieldError:
    """Return the error about a type. `expected` is one, several with commas, or a format; `value`
    is a type or the value."""
    detail = f"{name.text} in body must be of type {expected}: {quote(value)}"
    return fieldpath.type_invalid(_path(name), value, detail)


def required(name: FieldPath, key: str) -> FieldError:
    """Return the error about a member that `required` names and the object has not."""
    return fieldpath.required(_path(member(name, key)))


def not_in_enum(name: FieldPath, value: Json, choices: Choices) -> FieldError:
    """Return the error about a value that is none of the choices."""
    return FieldError(ErrorType.NOT_SUPPORTED, _path(name), json_value(value), choices.listed)


def too_long(name: FieldPath, limit: int) -> FieldError:
    """Return the error about a text of more than `maxLength` characters (upstream's text says
    bytes)."""
    return fieldpath.too_long(_path(name), limit, is_bare=True)


def too_short(name: FieldPath, value: str, limit: int) -> FieldError:
    """Return the error for a text of less than `minLength` characters."""
    return _invalid(name, value, f"{name.text} in body should be at least {limit} chars long")


def no_match(name: FieldPath, value: str, pattern: str) -> FieldError:
    """Return the error about a text in which `pattern` is not found."""
    return _invalid(name, value, f"{name.text} in body should match '{pattern}'")


def too_many_items(name: FieldPath, count: int, limit: int) -> FieldError:
    """Return the error for a list with more than `maxItems`, or an object with more than
    `maxProperties`."""
    return fieldpath.too_many(_path(name), count, limit)


def too_few_items(name: FieldPath, count: int, limit: int) -> FieldError:
    """Return the error for a list with less than `minItems`."""
    return _invalid(name, count, f"{name.text} in body should have at least {limit} items")


def too_few_properties(name: FieldPath, count: int, limit: int) -> FieldError:
    """Return the error for an object with less than `minProperties`."""
    return _invalid(name, count, f"{name.text} in body should have at least {limit} properties")


def above(name: FieldPath, value: float, bound: Bound) -> FieldError:
    """Return the error for a number over `maximum`."""
    word = "less than" if bound.exclusive else "less than or equal to"
    return _invalid(name, value, f"{name.text} in body should be {word} {_number(bound.value)}")


def below(name: FieldPath, value: float, bound: Bound) -> FieldError:
    """Return the error for a number under `minimum`."""
    word = "greater than" if bound.exclusive else "greater than or equal to"
    return _invalid(name, value, f"{name.text} in body should be {word} {_number(bound.value)}")


def not_multiple(name: FieldPath, value: float, factor: float) -> FieldError:
    """Return the error about a number that `multipleOf` does not divide."""
    return _invalid(name, value, f"{name.text} in body should be a multiple of {_number(factor)}")


def factor_not_positive(name: FieldPath, factor: float) -> FieldError:
    """Return the error about a `multipleOf` that became 0 when it was made an integer, as the value
    is."""
    detail = f"factor MultipleOf declared for {name.text} must be positive: {_number(factor)}"
    return _invalid(name, factor, detail)


def out_of_range(name: FieldPath, subject: str, type_: str, format_: str) -> FieldError:
    """Return the error about a number that the type cannot hold; no field is named. `subject` is
    `Checked` for the value, or which bound it is."""
    suffix = f"with format {format_}" if format_ else "(default format)"
    return _about_nothing(f"{subject} value must be of type {type_} {suffix} in {name.text}")


def none_of(name: FieldPath) -> FieldError:
    """No branch of `anyOf` holds."""
    return _about_nothing(f'"{name.text}" must validate at least one schema (anyOf)')


def not_exactly_one(name: FieldPath, matches: int) -> FieldError:
    """Return the error that `matches` branches of `oneOf` hold, and not one."""
    more = f"Found {matches} valid alternatives" if matches else "Found none valid"
    return _about_nothing(f'"{name.text}" must validate one and only one schema (oneOf). {more}')


def not_all(name: FieldPath, *, none: bool) -> FieldError:
    """Return the error that some branch of `allOf` does not hold, or none does."""
    more = ". None validated" if none else ""
    return _about_nothing(f'"{name.text}" must validate all the schemas (allOf){more}')


def forbidden_match(name: FieldPath) -> FieldError:
    """Return what `not` describes."""
    return _about_nothing(f'"{name.text}" must not validate the schema (not)')


def _invalid(name: FieldPath, value: Json, detail: str) -> FieldError:
    return fieldpath.invalid(_path(name), json_value(value), detail)


def _about_nothing(detail: str) -> FieldError:
    return fieldpath.invalid(ROOT, "", detail)


def _path(name: FieldPath) -> FieldPath:
    if name.steps and isinstance(name.steps[0], SpelledStep):
        first = str(name.steps[0])
        return FieldPath(first, *name.steps[1:]) if first else ROOT
    return name


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else text.go_float(value)


# --- Number validation -------------------------------------------------------
#
# Numbers of custom resources against their schema: ranges of formats, factors, bounds.
#
# As k8s.io/kube-openapi `pkg/validation/validate/values.go` and github.com/go-openapi/swag. A
# bound is compared in the kind of number that the value is: with an integer, fractions of a
# bound are cut off. A bound that the type itself cannot hold is an error of its own, and is
# compared as a double.

_MAX_JSON_INTEGER: Final = (1 << 53) - 1
"""A double beyond it does not say which integer it is."""
_EPSILON: Final = 1e-9
_MAX_INT32: Final = (1 << 31) - 1
_RANGES: Final = {"int32": (-_MAX_INT32 - 1, _MAX_INT32)}
_INT64: Final = (MIN_INT64, MAX_INT64)


def number_errors(name: FieldPath, value: int | float, schema: Schema) -> Iterator[FieldError]:
    """Yield what is wrong with a number, in upstream's order."""
    limits = schema.limits
    if not _is_in_range(value, schema):
        yield _out_of_range(name, "Checked", schema)
    if limits.multiple_of is not None:
        if not _is_in_range(limits.multiple_of, schema):
            yield _out_of_range(name, "MultipleOf", schema)
        yield from _factor_errors(name, *_alike(value, limits.multiple_of, schema))
    if limits.minimum is not None:
        if not _is_in_range(limits.minimum, schema):
            yield _out_of_range(name, "Minimum boundary", schema)
        number, least = _alike(value, limits.minimum, schema)
        bottom = Bound(least, limits.exclusive_minimum)
        if number < least or (bottom.exclusive and number == least):
            yield below(name, number, bottom)
    if limits.maximum is not None:
        if not _is_in_range(limits.maximum, schema):
            yield _out_of_range(name, "Maximum boundary", schema)
        number, most = _alike(value, limits.maximum, schema)
        top = Bound(most, limits.exclusive_maximum)
        if number > most or (top.exclusive and number == most):
            yield above(name, number, top)


def is_json_integer(value: float) -> bool:
    """Return whether a double stands for an integer: nearly, if it is a little above."""
    if not abs(value) <= _MAX_JSON_INTEGER:
        return False
    whole = math.trunc(value)
    above = abs(value - whole)
    return not above or (whole != 0 and above / (abs(value) + abs(whole)) < _EPSILON)


def _is_in_range(value: int | float, schema: Schema) -> bool:
    """Upstream prints the number and parses it as what the schema says that it is, since 1.36."""
    if not is_since("1.36"):
        return True
    format_ = _checked_format(schema)
    if schema.type == "integer":
        least, most = _RANGES.get(format_, _INT64)
        return (
            float(value).is_integer()
            and least <= (value if isinstance(value, int) else shown_integer(value)) <= most
        )
    return format_ != "float" or _fits_single(value)


def _fits_single(value: float) -> bool:
    try:
        struct.pack("<f", value)
    except OverflowError:
        return False
    return True


def _out_of_range(name: FieldPath, subject: str, schema: Schema) -> FieldError:
    format_ = known_format(schema.format, schema.type)
    return out_of_range(name, subject, schema.type, format_)


def _alike(value: int | float, bound: float, schema: Schema) -> tuple[float, float]:
    """Return both as integers if the value is one and the schema's type can hold the bound, else
    both as doubles."""
    if value.__class__ is not int or not _is_in_range(bound, schema):
        return float(value), float(bound)
    whole = int(bound)  # of what no int64 holds a processor (amd64) makes the least one
    return value, whole if MIN_INT64 <= whole <= MAX_INT64 else MIN_INT64


def _factor_errors(name: FieldPath, value: float, factor: float) -> Iterator[FieldError]:
    if factor <= 0:
        yield factor_not_positive(name, factor)
    elif not _is_multiple(value, factor):
        yield not_multiple(name, value, factor)


def _is_multiple(value: int | float, factor: int | float) -> bool:
    if isinstance(value, int):
        return value % factor == 0
    return is_json_integer(1 / factor * value if factor < 1 else value / factor)


_KINDS: Final = {bool: "boolean", str: "string", list: "array", dict: "object"}

#: No error takes less than so many characters of a refusal: ` x: Required value`.
_SHORTEST_ERROR: Final = 16
_MOST_ERRORS: Final = fieldpath.MOST_ERROR_TEXT // _SHORTEST_ERROR

_Told: TypeAlias = tuple[str, str, ErrorType]


@dataclass(slots=True)
class Result:
    """The errors of one value, and how many of several schemas it matches."""

    errors: list[FieldError] = field(default_factory=list)
    matches: int = 0
    _said: set[_Told] = field(default_factory=set, init=False)
    """What `_noted` errors say; all anew for each of thousands would be quadratic."""
    _noted: int = field(default=0, init=False)

    @property
    def is_full(self) -> bool:
        """Return whether there are more errors than a refusal shows: nobody looks for others."""
        return len(self.errors) >= _MOST_ERRORS

    def take(self, other: Result) -> None:
        """Add what another check found, errors and matches. What was said before is not said
        again."""
        if not self.errors:
            self.errors += other.errors
        elif other.errors:
            said_before = self._said_before()
            self.errors += [error for error in other.errors if _told(error) not in said_before]
        self.matches += other.matches

    def _said_before(self) -> set[_Told]:
        self._said.update(map(_told, self.errors[self._noted :]))
        self._noted = len(self.errors)
        return self._said


def _told(error: FieldError) -> _Told:
    return error.path.text, error.detail, error.type


def value_errors(value: Json, schema: Schema, before: Json | Unknown) -> list[FieldError]:
    """Return what is wrong with a whole object. `before` is the stored object of an update, else
    `Unknown`."""
    was = None if isinstance(before, Unknown) else Correlated(value, before, schema)
    return _ratcheted(ROOT, value, schema, was).errors


def _ratcheted(name: FieldPath, value: Json, schema: Schema, was: Correlated | None) -> Result:
    result = _check(name, value, schema, was)
    if result.errors and was is not None and was.is_same:
        return Result(matches=result.matches)
    return result


def _check(name: FieldPath, value: Json, schema: Schema, was: Correlated | None = None) -> Result:
    if value is None:
        null = _type(name, value, schema)
        null.take(_enum(name, value, schema))
        return null
    result = Result(matches=1)
    for check in _checks(value):
        result.take(check(name, value, schema))
        result.matches += 1
    if isinstance(value, list):
        result.take(_items(name, value, schema, was))
    result.take(_enum(name, value, schema))
    if isinstance(value, dict):
        result.take(_object(name, value, schema, was))
    return result


_Check = Callable[[FieldPath, Any, Schema], Result]


def _checks(value: Json) -> Iterable[_Check]:
    if isinstance(value, str):
        return _type, _branches, _string, _format
    if value.__class__ in (int, float):
        return _type, _branches, _numeric
    return _type, _branches


def _fault(error: FieldError) -> Result:
    return Result([error])


# --- type, enum, format -------------------------------------------------------------------------


def json_type(value: Json) -> str:
    """Return the JSON type of a value that is not null."""
    kind = value.__class__
    if kind is int:
        return "integer"
    return "number" if kind is float else _KINDS.get(kind, "object")


_SIZES: Final = {"integer": "int64", "number": "float64"}
"""The formats that Go's numbers have by themselves."""


def _type(name: FieldPath, value: Json, schema: Schema) -> Result:
    types = schema.types
    format_ = _checked_format(schema)
    if not types and not format_:
        return Result()
    if value is None:
        if types and not schema.nullable:
            return _fault(type_mismatch(name, ",".join(types), "null"))
        return Result(matches=1)
    result = json_type(value)
    integral = isinstance(value, float) and "integer" in types and is_json_integer(value)
    fits = result in types or integral or (result == "integer" and "number" in types)
    if format_ and result in ("string", "array"):
        if not {"number", "integer"}.intersection(types):
            return Result(matches=1)
    elif format_ and not fits and format_ != (sized := _SIZES.get(result, "")):
        return _fault(type_mismatch(name, format_, sized))
    if not fits:
        return _fault(type_mismatch(name, ",".join(types), result))
    return Result(matches=1)


def _enum(name: FieldPath, value: Json, schema: Schema) -> Result:
    choices = schema.enum
    if not choices or _is_choice(value, choices):
        return Result(matches=1)
    return _fault(not_in_enum(name, value, choices))


def _is_choice(value: Json, choices: Choices) -> bool:
    """Go converts the value to the choice's type first: a fraction is cut off, and an integer
    becomes the character that it numbers."""
    if choices.holds(value):
        return True
    if isinstance(value, float):
        return choices.holds_integer(math.trunc(value))
    return value.__class__ is int and choices.holds(_character(value))


def _character(number: int) -> str:
    is_one = 0 <= number <= sys.maxunicode and not 0xD800 <= number <= 0xDFFF
    return chr(number) if is_one else "\N{REPLACEMENT CHARACTER}"


def _format(name: FieldPath, value: str, schema: Schema) -> Result:
    format_ = _checked_format(schema)
    if is_of_texts(format_) and not matches(format_, value):
        return _fault(type_mismatch(name, format_, value))
    return Result(matches=1)


# --- strings and numbers ------------------------------------------------------------------------


def _string(name: FieldPath, value: str, schema: Schema) -> Result:
    limits = schema.limits
    if limits.max_length is not None and len(value) > limits.max_length:
        return _fault(too_long(name, limits.max_length))
    if limits.min_length is not None and len(value) < limits.min_length:
        return _fault(too_short(name, value, limits.min_length))
    if limits.pattern and not _found(limits.pattern, value):
        return _fault(no_match(name, value, limits.pattern))
    return Result(matches=1)


def _found(pattern: str, value: str) -> bool:
    try:
        return bool(re2.compile(pattern).search(value))
    except re2.RegexError:
        return False


def _numeric(name: FieldPath, value: int | float, schema: Schema) -> Result:
    return Result(list(number_errors(name, value, schema)), matches=1)


# --- lists and objects --------------------------------------------------------------------------


def _items(name: FieldPath, value: list[Json], schema: Schema, was: Correlated | None) -> Result:
    result = Result(matches=1)
    if schema.items is not None:
        for i, item in enumerate(value):
            below = None if was is None else was.item(i)
            result.take(_ratcheted(name.index(i), item, schema.items, below))
            if result.is_full:
                break
    limits, count = schema.limits, len(value)
    if limits.min_items is not None and count < limits.min_items:
        result.errors.append(too_few_items(name, count, limits.min_items))
    if limits.max_items is not None and count > limits.max_items:
        result.errors.append(too_many_items(name, count, limits.max_items))
    return result


def _object(
    name: FieldPath, value: dict[str, Json], schema: Schema, was: Correlated | None
) -> Result:
    result = Result(_count_errors(name, len(value), schema.limits), matches=1)
    if schema.additional_properties is not None:
        for key in sorted(value.keys() - schema.properties.keys()):
            place = additional(name, key)
            below = _member(name, was, key)
            result.take(_ratcheted(place, value[key], schema.additional_properties, below))
            if result.is_full:
                return result
    for key in sorted(schema.properties.keys() & value.keys()):
        below = _member(name, was, key)
        result.take(_ratcheted(member(name, key), value[key], schema.properties[key], below))
        if result.is_full:
            return result
    for key in schema.required:
        if key not in value:
            result.errors.append(required(name, key))
    return result


def _member(name: FieldPath, was: Correlated | None, key: str) -> Correlated | None:
    """Return what a member was before. The version that an object was stored in cannot be seen, so
    its type counts as new and is always judged."""
    if was is None or (not name.steps and key in TYPE_FIELDS):
        return None
    return was.member(key)


def _count_errors(name: FieldPath, count: int, limits: ValueLimits) -> list[FieldError]:
    result = []
    if limits.min_properties is not None and count < limits.min_properties:
        result.append(too_few_properties(name, count, limits.min_properties))
    if limits.max_properties is not None and count > limits.max_properties:
        result.append(too_many_items(name, count, limits.max_properties))
    return result


# --- branches -----------------------------------------------------------------------------------


def _branches(name: FieldPath, value: Json, schema: Schema) -> Result:
    """`anyOf`, `oneOf`, `allOf`, `not`; what they hold is never ratcheted."""
    result = Result(matches=1)
    if schema.any_of:
        _any_of(name, [_check(name, value, schema) for schema in schema.any_of], result)
    if schema.one_of:
        _one_of(name, [_check(name, value, schema) for schema in schema.one_of], result)
    if schema.all_of:
        tried = [_check(name, value, schema) for schema in schema.all_of]
        for item in tried:
            result.take(item)
        failed = sum(bool(result.errors) for result in tried)
        if failed:
            result.errors.append(not_all(name, none=failed == len(tried)))
    if schema.not_ is not None and not _check(name, value, schema.not_).errors:
        result.errors.append(forbidden_match(name))
    return result


def _any_of(name: FieldPath, tried: list[Result], result: Result) -> None:
    good = next((result for result in tried if not result.errors), None)
    if good is None:
        result.errors.append(none_of(name))
    result.take(good or _closest(tried))


def _one_of(name: FieldPath, tried: list[Result], result: Result) -> None:
    good = [result for result in tried if not result.errors]
    if len(good) == 1:
        result.take(good[0])
        return
    result.errors.append(not_exactly_one(name, len(good)))
    if not good:
        result.take(_closest(tried))


def _closest(tried: list[Result]) -> Result:
    """Return the first of those with the most matches."""
    return max(tried, key=lambda result: result.matches)
