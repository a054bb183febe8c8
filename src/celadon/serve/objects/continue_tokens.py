"""The token with which a client asks for the next page of a list.

As k8s.io/apiserver `pkg/storage/continue.go`: the revision the pages are read at, and the key to go
on from, relative to the prefix of the list.
"""

from __future__ import annotations

import base64
from typing import Any, Final, NamedTuple

from celadon.kube.go import JsonSyntaxError, json_text, read_json
from celadon.patterns import late_pattern

VERSION: Final = "meta.k8s.io/v1"
_STRANGE: Final = late_pattern(r"[^A-Za-z0-9_\-\r\n]")
LATEST: Final = -1
"""The revision of a token that goes on with whatever is there now: an inconsistent list."""


class ContinueToken(NamedTuple):
    """`start` is relative to the prefix of the list."""

    revision: int
    start: str

    def text(self) -> str:
        """As it goes to the client."""
        value = {"v": VERSION, "rv": self.revision, "start": self.start}
        return base64.urlsafe_b64encode(json_text(value).encode()).decode().rstrip("=")


class ContinueTokenError(ValueError):
    """The token is not one of ours; the text is upstream's."""


def read_continue_token(text: str) -> ContinueToken:
    """Raises ContinueTokenError."""
    try:
        value: Any = read_json(_decoded(text).decode("utf-8", "replace")).value
    except JsonSyntaxError as error:
        raise _invalid(str(error)) from None
    members = value if isinstance(value, dict) else {}
    if members.get("v") != VERSION:
        raise _invalid(f"server does not recognize this encoded version {members.get('v', '')}")
    revision, start = members.get("rv", 0), members.get("start", "")
    if not isinstance(revision, int) or revision == 0:
        raise _invalid(f"incorrect encoded start resourceVersion (version {VERSION})")
    if not isinstance(start, str) or not start:
        raise _invalid(f"encoded start key empty (version {VERSION})")
    if any(part in (".", "..") for part in start.rstrip("\0").split("/")):
        raise _invalid(start)
    return ContinueToken(revision, start)


def _decoded(text: str) -> bytes:
    """Base64 without padding, complained about as Go does."""
    bare = text.replace("\r", "").replace("\n", "")
    strange = _STRANGE.search(text)
    if strange is not None:
        raise _invalid(f"illegal base64 data at input byte {strange.start()}")
    if len(bare) % 4 == 1:
        raise _invalid(f"illegal base64 data at input byte {len(text) - 1}")
    return base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))


def _invalid(why: str) -> ContinueTokenError:
    return ContinueTokenError(f"continue key is not valid: {why}")
