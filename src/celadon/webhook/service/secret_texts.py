"""What must not be told: the contents of Secrets, in objects and in messages made of them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from celadon.admission import Request
from celadon.kube import JsonObject
from celadon.kube.apply import LAST_APPLIED

REDACTED: Final = "[redacted]"
LEAST_CHARACTERS: Final = 4
"""Shorter values would blacken half of each message, and keep no secret."""

_MEMBERS: Final = ("data", "stringData")


def is_about_secrets(request: Request) -> bool:
    """Whatever its objects say that they are."""
    return request.kind.kind == "Secret" and not request.kind.group


def secret_texts(request: Request) -> Iterable[str]:
    """The values in the Secrets of a request, as they stand there and decoded, with and without
    the space around them, longest first."""
    if not is_about_secrets(request):
        return ()
    found = {
        text
        for obj in (request.object, request.old_object)
        if obj is not None
        for value in _values(obj)
        for text in (value, value.strip())
        if len(text) >= LEAST_CHARACTERS
    }
    return sorted(found, key=len, reverse=True)


def _values(obj: JsonObject) -> Iterator[str]:
    for member in _MEMBERS:
        values = obj.get(member)
        if not isinstance(values, dict):
            continue
        for value in values.values():
            if isinstance(value, str):
                yield value
                if member == "data":
                    yield from _decoded(value)


def _decoded(value: str) -> Iterator[str]:
    try:
        yield base64.b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError):  # no base64, or no text
        return


def redacted(text: str, secrets: Iterable[str]) -> str:
    """The text without them."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text


def redacted_object(obj: JsonObject | None, *, secret: bool) -> dict[str, Any] | None:
    """A Secret keeps its keys and loses its values; other objects are as they are."""
    if obj is None:
        return None
    if not secret:
        return dict(obj)
    shown = {key: _hidden(value) if key in _MEMBERS else value for key, value in obj.items()}
    meta = obj.get("metadata")
    if isinstance(meta, dict) and isinstance(meta.get("annotations"), dict):
        kept = {key: one for key, one in meta["annotations"].items() if key != LAST_APPLIED}
        shown["metadata"] = {**meta, "annotations": kept}
    return shown


def _hidden(value: object) -> object:
    return dict.fromkeys(value, REDACTED) if isinstance(value, Mapping) else REDACTED
