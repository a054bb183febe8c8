"""Field selectors: the few fields of a kind by which a list or watch can be filtered.

Only the text form exists: `metadata.name=a,status.phase!=Running`, with a backslash before a comma,
an equals sign or a backslash inside values. As k8s.io/apimachinery `pkg/fields`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from celadon.kube.selection.label_selectors import SelectorError
from celadon.patterns import late_pattern
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """`field=value`, or `field!=value` if it is negated."""

    field: str
    value: str
    negated: bool = False

    def matches(self, fields: Mapping[str, str]) -> bool:
        """An absent field reads as the empty string."""
        return (fields.get(self.field, "") == self.value) is not self.negated

    def __str__(self) -> str:
        value = re.sub(r"([\\,=])", r"\\\1", self.value)
        return f"{self.field}{'!=' if self.negated else '='}{value}"


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """All of `terms` must hold."""

    terms: tuple[FieldTerm, ...] = ()

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether all terms hold; `fields` are the values under the names of fields."""
        return all(term.matches(fields) for term in self.terms)

    def exact(self, field: str) -> str | None:
        """The value that `field` must have, when some term says so."""
        for term in self.terms:
            if term.field == field and not term.negated:
                return term.value
        return None

    def map_fields(self, rename: Callable[[str], str]) -> FieldSelector:
        """With every field renamed; `rename` may raise SelectorError for one it does not know."""
        renamed = {
            term: FieldTerm(rename(term.field), term.value, term.negated)
            for term in dict.fromkeys(self.terms)
        }
        return FieldSelector(tuple(map(renamed.__getitem__, self.terms)))

    def __str__(self) -> str:
        return ",".join(map(str, self.terms))


_OPERATOR: Final = late_pattern("!=|==|=")
_PLAIN_VALUE: Final = late_pattern(r"[^\\,=]*")
_ESCAPED_TERM: Final = late_pattern(r"((?:[^\\,]+|\\.|\\\Z)*)(?:,|\Z)", re.DOTALL)


def _split_terms(text: str) -> list[str]:
    """At the commas that no backslash precedes."""
    if "\\" not in text:
        return text.split(",")
    return _ESCAPED_TERM.findall(text)


def _unescape(value: str) -> str:
    if _PLAIN_VALUE.fullmatch(value) is not None:
        return value
    characters, escaped = [], False
    for char in value:
        if escaped:
            if char not in "\\,=":
                raise SelectorError(f"invalid field selector: invalid escape sequence: \\{char}")
            characters.append(char)
            escaped = False
        elif char == "\\":
            escaped = True
        elif char in ",=":
            # Upstream prints the character's number.
            raise SelectorError(
                f"invalid field selector: unescaped character in value: {ord(char)}"
            )
        else:
            characters.append(char)
    if escaped:
        raise SelectorError("invalid field selector: invalid escape sequence: \\")
    return "".join(characters)


def parse_field_selector(text: str) -> FieldSelector:
    """`metadata.name=a,status.phase!=Running`. SelectorError when it is bad."""
    parts = sorted(_split_terms(text))
    terms: dict[str, FieldTerm | None] = {}
    for part in dict.fromkeys(parts):
        terms[part] = _term(part, text)
    return FieldSelector(tuple(term for part in parts if (term := terms[part]) is not None))


def _term(part: str, text: str) -> FieldTerm | None:
    """None for a term of nothing, which says nothing. Raises SelectorError."""
    if not part:
        return None
    operator = _OPERATOR.search(part)
    if operator is None:
        raise SelectorError(f"invalid selector: '{text}'; can't understand '{part}'")
    field, value = part[: operator.start()], _unescape(part[operator.end() :])
    return FieldTerm(field, value, operator.group() == "!=") if field or value else None
