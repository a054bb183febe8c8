"""The token with which a client asks for the next page of a list.

As k8s.io/apiserver `pkg/storage/continue.go`: the revision the pages are read at, and the key to go
on from, relative to the prefix of the list.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Final, NamedTuple

from celadon.kube.go import json_text

VERSION: Final = "meta.k8s.io/v1"
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
        padded = text + "=" * (-len(text) % 4)
        value: Any = json.loads(base64.b64decode(padded.encode(), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error) as error:
        raise ContinueTokenError(f"continue key is not valid: {error}") from None
    if not isinstance(value, dict) or value.get("v") != VERSION:
        found = value.get("v", "") if isinstance(value, dict) else ""
        raise ContinueTokenError(f"server does not recognize this encoded version {found}")
    revision, start = value.get("rv", 0), value.get("start", "")
    if not isinstance(revision, int) or revision == 0:
        raise ContinueTokenError(f"incorrect encoded start resourceVersion (version {VERSION})")
    if not isinstance(start, str) or not start:
        raise ContinueTokenError(f"encoded start key empty (version {VERSION})")
    if any(part in (".", "..") for part in start.rstrip("\0").split("/")):
        raise ContinueTokenError("continue key is not valid: " + start)
    return ContinueToken(revision, start)
