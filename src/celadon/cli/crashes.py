"""Errors of our own: said in a line, with what a report of them needs.

Whatever an input does to us, the other inputs are still judged, and the exit code is one that means
neither "admitted" nor "denied" (`Exit.INTERNAL`).
"""

from __future__ import annotations

import os
from typing import Final

from celadon.cli.reading.problems import Problem

TRACEBACK_VARIABLE: Final = "CELADON_TRACEBACK"
"""Set in the environment, it makes the commands show whole tracebacks of such errors."""
_PACKAGE: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
HELP: Final = f"please report it with the input; {TRACEBACK_VARIABLE}=1 shows more"


def crash(file: str, line: int, doing: str, error: Exception) -> Problem:
    """Return what happened while we were `doing` something with what stands at a place."""
    message = f"internal error while {doing}: {summary(error)}"
    return Problem(file, line, message, HELP, is_internal=True)


def summary(error: BaseException) -> str:
    """`TypeError: message (kube/names.py:12)`, and the traceback if the environment asks for it."""
    import traceback

    said = "".join(traceback.format_exception_only(error)).strip()
    ours = [one for one in traceback.extract_tb(error.__traceback__) if _PACKAGE in one.filename]
    place = ""
    if ours:
        _, _, below = ours[-1].filename.rpartition(_PACKAGE)
        place = f" ({below}:{ours[-1].lineno})"
    if not os.environ.get(TRACEBACK_VARIABLE):
        return f"{said}{place}"
    return f"{said}{place}\n{''.join(traceback.format_exception(error)).rstrip()}"
