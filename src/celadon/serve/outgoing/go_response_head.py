"""What Go says of an answer in HTTP/1.1 whose beginning it cannot read.

As `net/http` (`ReadResponse`, `readTransfer`) and `net/textproto` (`ReadMIMEHeader`). Only what has
arrived is looked at: an answer whose first lines are in order is read by the HTTP client, which
words what else is wrong with it in its own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from celadon.kube.go import quote
from celadon.patterns import late_pattern

LINE_BYTES: Final = 1024
"""So much of the first line is looked at, and quoted."""
_VERSION: Final = late_pattern(r"HTTP/[0-9]\.[0-9]")
_CODE: Final = late_pattern(r"[0-9]{3}|\+[0-9]{2}")
_HEADER: Final = late_pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\x00-\x08\x0a-\x1f\x7f]*")
_LENGTH: Final = late_pattern(r"[0-9]{1,18}")


def head_complaint(data: bytes) -> str | None:
    """Of the first bytes of an answer; None where nothing is wrong with them."""
    first, end, rest = data.partition(b"\n")
    if not end and data.startswith(b"HTTP/"[: len(data)]):
        return None
    found = _status_line(_text(first[:LINE_BYTES]))
    if found is not None:
        return found
    lines = rest.split(b"\n")[:-1]
    return _headers([_text(line) for line in lines])


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")


def _status_line(line: str) -> str | None:
    protocol, space, status = line.partition(" ")
    if not space:
        return f"malformed HTTP response {quote(line)}"
    code = status.lstrip(" ").partition(" ")[0]
    if not _CODE.fullmatch(code):
        return f"malformed HTTP status code {quote(code)}"
    if not _VERSION.fullmatch(protocol):
        return f"malformed HTTP version {quote(protocol)}"
    return None


def _headers(lines: Sequence[str]) -> str | None:
    if lines and lines[0].startswith((" ", "\t")):
        return f"malformed MIME header initial line: {lines[0]}"
    for line in lines:
        if not line:
            break
        if line.startswith((" ", "\t")):
            continue
        if not _HEADER.fullmatch(line):
            return f"malformed MIME header line: {line}"
        name, _, value = line.partition(":")
        length = value.strip(" \t")
        if name.lower() == "content-length" and not _LENGTH.fullmatch(length):
            what = "bad Content-Length" if length else "invalid empty Content-Length"
            return f"{what} {quote(length)}"
    return None
