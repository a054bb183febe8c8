"""`strings.quote`: a string as a CEL literal that prints on one line."""

from __future__ import annotations

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
