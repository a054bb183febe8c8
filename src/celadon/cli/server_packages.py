"""What servers need beside the standard library (`celadon[serve]`)."""

from __future__ import annotations

import importlib.util
from typing import Final

_PACKAGES: Final = ("cryptography", "httptools", "msgspec", "uvloop")


def missing_package() -> str:
    """What to tell whoever has installed Celadon without them; empty if all are there."""
    missing = next((name for name in _PACKAGES if importlib.util.find_spec(name) is None), "")
    return f"`{missing}` is not installed: pip install 'celadon[serve]'" if missing else ""
