"""Answers as HTTP/1.1 writes them: the head, and the chunks of a stream."""

from __future__ import annotations

import functools
import time
from email.utils import formatdate
from http import HTTPStatus
from typing import Final

from celadon.patterns import late_pattern
from celadon.serve.http_messages import HttpAnswer

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"
WITHOUT_BODY: Final = frozenset({204, 304})
_CONTROLS: Final = late_pattern(r"[\x00-\x08\x0a-\x1f\x7f]")
"""What cannot stand in the value of a header."""

_PHRASES: Final = {status.value: status.phrase for status in HTTPStatus}


def head(answer: HttpAnswer, *, chunked: bool, close: bool) -> bytes:
    """The status line and the headers, with the empty line after them."""
    code = answer.code
    lines = [f"HTTP/1.1 {code} {_PHRASES.get(code, '')}", f"Date: {_date(int(time.time()))}"]
    lines += [f"{name}: {_CONTROLS.sub(' ', value)}" for name, value in answer.headers]
    if answer.content_type:
        lines.append(f"Content-Type: {answer.content_type}")
    if chunked:
        lines.append("Transfer-Encoding: chunked")
    elif answer.stream is None and code not in WITHOUT_BODY:
        lines.append(f"Content-Length: {len(answer.body)}")
    if close:
        lines.append("Connection: close")
    return "\r\n".join((*lines, "", "")).encode("utf-8", "replace")


def chunk(data: bytes) -> bytes:
    """One of a stream; not empty, which would be the last."""
    return b"%x\r\n%b\r\n" % (len(data), data)


@functools.lru_cache(maxsize=2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
