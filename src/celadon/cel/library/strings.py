"""The strings library (cel-go `ext.Strings`), versions 0 to 4. Kubernetes loads version 2.

Positions count code points. Version 1 adds `format` and `strings.quote`, 2 makes `join` check each
element, 3 adds `reverse`, 4 changes what `format` writes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from celadon.cel.codegen import inline_functions
from celadon.cel.cost import QUOTE, TRAVERSE_RECEIVER
from celadon.cel.declarations import Function, Impl, Library, Overload
from celadon.cel.errors import EvaluationError
from celadon.cel.library import formatting
from celadon.cel.size_growth import ZERO, Argument, Polynomial, first, times
from celadon.cel.types import DYN, INT, STRING, list_of
from celadon.cel.values import Value
from celadon.cel.values.container_access import UnpaidWork, paid_again
from celadon.cel.values.runtime_types import display
from celadon.cel.values.text import MAX_LENGTH, check_length

# --- Quoting -----------------------------------------------------------------
#
# `strings.quote`: a string as a CEL literal that prints on one line.

_SURROGATES = range(0xD800, 0xE000)
_ESCAPES: dict[int, str] = {
    **dict.fromkeys(_SURROGATES, "\ufffd"),
    ord("\a"): "\\a",
    ord("\b"): "\\b",
    ord("\f"): "\\f",
    ord("\n"): "\\n",
    ord("\r"): "\\r",
    ord("\t"): "\\t",
    ord("\v"): "\\v",
    ord("\\"): "\\\\",
    ord('"'): '\\"',
}


def quote(text: str) -> str:
    """Double quotes around; only the escapes above, everything else as it is."""
    return f'"{text.translate(_ESCAPES)}"'


LATEST = 4
_STRINGS = list_of(STRING)

#: What Unicode calls White_Space; `str.strip()` alone would also take U+001C to U+001F.
_WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_NOTHING = Argument(ZERO, is_constant=True, value="")
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}

_LARGE_SEARCH = 1_000_000
"""So many comparisons of characters may be made to save turning a text around."""


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}")


def char_at(s: str, index: int) -> str:
    if 0 <= index <= len(s):
        return s[index : index + 1]
    raise _out_of_range(index)


def index_of(s: str, part: str, offset: int = 0) -> int:
    """Return the first position at or after the offset, or -1. An empty part is at any offset."""
    if not part:
        return offset
    if offset < 0:
        raise _out_of_range(offset)
    return s.find(part, offset)


def index_within(s: str, part: str, offset: int) -> int:
    """`index_of` for an offset that must be a position in the string."""
    if part and offset >= len(s):
        raise _out_of_range(offset)
    return index_of(s, part, offset)


def last_index_of(s: str, part: str) -> int:
    """Return the last position, or -1."""
    if len(s) * len(part) < _LARGE_SEARCH:
        return s.rfind(part)
    # Backwards, Python compares at each position; only forwards its time is in proportion.
    position = s[::-1].find(part[::-1])
    return position if position < 0 else len(s) - position - len(part)


def last_index_of_from(s: str, part: str, offset: int) -> int:
    """Return the last position at or before the offset, or -1. An empty part is at any offset."""
    if not part:
        return offset
    if offset < 0:
        raise _out_of_range(offset)
    if offset >= len(s):
        return -1
    return last_index_of(s[: offset + len(part)], part)


def last_index_within(s: str, part: str, offset: int) -> int:
    """`last_index_of_from` for an offset that must be a position in the string."""
    if part and offset >= len(s):
        raise _out_of_range(offset)
    return last_index_of_from(s, part, offset)


def lower_ascii(s: str) -> str:
    return s.lower() if s.isascii() else s.translate(_LOWER)


def upper_ascii(s: str) -> str:
    return s.upper() if s.isascii() else s.translate(_UPPER)


def replace(s: str, old: str, new: str, limit: int = -1) -> str:
    if (len(s) + 1) * len(new) > MAX_LENGTH:
        check_length(s.count(old) * len(new))
    return s.replace(old, new, limit)


def split(s: str, separator: str, limit: int = -1) -> list[str]:
    """Split into at most `limit` pieces, all if negative; an empty separator splits into code
    points."""
    if limit == 0:
        return []
    if not separator:
        if limit < 0 or limit >= len(s):
            return list(s)
        return [*s[: limit - 1], s[limit - 1 :]]
    return s.split(separator, limit - 1 if limit > 0 else -1)


def substring(s: str, start: int) -> str:
    if 0 <= start <= len(s):
        return s[start:]
    raise _out_of_range(start)


def substring_to(s: str, start: int, end: int) -> str:
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    if not 0 <= start <= len(s):
        raise _out_of_range(start)
    if not 0 <= end <= len(s):
        raise _out_of_range(end)
    return s[start:end]


def trim(s: str) -> str:
    return s.strip(_WHITE_SPACE)


def reverse(s: str) -> str:
    return s[::-1]


def join(elements: list[Any], separator: str = "") -> str:
    for element in elements:
        if element.__class__ is not str:
            raise EvaluationError(f"join: invalid input: {display(element)}")
    check_length(len(elements) * len(separator) + sum(map(len, elements)))
    return separator.join(elements)


_text = partial(Overload.method, growth=first)
_text_function = partial(Function.single, member=True, growth=first)
"""Texts that are no longer than the receiver."""


def _replaced(text: Argument, old: Argument, new: Argument, *limit: Argument) -> Polynomial:
    """Bound the size of a replacement: an empty text is found around every character."""
    return text.size + text.size * new.size


def _joined(elements: Argument, separator: Argument = _NOTHING) -> Polynomial:
    return elements.size + elements.size * separator.size


_FUNCTIONS: tuple[Function, ...] = (
    _text_function(
        "charAt",
        "string_char_at_int",
        (STRING, INT),
        STRING,
        char_at,
        "The character at a position; empty at the end.",
        ("'hello'.charAt(4)", "'o'"),
        ("'hello'.charAt(5)", "''"),
    ),
    Function(
        "indexOf",
        (
            Overload.method(
                "string_index_of_string",
                (STRING, STRING),
                INT,
                index_of,
                "The first position of the argument, or -1.",
                ("'hello mellow'.indexOf('ello')", "1"),
            ),
            Overload.method(
                "string_index_of_string_int",
                (STRING, STRING, INT),
                INT,
                index_of,
                "The first position of the argument from a position on, or -1.",
                ("'hello mellow'.indexOf('ello', 2)", "7"),
                ("'hello mellow'.indexOf('ello', 20)", "-1"),
            ),
        ),
    ),
    Function(
        "lastIndexOf",
        (
            Overload.method(
                "string_last_index_of_string",
                (STRING, STRING),
                INT,
                last_index_of,
                "The last position of the argument, or -1.",
                ("'hello mellow'.lastIndexOf('ello')", "7"),
            ),
            Overload.method(
                "string_last_index_of_string_int",
                (STRING, STRING, INT),
                INT,
                last_index_of_from,
                "The last position of the argument up to a position, or -1.",
                ("'hello mellow'.lastIndexOf('ello', 6)", "1"),
            ),
        ),
    ),
    _text_function(
        "lowerAscii",
        "string_lower_ascii",
        (STRING,),
        STRING,
        lower_ascii,
        "ASCII letters in lower case.",
        ("'TacoCÆt'.lowerAscii()", "'tacocÆt'"),
        inline=inline_functions.LOWER_ASCII,
    ),
    Function(
        "replace",
        (
            Overload.method(
                "string_replace_string_string",
                (STRING, STRING, STRING),
                STRING,
                replace,
                "Every occurrence replaced.",
                ("'hello hello'.replace('he', 'we')", "'wello wello'"),
                inline=inline_functions.REPLACE,
                growth=_replaced,
            ),
            Overload.method(
                "string_replace_string_string_int",
                (STRING, STRING, STRING, INT),
                STRING,
                replace,
                "At most so many occurrences replaced; all if negative.",
                ("'hello hello'.replace('he', 'we', 1)", "'wello hello'"),
                ("'hello hello'.replace('he', 'we', 0)", "'hello hello'"),
                growth=_replaced,
            ),
        ),
        unpaid=paid_again,
    ),
    Function(
        "split",
        (
            Overload.method(
                "string_split_string",
                (STRING, STRING),
                _STRINGS,
                split,
                "The pieces between separators.",
                ("'a,b,c'.split(',')", "['a', 'b', 'c']"),
                inline=inline_functions.SPLIT,
                growth=times(2),
            ),
            Overload.method(
                "string_split_string_int",
                (STRING, STRING, INT),
                _STRINGS,
                split,
                "At most so many pieces; all if negative.",
                ("'a,b,c'.split(',', 2)", "['a', 'b,c']"),
                ("'a,b,c'.split(',', 0)", "[]"),
                growth=times(2),
            ),
        ),
        unpaid=paid_again,
    ),
    Function(
        "substring",
        (
            _text(
                "string_substring_int",
                (STRING, INT),
                STRING,
                substring,
                "From a position on.",
                ("'tacocat'.substring(4)", "'cat'"),
            ),
            _text(
                "string_substring_int_int",
                (STRING, INT, INT),
                STRING,
                substring_to,
                "From a position up to before another.",
                ("'tacocat'.substring(0, 4)", "'taco'"),
            ),
        ),
    ),
    _text_function(
        "trim",
        "string_trim",
        (STRING,),
        STRING,
        trim,
        "Without white space at both ends.",
        ("' \\ttrim\\n '.trim()", "'trim'"),
    ),
    _text_function(
        "upperAscii",
        "string_upper_ascii",
        (STRING,),
        STRING,
        upper_ascii,
        "ASCII letters in upper case.",
        ("'TacoCÆt'.upperAscii()", "'TACOCÆT'"),
    ),
    Function(
        "join",
        (
            Overload.method(
                "list_join",
                (_STRINGS,),
                STRING,
                join,
                "The elements one after another.",
                ("['hello', 'mellow'].join()", "'hellomellow'"),
                growth=_joined,
                inline=inline_functions.JOIN,
            ),
            Overload.method(
                "list_join_string",
                (_STRINGS, STRING),
                STRING,
                join,
                "The elements with a separator between them.",
                ("['hello', 'mellow'].join(' ')", "'hello mellow'"),
                growth=_joined,
                inline=inline_functions.JOIN,
            ),
        ),
        unpaid=paid_again,
    ),
)

_QUOTE = Function.single(
    "strings.quote",
    "strings_quote",
    (STRING,),
    STRING,
    quote,
    "The string in double quotes, with control characters escaped.",
    ("strings.quote('a\\nb')", "'\"a\\\\nb\"'"),
    cost=QUOTE,
    growth=times(2),
)

_REVERSE = _text_function(
    "reverse",
    "string_reverse",
    (STRING,),
    STRING,
    reverse,
    "The characters in opposite order.",
    ("'gums'.reverse()", "'smug'"),
)


def _format(impl: Impl, *examples: tuple[str, str]) -> Function:
    return Function(
        "format",
        (
            Overload.method(
                "string_format",
                (STRING, list_of(DYN)),
                STRING,
                impl,
                "The clauses `%s %d %f %e %b %x %X %o` replaced by the arguments.",
                *examples,
                cost=TRAVERSE_RECEIVER,
                growth=formatting.formatted_size,
                inline=inline_functions.FORMAT,
            )._replace(variadic=True),
        ),
        unpaid=_format_again,
    )


def _format_again(work: UnpaidWork, impl: Impl, text: Value, args: Value) -> Value:
    """Format in a loop: what is written is no part of the charge."""
    work.pay_for_all(args)
    return paid_again(work, impl, text, args)


_LEGACY_FORMAT = _format(
    formatting.legacy_format,
    ("'%s has %d'.format(['pod', 2])", "'pod has 2'"),
    ("'%.2f'.format([1234.567])", "'1,234.57'"),
    ("'%s'.format([[1.5, 'a']])", "'[1.500000, \"a\"]'"),
)
_PLAIN_FORMAT = _format(
    formatting.plain_format,
    ("'%s has %d'.format(['pod', 2])", "'pod has 2'"),
    ("'%.2f'.format([1234.567])", "'1234.57'"),
    ("'%s'.format([[1.5, 'a']])", "'[1.5, a]'"),
)

#: Implementations that refuse an offset past the end, by overload id.
_CHECKED_OFFSETS: dict[str, Impl] = {
    "string_index_of_string_int": index_within,
    "string_last_index_of_string_int": last_index_within,
}


def _with_checked_offsets(function: Function) -> Function:
    overloads = tuple(
        o._replace(impl=_CHECKED_OFFSETS[o.id], examples=()) if o.id in _CHECKED_OFFSETS else o
        for o in function.overloads
    )
    return function._replace(overloads=overloads)


def library(version: int = LATEST, *, checked_offsets: bool = False) -> Library:
    """`checked_offsets` makes an offset past the end of the string an error, as the specification
    has it; in cel-go nothing is found there."""
    functions = _FUNCTIONS
    if checked_offsets:
        functions = tuple(map(_with_checked_offsets, functions))
    if version >= 1:
        functions += (_PLAIN_FORMAT if version >= 4 else _LEGACY_FORMAT, _QUOTE)
    if version >= 3:
        functions += (_REVERSE,)
    validators = (
        (formatting.PLAIN_VALIDATOR if version >= 4 else formatting.LEGACY_VALIDATOR,)
        if version >= 1
        else ()
    )
    return Library(f"strings/{version}", functions=functions, validators=validators)
