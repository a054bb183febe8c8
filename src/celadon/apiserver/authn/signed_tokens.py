"""Signed tokens (JWS, compact form) as texts: taken apart and put together, nothing verified.

Keys and signatures are in `signing_keys`. RFC 7515.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.records import dataclass

MOST_CHARACTERS: Final = 128 << 10
"""Of a token that is read."""


class KeyFileError(ValueError):
    """Text that holds no key that can be used."""


class NotAToken(ValueError):
    """Text that has not the form of a signed token."""


class SignatureRefused(Exception):
    """A token whose signature none of the keys can verify."""


def encoded(data: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def encoded_json(value: Mapping[str, Any]) -> str:
    """A member of a token that is a JSON object; its members are sorted by name."""
    return encoded(json.dumps(value, separators=(",", ":"), sort_keys=True).encode())


def decoded(part: str) -> bytes:
    """Base64url without padding. Raises NotAToken."""
    if "=" in part or not part.isascii():
        raise NotAToken(part)
    try:
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise NotAToken(part) from None


def _without_doubles(members: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Which of two members counts, nobody should have to know. Raises ValueError."""
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("doubled member")
    return found


def _no_number(text: str) -> float:
    raise ValueError(text)


def decoded_json(part: str) -> dict[str, Any]:
    """A member of a token that is a JSON object. Raises NotAToken."""
    try:
        value = json.loads(
            decoded(part), object_pairs_hook=_without_doubles, parse_constant=_no_number
        )
    except (ValueError, RecursionError):
        raise NotAToken(part) from None
    if not isinstance(value, dict):
        raise NotAToken(part)
    return value


@dataclass(frozen=True, slots=True)
class SignedToken:
    """A token taken apart; nothing about it is verified yet."""

    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    signed: bytes
    signature: bytes


def parse_token(text: str) -> SignedToken:
    """Raises NotAToken, also for what is too long to be one: anybody may send a megabyte, and it
    is read before it is known whether it is signed."""
    parts = text.split(".", 3)
    if len(parts) != 3 or len(text) > MOST_CHARACTERS:
        raise NotAToken(text)
    header, claims, signature = parts
    return SignedToken(
        decoded_json(header),
        decoded_json(claims),
        f"{header}.{claims}".encode(),
        decoded(signature),
    )
