"""Templates in Rego that are known by their content: what they demand, in CEL of our own.

Rego is not translated. The templates of gatekeeper-library are known: the digest of a template's
text, without comments and layout, says that it is the text whose meaning was written down here. A
template that someone has changed has another digest, and is not translated.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

Check = tuple[str, str]
"""An expression, and the one of its message."""


@dataclass(frozen=True, slots=True)
class KnownTemplate:
    """What a template demands."""

    digests: frozenset[str]
    """Those of its texts, all of which decide alike."""
    checks: tuple[Check, ...]
    variables: tuple[tuple[str, str], ...] = ()
    operations: tuple[str, ...] = ()
    """Those that are meant; empty if all that Gatekeeper asks about are."""
    digests_of_all_operations: frozenset[str] = frozenset()
    """Those of its texts that look at every operation that Gatekeeper asks about."""
    needs: tuple[str, ...] = ()
    """Parameters without which it refuses nothing, since its messages mention them."""
    looks_up_with: str = ""
    """The parameter with which it looks up other objects."""


_TOKENS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`|#[^\n]*|\s+|[^\s"`#]+|["`]')


def digest(texts: Sequence[str]) -> str:
    """Return the digest of a text of Rego and its libraries: of its tokens, on lines of their own,
    without comments, empty lines and the room between them."""
    return hashlib.sha256("\n\n".join(map(_plain, texts)).encode()).hexdigest()[:DIGITS]


DIGITS: Final = 32
"""How many of its hexadecimal digits tell a digest from all others."""


def _plain(text: str) -> str:
    found = []
    for match in _TOKENS.finditer(text):
        token = match[0]
        if token.isspace():
            found.append("\n" if "\n" in token else " ")
        elif not token.startswith("#"):
            found.append(token)
    lines = re.sub(r" *\n[ \n]*", "\n", "".join(found)).strip()
    return re.sub(r"\n+", "\n", lines)
