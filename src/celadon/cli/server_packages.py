"""What servers need beside the standard library: `celadon[serve]`, and `celadon[etcd]`."""

from __future__ import annotations

import importlib.util
from typing import Final

_SERVING: Final = ("cryptography", "msgspec", "uvloop")
_ON_ETCD: Final = ("pycurl", "google.protobuf")


def missing_package(*, on_etcd: bool = False) -> str:
    """What to tell whoever has installed Celadon without them; empty if all are there."""
    wanted = (("serve", _SERVING), ("etcd", _ON_ETCD if on_etcd else ()))
    for extra, names in wanted:
        for name in names:
            if not _is_there(name):
                return f"`{name}` is not installed: pip install 'celadon[{extra}]'"
    return ""


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of the package it is in
        return False
