"""Media types, as Go's `mime.ParseMediaType` reads them."""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER: Final = rf'\s*;\s*{_TOKEN}\s*=\s*(?:{_TOKEN}|"(?:[^"\\]|\\.)*")'
_MEDIA_TYPE: Final = re.compile(rf"\s*({_TOKEN}(?:/{_TOKEN})?)\s*(?:{_PARAMETER})*\s*;?\s*")


def parse_media_type(text: str) -> str | None:
    """The type in lower case, without its parameters; None for what Go cannot read."""
    found = _MEDIA_TYPE.fullmatch(text)
    return None if found is None else found[1].lower()
