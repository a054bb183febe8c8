"""Blocks of PEM in a text, as Go's `encoding/pem` finds them: what is no block is skipped."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from celadon.patterns import late_pattern

_BLOCK: Final = late_pattern(
    rb"^-----BEGIN (?P<kind>[^\n]*?)-----[ \t\r]*\n"
    rb"(?P<headers>(?:[^\n:]+:[^\n]*\n)*)"
    rb"(?P<body>(?:(?!-----)[^\n]*\n)*?)"
    rb"-----END (?P=kind)-----[ \t\r]*$",
    re.MULTILINE,
)


class PemBlock(NamedTuple):
    """`kind` is what stands behind BEGIN."""

    kind: str
    content: bytes
    has_headers: bool = False


def pem_blocks(text: bytes) -> Iterator[PemBlock]:
    """All of them, in order."""
    for found in _BLOCK.finditer(text):
        body = b"".join(found["body"].split())
        try:
            content = binascii.a2b_base64(body, strict_mode=True)
        except binascii.Error:
            continue
        kind = found["kind"].decode("utf-8", "replace")
        yield PemBlock(kind, content, bool(found["headers"]))
