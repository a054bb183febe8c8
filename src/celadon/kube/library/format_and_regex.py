"""Functions of texts: `kubernetes.format`, and `find` and `findAll` of `kubernetes.regex`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from celadon.cel import extend
from celadon.cel.value_functions import shown_size
from celadon.kube import name_rules
from celadon.kube.go import go_url as net_url
from celadon.kube.library import costs
from celadon.kube.library.costs import declared
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Named formats -----------------------------------------------------------
#
# `kubernetes.format`: named formats and what is wrong with a text by them.
#
# Upstream: k8s.io/apiserver `pkg/cel/library/format.go`. `format.named(name)` looks a format up,
# `format.<name>()` returns it, `validate` gives the complaints about a text, none if it is fine.
# The rules for names are in `kube.name_rules`; those for `uuid`, `byte`, `date` and `datetime` are
# kube-openapi's.

_FORMAT: Final = costs.NAMED_FORMAT

_UUID: Final = late_pattern(
    "[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.ASCII | re.IGNORECASE
)
_BASE64: Final = late_pattern(
    "(?!\\Z)(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
)
_DATE: Final = late_pattern("([0-9]{4})-([0-9]{2})-([0-9]{2})")
#: Upstream means a decimal point, but takes any character before the fraction.
_TIME: Final = late_pattern(
    "([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:[zZ]|[+-][0-9]{2}:[0-9]{2})"
)
_TIME_LIMITS: Final = ("23", "59", "59")
_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

Rule = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class FormatRule:
    """Describes a named format. `title` is the name upstream keeps inside; `regex_size` is what
    `validate` is charged by."""

    title: str
    regex_size: int
    complaints: Rule


class NamedFormat(extend.Opaque):
    """A value of type `kubernetes.NamedFormat`."""

    __slots__ = ("rule",)
    cel_type = _FORMAT
    go_name = "cel.Format"
    is_hashable = False

    def __init__(self, rule: FormatRule) -> None:
        self.rule = rule

    @property
    def regex_size(self) -> int:
        return self.rule.regex_size

    def equals(self, other: extend.Opaque) -> bool:
        return isinstance(other, NamedFormat) and self.rule.title == other.rule.title

    def display(self) -> str:
        """Upstream shows the address of a function where this has zeros."""
        return f"{{{self.rule.title} 0x0 {self.rule.regex_size}}}"


def _prefix(rule: Rule) -> Rule:
    """Return the rule for what may stand at the beginning of a name."""
    return lambda text: rule(name_rules.prefix_as_name(text))


def _uri(text: str) -> list[str]:
    try:
        net_url.parse_request_uri(text)
    except net_url.URLError as error:
        return [str(error)]
    return []


def _uuid(text: str) -> list[str]:
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


def _byte(text: str) -> list[str]:
    return [] if _BASE64.fullmatch(text) else ["invalid base64"]


def _date(text: str) -> list[str]:
    return [] if _is_date(text) else ["invalid date"]


def _datetime(text: str) -> list[str]:
    """Only what follows the first `t` up to the next is looked at."""
    parts = re.split("[tT]", text)
    time = _TIME.fullmatch(parts[1]) if len(parts) > 1 and _is_date(parts[0]) else None
    if time is None or any(time[i] > limit for i, limit in enumerate(_TIME_LIMITS, 1)):
        return ["invalid datetime"]
    return []


def _is_date(text: str) -> bool:
    date = _DATE.fullmatch(text)
    if date is None:
        return False
    year, month, day = map(int, date.groups())
    if not 1 <= month <= 12:
        return False
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= day <= _DAYS[month - 1] + leap


FORMATS: Final = {
    "dns1123Label": FormatRule("DNS1123Label", 30, name_rules.dns1123_label),
    "dns1123Subdomain": FormatRule("DNS1123Subdomain", 60, name_rules.dns1123_subdomain),
    "dns1035Label": FormatRule("DNS1035Label", 30, name_rules.dns1035_label),
    "qualifiedName": FormatRule("QualifiedName", 60, name_rules.qualified_name),
    "dns1123LabelPrefix": FormatRule("DNS1123LabelPrefix", 30, _prefix(name_rules.dns1123_label)),
    "dns1123SubdomainPrefix": FormatRule(
        "DNS1123SubdomainPrefix", 60, _prefix(name_rules.dns1123_subdomain)
    ),
    "dns1035LabelPrefix": FormatRule("DNS1035LabelPrefix", 30, _prefix(name_rules.dns1035_label)),
    "labelValue": FormatRule("LabelValue", 40, name_rules.label_value),
    "uri": FormatRule("URI", 1103, _uri),
    "uuid": FormatRule("uuid", 70, _uuid),
    "byte": FormatRule("byte", 84, _byte),
    "date": FormatRule("date", 71, _date),
    "datetime": FormatRule("datetime", 71, _datetime),
}
"""Every format by the name expressions use."""


def _named(name: str) -> extend.Optional:
    rule = FORMATS.get(name)
    return extend.NONE if rule is None else extend.Optional(NamedFormat(rule))


def _validate(named_format: NamedFormat, text: str) -> extend.Optional:
    complaints = named_format.rule.complaints(text)
    return extend.Optional(complaints) if complaints else extend.NONE


def _constant(rule: FormatRule) -> Callable[[], NamedFormat]:
    return lambda: NamedFormat(rule)


#: Estimates of `validate` know no format: the length of a long name pattern, and its cost.
_FORMAT_REGEX_COST: Final = 128 // extend.cost_rules.REGEX_DIVISOR
_LONGEST_REGEX: Final = max(rule.regex_size for rule in FORMATS.values())


def _track_validate(args: Sequence[Any], result: object) -> int:
    if args[0].__class__ is not NamedFormat:
        return 1
    pattern = extend.cost_rules.ceil_div(args[0].regex_size, extend.cost_rules.REGEX_DIVISOR)
    return extend.cost_rules.traversal(shown_size(args[1]) + 1) * pattern


def _estimate_validate(args: Sequence[extend.Sized]) -> extend.CallEstimate:
    walk = args[1].size.divided(extend.cost_rules.TRAVERSAL_DIVISOR)
    return extend.CallEstimate(walk.times(extend.cost_rules.fixed(_FORMAT_REGEX_COST)))


def _bound_validate(named_format: extend.Argument, text: extend.Argument) -> extend.Polynomial:
    return (text.size * 0.1 + 2) * (_LONGEST_REGEX / extend.cost_rules.REGEX_DIVISOR + 1)


def _complaints_size(named_format: extend.Argument, text: extend.Argument) -> extend.Polynomial:
    """Bound the size of a few sentences, one of which may quote the text."""
    return text.size * 12 + 4096


FORMAT_LIBRARY: Final = extend.Library(
    "kubernetes.format",
    functions=(
        declared(
            "NamedFormat.validate(string) -> optional(list(string))",
            "format-validate",
            _validate,
            "What is wrong with a text; none if nothing is.",
            ("format.dns1123Label().validate('my-name').hasValue()", "false"),
            ("format.date().validate('today').value()", "['invalid date']"),
            cost=extend.CostRule(_track_validate, _estimate_validate, bound=_bound_validate),
            growth=_complaints_size,
        ),
        declared(
            "format.named(string) -> optional(NamedFormat)",
            "format-named",
            _named,
            "The format of that name; none if there is none.",
            ("format.named('uuid').hasValue()", "true"),
            ("format.named('UUID').hasValue()", "false"),
            growth=extend.growth.fixed(2),
        ),
        *(
            declared(
                f"format.{name}() -> NamedFormat",
                f"constant_format_{name}",
                _constant(rule),
                f"The format `{name}`.",
                (f"format.{name}() == format.named('{name}').value()", "true"),
                growth=extend.growth.single,
            )
            for name, rule in FORMATS.items()
        ),
    ),
)


# --- Regular expressions -----------------------------------------------------
#
# `kubernetes.regex`: `find` and `findAll` with RE2 patterns.
#
# Upstream: k8s.io/apiserver `pkg/cel/library/regex.go`. A constant pattern is compiled when the
# program is built, and a bad one fails it with the bare text; any other bad pattern is an error
# of the evaluation with `Illegal regex: ` before it.


def _compile(pattern: str) -> extend.re2.Pattern:
    try:
        return extend.re2.compile(pattern)
    except extend.re2.RegexError as error:
        raise extend.EvaluationError(f"Illegal regex: {error}") from None


def _find(text: str, pattern: str) -> str:
    span = _compile(pattern).find(text)
    return "" if span is None else text[span[0] : span[1]]


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    return [text[start:end] for start, end in _compile(pattern).find_all(text, limit)]


def _track_find(args: Sequence[Any], result: object) -> int:
    return extend.cost_rules.traversal(shown_size(args[0]) + 1) * extend.cost_rules.ceil_div(
        shown_size(args[1]), extend.cost_rules.REGEX_DIVISOR
    )


def _estimate_find(args: Sequence[extend.Sized]) -> extend.CallEstimate:
    text = args[0].size
    walk = text.plus(extend.cost_rules.ONE).divided(extend.cost_rules.TRAVERSAL_DIVISOR)
    cost = walk.times(args[1].size.divided(extend.cost_rules.REGEX_DIVISOR))
    return extend.CallEstimate(cost, extend.Range(0, text.max))


_COST: Final = extend.CostRule(_track_find, _estimate_find, bound=extend.cost_rules.bound_matches)

REGEX_LIBRARY: Final = extend.Library(
    "kubernetes.regex",
    functions=(
        extend.Function(
            "find",
            (
                extend.Overload(
                    "string_find_string",
                    (extend.types.STRING, extend.types.STRING),
                    extend.types.STRING,
                    _find,
                    member=True,
                    doc="The first match, empty if there is none.",
                    examples=(("'abc 123'.find('[0-9]+')", "'123'"),),
                    growth=extend.growth.first,
                ),
            ),
            pattern=1,
            cost=_COST,
        ),
        extend.Function(
            "findAll",
            (
                extend.Overload(
                    "string_find_all_string",
                    (extend.types.STRING, extend.types.STRING),
                    extend.types.list_of(extend.types.STRING),
                    _find_all,
                    member=True,
                    doc="All matches that do not overlap.",
                    examples=(("'123 abc 456'.findAll('[0-9]+')", "['123', '456']"),),
                    growth=extend.growth.times(2),
                ),
                extend.Overload(
                    "string_find_all_string_int",
                    (extend.types.STRING, extend.types.STRING, extend.types.INT),
                    extend.types.list_of(extend.types.STRING),
                    _find_all,
                    member=True,
                    doc="At most so many matches; all of them if the number is negative.",
                    examples=(("'123 abc 456'.findAll('[0-9]+', 1)", "['123']"),),
                    growth=extend.growth.times(2),
                ),
            ),
            pattern=1,
            cost=_COST,
        ),
    ),
)
