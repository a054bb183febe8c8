"""JSON patches read from text, with what matters of how they are written.

A `test` operation compares the texts of scalars: `1` is not `1.0`, and a string that is written
otherwise than a server writes it (`"\\u0061"`, or `"<"`, which a server escapes) is equal to none.
Numbers tell how they are written anyway; strings do so here, in `test` operations only.
"""

from __future__ import annotations

import json
import json.scanner
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed lacks it
from typing import Any

from celadon.kube.go.go_text import json_text
from celadon.kube.go.json_reader import Document, read_json


class WrittenText(str):
    """A string that a server would write in another way. Its class tells it from all others."""

    __slots__ = ()


def read_patch(text: str) -> Document:
    """The operations, or whatever it is. Raises `JsonSyntaxError`."""
    document = read_json(text)
    if isinstance(document.value, list) and any(map(_is_test, document.value)):
        written = _Decoder().decode(text)
        for operation, as_written in zip(document.value, written, strict=True):
            if _is_test(operation) and _has_text(as_written.get("value")):
                operation["value"] = as_written["value"]
    return document


def _is_test(operation: Any) -> bool:
    return isinstance(operation, dict) and operation.get("op") == "test"


def _has_text(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_text, value.values()))
    if isinstance(value, list):
        return any(map(_has_text, value))
    return value.__class__ is WrittenText


class _Decoder(json.JSONDecoder):
    """Python's decoder, asked for the text of each string."""

    def __init__(self) -> None:
        super().__init__()
        self.parse_string = _scanned
        self.scan_once = json.scanner.py_make_scanner(self)  # type: ignore[attr-defined]  # as above


def _scanned(text: str, start: int, strict: bool = True) -> tuple[str, int]:
    value, end = scanstring(text, start, strict)
    return (value if text[start - 1 : end] == json_text(value) else WrittenText(value)), end
