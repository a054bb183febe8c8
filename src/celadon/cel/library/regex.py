r"""The regex library (cel-go `ext.Regex`). Not in Kubernetes, which has `find` and `findAll`.

Needs the optional library, whose type `regex.extract` returns. In replacements `\1` is the first
group and `\\` a backslash.
"""

from __future__ import annotations

import re

from celadon.cel import re2, size_growth
from celadon.cel.declarations import Function, Library, Overload
from celadon.cel.errors import EvaluationError
from celadon.cel.size_growth import Argument, Polynomial
from celadon.cel.types import INT, STRING, list_of, optional_of
from celadon.cel.values.runtime_types import NONE, Optional
from celadon.cel.values.text import go_quote
from celadon.late_patterns import late_pattern

_REFERENCE = late_pattern(r"\\(.?)", re.DOTALL)


def _compile(pattern: str) -> re2.Pattern:
    try:
        return re2.compile(pattern)
    except re2.RegexError as error:
        raise EvaluationError(str(error)) from error


def _with_one_group(pattern: str) -> re2.Pattern:
    compiled = _compile(pattern)
    if compiled.groups > 1:
        raise EvaluationError(
            f"regular expression has more than one capturing group: {go_quote(pattern)}"
        )
    return compiled


def extract(text: str, pattern: str) -> Optional:
    """Return the first match, or what its only group took; absent if there is none or it is
    empty."""
    compiled = _with_one_group(pattern)
    spans = compiled.match_groups(text)
    if spans is None:
        return NONE
    span = spans[compiled.groups]
    if span is None or (compiled.groups and span[0] == span[1]):
        return NONE
    return Optional(text[span[0] : span[1]])


def extract_all(text: str, pattern: str) -> list[str]:
    compiled = _with_one_group(pattern)
    find_all_groups = [spans[compiled.groups] for spans in compiled.find_all_groups(text)]
    result = [text[span[0] : span[1]] for span in find_all_groups if span is not None]
    return [part for part in result if part] if compiled.groups else result


def replace(text: str, pattern: str, replacement: str, limit: int = -1) -> str:
    """Return the text with at most `limit` matches replaced, all if negative."""
    if limit == 0:
        return text
    compiled = _compile(pattern)
    template = _template(replacement, compiled.groups)
    result: list[str] = []
    position = 0
    for spans in compiled.find_all_groups(text, limit):
        start, end = spans[0] or (0, 0)
        result.append(text[position:start])
        for part in template:
            if isinstance(part, str):
                result.append(part)
            elif (span := spans[part]) is not None:
                result.append(text[span[0] : span[1]])
        position = end
    result.append(text[position:])
    return "".join(result)


def _template(replacement: str, groups: int) -> list[str | int]:
    """Return the replacement as texts and group numbers."""
    parts: list[str | int] = []
    position = 0
    for match in _REFERENCE.finditer(replacement):
        parts.append(replacement[position : match.start()])
        parts.append(_reference(match[1], replacement, groups))
        position = match.end()
    parts.append(replacement[position:])
    return parts


def _reference(escaped: str, replacement: str, groups: int) -> str | int:
    if escaped == "\\":
        return "\\"
    if not escaped:
        raise EvaluationError(f"invalid replacement string: '{replacement}' \\ not allowed at end")
    if escaped not in "0123456789":
        raise EvaluationError(
            f"invalid replacement string: '{replacement}' \\ must be followed by a digit or \\"
        )
    if int(escaped) > groups:
        raise EvaluationError(
            f"replacement string references group {escaped} but regex has only {groups} group(s)"
        )
    return int(escaped)


def _replaced(
    text: Argument, pattern: Argument, replacement: Argument, *others: Argument
) -> Polynomial:
    """Bound the size of a replacement: each match may be replaced by the whole replacement, and
    stand in it often."""
    return text.size + (text.size + text.size) * replacement.size


_REPLACE_DOC = "Matches replaced; in the replacement `\\1` is the first group."

LIBRARY = Library(
    "regex",
    functions=(
        Function.single(
            "regex.extract",
            "regex_extract_string_string",
            (STRING, STRING),
            optional_of(STRING),
            extract,
            "The first match, or its only group.",
            ("regex.extract('item-A', 'item-(\\\\w+)').value()", "'A'"),
            growth=size_growth.together,
        ),
        Function.single(
            "regex.extractAll",
            "regex_extractAll_string_string",
            (STRING, STRING),
            list_of(STRING),
            extract_all,
            "All matches, or what their only group took.",
            ("regex.extractAll('id:1, id:2', 'id:(\\\\d)')", "['1', '2']"),
            growth=size_growth.times(2),
        ),
        Function(
            "regex.replace",
            (
                Overload(
                    "regex_replace_string_string_string",
                    (STRING, STRING, STRING),
                    STRING,
                    replace,
                    doc=_REPLACE_DOC,
                    examples=(
                        ("regex.replace('hello world', '(l+)', 'L')", "'heLo worLd'"),
                        (r"regex.replace('foo bar', '(fo)o (ba)r', '\\2 \\1')", "'ba fo'"),
                    ),
                    growth=_replaced,
                ),
                Overload(
                    "regex_replace_string_string_string_int",
                    (STRING, STRING, STRING, INT),
                    STRING,
                    replace,
                    doc=_REPLACE_DOC,
                    examples=(("regex.replace('banana', 'a', 'x', 2)", "'bxnxna'"),),
                    growth=_replaced,
                ),
            ),
        ),
    ),
)
