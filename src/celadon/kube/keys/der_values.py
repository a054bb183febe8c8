"""Values in DER, read one after the other.

As much of ASN.1 as certificates and keys need. As golang.org/x/crypto/cryptobyte.
"""

from __future__ import annotations

from typing import Final

from celadon.kube.errors import MalformedText

INTEGER: Final = 0x02
BIT_STRING: Final = 0x03
OCTET_STRING: Final = 0x04
OBJECT_ID: Final = 0x06
SEQUENCE: Final = 0x30
CONTEXT_0: Final = 0xA0
"""The tag of what is marked `[0]`."""


class DerError(MalformedText):
    """Not what was expected there."""


class DerReader:
    """What is left of some bytes. All reads raise DerError."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_empty(self) -> bool:
        return self._at >= len(self._data)

    def next_is(self, tag: int) -> bool:
        """Whether a value of this tag follows."""
        return not self.is_empty and self._data[self._at] == tag

    def content(self, tag: int) -> bytes:
        """The content of the next value, which has this tag."""
        if not self.next_is(tag):
            raise DerError(f"no value with tag {tag:#x}")
        start = self._at + 1
        length, start = self._length(start)
        end = start + length
        if end > len(self._data):
            raise DerError("cut off")
        self._at = end
        return self._data[start:end]

    def inner(self, tag: int = SEQUENCE) -> DerReader:
        """The next value as something to read from."""
        return DerReader(self.content(tag))

    def skip(self) -> None:
        """Whatever follows."""
        if self.is_empty:
            raise DerError("nothing left")
        self.content(self._data[self._at])

    def integer(self) -> int:
        content = self.content(INTEGER)
        if not content:
            raise DerError("an integer without digits")
        return int.from_bytes(content, "big", signed=True)

    def bits(self) -> bytes:
        """A bit string of whole bytes."""
        content = self.content(BIT_STRING)
        if not content or content[0]:
            raise DerError("not whole bytes")
        return content[1:]

    def _length(self, at: int) -> tuple[int, int]:
        """The length that stands at a position, and where it ends."""
        if at >= len(self._data):
            raise DerError("cut off")
        first = self._data[at]
        if first < 0x80:
            return first, at + 1
        size = first & 0x7F
        digits = self._data[at + 1 : at + 1 + size]
        if not 0 < size <= 4 or len(digits) < size:
            raise DerError("a length that is none")
        return int.from_bytes(digits, "big"), at + 1 + size
