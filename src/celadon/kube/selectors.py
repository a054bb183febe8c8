"""Selectors: labels and fields that choose among objects."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from celadon.kube import fieldpath
from celadon.kube.errors import MalformedText
from celadon.kube.fieldpath import ROOT, FieldError, FieldPath, aggregate
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.name_rules import label_value, qualified_name
from celadon.kube.names import GroupKind
from celadon.kube.releases import is_since
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.kube.resources.api_resources import Resource

__all__ = [
    "FieldSelector",
    "FieldTerm",
    "KeyConditions",
    "LabelSelector",
    "Operator",
    "Requirement",
    "SelectorError",
    "conditions_of",
    "label_selector",
    "parse_field_selector",
    "parse_label_selector",
    "resolve_fields",
]


# --- Label selectors ---------------------------------------------------------
#
# Label selectors: what an object's labels must satisfy.
#
# A `LabelSelector` is a conjunction of `Requirement`s. It comes from the API object of that
# name (`label_selector`) or from the text form of the query parameter (`selector_text.py`).
# Semantics and texts follow k8s.io/apimachinery `pkg/labels` and `pkg/apis/meta/v1`.


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
OPPOSITE_OPERATORS: Final = {
    "In": "NotIn",
    "NotIn": "In",
    "Exists": "DoesNotExist",
    "DoesNotExist": "Exists",
}
"""The operators of `matchExpressions`, each with the one that takes what it does not."""


def _int64(text: str) -> int | None:
    """Work as Go's `ParseInt(text, 10, 64)`; None where that fails."""
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
        """Return whether labels satisfy it; `NotIn` and `DoesNotExist` hold for absent ones."""
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

    def is_stricter(self, other: Requirement) -> bool:
        """Return whether it takes fewer numbers than another one of the same operator, `Gt` or
        `Lt`."""
        return not self._compares({self.key: other.values[0]})

    def _compares(self, labels: Mapping[str, str]) -> bool:
        have, want = _int64(labels.get(self.key, "")), _int64(self.values[0])
        if have is None or want is None:
            return False
        return have > want if self.operator is Operator.GREATER_THAN else have < want

    def __str__(self) -> str:
        if self.operator is Operator.DOES_NOT_EXIST:
            return f"!{self.key}"
        values = ",".join(self.values)
        text = f"({values})" if self.operator in SET_OPERATORS else values
        return f"{self.key}{self.operator.value}{text}"


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
    """Return what is wrong with the key of a requirement; None when nothing is."""
    messages = qualified_name(key)
    return fieldpath.invalid(path, key, "; ".join(messages)) if messages else None


def requirement(key: str, operator: Operator, values: Sequence[str] | None) -> Requirement:
    """Return a requirement, checked as upstream's `NewRequirement`: SelectorError with all
    complaints."""
    path = _VALUES
    errors = [key_error(_KEY, key)]
    errors.append(_value_count_error(operator, values, path))
    result = tuple(values or ())
    if operator in _ORDER:
        detail = "for 'Gt', 'Lt' operators, the value must be an integer"
        for i, value in enumerate(result):
            if _int64(value) is None:
                errors.append(fieldpath.invalid(path.index(i), value, detail))
    for i, value in enumerate(result):
        messages = label_value(value)
        if messages:
            field_path = path.index(i).key(key)
            errors.append(fieldpath.invalid(field_path, value, "; ".join(messages)))
    complaints = [error for error in errors if error is not None]
    if complaints:
        raise SelectorError(aggregate(complaints))
    return Requirement(key, operator, tuple(sorted(set(result))))


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """All of `requirements` must hold; none at all selects everything, `nothing` nothing."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    @property
    def is_everything(self) -> bool:
        """Return whether there is nothing that labels have to satisfy."""
        return not self.requirements and not self.nothing

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether all requirements hold."""
        return not self.nothing and all(
            requirement.matches(labels) for requirement in self.requirements
        )

    def conditions(self) -> KeyConditions:
        """Return the requirements by their keys."""
        return KeyConditions(self.requirements, nothing=self.nothing)

    def __str__(self) -> str:
        """Return the canonical text: requirements sorted by key."""
        return ",".join(map(str, self.requirements))


NOTHING: Final = LabelSelector(nothing=True)


class KeyConditions:
    """All requirements of a selector, by their keys. However many there are, matching takes one
    look at each key that labels have: for whoever matches often, or what strangers have sent."""

    __slots__ = ("_absent", "_allowed", "_bounds", "_forbidden", "_nothing", "_present", "keys")

    def __init__(self, requirements: Iterable[Requirement], *, nothing: bool = False) -> None:
        self._nothing = nothing
        self._present: set[str] = set()
        self._absent: set[str] = set()
        self._allowed: dict[str, frozenset[str]] = {}
        self._forbidden: dict[str, set[str]] = {}
        self._bounds: dict[tuple[str, Operator], Requirement] = {}
        for item in requirements:
            self._add(item)
        self.keys: tuple[str, ...] = (*(self._present | self._absent | self._forbidden.keys()),)

    def _add(self, item: Requirement) -> None:
        key, operator = item.key, item.operator
        if operator in _NEGATIVE:
            self._forbidden.setdefault(key, set()).update(item.values)
            return
        if operator is Operator.DOES_NOT_EXIST:
            self._absent.add(key)
            return
        self._present.add(key)
        if operator in _POSITIVE:
            values = self._allowed.get(key)
            self._allowed[key] = (
                frozenset(item.values) if values is None else values.intersection(item.values)
            )
        elif operator in _ORDER:
            bound = self._bounds.get((key, operator))
            if bound is None or item.is_stricter(bound):
                self._bounds[key, operator] = item

    @property
    def is_everything(self) -> bool:
        """Return whether there is nothing that labels have to satisfy."""
        return not self._nothing and not self.keys

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether all requirements hold."""
        if self._nothing or not self._present <= labels.keys():
            return False
        # What is present is among the labels: from here on no loop is longer than they are many.
        if any(labels[key] not in values for key, values in self._allowed.items()):
            return False
        if not self._absent.isdisjoint(labels):
            return False
        if self._forbidden:
            for key in self._forbidden.keys() & labels.keys():
                if labels[key] in self._forbidden[key]:
                    return False
        return all(item.matches(labels) for item in self._bounds.values())


def conjunction(requirements: list[Requirement]) -> LabelSelector:
    """All of the requirements must hold; they are kept sorted by key."""
    return LabelSelector(tuple(sorted(requirements, key=lambda requirement: requirement.key)))


def label_selector(selector: JsonObject | None) -> LabelSelector:
    """Read the API object; None selects nothing, `{}` everything. SelectorError when it is bad."""
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


def conditions_of(selector: JsonObject | None) -> KeyConditions:
    """Read the selector of a stored object, which has been checked: a hundred thousand values take
    milliseconds. None selects nothing, `{}` everything."""
    if selector is None:
        return KeyConditions((), nothing=True)
    found = [
        Requirement(key, Operator.EQUALS, (value,))
        for key, value in (selector.get("matchLabels") or {}).items()
    ]
    for expression in selector.get("matchExpressions") or ():
        operator = _OBJECT_OPERATORS[expression["operator"]]
        found.append(
            Requirement(expression["key"], operator, tuple(expression.get("values") or ()))
        )
    return KeyConditions(found)


# --- Field selectors ---------------------------------------------------------
#
# Field selectors: the few fields of a kind by which a list or watch can be filtered.
#
# Only the text form exists: `metadata.name=a,status.phase!=Running`, with a backslash before a
# comma, an equals sign or a backslash inside values. As k8s.io/apimachinery `pkg/fields`.


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """Demands `field=value`, or `field!=value` if it is negated."""

    field: str
    value: str
    negated: bool = False

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Return whether fields match. An absent field reads as the empty string."""
        return (fields.get(self.field, "") == self.value) is not self.negated

    def __str__(self) -> str:
        value = re.sub(r"([\\,=])", r"\\\1", self.value)
        return f"{self.field}{'!=' if self.negated else '='}{value}"


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """All of `terms` must hold."""

    terms: tuple[FieldTerm, ...] = ()

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Return whether all terms hold; `fields` are the values under the names of fields."""
        return all(term.matches(fields) for term in self.terms)

    def conditions(self) -> KeyConditions:
        """Return the terms by their fields, for a match with the values of all of these."""
        return KeyConditions(
            Requirement(
                term.field, Operator.NOT_EQUALS if term.negated else Operator.EQUALS, (term.value,)
            )
            for term in self.terms
        )

    def exact(self, field: str) -> str | None:
        """Return the value that `field` must have, when some term says so."""
        for term in self.terms:
            if term.field == field and not term.negated:
                return term.value
        return None

    def map_fields(self, rename: Callable[[str], str]) -> FieldSelector:
        """Rename every field; `rename` may raise SelectorError for one it does not know."""
        renamed = {
            term: FieldTerm(rename(term.field), term.value, term.negated)
            for term in dict.fromkeys(self.terms)
        }
        return FieldSelector(tuple(map(renamed.__getitem__, self.terms)))

    def __str__(self) -> str:
        return ",".join(map(str, self.terms))


_OPERATOR: Final = late_pattern("!=|==|=")
_PLAIN_VALUE: Final = late_pattern(r"[^\\,=]*")
_ESCAPED_TERM: Final = late_pattern(r"((?:[^\\,]++|\\.|\\\Z)*+)(?:,|\Z)", re.DOTALL)


def _split_terms(text: str) -> list[str]:
    """Split at the commas that no backslash precedes."""
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
    """Read a term; None for one of nothing, which says nothing. Raises SelectorError."""
    if not part:
        return None
    operator = _OPERATOR.search(part)
    if operator is None:
        raise SelectorError(f"invalid selector: '{text}'; can't understand '{part}'")
    field, value = part[: operator.start()], _unescape(part[operator.end() :])
    return FieldTerm(field, value, operator.group() == "!=") if field or value else None


# --- Field labels ------------------------------------------------------------
#
# Which fields a field selector may name, per resource, and what is said about others.
#
# Most built-in kinds know name and namespace only. Some list fields of their own, and two of
# these have their own words for a field they do not know. As k8s.io/kubernetes
# `pkg/apis/*/v*/conversion.go`.

STANDARD: Final = frozenset({"metadata.name", "metadata.namespace"})
ALIASES: Final = {(GroupKind("", "Pod"), "spec.host"): "spec.nodeName"}
_JOB: Final = GroupKind("batch", "Job")
_RESOURCE_SLICE: Final = GroupKind("resource.k8s.io", "ResourceSlice")


def _refusal(resource: Resource, label: str) -> str:
    kind = resource.gvk.group_kind
    if kind == _JOB:
        return f"field label {quote(label)} not supported for Job"
    if kind == _RESOURCE_SLICE:
        return f"field label not supported for {resource.gvk}: {label}"
    if not resource.custom and frozenset(resource.field_labels) == STANDARD:
        return (
            f'{quote(label)} is not a known field selector: only "metadata.name", '
            '"metadata.namespace"'
        )
    return f"field label not supported: {label}"


def resolve_fields(selector: FieldSelector, resource: Resource) -> FieldSelector:
    """Return the selector with aliases replaced; SelectorError for a field the resource does not
    offer."""

    def rename(label: str) -> str:
        if label not in resource.field_labels:
            raise SelectorError(_refusal(resource, label))
        return ALIASES.get((resource.gvk.group_kind, label), label)

    return selector.map_fields(rename)


# --- Selector text -----------------------------------------------------------
#
# The text form of label selectors, as in the query parameter: `a=b,c in (d,e),!f,g>5`.
#
# Grammar, quirks and texts follow k8s.io/apimachinery `pkg/labels`: `in` and `notin` are words
# only where an operator stands, an empty list holds the empty string, and `a=` compares with
# it.

LONG: Final = 32 << 10
"""Characters of a selector that is taken apart piece by piece."""


class _Parser:
    """The text form: a lexer with its quirks, and recursive descent over its tokens."""

    SYMBOLS: Final = frozenset("=!(),><")
    BINARY: Final = {
        "in": Operator.IN,
        "notin": Operator.NOT_IN,
        "=": Operator.EQUALS,
        "==": Operator.DOUBLE_EQUALS,
        "!=": Operator.NOT_EQUALS,
        ">": Operator.GREATER_THAN,
        "<": Operator.LESS_THAN,
    }
    TOKEN: Final = late_pattern(r"(?:==|!=|[=!(),><])\0?|\0|[^=!(),>< \t\r\n\0]+\0?")

    def __init__(self, text: str, *, is_begun: bool = False) -> None:
        """`is_begun` says that a comma stands before the text."""
        self.tokens = self._scan(text)
        self.position = 0
        self.is_begun = is_begun

    def _scan(self, text: str) -> list[str]:
        """Literals; the empty one is the end. A NUL ends a symbol or an identifier, or the text."""
        if len(text) > LONG:  # one call for all would keep other threads waiting
            tokens = [match[0] for match in self.TOKEN.finditer(text)]
        else:
            tokens = self.TOKEN.findall(text)
        if "\0" not in text:
            return tokens
        end = tokens.index("\0") if "\0" in tokens else len(tokens)
        return [literal.removesuffix("\0") for literal in tokens[:end]]

    def _peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self.position += 1
        return token

    def _is_identifier(self, token: str) -> bool:
        return token != "" and token[0] not in self.SYMBOLS

    def parse(self) -> list[Requirement]:
        requirements: list[Requirement] = []
        if self.is_begun:
            self._require_key()
        while token := self._peek():
            if not self._is_identifier(token) and token != "!":
                raise SelectorError(f"found '{token}', expected: !, identifier, or 'end of string'")
            try:
                requirements.append(self._parse_requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from error
            separator = self._take()
            if separator == "":
                break
            if separator != ",":
                raise SelectorError(f"found '{separator}', expected: ',' or 'end of string'")
            self._require_key()
        return requirements

    def _require_key(self) -> None:
        following = self._peek()
        if not self._is_identifier(following) and following != "!":
            raise SelectorError(f"found '{following}', expected: identifier after ','")

    def _parse_requirement(self) -> Requirement:
        key, negated = self._take(), False
        if key == "!":
            key, negated = self._take(), True
        if not self._is_identifier(key):
            raise SelectorError(f"found '{key}', expected: identifier")
        error = key_error(ROOT, key)
        if error is not None:
            raise SelectorError(str(error))
        if negated:
            return requirement(key, Operator.DOES_NOT_EXIST, ())
        if self._peek() in {"", ","}:
            return requirement(key, Operator.EXISTS, ())
        literal = self._take()
        operator = self.BINARY.get(literal)
        if operator is None:
            raise SelectorError(f"found '{literal}', expected: in, notin, =, ==, !=, gt, lt")
        values = self._parse_values() if operator in SET_OPERATORS else self._parse_exact_value()
        return requirement(key, operator, sorted(values))

    def _parse_exact_value(self) -> set[str]:
        if self._peek() in {"", ","}:
            return {""}
        literal = self._take()
        if not self._is_identifier(literal):
            raise SelectorError(f"found '{literal}', expected: identifier")
        return {literal}

    def _parse_values(self) -> set[str]:
        opening = self._take()
        if opening != "(":
            raise SelectorError(f"found '{opening}' expected: '('")
        first = self._peek()
        if first == ")":
            self._take()
            return {""}
        if not self._is_identifier(first) and first != ",":
            raise SelectorError(f"found '{first}', expected: ',', ')' or identifier")
        values = self._plain_identifiers() or self._parse_identifiers()
        self._take()  # the list ends where a closing parenthesis was seen
        return values

    def _plain_identifiers(self) -> set[str]:
        """Return where one comma stands between two of them, as it usually does; else none."""
        try:
            end = self.tokens.index(")", self.position)
        except ValueError:
            return set()
        values = set(self.tokens[self.position : end : 2])
        if set(self.tokens[self.position + 1 : end : 2]) - {","} or not all(
            map(self._is_identifier, values)
        ):
            return set()
        if (end - self.position) % 2 == 0:
            return set()
        self.position = end
        return values

    def _parse_identifiers(self) -> set[str]:
        values: set[str] = set()
        while True:
            literal = self._take()
            if self._is_identifier(literal):
                values.add(literal)
                following = self._peek()
                if following == ")":
                    return values
                if following != ",":
                    raise SelectorError(f"found '{following}', expected: ',' or ')'")
            elif literal == ",":
                if not values:
                    values.add("")
                following = self._peek()
                if following == ")":
                    values.add("")
                    return values
                if following == ",":
                    if not is_since("1.35"):  # which goes past the second one without looking
                        self._take()
                    values.add("")
            else:
                raise SelectorError(f"found '{literal}', expected: ',', or identifier")


_PLAIN: Final = late_pattern(
    r"[ \t\r\n]*(?:(!)[ \t\r\n]*)?([^=!(),>< \t\r\n\0]+)[ \t\r\n]*"
    r"(?:(==?|!=|[<>])[ \t\r\n]*(?:([^=!(),>< \t\r\n\0]+)[ \t\r\n]*)?)?"
)


def parse_label_selector(text: str) -> LabelSelector:
    """Return the text form: `a=b,c in (d,e),!f`. SelectorError when it is bad.

    What lies between two commas is looked at once, however often it comes; the parser is for what
    begins at the first that is not plain.
    """
    parts = text.split(",")
    parsed: dict[str, Requirement] = {}
    for part in dict.fromkeys(parts):
        plain_requirement = _plain_requirement(part)
        if plain_requirement is None:
            break
        parsed[part] = plain_requirement
    else:
        return conjunction([parsed[part] for part in parts])
    index = parts.index(part)
    rest = _Parser(",".join(parts[index:]), is_begun=index > 0).parse()
    return conjunction([parsed[part] for part in parts[:index]] + rest)


def _plain_requirement(part: str) -> Requirement | None:
    """Read one without a list of values; None if it is not plain or not good."""
    match = _PLAIN.fullmatch(part)
    if match is None:
        return None
    negation, key, symbol, value = match.groups()
    try:
        if symbol is None:
            return requirement(key, Operator.DOES_NOT_EXIST if negation else Operator.EXISTS, ())
        return None if negation else requirement(key, _Parser.BINARY[symbol], (value or "",))
    except SelectorError:
        return None
