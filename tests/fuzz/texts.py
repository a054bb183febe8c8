"""Answers as they are written, compared as texts: with the order of members, and how they are laid
out. What is a server's own (times, uids, versions, ages, continue tokens) is masked."""

from __future__ import annotations

import json
import re
from typing import Final

from celadon.kube.protobuf import MEDIA_TYPE, ProtobufError, decode
from tests.fuzz.servers import Sent
from tests.fuzz.writes import masked

_MASKS: Final = (
    (re.compile(r'scheme (\\*")[\w./]+/(pkg/api/legacyscheme)'), r"scheme \1\2"),
    (re.compile(r'("?resourceVersion"?: *"?)\d+'), r"\1N"),
    (re.compile(r'("?continue"?: *"?)[\w=-]+'), r"\1TOKEN"),
    (re.compile(r'"(\d+[smhdy]){1,2}"'), '"AGE"'),
    (re.compile(r'"(\d+[smhdy]){1,2} ago"'), '"AGE ago"'),
    (re.compile(r"- (\d+[smhdy]){1,2}$", re.MULTILINE), "- AGE"),
    (re.compile(r"(remainingItemCount\"?: *)\d+"), r"\1N"),
    (re.compile(r"(current resource version|current): ?\d+"), r"\1: N"),
    (re.compile(r"\b([eg]-)[bcdfghjklmnpqrstvwxz2456789]{5}\b"), r"\1NAME"),
    (re.compile(r"(in\s+(?:record|the\s+precondition))\s+\(\d+\)"), r"\1 (N)"),
    (re.compile(r'"uid":"admin-uid"'), '"uid":"admin"'),
    (re.compile(r"\b10\.\d+\.\d+\.\d+\b"), "ADDRESS"),
    (re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]+"), "TOKEN"),
)
HEADERS: Final = ("content-type", "cache-control", "vary", "retry-after", "location", "allow")


def told(reply: Sent) -> str:
    """The whole answer, as a text."""
    text = masked(_text(reply))
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    headers = {name: reply.headers[name] for name in HEADERS if name in reply.headers}
    return json.dumps([reply.code, headers, text, sorted(reply.warnings)], ensure_ascii=False)


def _text(reply: Sent) -> str:
    if reply.type == MEDIA_TYPE:
        try:
            return json.dumps(decode(reply.data), separators=(",", ":"))
        except ProtobufError as error:
            return f"{error}: {reply.data!r}"
    return reply.data.decode("utf-8", "backslashreplace")
