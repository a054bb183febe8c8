"""Bytes in JSON: standard base64 with padding, as Go's `encoding/base64` reads and writes it.

Line breaks are skipped, the unused bits of the last character are ignored, anything else is refused
with the position of the first offending byte.
"""

from __future__ import annotations

import base64
import re
from typing import Final

from celadon.kube.errors import MalformedText
from celadon.patterns import late_pattern

_CHARACTER: Final = "[A-Za-z0-9+/]"
_WELL_FORMED: Final = late_pattern(
    f"(?:{_CHARACTER}{{4}})*(?:{_CHARACTER}{{2}}==|{_CHARACTER}{{3}}=)?"
)
_QUANTUM: Final = late_pattern(f"(?:[\r\n]*{_CHARACTER}){{4}}")
_BREAKS: Final = "\r\n"


class Base64Error(MalformedText):
    """The text is no base64; the message is Go's."""

    def __init__(self, position: int) -> None:
        super().__init__(f"illegal base64 data at input byte {position}")


def canonical_base64(text: str) -> str:
    """The same bytes without line breaks and with unused bits zero."""
    bare = text.replace("\r", "").replace("\n", "")
    if _WELL_FORMED.fullmatch(bare) is None:
        raise Base64Error(_offending_byte(text))
    return base64.b64encode(base64.b64decode(bare)).decode() if bare.endswith("=") else bare


def _offending_byte(text: str) -> int:
    """Where Go stops: quanta of four characters, the last of them possibly padded."""
    start = 0
    while (match := _QUANTUM.match(text, start)) is not None:
        start = match.end()
    characters, position = 0, start
    while position < len(text):
        char = text[position]
        if re.fullmatch(_CHARACTER, char):
            characters += 1
        elif char not in _BREAKS:
            break
        position += 1
    if position == len(text):  # the text ends inside a quantum
        return position - characters
    if text[position] != "=" or characters < 2:
        return position
    return _offence_in_padding(text, position + 1, missing=characters == 2)


def _offence_in_padding(text: str, position: int, *, missing: bool) -> int:
    """After the first `=`: a second one where it is due, then nothing more."""
    position = _skip_breaks(text, position)
    if missing:
        if position == len(text):
            return position
        if text[position] != "=":
            return position - 1
        position = _skip_breaks(text, position + 1)
    return position


def _skip_breaks(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BREAKS:
        position += 1
    return position
