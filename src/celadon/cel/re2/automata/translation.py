r"""Trees to patterns of Python's `re`, where that means the same.

Everything is spelled out so that no flag and no Unicode rule of `re` takes part: sets are written
as ranges, other cases as sets, `$` as `\Z`, words as ASCII words. What `re` could read differently
is not translated: a repetition of something that can be empty, where engines disagree on when to
stop.
"""

from __future__ import annotations

import re
from typing import assert_never

from celadon.cel.re2.trees.charsets import ANY, ANY_BUT_NEWLINE, CharSet, fold_char, negate
from celadon.cel.re2.trees.pattern_tree import (
    Alternate,
    Assertion,
    AssertionKind,
    Capture,
    Chars,
    Concat,
    Empty,
    Literal,
    Node,
    Repeat,
)

# `\B` of `re` is false in an empty text, Go's is true.
_ASSERTIONS = {
    AssertionKind.BEGIN_TEXT: r"\A",
    AssertionKind.END_TEXT: r"\Z",
    AssertionKind.BEGIN_LINE: "(?m:^)",
    AssertionKind.END_LINE: "(?m:$)",
    AssertionKind.WORD_BOUNDARY: r"(?a:\b)",
    AssertionKind.NOT_WORD_BOUNDARY: r"(?!(?a:\b))",
}


def to_python(node: Node) -> str | None:
    """The pattern without groups; None when `re` might take it differently. Recursive."""
    match node:
        case Empty():
            return "(?:)"
        case Literal(text, fold):
            return "".join(_set(fold_char(char)) for char in text) if fold else re.escape(text)
        case Chars(chars):
            return _set(chars)
        case Assertion(kind):
            return _ASSERTIONS[kind]
        case Capture(sub):
            return to_python(sub)
        case Concat(subs):
            return _joined("", subs)
        case Alternate(subs):
            branches = _joined("|", subs)
            return None if branches is None else f"(?:{branches})"
        case Repeat():
            return _repeat(node)
        case _:
            assert_never(node)


def _joined(separator: str, subs: tuple[Node, ...]) -> str | None:
    parts = []
    for sub in subs:
        part = to_python(sub)
        if part is None:
            return None
        parts.append(part)
    return separator.join(parts)


def _repeat(node: Repeat) -> str | None:
    if node.sub.facts.nullable:
        return None
    body = to_python(node.sub)
    if body is None:
        return None
    if not (isinstance(node.sub, Chars) or (isinstance(node.sub, Literal) and _is_atom(node.sub))):
        body = f"(?:{body})"
    return body + _count(node.least, node.most) + ("" if node.greedy else "?")


def _is_atom(literal: Literal) -> bool:
    return len(literal.text) == 1


def _count(least: int, most: int | None) -> str:
    match least, most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case _:
            return f"{{{least},{'' if most is None else most}}}"


def _set(chars: CharSet) -> str:
    if chars == ANY_BUT_NEWLINE:
        return "."
    if chars == ANY:
        return "(?s:.)"
    if not chars:
        return "(?!)"
    if len(chars) == 1 and chars[0][0] == chars[0][1]:
        return re.escape(chr(chars[0][0]))
    complement = negate(chars)
    if len(complement) < len(chars) or (chars[0][0] == 0 and len(complement) == len(chars)):
        return f"[^{_ranges(complement)}]"
    return f"[{_ranges(chars)}]"


def _ranges(chars: CharSet) -> str:
    return "".join(
        _member(low) if low == high else f"{_member(low)}-{_member(high)}" for low, high in chars
    )


def _member(code_point: int) -> str:
    char = chr(code_point)
    if char.isascii() and char.isalnum():
        return char
    return f"\\x{code_point:02x}" if code_point < 0x100 else f"\\U{code_point:08x}"
