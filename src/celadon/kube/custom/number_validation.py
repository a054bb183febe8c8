"""Numbers of custom resources against their schema: ranges of formats, factors, bounds.

As k8s.io/kube-openapi `pkg/validation/validate/values.go` and github.com/go-openapi/swag. A bound
is compared in the kind of number that the value is: with an integer, fractions of a bound are cut
off. A bound that the type itself cannot hold is an error of its own, and is compared as a double.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Final

from celadon.kube.custom import openapi_texts, string_formats
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.quantities.quantity import MAX_INT64, MIN_INT64
from celadon.kube.schemas.schema_model import Schema

_MAX_JSON_INTEGER: Final = (1 << 53) - 1
"""A double beyond it does not say which integer it is."""
_EPSILON: Final = 1e-9
_MAX_INT32: Final = (1 << 31) - 1
_RANGES: Final = {"int32": (-_MAX_INT32 - 1, _MAX_INT32)}
_INT64: Final = (MIN_INT64, MAX_INT64)


def number_errors(name: FieldPath, value: int | float, schema: Schema) -> Iterator[FieldError]:
    """What is wrong with a number, in upstream's order."""
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
        own, least = _alike(value, limits.minimum, schema)
        bottom = openapi_texts.Bound(least, limits.exclusive_minimum)
        if own < least or (bottom.exclusive and own == least):
            yield openapi_texts.below(name, value, bottom)
    if limits.maximum is not None:
        if not _is_in_range(limits.maximum, schema):
            yield _out_of_range(name, "Maximum boundary", schema)
        own, most = _alike(value, limits.maximum, schema)
        top = openapi_texts.Bound(most, limits.exclusive_maximum)
        if own > most or (top.exclusive and own == most):
            yield openapi_texts.above(name, value, top)


def is_json_integer(value: float) -> bool:
    """Whether a double stands for an integer: nearly, if it is a little above."""
    if not abs(value) <= _MAX_JSON_INTEGER:
        return False
    whole = math.trunc(value)
    above = abs(value - whole)
    return not above or (whole != 0 and above / (abs(value) + abs(whole)) < _EPSILON)


def _is_in_range(value: int | float, schema: Schema) -> bool:
    """Upstream prints the number and parses it as what the schema says that it is."""
    format_ = string_formats.known_format(schema.format, schema.type)
    if schema.type == "integer":
        least, most = _RANGES.get(format_, _INT64)
        return float(value).is_integer() and least <= value <= most
    return format_ != "float" or _fits_single(value)


def _fits_single(value: float) -> bool:
    try:
        struct.pack("<f", value)
    except OverflowError:
        return False
    return True


def _out_of_range(name: FieldPath, what: str, schema: Schema) -> FieldError:
    format_ = string_formats.known_format(schema.format, schema.type)
    return openapi_texts.out_of_range(name, what, schema.type, format_)


def _alike(value: int | float, bound: float, schema: Schema) -> tuple[float, float]:
    """Both as integers if the value is one and the schema's type can hold the bound, else both as
    doubles."""
    if value.__class__ is int and _is_in_range(bound, schema):
        return value, int(bound)
    return float(value), float(bound)


def _factor_errors(name: FieldPath, value: float, factor: float) -> Iterator[FieldError]:
    if factor <= 0:
        yield openapi_texts.factor_not_positive(name, factor)
    elif not _is_multiple(value, factor):
        yield openapi_texts.not_multiple(name, value, factor)


def _is_multiple(value: int | float, factor: int | float) -> bool:
    if isinstance(value, int):
        return value % factor == 0
    return is_json_integer(1 / factor * value if factor < 1 else value / factor)
