"""How property names become CEL field names, and back.

A property whose name is no CEL identifier is declared under an escaped name, as k8s.io/apiserver
`pkg/cel/escaping.go`. Only typed data honours this: the objects a policy sees are plain JSON, where
the raw name counts.
"""

from __future__ import annotations

import re
from typing import Final

from celadon.cel import RESERVED

_REPLACED: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_RESTORED: Final = {escaped.strip("_"): raw for raw, escaped in _REPLACED.items()}

_NAME: Final = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*", re.ASCII)
_SPECIAL: Final = re.compile(r"__|[./-]")
_ESCAPED: Final = re.compile(r"__([^_]+)__")


def escape(name: str) -> str | None:
    """The CEL field name of a property; None when no expression can select it."""
    if name in RESERVED:
        return f"__{name}__"
    if not _NAME.fullmatch(name):
        return None
    return _SPECIAL.sub(lambda found: _REPLACED[found[0]], name)


def unescape(name: str) -> str | None:
    """The property that a selector means; None for an escape that does not exist."""
    whole = _ESCAPED.fullmatch(name)
    if whole and whole[1] in RESERVED:
        return whole[1]
    if any(found[1] not in _RESTORED for found in _ESCAPED.finditer(name)):
        return None
    return _ESCAPED.sub(lambda found: _RESTORED[found[1]], name)
