"""Where a body ends, by its length or by its chunks.

Both readers take what is theirs off the front of what has not been read. Chunks are read as
strictly as Go reads them (`net/http/internal`, NewChunkedReader): their lines end with both
characters, and what is not content may not be much more than the content. Chunks of a few bytes
each cost far more than what they bring, so that there may not be any number of them.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final, Protocol

from celadon.patterns import late_pattern
from celadon.serve.transport.request_bytes.request_heads import RequestRefused, read_headers

_LONGEST_LINE: Final = 4096
_MOST_TRAILER: Final = 4096
_MOST_OVERHEAD: Final = 16 << 10
_FREE_OVERHEAD: Final = 16
"""Bytes beside the content that each chunk may have, and twice as many as it has content."""

MOST_CHUNKS: Final = 1 << 16
_SIZE: Final = late_pattern(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;.*)?", flags=16)  # `.` is any byte


class BodyReader(Protocol):
    """`is_whole` when the body has ended."""

    is_whole: bool

    def take(self, unread: bytearray) -> bytearray:
        """What has come of the content. Raises RequestRefused."""
        ...


class SizedBody:
    """A body of so many bytes."""

    def __init__(self, length: int) -> None:
        self._left = length
        self.is_whole = not length

    def take(self, unread: bytearray) -> bytearray:
        found = unread[: self._left]
        del unread[: self._left]
        self._left -= len(found)
        self.is_whole = not self._left
        return found


class ChunkedBody:
    """A body whose end says itself."""

    def __init__(self) -> None:
        self.is_whole = False
        self._left = 0
        """Bytes of the chunk that have not come."""
        self._ends = False
        """Whether the line end after a chunk is next."""
        self._is_over = False
        """Whether only the trailer is missing."""
        self._overhead = 0
        self._chunks = 0

    def take(self, unread: bytearray) -> bytearray:
        found = bytearray()
        at = 0
        while not self._is_over:
            if self._left:
                piece = unread[at : at + self._left]
                found += piece
                at += len(piece)
                self._left -= len(piece)
                if self._left:
                    break
                self._ends = True
            if self._ends:
                if len(unread) < at + 2:
                    break
                if unread[at : at + 2] != b"\r\n":
                    raise _refused("malformed chunked encoding")
                at += 2
                self._ends = False
            after = unread.find(b"\n", at, at + _LONGEST_LINE + 2) + 1
            if not after:
                if len(unread) - at >= _LONGEST_LINE:
                    raise _refused("header line too long")
                break
            self._begin(bytes(unread[at : after - 1]))
            at = after
        del unread[:at]
        if self._is_over:
            self._take_trailer(unread)
        return found

    def _begin(self, line: bytes) -> None:
        """A chunk, by its first line."""
        if line.find(b"\r") != len(line) - 1:
            bare = b"\r" not in line
            text = "chunked line ends with bare LF" if bare else "invalid CR in chunked line"
            raise _refused(text)
        size = _SIZE.fullmatch(line[:-1])
        if size is None:
            raise _refused("invalid byte in chunk length")
        self._left = int(size[1], 16)
        self._chunks += 1
        over = self._overhead + len(line) + 1 - _FREE_OVERHEAD - 2 * self._left
        self._overhead = max(over, 0)
        if self._overhead > _MOST_OVERHEAD or self._chunks > MOST_CHUNKS:
            raise _refused("chunked encoding contains too much non-data")
        self._is_over = not self._left

    def _take_trailer(self, unread: bytearray) -> None:
        """Nobody reads it, but it has to be one."""
        if unread.startswith(b"\r\n"):
            del unread[:2]
            self.is_whole = True
            return
        end = unread.find(b"\r\n\r\n", 0, _MOST_TRAILER)
        if end >= 0:
            read_headers(bytes(unread[: end + 4]))
            del unread[: end + 4]
            self.is_whole = True
        elif len(unread) >= _MOST_TRAILER:
            raise _refused("http: suspiciously long trailer after chunked body")


def _refused(why: str) -> RequestRefused:
    return RequestRefused(HTTPStatus.BAD_REQUEST, why)
