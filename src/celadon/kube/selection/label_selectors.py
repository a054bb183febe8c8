"""Label selectors: what an object's labels must satisfy.

A `LabelSelector` is a conjunction of `Requirement`s. It comes from the API object of that name
(`label_selector`) or from the text form of the query parameter (`selector_text.py`). Semantics and
texts follow k8s.io/apimachinery `pkg/labels` and `pkg/apis/meta/v1`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.kube import fieldpath
from celadon.kube.errors import MalformedText
from celadon.kube.fieldpath import ROOT, FieldError, FieldPath, aggregate
from celadon.kube.go.go_text import quote
from celadon.kube.name_rules import label_value, qualified_name
from celadon.patterns import late_pattern
from celadon.records import dataclass


class SelectorError(MalformedText):
    """A selector that cannot be understood; the text is the one a client gets."""


class Operator(enum.Enum):
    """The value is the operator's spelling between key and value in the text form."""

    IN = " in "
    NOT_IN = " notin "
    EQUALS = "="
    DOUBLE_EQUALS = "=="
    NOT_EQUALS = "!="
    EXISTS = ""
    DOES_NOT_EXIST = "!"
    GREATER_THAN = ">"
    LESS_THAN = "<"


SET_OPERATORS: Final = frozenset({Operator.IN, Operator.NOT_IN})
_EXACT: Final = frozenset({Operator.EQUALS, Operator.DOUBLE_EQUALS, Operator.NOT_EQUALS})
_POSITIVE: Final = frozenset({Operator.IN, Operator.EQUALS, Operator.DOUBLE_EQUALS})
_NEGATIVE: Final = frozenset({Operator.NOT_IN, Operator.NOT_EQUALS})
_PRESENCE: Final = frozenset({Operator.EXISTS, Operator.DOES_NOT_EXIST})
_ORDER: Final = frozenset({Operator.GREATER_THAN, Operator.LESS_THAN})
_KEY: Final = ROOT.child("key")
_VALUES: Final = ROOT.child("values")
_INTEGER: Final = late_pattern("[+-]?[0-9]+")

_OBJECT_OPERATORS: Final = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
}


def _int64(text: str) -> int | None:
    """As Go's `ParseInt(text, 10, 64)`; None where that fails."""
    if len(text) > 64 or _INTEGER.fullmatch(text) is None:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on the labels; `values` in the order in which they print (sorted)."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy it; `NotIn` and `DoesNotExist` hold for absent ones."""
        operator = self.operator
        if operator in _POSITIVE:
            return self.key in labels and labels[self.key] in self.values
        if operator in _NEGATIVE:
            return self.key not in labels or labels[self.key] not in self.values
        if operator is Operator.EXISTS:
            return self.key in labels
        if operator is Operator.DOES_NOT_EXIST:
            return self.key not in labels
        return self._compares(labels)

    def _compares(self, labels: Mapping[str, str]) -> bool:
        have, want = _int64(labels.get(self.key, "")), _int64(self.values[0])
        if have is None or want is None:
            return False
        return have > want if self.operator is Operator.GREATER_THAN else have < want

    def __str__(self) -> str:
        if self.operator is Operator.DOES_NOT_EXIST:
            return f"!{self.key}"
        values = ",".join(self.values)
        shown = f"({values})" if self.operator in SET_OPERATORS else values
        return f"{self.key}{self.operator.value}{shown}"


def _value_count_error(
    operator: Operator, values: Sequence[str] | None, path: FieldPath
) -> FieldError | None:
    count = len(values or ())
    if operator in SET_OPERATORS and count == 0:
        detail = "for 'in', 'notin' operators, values set can't be empty"
    elif operator in _EXACT and count != 1:
        detail = "exact-match compatibility requires one single value"
    elif operator in _PRESENCE and count != 0:
        detail = "values set must be empty for exists and does not exist"
    elif operator in _ORDER and count != 1:
        detail = "for 'Gt', 'Lt' operators, exactly one value is required"
    else:
        return None
    return fieldpath.invalid(path, None if values is None else list(values), detail)


def key_error(path: FieldPath, key: str) -> FieldError | None:
    """What is wrong with the key of a requirement; None when nothing is."""
    messages = qualified_name(key)
    return fieldpath.invalid(path, key, "; ".join(messages)) if messages else None


def requirement(key: str, operator: Operator, values: Sequence[str] | None) -> Requirement:
    """Checked as upstream's `NewRequirement`: SelectorError with all complaints."""
    path = _VALUES
    errors = [key_error(_KEY, key)]
    errors.append(_value_count_error(operator, values, path))
    found = tuple(values or ())
    if operator in _ORDER:
        detail = "for 'Gt', 'Lt' operators, the value must be an integer"
        for i, value in enumerate(found):
            if _int64(value) is None:
                errors.append(fieldpath.invalid(path.index(i), value, detail))
    for i, value in enumerate(found):
        messages = label_value(value)
        if messages:
            where = path.index(i).key(key)
            errors.append(fieldpath.invalid(where, value, "; ".join(messages)))
    complaints = [error for error in errors if error is not None]
    if complaints:
        raise SelectorError(aggregate(complaints))
    return Requirement(key, operator, tuple(sorted(set(found))))


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """All of `requirements` must hold; none at all selects everything, `nothing` nothing."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    @property
    def is_everything(self) -> bool:
        """Whether there is nothing that labels have to satisfy."""
        return not self.requirements and not self.nothing

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether all requirements hold."""
        return not self.nothing and all(one.matches(labels) for one in self.requirements)

    def __str__(self) -> str:
        """The canonical text: requirements sorted by key."""
        return ",".join(map(str, self.requirements))


NOTHING: Final = LabelSelector(nothing=True)


def conjunction(requirements: list[Requirement]) -> LabelSelector:
    """All of the requirements must hold; they are kept sorted by key."""
    return LabelSelector(tuple(sorted(requirements, key=lambda one: one.key)))


def label_selector(selector: Mapping[str, Any] | None) -> LabelSelector:
    """From the API object; None selects nothing, `{}` everything. SelectorError when it is bad."""
    if selector is None:
        return NOTHING
    requirements = [
        requirement(key, Operator.EQUALS, [value])
        for key, value in (selector.get("matchLabels") or {}).items()
    ]
    for expression in selector.get("matchExpressions") or ():
        text = expression.get("operator") or ""
        operator = _OBJECT_OPERATORS.get(text)
        if operator is None:
            raise SelectorError(f"{quote(text)} is not a valid label selector operator")
        values = expression.get("values") or None
        requirements.append(requirement(expression.get("key") or "", operator, values))
    return conjunction(requirements)
