"""Media types, as Go's `mime.ParseMediaType` reads them."""

from __future__ import annotations

from typing import Final

from celadon.patterns import late_pattern

_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER: Final = rf'\s*;\s*{_TOKEN}\s*=\s*(?:{_TOKEN}|"(?:[^"\\]|\\.)*")'
_MEDIA_TYPE: Final = late_pattern(rf"\s*({_TOKEN}(?:/{_TOKEN})?)\s*(?:{_PARAMETER})*\s*;?\s*")


def parse_media_type(text: str) -> str | None:
    """The type in lower case, without its parameters; None for what Go cannot read."""
    found = _MEDIA_TYPE.fullmatch(text)
    return None if found is None else found[1].lower()
