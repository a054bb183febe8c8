"""Media types, as Go's `mime.ParseMediaType` reads them."""

from __future__ import annotations

from typing import Final

from celadon.patterns import late_pattern

_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER: Final = rf'\s*;\s*{_TOKEN}\s*=\s*(?:{_TOKEN}|"(?:[^"\\]|\\.)*")'
_MEDIA_TYPE: Final = late_pattern(rf"\s*({_TOKEN}(?:/{_TOKEN})?)\s*(?:{_PARAMETER})*\s*;?\s*")
_LEADING_TOKEN: Final = late_pattern(_TOKEN)


def parse_media_type(text: str) -> str | None:
    """The type in lower case, without its parameters; None for what Go cannot read."""
    found = _MEDIA_TYPE.fullmatch(text)
    return None if found is None else found[1].lower()


def media_type_complaint(text: str) -> str:
    """What Go says of a text that `parse_media_type` cannot read."""
    kind, slash, subtype = text.partition(";")[0].strip().partition("/")
    name, more = _cut(kind)
    if not name:
        return "mime: no media type"
    if more:
        return "mime: expected slash after first token"
    name, more = _cut(subtype)
    if slash and not name:
        return "mime: expected token after slash"
    if more:
        return "mime: unexpected content after media subtype"
    return "mime: invalid media parameter"


def _cut(text: str) -> tuple[str, str]:
    """The token that it begins with, and the rest."""
    found = _LEADING_TOKEN.match(text)
    name = found[0] if found else ""
    return name, text.removeprefix(name)
