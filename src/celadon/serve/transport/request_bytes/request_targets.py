"""What a request line asks for: a path with its query, out of any form of target.

As Go's `net/url`, ParseRequestURI: what it takes is taken, also where an HTTP server has no use for
it, and what it refuses is refused.
"""

from __future__ import annotations

import ipaddress
import urllib.parse
from typing import Final

from celadon.patterns import late_pattern

_ORDINARY: Final = late_pattern(rb"/[!-$&-~\x80-\xff]*")
"""Nothing in it needs a second look."""

_CONTROL: Final = late_pattern(rb"[\x00-\x1f\x7f]")
_SCHEME: Final = late_pattern(rb"([A-Za-z][A-Za-z0-9+.-]*):(.*)")
_BROKEN_ESCAPE: Final = late_pattern(rb"%(?![0-9A-Fa-f]{2})")
_USER: Final = late_pattern(rb"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_HOST: Final = late_pattern(
    rb"(?:[A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>\"\x80-\xff]|%25|%[89A-Fa-f][0-9A-Fa-f])*"
)
_PORT: Final = late_pattern(rb"(?::[0-9]*)?")


class UnreadableTarget(ValueError):
    """What is no target of a request."""


def request_target(method: bytes, raw: bytes) -> bytes:
    """The path and the query, as they were sent. Raises UnreadableTarget."""
    if _ORDINARY.fullmatch(raw) is not None:
        return raw
    if method == b"CONNECT" and not raw.startswith(b"/"):
        raw = b"http://" + raw
    if not raw or raw.startswith(b":") or _CONTROL.search(raw) is not None:
        raise UnreadableTarget
    if raw == b"*":
        return raw
    found = _SCHEME.fullmatch(raw)
    scheme, rest = (b"", raw) if found is None else (found[1].lower(), found[2])
    rest, mark, query = rest.partition(b"?")
    if not rest.startswith(b"/"):
        if not scheme:
            raise UnreadableTarget
        return b"/" + mark + query  # nothing but a name: it has no path
    if scheme and rest.startswith(b"//"):
        authority, slash, path = rest[2:].partition(b"/")
        _check_authority(scheme, authority)
        rest = slash + path
    if _BROKEN_ESCAPE.search(rest) is not None:
        raise UnreadableTarget
    return (rest or b"/") + mark + query


def _check_authority(scheme: bytes, authority: bytes) -> None:
    user, _, host = authority.rpartition(b"@")
    if _USER.fullmatch(user) is None or _BROKEN_ESCAPE.search(user) is not None:
        raise UnreadableTarget
    if b"[" in host:
        _check_literal(host)
        return
    colon = host.find(b":") if scheme in (b"http", b"https") else host.rfind(b":")
    if colon >= 0 and _PORT.fullmatch(host[colon:]) is None:
        raise UnreadableTarget
    if _HOST.fullmatch(host) is None:
        raise UnreadableTarget


def _check_literal(host: bytes) -> None:
    """An address of IPv6 in brackets."""
    address, bracket, port = host[1:].rpartition(b"]")
    if _BROKEN_ESCAPE.search(address) is not None:
        raise UnreadableTarget
    if not host.startswith(b"[") or not bracket or _PORT.fullmatch(port) is None:
        raise UnreadableTarget
    try:
        ipaddress.IPv6Address(urllib.parse.unquote_to_bytes(address).decode())
    except ValueError:
        raise UnreadableTarget from None
