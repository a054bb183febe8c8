"""What `MODULE:NAME` names: a module is imported, as from the current folder, and has it."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Awaitable, Callable
from functools import reduce
from pathlib import Path
from typing import TypeAlias

from celadon.serve.transport import StartError
from celadon.webhook.handlers.asgi_messages import Receive, Scope, Send

Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
"""ASGI 3."""


def named_application(text: str) -> Application:
    """`NAME` may be dotted. Raises StartError."""
    module, _, name = text.partition(":")
    if not module or not name:
        raise StartError(f"`{text}` is not MODULE:NAME")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found = reduce(getattr, name.split("."), importlib.import_module(module))
    except Exception as error:  # the module is not ours: whatever it raises keeps us from starting
        raise StartError(f"`{text}` cannot be imported: {_told(error)}") from error
    if not callable(found):
        raise StartError(f"`{text}` is not an application")
    return found


def _told(error: Exception) -> str:
    """In one line, with the place where it happened."""
    (text,) = traceback.format_exception_only(error)[-1:]
    place = traceback.extract_tb(error.__traceback__)[-1]
    said = " ".join(text.split())
    if place.filename == __file__ or place.filename.startswith("<frozen"):
        return said
    return f"{said} ({place.filename}:{place.lineno})"
