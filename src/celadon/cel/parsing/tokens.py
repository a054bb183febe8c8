"""The kinds of tokens, numbered as in cel-go's grammar (`parser/gen/CEL.g4`).

A kind is a string: punctuation and keywords are their own text (`"("`, `"in"`), the others have
the names below, which no source text can equal because a keyword is never upper case. The numbers
decide the order in which "expecting {...}" lists them.
"""

from __future__ import annotations

EOF = "<EOF>"
FLOAT = "NUM_FLOAT"
INT = "NUM_INT"
UINT = "NUM_UINT"
STRING = "STRING"
BYTES = "BYTES"
IDENTIFIER = "IDENTIFIER"
ESC_IDENTIFIER = "ESC_IDENTIFIER"

#: Punctuation and keywords in token order.
FIXED: tuple[str, ...] = (
    *("==", "!=", "in", "<", "<=", ">=", ">", "&&", "||"),
    *("[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*", "/", "%"),
    *("true", "false", "null"),
)
#: The kinds whose text varies, in token order. They come after all fixed ones.
OPEN: tuple[str, ...] = (FLOAT, INT, UINT, STRING, BYTES, IDENTIFIER, ESC_IDENTIFIER)

#: The kinds that are literals by themselves, in the order of the grammar's rule `literal`.
LITERALS: tuple[str, ...] = (INT, UINT, FLOAT, STRING, BYTES, "true", "false", "null")
#: Literals that take a minus into themselves.
SIGNED: frozenset[str] = frozenset({INT, FLOAT})

KEYWORDS = frozenset({"true", "false", "null", "in"})

#: Identifiers that cannot be variables or global functions (cel-go `parser/parser.go`).
RESERVED = frozenset(
    {
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import"),
        *("in", "let", "loop", "package", "namespace", "null", "return", "true", "var", "void"),
        "while",
    }
)

_ORDER = {kind: number for number, kind in enumerate((EOF, *FIXED, *OPEN))}


def token_order(kind: str) -> int:
    """Sort key for sets of kinds; the end of input comes first."""
    return _ORDER[kind]


def display_kind(kind: str) -> str:
    """Return the kind as "expecting" lists show it: fixed tokens in quotes, the others by name."""
    return kind if kind == EOF or kind in OPEN else f"'{kind}'"
