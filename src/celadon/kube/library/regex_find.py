"""`kubernetes.regex`: `find` and `findAll` with RE2 patterns.

Upstream: k8s.io/apiserver `pkg/cel/library/regex.go`. A constant pattern is compiled when the
program is built, and a bad one fails it with the bare text; any other bad pattern is an error of
the evaluation with `Illegal regex: ` before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from celadon.cel.extend import (
    CallEstimate,
    CostRule,
    EvaluationError,
    Function,
    Library,
    Overload,
    Range,
    Sized,
    cost_rules,
    growth,
    re2,
    types,
)
from celadon.cel.value_functions import shown_size


def _compile(pattern: str) -> re2.Pattern:
    try:
        return re2.compile(pattern)
    except re2.RegexError as error:
        raise EvaluationError(f"Illegal regex: {error}") from None


def _find(text: str, pattern: str) -> str:
    span = _compile(pattern).find(text)
    return "" if span is None else text[span[0] : span[1]]


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    return [text[start:end] for start, end in _compile(pattern).find_all(text, limit)]


def _track_find(args: Sequence[Any], result: object) -> int:
    return cost_rules.traversal(shown_size(args[0]) + 1) * cost_rules.ceil_div(
        shown_size(args[1]), cost_rules.REGEX_DIVISOR
    )


def _estimate_find(args: Sequence[Sized]) -> CallEstimate:
    text = args[0].size
    walk = text.plus(cost_rules.ONE).divided(cost_rules.TRAVERSAL_DIVISOR)
    cost = walk.times(args[1].size.divided(cost_rules.REGEX_DIVISOR))
    return CallEstimate(cost, Range(0, text.max))


_COST: Final = CostRule(_track_find, _estimate_find, bound=cost_rules.bound_matches)

LIBRARY: Final = Library(
    "kubernetes.regex",
    functions=(
        Function(
            "find",
            (
                Overload(
                    "string_find_string",
                    (types.STRING, types.STRING),
                    types.STRING,
                    _find,
                    member=True,
                    doc="The first match, empty if there is none.",
                    examples=(("'abc 123'.find('[0-9]+')", "'123'"),),
                    growth=growth.first,
                ),
            ),
            pattern=1,
            cost=_COST,
        ),
        Function(
            "findAll",
            (
                Overload(
                    "string_find_all_string",
                    (types.STRING, types.STRING),
                    types.list_of(types.STRING),
                    _find_all,
                    member=True,
                    doc="All matches that do not overlap.",
                    examples=(("'123 abc 456'.findAll('[0-9]+')", "['123', '456']"),),
                    growth=growth.times(2),
                ),
                Overload(
                    "string_find_all_string_int",
                    (types.STRING, types.STRING, types.INT),
                    types.list_of(types.STRING),
                    _find_all,
                    member=True,
                    doc="At most so many matches; all of them if the number is negative.",
                    examples=(("'123 abc 456'.findAll('[0-9]+', 1)", "['123']"),),
                    growth=growth.times(2),
                ),
            ),
            pattern=1,
            cost=_COST,
        ),
    ),
)
