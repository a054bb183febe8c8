"""Expressions for Pods as expressions for the templates of Pods that their controllers have, as
Kyverno makes them of policies that mutate (`pkg/cel/policies/mpol/autogen`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_SPEC: Final = re.compile(r"\b(object|oldObject|Object)\.spec", re.ASCII)
_METADATA: Final = re.compile(
    r"\b(object|oldObject|Object)\.metadata\.(labels|annotations)", re.ASCII
)
_PATCH: Final = re.compile(r"\s*Object\s*\{", re.ASCII)


def shifted_expression(text: str, path: Sequence[str]) -> str:
    """Return an expression in which specs, labels and annotations are those of a template."""
    there = ".".join(path)
    text = _SPEC.sub(rf"\1.{there}.spec", text)
    return _METADATA.sub(rf"\1.{there}.metadata.\2", text)


def shifted_patch(text: str, path: Sequence[str]) -> str:
    """Return an apply configuration (`Object{...}`) that changes the template."""
    text = shifted_expression(text, path)
    begin = _PATCH.match(text)
    end = _closing_brace(text, begin.end()) if begin is not None else None
    if begin is None or end is None:
        return text
    types = [".".join(["Object", *path[: depth + 1]]) for depth in range(len(path))]
    opening = "".join(f"{name}: {of}{{" for name, of in zip(path, types, strict=True))
    inside = text[begin.end() : end]
    return f"Object{{{opening}{inside}{'}' * (len(path) + 1)}{text[end + 1 :]}"


def _closing_brace(text: str, start: int) -> int | None:
    depth = 1
    for index in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return index
    return None
