"""How property names become CEL field names.

A property whose name is no CEL identifier is declared under an escaped name, as k8s.io/apiserver
`pkg/cel/escaping.go`. Only typed data honours this: the objects a policy sees are plain JSON, where
the raw name counts.
"""

from __future__ import annotations

import re
from typing import Final

from celadon.cel import RESERVED
from celadon.patterns import late_pattern

_REPLACED: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}

_NAME: Final = late_pattern(r"[A-Za-z_./-][A-Za-z0-9_./-]*", re.ASCII)
_SPECIAL: Final = late_pattern(r"__|[./-]")


def escape(name: str) -> str | None:
    """The CEL field name of a property; None when no expression can select it."""
    if name in RESERVED:
        return f"__{name}__"
    if not _NAME.fullmatch(name):
        return None
    return _SPECIAL.sub(lambda found: _REPLACED[found[0]], name)
