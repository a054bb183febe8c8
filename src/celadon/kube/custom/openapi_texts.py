"""What OpenAPI validation says: texts of k8s.io/kube-openapi `pkg/validation/errors`, and how an
API server turns them into field errors.

`name` is the path of a field in the body. Some faults are about nothing in particular, which prints
as `<nil>`.
"""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cel.value_functions import text
from celadon.kube import fieldpath
from celadon.kube.fieldpath import ROOT, FieldError, FieldPath, SpelledStep
from celadon.kube.go.go_text import json_text, quote
from celadon.kube.json_types import Json
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit that does or does not belong to what is allowed."""

    value: float
    exclusive: bool


def additional(name: FieldPath, key: str) -> FieldPath:
    """The path of a member without a schema of its own. In the texts it has a dot before it even
    in the object itself; in the fields of errors it does not."""
    return name.child(key) if name.steps else FieldPath(SpelledStep(key, f".{key}"))


def type_mismatch(name: FieldPath, wanted: str, found: str) -> FieldError:
    """`wanted` is a type, several with commas, or a format; `found` is a type or the value."""
    detail = f"{name.text} in body must be of type {wanted}: {quote(found)}"
    return fieldpath.type_invalid(_path(name), found, detail)


def required(name: FieldPath) -> FieldError:
    """A member that `required` names and the object has not."""
    return fieldpath.required(_path(name))


def not_in_enum(name: FieldPath, value: Json, choices: Sequence[Json]) -> FieldError:
    """`choices` are shown as JSON, texts without quotes of their own."""
    texts = [one if isinstance(one, str) else json_text(one) for one in choices]
    return fieldpath.not_supported(_path(name), value, texts)


def too_long(name: FieldPath, limit: int) -> FieldError:
    """A text of more than `maxLength` characters (upstream's text says bytes)."""
    return fieldpath.too_long(_path(name), limit)


def too_short(name: FieldPath, value: str, limit: int) -> FieldError:
    """A text of less than `minLength` characters."""
    return _invalid(name, value, f"{name.text} in body should be at least {limit} chars long")


def no_match(name: FieldPath, value: str, pattern: str) -> FieldError:
    """A text in which `pattern` is not found."""
    return _invalid(name, value, f"{name.text} in body should match '{pattern}'")


def too_many_items(name: FieldPath, count: int, limit: int) -> FieldError:
    """A list with more than `maxItems`, or an object with more than `maxProperties`."""
    return fieldpath.too_many(_path(name), count, limit)


def too_few_items(name: FieldPath, count: int, limit: int) -> FieldError:
    """A list with less than `minItems`."""
    return _invalid(name, count, f"{name.text} in body should have at least {limit} items")


def too_few_properties(name: FieldPath, count: int, limit: int) -> FieldError:
    """An object with less than `minProperties`."""
    return _invalid(name, count, f"{name.text} in body should have at least {limit} properties")


def above(name: FieldPath, value: float, bound: Bound) -> FieldError:
    """A number over `maximum`."""
    word = "less than" if bound.exclusive else "less than or equal to"
    return _invalid(name, value, f"{name.text} in body should be {word} {_number(bound.value)}")


def below(name: FieldPath, value: float, bound: Bound) -> FieldError:
    """A number under `minimum`."""
    word = "greater than" if bound.exclusive else "greater than or equal to"
    return _invalid(name, value, f"{name.text} in body should be {word} {_number(bound.value)}")


def not_multiple(name: FieldPath, value: float, factor: float) -> FieldError:
    """A number that `multipleOf` does not divide."""
    return _invalid(name, value, f"{name.text} in body should be a multiple of {_number(factor)}")


def factor_not_positive(name: FieldPath, factor: float) -> FieldError:
    """A `multipleOf` that became 0 when it was made an integer, as the value is."""
    detail = f"factor MultipleOf declared for {name.text} must be positive: {_number(factor)}"
    return _invalid(name, factor, detail)


def out_of_range(name: FieldPath, what: str, type_: str, format_: str) -> FieldError:
    """A number that the type cannot hold; no field is named. `what` is `Checked` for the value, or
    which bound it is."""
    suffix = f"with format {format_}" if format_ else "(default format)"
    return _about_nothing(f"{what} value must be of type {type_} {suffix} in {name.text}")


def none_of(name: FieldPath) -> FieldError:
    """No branch of `anyOf` holds."""
    return _about_nothing(f'"{name.text}" must validate at least one schema (anyOf)')


def not_exactly_one(name: FieldPath, matches: int) -> FieldError:
    """`matches` branches of `oneOf` hold, and not one."""
    more = f"Found {matches} valid alternatives" if matches else "Found none valid"
    return _about_nothing(f'"{name.text}" must validate one and only one schema (oneOf). {more}')


def not_all(name: FieldPath, *, none: bool) -> FieldError:
    """Some branch of `allOf` does not hold, or none does."""
    more = ". None validated" if none else ""
    return _about_nothing(f'"{name.text}" must validate all the schemas (allOf){more}')


def forbidden_match(name: FieldPath) -> FieldError:
    """What `not` describes."""
    return _about_nothing(f'"{name.text}" must not validate the schema (not)')


def _invalid(name: FieldPath, value: Json, detail: str) -> FieldError:
    return fieldpath.invalid(_path(name), value, detail)


def _about_nothing(detail: str) -> FieldError:
    return fieldpath.invalid(ROOT, "", detail)


def _path(name: FieldPath) -> FieldPath:
    if name.steps and isinstance(name.steps[0], SpelledStep):
        return FieldPath(str(name.steps[0]), *name.steps[1:])
    return name


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else text.go_float(value)
