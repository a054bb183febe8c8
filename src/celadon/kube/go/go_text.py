"""How Go prints values into texts that clients see: `%q`, `%v`, `%T` and `encoding/json`.

And what it takes for white space at their ends.
"""

from __future__ import annotations

import json
from typing import Final

from celadon.patterns import late_pattern

_NAMED_ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
_PLAIN: Final = late_pattern(r"[ !#-\[\]-~]*")
_HTML: Final = {
    ord("<"): "\\u003c",
    ord(">"): "\\u003e",
    ord("&"): "\\u0026",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}
_HTML_CHARS: Final = late_pattern("[<>&\u2028\u2029]")

_WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

_TYPES: Final = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    str: "string",
    bool: "bool",
    int: "int64",
    type(None): "<nil>",
}


def trim_space(text: str) -> str:
    """`strings.TrimSpace`: unlike `str.strip`, it leaves the separators 1c to 1f."""
    return text.strip(_WHITE_SPACE)


def _quoted_char(char: str) -> str:
    named = _NAMED_ESCAPES.get(char)
    if named is not None:
        return named
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:  # Go has no lone surrogates: it would hold the replacement
        return "\ufffd"
    if char.isprintable():
        return char
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def quote(text: str) -> str:
    """`%q`, as `strconv.Quote`."""
    if _PLAIN.fullmatch(text) is not None:
        return f'"{text}"'
    return '"' + "".join(map(_quoted_char, text)) + '"'


def json_text(value: object) -> str:
    """Compact JSON as `json.Marshal` writes it: members in the order given, `<>&` escaped."""
    return escaped_html(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def escaped_html(text: str) -> str:
    """JSON with what browsers could take for something else written as escapes."""
    return text.translate(_HTML) if _HTML_CHARS.search(text) else text


def plain_text(value: object) -> str:
    """A JSON value as `%v` prints it: `map[a:1 b:[x y]]`."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{plain_text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(plain_text, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        # late: few such values are doubles, and the names of Kubernetes need no language.
        from celadon.cel.value_functions import text

        return text.go_float(value)
    return "<nil>" if value is None else str(value)


def type_text(value: object) -> str:
    """The Go type of a JSON value as `%T` prints it."""
    return _TYPES.get(value.__class__, "float64")
