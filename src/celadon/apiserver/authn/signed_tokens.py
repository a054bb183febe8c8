"""Signed tokens (JWS, compact form) as texts: taken apart and put together, nothing verified.

Keys and signatures are in `signing_keys`. RFC 7515, as far as go-jose reads it.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Final

from celadon.kube.json_types import JsonDict, JsonObject
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

MOST_CHARACTERS: Final = 128 << 10
"""Of a token that is read."""
_LONG_NUMBER: Final = 300
"""Digits; a float holds fewer."""
# Python's decoder skips what is no base64, so that two texts would be the same token.
_BASE64URL: Final = late_pattern("[A-Za-z0-9_-]*")


class KeyFileError(ValueError):
    """Text that holds no key that can be used."""


class NotAToken(ValueError):
    """Text that has not the form of a signed token."""


class SignatureRefused(Exception):
    """A token whose signature none of the keys can verify."""


def encoded(data: bytes) -> str:
    """Return bytes in base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def encoded_json(value: JsonObject) -> str:
    """Return a member of a token that is a JSON object; its members are sorted by name."""
    return encoded(json.dumps(value, separators=(",", ":"), sort_keys=True).encode())


def decoded(part: str) -> bytes:
    """Return the bytes of base64url without padding. Raises NotAToken."""
    if not _BASE64URL.fullmatch(part):
        raise NotAToken(part)
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (binascii.Error, ValueError):
        raise NotAToken(part) from None


# `NaN` and its like, which Python reads and JSON does not have.
def _no_number(text: str) -> float:
    raise ValueError(text)


def _whole_number(text: str) -> float:
    """Such long numbers are read as Go reads them all: none of them is a date."""
    return int(text) if len(text) < _LONG_NUMBER else float(text)


# Go's decoder lets the last of two members win and matches names in any case; go-jose refuses
# doubles in headers. Both can only be told apart while all members are there.
class Members(tuple[tuple[str, Any], ...]):
    """A JSON object: its members in their order, doubled ones included."""

    __slots__ = ()

    def without_doubles(self) -> JsonDict:
        """Return the members as an object. Raises ValueError, in the words of go-jose, where a name
        stands twice: nobody should have to know which of both counts."""
        result: JsonDict = {}
        for name, value in self:
            if name in result:
                raise ValueError(f"json: duplicate key '{name}' in object")
            result[name] = value
        return result


def decoded_json(text: bytes) -> object:
    """Read JSON whose objects are Members; what is no UTF-8 becomes U+FFFD, as in Go. Raises
    NotAToken."""
    try:
        return json.loads(
            text.decode("utf-8", "replace"),
            object_pairs_hook=Members,
            parse_constant=_no_number,
            parse_int=_whole_number,
        )
    except (ValueError, RecursionError):
        raise NotAToken(text) from None


def wrong_type(value: object, expected: str) -> str:
    """Return go-jose's message about a JSON value that is not of the type that is `expected`."""
    kinds = {bool: "bool", str: "string", Members: "object", list: "array"}
    number = kinds.get(type(value), "number")
    return f"json: cannot unmarshal {number} into Go value of type {expected}"


@dataclass(frozen=True, slots=True)
class SignedToken:
    """A token taken apart; nothing about it is verified yet. `payload` is what is claimed, as
    JSON, and `signed` what the signature is of."""

    header: JsonObject
    payload: bytes
    signed: bytes
    signature: bytes


# What is verified is encoded anew, as in go-jose, so the text as it was sent need not be it.
def parse_token(text: str) -> SignedToken:
    """Read a token. Raises NotAToken, also for what is too long to be one: anybody may send a
    megabyte, and it is read before it is known whether it is signed."""
    parts = text.split(".", 3)
    if len(parts) != 3 or len(text) > MOST_CHARACTERS:
        raise NotAToken(text)
    protected, payload, signature = map(decoded, parts)
    header = _header(protected)
    signed = payload if header.get("b64") is False else encoded(payload).encode()
    return SignedToken(header, payload, b"%s.%s" % (encoded(protected).encode(), signed), signature)


def _header(protected: bytes) -> JsonObject:
    """Return the header, if its members have the types that go-jose reads. Raises NotAToken."""
    value = decoded_json(protected) if protected else None
    if value is None:
        return {}
    if not isinstance(value, Members):
        raise NotAToken(protected)
    try:
        header = value.without_doubles()
    except ValueError:
        raise NotAToken(protected) from None
    # As the struct `rawHeader` of go-jose has them.
    if not all(isinstance(header.get(name), str | None) for name in ("alg", "kid", "nonce")):
        raise NotAToken(protected)
    if header.get("x5c") or not isinstance(header.get("x5c"), list | None):
        raise NotAToken(protected)  # certificates of the sender's choice, which nobody would ask
    if not _is_public(header.get("jwk")):
        raise NotAToken(protected)
    return header


def _is_public(key: object) -> bool:
    """Tell whether a key that comes with a token may stand there; nobody looks at it."""
    if key is None:
        return True
    members = dict(key) if isinstance(key, Members) else {}
    return members.get("kty") in ("RSA", "EC", "OKP") and "d" not in members
