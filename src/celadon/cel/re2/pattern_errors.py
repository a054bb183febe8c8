"""What is wrong with a pattern: the one exception of this package, and the texts it can carry.

The texts are Go's (golang/go `src/regexp/syntax/parse.go`): users see them in compile errors and in
denials, so they match to the letter, and the fragment is the part of the pattern Go would quote.
It stands alone because whoever imports the package needs it, and most of them no pattern.
"""

from __future__ import annotations

import enum


class ErrorCode(enum.Enum):
    """This is what is wrong with a pattern, in the words of Go."""

    INVALID_RANGE = "invalid character class range"
    INVALID_ESCAPE = "invalid escape sequence"
    INVALID_NAMED_CAPTURE = "invalid named capture"
    INVALID_PERL = "invalid or unsupported Perl syntax"
    INVALID_REPEAT_OPERATOR = "invalid nested repetition operator"
    INVALID_REPEAT_SIZE = "invalid repeat count"
    INVALID_UTF8 = "invalid UTF-8"
    MISSING_BRACKET = "missing closing ]"
    MISSING_PAREN = "missing closing )"
    MISSING_REPEAT_ARGUMENT = "missing argument to repetition operator"
    TRAILING_BACKSLASH = "trailing backslash at end of expression"
    UNEXPECTED_PAREN = "unexpected )"
    NESTING_DEPTH = "expression nests too deeply"
    LARGE = "expression too large"


class RegexError(ValueError):
    """A pattern RE2 refuses. `str()` of it is Go's text."""

    def __init__(self, code: ErrorCode, fragment: str) -> None:
        super().__init__(f"error parsing regexp: {code.value}: `{fragment}`")
        self.code = code
        self.fragment = fragment
