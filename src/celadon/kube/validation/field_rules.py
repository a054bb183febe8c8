"""The simple rules for fields, which stand with the types in `data/schemas`.

`rules` of a type is a list in upstream's order, in which errors come out. A rule is a list of its
name, the field, and what more it needs; `field?` looks at the field only where it is set, else what
is absent counts as empty or 0:

    ["required", FIELD, DETAIL]              not empty
    ["choice", FIELD, [CHOICE, ...]]         required, and one of the choices
    ["one of", FIELD, [CHOICE, ...]]         one of the choices; an empty text is none of them
    ["at least", FIELD, NUMBER, DETAIL]      a number; the texts are for one that is too low
    ["at most", FIELD, NUMBER, DETAIL]       or too high
    ["range", FIELD, LOW, HIGH]              a number between both
    ["name", FIELD, RULE]                    required, and a name by one of `NAMES`
    ["in", FIELD]                            the rules of the field's type
    ["each", FIELD]                          the same for each item of a list

A DETAIL may be left out where upstream's words are the usual ones. `immutable` of a type are the
fields that an update may not change. What depends on several fields is written in Python by the
validator of the kind, which asks for these rules where upstream has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldError, FieldPath, NamedText
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import per_release
from celadon.kube.schemas import schema_packs
from celadon.kube.validation.field_checks import IMMUTABLE, Messages

Errors = Iterable[FieldError]

NAMES: Final[Mapping[str, Messages]] = {
    "label": name_rules.dns1123_label,
    "path segment": name_rules.path_segment_name,
    "subdomain": name_rules.dns1123_subdomain,
}
"""The rules for names that data may mention."""


def by_rules(type_: str) -> Callable[[JsonObject], Iterator[FieldError]]:
    """The validation of a kind for which the rules of its type are all."""
    return lambda obj: iter(broken_rules(type_, obj, FieldPath()))


class FieldRule(NamedTuple):
    """One rule: `errors` is asked only where a value `is_broken`. `zero` stands for what is absent,
    unless the rule is about fields that are set (`if_set`)."""

    field: str
    if_set: bool
    zero: Any
    is_broken: Callable[[Any], bool]
    errors: Callable[[FieldPath, Any], Errors]


def broken_rules(type_: str, obj: JsonObject, path: FieldPath) -> list[FieldError]:
    """The errors of an object of a type (`core.v1.NFSVolumeSource`), which stands at a path."""
    errors: list[FieldError] = []
    for rule in rules_of(type_):
        value = obj.get(rule.field)
        if value is None:
            if rule.if_set:
                continue
            value = rule.zero
        if rule.is_broken(value):
            errors.extend(rule.errors(path.child(rule.field), value))
    return errors


def changed_fields(
    type_: str, new: JsonObject, old: JsonObject, path: FieldPath
) -> list[FieldError]:
    """The errors of an update that changes what is immutable; the new values are shown."""
    zeros = schema_packs.of_type("rules", type_)["immutable"]
    return [
        fieldpath.invalid(path.child(field), new.get(field, zero), IMMUTABLE)
        for field, zero in zeros.items()
        if new.get(field, zero) != old.get(field, zero)
    ]


@per_release()
def rules_of(type_: str) -> tuple[FieldRule, ...]:
    """The rules of a type, in order. KeyError for a type without any."""
    return tuple(map(_rule, schema_packs.of_type("rules", type_)["rules"]))


def _rule(rule: Sequence[Any]) -> FieldRule:
    name, field, *arguments = rule
    zero, is_broken, errors = _KINDS[name](*arguments)
    return FieldRule(field.removesuffix("?"), field.endswith("?"), zero, is_broken, errors)


_Rule = tuple[Any, Callable[[Any], bool], Callable[[FieldPath, Any], Errors]]


def _required(detail: str = "") -> _Rule:
    return "", lambda value: not value, lambda path, value: (fieldpath.required(path, detail),)


def _choice(choices: Sequence[str]) -> _Rule:
    def errors(path: FieldPath, value: str) -> Errors:
        if not value:
            return (fieldpath.required(path),)
        return (fieldpath.not_supported(path, NamedText(value), choices),)

    return "", lambda value: value not in choices, errors


def _one_of(choices: Sequence[str]) -> _Rule:
    def errors(path: FieldPath, value: str) -> Errors:
        return (fieldpath.not_supported(path, NamedText(value), choices),)

    return "", lambda value: value not in choices, errors


def _at_least(low: int, detail: str = "") -> _Rule:
    told = detail or f"must be greater than or equal to {low}"
    return 0, lambda value: value < low, lambda path, value: (fieldpath.invalid(path, value, told),)


def _at_most(high: int, detail: str = "") -> _Rule:
    told = detail or f"must be less than or equal to {high}"
    return (
        0,
        lambda value: value > high,
        lambda path, value: (fieldpath.invalid(path, value, told),),
    )


def _range(low: int, high: int) -> _Rule:
    told = f"must be between {low} and {high}, inclusive"

    def errors(path: FieldPath, value: int) -> Errors:
        return (fieldpath.invalid(path, value, told),)

    return 0, lambda value: not low <= value <= high, errors


def _name(rule: str) -> _Rule:
    messages = NAMES[rule]

    def errors(path: FieldPath, value: str) -> Errors:
        if not value:
            return (fieldpath.required(path),)
        return [fieldpath.invalid(path, value, message) for message in messages(value)]

    return "", lambda value: not value or bool(messages(value)), errors


def _in(type_: str) -> _Rule:
    return {}, lambda value: True, lambda path, value: broken_rules(type_, value, path)


def _each(type_: str) -> _Rule:
    def errors(path: FieldPath, value: Sequence[JsonObject]) -> Errors:
        for index, item in enumerate(value):
            yield from broken_rules(type_, item, path.index(index))

    return (), bool, errors


_KINDS: Final[Mapping[str, Callable[..., _Rule]]] = {
    "at least": _at_least,
    "at most": _at_most,
    "choice": _choice,
    "each": _each,
    "in": _in,
    "name": _name,
    "one of": _one_of,
    "range": _range,
    "required": _required,
}
